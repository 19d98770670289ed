#include "dtypemut/io/source.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "files.h"

using namespace dtypemut;

TEST_CASE("a file may have as many bytes as allowed, and no more") {
  const ScratchFolder folder;
  for (const std::size_t size : {0, 1, 9, 10, 11, 1000}) {
    CAPTURE(size);
    writeFile(folder / "file", std::string(size, ' '));
    const Result<Source> source = Source::read(folder / "file", 10);
    CHECK(bool(source) == (size <= 10));
    if (source) {
      CHECK(source->text().size() == size);
    } else {
      CHECK(source.error().exitCode() == ExitCode::kFile);
      CHECK(source.error().begin()->message == "cannot read: larger than 10 bytes");
    }
  }
}

TEST_CASE("what has no end is read no further than allowed") {
  const Result<Source> source = Source::read("/dev/zero", 1'000'000);
  REQUIRE_FALSE(source);
  CHECK(source.error().begin()->message == "cannot read: larger than 1000000 bytes");
}

TEST_CASE("a pipe is read to its end, whatever it holds") {
  const ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::size_t size : {0, 100, 65'536, 200'000}) {
    const std::string text(size, 'x');
    std::thread writer([&] { writeFile(folder / "pipe", text); });
    const Result<Source> source = Source::read(folder / "pipe");
    writer.join();
    REQUIRE(source);
    CHECK(source->text() == text);
  }
}

TEST_CASE("stdin is read from where it stands, also when it is a large file") {
  const ScratchFolder folder;
  for (const std::size_t size : {std::size_t{100}, std::size_t{10} << 20}) {
    writeFile(folder / "file", "header" + std::string(size, 'x'));
    const int usual = ::dup(STDIN_FILENO);
    const int file = ::open((folder / "file").c_str(), O_RDONLY);
    REQUIRE(::lseek(file, 6, SEEK_SET) == 6);
    REQUIRE(::dup2(file, STDIN_FILENO) == STDIN_FILENO);
    const Result<Source> source = Source::read("-");
    ::dup2(usual, STDIN_FILENO);
    ::close(usual);
    ::close(file);
    REQUIRE(source);
    CHECK(source->text() == std::string(size, 'x'));
  }
}

TEST_CASE("a large file is read as it is, by one thread and by several") {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; text.size() < std::size_t{20} << 20; ++i) text += std::to_string(i);
  for (const char* end : {"", "\xC3\xA4"}) {
    writeFile(folder / "file", text + end);
    for (const unsigned threads : {0, 1, 2}) {
      const Result<Source> source = Source::read(folder / "file", Source::mostDocumentBytes(), threads);
      REQUIRE(source);
      CHECK(source->text() == text + end);
      CHECK(source->isPlain() == std::string_view(end).empty());
    }
  }
}

TEST_CASE("what is read by default fits in memory twice") {
  CHECK(Source::mostDocumentBytes() >= std::uint64_t{64} << 20);
}
