// consumer IN OUT: a policy of one's own, which gives bfloat16 to what matmuls read, unless they have "logits" in
// their name.
#include <dtypemut/io/ir_reader.h>
#include <dtypemut/io/ir_writer.h>
#include <dtypemut/passes/dtype_mutator.h>

using namespace dtypemut;

int main(int, char** argv) {
  const Result<Source> source = Source::read(argv[1]);
  ReadGraph read = source ? readGraph(*source) : ReadGraph{};
  if (!read.graph || read.diagnostics.hasErrors()) return 1;
  Graph& graph = *read.graph;
  DTypeMutator mutator(false, graph, target(Architecture::kCayman));
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& matmul = graph.instruction(InstructionId{i});
    if (matmul.kind() != OpKind::kMatmul || matmul.name.find("logits") != std::string_view::npos) continue;
    for (std::uint32_t k = 0; k < matmul.operandCount; ++k)
      mutator.matchOrMutateDstTy(graph.operandId(matmul, k), Dtype::kBfloat16);
  }
  Weights weights(*source, graph);
  OutputSet outputs;
  const Result<OutputFile*> output = outputs.open(argv[2]);
  return output && writeGraph(*source, graph, weights, {}, **output) && outputs.commit() ? 0 : 3;
}
