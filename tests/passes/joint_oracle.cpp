#include "passes/joint_oracle.h"

#include <doctest/doctest.h>

namespace dtypemut {
namespace {

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

/// The tensor of an operand, as spec 10 calls it.
TensorId tensorOf(const Graph& graph, const Operand& operand) {
  if (operand.isTensor()) return operand.tensor();
  return operand.isInstruction() ? graph.instruction(operand.instruction()).dst : TensorId::kNone;
}

TensorId movedFrom(const Graph& graph, const Instruction& move) {
  return move.operandCount == 0 ? TensorId::kNone : tensorOf(graph, graph.operands(move)[0]);
}

}  // namespace

JointOracle::JointOracle(const Graph& graph, const Target& target, const PropagateOptions& options)
    : graph_(graph), target_(target), options_(options) {
  for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i) links_.push_back(findLinks(TensorId{i}));
}

// ---- eligibility

std::string JointOracle::whyNotEligible(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  if (tensor.kind != TensorKind::kInternal) return "interface";
  if (tensor.space == Space::kPsum) return "psum";
  std::vector<InstructionId> stores;
  bool reinterprets = false;
  forEachInstruction([&](InstructionId store, const Instruction& instruction) {
    if (instruction.dst != id) return;
    stores.push_back(store);
    reinterprets = reinterprets || instruction.reinterpret || instruction.dstReinterprets();
  });
  if (stores.empty()) return "no-store";
  if (reinterprets) return "inst-reinterpret";
  bool isAliased = false;
  bool canAllRead = true;
  forEachInstruction([&](InstructionId, const Instruction& reader) {
    for (const Operand& operand : graph_.operands(reader)) {
      if (tensorOf(graph_, operand) != id) continue;
      isAliased = isAliased || operand.reinterprets();
      canAllRead = canAllRead && canReadOp(reader);
    }
  });
  if (isAliased) return "aliased-view";
  for (InstructionId store : stores)
    if (const std::string why = whyNotStored(store); !why.empty()) return why;
  return canAllRead ? "" : "reader";
}

std::string JointOracle::whyNotStored(InstructionId id) const {
  const Instruction& store = graph_.instruction(id);
  const bool never = store.hasCanMutateDstTy && !store.saysCanMutateDstTy;
  const bool always = store.hasCanMutateDstTy && store.saysCanMutateDstTy;
  if (store.op == Op::kSBAtomLoad || (options_.foldIndirect && store.op == Op::kNeuronIndirectLoad))
    return whyLoadRefuses(store);
  if (never) return "can-mutate-dst-ty";
  switch (store.kind()) {
    case OpKind::kMove:
      return movedFrom(graph_, store) == TensorId::kNone ? "move-op" : "";
    case OpKind::kDma:
      return "dma-op";
    case OpKind::kMatmul:
      return always ? "" : "matmul-op";
    case OpKind::kOpaque:
      return always ? "" : "opaque-op";
    case OpKind::kCompute:
      break;
  }
  if (hasFixedDstTy(store.op) && !always) return "fixed-op";
  if (store.op != Op::kTensorScalarGEPOp) return "";
  const bool allows = store.hasAllowedDtypes && store.allowedDtypes.contains(options_.dtype);
  return allows ? "" : "allowed-dtypes";
}

std::string JointOracle::whyLoadRefuses(const Instruction& load) const {
  if (load.hasCanMutateDstTy && !load.saysCanMutateDstTy) return "can-mutate-dst-ty";
  if (load.hasPartitionBroadcast && options_.dtype == Dtype::kFloat16 &&
      (load.dtype == Dtype::kBfloat16 || load.dtype == Dtype::kFloat32r))
    return "load-partition-broadcast";
  if (options_.dtype == Dtype::kFloat8e5) return "load-fp8e5";
  const Operand* source = load.operandCount == 0 ? nullptr : &graph_.operands(load)[0];
  if (source != nullptr && source->isTensor() && graph_.tensor(source->tensor()).isConst()) {
    const Dtype dtype = graph_.tensor(source->tensor()).dtype;
    if (source->reinterprets()) return "load-src-reinterpret";
    return isPacked(dtype) || dtype == Dtype::kFloat8E8m0fnu ? "load-src-packed" : "";
  }
  return target_.enableDmaCast ? "" : "load-dma-cast";
}

bool JointOracle::canReadOp(const Instruction& reader) const {
  switch (reader.kind()) {
    case OpKind::kOpaque:
      return false;
    case OpKind::kMatmul:
      return target_.matmulDtypes.contains(options_.dtype);
    case OpKind::kDma:
      return target_.enableDmaCast;
    default:
      return true;
  }
}

TensorSet JointOracle::eligible() const {
  TensorSet set(graph_.tensorCount());
  for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i)
    set[i] = canBecome(graph_.tensor(TensorId{i}).dtype) && whyNotEligible(TensorId{i}).empty();
  return set;
}

// ---- links

