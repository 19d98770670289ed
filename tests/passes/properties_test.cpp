// DTYPEMUT_SEEDS in the environment sets how many documents are tried.
#include "properties.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

std::uint64_t seedCount() {
  const char* text = std::getenv("DTYPEMUT_SEEDS");
  return text == nullptr ? 300 : std::strtoull(text, nullptr, 10);
}

void checkEverySeed(Policy policy) {
  for (std::uint64_t seed = 0; seed < seedCount(); ++seed) {
    CAPTURE(seed);
    const Scenario scenario(seed, policy);
    runToTheEnd(scenario.options());
    checkResult(scenario.options());
  }
}

}  // namespace

TEST_CASE("properties of the edge policy") { checkEverySeed(Policy::kEdge); }
TEST_CASE("properties of the joint policy") { checkEverySeed(Policy::kJoint); }

TEST_CASE("a run that asks for nothing reproduces its input") {
  for (std::uint64_t seed = 0; seed < seedCount() / 4; ++seed) {
    CAPTURE(seed);
    const Scenario scenario(seed, Policy::kEdge);
    RunOptions options = scenario.options();
    options.propagate.autoCast = AutoCast::kNone;
    options.output = scenario.folder() + "/same.json";
    runToTheEnd(options);
    CHECK(readFile(options.output) == readFile(options.input));
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
