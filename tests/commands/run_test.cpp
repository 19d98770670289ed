// What has gone wrong in other tools of this kind, as far as it is a matter of graphs and of weights in them.
#include "dtypemut/commands/run.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "dtypemut/commands/verify.h"
#include "files.h"
#include "graphs.h"

using namespace dtypemut;
using namespace dtypemut::graphs;
namespace fs = std::filesystem;

namespace {

/// A folder with a graph, and a run to bfloat16 for cayman on it.
class Folder {
 public:
  explicit Folder(const std::string& text) {
    options.input = scratch / "g.json";
    options.output = scratch / "out.json";
    options.target = target(Architecture::kCayman);
    options.quiet = true;
    writeFile(options.input, text);
  }

  ExitCode run() {
    errors.clear();
    return dtypemut::run(options, [&](Severity severity, const std::string& line) {
      if (severity == Severity::kError) errors += line + "\n";
    });
  }

  /// The output of a run that must succeed, and whose result must verify.
  std::string result() {
    const ExitCode exitCode = run();
    REQUIRE_MESSAGE(exitCode == ExitCode::kDone, errors);
    const auto source = Source::read(options.output);
    REQUIRE(source);
    CHECK(errorText(readAndVerify(*source, &options.target).diagnostics, *source) == "");
    return std::string(source->text());
  }

  ScratchFolder scratch;
  RunOptions options;
  std::string errors;
};

std::string resultOf(const std::string& text) { return Folder(text).result(); }

/// `text` with each of these pieces, which must be there once, replaced.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& pieces) {
  for (const auto& [from, to] : pieces) {
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    REQUIRE_MESSAGE(text.find(from, at + 1) == std::string::npos, from);
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A weight of two elements with that data, loaded to t, which c reads.
std::string loadedWeight(const std::string& data) {
  return R"({"tensors": [{"name": "w", "dtype": "float32", "shape": [2], "kind": "const", "data": )" + data + R"(},
  {"name": "t", "dtype":"float32", "shape": [2], "space": "sbuf"}],
 "instructions": [{"name": "ld", "op": "SBAtomLoad", "operands": [{"tensor": "w"}], "dst": {"tensor": "t"}, "dtype": "float32"},
  {"name": "c", "op": "ActivationOp", "operands": [{"tensor": "t"}], "dtype": "int8"}]})";
}

/// What becomes of it, `data` apart.
std::string castWeight(const std::string& data) {
  return R"({"tensors": [{"name": "w_8_4", "dtype": "bfloat16", "shape": [2], "kind": "const", "data": )" + data + R"(},
  {"name": "t", "dtype":"bfloat16", "shape": [2], "space": "sbuf"}],
 "instructions": [{"name": "ld", "op": "SBAtomLoad", "operands": [{"tensor": "w_8_4"}], "dst": {"tensor": "t"}, "dtype": "bfloat16"},
  {"name": "c", "op": "ActivationOp", "operands": [{"tensor": "t"}], "dtype": "int8"}]})";
}

