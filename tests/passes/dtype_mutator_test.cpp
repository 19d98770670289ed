// The gates and guards of matchOrMutateDstTy. For each, a document in which it alone decides, and one just on the other
// side of it. The reader guard and mutateLoad have files of their own.
#include "dtypemut/passes/dtype_mutator.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graphs.h"
#include "passes/asking.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kTonga = target(Architecture::kTonga);

/// A document with an input x, an output y, tensors t and u in the state buffer, and these.
std::string with(const std::vector<std::string>& instructions, const std::vector<std::string>& tensors = {}) {
  std::vector<std::string> all = {input("x"), output("y"), sbuf("t"), sbuf("u")};
  all.insert(all.end(), tensors.begin(), tensors.end());
  return document(all, instructions);
}

const std::string kNever = R"("can_mutate_dst_ty": false)";
const std::string kAlways = R"("can_mutate_dst_ty": true)";
const std::string kReinterpret = R"("reinterpret": true)";

std::string allows(const std::string& dtype) { return R"("allowed_dtypes": [")" + dtype + "\"]"; }

/// Instruction c, asking about what it reads.
std::string asks(const std::string& operands) { return op("c", "TensorTensorOp", operands, ""); }

std::string copyTo(const std::string& dst, const std::string& rest = "") {
  return op("p", "TensorCopyOp", "x", dst, "float32", rest);
}

std::string gepTo(const std::string& dst, const std::string& rest = "") {
  return op("p", "TensorScalarGEPOp", "x", dst, "float32", rest);
}

const Ask kMultiUsers{.mutateMultiUsers = true};

}  // namespace

TEST_CASE("a producer that nothing stands in the way of is retyped") {
  Document d(with({copyTo("t"), asks("t")}));
  DTypeMutator mutator(false, d.graph, target(Architecture::kCayman));
  CHECK(mutator.matchOrMutateDstTy(d.operand("c"), Dtype::kBfloat16) == MutateState::Mutated);
  CHECK(d.resultOf("p") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("x") == Dtype::kFloat32);
  CHECK(d.resultOf("c") == Dtype::kFloat32);
  CHECK(mutator.statistics().operatorTypeMutated == 1);
  CHECK(mutator.statistics().nLoads == 0);
  CHECK(mutator.statistics().castedWeights == 0);
  CHECK(mutator.statistics().foldedCastLoad == 0);
  CHECK(mutator.matchOrMutateDstTy(d.operand("c"), Dtype::kBfloat16) == MutateState::Match);
  CHECK(mutator.statistics().operatorTypeMutated == 1);
}

TEST_CASE("gate 1: the operand has the dtype already") {
  const auto text = [](const std::string& dtype) {
    return document({input("x"), sbuf("t", dtype)}, {op("p", "TensorCopyOp", "x", "t", dtype), asks("t")});
  };
  CHECK(answer(text("bfloat16")) == "Match");
  CHECK(answer(text("float16")) == "Mutated");
  CHECK(answer(text("float32")) == "Mutated");
  CHECK(answer(with({op("p", "TensorCopyOp", "x", "", "bfloat16"), asks("@p")})) == "Match");
  CHECK(answer(document({input("b", "bfloat16")}, {asks("b")})) == "Match");
}

TEST_CASE("gate 2: a view's bits stay") {
  CHECK(answer(with({copyTo("t"), asks("t:float32")})) == "operand-reinterpret");
  CHECK(answer(with({copyTo("t"), asks("t:int32")})) == "operand-reinterpret");
  CHECK(answer(with({copyTo("t"), asks("t")})) == "Mutated");
}

TEST_CASE("gate 3: the tensor must have one store and one load") {
  CHECK(answer(with({asks("x")})) == "no-store");
  CHECK(answer(document({splat("w")}, {asks("w")})) == "no-store");
  CHECK(answer(with({copyTo("t"), op("q", "MemsetOp", "", "t"), asks("t")})) == "multi-store");
  CHECK(answer(with({copyTo("t"), op("q", "MemsetOp", "", "u"), asks("t")})) == "Mutated");
  CHECK(answer(with({copyTo("t"), asks("t"), op("d", "ActivationOp", "t", "")})) == "multi-load");
  CHECK(answer(with({copyTo("t"), asks("t t")})) == "multi-load");
  CHECK(answer(with({copyTo("t"), asks("t t:int32")})) == "multi-load");
  CHECK(answer(with({copyTo("t"), asks("t"), op("d", "ActivationOp", "x", "")})) == "Mutated");
  // An immediate is nobody's to retype; the walk never asks about one.
  CHECK(answer(with({copyTo("t"), asks("#1")})) == "no-store");
}

