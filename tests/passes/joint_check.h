// What joint propagation makes of a document, and whether that is what the oracle says.
#pragma once

#include <cstddef>
#include <random>
#include <string>

#include "dtypemut/passes/joint.h"
#include "graphs.h"
#include "passes/joint_oracle.h"

namespace dtypemut {

struct JointOutcome {
  std::string decisions;  // as JointOracle::decisions
  Statistics statistics;
  JointVerdict verdict;
};

/// Propagates jointly over a graph, which must verify before and after.
JointOutcome propagateIn(graphs::Document& d, const PropagateOptions& options,
                         const Target& onTarget = target(Architecture::kCayman));

/// How much there was to compare.
struct OracleCounts {
  std::size_t enumerated = 0;
  std::size_t members = 0;
  std::size_t removed = 0;
};

/// Compares the pass with the oracle in all that it says and does.
void checkAgainstOracle(const std::string& text, const PropagateOptions& options, const Target& onTarget,
                        std::mt19937_64& random, OracleCounts& counts);

}  // namespace dtypemut