/// The bytes of 1.0 and -2.0.
const std::string kFloats("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8);
const std::string kBfloats("\x80\x3F\x00\xC0", 4);

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string dataSection(const std::string& safetensorsFile) {
  std::uint64_t size = 0;
  for (std::size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(safetensorsFile[i]);
  return safetensorsFile.substr(8 + size);
}

}  // namespace

TEST_CASE("the tool on its own output: nothing changes, no name clashes") {
  Folder folder(loadedWeight(R"({"values": [1, 2]})"));
  const std::string once = folder.result();
  writeFile(folder.options.input, once);
  CHECK(folder.result() == once);
}

TEST_CASE("a name that the first run would give is taken") {
  const std::string text = document({weight("w"), sbuf("t"), input("w_8_5")},
                                    {op("ld", "SBAtomLoad", "w", "t"), op("c", "ActivationOp", "t", "")});
  CHECK(resultOf(text).find(R"("name": "w_8_6")") != std::string::npos);
}

TEST_CASE("an output that is also read inside keeps its name and dtype, and its readers stay connected") {
  const std::string text = document(
      {input("x"), output("y"), sbuf("t")},
      {op("p", "ActivationOp", "x", "y"), op("c", "ActivationOp", "y", "t"), op("d", "TensorTensorOp", "@p t", "")});
  CHECK(resultOf(text) == replaced(text, {{R"("t", "dtype": "float32")", R"("t", "dtype": "bfloat16")"},
                                          {R"("c", "op": "ActivationOp", "dtype": "float32")",
                                           R"("c", "op": "ActivationOp", "dtype": "bfloat16")"}}));
}

TEST_CASE("a buffer that is stored twice is not retyped by one of its stores") {
  const std::string text =
      document({input("x"), sbuf("t")}, {op("p", "ActivationOp", "x", "t"), op("q", "TensorTensorOp", "x", "t"),
                                         op("c", "ActivationOp", "t", ""), op("d", "ActivationOp", "@p", "")});
  CHECK(resultOf(text) == text);
}

TEST_CASE("an op that must stay reads a narrow value: untouched") {
  const std::string text =
      document({input("b", "bfloat16"), sbuf("t", "bfloat16"), sbuf("m", "bfloat16"), output("y", "bfloat16")},
               {op("p", "ActivationOp", "b", "t", "bfloat16"), op("m", "TransposeOp", "t", "m", "bfloat16"),
                op("o", "LRN", "@p", "", "bfloat16"), op("st", "SBAtomStore", "m", "y", "bfloat16"),
                op("fixed", "SundaBNStats", "@m", "", "float32", R"("can_mutate_dst_ty": false)")});
  CHECK(resultOf(text) == text);
}

TEST_CASE("integers beside floats are not retyped") {
  const std::string text = document({input("i", "int32"), sbuf("k", "int32"), input("x"), sbuf("t")},
                                    {op("pk", "TensorCopyOp", "i", "k", "int32"), op("p", "TensorCopyOp", "x", "t"),
                                     op("c", "TensorTensorOp", "t k", "")});
  CHECK(resultOf(text) == replaced(text, {{R"("t", "dtype": "float32")", R"("t", "dtype": "bfloat16")"},
                                          {R"("p", "op": "TensorCopyOp", "dtype": "float32")",
                                           R"("p", "op": "TensorCopyOp", "dtype": "bfloat16")"}}));
}

TEST_CASE("bits that a view reads as another dtype are not retyped") {
  for (const char* view : {"t:int32", "t:float32"}) {
    const std::string text =
        document({input("x"), sbuf("t")}, {op("p", "TensorCopyOp", "x", "t"), op("c", "TensorTensorOp", view, "")});
    CHECK(resultOf(text) == text);
  }
}

TEST_CASE("a matmul never has one operand narrow and one wide") {
  const std::string text = document({input("x"), sbuf("t"), sbuf("u")},
                                    {op("p", "ActivationOp", "x", "t"), op("q", "ActivationOp", "x", "u"),
                                     op("r", "ActivationOp", "u", ""), op("mm", "MatMulOp", "t u", "")});
  CHECK(resultOf(text) == text);
}

// ---- the dtype of a constant, its bytes, its length and its record change together

TEST_CASE("a weight of values stays one") {
  CHECK(resultOf(loadedWeight(R"({"x": [1],"values": [ 1.0e0 ,-0.3], "y": 1})")) ==
        castWeight(R"({"x": [1],"values": [1, -0.30078125], "y": 1})"));
  CHECK(resultOf(loadedWeight(R"({"values": ["-inf", -0.0]})")) == castWeight(R"({"values": ["-inf", -0.0]})"));
  CHECK(resultOf(loadedWeight(R"({"values": ["nan", 1e38]})")) == castWeight(R"({"values": ["nan", 9.96921e+37]})"));
}

TEST_CASE("a splat keeps its token and changes in place") {
  CHECK(resultOf(loadedWeight(R"({"splat": 0.10})")) ==
        replaced(castWeight(R"({"splat": 0.10})"),
                 {{R"("name": "w_8_4")", R"("name": "w")"}, {R"({"tensor": "w_8_4"})", R"({"tensor": "w"})"}}));
}

TEST_CASE("a weight of base64 stays one, with half the bytes, bf16 1.0 being 80 3F") {
  CHECK(resultOf(loadedWeight(R"({"base64": "AACAPwAAAMA="})")) == castWeight(R"({"base64": "gD8AwA=="})"));
}

TEST_CASE("a weight in a raw file goes to the weights file") {
  Folder folder(loadedWeight(R"({"file": "w.bin", "offset": 3, "note": null})"));
  writeFile(folder.scratch / "w.bin", "abc" + kFloats + "d");
  CHECK(folder.result() == castWeight(R"({"safetensors": "out.safetensors", "tensor": "w_8_4", "note": null})"));
  CHECK(dataSection(readFile(folder.scratch / "out.safetensors")) == kBfloats);
}

TEST_CASE("a weight in a safetensors file goes to the weights file") {
  Folder folder(loadedWeight(R"({"tensor": "v", "safetensors": "m.safetensors"})"));
  writeFile(folder.scratch / "m.safetensors",
            safetensors(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", kFloats));
  CHECK(folder.result() == castWeight(R"({"safetensors": "out.safetensors", "tensor": "w_8_4"})"));
  CHECK(dataSection(readFile(folder.scratch / "out.safetensors")) == kBfloats);
}

TEST_CASE("a weight whose file is not there, or too short, is refused, and nothing is written") {
  for (const bool isShort : {false, true}) {
    Folder folder(loadedWeight(R"({"file": "w.bin"})"));
    if (isShort) writeFile(folder.scratch / "w.bin", "1234567");
    CHECK(folder.run() == (isShort ? ExitCode::kRefused : ExitCode::kFile));
    CHECK(folder.errors.starts_with(folder.options.input + ":1:87: error: tensor 'w': " + folder.scratch.path() +
                                    "/w.bin: "));
    CHECK_FALSE(fs::exists(folder.options.output));
    CHECK(folder.scratch.entryCount() == (isShort ? 2 : 1));
  }
}

TEST_CASE("weight files stand beside the graph, wherever the tool runs, and wherever the result goes") {
  Folder folder(
      replaced(loadedWeight(R"({"file": "weights/w.bin"})"),
               {{R"({"name": "t", "dtype":"float32")",
                 R"({"name": "v", "dtype": "float32", "shape": [2], "kind": "const", "data": {"file": "weights/w.bin"}},
  {"name": "t", "dtype":"float32")"}}));
  fs::create_directories(folder.scratch / "weights");
  fs::create_directories(folder.scratch / "results/here");
  writeFile(folder.scratch / "weights/w.bin", kFloats);
  folder.options.output = folder.scratch / "results/here/out.json";
  const std::string result = folder.result();
  CHECK(result.find(R"("data": {"file": "../../weights/w.bin"})") != std::string::npos);
  CHECK(result.find(R"("data": {"safetensors": "out.safetensors", "tensor": "w_8_5"})") != std::string::npos);
  CHECK(dataSection(readFile(folder.scratch / "results/here/out.safetensors")) == kBfloats);
}
