#include "dtypemut/io/source.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

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

TEST_CASE("what is read by default fits in memory twice") {
  CHECK(Source::mostDocumentBytes() >= std::uint64_t{64} << 20);
}
