#include "dtypemut/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace dtypemut {

Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file;
  file.path_ = path;
  // Without O_NONBLOCK a FIFO would wait for a writer before it could be refused.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat found {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &found) != 0)
    return fileError(path, std::string("cannot read: ") + std::strerror(errno));
  if (S_ISDIR(found.st_mode)) return fileError(path, std::string("cannot read: ") + std::strerror(EISDIR));
  if (!S_ISREG(found.st_mode)) return fileError(path, "cannot read: not a regular file");
  file.size_ = static_cast<std::uint64_t>(found.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), size_(other.size_), descriptor_(std::exchange(other.descriptor_, -1)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fileError(path_, std::string("cannot read: ") + std::strerror(errno));
    if (count == 0)
      return fileError(path_,
                       "cannot read: the file ends at byte " + std::to_string(offset) + ", before what was expected");
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return Done{};
}

}  // namespace dtypemut
