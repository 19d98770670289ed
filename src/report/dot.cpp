#include "dtypemut/report/dot.h"

#include <algorithm>

#include "dtypemut/io/json_text.h"
#include "dtypemut/report/outcome.h"
#include "dtypemut/types/spelling.h"

namespace dtypemut {
namespace {

struct Look {
  std::string_view line;
  std::string_view fill;
  std::string_view edgeStyle;  // so that colour is not all that tells them apart
};

/// By Outcome.
constexpr Look kLooks[] = {
    {"#6e6e6e", "#f2f2f2", "solid"},
    {"#2f6db0", "#dbe8f6", "solid"},
    {"#b3261e", "#f9dedc", "dashed"},
    {"#2e7d32", "#d9efda", "bold"},
};

const Look& lookOf(Outcome outcome) { return kLooks[static_cast<std::size_t>(outcome)]; }

/// A text of the document on one line, for a quoted string of DOT. Graphviz takes entities for what they stand for, and
/// a backslash for the beginning of an escape.
std::string escaped(std::string_view text) {
  const bool isReadable = isUtf8(text);  // a path need not be
  std::string result;
  for (char c : oneLine(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += isReadable || static_cast<unsigned char>(c) < 0x80 ? c : '?';
    if (c == '&') result += "amp;";
  }
  return result;
}

/// The same for a tooltip: Graphviz before 2.50 looks for escapes twice, which a zero-width space keeps it from
/// finding.
std::string escapedTwice(std::string_view text) {
  std::string result;
  for (char c : escaped(text)) {
    result += c;
    if (c == '\\') result += result.ends_with("\\\\") ? "\u200b" : "";
  }
  return result;
}

class Picture {
 public:
  Picture(const DecisionLog& log, const DotOptions& options)
      : log_(log),
        graph_(log.graph),
        options_(options),
        outcomes_(log),
        isShown_(graph_.instructionCount() + graph_.tensorCount(), !options.around.has_value()),
        isCut_(isShown_.size(), false) {
    collectEdges();
    if (options.around) chooseAround(*options.around);
  }

  void write(OutputFile& output) {
    output.write(head());
    for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i)
      if (const Node node = nodeOf(InstructionId{i}); isShown_[node]) output.write(instruction(InstructionId{i}));
    for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i)
      if (const Node node = nodeOf(TensorId{i}); isShown_[node] && isDrawn(TensorId{i}))
        output.write(tensor(TensorId{i}));
    for (const Edge& edge : edges_)
      if (isShown_[edge.from] && isShown_[edge.to]) output.write(text(edge));
    output.write("}\n");
  }

 private:
  /// Instructions by their number, then tensors.
  using Node = std::uint32_t;

  struct Edge {
    Node from;
    Node to;
    OperandId operand = OperandId::kNone;  // where it ends; kNone where an instruction stores a tensor that is a node
  };

  Node nodeOf(InstructionId id) const { return static_cast<Node>(id); }
  Node nodeOf(TensorId id) const { return graph_.instructionCount() + static_cast<Node>(id); }

  /// Whether a node stands for the tensor.
  bool isDrawn(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.isConst()) return tensor.loadCount > 0 || !hasClone_[static_cast<std::uint32_t>(id)];
    return tensor.isInterface() || tensor.storeCount == 0 || (tensor.storeCount > 1 && tensor.loadCount > 1);
  }

