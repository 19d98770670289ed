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
/// `dtypeOf` gives an operand's dtype, so that a retype can be tried out.
template <typename DtypeOf>
bool hasMixedOperands(const Graph& graph, const Instruction& matmul, DtypeOf&& dtypeOf) {
  bool hasFull = false;
  bool hasNarrow = false;
  for (const Operand& operand : graph.operands(matmul)) {
    const Dtype dtype = operand.isImmediate() ? Dtype::kNone : dtypeOf(operand);
    if (dtype == Dtype::kNone) continue;
    (isFullPrecision(dtype) ? hasFull : hasNarrow) = true;
  }
  return hasFull && hasNarrow;
}

}  // namespace dtypemut
