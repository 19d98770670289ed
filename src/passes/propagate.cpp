#include "dtypemut/passes/propagate.h"

#include <algorithm>
#include <span>
#include <vector>

#include "dtypemut/ir/verify.h"

namespace dtypemut {
namespace {

/// Whether carrying out all `decisions`, those of a matmul's candidates, would leave its operands mixed.
bool wouldBeMixed(const Graph& graph, const Instruction& matmul, std::span<const Decision> decisions, Dtype dtype) {
  return hasMixedOperands(graph, matmul, [&](OperandId id) {
    const auto decision = std::find_if(decisions.begin(), decisions.end(),
                                       [&](const Decision& candidate) { return candidate.operand == id; });
    return decision != decisions.end() && decision->state.mutated() ? dtype : graph.dtype(graph.operand(id));
  });
}

}  // namespace

bool asksForDtype(const Instruction& instruction, const PropagateOptions& options, const Target& target) {
  switch (instruction.kind()) {
    case OpKind::kCompute:
      return options.autoCast == AutoCast::kAll;
    case OpKind::kMatmul:
      return options.autoCast != AutoCast::kNone && target.matmulDtypes.contains(options.dtype);
    default:
      return false;
  }
}

bool isCandidate(const Graph& graph, const Operand& operand, const PropagateOptions& options) {
  if (operand.isImmediate()) return false;
  const Dtype dtype = graph.dtype(operand);
  return dtype == options.dtype || options.from.contains(dtype);
}

void propagate(DTypeMutator& mutator, const PropagateOptions& options, const DecisionListener& listener) {
  const Graph& graph = mutator.function();
  std::vector<Decision> decisions;
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& asking = graph.instruction(InstructionId{i});
    if (!asksForDtype(asking, options, mutator.target())) continue;
    decisions.clear();
    for (std::uint32_t k = 0; k < asking.operandCount; ++k) {
      const OperandId operand = graph.operandId(asking, k);
      if (isCandidate(graph, graph.operand(operand), options))
        decisions.push_back(mutator.decide(operand, options.dtype));
    }
    const bool isTorn = asking.kind() == OpKind::kMatmul && wouldBeMixed(graph, asking, decisions, options.dtype);
    bool isStale = false;
    for (Decision& decision : decisions) {
      if (isTorn && decision.state.mutated()) {
        decision.state = MutateState::Mismatch;
        decision.reason = Reason::kMatmulPair;
      }
      // What was carried out for one operand may have changed the answer for the next.
      if (isStale) decision = mutator.decide(decision.operand, options.dtype);
      mutator.apply(decision, options.dtype);
      isStale = isStale || decision.state.mutated();
      listener(decision);
    }
  }
}

}  // namespace dtypemut