TEST_CASE("gate 3: a TensorScalarGEPOp must allow the dtype") {
  CHECK(answer(with({gepTo("t", allows("float16")), asks("t")})) == "allowed-dtypes");
  CHECK(answer(with({gepTo("t", R"("allowed_dtypes": [])"), asks("t")})) == "allowed-dtypes");
  CHECK(answer(with({gepTo("t"), asks("t")})) == "allowed-dtypes");
  CHECK(answer(with({gepTo("t", allows("bfloat16")), asks("t")})) == "Mutated");
  CHECK(answer(with({gepTo("t", R"("allowed_dtypes": ["int8", "float32", "bfloat16"])"), asks("t")})) == "Mutated");
  // Of other ops it is no matter.
  CHECK(answer(with({copyTo("t", allows("float16")), asks("t")})) == "Mutated");
}

TEST_CASE("gate 4: the producer's dst feeds just the operand that asks") {
  CHECK(answer(with({copyTo(""), asks("@p")})) == "no-dst");
  CHECK(answer(with({copyTo("t"), asks("@p")})) == "Mutated");
  CHECK(answer(with({copyTo("t"), asks("@p"), op("d", "ActivationOp", "t", "")})) == "n-loads");
  CHECK(answer(with({copyTo("t"), asks("@p t")})) == "n-loads");
  CHECK(answer(with({copyTo("t"), asks("@p"), op("d", "ActivationOp", "t:int32", "")})) == "n-loads");
  // Further {"inst"} users are gate 7's matter, whoever asks.
  CHECK(answer(with({copyTo("t"), asks("@p"), op("d", "ActivationOp", "@p", "")})) == "multi-user");
  CHECK(answer(with({copyTo("t"), asks("t"), op("d", "ActivationOp", "@p", "")})) == "multi-user");
}

TEST_CASE("gate 5: neither the producer nor its dst reinterprets") {
  for (const char* read : {"t", "@p"}) {
    CHECK(answer(with({copyTo("t", kReinterpret), asks(read)})) == "inst-reinterpret");
    CHECK(answer(with({copyTo("t:float32"), asks(read)})) == "inst-reinterpret");
    CHECK(answer(with({copyTo("t", R"("reinterpret": false)"), asks(read)})) == "Mutated");
  }
  CHECK(answer(with({copyTo("i:float32"), asks("@p")}, {sbuf("i", "int32")})) == "inst-reinterpret");
}

TEST_CASE("guard: the interface keeps its dtypes") {
  for (const char* producer : {"SBAtomLoad", "ActivationOp"}) {
    CHECK(answer(with({op("p", producer, "x", "y"), asks("y")})) == "interface");
    CHECK(answer(with({op("p", producer, "x", "y"), asks("@p")})) == "interface");
    CHECK(answer(with({op("p", producer, "x", "t"), asks("t")})) == "Mutated");
  }
}

TEST_CASE("guard: a tensor is not retyped by one of its stores alone") {
  const std::string second = op("q", "MemsetOp", "", "t");
  CHECK(answer(with({copyTo("t"), second, asks("@p")})) == "shared-def");
  CHECK(answer(with({second, copyTo("t"), asks("@p")})) == "shared-def");
  CHECK(answer(with({copyTo("t"), asks("@p"), second})) == "shared-def");
  CHECK(answer(with({copyTo("t"), op("q", "MemsetOp", "", "u"), asks("@p")})) == "Mutated");
}

TEST_CASE("guard: the allowed dtypes of a TensorScalarGEPOp reached as an instruction") {
  CHECK(answer(with({gepTo("t"), asks("@p")})) == "allowed-dtypes");
  CHECK(answer(with({gepTo("t", allows("float16")), asks("@p")})) == "allowed-dtypes");
  CHECK(answer(with({gepTo("t", allows("float16")), asks("@p")}), {.dtype = Dtype::kFloat16}) == "Mutated");
  CHECK(answer(with({gepTo("t", allows("bfloat16")), asks("@p")})) == "Mutated");
}

