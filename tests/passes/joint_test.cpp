#include "dtypemut/passes/joint.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "generator.h"
#include "graphs.h"
#include "passes/joint_check.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kCayman = target(Architecture::kCayman);
const Target& kTonga = target(Architecture::kTonga);

std::string jointly(const std::string& text, const PropagateOptions& options = {}, const Target& onTarget = kCayman) {
  Document d(text);
  return propagateIn(d, options, onTarget).decisions;
}

/// The answer for one edge, of many.
std::string answerFor(const std::string& edge, const std::string& decisions) {
  const std::string all = "; " + decisions + ";";
  const std::size_t at = all.find("; " + edge + " ");
  REQUIRE_MESSAGE(at != std::string::npos, decisions);
  const std::size_t begin = at + edge.size() + 3;
  return all.substr(begin, all.find(';', begin) - begin);
}

/// A document with an input x, an output y, tensors t, u and v in the state buffer, and these.
std::string with(const std::vector<std::string>& instructions, const std::vector<std::string>& tensors = {}) {
  std::vector<std::string> all = {input("x"), output("y"), sbuf("t"), sbuf("u"), sbuf("v")};
  all.insert(all.end(), tensors.begin(), tensors.end());
  return document(all, instructions);
}

std::string copyTo(const std::string& dst, const std::string& rest = "") {
  return op("p_" + dst.substr(0, dst.find(':')), "TensorCopyOp", "x", dst, "float32", rest);
}

std::string asks(const std::string& operands) { return op("c", "TensorTensorOp", operands, ""); }
std::string move(const std::string& from, const std::string& to) { return op("m_" + to, "TransposeOp", from, to); }

const std::string kNever = R"("can_mutate_dst_ty": false)";
const std::string kAlways = R"("can_mutate_dst_ty": true)";

}  // namespace

// ---- eligibility: each condition alone, and just on the other side of it

TEST_CASE("several stores and several readers are no hindrance") {
  CHECK(
      jointly(with({copyTo("t"), op("q", "MemsetOp", "", "t"), asks("t"), op("d", "TensorTensorOp", "t t @q", "")})) ==
      "p_t.0 interface; c.0 Mutated; d.0 Match; d.1 Match; d.2 Match");
}

TEST_CASE("each condition of eligibility") {
  const auto answer = [](const std::string& store, const std::string& read = "t", const PropagateOptions& options = {},
                         const Target& onTarget = kCayman) {
    return answerFor("c.0", jointly(with({store, asks(read)}, {psum("ps"), weight("w"), input("h", "bfloat16")}),
                                    options, onTarget));
  };
  CHECK(answer(copyTo("t")) == "Mutated");
  CHECK(answer(copyTo("y"), "y") == "interface");
  CHECK(answer(copyTo("t"), "x") == "interface");
  CHECK(answer(copyTo("t"), "w") == "interface");
  CHECK(answer(copyTo("ps"), "ps") == "psum");
  CHECK(answer(copyTo("t", R"("reinterpret": true)")) == "inst-reinterpret");
  CHECK(answer(copyTo("t:float32")) == "inst-reinterpret");
  CHECK(answer(copyTo("t"), "t t:int32") == "aliased-view");
  CHECK(answer(copyTo("t"), "t:float32") == "operand-reinterpret");
  CHECK(answer(op("p", "TensorCopyOp", "x", ""), "@p") == "no-dst");
  // loads
  CHECK(answer(op("p", "SBAtomLoad", "x", "t")) == "Mutated");
  CHECK(answer(op("p", "SBAtomLoad", "x", "t", "float32", kNever)) == "can-mutate-dst-ty");
  CHECK(answer(op("p", "SBAtomLoad", "w:float32", "t")) == "load-src-reinterpret");
  CHECK(answer(op("p", "SBAtomLoad", "x", "t"), "t", {}, kTonga) == "load-dma-cast");
  CHECK(answer(op("p", "SBAtomLoad", "w", "t"), "t", {}, kTonga) == "Mutated");
  CHECK(answer(op("p", "SBAtomLoad", "x", "t"), "t", {.dtype = Dtype::kFloat8e5}) == "load-fp8e5");
  // moves
  CHECK(answer(op("p", "TransposeOp", "#1", "t")) == "move-op");
  CHECK(answer(op("p", "TransposeOp", "", "t")) == "move-op");
  CHECK(answer(op("p", "TransposeOp", "x", "t", "float32", kNever)) == "can-mutate-dst-ty");
  // others
  CHECK(answer(copyTo("t", kNever)) == "can-mutate-dst-ty");
  CHECK(answer(op("p", "DMACopyOp", "x", "t")) == "dma-op");
  CHECK(answer(op("p", "MatMulOp", "x", "t")) == "matmul-op");
  CHECK(answer(op("p", "MatMulOp", "x", "t", "float32", kAlways)) == "Mutated");
  CHECK(answer(op("p", "LRN", "x", "t")) == "opaque-op");
  CHECK(answer(op("p", "LRN", "x", "t", "float32", kAlways)) == "Mutated");
  CHECK(answer(op("p", "SundaBNStats", "x", "t")) == "fixed-op");
  CHECK(answer(op("p", "TensorScalarGEPOp", "x", "t")) == "allowed-dtypes");
  CHECK(answer(op("p", "TensorScalarGEPOp", "x", "t", "float32", R"("allowed_dtypes": ["bfloat16"])")) == "Mutated");
}

