#include "dtypemut/report/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;

/// The dtype that an operand had in the document.
Dtype documentDtype(const Graph& graph, const Operand& operand) {
  if (operand.reinterprets()) return operand.viewDtype;
  if (operand.isTensor()) return graph.tensor(operand.tensor()).documentDtype;
  if (operand.isInstruction()) return graph.instruction(operand.instruction()).documentDtype;
  return Dtype::kNone;
}

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

std::string toJson(const RunReport& report) {
  Json statistics;
  for (const StatisticInfo& info : kStatistics) statistics[info.name] = report.statistics.*info.counter;
  Json reasons = Json::object();
  for (std::size_t i = 0; i < kReasonCount; ++i)
    if (const std::uint64_t count = report.decisions.mismatchByReason[i]; count != 0) reasons[kReasons[i].name] = count;
  const Json json = {{"input", report.input},
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
  // A path need not be UTF-8, but JSON must be.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
  text << report.input << ": " << dtypeName(report.dtype) << " for " << report.target.name << '\n';
  for (const StatisticInfo& info : kStatistics) row(info.name, report.statistics.*info.counter, info.description);
  const DecisionCounts& decisions = report.decisions;
  row("decisions: match", decisions.match, "the value had, or accepts, the dtype");
  row("decisions: mutated", decisions.mutated, "retyped");
  row("decisions: mismatch", decisions.mismatch, "refused:");
  for (std::size_t i = 0; i < kReasonCount; ++i)
    if (const std::uint64_t count = decisions.mismatchByReason[i]; count != 0)
      row("  " + std::string(kReasons[i].name), count, kReasons[i].sentence);
  row("const_bytes: before", report.constBytesBefore, "Bytes of the constants that are read");
  row("const_bytes: after", report.constBytesAfter, "");
  row("redundant_casts", report.redundantCasts, "TensorCopyOps that a later cast elimination can delete");
  return text.str();
}

}  // namespace dtypemut
