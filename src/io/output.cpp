#include "dtypemut/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <utility>

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferSize = std::size_t{512} << 10;  // what a thread is started for
constexpr int kMaxSymlinks = 40;

/// What exists now only until it is committed. Process-wide, since a signal ends the process as a whole; a commit holds
/// the lock, so that a signal sees it done or not begun. Never destroyed: a signal may come while the process exits.
struct TemporaryFiles {
  std::mutex mutex;
  std::set<fs::path> paths;
  std::set<fs::path> folders;  // made for files to come; removed only if they are empty
};

TemporaryFiles& temporaryFiles() {
  static TemporaryFiles& files = *new TemporaryFiles;
  return files;
}

std::string errnoText(int error) { return std::strerror(error); }  // NOLINT(concurrency-mt-unsafe): glibc's is safe

fs::path folderOf(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Follows symlinks by hand, since the last one may lead to a file that does not exist yet.
fs::path followSymlinks(fs::path path) {
  std::error_code ignored;
  for (int i = 0; i < kMaxSymlinks && fs::is_symlink(fs::symlink_status(path, ignored)); ++i) {
    const fs::path next = fs::read_symlink(path, ignored);
    if (next.empty()) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

/// The descriptor of this process that a path such as /dev/stdout leads to. Opening the path would start at the
/// beginning of a file that is redirected to, and fails for a socket.
std::optional<int> ownDescriptor(fs::path path) {
  std::error_code failed;
  for (int i = 0; i < kMaxSymlinks && fs::is_symlink(fs::symlink_status(path, failed)); ++i) {
    const std::string name = path.filename().string();
    const bool isNumber = !name.empty() && name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos;
    if (isNumber && fs::canonical(folderOf(path), failed) == "/proc/" + std::to_string(::getpid()) + "/fd")
      return std::stoi(name);
    const fs::path next = fs::read_symlink(path, failed);
    if (next.empty()) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return std::nullopt;
}

/// Creates a file and notes it, so that there is none that abandonOutputs does not know. The lock must be held.
int openUniqueFile(const fs::path& folder, mode_t mode, fs::path& name) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), ".dtypemut-%08x%08x.tmp", random(), random());
    name = folder / text.data();
    const auto [noted, isNew] = temporaryFiles().paths.insert(name);
    if (!isNew) continue;
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) return descriptor;
    const int error = errno;
    temporaryFiles().paths.erase(noted);
    errno = error;
    if (error != EEXIST) return -1;
  }
  return -1;
}

/// A file without a name that holds a direct output until everything else has succeeded. The lock must be held.
int openSpool() {
  std::error_code ignored;
  const fs::path folder = fs::temp_directory_path(ignored);
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  fs::path name;
  const int named = openUniqueFile(folder, 0600, name);
  if (named < 0) return named;
  ::unlink(name.c_str());
  temporaryFiles().paths.erase(name);
  return named;
}

bool writeAll(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Copies all of `from` to `to`; an errno, or 0.
int copyAll(int from, int to) {
  if (::lseek(from, 0, SEEK_SET) != 0) return errno;
  std::string buffer(kBufferSize, '\0');
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return 0;
    if (!writeAll(to, buffer.data(), static_cast<std::size_t>(count))) return errno;
  }
}

/// A temporary file takes the place of its target. Where the file system can exchange two files, the old one stays
/// until keep(), as the temporary one. The lock must be held.
class Replacement {
 public:
  Replacement(fs::path temporary, fs::path target) : temporary_(std::move(temporary)), target_(std::move(target)) {}

  /// An errno, or 0.
  int make() {
    if (exchange()) {
      left_ = Left::kOld;
      if (!isFolder(temporary_)) return 0;
      undo();
      return EISDIR;
    }
    struct stat found {};
    const bool exists = ::lstat(target_.c_str(), &found) == 0;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
    left_ = exists ? Left::kNothing : Left::kNew;
    return 0;
  }