TEST_CASE("who cannot read the dtype makes a tensor ineligible, as a tensor or an instruction") {
  Target without = kCayman;
  without.matmulDtypes.erase(Dtype::kBfloat16);
  for (const std::string operand : {"t", "@p_t"}) {
    const auto answer = [&](const std::string& opName, const std::string& operands, const std::string& dst,
                            const Target& onTarget = kCayman) {
      return answerFor("c.0", jointly(with({copyTo("t"), asks("t"), op("r", opName, operands, dst)}), {}, onTarget));
    };
    CHECK(answer("LRN", operand, "") == "reader");
    CHECK(answer("SBAtomStore", operand, "y") == "Mutated");
    CHECK(answer("SBAtomStore", operand, "y", kTonga) == "reader");
    CHECK(answer("MatMulOp", operand, "") == "Mutated");
    CHECK(answer("MatMulOp", operand, "", without) == "reader");
    CHECK(answer("ActivationOp", operand, "") == "Mutated");
    CHECK(answer("TransposeOp", operand, "u") == "Mutated");
    CHECK(answer("PoolGather", "x " + operand, "u") == "Mutated");  // as an index it ties nothing
  }
}

TEST_CASE("the conditions of eligibility stand in their order") {
  const auto answer = [](const std::vector<std::string>& instructions, const Target& onTarget = kCayman) {
    return answerFor("c.0", jointly(with(instructions, {psum("ps")}), {}, onTarget));
  };
  const std::string view = op("view", "ActivationOp", "t:int32", "");
  const std::string reinterprets = R"("reinterpret": true)";
  CHECK(answer({copyTo("ps", reinterprets), asks("ps")}) == "psum");
  CHECK(answer({copyTo("y", reinterprets), asks("y")}) == "interface");
  CHECK(answer({copyTo("t", reinterprets), asks("t"), view}) == "inst-reinterpret");
  CHECK(answer({copyTo("t"), op("q", "MemsetOp", "", "t:float32"), asks("t"), view}) == "inst-reinterpret");
  CHECK(answer({copyTo("t", kNever), asks("t"), view}) == "aliased-view");
  CHECK(answer({copyTo("t", kNever), asks("t"), op("r", "LRN", "t", "")}) == "can-mutate-dst-ty");
  // the first store that refuses
  const std::string dma = op("d", "DMACopyOp", "x", "t");
  const std::string load = op("l", "SBAtomLoad", "x", "t");
  const std::string gep = op("g", "TensorScalarGEPOp", "x", "t");
  CHECK(answer({copyTo("t"), dma, load, gep, asks("t")}, kTonga) == "dma-op");
  CHECK(answer({copyTo("t"), load, gep, dma, asks("t")}, kTonga) == "load-dma-cast");
  CHECK(answer({copyTo("t"), gep, dma, load, asks("t")}, kTonga) == "allowed-dtypes");
  CHECK(answer({op("g", "TensorScalarGEPOp", "x", "t", "float32", kNever), asks("t")}) == "can-mutate-dst-ty");
}

