// What makes a graph a valid program (spec 7), apart from what the reader and io/weights check.
#pragma once

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/ir/graph.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

/// All errors of the graph, up to Diagnostics::kMaxErrors, and one warning per opaque op. Without a target only what
/// holds for any. Nodes that the reader found faulty are passed over where the fault makes a rule meaningless.
Diagnostics verify(const Graph& graph, const Target* target);

/// Whether a matmul's tensor and instruction operands are mixed: some in full precision and some not (spec 5).
/// `dtypeOf` gives the dtype of an OperandId, so that a retype can be tried out.
template <typename DtypeOf>
bool hasMixedOperands(const Graph& graph, const Instruction& matmul, DtypeOf&& dtypeOf) {
  bool hasFull = false;
  bool hasNarrow = false;
  for (std::uint32_t i = 0; i < matmul.operandCount; ++i) {
    const OperandId id = graph.operandId(matmul, i);
    const Dtype dtype = graph.operand(id).isImmediate() ? Dtype::kNone : dtypeOf(id);
    if (dtype != Dtype::kNone) (isFullPrecision(dtype) ? hasFull : hasNarrow) = true;
  }
  return hasFull && hasNarrow;
}

}  // namespace dtypemut
