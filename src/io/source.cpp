#include "dtypemut/io/source.h"

#include <fcntl.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "../ir/huge_pages.h"
#include "dtypemut/cast/threads.h"

namespace dtypemut {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;
constexpr std::size_t kPiece = std::size_t{256} << 10;  // still in the cache when it is looked at
constexpr std::size_t kMuch = std::size_t{8} << 20;     // less is read before a thread wakes up

bool isPlainText(std::string_view text) {
  unsigned strange = 0;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    strange |= static_cast<unsigned>(byte >= 0x80) | static_cast<unsigned>(byte >= 0x1A && byte < 0x20);
  }
  return strange == 0;
}

std::string_view severityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

}  // namespace

/// Reads a file of so many bytes, or of at least so many, on several threads. False when that fails, or the file is
/// shorter by now.
bool Source::readPieces(int descriptor, std::size_t size, int threads) {
  std::atomic<bool> isComplete = true;
  std::atomic<bool> isPlain = true;
  const auto readPiece = [&](std::size_t begin) {
    const std::size_t end = std::min(begin + kPiece, size);
    for (std::size_t at = begin; at < end && isComplete;) {
      const ssize_t count = ::pread(descriptor, text_.get() + at, end - at, static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return isComplete.store(false);
      at += static_cast<std::size_t>(count);
    }
    if (isComplete && !isPlainText({text_.get() + begin, end - begin})) isPlain = false;
  };
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] { oneapi::tbb::parallel_for(std::size_t{0}, size, kPiece, readPiece); });
  if (!isComplete || ::lseek(descriptor, static_cast<off_t>(size), SEEK_SET) < 0) return false;
  size_ = size;
  isPlain_ = isPlain;
  return true;
}

char* Source::allocate(std::size_t capacity) {
  char* memory = static_cast<char*>(std::malloc(capacity + kPadding));
  if (memory != nullptr) adviseHugePages(memory, capacity);
  return memory;
}

LineIndex::LineIndex(std::string_view text) : begins_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    begins_.push_back(at + 1);
}

TextPosition LineIndex::position(std::uint64_t offset) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), offset);
  return {.line = static_cast<std::uint64_t>(next - begins_.begin()), .column = offset - *std::prev(next) + 1};
}

void Source::Free::operator()(char* text) const { std::free(text); }

std::uint64_t Source::mostDocumentBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long pageBytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes) / 2;
}

Result<Source> Source::read(const std::string& path, std::uint64_t mostBytes, unsigned threads) {
  Source source;
  const bool isStdin = path == "-";
  source.name_ = isStdin ? "<stdin>" : path;
  source.folder_ = isStdin ? std::filesystem::path(".") : std::filesystem::path(path).parent_path();
  if (source.folder_.empty()) source.folder_ = ".";

  const auto failed = [&](int error) {
    return fileError(source.name_, std::string("cannot read: ") + std::strerror(error));
  };
  const auto tooLarge = [&] {
    return fileError(source.name_, "cannot read: larger than " + std::to_string(mostBytes) + " bytes" +
                                       (mostBytes == mostDocumentBytes() ? ", half of this machine's memory" : ""));
  };
  const int descriptor = isStdin ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed(errno);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&descriptor, [](const int* d) { ::close(*d); });
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);

  // One byte more than a regular file has, so that its end is met without growing.
  const bool isRegular = S_ISREG(status.st_mode);
  if (isRegular && static_cast<std::uint64_t>(status.st_size) > mostBytes) return tooLarge();
  std::size_t capacity = isRegular ? static_cast<std::size_t>(status.st_size) + 1 : kFirstCapacity;
  source.text_.reset(allocate(capacity));
  if (isRegular && !isStdin && capacity > kMuch && source.text_ != nullptr)
    if (const int usable = usableThreads(threads); usable > 1) source.readPieces(descriptor, capacity - 1, usable);
  for (;;) {
    if (source.text_ == nullptr) return failed(ENOMEM);
    char* const end = source.text_.get() + source.size_;
    const ssize_t count = ::read(descriptor, end, std::min(capacity - source.size_, kPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno);
    if (count == 0) break;
    source.isPlain_ = source.isPlain_ && isPlainText({end, static_cast<std::size_t>(count)});
    source.size_ += static_cast<std::size_t>(count);
    if (source.size_ > mostBytes) return tooLarge();
    if (source.size_ < capacity) continue;
    capacity *= 2;
    char* larger = static_cast<char*>(std::realloc(source.text_.get(), capacity + kPadding));
    if (larger == nullptr) return failed(ENOMEM);
    static_cast<void>(source.text_.release());
    source.text_.reset(larger);
  }
  std::memset(source.text_.get() + source.size_, 0, kPadding);
  return source;
}

Source::Source(std::string name, std::string_view text, std::filesystem::path folder)
    : name_(std::move(name)),
      folder_(std::move(folder)),
      text_(allocate(text.size())),
      size_(text.size()),
      isPlain_(isPlainText(text)) {
  if (text_ == nullptr) throw std::bad_alloc();
  std::memcpy(text_.get(), text.data(), text.size());
  std::memset(text_.get() + size_, 0, kPadding);
}

TextPosition Source::position(std::uint64_t offset) const {
  const std::string_view before = text().substr(0, offset);
  const std::size_t lastBreak = before.rfind('\n');
  return {.line = 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
          .column = lastBreak == std::string_view::npos ? before.size() + 1 : before.size() - lastBreak};
}

std::string oneLine(std::string_view text) {
  std::string line;
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      line += escape;
    }
  }
  return line;
}

std::string formatDiagnostic(const Diagnostic& diagnostic, const Source* source) {
  std::string line;
  if (diagnostic.offset && source != nullptr) {
    const TextPosition position = source->position(*diagnostic.offset);
    line = source->name() + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  } else {
    line = diagnostic.file.empty() ? "dtypemut" : diagnostic.file;
  }
  line += ": ";
  line += severityName(diagnostic.severity);
  line += ": ";
  line += diagnostic.message;
  return oneLine(line);
}

}  // namespace dtypemut
