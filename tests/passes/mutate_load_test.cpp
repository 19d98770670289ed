// mutateLoad, staticCastLoadTensor, and the memo.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dtypemut/ir/verify.h"
#include "dtypemut/passes/dtype_mutator.h"
#include "graphs.h"
#include "passes/asking.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kCayman = target(Architecture::kCayman);
const Target& kTonga = target(Architecture::kTonga);
const Target& kMariana = target(Architecture::kMariana);

/// `source`, a tensor w, is loaded to t, which c reads.
std::string loading(const std::string& source, const std::string& dtype = "float32", const std::string& rest = "",
                    const std::string& operand = "w") {
  return document({source, sbuf("t", dtype)},
                  {op("ld", "SBAtomLoad", operand, "t", dtype, rest), op("c", "ActivationOp", "t", "")});
}

const std::string kNever = R"("can_mutate_dst_ty": false)";
const std::string kBroadcast = R"("partition_broadcast": true)";

/// What a direct mutateLoad of `ld` answers: as answer() for an edge.
std::string direct(const std::string& text, Dtype dtype, const Target& onTarget = kCayman) {
  Document d(text);
  DTypeMutator mutator(false, d.graph, onTarget);
  const auto before = snapshot(d.graph);
  const Decision decision = mutator.decideLoad(d.instruction("ld"), dtype);
  CHECK(decision.producer == d.instruction("ld"));
  CHECK(snapshot(d.graph) == before);
  CHECK(mutator.mutateLoad(d.instruction("ld"), dtype) == decision.state);
  CHECK((snapshot(d.graph) != before) == decision.state.mutated());
  CHECK(mutator.statistics().nLoads == (decision.state.mutated() ? 1 : 0));
  CHECK(mutator.statistics().operatorTypeMutated == 0);
  return decisionText(decision);
}

/// The tensor that a load reads.
std::string sourceOf(const Document& d, std::string_view load) {
  return std::string(d.graph.tensor(d.graph.operand(d.operand(load)).tensor()).name);
}

void checkCounters(const Statistics& found, std::uint64_t castedWeights, std::uint64_t foldedCastLoad,
                   std::uint64_t nLoads) {
  CHECK(found.operatorTypeMutated == 0);
  CHECK(found.castedWeights == castedWeights);
  CHECK(found.foldedCastLoad == foldedCastLoad);
  CHECK(found.nLoads == nLoads);
}

/// Loads l0 to l2 of weight w, and lv of weight v; each has a dst.
std::string severalLoads(const std::string& w) {
  return document({w, weight("v", "float16"), sbuf("a"), sbuf("b"), sbuf("c"), sbuf("d", "float16")},
                  {op("l0", "SBAtomLoad", "w", "a"), op("l1", "SBAtomLoad", "w", "b"), op("l2", "SBAtomLoad", "w", "c"),
                   op("lv", "SBAtomLoad", "v", "d", "float16")});
}

}  // namespace

// ---- the lines of mutateLoad

TEST_CASE("line 0: the load's own word, and the accumulator") {
  CHECK(answer(loading(input("w"), "float32", kNever)) == "can-mutate-dst-ty");
  CHECK(answer(loading(weight("w"), "float32", kNever)) == "can-mutate-dst-ty");
  CHECK(answer(loading(input("w"), "float32", R"("can_mutate_dst_ty": true)")) == "Mutated");
  const auto toPsum = [](const std::string& rest) {
    return document({input("x"), psum("t")},
                    {op("ld", "SBAtomLoad", "x", "t", "float32", rest), op("c", "ActivationOp", "t", "")});
  };
  CHECK(answer(toPsum("")) == "psum");
  CHECK(answer(toPsum(kNever)) == "can-mutate-dst-ty");
}

