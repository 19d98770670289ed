// The main job, whole: read, verify, propagate, verify again, write (spec 5, 6).
#pragma once

#include <string>
#include <vector>

#include "dtypemut/cast/stream.h"
#include "dtypemut/commands/verify.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/passes/propagate.h"
#include "dtypemut/report/audit_report.h"
#include "dtypemut/report/dot.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

/// What turns a finished run into exit status 4.
struct FailOn {
  std::vector<Reason> reasons;
  FailOnAudit audit;
};

/// Patterns for the names of instructions that must not be retyped: globs as the shell has them.
struct KeepPatterns {
  std::vector<std::string> keep;    ///< these
  std::vector<std::string> keepOp;  ///< those of these ops
  std::vector<std::string> only;    ///< when there are any: all that match none of them
};

struct RunOptions {
  std::string input;         ///< "-" is stdin
  std::string output = "-";  ///< "-" is stdout
  std::string weights;       ///< empty: see spec 6
  // Reports; empty: none.
  std::string stats;
  std::string remarks;
  std::string sarif;
  std::string audit;
  // Of a single graph.
  std::string html;
  std::string dot;
  DotOptions dotOptions;
  std::vector<std::string> explain;  ///< names or globs; on stdout if nothing else goes there, else logged

  Target target = dtypemut::target(Architecture::kTonga);  ///< enableDmaCast as overridden
  Policy policy = Policy::kEdge;
  PropagateOptions propagate;
  KeepPatterns keep;
  bool mutateMultiUsers = false;
  bool keepDeadWeights = false;
  StreamOptions cast;
  FailOn failOn;
  bool dryRun = false;  ///< decides and reports, but writes no document and no weights
  bool quiet = false;
};

/// One graph.
ExitCode run(const RunOptions& options, const LogLine& log);

/// Several graphs, each written under its own name into `folder`; `input` and `output` of the options are not used.
/// Reports are about all of them. A refused graph does not stop the others. The status is the first of 5, 3, 1, 4, 0
/// that occurred.
ExitCode runAll(const std::vector<std::string>& inputs, const std::string& folder, const RunOptions& options,
                const LogLine& log);

}  // namespace dtypemut
