// The main job, whole: read, verify, propagate, verify again, write (spec 5, 6).
#pragma once

#include <string>

#include "dtypemut/cast/stream.h"
#include "dtypemut/commands/verify.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/passes/propagate.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

enum class Policy : std::uint8_t {
  kEdge,   ///< edge by edge, as the source document has it (spec 5)
  kJoint,  ///< for all values at once (spec 10)
};

struct RunOptions {
  std::string input;                                       ///< "-" is stdin
  std::string output = "-";                                ///< "-" is stdout
  std::string stats;                                       ///< empty: none
  std::string weights;                                     ///< empty: see spec 6
  Target target = dtypemut::target(Architecture::kTonga);  ///< enableDmaCast as overridden
  Policy policy = Policy::kEdge;
  PropagateOptions propagate;
  bool mutateMultiUsers = false;
  bool keepDeadWeights = false;
  StreamOptions cast;
  bool quiet = false;
};

ExitCode run(const RunOptions& options, const LogLine& log);

}  // namespace dtypemut
