#include "dtypemut/report/narrative.h"

#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string plural(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string_view roleOf(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInternal:
      return "internal";
    case TensorKind::kInput:
      return "an input";
    case TensorKind::kOutput:
      return "an output";
    case TensorKind::kConst:
      return "a const";
  }
  return "";
}

/// "tensor 'x' (float32, psum)", and why it stays, for the other end of a link.
std::string otherEnd(const DecisionLog& log, TensorId id) {
  if (id == TensorId::kNone) return "what is no tensor";
  const Tensor& tensor = log.graph.tensor(id);
  std::string text = "tensor " + quoted(tensor.name) + ", which stays " + std::string(dtypeName(tensor.dtype));
  if (static_cast<std::uint32_t>(id) < log.verdict.reasons.size()) {
    const Reason why = log.verdict.reasons[static_cast<std::uint32_t>(id)];
    if (why != Reason::kNone) text += " [" + std::string(reasonInfo(why).name) + "]";
  }
  return text;
}

TensorId otherTensor(const DecisionLog& log, const BrokenLink& link) {
  return link.operand == OperandId::kNone ? log.graph.instruction(link.via).dst
                                          : log.graph.tensorBehind(log.graph.operand(link.operand));
}

std::string brokenLinkText(const DecisionLog& log, TensorId tensor) {
  const BrokenLink& link = log.verdict.brokenLinks[static_cast<std::uint32_t>(tensor)];
  return nameAndOp(log, link.via) + " ties tensor " + quoted(log.graph.tensor(tensor).name) + " to " +
         otherEnd(log, otherTensor(log, link));
}

/// The first user of the producer that cannot read the dtype, among so many as are worth looking at.
std::string unableReader(const DecisionLog& log, InstructionId producer, OperandId asking) {
  constexpr int kMostLookedAt = 64;
  int looked = 0;
  std::string found;
  const auto look = [&](OperandId reader) {
    if (reader == asking || !found.empty() || ++looked > kMostLookedAt) return;
    const OpKind kind = log.graph.instruction(log.graph.operand(reader).owner).kind();
    if (kind != OpKind::kCompute) found = nameAndOp(log, log.graph.operand(reader).owner);
  };
  log.graph.forEachInstUser(producer, look);
  if (log.graph.instruction(producer).hasDst()) log.graph.forEachLoad(log.graph.instruction(producer).dst, look);
  return found.empty() ? "another reader" : found;
}

std::string otherOperands(const DecisionLog& log, OperandId asking) {
  const Graph& graph = log.graph;
  std::string text;
  const Instruction& matmul = graph.instruction(graph.operand(asking).owner);
  for (std::uint32_t i = 0; i < matmul.operandCount; ++i) {
    const OperandId id = graph.operandId(matmul, i);
    const TensorId tensor = graph.tensorBehind(graph.operand(id));
    if (id == asking || tensor == TensorId::kNone) continue;
    text += (text.empty() ? "" : ", ") + quoted(graph.tensor(tensor).name);
  }
  return text;
}

std::string mismatchSentence(const DecisionLog& log, const Decision& decision) {
  const Graph& graph = log.graph;
  const Operand& operand = graph.operand(decision.operand);
  const TensorId behind = graph.tensorBehind(operand);
  const bool hasTensor = behind != TensorId::kNone;
  const std::string tensor = hasTensor ? "tensor " + quoted(graph.tensor(behind).name) : "the value";
  const std::string dtype(dtypeName(log.options.dtype));
  const InstructionId id = decision.producer;
  const std::string producer = id == InstructionId::kNone ? "the producer" : nameAndOp(log, id);

  switch (decision.reason) {
    case Reason::kNoStore:
      return "no instruction stores " + tensor +
             (hasTensor ? ", " + std::string(roleOf(graph.tensor(behind).kind)) : "");
    case Reason::kMultiStore:
      return tensor + " is stored by " + plural(graph.tensor(behind).storeCount, "instruction") + "; gate 3 allows 1";
    case Reason::kMultiLoad:
      return tensor + " is read by " + plural(graph.nLoads(behind), "operand") + "; gate 3 allows 1";
    case Reason::kNLoads:
      return tensor + " feeds " + plural(graph.nLoads(behind) + (operand.isInstruction() ? 1 : 0), "load") +
             "; gate 4 allows 1";
    case Reason::kMultiUser:
      return producer + " has " + plural(graph.users(id), "user") + "; gate 7 allows 1";
    case Reason::kInterface:
      return tensor + " is " + std::string(roleOf(graph.tensor(behind).kind)) + " of the program";
    case Reason::kPsum:
      return tensor + " is in psum, whose dtype is fixed by hardware";
    case Reason::kReader:
      return (id == InstructionId::kNone ? "a reader of " + tensor : unableReader(log, id, decision.operand)) +
             " cannot read " + dtype;
    case Reason::kAllowedDtypes:
      return producer + " does not allow " + dtype;
    case Reason::kMoveOp:
    case Reason::kFixedOp:
    case Reason::kMatmulOp:
    case Reason::kOpaqueOp:
    case Reason::kDmaOp:
    case Reason::kCanMutateDstTy:
    case Reason::kKeep:
      return producer + ": " + std::string(reasonInfo(decision.reason).what);
    case Reason::kMoveLink:
      return brokenLinkText(log, behind);
    case Reason::kMatmulPair:
      if (log.policy == Policy::kJoint) return brokenLinkText(log, behind);
      return "the matmul would be left with operands in " + dtype +
             " beside others in full precision: " + otherOperands(log, decision.operand);
    default:
      return tensor + ": " + std::string(reasonInfo(decision.reason).what);
  }
}

}  // namespace