  void collectEdges() {
    hasClone_.assign(graph_.tensorCount(), false);
    for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i)
      if (const TensorId original = graph_.tensor(TensorId{i}).cloneOf; original != TensorId::kNone)
        hasClone_[static_cast<std::uint32_t>(original)] = true;
    for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i) {
      const InstructionId id{i};
      const Instruction& reader = graph_.instruction(id);
      for (std::uint32_t k = 0; k < reader.operandCount; ++k) {
        const OperandId operandId = graph_.operandId(reader, k);
        const Operand& operand = graph_.operand(operandId);
        const auto add = [&](Node from) { edges_.push_back({.from = from, .to = nodeOf(id), .operand = operandId}); };
        if (operand.isInstruction()) add(nodeOf(operand.instruction()));
        if (!operand.isTensor()) continue;
        if (isDrawn(operand.tensor()))
          add(nodeOf(operand.tensor()));
        else
          graph_.forEachStore(operand.tensor(), [&](InstructionId store) { add(nodeOf(store)); });
      }
      if (reader.hasDst() && isDrawn(reader.dst)) edges_.push_back({.from = nodeOf(id), .to = nodeOf(reader.dst)});
    }
  }

  /// Shows what is near the name, and marks where more would follow.
  void chooseAround(const std::string& name) {
    std::vector<std::vector<Node>> neighbours(isShown_.size());
    for (const Edge& edge : edges_) {
      neighbours[edge.from].push_back(edge.to);
      neighbours[edge.to].push_back(edge.from);
    }
    focus_ = focus(name);
    std::vector<Node> reached = focus_;
    for (Node node : reached) isShown_[node] = true;
    std::size_t begin = 0;
    for (unsigned distance = 0; distance < options_.depth && begin < reached.size(); ++distance)
      for (const std::size_t end = reached.size(); begin < end; ++begin)
        for (Node next : neighbours[reached[begin]]) {
          if (isShown_[next]) continue;
          isShown_[next] = true;
          reached.push_back(next);
        }
    for (Node node : reached)
      isCut_[node] =
          std::any_of(neighbours[node].begin(), neighbours[node].end(), [&](Node next) { return !isShown_[next]; });
  }

  std::vector<Node> focus(const std::string& name) const {
    std::vector<Node> nodes;
    if (const InstructionId id = graph_.findInstruction(name); id != InstructionId::kNone) nodes.push_back(nodeOf(id));
    const TensorId named = graph_.findTensor(name);
    if (named == TensorId::kNone) return nodes;
    for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i)
      if (const TensorId id{i}; id == named || graph_.tensor(id).cloneOf == named) {
        if (isDrawn(id)) {
          nodes.push_back(nodeOf(id));
          continue;
        }
        const auto add = [&](InstructionId user) { nodes.push_back(nodeOf(user)); };
        graph_.forEachStore(id, [&](InstructionId store) {
          add(store);
          graph_.forEachInstUser(store, [&](OperandId user) { add(graph_.operand(user).owner); });
        });
        graph_.forEachLoad(id, [&](OperandId load) { add(graph_.operand(load).owner); });
      }
    // A list of loads is in no order that the document has, and an instruction can read a tensor twice.
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  std::string head() const {
    std::string title = escaped(log_.source.name()) + ": " + std::string(dtypeName(log_.options.dtype));
    if (options_.around)
      title += ", around '" + escaped(*options_.around) + "', depth " + std::to_string(options_.depth);
    return "digraph dtypemut {\n"
           "  graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", label=\"" +
           title +
           "\\ngreen, bold: retyped - red, dashed: refused - blue: asked for, unchanged - grey: not asked for\"];\n"
           "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11];\n"
           "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  }

  std::string node(Node node, Outcome outcome, const std::string& label, std::string_view shape,
                   const std::string& tooltip) const {
    const bool isFocus = std::binary_search(focus_.begin(), focus_.end(), node);
    std::string text = "  n" + std::to_string(node) + " [label=\"" + label + "\"";
    if (!shape.empty()) text += ", shape=" + std::string(shape);
    if (isCut_[node])
      text += ", style=\"filled,dashed\"";
    else if (!shape.empty())
      text += ", style=filled";
    if (isFocus) text += ", penwidth=3";
    text += ", color=\"" + std::string(lookOf(outcome).line) + "\", fillcolor=\"" + std::string(lookOf(outcome).fill) +
            "\", tooltip=\"" + tooltip + (isCut_[node] ? "\\n(has neighbours that are left out)" : "") + "\"];\n";
    return text;
  }

  std::string instruction(InstructionId id) const {
    const Instruction& shown = graph_.instruction(id);
    const Outcome outcome = outcomes_.of(id);
    std::string label = escaped(shown.name) + "\\n" + escaped(opText(log_, shown));
    if (shown.dtype != Dtype::kNone) label += "\\n" + dtypeChange(shown.documentDtype, shown.dtype);
    const std::string_view shape = shown.op == Op::kSBAtomLoad    ? "invhouse"
                                   : shown.op == Op::kSBAtomStore ? "house"
                                                                  : "";
    std::string tooltip = escapedTwice(shown.name) + ": " + std::string(outcomeName(outcome));
    if (shown.hasDst()) tooltip += "\\nstores tensor '" + escapedTwice(graph_.tensor(shown.dst).name) + "'";
    return node(nodeOf(id), outcome, label, shape, tooltip);
  }

  std::string tensor(TensorId id) const {
    const Tensor& shown = graph_.tensor(id);
    const std::string label = escaped(shown.name) + "\\n" + std::string(kindName(shown.kind)) + "\\n" +
                              dtypeChange(shown.documentDtype, shown.dtype);
    std::string tooltip = "tensor '" + escapedTwice(shown.name) + "': " + std::string(outcomeName(outcomes_.of(id)));
    if (shown.cloneOf != TensorId::kNone)
      tooltip += "\\nthe cast of '" + escapedTwice(graph_.tensor(shown.cloneOf).name) + "'";
    const std::string_view shape = shown.isConst() ? "cylinder" : shown.isInterface() ? "parallelogram" : "ellipse";
    return node(nodeOf(id), outcomes_.of(id), label, shape, tooltip);
  }

  std::string text(const Edge& edge) const {
    std::string label;
    std::string tooltip;
    Outcome outcome = Outcome::kNotAsked;
    if (edge.operand == OperandId::kNone) {
      const Instruction& store = graph_.instruction(InstructionId{edge.from});
      const Dtype view = store.dstViewDtype;
      const Tensor& stored = graph_.tensor(store.dst);
      outcome = outcomes_.of(store.dst);
      label =
          view != Dtype::kNone ? "as " + std::string(dtypeName(view)) : dtypeChange(stored.documentDtype, stored.dtype);
      tooltip = "tensor '" + escapedTwice(stored.name) + "'";
    } else {
      const Operand& operand = graph_.operand(edge.operand);
      const TensorId behind = graph_.tensorBehind(operand);
      outcome = outcomes_.of(edge.operand);
      label =
          (operand.reinterprets() ? "as " : "") + dtypeChange(documentDtype(graph_, operand), graph_.dtype(operand));
      tooltip = "operand " + std::to_string(graph_.operandIndex(edge.operand));
      if (behind != TensorId::kNone) tooltip += ", tensor '" + escapedTwice(graph_.tensor(behind).name) + "'";
      if (const Decision* decision = outcomes_.decision(edge.operand)) {
        if (decision->state.mismatch()) label += "\\n[" + std::string(reasonInfo(decision->reason).name) + "]";
        tooltip += "\\n" + std::string(stateName(decision->state)) + ": " + escapedTwice(sentence(log_, *decision));
      }
    }
    const Look& look = lookOf(outcome);
    return "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to) + " [label=\"" + label +
           "\", style=" + std::string(look.edgeStyle) + ", color=\"" + std::string(look.line) + "\", fontcolor=\"" +
           std::string(look.line) + "\", tooltip=\"" + tooltip + "\", labeltooltip=\"" + tooltip + "\"];\n";
  }

  const DecisionLog& log_;
  const Graph& graph_;
  const DotOptions& options_;
  Outcomes outcomes_;
  std::vector<Edge> edges_;
  std::vector<bool> hasClone_;
  std::vector<bool> isShown_;
  std::vector<bool> isCut_;  // has neighbours that are not shown
  std::vector<Node> focus_;  // sorted
};

}  // namespace

Status checkDot(const Graph& graph, const DotOptions& options) {
  if (!options.around) return Done{};
  const std::string& name = *options.around;
  if (graph.findInstruction(name) != InstructionId::kNone || graph.findTensor(name) != TensorId::kNone) return Done{};
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i)
    names.push_back(graph.instruction(InstructionId{i}).name);
  for (std::uint32_t i = 0; i < graph.documentTensorCount(); ++i) names.push_back(graph.tensor(TensorId{i}).name);
  const auto nearest = nearestName(name, names);
  return Diagnostic{.exitCode = ExitCode::kUsage,
                    .message = "--dot-around: unknown instruction or tensor '" + name + "'" +
                               (nearest ? " (did you mean '" + std::string(*nearest) + "'?)" : "")};
}

void writeDot(const DecisionLog& log, const DotOptions& options, OutputFile& output) {
  Picture(log, options).write(output);
}

}  // namespace dtypemut
