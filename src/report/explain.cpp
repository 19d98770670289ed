#include "dtypemut/report/explain.h"

#include <unordered_map>
#include <vector>

#include "dtypemut/types/glob.h"

namespace dtypemut {
namespace {

struct GateLine {
  std::string_view gate;
  std::string_view passed;  // what it says when it lets the edge pass
};

/// What an edge passes on its way, in the order of spec 4.
constexpr GateLine kGates[] = {
    {"1", "the operand does not have the dtype yet"},
    {"keep", "nobody asked to keep the producer"},
    {"2", "the operand does not reinterpret"},
    {"3", "there is a sole producer, which allows the dtype"},
    {"4", "the producer's dst tensor feeds one load"},
    {"5", "the producer does not reinterpret"},
    {"5a", "the tensor is internal"},
    {"5b", "nothing else stores it"},
    {"5c", "nothing reads its bits as another dtype"},
    {"5d", "the producer allows the dtype"},
    {"5e", "every other user can read the dtype"},
    {"7", "the producer has a single user, or several are allowed"},
    {"8", "the producer can write the dtype"},
};

constexpr GateLine kLoadLines[] = {
    {"L0", "the load may be retyped"}, {"L1", "no partition broadcast stands in the way"},
    {"L2", "loads take the dtype"},    {"L3", "the weight can be cast, or the data come at run time"},
    {"L4", "the DMA casts"},           {"L5", "the load's result is retyped"},
};

class Explanation {
 public:
  explicit Explanation(const DecisionLog& log) : log_(log), graph_(log.graph), lines_(log.source.text()) {
    for (const Decision& decision : log.decisions) {
      const Operand& operand = graph_.operand(decision.operand);
      asked_[operand.owner].push_back(&decision);
      const TensorId behind = graph_.tensorBehind(operand);
      if (behind != TensorId::kNone)
        tensorAsked_[behind].push_back(&decision);
      else if (operand.isInstruction())
        producerAsked_[operand.instruction()].push_back(&decision);
    }
  }

  std::string of(const std::string& glob) {
    const auto matches = [&](std::string_view name) { return matchesGlob(glob, name); };
    for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i)
      if (matches(graph_.instruction(InstructionId{i}).name)) instruction(InstructionId{i});
    for (std::uint32_t i = 0; i < graph_.documentTensorCount(); ++i)
      if (matches(graph_.tensor(TensorId{i}).name)) tensor(TensorId{i});
    if (text_.empty()) text_ = "nothing is named '" + glob + "'\n";
    return std::move(text_);
  }

 private:
  void instruction(InstructionId id) {
    const Instruction& shown = graph_.instruction(id);
    text_ += "instruction " + nameAndOp(log_, id) + place(shown.nameToken);
    if (shown.dtype != Dtype::kNone) text_ += ", " + change(shown.documentDtype, shown.dtype);
    text_ += "\n";
    const auto& asked = asked_[id];
    const auto& wasAsked = shown.hasDst() ? tensorAsked_[shown.dst] : producerAsked_[id];
    for (const Decision* decision : asked) edge(*decision, "asked");
    for (const Decision* decision : wasAsked)
      edge(*decision, "was asked by " + nameAndOp(log_, graph_.operand(decision->operand).owner));
    if (asked.empty() && wasAsked.empty()) text_ += "  no edge of it was decided: nobody asked for the dtype here\n";
    text_ += "\n";
  }

  void tensor(TensorId id) {
    const Tensor& shown = graph_.tensor(id);
    text_ += "tensor '" + std::string(shown.name) + "'" + place(shown.nameToken) + ", " +
             change(shown.documentDtype, shown.dtype) + "\n";
    const auto& asked = tensorAsked_[id];
    for (const Decision* decision : asked)
      edge(*decision, "was asked for by " + nameAndOp(log_, graph_.operand(decision->operand).owner));
    if (asked.empty()) text_ += "  no edge to it was decided: nobody asked for the dtype here\n";
    text_ += "\n";
  }

  void edge(const Decision& decision, const std::string& who) {
    const Operand& operand = graph_.operand(decision.operand);
    const TensorId behind = graph_.tensorBehind(operand);
    text_ += "  " + who + ", operand " + std::to_string(graph_.operandIndex(decision.operand));
    if (behind != TensorId::kNone) text_ += ", tensor '" + std::string(graph_.tensor(behind).name) + "'";
    text_ += ": " + std::string(stateName(decision.state));
    if (decision.state.mismatch()) text_ += " [" + std::string(reasonInfo(decision.reason).name) + "]";
    text_ += "\n";
    if (log_.policy == Policy::kEdge) gates(decision);
    if (log_.policy == Policy::kJoint) text_ += "    " + sentence(log_, decision) + "\n";
    if (log_.policy == Policy::kJoint && decision.state.mismatch() && behind != TensorId::kNone) {
      const std::vector<std::string> chain = chainOfRemovals(log_, behind);
      for (std::size_t i = 1; i < chain.size(); ++i) text_ += "    since " + chain[i] + "\n";  // the first is said
    }
    if (decision.state.mismatch())
      text_ += "    to let it pass: " + std::string(reasonInfo(decision.reason).remedy) + "\n";
  }

  /// Every gate up to the one that decided.
  void gates(const Decision& decision) {
    const std::string_view last = gateOf(log_, decision);
    const auto line = [&](std::string_view gate, const std::string& what) {
      text_ += "    gate " + std::string(gate) + std::string(gate.size() < 5 ? 5 - gate.size() : 1, ' ') + what + "\n";
    };
    const bool isLoadLine = last.starts_with('L');
    for (const GateLine& gate : kGates) {
      if (gate.gate == last) return line(last, sentence(log_, decision));
      if (isLoadLine && gate.gate == "7") break;  // gate 6 hands loads over
      line(gate.gate, "passed: " + std::string(gate.passed));
    }
    if (isLoadLine) line("6", "an SBAtomLoad: mutateLoad decides");
    for (const GateLine& gate : kLoadLines) {
      if (!isLoadLine) break;
      if (gate.gate == last) return line(last, sentence(log_, decision));
      line(gate.gate, "passed: " + std::string(gate.passed));
    }
    line(last, sentence(log_, decision));
  }

  std::string place(std::uint64_t offset) const {
    const TextPosition position = lines_.position(offset);
    return " at " + log_.source.name() + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  }

  static std::string change(Dtype before, Dtype after) {
    return std::string(dtypeName(before)) + (before == after ? ", unchanged" : " -> " + std::string(dtypeName(after)));
  }

  const DecisionLog& log_;
  const Graph& graph_;
  LineIndex lines_;
  std::unordered_map<InstructionId, std::vector<const Decision*>> asked_;
  std::unordered_map<TensorId, std::vector<const Decision*>> tensorAsked_;
  std::unordered_map<InstructionId, std::vector<const Decision*>> producerAsked_;  // that have no dst
  std::string text_;
};

}  // namespace

std::string explain(const DecisionLog& log, const std::string& glob) { return Explanation(log).of(glob); }

}  // namespace dtypemut
