#include "dtypemut/passes/propagate.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dtypemut/ir/verify.h"
#include "graphs.h"
#include "passes/asking.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kCayman = target(Architecture::kCayman);

/// Walks over the graph, which must verify before and after; the decisions, as ASKING.OPERAND ANSWER.
std::string walk(Document& d, const PropagateOptions& options = {}, const Target& onTarget = kCayman,
                 bool mutateMultiUsers = false) {
  CAPTURE(d.source.text());
  CHECK(errorText(verify(d.graph, &onTarget), d.source) == "");
  DTypeMutator mutator(mutateMultiUsers, d.graph, onTarget);
  std::string told;
  propagate(mutator, options, [&](const Decision& decision) {
    const Instruction& asking = d.graph.instruction(d.graph.operand(decision.operand).owner);
    told += (told.empty() ? "" : "; ") + std::string(asking.name) + "." +
            std::to_string(d.graph.operandIndex(decision.operand)) + " " + decisionText(decision);
  });
  CHECK(errorText(verify(d.graph, &onTarget), d.source) == "");
  return told;
}

std::string walk(const std::string& text, const PropagateOptions& options = {}, const Target& onTarget = kCayman,
                 bool mutateMultiUsers = false) {
  Document d(text);
  return walk(d, options, onTarget, mutateMultiUsers);
}

std::string copyTo(const std::string& name, const std::string& dst) { return op(name, "TensorCopyOp", "", dst); }

/// p and q store t and u; then these.
std::string afterTwo(const std::vector<std::string>& further, const std::vector<std::string>& tensors = {}) {
  std::vector<std::string> allTensors = {input("x"), sbuf("t"), sbuf("u")};
  allTensors.insert(allTensors.end(), tensors.begin(), tensors.end());
  std::vector<std::string> instructions = {copyTo("p", "t"), copyTo("q", "u")};
  instructions.insert(instructions.end(), further.begin(), further.end());
  return document(allTensors, instructions);
}

std::string matmul(const std::string& operands) { return op("mm", "MatMulOp", operands, ""); }

}  // namespace

// ---- who asks, about what

TEST_CASE("the operands of compute ops are asked about, in list order") {
  Document d(afterTwo({op("a", "TensorTensorOp", "u t", "v"), op("b", "ActivationOp", "v", "")}, {sbuf("v")}));
  CHECK(walk(d) == "a.0 Mutated; a.1 Mutated; b.0 Mutated");
  for (const char* name : {"t", "u", "v"}) CHECK(d.dtypeOf(name) == Dtype::kBfloat16);
  CHECK(d.dtypeOf("x") == Dtype::kFloat32);
  CHECK(d.resultOf("b") == Dtype::kFloat32);
}

TEST_CASE("moves, dma ops and opaque ops do not ask") {
  for (const char* opName : {"TransposeOp", "SBAtomStore", "DMACopyOp", "LRN"})
    CHECK(walk(afterTwo({op("a", opName, "t", "y")}, {output("y")})) == "");
}

TEST_CASE("immediates and operands of other dtypes are passed over") {
  Document d(document({input("i", "int32"), input("h", "float16"), sbuf("k", "int64"), sbuf("t")},
                      {op("pk", "TensorCopyOp", "i", "k", "int64"), op("p", "TensorCopyOp", "i", "t"),
                       op("a", "TensorTensorOp", "#1.0 k h t", "")}));
  CHECK(walk(d) == "a.3 Mutated");
  CHECK(d.dtypeOf("k") == Dtype::kInt64);
  CHECK(d.resultOf("pk") == Dtype::kInt64);
}

TEST_CASE("an operand that has the dtype already is a candidate, and a Match") {
  CHECK(walk(document({input("b", "bfloat16")}, {op("a", "TensorTensorOp", "b b", "")})) == "a.0 Match; a.1 Match");
}

TEST_CASE("a view is a candidate by its own dtype") {
  CHECK(walk(document({input("x"), input("i", "int32")}, {op("a", "TensorTensorOp", "x:int32 i:float32", "")})) ==
        "a.1 operand-reinterpret");
  CHECK(walk(document({input("x")}, {op("a", "ActivationOp", "x:bfloat16", "")})) == "a.0 Match");
}

TEST_CASE("an instruction is a candidate by its result's dtype") {
  CHECK(walk(document({input("x")}, {op("p", "TensorCopyOp", "x", "", "int32"), op("q", "TensorCopyOp", "@p", ""),
                                     op("a", "ActivationOp", "@q", "")})) == "p.0 no-store; a.0 no-dst");
}

