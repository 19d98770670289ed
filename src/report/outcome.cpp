#include "dtypemut/report/outcome.h"

#include <algorithm>

namespace dtypemut {

Outcomes::Outcomes(const DecisionLog& log)
    : log_(log),
      decisionOf_(log.graph.operandCount(), 0),
      ofInstruction_(log.graph.instructionCount(), Outcome::kNotAsked),
      ofTensor_(log.graph.tensorCount(), Outcome::kNotAsked) {
  const Graph& graph = log.graph;
  const auto strengthen = [](Outcome& outcome, Outcome other) { outcome = std::max(outcome, other); };
  for (std::size_t i = 0; i < log.decisions.size(); ++i) {
    const OperandId id = log.decisions[i].operand;
    const Operand& operand = graph.operand(id);
    decisionOf_[static_cast<std::uint32_t>(id)] = static_cast<std::uint32_t>(i + 1);
    const Outcome outcome = log.decisions[i].state.mismatch() ? Outcome::kRefused : Outcome::kUnchanged;
    if (operand.isInstruction()) strengthen(ofInstruction_[operand.target], outcome);
    const TensorId behind = graph.tensorBehind(operand);
    if (behind != TensorId::kNone) strengthen(ofTensor_[static_cast<std::uint32_t>(behind)], outcome);
  }
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId{i});
    if (tensor.dtype != tensor.documentDtype) ofTensor_[i] = Outcome::kRetyped;
  }
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& instruction = graph.instruction(InstructionId{i});
    if (instruction.hasDst()) strengthen(ofInstruction_[i], of(instruction.dst));
    if (instruction.dtype != instruction.documentDtype) ofInstruction_[i] = Outcome::kRetyped;
  }
}

const Decision* Outcomes::decision(OperandId operand) const {
  const std::uint32_t place = decisionOf_[static_cast<std::uint32_t>(operand)];
  return place == 0 ? nullptr : &log_.decisions[place - 1];
}

Outcome Outcomes::of(OperandId id) const {
  const Decision* decided = decision(id);
  if (decided != nullptr && decided->state.mismatch()) return Outcome::kRefused;
  const Operand& operand = log_.graph.operand(id);
  if (log_.graph.dtype(operand) != documentDtype(log_.graph, operand)) return Outcome::kRetyped;
  return decided == nullptr ? Outcome::kNotAsked : Outcome::kUnchanged;
}

std::string dtypeChange(Dtype before, Dtype after) {
  return std::string(dtypeName(before)) + (before == after ? "" : " -> " + std::string(dtypeName(after)));
}

}  // namespace dtypemut
