// The walk that asks the mutator, edge by edge (spec 5).
#pragma once

#include <functional>

#include "dtypemut/passes/dtype_mutator.h"

namespace dtypemut {

/// Which instructions ask for the dtype.
enum class AutoCast : std::uint8_t { kAll, kMatmult, kNone };

struct PropagateOptions {
  Dtype dtype = Dtype::kBfloat16;
  DtypeSet from{Dtype::kFloat32};  ///< what is to be replaced; `dtype` itself is ignored in it
  AutoCast autoCast = AutoCast::kAll;
  /// Jointly only, and beyond the source document: a NeuronIndirectLoad is retyped like an SBAtomLoad, its first
  /// operand being the table.
  bool foldIndirect = false;
};

/// Told every decision, in walk order.
using DecisionListener = std::function<void(const Decision&)>;

/// Whether the instruction asks for the dtype of its operands: compute and matmul ops that may read it.
bool asksForDtype(const Instruction& instruction, const PropagateOptions& options, const Target& target);

/// Whether the walk asks about this operand of an instruction that asks.
bool isCandidate(const Graph& graph, const Operand& operand, const PropagateOptions& options);

/// Whether a store by this op is retyped by mutateLoad.
inline bool isFoldable(Op op, const PropagateOptions& options) {
  return op == Op::kSBAtomLoad || (options.foldIndirect && op == Op::kNeuronIndirectLoad);
}

/// Asks for `options.dtype` at every edge of the mutator's function once, in list order. A matmul whose operands would
/// end up mixed gets none of them retyped.
void propagate(DTypeMutator& mutator, const PropagateOptions& options, const DecisionListener& listener);

}  // namespace dtypemut
