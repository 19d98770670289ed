#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kNote) {
    if (lastWasDropped_) return;
  } else {
    lastWasDropped_ = diagnostic.severity == Severity::kError && full();
    if (lastWasDropped_) return;
    if (diagnostic.severity == Severity::kError) ++errorCount_;
  }
  items_.push_back(std::move(diagnostic));
}

void Diagnostics::append(Diagnostics others) {
  for (Diagnostic& other : others.items_) add(std::move(other));
}

void Diagnostics::error(std::uint64_t offset, std::string message) {
  add({.severity = Severity::kError, .message = std::move(message), .offset = offset});
}

void Diagnostics::warning(std::uint64_t offset, std::string message) {
  add({.severity = Severity::kWarning, .message = std::move(message), .offset = offset});
}

void Diagnostics::note(std::uint64_t offset, std::string message) {
  add({.severity = Severity::kNote, .message = std::move(message), .offset = offset});
}

ExitCode Diagnostics::exitCode() const {
  ExitCode first = ExitCode::kDone;
  for (const Diagnostic& item : items_) {
    if (item.severity != Severity::kError) continue;
    if (item.exitCode == ExitCode::kRefused) return ExitCode::kRefused;
    if (first == ExitCode::kDone) first = item.exitCode;
  }
  return first;
}

Diagnostic fileError(std::string file, std::string message) {
  return {.exitCode = ExitCode::kFile, .message = std::move(message), .file = std::move(file)};
}

Diagnostic refusedFile(std::string file, std::string message) {
  return {.exitCode = ExitCode::kRefused, .message = std::move(message), .file = std::move(file)};
}

}  // namespace dtypemut
