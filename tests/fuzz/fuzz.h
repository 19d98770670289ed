// What the fuzz targets share. A target checks with doctest's assertions; the first that fails ends the process. What
// commands print on stdout goes nowhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/commands/verify.h"
#include "files.h"
#include "golden.h"

/// Before the first input.
extern "C" int LLVMFuzzerInitialize(int* argumentCount, char*** arguments);
/// One per target. Every input is taken: 0 is returned.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace dtypemut::fuzz {

/// An input whose first bytes choose how the rest is used. They are 0 where the input is too short.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  std::uint8_t byte();
  /// A place among `count`; `first` is 0 and the characters that follow count up, so that the corpus can be read.
  std::size_t place(char first, std::size_t count) { return static_cast<std::uint8_t>(byte() - first) % count; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Six switches in one byte; '@' is none of them, 'A' the first, 'B' the second, 'C' both, and so on.
class Switches {
 public:
  explicit Switches(std::uint8_t byte) : byte_(byte) {}
  bool has(unsigned number) const { return (byte_ >> number & 1) != 0; }

 private:
  unsigned byte_;
};

/// A folder for all inputs of a process.
class Folder {
 public:
  explicit Folder(golden::Files files);

  std::string operator/(const std::string& name) const { return scratch_ / name; }
  const std::string& path() const { return scratch_.path(); }
  /// Removes all files but those that it was made with, which must be what they were.
  void clear() const;
  std::vector<std::string> newFiles() const;

 private:
  ScratchFolder scratch_;
  golden::Files files_;
};

/// Takes what a command logs, and checks that every diagnostic is one line that says what it is.
class Log {
 public:
  LogLine line();
  const std::vector<std::string>& diagnostics() const { return diagnostics_; }
  std::size_t errorCount() const { return errorCount_; }

 private:
  std::vector<std::string> diagnostics_;
  std::size_t errorCount_ = 0;
};

}  // namespace dtypemut::fuzz
