// The names in a document find the nodes that they are the names of (spec 2).
#pragma once

#include <string_view>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

/// Resolves every reference of a graph, of which the kind and the token of each operand and the token of each dst are
/// known; on the threads of the arena that it is called in, or on one. Reports names that two nodes have, and
/// references that find nothing, or an instruction that does not stand earlier: an operand becomes an immediate then.
void resolveNames(std::string_view text, Graph& graph, bool severalThreads, Diagnostics& diagnostics);

}  // namespace dtypemut