TEST_CASE("only tensors of the dtypes to be replaced are eligible") {
  const std::string text =
      document({input("h", "float16"), sbuf("t", "float16"), sbuf("i", "int32")},
               {op("p", "TensorCopyOp", "h", "t", "float16"), op("q", "TensorCopyOp", "h", "i", "int32"), asks("t i")});
  CHECK(jointly(text) == "");
  CHECK(jointly(text, {.from = {Dtype::kFloat16}}) == "p.0 interface; q.0 interface; c.0 Mutated");
  // The dtype asked for is ignored among them.
  Document d(text);
  const JointOutcome outcome = propagateIn(d, {.dtype = Dtype::kFloat16, .from = {Dtype::kFloat16, Dtype::kFloat32}});
  CHECK(outcome.decisions == "p.0 Match; q.0 Match; c.0 Match");
  CHECK(outcome.statistics.operatorTypeMutated == 0);
}

// ---- links

TEST_CASE("a move is retyped together with what it moves") {
  Document d(with({copyTo("t"), move("t", "u"), asks("u")}));
  const JointOutcome outcome = propagateIn(d, {});
  CHECK(outcome.decisions == "p_t.0 interface; c.0 Mutated");
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("u") == Dtype::kBfloat16);
  CHECK(d.resultOf("m_u") == Dtype::kBfloat16);
  CHECK(outcome.statistics.operatorTypeMutated == 2);
  // Asked for at either end, or at neither.
  CHECK(jointly(with({copyTo("t"), move("t", "u"), asks("t")})) == "p_t.0 interface; c.0 Mutated");
  Document unasked(with({copyTo("t"), move("t", "u")}));
  propagateIn(unasked, {});
  CHECK(unasked.dtypeOf("t") == Dtype::kFloat32);
}

TEST_CASE("a move ties both ends: neither is narrow without the other") {
  const auto answer = [](const std::vector<std::string>& instructions) {
    return answerFor("c.0", jointly(with(instructions)));
  };
  CHECK(answer({move("x", "u"), asks("u")}) == "move-link");
  CHECK(answer({copyTo("t"), move("t", "y"), asks("t")}) == "move-link");
  CHECK(answer({copyTo("t"), op("m", "TransposeOp", "t", ""), asks("t")}) == "move-link");
  CHECK(answer({copyTo("t"), op("m", "TransposeOp", "@p_t", "u"), asks("t")}) == "Mutated");
  CHECK(answer({copyTo("t"), op("m", "TransposeOp", "t:float32", "u"), asks("u")}) == "move-link");
  // Along a chain of them.
  CHECK(answer({copyTo("t"), move("t", "u"), move("u", "v"), asks("v")}) == "Mutated");
  CHECK(answer({copyTo("t"), move("t", "u"), move("u", "v"), asks("t"), op("r", "LRN", "v", "")}) == "move-link");
}

