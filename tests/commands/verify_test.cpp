#include "dtypemut/commands/verify.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "files.h"
#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

std::string faults(const std::string& text, const std::string& folder = ".") {
  const Source source("g.json", text, folder);
  return errorText(readAndVerify(source, nullptr).diagnostics, source);
}

/// The document has one fault, at its mark.
void checkRefused(const std::string& textWithMark, const std::string& message, const std::string& folder = ".") {
  const Marked marked(textWithMark);
  CAPTURE(marked.text);
  REQUIRE(marked.places.size() == 1);
  CHECK(faults(marked.text, folder) == marked.places[0] + ": error: " + message);
}

void checkAccepted(const std::string& text, const std::string& folder = ".") {
  CAPTURE(text);
  CHECK(faults(text, folder) == "");
}

std::string constant(const std::string& dtype, const std::string& data, const std::string& shape = "[4]") {
  return R"({"tensors": [{"name": "w", "dtype": ")" + dtype + R"(", "shape": )" + shape +
         R"(, "kind": "const", "data": )" + data + R"(}], "instructions": []})";
}

std::string withTensor(const std::string& members) { return document({"{" + members + "}"}, {}); }

/// Beside an input x and an internal tensor t.
std::string withInstruction(const std::string& members) { return document({input("x"), sbuf("t")}, {members}); }

}  // namespace

TEST_CASE("two tensors or instructions of one name are refused, both places named") {
  const Marked tensors(document({input("^x"), input("y"), input("^x")}, {}));
  CHECK(faults(tensors.text) == tensors.places[1] + ": error: tensor 'x': another tensor has this name");
  const Source source("g.json", tensors.text);
  const CheckedGraph checked = readAndVerify(source, nullptr);
  REQUIRE(checked.diagnostics.size() == 2);
  CHECK(formatDiagnostic(*(checked.diagnostics.begin() + 1), &source) ==
        "g.json:" + tensors.places[0] + ": note: the other tensor 'x'");

  const Marked instructions(document({input("x")}, {op("^p", "ActivationOp", "x", ""), op("^p", "MemsetOp", "", "")}));
  CHECK(faults(instructions.text) ==
        instructions.places[1] + ": error: instruction 'p': another instruction has this name");
  checkAccepted(document({input("same")}, {op("same", "ActivationOp", "same", "")}));
  checkRefused(document({input("x"), sbuf(R"(^\u0078)")}, {}), "tensor 'x': another tensor has this name");
}

TEST_CASE("names are there, and not empty") {
  checkRefused(document({input("^")}, {}), "tensor 0: 'name' is empty");
  checkRefused(document({}, {op("^", "MemsetOp", "", "")}), "instruction 0: 'name' is empty");
  checkRefused(document({R"(^{"dtype": "int8", "shape": []})"}, {}), "tensor 0: has no 'name'");
  checkRefused(document({}, {R"(^{"op": "MemsetOp"})"}), "instruction 0: has no 'name'");
}

TEST_CASE("references resolve") {
  checkRefused(withInstruction(op("p", "ActivationOp", "^X1", "t")),
               "instruction 'p': operand 0: unknown tensor 'X1' (did you mean 'x'?)");
  checkRefused(document({input("weights")}, {op("p", "ActivationOp", "^weight", "")}),
               "instruction 'p': operand 0: unknown tensor 'weight' (did you mean 'weights'?)");
  checkRefused(withInstruction(op("p", "ActivationOp", "x", "^u")), "instruction 'p': dst: unknown tensor 'u'");
  checkRefused(
      document({input("x")}, {op("producer", "ActivationOp", "x", ""), op("c", "TensorTensorOp", "x ^@producers", "")}),
      "instruction 'c': operand 1: unknown instruction 'producers' (did you mean 'producer'?)");
  checkRefused(document({input("x")}, {op("c", "ActivationOp", "^@p", ""), op("p", "ActivationOp", "x", "")}),
               "instruction 'c': operand 0: instruction 'p' does not stand earlier in the list");
  checkRefused(withInstruction(op("p", "ActivationOp", "^@p", "t")),
               "instruction 'p': operand 0: instruction 'p' does not stand earlier in the list");
}

