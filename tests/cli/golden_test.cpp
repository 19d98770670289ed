#include "golden.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "files.h"

namespace fs = std::filesystem;
using namespace dtypemut;

namespace {

/// What other tests read, relative to testdata/: no golden case has to use it.
const std::set<std::string> kReadElsewhere = {
    "cast/decode_tables.json", "cast/encode_cases.csv", "cast/encode_digests.json", "fuzz", "malformed", "real"};

/// A case folder in the making, for the tests of the harness itself.
class Case {
 public:
  explicit Case(const std::string& cmd) { write("cmd", cmd); }
  void write(const std::string& name, const std::string& text) const { writeFile(scratch_ / name, text); }
  fs::path folder() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

using Faults = std::vector<std::string>;

}  // namespace

TEST_CASE("every case under testdata does what it did when it was recorded") {
  const bool regenerate = std::getenv("DTYPEMUT_REGENERATE") != nullptr;
  for (const fs::directory_entry& command : fs::directory_iterator(DTYPEMUT_TESTDATA)) {
    if (kReadElsewhere.contains(command.path().filename().string())) continue;
    REQUIRE_MESSAGE(command.is_directory(), command.path().string() << ": no test uses this");
    for (const fs::directory_entry& entry : fs::directory_iterator(command)) {
      const std::string name = fs::relative(entry, DTYPEMUT_TESTDATA).generic_string();
      if (kReadElsewhere.contains(name)) continue;
      for (const std::string& fault : golden::checkCase(entry, regenerate)) FAIL_CHECK(name << ": " << fault);
    }
  }
}

TEST_CASE("a recorded case passes until the command does something else") {
  const Case example("cat in.txt; echo oops >&2; cat in.txt >out.txt; exit 3");
  example.write("in.txt", "one\ntwo\n");
  CHECK(golden::checkCase(example.folder(), true) == Faults{});
  CHECK(golden::readFiles(example.folder() / "expected") ==
        golden::Files{{"exit", "3\n"}, {"out.txt", "one\ntwo\n"}, {"stderr", "oops\n"}, {"stdout", "one\ntwo\n"}});
  CHECK(golden::checkCase(example.folder(), false) == Faults{});

  example.write("in.txt", "one\nthree\n");
  CHECK(golden::checkCase(example.folder(), false) ==
        Faults{"out.txt:2: expected 'two', found 'three'", "stdout:2: expected 'two', found 'three'"});
  example.write("cmd", "cat in.txt >&2; mkdir -p a; echo 1 >a/b");
  CHECK(golden::checkCase(example.folder(), false) ==
        Faults{"exit:1: expected '3', found '0'", "out.txt: expected, but not there",
               "stderr:1: expected 'oops', found 'one'", "stdout: expected, but not there",
               "a/b: not expected, begins with '1'"});
}

TEST_CASE("a changed input counts as an output, an untouched one does not") {
  const Case example("echo 2 >>changed; cat kept >/dev/null");
  example.write("changed", "1\n");
  example.write("kept", "1\n");
  CHECK(golden::checkCase(example.folder(), true) == Faults{});
  CHECK(golden::readFiles(example.folder() / "expected") == golden::Files{{"changed", "1\n2\n"}, {"exit", "0\n"}});
}

TEST_CASE("what no test uses is reported") {
  const Case example("cat graph.json");
  example.write("graph.json", "{\"file\": \"w.bin\"}");
  example.write("w.bin", "");
  example.write("stray.txt", "");
  CHECK(golden::checkCase(example.folder(), true) ==
        Faults{"stray.txt: neither cmd nor another input names this file"});
  fs::remove(example.folder() / "cmd");
  CHECK(golden::checkCase(example.folder(), true) == Faults{"no cmd: no test uses this"});
}