// A view beside the operand that asks is a load too many for gates 3 and 4, so that the guard against aliased views
// never gets to decide here. It does in the joint policy.
TEST_CASE("a view beside the operand that asks is met before the guard against it") {
  CHECK(answer(with({copyTo("t"), asks("t"), op("d", "ActivationOp", "t:int32", "")})) == "multi-load");
  CHECK(answer(with({copyTo("t"), asks("@p"), op("d", "ActivationOp", "t:int32", "")})) == "n-loads");
}

TEST_CASE("gate 6: a load is mutateLoad's, not the later gates'") {
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), asks("t")})) == "Mutated");
  CHECK(answer(document({input("x"), sbuf("t")}, {op("p", "SBAtomLoad", "x", "t"), asks("t")}), {.target = kTonga}) ==
        "load-dma-cast");
  CHECK(answer(with({op("p", "DMACopyOp", "x", "t"), asks("t")})) == "dma-op");
}

TEST_CASE("gate 7: a single user, unless several are wanted") {
  const std::string another = op("d", "ActivationOp", "@p", "");
  CHECK(answer(with({copyTo("t"), asks("@p"), another})) == "multi-user");
  CHECK(answer(with({copyTo("t"), asks("@p"), another}), kMultiUsers) == "Mutated");
  CHECK(answer(with({copyTo("t"), asks("@p @p")})) == "multi-user");
  CHECK(answer(with({copyTo("t"), asks("@p @p")}), kMultiUsers) == "Mutated");
  CHECK(answer(with({copyTo("t"), asks("t @p")})) == "multi-user");
  CHECK(answer(with({copyTo("t"), asks("t @p")}), kMultiUsers) == "Mutated");
  CHECK(answer(with({copyTo("t"), asks("@p")})) == "Mutated");
  // The knob opens this gate only.
  CHECK(answer(with({copyTo("t"), asks("t"), op("d", "ActivationOp", "t", "")}), kMultiUsers) == "multi-load");
  CHECK(answer(with({copyTo("t"), asks("@p"), op("d", "ActivationOp", "t", "")}), kMultiUsers) == "n-loads");
}

TEST_CASE("gate 8: the reasons why a result's dtype cannot change") {
  const auto produced = [](const std::string& opName, const std::string& rest = "") {
    return answer(with({op("p", opName, "x", "t", "float32", rest), asks("t")}));
  };
  CHECK(produced("ActivationOp") == "Mutated");
  CHECK(produced("ActivationOp", kAlways) == "Mutated");
  CHECK(produced("ActivationOp", kNever) == "can-mutate-dst-ty");
  CHECK(produced("TransposeOp") == "move-op");
  CHECK(produced("SBAtomStore") == "dma-op");
  CHECK(produced("DMATranspose") == "dma-op");
  CHECK(produced("MatMulOp") == "matmul-op");
  CHECK(produced("LRN") == "opaque-op");
  CHECK(produced("SundaBNStats") == "fixed-op");
  // Where the result stays valid, the node's word counts.
  CHECK(produced("MatMulOp", kAlways) == "Mutated");
  CHECK(produced("LRN", kAlways) == "Mutated");
  CHECK(produced("SundaBNStats", kAlways) == "Mutated");
  CHECK(produced("TransposeOp", kAlways) == "move-op");
  CHECK(produced("DMATranspose", kAlways) == "dma-op");
  CHECK(answer(with({copyTo("ps"), asks("ps")}, {psum("ps")})) == "psum");
  CHECK(answer(with({copyTo("ps", kAlways), asks("ps")}, {psum("ps")})) == "psum");
  CHECK(answer(with({copyTo("d"), asks("d")}, {tensor("d", "float32", R"("space": "dram")")})) == "Mutated");
}

TEST_CASE("gate 8: the first reason that fits") {
  const auto produced = [](const std::string& opName, const std::string& dst, const std::string& rest) {
    return answer(with({op("p", opName, "x", dst, "float32", rest), asks(dst)}, {psum("ps")}));
  };
  for (const char* opName : {"ActivationOp", "TransposeOp", "DMACopyOp", "MatMulOp", "LRN", "SundaBNStats"}) {
    CAPTURE(opName);
    CHECK(produced(opName, "t", kNever) == "can-mutate-dst-ty");
    CHECK(produced(opName, "ps", kNever) == "can-mutate-dst-ty");
    CHECK(produced(opName, "ps", "") == "psum");
    CHECK(produced(opName, "ps", kAlways) == "psum");
  }
}

