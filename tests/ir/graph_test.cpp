#include "dtypemut/ir/graph.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

/// The operands that read a tensor, as OWNER.INDEX.
std::vector<std::string> loadsOf(const Document& d, std::string_view tensor) {
  std::vector<std::string> loads;
  d.graph.forEachLoad(d.tensor(tensor), [&](OperandId load) {
    loads.push_back(std::string(d.graph.instruction(d.graph.operand(load).owner).name) + "." +
                    std::to_string(d.graph.operandIndex(load)));
  });
  return loads;
}

std::vector<std::string> storesOf(const Document& d, std::string_view tensor) {
  std::vector<std::string> stores;
  d.graph.forEachStore(d.tensor(tensor),
                       [&](InstructionId store) { stores.emplace_back(d.graph.instruction(store).name); });
  return stores;
}

std::vector<std::string> instUsersOf(const Document& d, std::string_view instruction) {
  std::vector<std::string> users;
  d.graph.forEachInstUser(d.instruction(instruction), [&](OperandId user) {
    users.emplace_back(d.graph.instruction(d.graph.operand(user).owner).name);
  });
  return users;
}

using Names = std::vector<std::string>;

/// Tensors that are read and stored in all ways.
Document everyWay() {
  return Document(document(
      {input("x"), splat("w"), sbuf("a"), sbuf("b"), sbuf("c"), sbuf("d"), sbuf("unused"), output("y")},
      {op("ld", "SBAtomLoad", "w", "a"), op("p", "TensorTensorOp", "a a #1", "b"),
       op("q", "TensorTensorOp", "@p b b:int32", "c"), op("r", "ActivationOp", "b @p x", "c"),
       op("s", "ActivationOp", "c", "d"), op("st", "SBAtomStore", "d", "y"), op("ld_x", "SBAtomLoad", "x", "b"),
       op("t", "DMACopyOp", "w", ""), op("memset", "MemsetOp", "", "d"), op("nothing", "SendRecvOp", "d", "", "")}));
}

}  // namespace

TEST_CASE("loads are operands: an instruction that reads a tensor twice counts twice") {
  const Document d = everyWay();
  CHECK(loadsOf(d, "a") == Names{"p.0", "p.1"});
  CHECK(d.graph.nLoads(d.tensor("a")) == 2);
  CHECK(loadsOf(d, "b") == Names{"q.1", "q.2", "r.0"});
  CHECK(d.graph.nLoads(d.tensor("b")) == 3);
  CHECK(loadsOf(d, "w") == Names{"ld.0", "t.0"});
  CHECK(loadsOf(d, "x") == Names{"r.2", "ld_x.0"});
  CHECK(loadsOf(d, "unused").empty());
  CHECK(d.graph.nLoads(d.tensor("y")) == 0);
}

TEST_CASE("stores are the instructions with that dst, in list order") {
  const Document d = everyWay();
  CHECK(storesOf(d, "b") == Names{"p", "ld_x"});
  CHECK(storesOf(d, "c") == Names{"q", "r"});
  CHECK(storesOf(d, "y") == Names{"st"});
  CHECK(storesOf(d, "x").empty());
  CHECK(d.graph.tensor(d.tensor("b")).storeCount == 2);
}

TEST_CASE("single_def_single_use asks for exactly one store and one load") {
  const Document d = everyWay();
  const auto holds = [&](std::string_view name) { return d.graph.singleDefSingleUse(d.tensor(name)); };
  CHECK_FALSE(holds("a"));  // one store, two loads by one instruction
  CHECK_FALSE(holds("c"));  // two stores, one load
  CHECK_FALSE(holds("y"));  // one store, no load
  CHECK_FALSE(holds("w"));  // no store
  const Document single(document({input("x"), sbuf("t"), sbuf("u")},
                                 {op("p", "ActivationOp", "x", "t"), op("c", "ActivationOp", "t", "u")}));
  CHECK(single.graph.singleDefSingleUse(single.tensor("t")));
  CHECK_FALSE(single.graph.singleDefSingleUse(single.tensor("x")));
}

TEST_CASE("users are {\"inst\"} operands and the loads of the dst tensor") {
  const Document d = everyWay();
  const auto users = [&](std::string_view name) { return d.graph.users(d.instruction(name)); };
  CHECK(users("p") == 2 + 3);
  CHECK(instUsersOf(d, "p") == Names{"q", "r"});
  CHECK(users("ld") == 2);
  CHECK(users("q") == 1);
  CHECK(users("r") == 1);
  CHECK(users("s") == 2);
  CHECK(users("st") == 0);
  CHECK(users("t") == 0);  // no dst
  CHECK(d.graph.hasSingleUser(d.instruction("q")));
  CHECK_FALSE(d.graph.hasSingleUser(d.instruction("p")));
  CHECK_FALSE(d.graph.hasSingleUser(d.instruction("st")));
}

