// Random valid graphs that the fuzzer steers, with all that holds of every run: both policies, a second run, the
// bytes of weights, the stats, and the oracle of joint propagation. Four bytes are the seed, the others choices of the
// generator.
#include <doctest/doctest.h>

#include <random>
#include <span>

#include "fuzz.h"
#include "passes/joint_check.h"
#include "properties.h"

using namespace dtypemut;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  std::uint64_t seed = 0;
  for (int i = 0; i < 4; ++i) seed = seed << 8 | input.byte();
  const std::span<const std::uint8_t> choices = std::span(data, size).last(input.rest().size());
  CAPTURE(seed);

  for (const Policy policy : {Policy::kEdge, Policy::kJoint}) {
    const Scenario scenario(seed, policy, choices);
    CAPTURE(readFile(scenario.options().input));
    runToTheEnd(scenario.options());
    checkResult(scenario.options());
  }

  const RunOptions options = optionsFor(seed, Policy::kJoint);
  std::mt19937_64 random(seed);
  OracleCounts unused;
  checkAgainstOracle(documentFor(seed, options, "", choices), options.propagate, options.target, random, unused);
  return 0;
}
