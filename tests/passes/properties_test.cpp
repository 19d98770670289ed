// What holds of every run on every valid document. DTYPEMUT_SEEDS in the environment sets how many are tried.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/commands/run.h"
#include "dtypemut/commands/verify.h"
#include "files.h"
#include "generator.h"
#include "graphs.h"
#include "recount.h"
#include "undo.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

std::uint64_t seedCount() {
  const char* text = std::getenv("DTYPEMUT_SEEDS");
  return text == nullptr ? 300 : std::strtoull(text, nullptr, 10);
}

/// How to run on the document of that seed, but for files.
RunOptions optionsFor(std::uint64_t seed, Policy policy) {
  std::mt19937_64 random(seed);
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  RunOptions options;
  options.policy = policy;
  options.target = targets()[seed % targets().size()];
  if (chance(25)) options.target.enableDmaCast = !options.target.enableDmaCast;
  std::vector<Dtype> dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (options.target.requestableDtypes().contains(info.dtype)) dtypes.push_back(info.dtype);
  options.propagate.dtype = dtypes[seed / targets().size() % dtypes.size()];
  if (chance(40)) {
    options.propagate.from = {};
    for (const DtypeInfo& info : kDtypes)
      if (isScalarFloat(info.dtype) && chance(50)) options.propagate.from.insert(info.dtype);
  }
  options.propagate.from.erase(options.propagate.dtype);
  if (chance(25)) options.propagate.autoCast = AutoCast::kMatmult;
  options.mutateMultiUsers = chance(50);
  options.keepDeadWeights = chance(25);
  options.cast.threads = 1;
  options.quiet = true;
  return options;
}

std::string documentFor(std::uint64_t seed, const RunOptions& options, const std::string& folder = "") {
  return generateDocument(seed, {.target = options.target,
                                 .favourite = options.propagate.dtype,
                                 .folder = folder,
                                 .instructions = 5 + static_cast<std::uint32_t>(seed * 7 % 40)});
}

/// A run on a generated document, of which everything follows from the seed.
class Scenario {
 public:
  Scenario(std::uint64_t seed, Policy policy) : options_(optionsFor(seed, policy)) {
    if (seed % 6 == 3) outFolder_ = folder_ / "other/place";
    std::filesystem::create_directories(outFolder_);
    options_.input = folder_ / "in.json";
    options_.output = outFolder_ + "/out.json";
    options_.stats = outFolder_ + "/stats.json";
    if (seed % 7 == 5) options_.weights = folder_ / "cast.safetensors";
    input_ = documentFor(seed, options_, folder_.path());
    writeFile(options_.input, input_);
  }

  const RunOptions& options() const { return options_; }
  PlacedText input() const { return {input_, folder_.path()}; }
  PlacedText output() const { return {readFile(options_.output), outFolder_}; }

  /// Runs; the stats report.
  nlohmann::json run() const { return runWith(options_); }

  nlohmann::json runWith(const RunOptions& options) const {
    std::string errors;
    const ExitCode exitCode = dtypemut::run(options, [&](Severity severity, const std::string& line) {
      if (severity == Severity::kError) errors += line + "\n";
    });
    REQUIRE_MESSAGE(exitCode == ExitCode::kDone, errors);
    return nlohmann::json::parse(readFile(options.stats));
  }

 private:
  ScratchFolder folder_;
  std::string outFolder_ = folder_.path();
  RunOptions options_;
  std::string input_;
};

std::string faults(const PlacedText& text, const Target& onTarget) {
  const Source source("g.json", text.text, text.folder);
  return errorText(readAndVerify(source, &onTarget).diagnostics, source);
}

/// The bytes of every const that is no splat, by name.
std::map<std::string, std::pair<Dtype, std::vector<std::byte>>> weightsOf(const PlacedText& text) {
  const Document d(text.text, text.folder);
  Weights weights(d.source, d.graph);
  REQUIRE_FALSE(weights.check().hasErrors());
  std::map<std::string, std::pair<Dtype, std::vector<std::byte>>> all;
  for (std::uint32_t i = 0; i < d.graph.tensorCount(); ++i) {
    const Tensor& tensor = d.graph.tensor(TensorId{i});
    if (!tensor.isConst() || d.graph.constData(tensor).form == DataForm::kSplat) continue;
    std::vector<std::byte> bytes(tensor.sizeInBytes());
    REQUIRE(weights.bytes(tensor)->read(0, bytes));
    all[std::string(tensor.name)] = {tensor.dtype, std::move(bytes)};
  }
  return all;
}

