#include "dtypemut/report/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dtypemut/report/narrative.h"

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void DecisionCounts::add(const Decision& decision) {
  if (decision.state.match()) ++match;
  if (decision.state.mutated()) ++mutated;
  if (!decision.state.mismatch()) return;
  ++mismatch;
  ++mismatchByReason[static_cast<std::size_t>(decision.reason)];
}

std::uint64_t constBytes(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId{i});
    if (tensor.isConst() && graph.nLoads(TensorId{i}) > 0) bytes += tensor.sizeInBytes();
  }
  return bytes;
}

std::uint64_t redundantCasts(const Graph& graph) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& copy = graph.instruction(InstructionId{i});
    if (copy.op != Op::kTensorCopyOp || copy.operandCount == 0 || copy.dtype == Dtype::kNone) continue;
    const Operand& first = graph.operand(graph.operandId(copy, 0));
    if (graph.dtype(first) == copy.dtype && documentDtype(graph, first) != copy.documentDtype) ++count;
  }
  return count;
}

namespace {

Json jsonOf(const RunReport& report) {
  Json statistics;
  for (const StatisticInfo& info : kStatistics) statistics[info.name] = report.statistics.*info.counter;
  Json reasons = Json::object();
  for (std::size_t i = 0; i < kReasonCount; ++i)
    if (const std::uint64_t count = report.decisions.mismatchByReason[i]; count != 0) reasons[kReasons[i].name] = count;
  return {{"input", report.input},
          {"target", report.target.name},
          {"dtype", dtypeName(report.dtype)},
          {"statistics", statistics},
          {"decisions",
           {{"match", report.decisions.match},
            {"mutated", report.decisions.mutated},
            {"mismatch", report.decisions.mismatch},
            {"mismatch_by_reason", reasons}}},
          {"const_bytes", {{"before", report.constBytesBefore}, {"after", report.constBytesAfter}}},
          {"redundant_casts", report.redundantCasts}};
}

std::string textOf(const Json& json) {
  // A path need not be UTF-8, but JSON must be.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

RunReport total(const std::vector<RunReport>& reports) {
  RunReport sum{.input = "total"};
  for (const RunReport& report : reports) {
    sum.target = report.target;
    sum.dtype = report.dtype;
    for (const StatisticInfo& info : kStatistics) sum.statistics.*info.counter += report.statistics.*info.counter;
    sum.decisions.match += report.decisions.match;
    sum.decisions.mutated += report.decisions.mutated;
    sum.decisions.mismatch += report.decisions.mismatch;
    for (std::size_t i = 0; i < kReasonCount; ++i)
      sum.decisions.mismatchByReason[i] += report.decisions.mismatchByReason[i];
    sum.constBytesBefore += report.constBytesBefore;
    sum.constBytesAfter += report.constBytesAfter;
    sum.redundantCasts += report.redundantCasts;
  }
  return sum;
}

std::string toJson(const RunReport& report) { return textOf(jsonOf(report)); }

std::string toJson(const std::vector<RunReport>& reports) {
  Json graphs = Json::array();
  for (const RunReport& report : reports) graphs.push_back(jsonOf(report));
  return textOf({{"graphs", graphs}, {"total", jsonOf(total(reports))}});
}

std::string toTable(const RunReport& report) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const auto row = [&](std::string_view name, std::uint64_t number, std::string_view description) {
    text << "  " << name << std::string(name.size() < 25 ? 25 - name.size() : 1, ' ');
    const std::string digits = std::to_string(number);
    text << std::string(digits.size() < 14 ? 14 - digits.size() : 0, ' ') << digits;
    if (!description.empty()) text << "  " << description;
    text << '\n';
  };
  text << (report.input == "-" ? "<stdin>" : report.input) << ": " << dtypeName(report.dtype) << " for "
       << report.target.name << '\n';
  for (const StatisticInfo& info : kStatistics) row(info.name, report.statistics.*info.counter, info.description);
  const DecisionCounts& decisions = report.decisions;
  row("decisions: match", decisions.match, "the value had, or accepts, the dtype");
  row("decisions: mutated", decisions.mutated, "retyped");
  row("decisions: mismatch", decisions.mismatch, decisions.mismatch == 0 ? "refused" : "refused:");
  for (std::size_t i = 0; i < kReasonCount; ++i)
    if (const std::uint64_t count = decisions.mismatchByReason[i]; count != 0)
      row("  " + std::string(kReasons[i].name), count, kReasons[i].what);
  row("const_bytes: before", report.constBytesBefore, "Bytes of the constants that are read");
  row("const_bytes: after", report.constBytesAfter, "");
  row("redundant_casts", report.redundantCasts, "TensorCopyOps that a later cast elimination can delete");
  std::string table = text.str();
  table.pop_back();
  return table;
}

}  // namespace dtypemut