  /// Gives the target its old content back, as far as that is still there.
  void undo() const {
    if (left_ == Left::kNew) ::rename(target_.c_str(), temporary_.c_str());
    if (left_ != Left::kOld || exchange() || ::rename(temporary_.c_str(), target_.c_str()) == 0) return;
    // Only the temporary file has the old content now: it must stay.
    temporaryFiles().paths.erase(temporary_);
  }

  void keep() const {
    if (left_ == Left::kOld) ::unlink(temporary_.c_str());
    temporaryFiles().paths.erase(temporary_);
  }

 private:
  enum class Left { kNothing, kOld, kNew };  // what can be put back: the old file, or that there was none

  static bool isFolder(const fs::path& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  }

  bool exchange() const {
    return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
  }

  fs::path temporary_;
  fs::path target_;
  Left left_ = Left::kNothing;
};

}  // namespace

OutputFile::~OutputFile() {
  if (background_.valid()) background_.wait();
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::writeThrough(std::string_view text) {
  if (!ok() || writeAll(descriptor_, text.data(), text.size())) return;
  error_ = errnoText(errno);
  failed_ = true;
}

void OutputFile::waitForBackground() {
  if (background_.valid()) background_.get();
}

/// Empties the buffer.
void OutputFile::passOn() {
  waitForBackground();
  buffer_.swap(passedOn_);
  buffer_.clear();
  try {
    if (threads_ != 1) background_ = std::async(std::launch::async, [this] { writeThrough(passedOn_); });
  } catch (const std::system_error&) {
    threads_ = 1;  // there is no other thread to be had
  }
  if (threads_ == 1) writeThrough(passedOn_);
}

void OutputFile::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferSize && !buffer_.empty()) passOn();
  if (text.size() < kBufferSize) {
    buffer_ += text;
  } else {
    waitForBackground();
    writeThrough(text);
  }
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Status OutputFile::flush() {
  waitForBackground();
  writeThrough(buffer_);
  buffer_ = std::string();
  passedOn_ = std::string();
  if (!ok()) return fileError(path_, "cannot write: " + error_);
  return Done{};
}

OutputSet::OutputSet(unsigned threads) : threads_(threads) {}

OutputSet::~OutputSet() {
  const std::lock_guard lock(temporaryFiles().mutex);
  for (const auto& file : files_) {
    if (temporaryFiles().paths.erase(file->temporary_) != 0) ::unlink(file->temporary_.c_str());
  }
  for (const fs::path& folder : folders_)
    if (temporaryFiles().folders.erase(folder) != 0) ::rmdir(folder.c_str());
}

Status OutputSet::makeFolder(const std::string& path) {
  const std::lock_guard lock(temporaryFiles().mutex);
  std::error_code error;
  if (fs::is_directory(path, error)) return Done{};
  if (fs::exists(path, error))
    error = std::make_error_code(std::errc::not_a_directory);
  else
    fs::create_directory(path, error);
  if (error) return fileError(path, "cannot write: " + error.message());
  folders_.emplace_back(path);
  temporaryFiles().folders.emplace(path);
  return Done{};
}

Result<OutputFile*> OutputSet::open(const std::string& path) {
  files_.push_back(std::unique_ptr<OutputFile>(new OutputFile(threads_)));
  OutputFile& file = *files_.back();
  file.path_ = path;
  const auto failed = [&](int error) {
    files_.pop_back();
    return fileError(path, "cannot write: " + errnoText(error));
  };
  const std::lock_guard lock(temporaryFiles().mutex);
  if (path == "-") {
    file.stream_ = STDOUT_FILENO;
  } else if (const std::optional<int> own = ownDescriptor(path)) {
    file.stream_ = *own;
  } else {
    file.target_ = followSymlinks(path);
    struct stat found {};
    const bool exists = ::stat(path.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) return failed(errno);
    if (exists && S_ISDIR(found.st_mode)) return failed(EISDIR);
    if (exists && ::access(path.c_str(), W_OK) != 0) return failed(errno);
    if (!exists || S_ISREG(found.st_mode)) {
      // What others may not read they may not read meanwhile either.
      file.descriptor_ = openUniqueFile(folderOf(file.target_), exists ? 0600 : 0666, file.temporary_);
      if (file.descriptor_ < 0) return failed(errno);
      if (exists) ::fchmod(file.descriptor_, found.st_mode & 07777);
    }
  }
  if (file.descriptor_ < 0) file.descriptor_ = openSpool();
  if (file.descriptor_ < 0) return failed(errno);
  return &file;
}

