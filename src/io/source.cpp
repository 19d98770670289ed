#include "dtypemut/io/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace dtypemut {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;

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

char* Source::allocate(std::size_t capacity) { return static_cast<char*>(std::malloc(capacity + kPadding)); }

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

Result<Source> Source::read(const std::string& path, std::uint64_t mostBytes) {
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
  for (;;) {
    if (source.text_ == nullptr) return failed(ENOMEM);
    const ssize_t count = ::read(descriptor, source.text_.get() + source.size_, capacity - source.size_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno);
    if (count == 0) break;
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
    : name_(std::move(name)), folder_(std::move(folder)), text_(allocate(text.size())), size_(text.size()) {
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