TEST_CASE("--from says which dtypes are replaced") {
  const auto text = document({sbuf("t"), sbuf("h", "float16"), sbuf("r", "float32r")},
                             {copyTo("p", "t"), op("q", "TensorCopyOp", "", "h", "float16"),
                              op("s", "TensorCopyOp", "", "r", "float32r"), op("a", "TensorTensorOp", "t h r", "")});
  CHECK(walk(text) == "a.0 Mutated");
  CHECK(walk(text, {.from = {Dtype::kFloat16}}) == "a.1 Mutated");
  CHECK(walk(text, {.from = {Dtype::kFloat32r, Dtype::kFloat32}}) == "a.0 Mutated; a.2 Mutated");
  CHECK(walk(text, {.from = {}}) == "");
  // The dtype asked for is ignored in it.
  CHECK(walk(text, {.dtype = Dtype::kFloat16, .from = {Dtype::kFloat32, Dtype::kFloat16}}) == "a.0 Mutated; a.1 Match");
}

TEST_CASE("--auto-cast says which ops ask") {
  const auto text = document({sbuf("a"), sbuf("b"), sbuf("c"), psum("ps")},
                             {copyTo("p", "a"), copyTo("q", "b"), copyTo("r", "c"), op("mm", "MatMulOp", "a b", "ps"),
                              op("add", "TensorTensorOp", "ps c", "")});
  CHECK(walk(text) == "mm.0 Mutated; mm.1 Mutated; add.0 psum; add.1 Mutated");
  CHECK(walk(text, {.autoCast = AutoCast::kMatmult}) == "mm.0 Mutated; mm.1 Mutated");
  CHECK(walk(text, {.autoCast = AutoCast::kNone}) == "");
}

TEST_CASE("a matmul asks for dtypes that the target lists for it, a compute op for any") {
  Target without = kCayman;
  without.matmulDtypes.erase(Dtype::kBfloat16);
  const auto text = document({sbuf("a"), sbuf("b")},
                             {copyTo("p", "a"), copyTo("q", "b"), matmul("a"), op("c", "ActivationOp", "b", "")});
  CHECK(walk(text, {}, without) == "c.0 Mutated");
  CHECK(walk(text, {.dtype = Dtype::kFloat16}, without) == "mm.0 Mutated; c.0 Mutated");
}

TEST_CASE("an edge asks about what the edges before it left") {
  const std::string text = afterTwo(
      {op("a", "ActivationOp", "@p", ""), op("b", "TensorTensorOp", "@p u", ""), op("c", "ActivationOp", "@q", "")});
  CHECK(walk(text, {}, kCayman, true) == "a.0 Mutated; b.0 Match; b.1 Mutated; c.0 Match");
  CHECK(walk(text) == "a.0 multi-user; b.0 multi-user; b.1 multi-user; c.0 n-loads");
}

TEST_CASE("also among the operands of one instruction") {
  CHECK(walk(afterTwo({op("a", "TensorTensorOp", "@p @p @p", "")}), {}, kCayman, true) ==
        "a.0 Mutated; a.1 Match; a.2 Match");
}

// ---- the pair rule

TEST_CASE("a matmul's operands are narrowed together") {
  CHECK(walk(afterTwo({matmul("t u")})) == "mm.0 Mutated; mm.1 Mutated");
}

TEST_CASE("where one operand is refused, the other is too") {
  Document d(afterTwo({matmul("t x")}));
  CHECK(walk(d) == "mm.0 matmul-pair; mm.1 no-store");
  CHECK(d.dtypeOf("t") == Dtype::kFloat32);
  CHECK(walk(afterTwo({matmul("x t")})) == "mm.0 no-store; mm.1 matmul-pair");
  CHECK(walk(afterTwo({matmul("t u x")})) == "mm.0 matmul-pair; mm.1 matmul-pair; mm.2 no-store");
  CHECK(walk(afterTwo({matmul("x x")})) == "mm.0 no-store; mm.1 no-store");
  // Not of a compute op, which converts.
  CHECK(walk(afterTwo({op("c", "TensorTensorOp", "t x", "")})) == "c.0 Mutated; c.1 no-store");
}

TEST_CASE("a matmul with nothing to pair up") {
  CHECK(walk(afterTwo({matmul("t")})) == "mm.0 Mutated");
  CHECK(walk(afterTwo({matmul("t #1")})) == "mm.0 Mutated");
  CHECK(walk(afterTwo({matmul("")})) == "");
}

TEST_CASE("an operand that is no candidate pairs up too") {
  CHECK(walk(afterTwo({matmul("t i:float32r")}, {input("i", "int32")})) == "mm.0 matmul-pair");
  CHECK(walk(afterTwo({matmul("t r")}, {input("r", "float32r")})) == "mm.0 matmul-pair");
  CHECK(walk(afterTwo({matmul("t i:float32")}, {input("i", "int32")})) == "mm.0 matmul-pair; mm.1 operand-reinterpret");
}

