#include "dtypemut/ir/verify.h"

#include <doctest/doctest.h>

#include <string>

#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

const Target& kCayman = target(Architecture::kCayman);
const Target& kTonga = target(Architecture::kTonga);
const Target& kMariana = target(Architecture::kMariana);

std::string faults(const std::string& text, const Target* onTarget) {
  const Document d(text);
  return errorText(verify(d.graph, onTarget), d.source);
}

/// The document has one fault, at its mark.
void checkRefused(const std::string& textWithMark, const std::string& message, const Target* onTarget = nullptr) {
  const Marked marked(textWithMark);
  REQUIRE(marked.places.size() == 1);
  CHECK(faults(marked.text, onTarget) == marked.places[0] + ": error: " + message);
}

void checkAccepted(const std::string& text, const Target* onTarget = nullptr) { CHECK(faults(text, onTarget) == ""); }

}  // namespace

TEST_CASE("an {\"inst\"} operand needs an instruction that has a dtype") {
  const auto text = [](const std::string& dtype, const std::string& word) {
    return document({input("x")},
                    {op("p", "ActivationOp", "x", "", dtype), op("c", "TensorTensorOp", "x " + word, "")});
  };
  checkRefused(text("", "^@p"), "instruction 'c': operand 1: instruction 'p' has no 'dtype'");
  checkAccepted(text("int8", "@p"));
}

TEST_CASE("an internal or output tensor is stored before it is read") {
  const auto text = [](const std::string& dst, const std::string& word) {
    return document({input("x"), splat("w"), sbuf("t"), output("y")},
                    {op("p", "ActivationOp", "x w", dst), op("c", "ActivationOp", word, "")});
  };
  checkRefused(text("y", "^t"), "instruction 'c': operand 0: tensor 't' is read before it is stored");
  checkRefused(text("t", "^y"), "instruction 'c': operand 0: tensor 'y' is read before it is stored");
  checkAccepted(text("t", "t"));
  checkAccepted(text("y", "y"));
}

TEST_CASE("an instruction reads its operands before it stores its result") {
  const auto text = [](const std::string& first) {
    return document({input("x"), sbuf("t")}, {first, op("c", "ActivationOp", "t", "t")});
  };
  checkAccepted(text(op("p", "ActivationOp", "x", "t")));
  checkRefused(document({sbuf("t")}, {op("c", "ActivationOp", "^t", "t")}),
               "instruction 'c': operand 0: tensor 't' is read before it is stored");
}

TEST_CASE("nothing is stored to an input or a const") {
  const auto text = [](const std::string& dst) {
    return document({input("x"), splat("w"), output("y"), sbuf("t")}, {op("p", "ActivationOp", "x", dst)});
  };
  checkRefused(text("^x"), "instruction 'p': dst: tensor 'x' is an input and cannot be stored to");
  checkRefused(text("^w"), "instruction 'p': dst: tensor 'w' is a const and cannot be stored to");
  checkAccepted(text("y"));
  checkAccepted(text("t"));
}

TEST_CASE("an instruction has the dtype of its dst tensor, unless one of them reinterprets") {
  const auto text = [](const std::string& dst, const std::string& dtype, const std::string& rest = "") {
    return document({input("x"), sbuf("t", "int32")}, {op("p", "ActivationOp", "x", dst, dtype, rest)});
  };
  checkRefused(text("t", "^float32"),
               "instruction 'p': its dtype is 'float32', but that of its dst tensor 't' is 'int32'");
  checkRefused(text("t", "^float32", R"("reinterpret": false)"),
               "instruction 'p': its dtype is 'float32', but that of its dst tensor 't' is 'int32'");
  checkAccepted(text("t", "int32"));
  checkAccepted(text("t:float32", "float32"));
  checkAccepted(text("t", "float32", R"("reinterpret": true)"));
}

TEST_CASE("a move reads its first operand in the dtype of its result") {
  const auto text = [](const std::string& operands, const std::string& opName = "TransposeOp") {
    return document({input("x"), input("h", "float16"), input("i", "int32"), sbuf("t", "float16")},
                    {op("half", "ActivationOp", "x", "", "float16"), op("m", opName, operands, "t", "float16")});
  };
  checkRefused(text("^x"),
               "instruction 'm': TransposeOp cannot convert: its first operand is 'float32', its result 'float16'");
  checkRefused(text("^h:int16"),
               "instruction 'm': TransposeOp cannot convert: its first operand is 'int16', its result 'float16'");
  checkAccepted(text("h"));
  checkAccepted(text("x:float16"));
  checkAccepted(text("@half"));
  checkAccepted(text("h i x", "PoolGather"));
  checkAccepted(text("#1 x"));
  checkAccepted(text(""));
  checkAccepted(text("x", "ActivationOp"));
}

TEST_CASE("a dma op converts only when the target's DMA casts") {
  const auto text = [](const std::string& word) {
    return document({input("x"), sbuf("t", "float16")}, {op("ld", "SBAtomLoad", word, "t", "float16")});
  };
  const std::string message =
      "instruction 'ld': SBAtomLoad cannot convert (the DMA of tonga does not cast): its first operand is "
      "'float32', its result 'float16'";
  checkRefused(text("^x"), message, &kTonga);
  checkAccepted(text("x"), &kCayman);
  checkAccepted(text("x"));
  checkAccepted(text("x:float16"), &kTonga);

  Target casting = kTonga;
  casting.enableDmaCast = true;
  checkAccepted(text("x"), &casting);
  Target plain = kCayman;
  plain.enableDmaCast = false;
  checkRefused(text("^x"),
               "instruction 'ld': SBAtomLoad cannot convert (the DMA of cayman does not cast): its first operand "
               "is 'float32', its result 'float16'",
               &plain);
}

