#include "passes/joint_check.h"

#include <doctest/doctest.h>

#include "dtypemut/ir/verify.h"
#include "passes/asking.h"

namespace dtypemut {

using namespace graphs;

JointOutcome propagateIn(Document& d, const PropagateOptions& options, const Target& onTarget) {
  CAPTURE(d.source.text());
  CHECK(errorText(verify(d.graph, &onTarget), d.source) == "");
  DTypeMutator mutator(false, d.graph, onTarget);
  JointOutcome outcome;
  outcome.verdict = propagateJointly(mutator, options, [&](const Decision& decision) {
    const Instruction& asking = d.graph.instruction(d.graph.operand(decision.operand).owner);
    outcome.decisions += (outcome.decisions.empty() ? "" : "; ") + std::string(asking.name) + "." +
                         std::to_string(d.graph.operandIndex(decision.operand)) + " " + decisionText(decision);
  });
  outcome.statistics = mutator.statistics();
  CHECK(errorText(verify(d.graph, &onTarget), d.source) == "");
  return outcome;
}

namespace {

TensorSet setOf(const Graph& graph, const JointVerdict& verdict, const PropagateOptions& options) {
  TensorSet set(graph.tensorCount());
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const Dtype dtype = graph.tensor(TensorId{i}).dtype;
    set[i] = verdict.reasons[i] == Reason::kNone && options.from.contains(dtype) && dtype != options.dtype;
  }
  return set;
}

}  // namespace

void checkAgainstOracle(const std::string& text, const PropagateOptions& options, const Target& onTarget,
                        std::mt19937_64& random, OracleCounts& counts) {
  CAPTURE(text);
  const Document before(text);
  const JointOracle oracle(before.graph, onTarget, options);
  const TensorSet greatest = oracle.removeInOrder(random);
  CHECK(oracle.removeInOrder(random) == greatest);
  if (const auto enumerated = oracle.greatest(10)) {
    CHECK(*enumerated == greatest);
    ++counts.enumerated;
  }
  Document after(text);
  const JointOutcome outcome = propagateIn(after, options, onTarget);
  CHECK(setOf(before.graph, outcome.verdict, options) == greatest);
  const TensorSet retyped = oracle.askedFor(greatest);
  CHECK(outcome.verdict.isRetyped == retyped);
  CHECK(outcome.decisions == oracle.decisions(greatest));
  for (std::uint32_t i = 0; i < before.graph.tensorCount(); ++i) {
    const Tensor& was = before.graph.tensor(TensorId{i});
    const Tensor& is = after.graph.tensor(TensorId{i});
    if (!was.isConst()) CHECK(is.dtype == (retyped[i] ? options.dtype : was.dtype));
    counts.members += greatest[i] ? 1 : 0;
    counts.removed += !greatest[i] && oracle.eligible()[i] ? 1 : 0;
  }
  const auto snapshotAfter = snapshot(after.graph);
  const JointOutcome again = propagateIn(after, options, onTarget);
  CHECK(snapshot(after.graph) == snapshotAfter);
  CHECK(again.decisions.find("Mutated") == std::string::npos);
}

}  // namespace dtypemut