TEST_CASE("a candidate whose decision is Match keeps its dtype, and its Match") {
  const auto text = [](const std::string& weightDtype) {
    return document({weight("w", weightDtype), sbuf("t"), sbuf("u")},
                    {op("ld", "SBAtomLoad", "w", "t"), copyTo("q", "u"), matmul("t u")});
  };
  CHECK(walk(text("float32")) == "mm.0 Mutated; mm.1 Mutated");
  // The load that widens accepts, but its result stays float32.
  CHECK(walk(text("bfloat16")) == "mm.0 Match; mm.1 matmul-pair");
  CHECK(walk(document({weight("w", "bfloat16"), sbuf("t")}, {op("ld", "SBAtomLoad", "w", "t"), matmul("t")})) ==
        "mm.0 Match");
  CHECK(walk(document({input("b", "bfloat16")}, {matmul("b b")})) == "mm.0 Match; mm.1 Match");
}

TEST_CASE("within one precision nothing needs pairing") {
  CHECK(walk(afterTwo({matmul("t x")}), {.dtype = Dtype::kFloat32r}) == "mm.0 Mutated; mm.1 no-store");
  const auto half = document({input("x", "float16"), sbuf("h", "float16")},
                             {op("p", "TensorCopyOp", "", "h", "float16"), matmul("h x")});
  CHECK(walk(half, {.from = {Dtype::kFloat16}}) == "mm.0 Mutated; mm.1 no-store");
  CHECK(walk(half, {.dtype = Dtype::kFloat32, .from = {Dtype::kFloat16}}) == "mm.0 matmul-pair; mm.1 no-store");
  CHECK(walk(half, {.dtype = Dtype::kFloat32r, .from = {Dtype::kFloat16}}) == "mm.0 matmul-pair; mm.1 no-store");
}

TEST_CASE("two operands that are one producer's result change together") {
  CHECK(walk(afterTwo({matmul("@p @p")}), {}, kCayman, true) == "mm.0 Mutated; mm.1 Match");
  CHECK(walk(afterTwo({matmul("@p @p")})) == "mm.0 multi-user; mm.1 multi-user");
  // The access pattern may ask, the instruction is one load too many: by then it has the dtype, though.
  CHECK(walk(afterTwo({matmul("t @p")}), {}, kCayman, true) == "mm.0 Mutated; mm.1 Match");
  CHECK(walk(afterTwo({matmul("@p t")}), {}, kCayman, true) == "mm.0 n-loads; mm.1 Mutated");
  CHECK(walk(afterTwo({matmul("t @p")})) == "mm.0 multi-user; mm.1 n-loads");
  CHECK(walk(afterTwo({matmul("t @p x")}), {}, kCayman, true) == "mm.0 reader; mm.1 n-loads; mm.2 no-store");
  CHECK(walk(afterTwo({matmul("@p t u")}), {}, kCayman, true) == "mm.0 n-loads; mm.1 reader; mm.2 matmul-pair");
}

TEST_CASE("two loads of one weight pair up") {
  for (const std::string& w : {weight("w"), splat("w")}) {
    Document d(document({w, sbuf("t"), sbuf("u")},
                        {op("l0", "SBAtomLoad", "w", "t"), op("l1", "SBAtomLoad", "w", "u"), matmul("t u")}));
    CHECK(walk(d) == "mm.0 Mutated; mm.1 Mutated");
    CHECK(d.graph.tensorCount() == d.graph.documentTensorCount() + 1);
    CHECK(d.graph.nLoads(d.tensor("w")) == 0);
  }
}

TEST_CASE("two matmuls that share both operands wait for each other") {
  const std::string text = document(
      {sbuf("t"), sbuf("u")},
      {copyTo("p", "t"), copyTo("q", "u"), op("m0", "MatMulOp", "@p @q", ""), op("m1", "MatMulOp", "@p @q", "")});
  CHECK(walk(text, {}, kCayman, true) == "m0.0 reader; m0.1 reader; m1.0 reader; m1.1 reader");
}

// ---- a second run

TEST_CASE("a second run changes nothing and tells Match and Mismatch of the same edges") {
  const std::string text = document(
      {input("x"), weight("w"), weight("v", "bfloat16"), sbuf("a"), sbuf("b"), sbuf("c"), sbuf("d"), psum("ps"),
       psum("ps2"), sbuf("e"), output("y")},
      {op("la", "SBAtomLoad", "w", "a"), op("lb", "SBAtomLoad", "x", "b"), op("lc", "SBAtomLoad", "v", "c"),
       op("m0", "MatMulOp", "a b", "ps"), op("act", "ActivationOp", "ps", "d"), op("m1", "MatMulOp", "c d", "ps2"),
       op("last", "TensorTensorOp", "ps2 x #1", "e"), op("st", "SBAtomStore", "@last", "y")});
  Document d(text);
  CHECK(walk(d) ==
        "m0.0 Mutated; m0.1 Mutated; act.0 psum; m1.0 Match; m1.1 matmul-pair; last.0 psum; last.1 no-store");
  const auto after = snapshot(d.graph);
  CHECK(walk(d) == "m0.0 Match; m0.1 Match; act.0 psum; m1.0 Match; m1.1 matmul-pair; last.0 psum; last.1 no-store");
  CHECK(snapshot(d.graph) == after);
}