TEST_CASE("an unknown dtype name is told with its owner, its place, and the nearest known name") {
  checkRefused(document({input("x", "^bf17")}, {}), "tensor 'x': unknown dtype 'bf17' (did you mean 'bfloat16'?)");
  checkRefused(document({input("x", "^bf16")}, {}), "tensor 'x': unknown dtype 'bf16' (did you mean 'bfloat16'?)");
  checkRefused(document({input("x", "^Float32")}, {}), "tensor 'x': unknown dtype 'Float32' (did you mean 'float32'?)");
  checkRefused(withInstruction(op("p", "ActivationOp", "x", "", "^float31")),
               "instruction 'p': unknown dtype 'float31' (did you mean 'float32'?)");
  checkRefused(withInstruction(op("p", "ActivationOp", "x:^flaot16", "")),
               "instruction 'p': operand 0: unknown dtype 'flaot16' (did you mean 'float16'?)");
}

TEST_CASE("a load has one tensor operand, a store one tensor or instruction and a dst") {
  checkRefused(withInstruction("^" + op("l", "SBAtomLoad", "x x", "t")),
               "instruction 'l': an SBAtomLoad must have exactly one operand, not 2");
  checkRefused(withInstruction("^" + op("l", "SBAtomLoad", "", "t")),
               "instruction 'l': an SBAtomLoad must have exactly one operand, not 0");
  checkRefused(withInstruction(op("l", "SBAtomLoad", "#^1", "t")),
               "instruction 'l': the operand of an SBAtomLoad must be a tensor");
  checkRefused(document({input("x")}, {op("p", "ActivationOp", "x", ""), op("l", "SBAtomLoad", "^@p", "")}),
               "instruction 'l': the operand of an SBAtomLoad must be a tensor");
  checkAccepted(withInstruction(op("l", "SBAtomLoad", "x", "")));
  checkRefused(withInstruction(op("s", "SBAtomStore", "#^1", "t")),
               "instruction 's': the operand of an SBAtomStore must be a tensor or an instruction");
  checkRefused(withInstruction("^" + op("s", "SBAtomStore", "x", "")),
               "instruction 's': an SBAtomStore must have a 'dst'");
  checkAccepted(
      document({input("x"), output("y")}, {op("p", "ActivationOp", "x", ""), op("s", "SBAtomStore", "@p", "y")}));
}

TEST_CASE("an operand is one thing, and a view says its dtype") {
  const auto text = [](const std::string& operand) {
    return document({input("x")},
                    {op("p", "ActivationOp", "x", ""),
                     R"({"name": "c", "op": "ActivationOp", "dtype": "int8", "operands": [)" + operand + "]}"});
  };
  const std::string who = "instruction 'c': operand 0: ";
  checkRefused(text(R"(^{})"), who + "must have exactly one of 'tensor', 'inst' and 'imm'");
  checkRefused(text(R"(^{"tensor": "x", "inst": "p"})"), who + "must have exactly one of 'tensor', 'inst' and 'imm'");
  checkRefused(text(R"(^{"tensor": "x", "imm": 1})"), who + "must have exactly one of 'tensor', 'inst' and 'imm'");
  checkRefused(text(R"(^{"tensor": "x", "reinterpret": true})"), who + "a reinterpreting view must have a 'dtype'");
  checkRefused(text(R"({"tensor": "x", "dtype": ^"int8"})"),
               who + "'dtype' is allowed only beside \"reinterpret\": true");
  checkRefused(text(R"({"tensor": "x", "reinterpret": false, "dtype": ^"int8"})"),
               who + "'dtype' is allowed only beside \"reinterpret\": true");
  checkRefused(text(R"({"inst": "p", "reinterpret": ^true})"), who + "'reinterpret' is not allowed beside 'inst'");
  checkRefused(text(R"({"inst": "p", "dtype": ^"int8"})"), who + "'dtype' is not allowed beside 'inst'");
  checkAccepted(text(R"({"imm": {"any": [null, "-inf"]}, "reinterpret": 5, "dtype": "nonsense"})"));
  checkAccepted(text(R"({"tensor": "x", "reinterpret": true, "dtype": "int64"})"));
  checkAccepted(text(R"({"tensor": "x", "reinterpret": false, "key": 1})"));
}

TEST_CASE("a dtype is required with a dst") {
  checkRefused(withInstruction("^" + op("p", "ActivationOp", "x", "t", "")),
               "instruction 'p': has a 'dst' but no 'dtype'");
  checkAccepted(withInstruction(op("p", "SendRecvOp", "x", "", "")));
  checkAccepted(withInstruction(R"({"name": "p", "op": "SendRecvOp", "dst": null})"));
}

