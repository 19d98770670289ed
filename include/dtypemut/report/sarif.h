// Refusals as SARIF 2.1.0, so that code hosts annotate them (--sarif).
#pragma once

#include <memory>
#include <string>

#include "dtypemut/report/narrative.h"

namespace dtypemut {

/// Collects the refusals of one or several graphs.
class SarifLog {
 public:
  SarifLog();
  ~SarifLog();
  /// Adds a result for each Mismatch, with the region of the operand.
  void add(const DecisionLog& log);
  std::string toJson() const;

 private:
  struct Results;
  std::unique_ptr<Results> results_;
};

}  // namespace dtypemut