TEST_CASE("a matmul's operands are narrow together or not at all") {
  const auto decisions = [](const std::string& operands, const std::vector<std::string>& tensors = {}) {
    const std::string all = jointly(with(
        {copyTo("t"), copyTo("u"), op("mm", "MatMulOp", operands, ""), op("c", "TensorTensorOp", "t u", "")}, tensors));
    return all.substr(all.find("mm.0"));
  };
  CHECK(decisions("t u") == "mm.0 Mutated; mm.1 Mutated; c.0 Match; c.1 Match");
  CHECK(decisions("t @p_u") == "mm.0 Mutated; mm.1 Mutated; c.0 Match; c.1 Match");
  CHECK(decisions("t @p_t") == "mm.0 Mutated; mm.1 Match; c.0 Match; c.1 Mutated");
  CHECK(decisions("t x") == "mm.0 matmul-pair; mm.1 interface; c.0 matmul-pair; c.1 Mutated");
  CHECK(decisions("t u x") == "mm.0 matmul-pair; mm.1 matmul-pair; mm.2 interface; c.0 matmul-pair; c.1 matmul-pair");
  CHECK(decisions("t i:float32", {input("i", "int32")}) ==
        "mm.0 matmul-pair; mm.1 operand-reinterpret; c.0 matmul-pair; c.1 Mutated");
  CHECK(decisions("t #1") == "mm.0 Mutated; c.0 Match; c.1 Mutated");
  CHECK(decisions("t r", {input("r", "float32r")}) == "mm.0 matmul-pair; c.0 matmul-pair; c.1 Mutated");
}

TEST_CASE("to full precision, a matmul ties what is not") {
  const auto text = [](const std::string& other) {
    return document({input("h", "float16"), sbuf("t", "float16"), sbuf("u", "float16")},
                    {op("p", "TensorCopyOp", "h", "t", "float16"), op("q", "TensorCopyOp", "h", "u", "float16"),
                     op("mm", "MatMulOp", "t " + other, "")});
  };
  const auto answer = [&](const std::string& other, Dtype dtype) {
    return answerFor("mm.0", jointly(text(other), {.dtype = dtype, .from = {Dtype::kFloat16}}));
  };
  CHECK(answer("u", Dtype::kFloat32) == "Mutated");
  CHECK(answer("h", Dtype::kFloat32) == "matmul-pair");
  CHECK(answer("h", Dtype::kFloat32r) == "matmul-pair");
  CHECK(answer("h", Dtype::kBfloat16) == "Mutated");
  CHECK(answerFor("mm.0", jointly(with({copyTo("t"), op("mm", "MatMulOp", "t x", "")}), {.dtype = Dtype::kFloat32r})) ==
        "Mutated");
}

TEST_CASE("a tensor that a move and a matmul let go of is told as the move's") {
  CHECK(answerFor("mm.0", jointly(with({copyTo("t"), move("t", "y"), op("mm", "MatMulOp", "t x", "")}))) ==
        "move-link");
  // Also when the matmul let go first, and the move's other end only after it.
  CHECK(answerFor("c.0", jointly(with({copyTo("t"), move("t", "u"), op("mm", "MatMulOp", "t x", ""), asks("u")}))) ==
        "move-link");
  CHECK(answerFor("mm.0", jointly(with({copyTo("t"), move("t", "u"), op("mm", "MatMulOp", "t x", ""), asks("u")}))) ==
        "move-link");
}

// ---- what is asked for, and what is done

TEST_CASE("what no op asks for stays, unless it is tied to what one asks for") {
  Document d(with(
      {copyTo("t"), copyTo("u"), copyTo("v"), op("mm", "MatMulOp", "t u", ""), op("st", "SBAtomStore", "v", "y")}));
  propagateIn(d, {});
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("u") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("v") == Dtype::kFloat32);

  const std::string text = with({copyTo("t"), copyTo("u"), copyTo("v"), op("mm", "MatMulOp", "t u", ""), asks("v")});
  CHECK(jointly(text, {.autoCast = AutoCast::kMatmult}) == "mm.0 Mutated; mm.1 Mutated");
  CHECK(jointly(text, {.autoCast = AutoCast::kNone}) == "");
  // An index ties nothing to what it picks.
  Document index(with({copyTo("t"), copyTo("u"), op("m", "PoolGather", "t u", "v"), asks("u")}));
  propagateIn(index, {});
  CHECK(index.dtypeOf("u") == Dtype::kBfloat16);
  CHECK(index.dtypeOf("t") == Dtype::kFloat32);
  CHECK(index.dtypeOf("v") == Dtype::kFloat32);

  Document matmult(text);
  propagateIn(matmult, {.autoCast = AutoCast::kMatmult});
  CHECK(matmult.dtypeOf("v") == Dtype::kFloat32);
}

