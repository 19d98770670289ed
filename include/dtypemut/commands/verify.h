// Reading a document and finding all that is wrong with it (spec 7).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/source.h"
#include "dtypemut/io/weights.h"
#include "dtypemut/ir/graph.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

/// Takes a line for people, or several (a table), without the final line end.
using LogLine = std::function<void(Severity, const std::string& line)>;

/// A document that was read: whole, with its faults, if it is a document at all.
struct CheckedGraph {
  std::optional<Graph> graph;  ///< fit for a pass only when `diagnostics` has no errors
  Diagnostics diagnostics;
};

/// Reads a document and checks all of spec 2 and 7, weights included. `threads` as in readGraph.
CheckedGraph readAndVerify(const Source& source, const Target* target, unsigned threads = 0);

/// Logs diagnostics, one line each.
void report(const Diagnostics& diagnostics, const Source* source, const LogLine& log);

struct VerifyOptions {
  std::string input;             ///< "-" is stdin
  std::optional<Target> target;  ///< without one, what holds for any
};

ExitCode verifyFile(const VerifyOptions& options, const LogLine& log);

}  // namespace dtypemut
