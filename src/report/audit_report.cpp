#include "dtypemut/report/audit_report.h"

#include <nlohmann/json.hpp>

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;

void addCounts(Json& json, const Audit& audit) {
  json["elements"] = audit.elements;
  json["nan"] = audit.nan;
  json["inf"] = audit.inf;
  json["overflow"] = audit.overflow;
  json["underflow"] = audit.underflow;
  json["max_abs_error"] = double{audit.maxAbsError};
  json["max_rel_error"] = double{audit.maxRelError};
}

/// On one line. A path need not be UTF-8, but JSON must be.
std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Diagnostic failure(const std::string& what, std::uint64_t count, const std::string& happened) {
  return {
      .exitCode = ExitCode::kNo,
      .message = "--fail-on " + what + ": " + std::to_string(count) + (count == 1 ? " value " : " values ") + happened};
}

}  // namespace

Audit AuditReport::total() const {
  Audit total;
  for (const WeightAudit& weight : weights) total += weight.audit;
  return total;
}

std::string toJson(const AuditReport& report) {
  std::string text = "{\n \"input\": " + line(report.input) + ",\n \"weights\": [";
  bool isFirst = true;
  for (const WeightAudit& weight : report.weights) {
    Json json = {{"weight", weight.weight}};
    if (!weight.file.empty()) json["file"] = weight.file;
    json["from"] = dtypeName(weight.from);
    json["to"] = dtypeName(weight.to);
    addCounts(json, weight.audit);
    text += (isFirst ? "\n  " : ",\n  ") + line(json);
    isFirst = false;
  }
  Json total;
  addCounts(total, report.total());
  return text + (isFirst ? "" : "\n ") + "],\n \"total\": " + line(total) + "\n}\n";
}

std::string toJson(const std::vector<AuditReport>& reports) {
  std::string text = "{\"graphs\": [";
  for (const AuditReport& report : reports) {
    text += (&report == &reports.front() ? "\n" : ",\n") + toJson(report);
    text.pop_back();
  }
  return text + "\n]}\n";
}

std::string overflowMessage(const WeightAudit& weight) {
  const Audit& audit = weight.audit;
  if (audit.overflow == 0) return {};
  return "tensor '" + weight.weight + "': " + std::to_string(audit.overflow) + " of " + std::to_string(audit.elements) +
         (audit.elements == 1 ? " value" : " values") + (audit.overflow == 1 ? " overflows " : " overflow ") +
         std::string(dtypeName(weight.to));
}

Diagnostics failures(const FailOnAudit& failOn, const Audit& total) {
  Diagnostics diagnostics;
  if (failOn.overflow && total.overflow != 0)
    diagnostics.add(failure("overflow", total.overflow, "beyond the largest"));
  if (failOn.underflow && total.underflow != 0) diagnostics.add(failure("underflow", total.underflow, "became zero"));
  return diagnostics;
}

}  // namespace dtypemut