TEST_CASE("interface tensors live in dram, and consts alone have data") {
  for (const char* kind : {"input", "output"})
    checkRefused(withTensor(R"("name": "a", "dtype": "int8", "shape": [], "kind": ")" + std::string(kind) +
                            R"(", "space": ^"sbuf")"),
                 "tensor 'a': 'space' of an input, output or const tensor must be 'dram', not 'sbuf'");
  checkRefused(document({"^" + tensor("w", "int8", R"("kind": "const")")}, {}),
               "tensor 'w': a const tensor must have 'data'");
  checkRefused(document({tensor("w", "int8", R"("data": ^{"splat": 1})")}, {}),
               "tensor 'w': only a tensor of kind 'const' has 'data'");
  checkRefused(constant("int8", "^{}"),
               "tensor 'w': 'data' must have one of 'splat', 'values', 'base64', 'file' and 'safetensors'");
  checkRefused(constant("int8", R"(^{"splat": 1, "values": [1, 1, 1, 1]})"),
               "tensor 'w': 'data' must have exactly one form, not both 'splat' and 'values'");
}

TEST_CASE("data have the right length") {
  checkRefused(constant("float32", R"({"values": ^[1, 2, 3]})"),
               "tensor 'w': 'values' has 3 elements, but shape [4] has 4");
  checkRefused(constant("float32", R"({"base64": ^"AAAAAA=="})"),
               "tensor 'w': 'base64' has 4 bytes; expected 16 bytes");
  checkAccepted(constant("uint8", R"({"base64": "AAAAAA=="})"));
  checkAccepted(constant("float32", R"({"values": [1, 2, 3, 4]})"));
  checkAccepted(constant("float32", R"({"values": []})", "[4, 0]"));
  checkAccepted(constant("float32", R"({"values": [0.5]})", "[]"));
  checkRefused(constant("float8_e5m2_x4", R"({"base64": ^"AAAAAA=="})"),
               "tensor 'w': 'base64' has 4 bytes; expected 16 bytes");

  const ScratchFolder folder;
  writeFile(folder / "w.bin", std::string(20, '\0'));
  checkAccepted(constant("float32", R"({"file": "w.bin", "offset": 4})"), folder.path());
  checkRefused(constant("float32", R"(^{"file": "w.bin", "offset": 5})"),
               "tensor 'w': " + folder.path() + "/w.bin: has 20 bytes; expected 16 bytes from offset 5", folder.path());
}

TEST_CASE("values and splats are of their dtype") {
  checkRefused(constant("int8", R"({"values": [1, 2, ^128, -128]})"),
               "tensor 'w': element 2 of 'values' is out of the range of int8; found 128");
  checkRefused(
      constant("int8", R"({"values": [1, ^2.0, 3, 4]})"),
      "tensor 'w': element 1 of 'values' must be an integer, spelled without point or exponent, for int8; found 2.0");
  checkAccepted(constant("uint64", R"({"values": [0, 1, 2, 18446744073709551615]})"));
  checkAccepted(constant("int64", R"({"values": [0, 1, 2, -9223372036854775808]})"));
  checkRefused(constant("float16", R"({"values": [1, 2, 3, ^65520]})"),
               "tensor 'w': element 3 of 'values' is beyond the range of float16; found 65520");
  checkAccepted(constant("float16", R"({"values": [65519, -0, "nan", "-inf"]})"));
  checkRefused(constant("float32", R"({"values": [1, 2, 3, ^"NaN"]})"),
               "tensor 'w': element 3 of 'values' must be a number, \"nan\", \"inf\" or \"-inf\"; found \"NaN\"");
  checkRefused(constant("float8_e4m3fn_x4", R"({"values": ^[1, 2, 3, 4]})"),
               "tensor 'w': 'values' cannot give the elements of packed float8_e4m3fn_x4; use 'base64'");
  checkRefused(constant("int16", R"({"splat": ^0.5})"),
               "tensor 'w': 'splat' must be an integer, spelled without point or exponent, for int16; found 0.5");
  checkAccepted(constant("float8e4", R"({"splat": 1e30})"));
}

TEST_CASE("faults of nodes, references and data are told together") {
  const Marked marked(document({tensor("w", "^float31", R"("kind": "input")"), sbuf("t"),
                                tensor("v", "int8", R"("kind": "const", "data": {"splat": ^300})")},
                               {op("p", "ActivationOp", "^unknown", "t"), op("q", "ActivationOp", "x:^int9", "t")}));
  const std::string found = faults(marked.text);
  for (const std::string& place : marked.places) CHECK(found.find(place + ": error: ") != std::string::npos);
}