TEST_CASE("an {\"inst\"} operand given twice is two users") {
  const Document d(document({input("x")}, {op("p", "ActivationOp", "x", ""), op("c", "TensorTensorOp", "@p @p", "")}));
  CHECK(d.graph.users(d.instruction("p")) == 2);
}

TEST_CASE("load_const is of SBAtomLoads whose source is const") {
  const Document d = everyWay();
  CHECK(d.graph.loadConst(d.instruction("ld")));
  CHECK_FALSE(d.graph.loadConst(d.instruction("ld_x")));
  CHECK_FALSE(d.graph.loadConst(d.instruction("t")));  // another op that reads a const
}

TEST_CASE("an operand has its view's dtype, its tensor's or its instruction's") {
  const Document d(document({input("x", "float16")},
                            {op("p", "ActivationOp", "x", ""), op("c", "TensorTensorOp", "x x:int8 @p #7", "")}));
  const auto dtypeOf = [&](std::uint32_t i) { return d.graph.dtype(d.graph.operand(d.operand("c", i))); };
  CHECK(dtypeOf(0) == Dtype::kFloat16);
  CHECK(dtypeOf(1) == Dtype::kInt8);
  CHECK(dtypeOf(2) == Dtype::kFloat32);
  CHECK(dtypeOf(3) == Dtype::kNone);
}

TEST_CASE("the tensor behind an operand is its own or its instruction's dst") {
  const Document d = everyWay();
  const auto behind = [&](std::string_view name, std::uint32_t i) {
    return d.graph.tensorBehind(d.graph.operand(d.operand(name, i)));
  };
  CHECK(behind("q", 0) == d.tensor("b"));
  CHECK(behind("q", 2) == d.tensor("b"));
  CHECK(behind("p", 2) == TensorId::kNone);
  const Document bare(document({input("x")}, {op("p", "ActivationOp", "x", ""), op("c", "ActivationOp", "@p", "")}));
  CHECK(bare.graph.tensorBehind(bare.graph.operand(bare.operand("c"))) == TensorId::kNone);
}

TEST_CASE("the size of a tensor counts containers") {
  const auto sizeOf = [](const std::string& dtype, const std::string& shape) {
    const Document d(R"({"tensors": [{"name": "t", "dtype": ")" + dtype + R"(", "shape": )" + shape +
                     R"(}], "instructions": []})");
    return d.graph.tensor(d.tensor("t")).sizeInBytes();
  };
  CHECK(sizeOf("float32", "[128, 512]") == 128 * 512 * 4);
  CHECK(sizeOf("bfloat16", "[]") == 2);
  CHECK(sizeOf("int64", "[3, 0, 5]") == 0);
  CHECK(sizeOf("float8e4", "[7]") == 7);
  CHECK(sizeOf("float8_e5m2_x4", "[7]") == 28);
  CHECK(sizeOf("float4_e2m1fn_x4", "[7]") == 14);
  CHECK(sizeOf("float32", "[2305843009213693951]") == (std::uint64_t{1} << 63) - 4);
}

TEST_CASE("replaceTensor takes a load from one tensor's list to another's") {
  const auto freshDocument = [] {
    return Document(document({splat("w"), splat("v")}, {op("a", "DMACopyOp", "w", ""), op("b", "DMACopyOp", "w", ""),
                                                        op("c", "DMACopyOp", "w", ""), op("d", "DMACopyOp", "v", "")}));
  };
  const auto afterMoving = [&](const Names& moved) {
    Document d = freshDocument();
    for (const std::string& name : moved) d.graph.replaceTensor(d.operand(name), d.tensor("v"));
    CHECK(d.graph.nLoads(d.tensor("w")) == loadsOf(d, "w").size());
    CHECK(d.graph.nLoads(d.tensor("v")) == loadsOf(d, "v").size());
    CHECK(loadsOf(d, "v").size() == 1 + moved.size());
    return loadsOf(d, "w");
  };
  CHECK(afterMoving({"a"}) == Names{"b.0", "c.0"});
  CHECK(afterMoving({"b"}) == Names{"a.0", "c.0"});
  CHECK(afterMoving({"c"}) == Names{"a.0", "b.0"});
  CHECK(afterMoving({"b", "c"}) == Names{"a.0"});
  CHECK(afterMoving({"a", "b", "c"}).empty());
  CHECK(afterMoving({"c", "b", "a"}).empty());

  Document back = freshDocument();
  back.graph.replaceTensor(back.operand("b"), back.tensor("v"));
  back.graph.replaceTensor(back.operand("b"), back.tensor("w"));
  CHECK(back.graph.nLoads(back.tensor("w")) == 3);
  CHECK(loadsOf(back, "v") == Names{"d.0"});
}

