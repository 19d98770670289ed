// What a run did, as one page for a browser (--html).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dtypemut/io/output.h"
#include "dtypemut/io/weight_cast.h"
#include "dtypemut/report/narrative.h"
#include "dtypemut/report/run_report.h"

namespace dtypemut {

/// A further column of the table of weights: numbers by the tensor that holds the result of a cast, which is a clone or
/// a splat that was retyped in place.
struct WeightColumn {
  std::string title;
  std::map<TensorId, double> cells;
};

/// The columns that show an audit: none when nothing was cast, and those of NaN and infinity only where there is any.
std::vector<WeightColumn> auditColumns(const WeightAudits& audits);

/// Writes the page: complete in itself, and safe to open whatever the names in the document are.
void writeHtml(const DecisionLog& log, const RunReport& report, std::span<const WeightColumn> columns,
               OutputFile& output);

}  // namespace dtypemut