TEST_CASE("line 1: a partition broadcast does not convert to float16") {
  const Ask half{.dtype = Dtype::kFloat16};
  CHECK(answer(loading(input("w", "bfloat16"), "bfloat16", kBroadcast), half) == "load-partition-broadcast");
  CHECK(answer(loading(input("w", "float32r"), "float32r", kBroadcast), half) == "load-partition-broadcast");
  CHECK(answer(loading(weight("w", "bfloat16"), "bfloat16", kBroadcast), half) == "load-partition-broadcast");
  // It is the load's dtype that counts, not its source's.
  CHECK(answer(loading(input("w", "bfloat16"), "float32", kBroadcast), half) == "Mutated");
  CHECK(answer(loading(input("w"), "bfloat16", kBroadcast), half) == "load-partition-broadcast");
  CHECK(answer(loading(input("w"), "float32", kBroadcast), half) == "Mutated");
  CHECK(answer(loading(input("w", "bfloat16"), "bfloat16"), half) == "Mutated");
  CHECK(answer(loading(input("w", "bfloat16"), "bfloat16", R"("partition_broadcast": false)"), half) == "Mutated");
  CHECK(answer(loading(input("w", "float32r"), "float32r", kBroadcast)) == "Mutated");
}

TEST_CASE("line 2: no load takes float8e5") {
  CHECK(answer(loading(input("w")), {.dtype = Dtype::kFloat8e5}) == "load-fp8e5");
  CHECK(answer(loading(weight("w")), {.dtype = Dtype::kFloat8e5}) == "load-fp8e5");
  CHECK(answer(loading(splat("w")), {.dtype = Dtype::kFloat8e5}) == "load-fp8e5");
  CHECK(answer(loading(input("w")), {.dtype = Dtype::kFloat8e4}) == "Mutated");
  CHECK(answer(loading(input("w"), "float8e5"), {.dtype = Dtype::kFloat8e5}) == "Match");
}

TEST_CASE("line 3: a weight is cast, unless its bits are read as something else") {
  CHECK(answer(loading(weight("w"))) == "Mutated");
  CHECK(answer(loading(weight("w", "int32"))) == "Mutated");
  CHECK(answer(loading(weight("w"), "float32", "", "w:float32")) == "load-src-reinterpret");
  CHECK(answer(loading(weight("w", "int32"), "float32", "", "w:float32")) == "load-src-reinterpret");
  CHECK(answer(loading(splat("w"), "float32", "", "w:float32")) == "load-src-reinterpret");
  // Of run-time data nothing is cast.
  CHECK(answer(loading(input("w", "int32"), "float32", "", "w:float32")) == "Mutated");
}

TEST_CASE("line 3: packed weights and scale exponents are not cast") {
  const Ask mariana{.target = kMariana};
  for (const char* dtype : {"float4_e2m1fn_x4", "float8_e4m3fn_x4", "float8_e5m2_x4", "float8_e8m0fnu"})
    CHECK(answer(loading(weight("w", dtype)), mariana) == "load-src-packed");
  for (const char* dtype : {"float8_e4m3fn", "float8e5", "uint8", "int64", "float16"})
    CHECK(answer(loading(weight("w", dtype)), mariana) == "Mutated");
  // Run-time data that are packed the DMA casts.
  CHECK(answer(loading(input("w", "float8_e5m2_x4")), mariana) == "Mutated");
}

TEST_CASE("line 3: a load that widens a weight of the dtype goes on widening") {
  CHECK(answer(loading(weight("w", "bfloat16"))) == "Match");
  CHECK(answer(loading(splat("w", "bfloat16"))) == "Match");
  CHECK(answer(loading(weight("w", "float16"))) == "Mutated");
  CHECK(answer(loading(input("w", "bfloat16"))) == "Mutated");
}

TEST_CASE("line 4: run-time data need a DMA that casts") {
  Target plain = kCayman;
  plain.enableDmaCast = false;
  Target casting = kTonga;
  casting.enableDmaCast = true;
  CHECK(answer(loading(input("w")), {.target = kTonga}) == "load-dma-cast");
  CHECK(answer(loading(input("w")), {.target = plain}) == "load-dma-cast");
  CHECK(answer(loading(input("w")), {.target = casting}) == "Mutated");
  CHECK(answer(loading(input("w")), {.target = kCayman}) == "Mutated");
  CHECK(answer(loading(weight("w")), {.target = kTonga}) == "Mutated");
  CHECK(answer(loading(splat("w")), {.target = kTonga}) == "Mutated");
}

