// Published models, with the statistics that a run must report for them. They stand beside the project and are not part
// of it: without them there is nothing to check.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dtypemut/commands/run.h"
#include "dtypemut/commands/verify.h"
#include "files.h"
#include "graphs.h"
#include "recount.h"
#include "undo.h"

using namespace dtypemut;
using namespace dtypemut::graphs;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;  // the order of reasons counts

struct PolicyName {
  const char* name;
  Policy policy;
};
constexpr PolicyName kPolicies[] = {
    {"edge", Policy::kEdge},
    {"joint", Policy::kJoint},
};

const std::string kFolder = DTYPEMUT_SHARED "/real";

std::vector<std::string> filesThatEndIn(const std::string& ending) {
  std::vector<std::string> paths;
  if (!fs::is_directory(kFolder)) return paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder))
    if (entry.path().string().ends_with(ending)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> realGraphs() {
  std::vector<std::string> paths = filesThatEndIn(".json");
  std::erase_if(paths, [](const std::string& path) { return path.ends_with(".stats.json"); });
  return paths;
}

/// The run that a stats file tells of, writing into `folder`.
RunOptions optionsOf(const Json& expected, Policy policy, const std::string& folder) {
  RunOptions options;
  options.input = kFolder + "/" + expected.at("input").get<std::string>();
  options.target = *targetFromArgument(expected.at("target").get<std::string>());
  options.policy = policy;
  options.propagate.dtype = *dtypeFromName(expected.at("dtype").get<std::string>());
  const auto words = expected.at("options").get<std::vector<std::string>>();
  const auto autoCast = std::find(words.begin(), words.end(), "--auto-cast");
  REQUIRE(autoCast != words.end());
  if (*(autoCast + 1) == "matmult") options.propagate.autoCast = AutoCast::kMatmult;
  options.output = folder + "/out.json";
  options.stats = folder + "/stats.json";
  options.quiet = true;
  return options;
}

void runOrFail(const RunOptions& options) {
  std::string errors;
  const ExitCode exitCode = run(options, [&](Severity severity, const std::string& line) {
    if (severity == Severity::kError) errors += line + "\n";
  });
  REQUIRE_MESSAGE(exitCode == ExitCode::kDone, errors);
}

std::string faults(const std::string& path, const Target* onTarget) {
  const auto source = Source::read(path);
  REQUIRE(source);
  return errorText(readAndVerify(*source, onTarget).diagnostics, *source);
}

void checkReproduced(const std::string& statsPath, Policy policy) {
  const Json expected = Json::parse(readFile(statsPath));
  const ScratchFolder scratch;
  const RunOptions options = optionsOf(expected, policy, scratch.path());
  runOrFail(options);
  const Json found = Json::parse(readFile(options.stats));
  for (const char* key : {"statistics", "decisions", "const_bytes", "redundant_casts"})
    CHECK(found.at(key).dump() == expected.at(key).dump());

  const std::string input = readFile(options.input);
  const std::string output = readFile(options.output);
  CHECK(faults(options.output, &options.target) == "");
  CHECK(undone({input, kFolder}, {output, scratch.path()}) == input);
  checkInterface(input, output);
  checkStats(found.dump(), recount(input, output, options), options);

  RunOptions again = options;
  again.input = options.output;
  again.output = scratch / "again.json";
  runOrFail(again);
  CHECK(readFile(again.output) == output);
  CHECK(Json::parse(readFile(again.stats)).at("decisions").at("mutated") == 0);
}

}  // namespace

TEST_CASE("the stated statistics of real graphs are reproduced") {
  for (const auto& [name, policy] : kPolicies) {
    for (const std::string& path : filesThatEndIn(std::string(".") + name + ".stats.json")) {
      CAPTURE(path);
      checkReproduced(path, policy);
    }
  }
}

TEST_CASE("real graphs verify for every target") {
  for (const std::string& path : realGraphs()) {
    CAPTURE(path);
    CHECK(faults(path, nullptr) == "");
    for (const Target& row : targets()) CHECK(faults(path, &row) == "");
  }
}
