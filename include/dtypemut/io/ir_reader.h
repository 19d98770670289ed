// Text in, graph out (spec 2).
#pragma once

#include <optional>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/source.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

/// What became of a document.
struct ReadGraph {
  /// Absent when the text is no JSON document of the IR's outer shape. Where `diagnostics` has errors, a node may lack
  /// what was wrong with it (a dtype is kNone, an operand is an immediate): fit for further checks, not for a pass.
  std::optional<Graph> graph;
  Diagnostics diagnostics;
};

/// Reads a document: its JSON, the types of the keys it knows, unique names, references that resolve. Names in the
/// graph are views into the source, which must outlive it. `threads`: at most so many; 0: as many as the machine has.
ReadGraph readGraph(const Source& source, unsigned threads = 0);

}  // namespace dtypemut
