// The names in a document find the nodes that they are the names of (spec 2).
#pragma once

#include <string_view>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

// Both work on the threads of the arena that they are called in, or on the calling one alone.

/// Lets the nodes of a graph be found by name. Reports names that two nodes have: the first is what will be found.
void indexNames(Graph& graph, bool severalThreads, Diagnostics& diagnostics);

/// Resolves every reference of a graph, of which the kind and the token of each operand and the token of each dst are
/// known. Reports those that find nothing, or an instruction that does not stand earlier: an operand becomes an
/// immediate then.
void resolveReferences(std::string_view text, Graph& graph, bool severalThreads, Diagnostics& diagnostics);

}  // namespace dtypemut
