#include "golden.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "files.h"

namespace fs = std::filesystem;

namespace dtypemut::golden {
namespace {

void writeFiles(const fs::path& folder, const Files& files) {
  for (const auto& [name, bytes] : files) {
    fs::create_directories((folder / name).parent_path());
    writeFile((folder / name).string(), bytes);
  }
}

Files inputsOf(const fs::path& folder) {
  Files files = readFiles(folder);
  std::erase_if(files, [](const auto& file) { return file.first == "cmd" || file.first.starts_with("expected/"); });
  return files;
}

std::string lineAt(std::string_view text, std::size_t offset) {
  if (offset == text.size()) return "nothing more";
  const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  return "'" + std::string(text.substr(begin, text.find('\n', offset) - begin)) + "'";
}

std::string difference(std::string_view name, std::string_view expected, std::string_view found) {
  const auto [at, ignored] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  const auto offset = static_cast<std::size_t>(at - expected.begin());
  const auto line = 1 + std::count(expected.begin(), at, '\n');
  return std::string(name) + ":" + std::to_string(line) + ": expected " + lineAt(expected, offset) + ", found " +
         lineAt(found, offset);
}

bool isNamed(const std::string& input, const Files& inputs, std::string_view cmd) {
  const std::string name = fs::path(input).filename().string();
  return cmd.find(name) != std::string_view::npos || std::any_of(inputs.begin(), inputs.end(), [&](const auto& other) {
           return other.first != input && other.second.find(name) != std::string::npos;
         });
}

}  // namespace

Files readFiles(const fs::path& folder) {
  Files files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[fs::relative(entry.path(), folder).generic_string()] = readFile(entry.path().string());
  return files;
}

Files runCase(const fs::path& folder) {
  const ScratchFolder scratch;
  const Files inputs = inputsOf(folder);
  const std::string workingFolder = scratch / "case";
  fs::create_directory(workingFolder);
  writeFiles(workingFolder, inputs);
  fs::copy_file(folder / "cmd", scratch / "cmd");

  const std::string commandFolder = fs::path(DTYPEMUT_COMMAND).parent_path().string();
  const int status = std::system(("cd '" + workingFolder + "' && TESTDATA='" DTYPEMUT_TESTDATA "' PATH='" +
                                  commandFolder + "':\"$PATH\" /bin/sh ../cmd </dev/null >../stdout 2>../stderr")
                                     .c_str());

  Files found = readFiles(workingFolder);
  for (const auto& [name, bytes] : inputs)
    if (found.contains(name) && found[name] == bytes) found.erase(name);
  found["exit"] = (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : "killed") + "\n";
  for (const char* stream : {"stdout", "stderr"})
    if (std::string text = readFile(scratch / stream); !text.empty()) found[stream] = std::move(text);
  return found;
}

std::vector<std::string> checkCase(const fs::path& folder, bool regenerate) {
  if (!fs::exists(folder / "cmd")) return {"no cmd: no test uses this"};
  std::vector<std::string> faults;
  const Files inputs = inputsOf(folder);
  const std::string cmd = readFile((folder / "cmd").string());
  for (const auto& [name, bytes] : inputs)
    if (!isNamed(name, inputs, cmd)) faults.push_back(name + ": neither cmd nor another input names this file");

  const Files found = runCase(folder);
  if (regenerate) {
    fs::remove_all(folder / "expected");
    writeFiles(folder / "expected", found);
    return faults;
  }
  const Files expected = readFiles(folder / "expected");
  for (const auto& [name, bytes] : expected) {
    const auto other = found.find(name);
    if (other == found.end())
      faults.push_back(name + ": expected, but not there");
    else if (other->second != bytes)
      faults.push_back(difference(name, bytes, other->second));
  }
  for (const auto& [name, bytes] : found)
    if (!expected.contains(name)) faults.push_back(name + ": not expected, begins with " + lineAt(bytes, 0));
  return faults;
}

}  // namespace dtypemut::golden