Status OutputSet::commit() {
  for (const auto& file : files_)
    if (Status flushed = file->flush(); !flushed) return flushed;
  for (const auto& file : files_) {
    if (!file->temporary_.empty()) continue;
    const bool isStream = file->stream_ >= 0;
    const int target = isStream ? file->stream_ : ::open(file->target_.c_str(), O_WRONLY | O_CLOEXEC);
    int error = target < 0 ? errno : copyAll(file->descriptor_, target);
    if (!isStream && target >= 0 && ::close(target) != 0 && error == 0) error = errno;
    if (error != 0)
      return fileError(file->path_ == "-" ? "<stdout>" : file->path_, "cannot write: " + errnoText(error));
  }
  for (const auto& file : files_)
    if (!file->temporary_.empty() && ::close(std::exchange(file->descriptor_, -1)) != 0)
      return fileError(file->path_, "cannot write: " + errnoText(errno));

  const std::lock_guard lock(temporaryFiles().mutex);
  std::vector<Replacement> replacements;
  std::vector<const OutputFile*> outputs;
  for (const auto& file : files_) {
    if (file->temporary_.empty()) continue;
    replacements.emplace_back(file->temporary_, file->target_);
    outputs.push_back(file.get());
  }
  for (std::size_t i = 0; i < replacements.size(); ++i) {
    const int error = replacements[i].make();
    if (error == 0) continue;
    const std::string& path = outputs[i]->path_;
    while (i-- > 0) replacements[i].undo();
    return fileError(path, "cannot write: " + errnoText(error));
  }
  for (const Replacement& replacement : replacements) replacement.keep();
  for (const fs::path& folder : folders_) temporaryFiles().folders.erase(folder);
  folders_.clear();
  files_.clear();
  return Done{};
}

Status writeToStdout(std::string_view text) {
  OutputSet outputs;
  const Result<OutputFile*> standardOutput = outputs.open("-");
  if (!standardOutput) return standardOutput.error();
  (*standardOutput)->write(text);
  return outputs.commit();
}

void abandonOutputs() {
  temporaryFiles().mutex.lock();
  for (const fs::path& path : temporaryFiles().paths) ::unlink(path.c_str());
  temporaryFiles().paths.clear();
  for (const fs::path& folder : temporaryFiles().folders) ::rmdir(folder.c_str());
  temporaryFiles().folders.clear();
}

bool isSameOutput(const std::string& a, const std::string& b) {
  const auto statOf = [](const std::string& path, struct stat& found) {
    return (path == "-" ? ::fstat(STDOUT_FILENO, &found) : ::stat(path.c_str(), &found)) == 0;
  };
  struct stat statA {};
  struct stat statB {};
  const bool existsA = statOf(a, statA);
  const bool existsB = statOf(b, statB);
  if (existsA && existsB) return statA.st_dev == statB.st_dev && statA.st_ino == statB.st_ino;
  if (existsA != existsB) return false;
  std::error_code ignored;
  const fs::path targetA = followSymlinks(a);
  const fs::path targetB = followSymlinks(b);
  return targetA.filename() == targetB.filename() &&
         fs::weakly_canonical(folderOf(targetA), ignored) == fs::weakly_canonical(folderOf(targetB), ignored);
}

bool isDirectOutput(const std::string& path) {
  if (path == "-" || ownDescriptor(path)) return true;
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

}  // namespace dtypemut
