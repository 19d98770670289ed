#include "malformed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "dtypemut/commands/run.h"
#include "dtypemut/commands/verify.h"
#include "files.h"
#include "golden.h"

namespace fs = std::filesystem;
using namespace dtypemut;

namespace {

/// What a command said of a document: its exit status, and its lines without the document's name and the folder's.
struct Refusal {
  int exitCode = 0;
  std::vector<std::string> lines;
  bool operator==(const Refusal&) const = default;
};

/// Runs `command`, which is given a log, on the document at `path`.
template <typename Command>
Refusal refusalBy(const std::string& path, Command&& command) {
  Refusal refusal;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const LogLine log = [&](Severity, const std::string& line) {
    std::string text = line;
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) text.erase(at, folder.size());
    refusal.lines.push_back(text.starts_with("graph.json:") ? text.substr(11) : text);
  };
  refusal.exitCode = static_cast<int>(command(log));
  return refusal;
}

Refusal verified(const std::string& path, std::optional<Target> target) {
  return refusalBy(path,
                   [&](const LogLine& log) { return verifyFile({.input = path, .target = std::move(target)}, log); });
}

/// Also asks for every kind of output, in `folder`; none of them may appear.
Refusal ran(const std::string& path, const Target& target, const std::string& folder) {
  RunOptions options;
  options.input = path;
  options.output = folder + "/out.json";
  options.stats = folder + "/stats.json";
  options.weights = folder + "/out.safetensors";
  options.target = target;
  return refusalBy(path, [&](const LogLine& log) { return run(options, log); });
}

/// Both commands on `text`, which must agree and leave nothing behind.
Refusal refusalOf(const std::string& text, const std::string& target = "trn2", bool onlyWithTarget = false,
                  const std::vector<std::pair<std::string, std::string>>& files = {}) {
  const ScratchFolder folder;
  for (const auto& [name, content] : files) {
    fs::create_directories(fs::path(folder / name).parent_path());
    if (!name.ends_with('/')) writeFile(folder / name, malformed::bytesOf(content));
  }
  const std::string path = folder / "graph.json";
  writeFile(path, text);
  const golden::Files before = golden::readFiles(folder.path());

  const Target used = *targetFromArgument(target);
  Refusal refusal = ran(path, used, folder.path());
  CHECK(verified(path, used).lines == refusal.lines);
  CHECK(verified(path, used).exitCode == refusal.exitCode);
  if (!onlyWithTarget) CHECK(verified(path, std::nullopt).lines == refusal.lines);
  CHECK(golden::readFiles(folder.path()) == before);
  return refusal;
}

/// LINE:COLUMN of a diagnostic.
std::string placeOf(const std::string& line) { return line.substr(0, line.find(": ")); }

