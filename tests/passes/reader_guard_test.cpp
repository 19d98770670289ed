// The reader guard: a user of the producer, other than the operand that asks, that cannot read the dtype.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "dtypemut/passes/dtype_mutator.h"
#include "graphs.h"
#include "passes/asking.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kCayman = target(Architecture::kCayman);
const Target& kTonga = target(Architecture::kTonga);

/// Producer p, whose result c asks about; `user` is another user of it.
std::string withUser(const std::string& user, const std::string& dtype = "float32", const std::string& read = "@p") {
  return document({input("x", dtype), input("i", "int32"), input("h", "float16"), output("y", dtype), sbuf("t", dtype)},
                  {op("p", "TensorCopyOp", "x", "t", dtype), op("c", "ActivationOp", read, ""), user});
}

/// Whether the user can read the dtype. With the knob of gate 7, nothing else stands in the way.
bool canRead(const std::string& user, Ask ask = {}, const std::string& dtype = "float32") {
  ask.mutateMultiUsers = true;
  const std::string found = answer(withUser(user, dtype), ask);
  CHECK((found == "reader" || found == "Mutated"));
  CHECK(answer(withUser(user, dtype, "t"), ask) == found);
  return found == "Mutated";
}

}  // namespace

TEST_CASE("a compute op can read any dtype") {
  for (const char* opName : {"ActivationOp", "TensorCopyOp", "SundaBNStats", "MemsetOp", "TensorScalarGEPOp"})
    CHECK(canRead(op("d", opName, "@p", "")));
  CHECK(canRead(op("d", "ActivationOp", "x @p #1", "")));
}

TEST_CASE("a move cannot, whichever operand it is") {
  CHECK_FALSE(canRead(op("d", "TransposeOp", "@p", "")));
  CHECK_FALSE(canRead(op("d", "PoolGather", "@p i", "")));
  CHECK_FALSE(canRead(op("d", "PoolGather", "x @p", "")));
}

TEST_CASE("an opaque op cannot") { CHECK_FALSE(canRead(op("d", "LRN", "@p", ""))); }

TEST_CASE("a dma op can when the target's DMA casts") {
  const std::string store = op("d", "SBAtomStore", "@p", "y");
  CHECK(canRead(store));
  CHECK_FALSE(canRead(store, {.target = kTonga}));
  CHECK(canRead(op("d", "SendRecvOp", "@p", "")));
  CHECK_FALSE(canRead(op("d", "SendRecvOp", "@p", ""), {.target = kTonga}));
  Target plain = kCayman;
  plain.enableDmaCast = false;
  CHECK_FALSE(canRead(store, {.target = plain}));
  Target casting = kTonga;
  casting.enableDmaCast = true;
  CHECK(canRead(store, {.target = casting}));
}

TEST_CASE("a matmul can when the dtype is legal for it") {
  const std::string matmul = op("d", "MatMulOp", "@p", "");
  CHECK(canRead(matmul));
  Target without = kCayman;
  without.matmulDtypes.erase(Dtype::kBfloat16);
  CHECK_FALSE(canRead(matmul, {.target = without}));
  CHECK(canRead(matmul, {.dtype = Dtype::kFloat16, .target = without}));
}

TEST_CASE("a matmul can when its operands will not be mixed") {
  const auto matmul = [](const std::string& operands) { return op("d", "MatMulSparseOp", operands, ""); };
  CHECK_FALSE(canRead(matmul("@p x")));
  CHECK_FALSE(canRead(matmul("x #1 @p")));
  CHECK_FALSE(canRead(matmul("@p i:float32")));
  // It is the producer's result that it reads throughout.
  CHECK(canRead(matmul("@p @p")));
  CHECK(canRead(matmul("#2 @p #1")));
  // From one narrow dtype to another, and from one full precision to the other.
  CHECK(canRead(matmul("@p h"), {}, "float16"));
  CHECK(canRead(matmul("@p x"), {.dtype = Dtype::kFloat32r}));
  CHECK_FALSE(canRead(matmul("@p h"), {.dtype = Dtype::kFloat32}, "float16"));
  CHECK_FALSE(canRead(matmul("@p h"), {.dtype = Dtype::kFloat32r}, "float16"));
}

TEST_CASE("the operand that asks is no other user") {
  // A move or matmul that asks for itself answers for itself.
  CHECK(answer(document({input("x"), sbuf("t")}, {op("p", "TensorCopyOp", "x", "t"), op("c", "MatMulOp", "@p", "")})) ==
        "Mutated");
  CHECK(answer(document({input("x"), sbuf("t")}, {op("p", "TensorCopyOp", "x", "t"), op("c", "LRN", "t", "")})) ==
        "Mutated");
  // Its instruction is, when that reads the value through another operand as well.
  CHECK(answer(document({input("x"), sbuf("t")}, {op("p", "TensorCopyOp", "x", "t"), op("c", "LRN", "@p @p", "")}),
               {.mutateMultiUsers = true}) == "reader");
}

