// What casts did to weights: the report of --audit, the warnings, and what --fail-on makes of them (spec 9).
#pragma once

#include <string>
#include <vector>

#include "dtypemut/cast/audit.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

struct WeightAudit {
  std::string weight;  ///< the tensor's name
  std::string file;    ///< where it comes from, as the user would name it; empty: from the document
  Dtype from;
  Dtype to;
  Audit audit = {};
};

struct AuditReport {
  std::string input;  ///< the path as given
  std::vector<WeightAudit> weights;

  Audit total() const;
};

/// A JSON object over several lines, one per weight, with a final line end.
std::string toJson(const AuditReport& report);

/// The audits of several graphs: {"graphs": [...]}.
std::string toJson(const std::vector<AuditReport>& reports);

/// "tensor 'w': 3 of 128 values overflow float16"; empty when none does.
std::string overflowMessage(const WeightAudit& weight);

/// What of an audit --fail-on names.
struct FailOnAudit {
  bool overflow = false;
  bool underflow = false;
};

/// One error (kNo) for each thing that `failOn` names and that happened.
Diagnostics failures(const FailOnAudit& failOn, const Audit& total);

}  // namespace dtypemut
