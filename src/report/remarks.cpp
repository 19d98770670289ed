#include "dtypemut/report/remarks.h"

#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

std::string nameOrNull(const Graph& graph, InstructionId id) {
  return id == InstructionId::kNone ? "null" : quoteString(graph.instruction(id).name);
}

/// A value of the document on one line: between tokens, white space is blanks.
std::string onOneLine(std::string_view spelled) {
  std::string line(spelled);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return line;
}

}  // namespace

void writeRemarks(const DecisionLog& log, OutputFile& output) {
  const Graph& graph = log.graph;
  const std::string file = quoteString(log.source.name());
  for (const Decision& decision : log.decisions) {
    const Operand& operand = graph.operand(decision.operand);
    const Instruction& requester = graph.instruction(operand.owner);
    const TensorId tensor = graph.tensorBehind(operand);
    const auto loc = unknownKey(log, requester, "loc");
    std::string line = "{\"graph\": " + file;
    line += ", \"requester\": " + quoteString(requester.name);
    line += ", \"operand\": " + std::to_string(graph.operandIndex(decision.operand));
    line += ", \"producer\": " + nameOrNull(graph, decision.producer);
    line += ", \"tensor\": " + (tensor == TensorId::kNone ? "null" : quoteString(graph.tensor(tensor).name));
    line += ", \"state\": \"" + std::string(stateName(decision.state)) + "\"";
    line += ", \"reason\": " + (decision.state.mismatch() ? quoteString(reasonInfo(decision.reason).name) : "null");
    line += ", \"gate\": \"" + std::string(gateOf(log, decision)) + "\"";
    line += ", \"loc\": " + (loc ? onOneLine(*loc) : "null");
    line += ", \"message\": " + quoteString(sentence(log, decision)) + "}\n";
    output.write(line);
  }
}

}  // namespace dtypemut
