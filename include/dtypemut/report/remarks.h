// One JSON object per decision, for machines (--remarks).
#pragma once

#include "dtypemut/io/output.h"
#include "dtypemut/report/narrative.h"

namespace dtypemut {

/// Writes a line for each decision, in walk order: graph, requester, operand, producer, tensor, state, reason, gate,
/// loc, message. What there is none of is null; `loc` is the requester's, as the document spells it.
void writeRemarks(const DecisionLog& log, OutputFile& output);

}  // namespace dtypemut
