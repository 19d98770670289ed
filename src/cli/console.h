// What the commands say on stderr.
#pragma once

#include "dtypemut/commands/verify.h"

namespace dtypemut::cli {

/// Lines go to stderr as they are: they carry their own "error:" or "warning:".
LogLine stderrLog();

}  // namespace dtypemut::cli
