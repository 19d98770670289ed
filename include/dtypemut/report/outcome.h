// What became of each value and edge of a graph, for pictures.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dtypemut/report/narrative.h"

namespace dtypemut {

/// The weaker before the stronger: a value with several edges has the strongest of their outcomes.
enum class Outcome : std::uint8_t {
  kNotAsked,   ///< nobody asked for the dtype
  kUnchanged,  ///< asked for, and had or accepts the dtype as it is
  kRefused,
  kRetyped,
};

inline constexpr std::string_view kOutcomeNames[] = {"not asked", "unchanged", "refused", "retyped"};
constexpr std::string_view outcomeName(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

/// The log and its graph must outlive it.
class Outcomes {
 public:
  explicit Outcomes(const DecisionLog& log);

  /// The decision about the operand; null when nobody asked.
  const Decision* decision(OperandId operand) const;
  /// Of the edge that ends in the operand: refused where the decision is, whatever became of the value for others.
  Outcome of(OperandId operand) const;
  /// Of its result.
  Outcome of(InstructionId instruction) const { return ofInstruction_[static_cast<std::uint32_t>(instruction)]; }
  Outcome of(TensorId tensor) const { return ofTensor_[static_cast<std::uint32_t>(tensor)]; }

 private:
  const DecisionLog& log_;
  std::vector<std::uint32_t> decisionOf_;  // by operand: its place in the log, from 1
  std::vector<Outcome> ofInstruction_;
  std::vector<Outcome> ofTensor_;
};

/// "float32", or "float32 -> bfloat16" of what was retyped.
std::string dtypeChange(Dtype before, Dtype after);

}  // namespace dtypemut
