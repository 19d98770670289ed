// Large graphs for benches, and the least that reading and writing one can cost.
//
//   scale_tool generate N       a valid graph of about N instructions on stdout, about 300 bytes each
//   scale_tool phases IN        what each phase of `run` takes, in milliseconds
//   scale_tool floor IN OUT     walks IN with RapidJSON's bare SAX reader and copies it to OUT

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "dtypemut/io/ir_reader.h"
#include "dtypemut/io/ir_writer.h"
#include "dtypemut/io/source.h"
#include "dtypemut/ir/verify.h"
#include "dtypemut/passes/joint.h"

namespace {

constexpr unsigned kFloorFlags =
    rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;

/// Blocks of 16 instructions, each of them a layer: a chain of compute ops, weights with loads of their own, a matmul,
/// a value with eight readers, a psum result and a store.
class Generator {
 public:
  explicit Generator(long instructions) : layers_((instructions + kPerLayer - 1) / kPerLayer) {}

  void print() {
    std::cout << "{\n  \"version\": 1,\n  \"name\": \"scale\",\n  \"tensors\": [\n";
    tensor("model/input", "dram", ", \"kind\": \"input\"");
    for (long i = 0; i < layers_; ++i) printTensors(scope(i));
    tensor("model/output", "dram", ", \"kind\": \"output\"", true);
    std::cout << "  ],\n  \"instructions\": [\n";
    std::string x = "model/input";
    for (long i = 0; i < layers_; ++i) x = printInstructions(scope(i), x);
    instruction("model/store_output", "SBAtomStore", {x}, "model/output", true);
    std::cout << "  ]\n}\n";
  }

 private:
  static constexpr int kPerLayer = 16;
  static constexpr int kReaders = 8;

  /// Most names are short, and some as long as those that frameworks make.
  static std::string scope(long i) {
    const std::string number = std::to_string(i);
    return i % 8 == 0 ? "model/encoder/layer_" + number + "/attention/self/query_key_value/"
                      : "encoder/" + number + "/";
  }

  static void tensor(const std::string& name, const char* space, const std::string& more = "", bool last = false) {
    std::cout << "    {\"name\": \"" << name << "\", \"dtype\": \"float32\", \"shape\": [8, 4], \"space\": \"" << space
              << '"' << more << (last ? "}\n" : "},\n");
  }

  static void instruction(const std::string& name, const char* op, std::initializer_list<std::string> operands,
                          const std::string& dst, bool last = false) {
    std::cout << "    {\"name\": \"" << name << "\", \"op\": \"" << op << "\", \"dtype\": \"float32\", \"operands\": [";
    const char* separator = "";
    for (const std::string& operand : operands) {
      std::cout << separator << "{\"tensor\": \"" << operand << "\"}";
      separator = ", ";
    }
    std::cout << "], \"dst\": {\"tensor\": \"" << dst << (last ? "\"}}\n" : "\"}},\n");
  }

  void printTensors(const std::string& s) {
    tensor(s + "weight", "dram", ", \"kind\": \"const\", \"data\": {\"splat\": 0.5}");
    tensor(s + "bias", "dram", R"(, "kind": "const", "data": {"base64": ")" + std::string(171, 'A') + "=\"}");
    for (const char* name : {"weight.sb", "bias.sb", "x.sb", "wide", "sum", "out"}) tensor(s + name, "sbuf");
    tensor(s + "ps", "psum");
    for (int i = 0; i < kReaders; ++i) tensor(s + "reader_" + std::to_string(i), "sbuf");
  }

  /// Returns the tensor that the next layer reads.
  static std::string printInstructions(const std::string& s, const std::string& x) {
    instruction(s + "load_weight", "SBAtomLoad", {s + "weight"}, s + "weight.sb");
    instruction(s + "load_bias", "SBAtomLoad", {s + "bias"}, s + "bias.sb");
    instruction(s + "copy_x", x == "model/input" ? "SBAtomLoad" : "TensorCopyOp", {x}, s + "x.sb");
    instruction(s + "matmul", "MatMulOp", {s + "weight.sb", s + "x.sb"}, s + "ps");
    instruction(s + "add_bias", "TensorTensorOp", {s + "ps", s + "bias.sb"}, s + "wide");
    for (int i = 0; i < kReaders; ++i)
      instruction(s + "activation_" + std::to_string(i), "ActivationOp", {s + "wide"},
                  s + "reader_" + std::to_string(i));
    instruction(s + "sum_01", "TensorTensorOp", {s + "reader_0", s + "reader_1"}, s + "sum");
    instruction(s + "sum_02", "TensorTensorOp", {s + "sum", s + "reader_2"}, s + "out");
    return s + "out";
  }

  long layers_;
};

int measureFloor(const std::string& in, const std::string& out) {
  const auto source = dtypemut::Source::read(in);
  if (!source) return EXIT_FAILURE;
  rapidjson::MemoryStream stream(source->text().data(), source->text().size());
  rapidjson::BaseReaderHandler<> handler;
  rapidjson::Reader reader;
  if (reader.Parse<kFloorFlags>(stream, handler).IsError()) return EXIT_FAILURE;
  std::ofstream copy(out, std::ios::binary);
  copy.write(source->text().data(), static_cast<std::streamsize>(source->text().size()));
  return copy.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
}

class Stopwatch {
 public:
  void lap(const char* phase) {
    const auto now = std::chrono::steady_clock::now();
    std::printf("%-22s %8.0f\n", phase, std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = std::chrono::steady_clock::now();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

int measurePhases(const std::string& in) {
  using namespace dtypemut;
  const Target target = dtypemut::target(Architecture::kCayman);
  Stopwatch watch;
  const auto source = Source::read(in);
  if (!source) return EXIT_FAILURE;
  watch.lap("read the file");
  rapidjson::MemoryStream stream(source->text().data(), source->text().size());
  rapidjson::BaseReaderHandler<> handler;
  rapidjson::Reader().Parse<kFloorFlags>(stream, handler);
  watch.lap("(a bare SAX walk)");
  ReadGraph read = readGraph(*source);
  watch.lap("read the graph");
  if (read.diagnostics.hasErrors()) return EXIT_FAILURE;
  Graph& graph = *read.graph;
  if (verify(graph, &target).hasErrors()) return EXIT_FAILURE;
  watch.lap("verify");
  Weights weights(*source, graph);
  if (weights.check().hasErrors()) return EXIT_FAILURE;
  watch.lap("check weights");
  DTypeMutator mutator(false, graph, target);
  decideJointly(mutator, {});
  watch.lap("(decide jointly)");
  propagate(mutator, {}, [](const Decision&) {});
  watch.lap("walk");
  if (verify(graph, &target).hasErrors()) return EXIT_FAILURE;
  watch.lap("verify the result");
  OutputSet outputs;
  const auto output = outputs.open("/dev/null");
  if (!output || !writeGraph(*source, graph, weights, {}, **output)) return EXIT_FAILURE;
  watch.lap("write");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "generate" && argc == 3) {
    Generator(std::atol(argv[2])).print();
    return std::cout.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (command == "phases" && argc == 3) return measurePhases(argv[2]);
  if (command == "floor" && argc == 4) return measureFloor(argv[2], argv[3]);
  std::cerr << "usage: scale_tool generate N | scale_tool phases IN | scale_tool floor IN OUT\n";
  return EXIT_FAILURE;
}