TEST_CASE("a matmul's operands are all in full precision, or none") {
  const auto text = [](const std::string& operands, const std::string& opName = "MatMulOp", const char* mark = "^") {
    return document(
        {input("f"), input("r", "float32r"), input("h", "float16"), input("b", "bfloat16"), input("i", "int8")},
        {op("half", "ActivationOp", "f", "", "float16"), op(mark + std::string("mm"), opName, operands, "")});
  };
  const auto message = [](const std::string& found, const std::string& opName = "MatMulOp") {
    return "instruction 'mm': " + opName +
           " takes its operands all in full precision (float32, float32r) or none, not " + found;
  };
  checkRefused(text("f b"), message("float32, bfloat16"));
  checkRefused(text("f r h"), message("float32, float32r, float16"));
  checkRefused(text("#1 f i", "MatMulSparseOp"), message("float32, int8", "MatMulSparseOp"));
  checkRefused(text("@half f"), message("float16, float32"));
  checkRefused(text("f f:float16"), message("float32, float16"));
  for (const char* operands : {"f r", "h b i", "f #1", "@half b", "f:float16 h", "f", "b", "", "#1 #2"})
    checkAccepted(text(operands, "MatMulOp", ""));
  checkAccepted(text("f b", "TensorTensorOp", ""));
}

TEST_CASE("a matmul reads the target's legal dtypes") {
  const auto text = [](const std::string& operands) {
    return document({input("i", "int16"), input("h", "float16"), input("b", "int8")},
                    {op("mm", "MatMulOp", operands, "", "float32")});
  };
  const std::string expected = "uint8, int8, float8e3, float8e4, float8e5, bfloat16, float16, float32, float32r";
  checkRefused(text("h ^i"),
               "instruction 'mm': operand 1: 'int16' is no legal operand dtype of a MatMulOp on cayman; expected one "
               "of " +
                   expected,
               &kCayman);
  checkAccepted(text("h i"));
  checkAccepted(text("h b"), &kCayman);
  checkAccepted(text("h i:int8"), &kCayman);
  checkRefused(text("h ^i:int16"),
               "instruction 'mm': operand 1: 'int16' is no legal operand dtype of a MatMulOp on cayman; expected one "
               "of " +
                   expected,
               &kCayman);
}

TEST_CASE("tensors, instructions and views have dtypes that the generation has") {
  const auto text = [](const std::string& tensorDtype, const std::string& dtype, const std::string& word,
                       const std::string& dst) {
    return document({input("x"), sbuf("t", tensorDtype)},
                    {op("p", "ActivationOp", word, dst, dtype, R"("reinterpret": true)")});
  };
  checkRefused(text("^float8_e4m3fn", "float32", "x", "t"), "tensor 't': cayman has no dtype 'float8_e4m3fn'",
               &kCayman);
  checkRefused(text("float32", "^float8_e4m3fn", "x", "t"), "instruction 'p': cayman has no dtype 'float8_e4m3fn'",
               &kCayman);
  checkRefused(text("float32", "float32", "^x:float8_e4m3fn", "t"),
               "instruction 'p': operand 0: cayman has no dtype 'float8_e4m3fn'", &kCayman);
  checkRefused(text("float32", "float32", "x", "^t:float8_e4m3fn"),
               "instruction 'p': dst: cayman has no dtype 'float8_e4m3fn'", &kCayman);
  checkAccepted(text("float8_e4m3fn", "float8_e4m3fn", "x:float8_e4m3fn", "t:float8_e4m3fn"), &kMariana);
  checkAccepted(text("float8_e4m3fn", "float8_e4m3fn", "x:float8_e4m3fn", "t:float8_e4m3fn"));
}

TEST_CASE("each dtype is accepted from its first generation on") {
  for (const DtypeInfo& info : kDtypes) {
    for (const Target& row : targets()) {
      CAPTURE(info.name);
      CAPTURE(row.name);
      const Document d(document({input("x", std::string(info.name))}, {}));
      CHECK(verify(d.graph, &row).hasErrors() == (row.generation < info.firstGeneration));
    }
  }
}

TEST_CASE("allowed_dtypes may name any dtype") {
  checkAccepted(document({input("x")}, {op("p", "TensorScalarGEPOp", "x", "", "float32",
                                           R"("allowed_dtypes": ["float8_e5m2_x4", "uint64"])")}),
                &kTonga);
}

TEST_CASE("an opaque op is warned of once per name, where it stands first") {
  const Marked marked(document({input("x")}, {op("a", "^LRN", "x", ""), op("b", "^Upsample", "x", ""),
                                              op("c", "LRN", "x", ""), op("d", "ActivationOp", "x", "")}));
  const Document d(marked.text);
  const Diagnostics found = verify(d.graph, &kCayman);
  CHECK_FALSE(found.hasErrors());
  REQUIRE(found.size() == 2);
  CHECK(formatDiagnostic(*found.begin(), &d.source) ==
        "g.json:" + marked.places[0] + ": warning: unknown op 'LRN': its instructions are left alone");
  CHECK(formatDiagnostic(*(found.begin() + 1), &d.source) ==
        "g.json:" + marked.places[1] + ": warning: unknown op 'Upsample': its instructions are left alone");
}

TEST_CASE("several faults are all told, up to twenty") {
  std::vector<std::string> instructions;
  for (int i = 0; i < 25; ++i) instructions.push_back(op("p" + std::to_string(i), "ActivationOp", "t", "t", "int8"));
  const Document d(document({sbuf("t", "int16")}, instructions));
  const Diagnostics found = verify(d.graph, nullptr);
  CHECK(found.full());
  CHECK(found.size() == 20);
  CHECK(found.exitCode() == ExitCode::kRefused);
}