TEST_CASE("can_mutate_dst_ty is the first line of spec 2 that fits") {
  Document d(
      document({input("x"), sbuf("t"), psum("ps")},
               {op("never", "ActivationOp", "x", "t", "float32", kNever), op("psum", "ActivationOp", "x", "ps"),
                op("psum_always", "ActivationOp", "x", "ps", "float32", kAlways), op("move", "TransposeOp", "x", "t"),
                op("dma", "SBAtomLoad", "x", "t"), op("dma_always", "SBAtomLoad", "x", "t", "float32", kAlways),
                op("matmul_always", "MatMulOp", "x x", "t", "float32", kAlways), op("matmul", "MatMulOp", "x x", "t"),
                op("fixed_always", "DropoutMaskInst", "x", "t", "float32", kAlways), op("opaque", "LRN", "x", "t"),
                op("opaque_always", "LRN", "x", "", "float32", kAlways), op("compute", "ActivationOp", "x", "")}));
  const DTypeMutator mutator(false, d.graph, target(Architecture::kCayman));
  for (const char* name : {"never", "psum", "psum_always", "move", "dma", "dma_always", "matmul", "opaque"})
    CHECK_MESSAGE(!mutator.canMutateDstTy(d.instruction(name)), name);
  for (const char* name : {"matmul_always", "fixed_always", "opaque_always", "compute"})
    CHECK_MESSAGE(mutator.canMutateDstTy(d.instruction(name)), name);
  for (const char* name : {"ParReduceBNMeanVar", "SundaBNStats", "SundaBNAggr", "SundaBNGradient", "SundaBNBackprop",
                           "DropoutMaskInst", "IndexValueInst"}) {
    Document fixed(document({input("x")}, {op("p", name, "x", "")}));
    CHECK(DTypeMutator(false, fixed.graph, kTonga).whyNotCanMutateDstTy(fixed.instruction("p")) == Reason::kFixedOp);
  }
}

// Where two would refuse, the first does. Pairs of neighbours, as far as both can stand in the way of one edge.
TEST_CASE("the gates and guards stand in their order, for an access pattern") {
  const std::string two = op("d", "ActivationOp", "t", "");
  // 1 before 2 and 3
  CHECK(answer(with({copyTo("t"), asks("t:bfloat16")})) == "Match");
  CHECK(answer(document({input("b", "bfloat16")}, {asks("b b")})) == "Match");
  // 2 before 3
  CHECK(answer(with({asks("x:float32")})) == "operand-reinterpret");
  CHECK(answer(with({copyTo("t"), asks("t:float32"), two})) == "operand-reinterpret");
  // within 3
  CHECK(answer(with({asks("x x")})) == "no-store");
  CHECK(answer(with({copyTo("t"), op("q", "MemsetOp", "", "t"), asks("t"), two})) == "multi-store");
  CHECK(answer(with({gepTo("t"), asks("t"), two})) == "multi-load");
  // 3 before 5
  CHECK(answer(with({gepTo("t", kReinterpret), asks("t")})) == "allowed-dtypes");
  CHECK(answer(with({copyTo("t", kReinterpret), asks("t"), two})) == "multi-load");
  // 5 before the guards
  CHECK(answer(with({copyTo("y", kReinterpret), asks("y")})) == "inst-reinterpret");
  // interface before reader
  CHECK(answer(with({copyTo("y"), asks("y"), op("m", "LRN", "@p", "")})) == "interface");
  // inst-reinterpret before reader
  CHECK(answer(with({copyTo("t", kReinterpret), asks("t"), op("m", "LRN", "@p", "")})) == "inst-reinterpret");
  // reader before 6, 7 and 8
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), asks("t"), op("m", "LRN", "@p", "")}), {.target = kTonga}) ==
        "reader");
  CHECK(answer(with({copyTo("t"), asks("t"), op("m", "LRN", "@p", "")})) == "reader");
  CHECK(answer(with({copyTo("t", kNever), asks("t"), op("m", "LRN", "@p", "")}), kMultiUsers) == "reader");
  // 6 before 7 and 8
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), asks("t"), op("d", "ActivationOp", "@p", "")})) == "Mutated");
  // 7 before 8
  CHECK(answer(with({copyTo("t", kNever), asks("t"), op("d", "ActivationOp", "@p", "")})) == "multi-user");
  CHECK(answer(with({copyTo("ps"), asks("ps"), op("d", "ActivationOp", "@p", "")}, {psum("ps")})) == "multi-user");
}

