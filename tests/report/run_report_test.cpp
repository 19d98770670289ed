#include "dtypemut/report/run_report.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dtypemut/passes/propagate.h"
#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

Decision mismatch(Reason reason) { return {.state = MutateState::Mismatch, .reason = reason}; }

/// Redundant casts after a run to bfloat16.
std::uint64_t redundantAfter(const std::vector<std::string>& instructions) {
  Document d(document({input("x"), input("b", "bfloat16"), sbuf("t"), sbuf("u", "bfloat16")}, instructions));
  CHECK(redundantCasts(d.graph) == 0);
  DTypeMutator mutator(true, d.graph, target(Architecture::kCayman));
  propagate(mutator, {}, [](const Decision&) {});
  return redundantCasts(d.graph);
}

}  // namespace

TEST_CASE("the stats report holds the keys of the specification, in its order") {
  RunReport report{.input = "mlp.json", .target = target(Architecture::kCayman), .dtype = Dtype::kBfloat16};
  report.statistics = {.operatorTypeMutated = 1, .castedWeights = 131072, .foldedCastLoad = 1, .nLoads = 2};
  report.decisions.match = 0;
  for (int i = 0; i < 3; ++i) report.decisions.add({.state = MutateState::Mutated});
  report.decisions.add(mismatch(Reason::kPsum));
  report.constBytesBefore = 131072;
  report.constBytesAfter = 65536;
  CHECK(toJson(report) == R"({
 "input": "mlp.json",
 "target": "cayman",
 "dtype": "bfloat16",
 "statistics": {
  "operator_type_mutated": 1,
  "casted_weights": 131072,
  "folded_cast_load": 1,
  "n_loads": 2
 },
 "decisions": {
  "match": 0,
  "mutated": 3,
  "mismatch": 1,
  "mismatch_by_reason": {
   "psum": 1
  }
 },
 "const_bytes": {
  "before": 131072,
  "after": 65536
 },
 "redundant_casts": 0
}
)");
}

TEST_CASE("reasons are listed in the order of the specification, zeros left out") {
  const std::vector<std::string> inOrder = {"operand-reinterpret",
                                            "no-store",
                                            "multi-store",
                                            "multi-load",
                                            "allowed-dtypes",
                                            "no-dst",
                                            "n-loads",
                                            "inst-reinterpret",
                                            "interface",
                                            "shared-def",
                                            "aliased-view",
                                            "reader",
                                            "load-partition-broadcast",
                                            "load-fp8e5",
                                            "load-src-reinterpret",
                                            "load-src-packed",
                                            "load-dma-cast",
                                            "multi-user",
                                            "can-mutate-dst-ty",
                                            "psum",
                                            "move-op",
                                            "dma-op",
                                            "matmul-op",
                                            "opaque-op",
                                            "fixed-op",
                                            "move-link",
                                            "matmul-pair"};
  RunReport report{.dtype = Dtype::kBfloat16};
  for (std::size_t i = inOrder.size(); i-- > 0;) {
    const auto reason = reasonFromName(inOrder[i]);
    REQUIRE_MESSAGE(reason, inOrder[i]);
    for (std::size_t k = 0; k <= i; ++k) report.decisions.add(mismatch(*reason));
  }
  const std::string json = toJson(report);
  std::size_t at = 0;
  for (std::size_t i = 0; i < inOrder.size(); ++i) {
    const std::size_t next = json.find("\"" + inOrder[i] + "\": " + std::to_string(i + 1), at);
    CHECK_MESSAGE(next != std::string::npos, inOrder[i]);
    at = next;
  }
  CHECK(json.find("\"keep\"") == std::string::npos);
  CHECK_FALSE(reasonFromName("nonsense"));
}

TEST_CASE("decisions are counted by state, refusals by reason") {
  DecisionCounts counts;
  counts.add({.state = MutateState::Match});
  counts.add({.state = MutateState::Mutated});
  counts.add({.state = MutateState::Mutated});
  counts.add(mismatch(Reason::kPsum));
  counts.add(mismatch(Reason::kReader));
  counts.add(mismatch(Reason::kReader));
  CHECK(counts.match == 1);
  CHECK(counts.mutated == 2);
  CHECK(counts.mismatch == 3);
  CHECK(counts.mismatchByReason[static_cast<std::size_t>(Reason::kReader)] == 2);
  CHECK(counts.mismatchByReason[static_cast<std::size_t>(Reason::kPsum)] == 1);
}

TEST_CASE("the table says every counter with its description, and every reason there was") {
  RunReport report{.input = "-", .target = target(Architecture::kCayman), .dtype = Dtype::kFloat8e4};
  report.statistics = {.operatorTypeMutated = 12, .castedWeights = 345, .foldedCastLoad = 67, .nLoads = 89};
  report.decisions.add(mismatch(Reason::kMoveOp));
  const std::string table = toTable(report);
  CHECK(table.starts_with("<stdin>: float8e4 for cayman\n"));
  for (const char* piece :
       {"Number of operator whose dst type is mutated for legalization",
        "Number of bytes statically casted in weight tensor", "Number of load whose cast is folded into its weight",
        "Number of load whose tensor type mutated", "  12  ", "  345  ", "  67  ", "  89  ", "move-op"})
    CHECK_MESSAGE(table.find(piece) != std::string::npos, piece);
  CHECK(table.find("psum") == std::string::npos);
}

TEST_CASE("const bytes are those of consts that some operand reads, splats included") {
  const Document d(
      document({weight("w"), weight("unread"), splat("s", "bfloat16"), weight("view", "int64"), input("x"), sbuf("t")},
               {op("a", "SBAtomLoad", "w", "t"), op("b", "TensorTensorOp", "w s view:int8 x", "")}));
  CHECK(constBytes(d.graph) == 16 + 8 + 32);
}

TEST_CASE("a cast is redundant when the run made it so") {
  const std::string producer = op("p", "ActivationOp", "x", "t");
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "t", "u", "bfloat16")}) == 1);
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "@p", "u", "bfloat16")}) == 1);
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "t b", "", "bfloat16")}) == 1);
  // Not by its further operands, not of another op, not of another dtype, not one that still casts.
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "x t", "", "bfloat16")}) == 0);
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "#1 t", "", "bfloat16")}) == 0);
  CHECK(redundantAfter({producer, op("c", "ActivationOp", "t", "u", "bfloat16")}) == 0);
  CHECK(redundantAfter({producer, op("c", "TensorCopyOp", "t", "", "float16")}) == 0);
  CHECK(redundantAfter({op("c", "TensorCopyOp", "x", "u", "bfloat16")}) == 0);
  // Nor one that was redundant before.
  Document d(document(
      {input("x"), sbuf("t"), sbuf("u"), sbuf("v")},
      {op("p", "ActivationOp", "x", "t"), op("c", "TensorCopyOp", "t", "u"), op("d", "ActivationOp", "u", "v")}));
  DTypeMutator mutator(false, d.graph, target(Architecture::kCayman));
  propagate(mutator, {}, [](const Decision&) {});
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("u") == Dtype::kBfloat16);
  CHECK(redundantCasts(d.graph) == 0);
}
