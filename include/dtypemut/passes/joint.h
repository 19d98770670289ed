// Joint propagation: the largest set of tensors that can be narrow together (spec 10).
#pragma once

#include <vector>

#include "dtypemut/passes/propagate.h"

namespace dtypemut {

/// What ties a tensor to one that stays as it is.
struct BrokenLink {
  InstructionId via = InstructionId::kNone;  ///< the move or matmul
  OperandId operand = OperandId::kNone;      ///< the operand of `via` at the other end; kNone when that is its dst
};

/// The verdict over all tensors of a function, each vector indexed by TensorId.
struct JointVerdict {
  /// Why the tensor is not in the greatest consistent set; kNone for one that is, or that has none of the dtypes to be
  /// replaced.
  std::vector<Reason> reasons;
  /// Of a tensor that a link removed: the link that broke first. What stands at its other end is the next step of the
  /// chain that led to the refusal.
  std::vector<BrokenLink> brokenLinks;
  /// Whether it is to be retyped: in that set, and asked for or tied to one that is.
  std::vector<bool> isRetyped;
};

/// Decides for all tensors at once. Changes nothing. Linear in operands.
JointVerdict decideJointly(const DTypeMutator& mutator, const PropagateOptions& options);

/// Tells the decision for every candidate edge, in walk order, and then retypes what decideJointly says.
void propagateJointly(DTypeMutator& mutator, const PropagateOptions& options, const DecisionListener& listener);

}  // namespace dtypemut
