// Where the outputs of a run go when the place is full or read-only, and a locale that spells numbers otherwise.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <locale>
#include <optional>
#include <string>

#include "dtypemut/commands/run.h"
#include "files.h"
#include "golden.h"

namespace fs = std::filesystem;
using namespace dtypemut;

namespace {

/// The exit status of a shell command that runs where it may mount file systems that nobody else sees; nullopt where
/// that is not allowed. `dtypemut` is the built command.
std::optional<int> statusAmongOwnMounts(const std::string& folder, const std::string& command) {
  static const bool isAllowed = std::system("unshare -rm sh -c 'mount -t tmpfs tmpfs /tmp' >/dev/null 2>&1") == 0;
  if (!isAllowed) return std::nullopt;
  writeFile(folder + "/cmd", "PATH='" + fs::path(DTYPEMUT_COMMAND).parent_path().string() + "':$PATH\n" + command);
  const int status = std::system(("cd '" + folder + "' && unshare -rm sh ./cmd >log 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A graph whose weight, in a file beside it, has `count` elements.
void writeGraphWithWeight(const ScratchFolder& folder, std::size_t count) {
  const std::string shape = "\"shape\": [" + std::to_string(count) + "]";
  writeFile(folder / "w.bin", std::string(4 * count, '\0'));
  writeFile(folder / "g.json",
            "{\"tensors\": [{\"name\": \"w\", \"dtype\": \"float32\", " + shape +
                ", \"kind\": \"const\", \"data\": {\"file\": \"w.bin\"}},\n"
                "{\"name\": \"s\", \"dtype\": \"float32\", " +
                shape +
                "}],\n"
                "\"instructions\": [{\"name\": \"l\", \"op\": \"SBAtomLoad\", \"dtype\": \"float32\", "
                "\"operands\": [{\"tensor\": \"w\"}], \"dst\": {\"tensor\": \"s\"}},\n"
                "{\"name\": \"a\", \"op\": \"ActivationOp\", \"operands\": [{\"tensor\": \"s\"}]}]}\n");
}

constexpr const char* kRun =
    "dtypemut run g.json --target trn2 --dtype bf16 --quiet -o place/out.json --stats place/stats.json";

}  // namespace

TEST_CASE("on a disk that fills up, the outputs of before stay whole and nothing else is left") {
  const ScratchFolder folder;
  writeGraphWithWeight(folder, 10'000);
  // Room for the old files, and for 0, 1, ... further pages: the run fails in its weights, then in its reports, and
  // then, with room enough, it succeeds.
  const auto status =
      statusAmongOwnMounts(folder.path(),
                           "mkdir place\n"
                           "for pages in 0 1 2 3 4 5 6 7 8 9; do\n"
                           "  mount -t tmpfs -o size=$((4096 * (pages + 3))) tmpfs place\n"
                           "  for name in out.json out.safetensors stats.json; do echo old >place/$name; done\n" +
                               std::string("  ") + kRun +
                               "\n"
                               "  code=$?\n"
                               "  echo \"$pages: $code\"\n"
                               "  if [ $code = 3 ]; then\n"
                               "    [ \"$(cat place/out.json place/out.safetensors place/stats.json)\" = \"$(printf "
                               "'old\\nold\\nold')\" ] || exit 10\n"
                               "  elif [ $code = 0 ]; then\n"
                               "    dtypemut verify place/out.json || exit 11\n"
                               "    grep -q statistics place/stats.json || exit 12\n"
                               "  else\n"
                               "    exit 13\n"
                               "  fi\n"
                               "  [ \"$(ls -A place | wc -l)\" = 3 ] || exit 14\n"
                               "  codes=\"$codes$code\"\n"
                               "  umount place\n"
                               "done\n"
                               "case $codes in *3*0) exit 0;; esac\n"
                               "exit 15\n");
  if (!status) {
    MESSAGE("no file system can be mounted here: not tested");
    return;
  }
  INFO(readFile(folder / "log"));
  CHECK(*status == 0);
}

TEST_CASE("into a read-only file system nothing is written, and the status says so") {
  const ScratchFolder folder;
  writeGraphWithWeight(folder, 4);
  const auto status = statusAmongOwnMounts(folder.path(),
                                           "mkdir place && mount -t tmpfs tmpfs place && echo old >place/out.json\n"
                                           "mount -o remount,ro place\n" +
                                               std::string(kRun) +
                                               "\n"
                                               "[ $? = 3 ] || exit 10\n"
                                               "[ \"$(ls -A place)\" = out.json ] || exit 11\n"
                                               "grep -q 'place.*: error: cannot write: ' log || exit 12\n");
  if (!status) {
    MESSAGE("no file system can be mounted here: not tested");
    return;
  }
  INFO(readFile(folder / "log"));
  CHECK(*status == 0);
}

TEST_CASE("a folder or file that may not be written is left alone") {
  if (::geteuid() == 0) {
    MESSAGE("root may write everywhere: not tested");
    return;
  }
  const ScratchFolder folder;
  writeGraphWithWeight(folder, 4);
  fs::create_directory(folder / "place");
  writeFile(folder / "place/out.json", "old");
  RunOptions options;
  options.input = folder / "g.json";
  options.output = folder / "place/out.json";
  options.target = target(Architecture::kCayman);
  const LogLine silent = [](Severity, const std::string&) {};
  const auto check = [&](fs::perms file, fs::perms place) {
    fs::permissions(folder / "place/out.json", file);
    fs::permissions(folder / "place", place);
    CHECK(run(options, silent) == ExitCode::kFile);
    CHECK(golden::readFiles(folder / "place") == golden::Files{{"out.json", "old"}});
    fs::permissions(folder / "place", fs::perms::owner_all);
  };
  check(fs::perms::owner_all, fs::perms::owner_read | fs::perms::owner_exec);
  check(fs::perms::owner_read, fs::perms::owner_all);
}

TEST_CASE("a locale of the process changes no number") {
  class Commas : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
  };
  const ScratchFolder folder;
  writeFile(
      folder / "g.json",
      "{\"tensors\": [{\"name\": \"w\", \"dtype\": \"float32\", \"shape\": [4000], \"kind\": \"const\", \"data\": "
      "{\"splat\": 1.5}}, {\"name\": \"v\", \"dtype\": \"float32\", \"shape\": [3], \"kind\": \"const\", \"data\": "
      "{\"values\": [1234.5, 0.1, 1e-300]}}, {\"name\": \"s\", \"dtype\": \"float32\", \"shape\": [4000]}, "
      "{\"name\": \"t\", \"dtype\": \"float32\", \"shape\": [3]}], \"instructions\": ["
      "{\"name\": \"l\", \"op\": \"SBAtomLoad\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": \"w\"}], "
      "\"dst\": {\"tensor\": \"s\"}}, "
      "{\"name\": \"m\", \"op\": \"SBAtomLoad\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": \"v\"}], "
      "\"dst\": {\"tensor\": \"t\"}}, "
      "{\"name\": \"a\", \"op\": \"TensorTensorOp\", \"operands\": [{\"tensor\": \"s\"}, {\"tensor\": \"t\"}]}]}");
  writeFile(folder / "bad.json",
            "{\"tensors\": [{\"name\": \"w\", \"dtype\": \"float32\", \"shape\": [123456, 4000], \"kind\": \"const\", "
            "\"data\": {\"values\": [1e40]}}], \"instructions\": []}");
  const auto everything = [&] {
    std::string text;
    const LogLine log = [&](Severity, const std::string& line) { text += line + "\n"; };
    RunOptions options;
    options.input = folder / "g.json";
    options.output = folder / "out.json";
    options.stats = folder / "stats.json";
    options.target = target(Architecture::kCayman);
    CHECK(run(options, log) == ExitCode::kDone);
    CHECK(verifyFile({.input = folder / "bad.json"}, log) == ExitCode::kRefused);
    return text + readFile(options.output) + readFile(options.stats);
  };

  const std::string expected = everything();
  CHECK(expected.find("[1232, 0.100097656, 0]") != std::string::npos);
  CHECK(expected.find("16012") != std::string::npos);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  CHECK(everything() == expected);
  std::locale::global(before);
}
