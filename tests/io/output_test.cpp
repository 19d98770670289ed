#include "dtypemut/io/output.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "file_size_limit.h"
#include "files.h"

using namespace dtypemut;
namespace fs = std::filesystem;

TEST_CASE("outputs appear together on commit, and leave nothing behind") {
  const ScratchFolder scratch;
  const std::string a = scratch / "a";
  const std::string b = scratch / "b";
  OutputSet outputs;
  (*outputs.open(a))->write(std::string_view("first"));
  (*outputs.open(b))->write(std::string_view("second"));
  CHECK_FALSE(fs::exists(a));
  REQUIRE(outputs.commit());
  CHECK(readFile(a) == "first");
  CHECK(readFile(b) == "second");
  CHECK(scratch.entryCount() == 2);
}

TEST_CASE("what is not committed is discarded, and the old file stays") {
  const ScratchFolder scratch;
  const std::string a = scratch / "a";
  writeFile(a, "old");
  {
    OutputSet outputs;
    (*outputs.open(a))->write(std::string_view("new"));
  }
  CHECK(readFile(a) == "old");
  CHECK(scratch.entryCount() == 1);
}

TEST_CASE("when one output cannot take its place, none does") {
  const ScratchFolder scratch;
  writeFile(scratch / "old", "old");
  {
    OutputSet outputs;
    for (const char* name : {"old", "new", "blocked", "last"})
      (*outputs.open(scratch / name))->write(std::string_view("content"));
    fs::create_directory(scratch / "blocked");
    const Status committed = outputs.commit();
    REQUIRE_FALSE(committed);
    CHECK(committed.error().exitCode() == ExitCode::kFile);
    CHECK(committed.error().begin()->message == "cannot write: Is a directory");
  }
  CHECK(readFile(scratch / "old") == "old");
  CHECK(scratch.entryCount() == 2);
}

TEST_CASE("an output larger than any buffer is written whole, by one thread and by several") {
  std::string text;
  for (int i = 0; text.size() < 5'000'000; ++i)
    text += std::to_string(i) + (i % 1000 == 0 ? std::string(static_cast<std::size_t>(i), 'x') : " ");
  for (const unsigned threads : {0, 1, 2}) {
    const ScratchFolder scratch;
    OutputSet outputs(threads);
    OutputFile& file = **outputs.open(scratch / "a");
    std::string_view rest = text;
    for (std::size_t size = 1; !rest.empty(); size = size * 3 % 1'500'000 + 1) {
      file.write(rest.substr(0, size));
      rest.remove_prefix(std::min(size, rest.size()));
    }
    REQUIRE(outputs.commit());
    CHECK(readFile(scratch / "a") == text);
  }
}

TEST_CASE("an error of an output shows in the end, whichever thread meets it") {
  for (const unsigned threads : {0, 1, 2}) {
    const ScratchFolder scratch;
    OutputSet outputs(threads);
    OutputFile& file = **outputs.open(scratch / "a");
    const FileSizeLimit full(1'000'000);
    for (int i = 0; i < 300; ++i) file.write(std::string(10'000, 'x'));
    const Status committed = outputs.commit();
    REQUIRE_FALSE(committed);
    CHECK(committed.error().begin()->message == "cannot write: File too large");
    CHECK_FALSE(fs::exists(scratch / "a"));
  }
}

TEST_CASE("a folder that was made for outputs stays only with them") {
  const ScratchFolder scratch;
  for (const bool isThere : {false, true}) {
    {
      OutputSet outputs;
      REQUIRE(outputs.makeFolder(scratch / "folder"));
      (*outputs.open(scratch / "folder/a"))->write(std::string_view("text"));
    }
    CHECK(fs::exists(scratch / "folder") == isThere);
    OutputSet outputs;
    REQUIRE(outputs.makeFolder(scratch / "folder"));
    (*outputs.open(scratch / "folder/a"))->write(std::string_view("text"));
    REQUIRE(outputs.commit());
    CHECK(readFile(scratch / "folder/a") == "text");
  }
  OutputSet outputs;
  CHECK_FALSE(outputs.makeFolder(scratch / "folder/a"));
  CHECK_FALSE(outputs.makeFolder(scratch / "none/folder"));
}

TEST_CASE("an existing file keeps its permissions") {
  const ScratchFolder scratch;
  const std::string a = scratch / "a";
  writeFile(a, "old");
  fs::permissions(a, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  OutputSet outputs;
  REQUIRE(outputs.open(a));
  REQUIRE(outputs.commit());
  CHECK(fs::status(a).permissions() == (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
}

TEST_CASE("a symlink is followed, also when it dangles") {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "folder");
  fs::create_symlink("folder/target", scratch / "link");
  for (const char* text : {"one", "two"}) {
    OutputSet outputs;
    (*outputs.open(scratch / "link"))->write(std::string_view(text));
    REQUIRE(outputs.commit());
    CHECK(fs::is_symlink(fs::symlink_status(scratch / "link")));
    CHECK(readFile(scratch / "folder/target") == text);
  }
}

TEST_CASE("a device is written directly") {
  OutputSet outputs;
  (*outputs.open("/dev/null"))->write(std::string_view("text"));
  REQUIRE(outputs.commit());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a folder, or a file in a folder that is not there, cannot be written") {
  const ScratchFolder scratch;
  OutputSet outputs;
  for (const std::string& path : {scratch / ".", scratch / "none/file"}) {
    const auto file = outputs.open(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().exitCode() == ExitCode::kFile);
  }
}

TEST_CASE("one file under two names is one output") {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "folder");
  fs::create_symlink("new", scratch / "link");
  CHECK(isSameOutput(scratch / "new", scratch / "folder/../new"));
  CHECK(isSameOutput(scratch / "new", scratch / "link"));
  CHECK_FALSE(isSameOutput(scratch / "new", scratch / "folder/new"));
  writeFile(scratch / "new", "");
  CHECK(isSameOutput(scratch / "link", scratch / "new"));
  CHECK_FALSE(isSameOutput(scratch / "folder/new", scratch / "new"));
}
