#include "passes/asking.h"

#include <doctest/doctest.h>

#include "dtypemut/ir/verify.h"
#include "graphs.h"

namespace dtypemut {

using namespace graphs;

std::string decisionText(const Decision& decision) {
  CHECK((decision.reason == Reason::kNone) == decision.state.matchOrMutated());
  if (decision.state.match()) return "Match";
  if (decision.state.mutated()) return "Mutated";
  return std::string(reasonInfo(decision.reason).name);
}

std::string answer(const std::string& text, const Ask& ask) {
  CAPTURE(text);
  Document d(text);
  CHECK(errorText(verify(d.graph, &ask.target), d.source) == "");
  DTypeMutator mutator(ask.mutateMultiUsers, d.graph, ask.target);
  const OperandId operand = d.operand(ask.instruction, ask.operand);
  const auto before = snapshot(d.graph);

  const Decision decision = mutator.decide(operand, ask.dtype);
  CHECK(decision.operand == operand);
  CHECK(snapshot(d.graph) == before);

  const MutateState state = mutator.matchOrMutateDstTy(operand, ask.dtype);
  CHECK(state == decision.state);
  if (state.mutated()) {
    CHECK(d.graph.dtype(d.graph.operand(operand)) == ask.dtype);
    CHECK(mutator.statistics().operatorTypeMutated + mutator.statistics().nLoads == 1);
  } else {
    CHECK(snapshot(d.graph) == before);
    CHECK(mutator.statistics().operatorTypeMutated + mutator.statistics().nLoads == 0);
  }
  CHECK(errorText(verify(d.graph, &ask.target), d.source) == "");
  return decisionText(decision);
}

}  // namespace dtypemut
