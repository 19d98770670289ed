// Asking the mutator about one edge of a small document.
#pragma once

#include <string>

#include "dtypemut/passes/dtype_mutator.h"
#include "dtypemut/target/target.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

/// What is asked of whom: unless stated otherwise, the first operand of instruction c for bfloat16.
struct Ask {
  Dtype dtype = Dtype::kBfloat16;
  Target target = dtypemut::target(Architecture::kCayman);
  bool mutateMultiUsers = false;
  std::string instruction = "c";
  std::uint32_t operand = 0;
};

/// "Match", "Mutated", or the reason of the Mismatch. Checks on the way that the document verifies before and after,
/// that decide() changes nothing, and that matchOrMutateDstTy does what decide() said, or nothing.
std::string answer(const std::string& text, const Ask& ask = {});

/// The same text for a decision.
std::string decisionText(const Decision& decision);

}  // namespace dtypemut
