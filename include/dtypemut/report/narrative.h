// Decisions in words (spec 4, 5, 10): what remarks, explanations, annotations and pictures say alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/io/source.h"
#include "dtypemut/passes/joint.h"

namespace dtypemut {

/// What a run decided about one graph, and the graph as it is afterwards.
struct DecisionLog {
  const Source& source;
  const Graph& graph;
  const PropagateOptions& options;
  Policy policy = Policy::kEdge;
  std::vector<Decision> decisions = {};  ///< in walk order
  JointVerdict verdict = {};             ///< of the joint policy
};

std::string_view stateName(MutateState state);

/// Where a decision fell: a gate, guard or line as in reason.def; "1" or "L3" of a Match.
std::string_view gateOf(const DecisionLog& log, const Decision& decision);

/// What happened at the edge, and why: a sentence without its full stop.
std::string sentence(const DecisionLog& log, const Decision& decision);

/// "'name' (Op)".
std::string nameAndOp(const DecisionLog& log, InstructionId id);
/// The name of an op, opaque ones included, as the document spells it.
std::string opText(const DecisionLog& log, const Instruction& instruction);

/// The dtype that the tensor behind an operand, or its instruction, had in the document.
Dtype documentDtype(const Graph& graph, const Operand& operand);

/// The value of a key of the instruction that the tool does not know, as the document spells it.
std::optional<std::string_view> unknownKey(const DecisionLog& log, const Instruction& instruction,
                                           std::string_view key);

/// How a tensor came to be refused jointly: one sentence for each broken link, from the tensor on, the last one being
/// about a tensor that was never in the set. Empty unless a link removed it.
std::vector<std::string> chainOfRemovals(const DecisionLog& log, TensorId tensor);

}  // namespace dtypemut
