#define DOCTEST_CONFIG_IMPLEMENT
#include "fuzz.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

namespace fs = std::filesystem;

namespace {

/// Ends the process, as fuzzers want it, and tells what a failing test would.
void fail(const doctest::AssertData& assertion) {
  std::cerr << assertion.m_file << ":" << assertion.m_line << ": " << doctest::assertString(assertion.m_at) << "( "
            << assertion.m_expr << " ) is not so: " << assertion.m_decomp.c_str() << assertion.m_exception.c_str()
            << "\n";
  for (int i = 0; i < doctest::IReporter::get_num_active_contexts(); ++i) {
    doctest::IReporter::get_active_contexts()[i]->stringify(&std::cerr);
    std::cerr << "\n";
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler(fail);
  return std::freopen("/dev/null", "w", stdout) == nullptr;
}

namespace dtypemut::fuzz {

std::uint8_t Input::byte() {
  if (rest_.empty()) return 0;
  const auto first = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return first;
}

Folder::Folder(golden::Files files) : files_(std::move(files)) {
  for (const auto& [name, bytes] : files_) {
    fs::create_directories(fs::path(scratch_ / name).parent_path());
    writeFile(scratch_ / name, bytes);
  }
}

void Folder::clear() const {
  for (const std::string& name : newFiles()) fs::remove(scratch_ / name);
}

std::vector<std::string> Folder::newFiles() const {
  golden::Files found = golden::readFiles(scratch_.path());
  std::vector<std::string> names;
  for (const auto& [name, bytes] : found)
    if (!files_.contains(name)) names.push_back(name);
  for (const std::string& name : names) found.erase(name);
  CHECK(found == files_);
  return names;
}

LogLine Log::line() {
  return [this](Severity severity, const std::string& line) {
    if (severity == Severity::kNote) return;
    const char* word = severity == Severity::kError ? ": error: " : ": warning: ";
    CAPTURE(line);
    CHECK(line.find(word) != std::string::npos);
    CHECK(std::none_of(line.begin(), line.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; }));
    diagnostics_.push_back(line);
    errorCount_ += severity == Severity::kError;
  };
}

}  // namespace dtypemut::fuzz
