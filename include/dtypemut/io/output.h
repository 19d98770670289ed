// Output files that appear complete or not at all (spec 1).
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

/// One output on its way. Sequential; what has come together is written by another thread, if there may be one, while
/// more comes. The first error sticks, and what is written after it goes nowhere.
class OutputFile {
 public:
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  /// Writes out what is buffered; the first error there was, if any.
  Status flush();
  /// Whether no error is known yet.
  bool ok() const { return !failed_; }
  /// The path as the user gave it.
  const std::string& path() const { return path_; }

 private:
  friend class OutputSet;
  explicit OutputFile(unsigned threads) : threads_(threads) {}
  void writeThrough(std::string_view text);
  void waitForBackground();
  void passOn();

  std::string path_;
  int stream_ = -1;                  // a descriptor that the process was given, to write to; else
  std::filesystem::path target_;     // what path_ leads to, symlinks followed
  std::filesystem::path temporary_;  // beside target_; empty when the target is written directly
  int descriptor_ = -1;
  std::string buffer_;
  unsigned threads_;
  std::future<void> background_;  // writes
  std::string passedOn_;
  std::atomic<bool> failed_ = false;
  std::string error_;
};

/// All outputs of one run. Each is a temporary file until commit(). A target that exists and is no regular file (a
/// device, a FIFO, stdout) cannot be renamed to: its content waits in an unnamed temporary file and is copied there.
class OutputSet {
 public:
  /// `threads`: at most so many; 0: as many as the machine has.
  explicit OutputSet(unsigned threads = 0);
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;
  /// Discards whatever was not committed.
  ~OutputSet();

  /// Starts an output. `path` "-" is stdout. A symlink is followed; an existing file keeps its permissions.
  Result<OutputFile*> open(const std::string& path);
  /// Makes a folder for outputs, unless it is there. It is removed again when they are not committed.
  Status makeFolder(const std::string& path);
  /// Completes all outputs: the direct ones are copied, then the others renamed, in the order of open(). When one
  /// cannot be renamed, those before it are undone; a file that was there before comes back where the file system can
  /// exchange files, as most of Linux can.
  Status commit();

 private:
  unsigned threads_;
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::filesystem::path> folders_;
};

/// Writes a text to stdout, as the only output there is.
Status writeToStdout(std::string_view text);

/// Removes every temporary file of the process, and every folder made for one, and keeps any commit from going on: for
/// a process about to be ended by a signal. Never returns to a state in which outputs can be written.
void abandonOutputs();

/// Whether writing to `a` and to `b` would write to one file; either may not exist yet. "-" is stdout.
bool isSameOutput(const std::string& a, const std::string& b);

/// Whether `path` is stdout, another descriptor of the process (/dev/fd/3), or exists and is neither a regular file nor
/// a folder: written directly, with no folder of its own that further files could stand in.
bool isDirectOutput(const std::string& path);

}  // namespace dtypemut
