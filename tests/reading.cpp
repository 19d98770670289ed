#include "reading.h"

#include <algorithm>
#include <sstream>

#include "dtypemut/io/ir_reader.h"

namespace dtypemut {

std::string enlarged(const std::string& text) {
  const std::string space(std::size_t{1} << 20, ' ');
  return text.substr(0, 1) + space + text.substr(std::min<std::size_t>(1, text.size()));
}

std::string described(const Source& source, unsigned threads) {
  const ReadGraph read = readGraph(source, threads);
  std::ostringstream text;
  for (const Diagnostic& diagnostic : read.diagnostics) {
    text << (diagnostic.severity == Severity::kError ? "error" : "no error");
    if (diagnostic.offset) text << " at byte " << *diagnostic.offset;
    text << ": " << diagnostic.message << '\n';
  }
  if (!read.graph) return text.str();
  const Graph& graph = *read.graph;
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId{i});
    text << "tensor " << tensor.name << ' ' << tensor.nameToken << ' ' << tensor.dtypeToken << ' '
         << dtypeName(tensor.dtype) << ' ' << static_cast<int>(tensor.space) << static_cast<int>(tensor.kind) << ' '
         << tensor.loadCount << ' ' << tensor.storeCount << " [";
    for (const std::uint64_t dimension : graph.shape(tensor)) text << dimension << ' ';
    text << ']';
    if (tensor.constData != UINT32_MAX) {
      const ConstData& data = graph.constData(tensor);
      text << static_cast<int>(data.form) << ' ' << data.tensorToken << ' ' << data.dataToken << ' ' << data.valueToken
           << ' ' << data.file << ' ' << data.entry << ' ' << data.fileOffset;
    }
    text << '\n';
  }
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& instruction = graph.instruction(InstructionId{i});
    text << "instruction " << instruction.name << ' ' << instruction.token << ' ' << instruction.nameToken << ' '
         << instruction.dtypeToken << ' ' << instruction.dstToken << ' ' << static_cast<std::uint32_t>(instruction.dst)
         << ' ' << static_cast<int>(instruction.op) << ' ' << dtypeName(instruction.dtype) << ' '
         << dtypeName(instruction.dstViewDtype) << ' ' << graph.users(InstructionId{i});
    for (const Operand& operand : graph.operands(instruction))
      text << " (" << operand.token << ' ' << operand.target << ' ' << static_cast<int>(operand.kind) << ' '
           << dtypeName(operand.viewDtype) << ')';
    text << '\n';
  }
  for (const OpaqueOp& op : graph.opaqueOps()) text << "opaque " << op.name << ' ' << op.token << '\n';
  return text.str();
}

}  // namespace dtypemut