TEST_CASE("stores are retyped one by one, and counted as what they are") {
  Document d(
      document({input("x"), weight("w"), weight("n", "bfloat16"), splat("s"), sbuf("t")},
               {op("a", "SBAtomLoad", "w", "t"), op("b", "SBAtomLoad", "x", "t"), op("e", "SBAtomLoad", "n", "t"),
                op("f", "SBAtomLoad", "s", "t"), op("g", "MemsetOp", "", "t"), asks("t")}));
  const JointOutcome outcome = propagateIn(d, {});
  CHECK(outcome.decisions == "c.0 Mutated");
  CHECK(outcome.statistics.nLoads == 4);
  CHECK(outcome.statistics.operatorTypeMutated == 1);
  CHECK(outcome.statistics.castedWeights == 16);
  CHECK(outcome.statistics.foldedCastLoad == 1);
  for (const char* store : {"a", "b", "e", "f", "g"}) CHECK(d.resultOf(store) == Dtype::kBfloat16);
  // The load that widened a weight of the dtype just stops widening.
  CHECK(d.graph.operand(d.operand("e")).tensor() == d.tensor("n"));
  CHECK(d.dtypeOf("s") == Dtype::kBfloat16);
}

TEST_CASE("the knob of gate 7 has no effect") {
  const std::string text = with({copyTo("t"), asks("@p_t"), op("d", "ActivationOp", "@p_t", "")});
  Document d(text);
  DTypeMutator mutator(true, d.graph, kCayman);
  propagateJointly(mutator, {}, [](const Decision&) {});
  Document plain(text);
  propagateIn(plain, {});
  CHECK(snapshot(d.graph) == snapshot(plain.graph));
}

TEST_CASE("deciding changes nothing") {
  Document d(with({copyTo("t"), move("t", "u"), asks("u")}));
  const auto before = snapshot(d.graph);
  const DTypeMutator mutator(false, d.graph, kCayman);
  const JointVerdict verdict = decideJointly(mutator, {});
  CHECK(snapshot(d.graph) == before);
  CHECK(verdict.isRetyped[static_cast<std::size_t>(d.tensor("t"))]);
}

// ---- against the oracle

namespace {

/// A few tensors with many ties, and some that must stay.
std::string tiedGraph(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<std::string> tensors = {input("x"), input("h", "float16"), output("y")};
  std::vector<std::string> instructions;
  std::vector<std::string> words;  // what can be read
  const std::size_t count = 3 + below(8);
  const auto read = [&] { return words.empty() || below(12) == 0 ? "x" : words[below(words.size())]; };
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const bool isPsum = below(12) == 0;
    const bool isOutput = below(15) == 0;
    const std::string name = isOutput ? "y" : "t" + number;
    if (!isOutput) tensors.push_back(isPsum ? psum(name) : sbuf(name));
    const std::size_t kind = below(20);
    const std::string opName = kind < 11   ? "TensorCopyOp"
                               : kind < 18 ? "TransposeOp"
                               : kind < 19 ? "LRN"
                                           : "SBAtomLoad";
    std::string operand = read();
    if (opName == "SBAtomLoad" && operand.starts_with('@')) operand = "x";
    if (opName == "TransposeOp" && below(4) == 0) operand += " " + read();
    instructions.push_back(op("p" + number, opName, operand, name));
    words.push_back(name);
    if (below(3) == 0) words.push_back("@p" + number);
    if (below(8) == 0) instructions.push_back(op("again" + number, "MemsetOp", "", name));
    if (below(8) == 0 && i > 0) instructions.push_back(op("back" + number, "TransposeOp", read(), name));
  }
  const std::size_t readers = below(8);
  for (std::size_t i = 0; i < readers; ++i) {
    const std::string number = std::to_string(i);
    const std::size_t kind = below(12);
    if (kind < 7)
      instructions.push_back(
          op("mm" + number, "MatMulOp", read() + " " + read() + (below(4) == 0 ? " " + read() : ""), ""));
    else if (kind < 10)
      instructions.push_back(op("c" + number, "TensorTensorOp", read() + " " + read(), ""));
    else if (kind < 11)
      instructions.push_back(op("m" + number, "TransposeOp", read(), ""));
    else
      instructions.push_back(op("o" + number, "LRN", read(), ""));
  }
  return document(tensors, instructions);
}

