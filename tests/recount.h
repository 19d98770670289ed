// What a run must have done, told from its two documents alone.
#pragma once

#include <cstdint>
#include <string>

#include "dtypemut/commands/run.h"
#include "dtypemut/passes/statistics.h"

namespace dtypemut {

struct Recount {
  Statistics statistics;
  std::uint64_t candidates = 0;  ///< edges that the walk asks about
  std::uint64_t mutated = 0;     ///< decisions
  std::uint64_t constBytesBefore = 0;
  std::uint64_t constBytesAfter = 0;
  std::uint64_t redundantCasts = 0;
};

/// Of a document and what a run with these options made of it.
Recount recount(const std::string& before, const std::string& after, const RunOptions& options);

/// Checks the stats report of such a run against a recount.
void checkStats(const std::string& stats, const Recount& expected, const RunOptions& options);

/// Checks that every input, output and const of the first document that is still in the second has its dtype, but for
/// splats that were cast in place.
void checkInterface(const std::string& before, const std::string& after);

}  // namespace dtypemut
