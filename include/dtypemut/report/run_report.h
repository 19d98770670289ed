// What a run did, as numbers (spec 6).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dtypemut/passes/dtype_mutator.h"

namespace dtypemut {

/// Decisions by state, and refusals by reason.
struct DecisionCounts {
  std::uint64_t match = 0;
  std::uint64_t mutated = 0;
  std::uint64_t mismatch = 0;
  std::array<std::uint64_t, kReasonCount> mismatchByReason{};

  void add(const Decision& decision);
};

struct RunReport {
  std::string input;  ///< the path as given
  Target target = dtypemut::target(Architecture::kTonga);
  Dtype dtype = Dtype::kNone;
  Statistics statistics;
  DecisionCounts decisions;
  std::uint64_t constBytesBefore = 0;
  std::uint64_t constBytesAfter = 0;
  std::uint64_t redundantCasts = 0;
};

/// The bytes of every const tensor that some operand reads.
std::uint64_t constBytes(const Graph& graph);

/// The TensorCopyOps whose first operand has their own dtype now but did not in the document.
std::uint64_t redundantCasts(const Graph& graph);

/// The stats report: a JSON object over several lines, with a final line end.
std::string toJson(const RunReport& report);

/// The short table for people, with a final line end.
std::string toTable(const RunReport& report);

}  // namespace dtypemut