TEST_CASE("line 5: the load and its dst take the dtype, and the load is counted") {
  Document d(loading(input("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  CHECK(mutator.mutateLoad(d.instruction("ld"), Dtype::kBfloat16) == MutateState::Mutated);
  CHECK(d.resultOf("ld") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  CHECK(sourceOf(d, "ld") == "w");
  checkCounters(mutator.statistics(), 0, 0, 1);
}

TEST_CASE("a load without dst is retyped when asked directly") {
  Document d(document({input("x"), weight("w")}, {op("ld", "SBAtomLoad", "x", ""), op("lw", "SBAtomLoad", "w", "")}));
  DTypeMutator mutator(false, d.graph, kCayman);
  CHECK(mutator.mutateLoad(d.instruction("ld"), Dtype::kFloat16) == MutateState::Mutated);
  CHECK(d.resultOf("ld") == Dtype::kFloat16);
  CHECK(mutator.mutateLoad(d.instruction("lw"), Dtype::kFloat16) == MutateState::Mutated);
  CHECK(d.resultOf("lw") == Dtype::kFloat16);
  CHECK(sourceOf(d, "lw") != "w");
  checkCounters(mutator.statistics(), 16, 1, 2);
}

TEST_CASE("the lines of mutateLoad stand in their order") {
  Target plain = kMariana;
  plain.enableDmaCast = false;
  const auto intoPsum = [](const std::string& source, const std::string& word, const std::string& dtype) {
    return document({source, psum("t", dtype)}, {op("ld", "SBAtomLoad", word, "t", dtype, kBroadcast)});
  };
  // 0 before 1, 2, 3 and 4
  CHECK(direct(intoPsum(input("x", "bfloat16"), "x", "bfloat16"), Dtype::kFloat16) == "psum");
  CHECK(direct(loading(input("w"), "float32", kNever), Dtype::kFloat8e5) == "can-mutate-dst-ty");
  CHECK(direct(loading(weight("w", "bfloat16"), "float32", kNever), Dtype::kBfloat16) == "can-mutate-dst-ty");
  CHECK(direct(loading(input("w"), "float32", kNever), Dtype::kBfloat16, plain) == "can-mutate-dst-ty");
  // 1 before 3 and 4
  CHECK(direct(loading(weight("w", "float16"), "bfloat16", kBroadcast), Dtype::kFloat16) == "load-partition-broadcast");
  CHECK(direct(loading(input("w", "bfloat16"), "bfloat16", kBroadcast), Dtype::kFloat16, kTonga) ==
        "load-partition-broadcast");
  CHECK(direct(loading(weight("w", "bfloat16"), "bfloat16", kBroadcast, "w:bfloat16"), Dtype::kFloat16) ==
        "load-partition-broadcast");
  // 2 before 3 and 4
  CHECK(direct(loading(weight("w"), "float32", "", "w:float32"), Dtype::kFloat8e5) == "load-fp8e5");
  CHECK(direct(loading(weight("w", "float8e5")), Dtype::kFloat8e5) == "load-fp8e5");
  CHECK(direct(loading(input("w")), Dtype::kFloat8e5, plain) == "load-fp8e5");
  // within 3: view, packed, Match
  CHECK(direct(loading(weight("w", "float8_e8m0fnu"), "float32", "", "w:float32"), Dtype::kBfloat16, kMariana) ==
        "load-src-reinterpret");
  CHECK(direct(loading(weight("w", "bfloat16"), "float32", "", "w:float32"), Dtype::kBfloat16) ==
        "load-src-reinterpret");
  CHECK(direct(loading(weight("w", "float8_e8m0fnu")), Dtype::kFloat8E8m0fnu, kMariana) == "load-src-packed");
  CHECK(direct(loading(weight("w", "float8_e5m2_x4")), Dtype::kFloat8E5m2X4, kMariana) == "load-src-packed");
  // 3 before 4
  CHECK(direct(loading(weight("w")), Dtype::kFloat32, kTonga) == "Match");
  CHECK(direct(loading(weight("w"), "float32", "", "w:float32"), Dtype::kBfloat16, kTonga) == "load-src-reinterpret");
}

// ---- staticCastLoadTensor

TEST_CASE("a load that is no weight cannot be cast statically, and nothing changes") {
  Document d(document({input("x"), sbuf("t"), sbuf("u")},
                      {op("ld", "SBAtomLoad", "x", "t"), op("again", "SBAtomLoad", "t", "u")}));
  DTypeMutator mutator(false, d.graph, kCayman);
  const auto before = snapshot(d.graph);
  for (const char* load : {"ld", "again"}) {
    const Status status = mutator.staticCastLoadTensor(d.instruction(load), Dtype::kBfloat16);
    REQUIRE_FALSE(status);
    REQUIRE(status.error().size() == 1);
    CHECK(status.error().begin()->message == "Can only cast weight");
    CHECK(status.error().exitCode() == ExitCode::kRefused);
  }
  CHECK(snapshot(d.graph) == before);
  CHECK(mutator.tensorMap().empty());
  checkCounters(mutator.statistics(), 0, 0, 0);
}

TEST_CASE("a weight is cast into a clone that the load then reads") {
  Document d(loading(weight("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  REQUIRE(mutator.staticCastLoadTensor(d.instruction("ld"), Dtype::kBfloat16));
  CHECK(d.resultOf("ld") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(sourceOf(d, "ld") == "w_8_4");
  CHECK(d.dtypeOf("w_8_4") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  CHECK(d.graph.nLoads(d.tensor("w")) == 0);
  CHECK(d.graph.nLoads(d.tensor("w_8_4")) == 1);
  checkCounters(mutator.statistics(), 16, 1, 0);  // n_loads is mutateLoad's
}

TEST_CASE("loads of one weight share its clone; the bytes are counted once, the loads each") {
  Document d(severalLoads(weight("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  for (const char* load : {"l0", "l1", "l2"}) mutator.mutateLoad(d.instruction(load), Dtype::kBfloat16);
  CHECK(d.graph.tensorCount() == d.graph.documentTensorCount() + 1);
  for (const char* load : {"l0", "l1", "l2"}) CHECK(sourceOf(d, load) == "w_8_10");
  CHECK(mutator.tensorMap().size() == 1);
  checkCounters(mutator.statistics(), 16, 3, 3);
  mutator.mutateLoad(d.instruction("lv"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "lv") == "v_8_11");
  checkCounters(mutator.statistics(), 16 + 8, 4, 4);
}

TEST_CASE("one mutator asked for two dtypes keeps two clones") {
  Document d(severalLoads(weight("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("l0"), Dtype::kBfloat16);
  mutator.mutateLoad(d.instruction("l1"), Dtype::kFloat16);
  mutator.mutateLoad(d.instruction("l2"), Dtype::kBfloat16);
  const TensorId w = d.tensor("w");
  CHECK(sourceOf(d, "l0") == "w_8_10");
  CHECK(sourceOf(d, "l1") == "w_8_11");
  CHECK(sourceOf(d, "l2") == "w_8_10");
  CHECK(d.dtypeOf("w_8_10") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("w_8_11") == Dtype::kFloat16);
  REQUIRE(mutator.tensorMap().size() == 2);
  CHECK(mutator.tensorMap().at({w, Dtype::kBfloat16}) == d.tensor("w_8_10"));
  CHECK(mutator.tensorMap().at({w, Dtype::kFloat16}) == d.tensor("w_8_11"));
  checkCounters(mutator.statistics(), 32, 3, 3);
}

// ---- splats

TEST_CASE("a splat that nothing else reads is retyped in place, and moves no counter but n_loads") {
  Document d(loading(splat("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  CHECK(mutator.mutateLoad(d.instruction("ld"), Dtype::kBfloat16) == MutateState::Mutated);
  CHECK(sourceOf(d, "ld") == "w");
  CHECK(d.dtypeOf("w") == Dtype::kBfloat16);
  CHECK(d.resultOf("ld") == Dtype::kBfloat16);
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.graph.tensorCount() == d.graph.documentTensorCount());
  CHECK(mutator.tensorMap().empty());
  checkCounters(mutator.statistics(), 0, 0, 1);
}

TEST_CASE("a splat with other readers is cloned, and the clone shared") {
  Document d(severalLoads(splat("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("l0"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l0") == "w_8_10");
  CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  mutator.mutateLoad(d.instruction("l1"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l1") == "w_8_10");
  // The memo comes before the flip in place: l2 is the last reader now, and yet takes the clone.
  CHECK(d.graph.nLoads(d.tensor("w")) == 1);
  mutator.mutateLoad(d.instruction("l2"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l2") == "w_8_10");
  CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  CHECK(d.graph.nLoads(d.tensor("w")) == 0);
  CHECK(mutator.tensorMap().size() == 1);
  checkCounters(mutator.statistics(), 0, 0, 3);
}

TEST_CASE("a splat flips in place for its last reader when that asks for another dtype") {
  Document d(document({splat("w"), sbuf("a"), sbuf("b")},
                      {op("l0", "SBAtomLoad", "w", "a"), op("l1", "SBAtomLoad", "w", "b")}));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("l0"), Dtype::kBfloat16);
  mutator.mutateLoad(d.instruction("l1"), Dtype::kFloat16);
  CHECK(sourceOf(d, "l0") == "w_8_5");
  CHECK(sourceOf(d, "l1") == "w");
  CHECK(d.dtypeOf("w") == Dtype::kFloat16);
}

TEST_CASE("a reader of any kind keeps a splat from being retyped in place") {
  for (const std::string& other :
       {op("d", "ActivationOp", "w", ""), op("d", "ActivationOp", "w:int32", ""), op("d", "DMACopyOp", "w", "")}) {
    Document d(document({splat("w"), sbuf("t")}, {op("ld", "SBAtomLoad", "w", "t"), other}));
    DTypeMutator mutator(false, d.graph, kCayman);
    mutator.mutateLoad(d.instruction("ld"), Dtype::kBfloat16);
    CHECK(sourceOf(d, "ld") == "w_8_4");
    CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  }
}

// ---- names, lifecycle

TEST_CASE("a clone's name skips those that are taken") {
  // Six nodes: the ids begin at 6.
  Document d(document({weight("w"), sbuf("a"), input("w_8_6"), input("w_8_7"), input("v_8_8")},
                      {op("l0", "SBAtomLoad", "w", "a")}));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("l0"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l0") == "w_8_8");
}

TEST_CASE("an instruction of that name takes no tensor's") {
  Document d(document({weight("w"), sbuf("a")}, {op("w_8_3", "SBAtomLoad", "w", "a")}));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("w_8_3"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "w_8_3") == "w_8_3");
}

TEST_CASE("setFunction keeps the memo and reset clears it; counters survive both") {
  Document d(severalLoads(weight("w")));
  DTypeMutator mutator(false, d.graph, kCayman);
  mutator.mutateLoad(d.instruction("l0"), Dtype::kBfloat16);
  REQUIRE(mutator.tensorMap().size() == 1);

  mutator.setFunction(d.graph);
  CHECK(mutator.tensorMap().size() == 1);
  mutator.mutateLoad(d.instruction("l1"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l1") == sourceOf(d, "l0"));
  checkCounters(mutator.statistics(), 16, 2, 2);

  mutator.reset();
  CHECK(mutator.tensorMap().empty());
  checkCounters(mutator.statistics(), 16, 2, 2);
  mutator.mutateLoad(d.instruction("l2"), Dtype::kBfloat16);
  CHECK(sourceOf(d, "l2") != sourceOf(d, "l0"));
  checkCounters(mutator.statistics(), 32, 3, 3);
}

TEST_CASE("after setFunction the mutator works on the new function") {
  Document first(severalLoads(weight("w")));
  Document second(loading(weight("w")));
  DTypeMutator mutator(false, first.graph, kCayman);
  mutator.mutateLoad(first.instruction("l0"), Dtype::kBfloat16);
  const auto before = snapshot(first.graph);

  mutator.setFunction(second.graph);
  mutator.reset();
  CHECK(&mutator.function() == &second.graph);
  CHECK(mutator.matchOrMutateDstTy(second.operand("c"), Dtype::kBfloat16) == MutateState::Mutated);
  CHECK(sourceOf(second, "ld") == "w_8_4");
  CHECK(snapshot(first.graph) == before);
  checkCounters(mutator.statistics(), 32, 2, 2);
}

TEST_CASE("a memo that speaks of another function is not followed") {
  Document first(severalLoads(weight("w")));
  Document second(loading(weight("w")));
  DTypeMutator mutator(false, first.graph, kCayman);
  mutator.mutateLoad(first.instruction("l0"), Dtype::kBfloat16);
  mutator.setFunction(second.graph);  // without reset()
  mutator.mutateLoad(second.instruction("ld"), Dtype::kBfloat16);
  CHECK(sourceOf(second, "ld") == "w_8_4");
  CHECK(second.dtypeOf("w_8_4") == Dtype::kBfloat16);
}
