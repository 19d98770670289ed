#include "properties.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/commands/verify.h"
#include "generator.h"
#include "graphs.h"
#include "recount.h"
#include "undo.h"

namespace dtypemut {

using graphs::Document;
using graphs::errorText;

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
  options.propagate.foldIndirect = policy == Policy::kJoint && chance(30);
  if (chance(25)) options.propagate.autoCast = AutoCast::kMatmult;
  options.mutateMultiUsers = chance(50);
  options.keepDeadWeights = chance(25);
  options.cast.threads = 1;
  options.quiet = true;
  return options;
}

std::string documentFor(std::uint64_t seed, const RunOptions& options, const std::string& folder,
                        std::span<const std::uint8_t> choices) {
  return generateDocument(seed, {.target = options.target,
                                 .favourite = options.propagate.dtype,
                                 .folder = folder,
                                 .instructions = 5 + static_cast<std::uint32_t>(seed * 7 % 40),
                                 .choices = choices});
}

Scenario::Scenario(std::uint64_t seed, Policy policy, std::span<const std::uint8_t> choices)
    : options_(optionsFor(seed, policy)) {
  const std::string outFolder = seed % 6 == 3 ? folder_ / "other/place" : folder();
  std::filesystem::create_directories(outFolder);
  options_.input = folder_ / "in.json";
  options_.output = outFolder + "/out.json";
  options_.stats = outFolder + "/stats.json";
  if (seed % 7 == 5) options_.weights = folder_ / "cast.safetensors";
  writeFile(options_.input, documentFor(seed, options_, folder(), choices));
}

nlohmann::json runToTheEnd(const RunOptions& options) {
  std::string errors;
  const ExitCode exitCode = run(options, [&](Severity severity, const std::string& line) {
    if (severity == Severity::kError) errors += line + "\n";
  });
  REQUIRE_MESSAGE(exitCode == ExitCode::kDone, errors);
  return nlohmann::json::parse(readFile(options.stats));
}

namespace {

PlacedText placedText(const std::string& path) {
  return {readFile(path), std::filesystem::path(path).parent_path().string()};
}

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
void checkWeights(const PlacedText& input, const PlacedText& output, const CastOptions& castOptions) {
  const auto before = weightsOf(input);
  for (const auto& entry : weightsOf(output)) {
    const std::string& name = entry.first;
    const auto& weight = entry.second;
    CAPTURE(name);
    auto original = before.find(name);
    if (original == before.end()) original = before.find(name.substr(0, name.rfind("_8_")));
    REQUIRE(original != before.end());
    const auto& [from, bytes] = original->second;
    const auto size = castSize(from, weight.first, bytes.size());
    REQUIRE(size);
    std::vector<std::byte> expected(*size);
    castBytes(from, bytes, weight.first, expected, castOptions);
    CHECK(weight.second == expected);
  }
}

}  // namespace

void checkResult(const RunOptions& options) {
  const PlacedText input = placedText(options.input);
  const PlacedText output = placedText(options.output);
  const nlohmann::json stats = nlohmann::json::parse(readFile(options.stats));
  CHECK(faults(input, options.target) == "");
  CHECK(faults(output, options.target) == "");
  CHECK(undone(input, output) == input.text);
  checkInterface(input.text, output.text);
  checkWeights(input, output, options.cast.cast);
  checkStats(stats.dump(), recount(input.text, output.text, options), options);

  RunOptions again = options;
  again.input = options.output;
  again.output = output.folder + "/again.json";
  again.weights = "";
  const nlohmann::json statsAgain = runToTheEnd(again);
  CHECK(readFile(again.output) == output.text);
  checkStats(statsAgain.dump(), recount(output.text, output.text, again), again);
  for (const auto& entry : statsAgain.at("statistics").items()) CHECK_MESSAGE(entry.value() == 0, entry.key());
  const auto edges = [](const nlohmann::json& decisions) {
    return decisions.at("match").get<std::uint64_t>() + decisions.at("mutated").get<std::uint64_t>() +
           decisions.at("mismatch").get<std::uint64_t>();
  };
  CHECK(statsAgain.at("decisions").at("mutated") == 0);
  CHECK(edges(statsAgain.at("decisions")) == edges(stats.at("decisions")));
}

}  // namespace dtypemut
