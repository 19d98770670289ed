// The graph and what became of it as a picture, for Graphviz (--dot).
#pragma once

#include <optional>
#include <string>

#include "dtypemut/io/output.h"
#include "dtypemut/report/narrative.h"

namespace dtypemut {

struct DotOptions {
  /// An instruction or tensor: only its neighbourhood is drawn. A value that no node stands for is the instructions
  /// that store and read it.
  std::optional<std::string> around;
  unsigned depth = 2;  ///< how many edges away, in either direction
};

/// Whether the graph has what is to be drawn: wrong usage, with the nearest name, when it has not.
Status checkDot(const Graph& graph, const DotOptions& options);

/// Draws the graph as it is after the run. Nodes are instructions and the tensors of the interface; an internal tensor
/// is the edges between them, or a node of its own when it has several stores and several readers.
void writeDot(const DecisionLog& log, const DotOptions& options, OutputFile& output);

}  // namespace dtypemut