/// Checks that what is new are casts, and the rest as it was.
void checkWeights(const PlacedText& input, const PlacedText& output) {
  const auto before = weightsOf(input);
  for (const auto& [name, weight] : weightsOf(output)) {
    CAPTURE(name);
    auto original = before.find(name);
    if (original == before.end()) original = before.find(name.substr(0, name.rfind("_8_")));
    REQUIRE(original != before.end());
    const auto& [from, bytes] = original->second;
    const auto size = castSize(from, weight.first, bytes.size());
    REQUIRE(size);
    std::vector<std::byte> expected(*size);
    castBytes(from, bytes, weight.first, expected);
    CHECK(weight.second == expected);
  }
}

void checkProperties(const Scenario& scenario) {
  const RunOptions& options = scenario.options();
  const PlacedText input = scenario.input();
  CHECK(faults(input, options.target) == "");
  const nlohmann::json stats = scenario.run();
  const PlacedText output = scenario.output();

  CHECK(faults(output, options.target) == "");
  CHECK(undone(input, output) == input.text);
  checkInterface(input.text, output.text);
  checkWeights(input, output);
  checkStats(stats.dump(), recount(input.text, output.text, options), options);

  RunOptions again = options;
  again.input = options.output;
  again.output = output.folder + "/again.json";
  again.weights = "";
  const nlohmann::json statsAgain = scenario.runWith(again);
  CHECK(readFile(again.output) == output.text);
  checkStats(statsAgain.dump(), recount(output.text, output.text, again), again);
  for (const auto& [name, count] : statsAgain.at("statistics").items()) CHECK_MESSAGE(count == 0, name);
  const auto edges = [](const nlohmann::json& decisions) {
    return decisions.at("match").get<std::uint64_t>() + decisions.at("mutated").get<std::uint64_t>() +
           decisions.at("mismatch").get<std::uint64_t>();
  };
  CHECK(statsAgain.at("decisions").at("mutated") == 0);
  CHECK(edges(statsAgain.at("decisions")) == edges(stats.at("decisions")));
}

void checkEverySeed(Policy policy) {
  for (std::uint64_t seed = 0; seed < seedCount(); ++seed) {
    CAPTURE(seed);
    checkProperties(Scenario(seed, policy));
  }
}

}  // namespace

TEST_CASE("properties of the edge policy") { checkEverySeed(Policy::kEdge); }

TEST_CASE("a run that asks for nothing reproduces its input") {
  for (std::uint64_t seed = 0; seed < seedCount() / 4; ++seed) {
    CAPTURE(seed);
    const Scenario scenario(seed, Policy::kEdge);
    RunOptions options = scenario.options();
    options.propagate.autoCast = AutoCast::kNone;
    options.output = scenario.input().folder + "/same.json";
    scenario.runWith(options);
    CHECK(readFile(options.output) == scenario.input().text);
  }
}

TEST_CASE("generated documents reach every reason that the edge policy has") {
  std::set<std::string> missing;
  for (const ReasonInfo& reason : kReasons) missing.insert(std::string(reason.name));
  // Gates 3 and 4 come first (see dtype_mutator_test.cpp); links are the joint policy's; nothing is kept here.
  for (const char* name : {"aliased-view", "move-link", "keep"}) missing.erase(name);
  for (std::uint64_t seed = 0; seed < 5000 && !missing.empty(); ++seed) {
    const RunOptions options = optionsFor(seed, Policy::kEdge);
    Document d(documentFor(seed, options));
    DTypeMutator mutator(options.mutateMultiUsers, d.graph, options.target);
    propagate(mutator, options.propagate, [&](const Decision& decision) {
      if (decision.state.mismatch()) missing.erase(std::string(reasonInfo(decision.reason).name));
    });
  }
  CHECK(missing == std::set<std::string>{});
}