/// The refusal of JSON damage: one error, with exit status 1.
std::string onlyErrorOf(const std::string& text) {
  const Refusal refusal = refusalOf(text);
  CHECK(refusal.exitCode == 1);
  REQUIRE(refusal.lines.size() == 1);
  return refusal.lines[0];
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("every malformed document is refused where the fault stands, and nothing is written") {
  const bool regenerate = std::getenv("DTYPEMUT_REGENERATE") != nullptr;
  std::size_t count = 0;
  std::set<std::string> names;
  for (const fs::directory_entry& file : fs::directory_iterator(fs::path(DTYPEMUT_TESTDATA) / "malformed")) {
    const std::string text = readFile(file.path().string());
    malformed::Table table = malformed::parseTable(text);
    for (malformed::Case& example : table.cases) {
      CAPTURE(example.name);
      ++count;
      CHECK_MESSAGE(names.insert(example.name).second, "two cases have this name");
      Refusal refusal = refusalOf(malformed::documentOf(example), example.target, example.hasTarget, example.files);
      std::sort(refusal.lines.begin(), refusal.lines.end());
      if (regenerate) {
        example.diagnostics = refusal.lines;
      } else {
        CHECK(refusal.lines == example.diagnostics);
      }
      CHECK(refusal.exitCode == example.exitCode);
    }
    if (regenerate) writeFile(file.path().string(), malformed::formatTable(table));
    if (!regenerate) CHECK_MESSAGE(malformed::formatTable(table) == text, file.path().string() << " is not tidy");
  }
  CHECK(count >= 150);
}

TEST_CASE("a document that is cut off anywhere is refused in its last line") {
  const std::string document =
      "{\"version\": 1, \"m\\u0069ne\": [true, false, null, -1.5e+3, {\"\": \"\\ud83d\\ude00\\n\"}],\n"
      " \"tensors\": [\n"
      "  {\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [2, 3], \"kind\": \"input\"},\n"
      "  {\"name\": \"w\", \"dtype\": \"float32\", \"shape\": [2], \"kind\": \"const\", \"data\": {\"values\": [1, "
      "\"nan\"]}}\n"
      " ],\n"
      " \"instructions\": [\n"
      "  {\"name\": \"i\", \"op\": \"TensorTensorOp\", \"dtype\": \"float32\",\n"
      "   \"operands\": [{\"tensor\": \"x\"}, {\"tensor\": \"w\"}, {\"imm\": 0}]}\n"
      " ]\n"
      "}";
  CHECK(refusalOf(document + "}").exitCode == 1);
  for (std::size_t size = 0; size < document.size(); ++size) {
    const std::string text = document.substr(0, size);
    CAPTURE(text);
    const std::string error = onlyErrorOf(text);
    CHECK(error.find(": error: invalid JSON: ") != std::string::npos);
    CHECK(std::stoul(error) == 1u + static_cast<unsigned long>(std::count(text.begin(), text.end(), '\n')));
  }
}

TEST_CASE("nesting beyond 1,024 levels is refused where it begins, wherever that is") {
  const auto within = [](const std::string& before, const std::string& deep, const std::string& after) {
    return "{\"tensors\": [], \"instructions\": [" + before + deep + after + "}";
  };
  const auto arrays = [](std::size_t depth) { return repeated("[", depth) + repeated("]", depth); };
  const auto objects = [](std::size_t depth) { return repeated("{\"a\":", depth) + "0" + repeated("}", depth); };
  const std::string operand = "{\"name\": \"i\", \"op\": \"MemsetOp\", \"operands\": [{\"imm\": ";

  for (const std::size_t depth : {std::size_t{1024}, std::size_t{200'000}}) {
    CAPTURE(depth);
    CHECK(onlyErrorOf(within("], \"a\": ", arrays(depth), "")) == "1:1065: error: nested more than 1024 levels deep");
    CHECK(onlyErrorOf(within("], \"a\": ", objects(depth), "")) == "1:5157: error: nested more than 1024 levels deep");
    CHECK(onlyErrorOf(within("], \"a\": ", repeated("[", depth), "")) ==
          "1:1065: error: nested more than 1024 levels deep");
    CHECK(placeOf(onlyErrorOf(within(operand, arrays(depth), "}]}]"))) == "1:1106");
    CHECK(placeOf(onlyErrorOf(arrays(depth + 1))) == "1:1");
  }
  const ScratchFolder folder;
  writeFile(folder / "graph.json", within("], \"a\": ", arrays(1023), ""));
  CHECK(verified(folder / "graph.json", std::nullopt) == Refusal{});
}

TEST_CASE("a number beyond a double is refused, however it is spelled") {
  const auto document = [](const std::string& number) {
    return "{\"tensors\": [], \"instructions\": [], \"mine\": " + number + "}";
  };
  for (const std::string& number :
       std::vector<std::string>{"1" + std::string(400, '0'), "-" + std::string(400, '9') + ".5", "0.1e310",
                                "1" + std::string(300, '0') + "e9", "123456789e301"}) {
    CAPTURE(number);
    CHECK(onlyErrorOf(document(number)).find("1:45: error: ") == 0);
  }
  for (const std::string& number : std::vector<std::string>{
           "1" + std::string(308, '0'), "0." + std::string(400, '0') + "1", std::string("1.7976931348623157e308"),
           std::string("1e-999"), std::string("-0.0e-9999999999"), std::string("123456789012345678901234567890")}) {
    CAPTURE(number);
    const ScratchFolder folder;
    writeFile(folder / "graph.json", document(number));
    CHECK(verified(folder / "graph.json", std::nullopt) == Refusal{});
  }
}

TEST_CASE("a document that cannot be read is exit status 3") {
  const ScratchFolder folder;
  fs::create_directory(folder / "folder");
  for (const auto& [name, why] :
       {std::pair("missing.json", "No such file or directory"), std::pair("folder", "Is a directory"),
        std::pair("folder/x/y", "No such file or directory")}) {
    const std::string path = folder / name;
    CAPTURE(path);
    for (const Refusal& refusal :
         {verified(path, std::nullopt), ran(path, target(Architecture::kCayman), folder.path())}) {
      CHECK(refusal.exitCode == 3);
      REQUIRE(refusal.lines.size() == 1);
      CHECK(refusal.lines[0].find(std::string(": error: cannot read: ") + why) != std::string::npos);
    }
  }
  CHECK(folder.entryCount() == 1);
}
