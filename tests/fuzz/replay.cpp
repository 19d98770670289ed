// The main of a fuzz target without a fuzzer: runs the target on each file that is named, and on all files of each
// folder. Tells every file before it runs it: when one fails, it is the last.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "fuzz.h"

namespace fs = std::filesystem;

namespace {

/// None if there is no such file or folder.
std::vector<fs::path> filesOf(const fs::path& path) {
  if (fs::is_regular_file(path)) return {path};
  std::vector<fs::path> files;
  if (!fs::is_directory(path)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argumentCount, char** arguments) {
  if (argumentCount < 2) {
    std::cerr << "usage: " << arguments[0] << " FILE_OR_FOLDER...\n";
    return 2;
  }
  if (LLVMFuzzerInitialize(&argumentCount, &arguments) != 0) return 1;
  for (int i = 1; i < argumentCount; ++i) {
    const std::vector<fs::path> files = filesOf(arguments[i]);
    if (files.empty()) {
      std::cerr << arguments[i] << ": no input there\n";
      return 1;
    }
    for (const fs::path& file : files) {
      std::cerr << file.string() << std::endl;
      const std::string input = readFile(file.string());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    }
    std::cerr << arguments[i] << ": " << files.size() << (files.size() == 1 ? " input" : " inputs") << " taken\n";
  }
  return 0;
}
