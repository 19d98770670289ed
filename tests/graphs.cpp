#include "graphs.h"

#include <doctest/doctest.h>

#include <sstream>
#include <utility>

#include "dtypemut/io/base64.h"
#include "dtypemut/io/ir_reader.h"

namespace dtypemut::graphs {
namespace {

/// The mark, if the word has one, and then the rest of it as a JSON string.
std::string stringText(std::string_view word) {
  std::string spelled;
  if (word.starts_with('^')) {
    spelled = "^";
    word.remove_prefix(1);
  }
  return spelled + '"' + std::string(word) + '"';
}

std::string reference(std::string_view word) {
  const std::size_t colon = word.find(':');
  std::string spelled = R"({"tensor": )" + stringText(word.substr(0, colon));
  if (colon != std::string_view::npos)
    spelled += R"(, "reinterpret": true, "dtype": )" + stringText(word.substr(colon + 1));
  return spelled + "}";
}

std::string operandText(const std::string& word) {
  const std::string mark = word.starts_with('^') ? "^" : "";
  const std::string_view bare = std::string_view(word).substr(mark.size());
  if (bare.starts_with('#')) return R"({"imm": )" + mark + std::string(bare.substr(1)) + "}";
  if (bare.starts_with('@')) return R"({"inst": )" + stringText(mark + std::string(bare.substr(1))) + "}";
  return reference(word);
}

std::string more(const std::string& rest) { return (rest.empty() ? "" : ", " + rest) + "}"; }

}  // namespace

std::string tensor(const std::string& name, const std::string& dtype, const std::string& rest) {
  return R"({"name": )" + stringText(name) + R"(, "dtype": )" + stringText(dtype) + R"(, "shape": [4])" + more(rest);
}

std::string input(const std::string& name, const std::string& dtype) {
  return tensor(name, dtype, R"("kind": "input")");
}

std::string output(const std::string& name, const std::string& dtype) {
  return tensor(name, dtype, R"("kind": "output")");
}

std::string sbuf(const std::string& name, const std::string& dtype) {
  return tensor(name, dtype, R"("space": "sbuf")");
}

std::string psum(const std::string& name, const std::string& dtype) {
  return tensor(name, dtype, R"("space": "psum")");
}

std::string splat(const std::string& name, const std::string& dtype) {
  return tensor(name, dtype, R"("kind": "const", "data": {"splat": 1})");
}

std::string weight(const std::string& name, const std::string& dtype) {
  const std::vector<std::byte> zeros(4 * containerBytes(*dtypeFromName(dtype)));
  return tensor(name, dtype, R"("kind": "const", "data": {"base64": ")" + encodeBase64(zeros) + "\"}");
}

std::string op(const std::string& name, const std::string& opName, const std::string& operands, const std::string& dst,
               const std::string& dtype, const std::string& rest) {
  std::string text = R"({"name": )" + stringText(name) + R"(, "op": )" + stringText(opName);
  if (!dtype.empty()) text += R"(, "dtype": )" + stringText(dtype);
  text += R"(, "operands": [)";
  std::istringstream words(operands);
  std::string separator;
  for (std::string word; words >> word; separator = ", ") text += separator + operandText(word);
  text += "]";
  if (!dst.empty()) text += R"(, "dst": )" + reference(dst);
  return text + more(rest);
}

std::string document(const std::vector<std::string>& tensors, const std::vector<std::string>& instructions) {
  std::string text = R"({"tensors": [)";
  std::string separator = "\n";
  for (const std::string& line : tensors) text += std::exchange(separator, ",\n") + line;
  text += "\n], \"instructions\": [";
  separator = "\n";
  for (const std::string& line : instructions) text += std::exchange(separator, ",\n") + line;
  return text + "\n]}\n";
}

Marked::Marked(std::string_view textWithMarks) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (char c : textWithMarks) {
    if (c == '^') {
      places.push_back(std::to_string(line) + ":" + std::to_string(column));
      continue;
    }
    text += c;
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
}

namespace {

Graph graphOf(const Source& source) {
  ReadGraph read = readGraph(source);
  REQUIRE_MESSAGE(!read.diagnostics.hasErrors(), errorText(read.diagnostics, source) << source.text());
  return std::move(*read.graph);
}

}  // namespace

Document::Document(std::string_view text, const std::string& folder)
    : source("g.json", text, folder), graph(graphOf(source)) {}

TensorId Document::tensor(std::string_view name) const {
  const TensorId id = graph.findTensor(name);
  REQUIRE_MESSAGE(id != TensorId::kNone, name);
  return id;
}

InstructionId Document::instruction(std::string_view name) const {
  const InstructionId id = graph.findInstruction(name);
  REQUIRE_MESSAGE(id != InstructionId::kNone, name);
  return id;
}

OperandId Document::operand(std::string_view instruction, std::uint32_t index) const {
  const Instruction& owner = graph.instruction(this->instruction(instruction));
  REQUIRE(index < owner.operandCount);
  return graph.operandId(owner, index);
}

std::vector<std::uint64_t> snapshot(const Graph& graph) {
  std::vector<std::uint64_t> facts = {graph.tensorCount()};
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId{i});
    facts.insert(facts.end(), {static_cast<std::uint64_t>(tensor.dtype), tensor.loadCount, tensor.storeCount});
  }
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i)
    facts.push_back(static_cast<std::uint64_t>(graph.instruction(InstructionId{i}).dtype));
  for (std::uint32_t i = 0; i < graph.operandCount(); ++i) facts.push_back(graph.operand(OperandId{i}).target);
  return facts;
}

std::string errorText(const Diagnostics& diagnostics, const Source& source) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    std::string line = formatDiagnostic(diagnostic, &source);
    if (line.starts_with(source.name() + ":")) line = line.substr(source.name().size() + 1);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace dtypemut::graphs