TEST_CASE("a clone is like its original but for name and dtype, and read by nothing") {
  Document d(document({tensor("w", "float32", R"("kind": "const", "data": {"values": [1, 2, 3, 4]})")},
                      {op("ld", "SBAtomLoad", "w", "")}));
  const TensorId original = d.tensor("w");
  const TensorId id = d.graph.clone(original, "copy", Dtype::kBfloat16);
  const Tensor& copy = d.graph.tensor(id);
  CHECK(d.graph.findTensor("copy") == id);
  CHECK(copy.name == "copy");
  CHECK(copy.dtype == Dtype::kBfloat16);
  CHECK(copy.cloneOf == original);
  CHECK(copy.isConst());
  CHECK(copy.sizeInBytes() == 8);
  CHECK(std::vector(d.graph.shape(copy).begin(), d.graph.shape(copy).end()) == std::vector<std::uint64_t>{4});
  CHECK(d.graph.nLoads(id) == 0);
  CHECK(loadsOf(d, "copy").empty());
  CHECK(d.graph.nLoads(original) == 1);
  CHECK(d.dtypeOf("w") == Dtype::kFloat32);
  CHECK(d.graph.documentTensorCount() == 1);
  CHECK(d.graph.tensorCount() == 2);
}

TEST_CASE("ids count up from the number of tensors and instructions") {
  Document d(document({splat("w"), sbuf("a")}, {op("ld", "SBAtomLoad", "w", "a")}));
  CHECK(d.graph.allocateId() == 3);
  d.graph.clone(d.tensor("w"), "w2", Dtype::kBfloat16);
  CHECK(d.graph.allocateId() == 4);
}

TEST_CASE("a retype goes to the instruction and its dst tensor, or to the tensor alone") {
  Document d(
      document({input("x"), sbuf("t")}, {op("p", "ActivationOp", "x", "t"), op("bare", "ActivationOp", "x", "")}));
  d.graph.mutateDstTy(d.instruction("p"), Dtype::kFloat16);
  CHECK(d.resultOf("p") == Dtype::kFloat16);
  CHECK(d.dtypeOf("t") == Dtype::kFloat16);
  d.graph.mutateDstTy(d.instruction("bare"), Dtype::kFloat16);
  CHECK(d.resultOf("bare") == Dtype::kFloat16);
  d.graph.mutateTensorTy(d.tensor("t"), Dtype::kBfloat16);
  CHECK(d.resultOf("p") == Dtype::kFloat16);
  CHECK(d.dtypeOf("t") == Dtype::kBfloat16);
  CHECK(d.graph.tensor(d.tensor("t")).documentDtype == Dtype::kFloat32);
  CHECK(d.graph.instruction(d.instruction("p")).documentDtype == Dtype::kFloat32);
}

TEST_CASE("of nodes with one name the first is found, and the others are told of") {
  Graph graph;
  for (const char* name : {"a", "b", "a", "a"}) graph.addTensor({.name = name}, {});
  for (const char* name : {"b", "a", "b"}) graph.addInstruction({.name = name}, {});
  CHECK(graph.indexTensors() == std::vector{std::pair(TensorId{2}, TensorId{0}), {TensorId{3}, TensorId{0}}});
  CHECK(graph.indexInstructions() == std::vector{std::pair(InstructionId{2}, InstructionId{0})});
  CHECK(graph.findTensor("a") == TensorId{0});
  CHECK(graph.findTensor("b") == TensorId{1});
  CHECK(graph.findInstruction("b") == InstructionId{0});
}

TEST_CASE("among many names each is found, and no other") {
  Graph graph;
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("t" + std::to_string(i));
  for (const std::string& name : names) graph.addTensor({.name = name}, {});
  CHECK(graph.indexTensors().empty());
  for (std::uint32_t i = 0; i < 5000; ++i) REQUIRE(graph.findTensor(names[i]) == TensorId{i});
  for (const char* name : {"", "t", "t5000", "t00", "T1"}) CHECK(graph.findTensor(name) == TensorId::kNone);
  CHECK(graph.findInstruction("t1") == InstructionId::kNone);
}

TEST_CASE("a graph takes the lists that only another has") {
  const std::string escaped = "n\u0061me";
  Graph tensors;
  const std::uint64_t shape[] = {2, 3};
  tensors.addTensor({.name = tensors.keepText("a")}, shape);
  tensors.addTensor({.name = "b", .constData = tensors.addConstData({.dataToken = 7}), .kind = TensorKind::kConst}, {});
  Graph instructions;
  instructions.addOpaqueOp({.name = "Odd"});
  const Operand operand{.token = 9};
  instructions.addInstruction({.name = instructions.keepText("i")}, std::span(&operand, 1));
  tensors.join(std::move(instructions));
  CHECK(tensors.tensorCount() == 2);
  CHECK(tensors.tensor(TensorId{0}).name == "a");
  CHECK(std::vector(tensors.shape(tensors.tensor(TensorId{0})).begin(),
                    tensors.shape(tensors.tensor(TensorId{0})).end()) == std::vector<std::uint64_t>{2, 3});
  CHECK(tensors.constData(tensors.tensor(TensorId{1})).dataToken == 7);
  REQUIRE(tensors.instructionCount() == 1);
  CHECK(tensors.instruction(InstructionId{0}).name == "i");
  CHECK(tensors.operand(OperandId{0}).token == 9);
  CHECK(tensors.opaqueOps().size() == 1);
}
