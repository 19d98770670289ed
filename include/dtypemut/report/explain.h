// The whole story of an instruction or tensor, for people (--explain).
#pragma once

#include <string>

#include "dtypemut/report/narrative.h"

namespace dtypemut {

/// For each instruction and tensor whose name matches the glob: who asked for its dtype, what each gate said up to the
/// one that decided, and what would let a refused edge pass. Says so when nothing matches. Ends in a line end.
std::string explain(const DecisionLog& log, const std::string& glob);

}  // namespace dtypemut
