// A file that is read by offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dtypemut/cast/stream.h"
#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

/// An open regular file. It is read, not mapped: one that shrinks meanwhile gives an error, never a signal. May be read
/// from several threads at once.
class InputFile final : public ByteSource {
 public:
  /// An error (kFile) when there is no such file, when it may not be read, or when it is no regular file.
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile() override;

  /// The path as given.
  const std::string& path() const { return path_; }
  /// The size when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills `out` with what stands at `offset`; an error (kFile) if the file cannot be read or ends before.
  Status read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  InputFile() = default;

  std::string path_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace dtypemut