// ---- the users of an instruction are looked through once, not once per user: what is remembered must stay true

namespace {

/// What the guard and the gates behind it say, by looking at every operand of the graph.
std::string naiveAnswer(const Graph& graph, const Target& onTarget, OperandId asking, Dtype dtype) {
  const InstructionId producer = graph.operand(asking).instruction();
  if (graph.instruction(producer).dtype == dtype) return "Match";
  for (std::uint32_t i = 0; i < graph.operandCount(); ++i) {
    const Operand& user = graph.operand(OperandId{i});
    if (OperandId{i} == asking || user.instruction() != producer) continue;
    const Instruction& owner = graph.instruction(user.owner);
    if (owner.kind() == OpKind::kMove || owner.kind() == OpKind::kOpaque) return "reader";
    if (owner.kind() == OpKind::kDma && !onTarget.enableDmaCast) return "reader";
    if (owner.kind() != OpKind::kMatmul) continue;
    bool isFull = false;
    bool isNarrow = false;
    for (const Operand& operand : graph.operands(owner)) {
      const Dtype read = operand.isInstruction() && operand.instruction() == producer ? dtype : graph.dtype(operand);
      (isFullPrecision(read) ? isFull : isNarrow) = true;
    }
    if (isFull && isNarrow) return "reader";
  }
  return "Mutated";
}

/// Producers with many users each; most users can read most dtypes.
std::string manyUsers(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return random() % n; };
  const std::size_t producers = 2 + below(6);
  const auto producer = [&] { return "@p" + std::to_string(below(producers)); };
  std::vector<std::string> tensors = {input("x"), input("h", "float16")};
  std::vector<std::string> instructions;
  for (std::size_t i = 0; i < producers; ++i) {
    const std::string number = std::to_string(i);
    const std::string dtype = below(3) == 0 ? "bfloat16" : "float32";
    tensors.push_back(sbuf("t" + number, dtype));
    instructions.push_back(op("p" + number, "TensorCopyOp", "x", "t" + number, dtype));
  }
  const std::size_t users = 5 + below(60);
  for (std::size_t i = 0; i < users; ++i) {
    const std::string name = "u" + std::to_string(i);
    const std::size_t kind = below(40);
    if (kind == 0)
      instructions.push_back(op(name, "LRN", producer(), ""));
    else if (kind == 1)
      instructions.push_back(op(name, "SendRecvOp", producer(), ""));
    else if (kind < 8)
      instructions.push_back(op(name, "MatMulOp", producer() + " " + producer(), ""));
    else if (kind == 8)
      instructions.push_back(op(name, "MatMulOp", producer() + (below(2) == 0 ? " x" : " h"), ""));
    else
      instructions.push_back(op(name, "TensorTensorOp", producer() + (below(4) == 0 ? " " + producer() : ""), ""));
  }
  return document(tensors, instructions);
}

}  // namespace

TEST_CASE("what the guard remembers agrees with looking at everything anew, whatever is retyped in between") {
  constexpr Dtype kAsked[] = {Dtype::kBfloat16, Dtype::kFloat16, Dtype::kFloat32, Dtype::kFloat32r, Dtype::kFloat8e4};
  std::size_t counts[3] = {};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    Document d(manyUsers(random));
    Target onTarget = kCayman;
    onTarget.enableDmaCast = random() % 2 == 0;
    DTypeMutator mutator(true, d.graph, onTarget);
    std::vector<OperandId> askable;
    std::vector<InstructionId> producers;
    for (std::uint32_t i = 0; i < d.graph.operandCount(); ++i)
      if (d.graph.operand(OperandId{i}).isInstruction()) askable.push_back(OperandId{i});
    for (std::uint32_t i = 0; i < d.graph.instructionCount(); ++i)
      if (d.graph.instruction(InstructionId{i}).hasDst()) producers.push_back(InstructionId{i});
    const auto anyDtype = [&] { return kAsked[random() % std::size(kAsked)]; };
    // Both change now and then only: what is remembered lives from one change to the next.
    Dtype asked = anyDtype();
    Dtype retyped = anyDtype();
    for (int step = 0; step < 300; ++step) {
      if (random() % 8 == 0) asked = anyDtype();
      if (random() % 8 == 0) retyped = anyDtype();
      const OperandId asking = askable[random() % askable.size()];
      const std::string expected = naiveAnswer(d.graph, onTarget, asking, asked);
      CAPTURE(seed);
      CAPTURE(step);
      REQUIRE(decisionText(mutator.decide(asking, asked)) == expected);
      ++counts[expected == "Match" ? 0 : expected == "reader" ? 1 : 2];
      const unsigned what = random() % 8;
      if (what == 0) mutator.matchOrMutateDstTy(asking, asked);
      if (what == 1) d.graph.mutateDstTy(producers[random() % producers.size()], retyped);
      if (what == 2) d.graph.mutateTensorTy(d.tensor(random() % 2 == 0 ? "x" : "h"), retyped);
    }
  }
  for (std::size_t count : counts) CHECK(count > 1000);
}