std::vector<JointOracle::Link> JointOracle::findLinks(TensorId id) const {
  std::vector<Link> links;
  const bool toFull = isFullPrecision(options_.dtype);
  forEachInstruction([&](InstructionId, const Instruction& instruction) {
    if (instruction.kind() == OpKind::kMove) {
      const TensorId from = movedFrom(graph_, instruction);
      if (from == id) links.push_back({instruction.dst, true});
      if (instruction.dst == id) links.push_back({from, true});
    }
    if (instruction.kind() != OpKind::kMatmul) return;
    const auto operands = graph_.operands(instruction);
    for (const Operand& reading : operands) {
      if (tensorOf(graph_, reading) != id) continue;
      for (const Operand& other : operands) {
        if (&other == &reading || other.isImmediate()) continue;
        if (isFullPrecision(graph_.dtype(other)) != toFull) links.push_back({tensorOf(graph_, other), false});
      }
    }
  });
  return links;
}

bool JointOracle::isBroken(const Link& link, const TensorSet& set) const {
  return link.other == TensorId::kNone || !set[index(link.other)];
}

bool JointOracle::isConsistent(const TensorSet& set) const {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    for (const Link& link : links_[i])
      if (isBroken(link, set)) return false;
  }
  return true;
}

TensorSet JointOracle::removeInOrder(std::mt19937_64& random) const {
  TensorSet set = eligible();
  for (;;) {
    std::vector<std::size_t> broken;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (!set[i]) continue;
      for (const Link& link : links_[i])
        if (isBroken(link, set)) broken.push_back(i);
    }
    if (broken.empty()) return set;
    set[broken[random() % broken.size()]] = false;
  }
}

std::optional<TensorSet> JointOracle::greatest(std::size_t limit) const {
  const TensorSet all = eligible();
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]) members.push_back(i);
  if (members.size() > limit) return std::nullopt;
  TensorSet unionOfAll(all.size());
  for (std::size_t choice = 0; choice < std::size_t{1} << members.size(); ++choice) {
    TensorSet set(all.size());
    for (std::size_t k = 0; k < members.size(); ++k) set[members[k]] = (choice >> k & 1) != 0;
    if (!isConsistent(set)) continue;
    for (std::size_t i = 0; i < set.size(); ++i) unionOfAll[i] = unionOfAll[i] || set[i];
  }
  CHECK(isConsistent(unionOfAll));
  return unionOfAll;
}

// ---- what is asked for

bool JointOracle::asks(const Instruction& instruction) const {
  if (options_.autoCast == AutoCast::kNone) return false;
  if (instruction.kind() == OpKind::kMatmul) return target_.matmulDtypes.contains(options_.dtype);
  return instruction.kind() == OpKind::kCompute && options_.autoCast == AutoCast::kAll;
}

bool JointOracle::isCandidateOf(const Instruction& asking, const Operand& operand) const {
  if (!asks(asking) || operand.isImmediate()) return false;
  const Dtype dtype = graph_.dtype(operand);
  return dtype == options_.dtype || options_.from.contains(dtype);
}

TensorSet JointOracle::askedFor(const TensorSet& set) const {
  TensorSet kept(set.size());
  forEachInstruction([&](InstructionId, const Instruction& asking) {
    for (const Operand& operand : graph_.operands(asking)) {
      const TensorId tensor = tensorOf(graph_, operand);
      if (isCandidateOf(asking, operand) && tensor != TensorId::kNone && set[index(tensor)]) kept[index(tensor)] = true;
    }
  });
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) continue;
      for (const Link& link : links_[i]) {
        if (kept[index(link.other)]) continue;
        kept[index(link.other)] = grew = true;
      }
    }
  }
  return kept;
}

std::string JointOracle::decisions(const TensorSet& greatest) const {
  const TensorSet wasEligible = eligible();
  TensorSet isTold(greatest.size());
  std::string told;
  const auto answer = [&](const Operand& operand) -> std::string {
    if (graph_.dtype(operand) == options_.dtype) return "Match";
    if (operand.reinterprets()) return "operand-reinterpret";
    const TensorId tensor = tensorOf(graph_, operand);
    if (tensor == TensorId::kNone) return "no-dst";
    if (const std::string why = whyNotEligible(tensor); !why.empty()) return why;
    CHECK(wasEligible[index(tensor)]);
    if (greatest[index(tensor)]) {
      if (isTold[index(tensor)]) return "Match";
      isTold[index(tensor)] = true;
      return "Mutated";
    }
    for (const Link& link : links_[index(tensor)])
      if (link.isMove && isBroken(link, greatest)) return "move-link";
    return "matmul-pair";
  };
  forEachInstruction([&](InstructionId, const Instruction& asking) {
    for (std::uint32_t k = 0; k < asking.operandCount; ++k) {
      const Operand& operand = graph_.operands(asking)[k];
      if (!isCandidateOf(asking, operand)) continue;
      told += (told.empty() ? "" : "; ") + std::string(asking.name) + "." + std::to_string(k) + " " + answer(operand);
    }
  });
  return told;
}

}  // namespace dtypemut
