// What can be wrong, as data (spec 1). The library returns diagnostics and never prints; io/source turns one into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dtypemut {

/// Exit statuses of every command (spec 1).
enum class ExitCode : int {
  kDone = 0,
  kRefused = 1,     ///< the input was refused
  kUsage = 2,       ///< wrong usage
  kFile = 3,        ///< a file could not be read or written, or memory ran out
  kNo = 4,          ///< the answer is no
  kToolsFault = 5,  ///< the result does not verify, or an exception escaped
};

enum class Severity : std::uint8_t { kNote, kWarning, kError };

/// One line of complaint. It stands at `offset` of the document when it has one, else it concerns `file` as a whole,
/// or, when that is empty, the tool.
struct Diagnostic {
  Severity severity = Severity::kError;
  ExitCode exitCode = ExitCode::kRefused;  ///< what an error makes of the run; meaningless for warnings and notes
  std::string message;
  std::optional<std::uint64_t> offset = std::nullopt;  ///< bytes from the start of the document
  std::string file = {};
};

/// Diagnostics in the order found; a note belongs to what stands before it. Holds at most kMaxErrors errors: what
/// comes after is dropped.
class Diagnostics {
 public:
  static constexpr std::size_t kMaxErrors = 20;

  Diagnostics() = default;
  Diagnostics(Diagnostic diagnostic) { add(std::move(diagnostic)); }  // NOLINT: an error is a list of one

  void add(Diagnostic diagnostic);
  void append(Diagnostics others);
  void error(std::uint64_t offset, std::string message);
  void warning(std::uint64_t offset, std::string message);
  void note(std::uint64_t offset, std::string message);

  bool hasErrors() const { return errorCount_ != 0; }
  /// No further error will be kept: whoever looks for more may stop.
  bool full() const { return errorCount_ == kMaxErrors; }
  /// kDone without errors; kRefused if any error is that; else that of the first error (spec 1).
  ExitCode exitCode() const;

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

 private:
  std::vector<Diagnostic> items_;
  std::size_t errorCount_ = 0;
  bool lastWasDropped_ = false;  // so that its notes are dropped too
};

/// A value, or why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}                        // NOLINT: implicit, so
  Result(Diagnostic diagnostic) : state_(std::in_place_index<1>, std::move(diagnostic)) {}     // NOLINT: that both can
  Result(Diagnostics diagnostics) : state_(std::in_place_index<1>, std::move(diagnostics)) {}  // NOLINT: be returned

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Diagnostics& error() { return std::get<1>(state_); }
  const Diagnostics& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// The result of what has no value: done, or why not.
struct Done {};
using Status = Result<Done>;

/// An error about a file as a whole that could not be read or written (exit status 3).
Diagnostic fileError(std::string file, std::string message);
/// An error about the content of a file other than the document (exit status 1).
Diagnostic refusedFile(std::string file, std::string message);

}  // namespace dtypemut