std::string_view stateName(MutateState state) {
  return state.match() ? "match" : state.mutated() ? "mutated" : "mismatch";
}

std::string opText(const DecisionLog& log, const Instruction& instruction) {
  if (instruction.op != Op::kOpaque) return std::string(opName(instruction.op));
  const auto spelled = unknownKey(log, instruction, "op");
  return spelled ? decodeString(*spelled) : "";
}

std::string nameAndOp(const DecisionLog& log, InstructionId id) {
  const Instruction& instruction = log.graph.instruction(id);
  return quoted(instruction.name) + " (" + opText(log, instruction) + ")";
}

Dtype documentDtype(const Graph& graph, const Operand& operand) {
  if (operand.reinterprets()) return operand.viewDtype;
  if (operand.isTensor()) return graph.tensor(operand.tensor()).documentDtype;
  if (operand.isInstruction()) return graph.instruction(operand.instruction()).documentDtype;
  return Dtype::kNone;
}

std::optional<std::string_view> unknownKey(const DecisionLog& log, const Instruction& instruction,
                                           std::string_view key) {
  const std::string_view text = log.source.text();
  std::optional<std::string_view> found;
  forEachMember(text, instruction.token, [&](const JsonMember& member) {
    const std::string_view spelled = valueAt(text, member.key);
    const bool isEscaped = spelled.find('\\') != std::string_view::npos;
    if (isEscaped ? decodeString(spelled) == key : spelled.substr(1, spelled.size() - 2) == key)
      found = valueAt(text, member.value);
    return !found.has_value();
  });
  return found;
}

std::string_view gateOf(const DecisionLog& log, const Decision& decision) {
  const bool isLoad =
      decision.producer != InstructionId::kNone && isFoldable(log.graph.instruction(decision.producer).op, log.options);
  if (decision.state.match()) return decision.producer == InstructionId::kNone || !isLoad ? "1" : "L3";
  if (decision.state.mutated()) {
    if (!isLoad) return "8";
    return log.graph.loadConst(decision.producer) ? "L3" : "L5";
  }
  // The reasons that two places give.
  if (decision.reason == Reason::kAllowedDtypes && log.graph.operand(decision.operand).isInstruction()) return "5d";
  if ((decision.reason == Reason::kCanMutateDstTy || decision.reason == Reason::kPsum) && isLoad) return "L0";
  return reasonInfo(decision.reason).gate;
}

std::string sentence(const DecisionLog& log, const Decision& decision) {
  const std::string dtype(dtypeName(log.options.dtype));
  if (decision.state.mismatch()) return mismatchSentence(log, decision);
  const bool hasProducer = decision.producer != InstructionId::kNone;
  const bool isLoad = hasProducer && isFoldable(log.graph.instruction(decision.producer).op, log.options);
  if (decision.state.match()) {
    if (log.policy == Policy::kEdge && isLoad)
      return "accepted, unchanged: the weight that " + nameAndOp(log, decision.producer) + " reads is " + dtype +
             " already, and the load widens it";
    return log.policy == Policy::kJoint &&
                   documentDtype(log.graph, log.graph.operand(decision.operand)) != log.options.dtype
               ? "retyped to " + dtype + " for an earlier edge"
               : "already " + dtype;
  }
  if (!hasProducer) return "retyped to " + dtype + ", all its stores with it";
  if (!isLoad) return nameAndOp(log, decision.producer) + " now writes " + dtype;
  const std::string loads = nameAndOp(log, decision.producer) + " now loads " + dtype + ": ";
  if (!log.graph.loadConst(decision.producer)) return loads + "its DMA carries the cast";
  const Operand& source = log.graph.operand(log.graph.operandId(log.graph.instruction(decision.producer), 0));
  const bool hadDtype = documentDtype(log.graph, source) == log.options.dtype;
  return loads + (hadDtype ? "it no longer widens its weight" : "the cast is folded into its weight");
}

std::vector<std::string> chainOfRemovals(const DecisionLog& log, TensorId tensor) {
  std::vector<std::string> chain;
  const auto wasRemoved = [&](TensorId id) {
    return id != TensorId::kNone && static_cast<std::uint32_t>(id) < log.verdict.brokenLinks.size() &&
           log.verdict.brokenLinks[static_cast<std::uint32_t>(id)].via != InstructionId::kNone;
  };
  // A link breaks only towards what was removed before, so this ends.
  for (; wasRemoved(tensor); tensor = otherTensor(log, log.verdict.brokenLinks[static_cast<std::uint32_t>(tensor)]))
    chain.push_back(brokenLinkText(log, tensor));
  return chain;
}

}  // namespace dtypemut