TEST_CASE("the gates and guards stand in their order, for an instruction") {
  const std::string load = op("d", "ActivationOp", "t", "");
  const std::string store = op("q", "MemsetOp", "", "t");
  const std::string unable = op("m", "LRN", "@p", "");
  // 1 before 4
  CHECK(answer(with({op("p", "TensorCopyOp", "x", "", "bfloat16"), asks("@p @p")})) == "Match");
  // within 4, and 4 before 5
  CHECK(answer(with({copyTo("", kReinterpret), asks("@p")})) == "no-dst");
  CHECK(answer(with({copyTo("t", kReinterpret), asks("@p"), load})) == "n-loads");
  // 4 before the guards
  CHECK(answer(with({copyTo("y"), asks("@p"), op("d", "ActivationOp", "y", "")})) == "n-loads");
  CHECK(answer(with({copyTo("t"), store, asks("@p"), load})) == "n-loads");
  CHECK(answer(with({gepTo(""), asks("@p")})) == "no-dst");
  CHECK(answer(with({copyTo("t"), asks("@p"), load, unable})) == "n-loads");
  // 5 before the guards
  CHECK(answer(with({copyTo("y", kReinterpret), asks("@p")})) == "inst-reinterpret");
  CHECK(answer(with({copyTo("t", kReinterpret), store, asks("@p")})) == "inst-reinterpret");
  CHECK(answer(with({gepTo("t", kReinterpret), asks("@p")})) == "inst-reinterpret");
  // the guards among themselves
  CHECK(answer(with({copyTo("y"), op("q", "MemsetOp", "", "y"), asks("@p")})) == "interface");
  CHECK(answer(with({gepTo("t"), store, asks("@p")})) == "shared-def");
  CHECK(answer(with({copyTo("t"), store, asks("@p"), unable})) == "shared-def");
  CHECK(answer(with({gepTo("t"), asks("@p"), unable})) == "allowed-dtypes");
  // the guards before 6, 7 and 8
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), store, asks("@p")}), {.target = kTonga}) == "shared-def");
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), asks("@p"), unable}), {.target = kTonga}) == "reader");
  CHECK(answer(with({copyTo("t"), asks("@p"), unable})) == "reader");
  CHECK(answer(with({gepTo("t"), asks("@p @p")})) == "allowed-dtypes");
  CHECK(answer(with({copyTo("t", kNever), store, asks("@p")})) == "shared-def");
  // 6 before 7
  CHECK(answer(with({op("p", "SBAtomLoad", "x", "t"), asks("@p @p")})) == "Mutated");
  // 7 before 8
  CHECK(answer(with({copyTo("t", kNever), asks("@p @p")})) == "multi-user");
}

TEST_CASE("tryMutateDstTy tells whether it is no Mismatch, and does the same") {
  const auto tried = [](const std::string& text) {
    Document d(text);
    DTypeMutator mutator(false, d.graph, target(Architecture::kCayman));
    const bool satisfiable = mutator.tryMutateDstTy(d.operand("c"), Dtype::kBfloat16);
    CHECK((d.graph.dtype(d.graph.operand(d.operand("c"))) == Dtype::kBfloat16) == satisfiable);
    return satisfiable;
  };
  CHECK(tried(document({input("b", "bfloat16")}, {asks("b")})));
  CHECK(tried(with({copyTo("t"), asks("t")})));
  CHECK_FALSE(tried(with({asks("x")})));
}

TEST_CASE("the accessors of MutateState") {
  const auto row = [](MutateState state) {
    return std::vector<bool>{state.match(), state.mutated(), state.mismatch(), state.matchOrMutated()};
  };
  CHECK(row(MutateState::Match) == std::vector<bool>{true, false, false, true});
  CHECK(row(MutateState::Mutated) == std::vector<bool>{false, true, false, true});
  CHECK(row(MutateState::Mismatch) == std::vector<bool>{false, false, true, false});
}