/// The dtypes that the target can be asked for, one by one.
Dtype someDtype(const Target& onTarget, std::uint64_t number) {
  std::vector<Dtype> dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (onTarget.requestableDtypes().contains(info.dtype)) dtypes.push_back(info.dtype);
  return dtypes[number % dtypes.size()];
}

}  // namespace

TEST_CASE("no larger set is consistent, and the order of removal does not matter: graphs of ties") {
  OracleCounts counts;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string text = tiedGraph(random);
    Target onTarget = kCayman;
    onTarget.enableDmaCast = seed % 3 != 0;
    PropagateOptions options{.dtype = seed % 5 == 0 ? Dtype::kFloat32r : Dtype::kBfloat16};
    if (seed % 4 == 0) options.autoCast = AutoCast::kMatmult;
    checkAgainstOracle(text, options, onTarget, random, counts);
  }
  CHECK(counts.enumerated > 350);
  CHECK(counts.members > 400);
  CHECK(counts.removed > 400);
}

TEST_CASE("no larger set is consistent, and the order of removal does not matter: graphs of all kinds") {
  OracleCounts counts;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Target onTarget = targets()[seed % targets().size()];
    if (random() % 4 == 0) onTarget.enableDmaCast = !onTarget.enableDmaCast;
    PropagateOptions options{.dtype = someDtype(onTarget, seed / targets().size())};
    if (random() % 3 == 0) options.from = {Dtype::kFloat32, Dtype::kFloat32r, Dtype::kBfloat16, Dtype::kFloat16};
    options.from.erase(options.dtype);
    options.foldIndirect = random() % 3 == 0;
    const std::string text = generateDocument(seed, {.target = onTarget,
                                                     .favourite = options.dtype,
                                                     .instructions = 3 + static_cast<std::uint32_t>(random() % 20)});
    checkAgainstOracle(text, options, onTarget, random, counts);
  }
  CHECK(counts.enumerated > 350);
  CHECK(counts.members > 400);
  CHECK(counts.removed > 50);
}

TEST_CASE("what the edge policy narrows is narrowed jointly too") {
  std::size_t narrowed = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Target& onTarget = targets()[seed % targets().size()];
    const PropagateOptions options{.dtype = someDtype(onTarget, seed / targets().size())};
    const std::string text =
        seed % 2 == 0 ? tiedGraph(random)
                      : generateDocument(seed, {.target = onTarget, .favourite = options.dtype, .instructions = 25});
    Document edge(text);
    DTypeMutator mutator(random() % 2 == 0, edge.graph, onTarget);
    propagate(mutator, options, [](const Decision&) {});
    Document joint(text);
    propagateIn(joint, options, onTarget);
    for (std::uint32_t i = 0; i < edge.graph.instructionCount(); ++i) {
      const Instruction& narrow = edge.graph.instruction(InstructionId{i});
      if (narrow.dtype == narrow.documentDtype) continue;
      CHECK_MESSAGE(joint.graph.instruction(InstructionId{i}).dtype == options.dtype, narrow.name);
      ++narrowed;
    }
  }
  CHECK(narrowed > 500);
}
