#include "dtypemut/passes/joint.h"

#include <utility>

namespace dtypemut {
namespace {

std::uint32_t index(TensorId id) { return static_cast<std::uint32_t>(id); }
std::uint32_t index(InstructionId id) { return static_cast<std::uint32_t>(id); }

class Solver {
 public:
  Solver(const DTypeMutator& mutator, const PropagateOptions& options)
      : mutator_(mutator),
        graph_(mutator.function()),
        options_(options),
        isIn_(graph_.tensorCount(), false),
        isTorn_(graph_.instructionCount(), false) {
    verdict_.reasons.assign(graph_.tensorCount(), Reason::kNone);
    verdict_.brokenLinks.resize(graph_.tensorCount());
    verdict_.isRetyped.assign(graph_.tensorCount(), false);
  }

  JointVerdict solve() {
    for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i) {
      const TensorId id{i};
      verdict_.reasons[i] = whyNotEligible(id);
      const Dtype dtype = graph_.tensor(id).dtype;
      isIn_[i] = verdict_.reasons[i] == Reason::kNone && dtype != options_.dtype && options_.from.contains(dtype);
    }
    removeBroken();
    nameRemoved();
    keepAskedFor();
    return std::move(verdict_);
  }

 private:
  // ---- eligibility (the reasons in the spec's order)
  Reason whyNotEligible(TensorId id) const;
  Reason whyNotRetypable(InstructionId store) const;
  bool canRead(OperandId reader) const;

  // ---- links
  bool isLinked(Dtype dtype) const { return isFullPrecision(dtype) != isFullPrecision(options_.dtype); }
  TensorId movedFrom(const Instruction& move) const;
  template <typename F>
  void forEachLinkingOp(TensorId id, F&& f) const;

  void removeBroken();
  void remove(TensorId id, BrokenLink link);
  void tear(InstructionId matmul, OperandId lost);
  void nameRemoved();
  void keepAskedFor();

  bool isIn(TensorId id) const { return id != TensorId::kNone && isIn_[index(id)]; }

  const DTypeMutator& mutator_;
  const Graph& graph_;
  const PropagateOptions& options_;
  std::vector<bool> isIn_;    // by tensor: in the set
  std::vector<bool> isTorn_;  // by instruction: a matmul that lost an operand
  std::vector<TensorId> removed_;
  JointVerdict verdict_;
};

Reason Solver::whyNotEligible(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  if (tensor.isInterface()) return Reason::kInterface;
  if (tensor.space == Space::kPsum) return Reason::kPsum;
  if (tensor.storeCount == 0) return Reason::kNoStore;
  bool reinterprets = false;
  bool isAliased = false;
  Reason why = Reason::kNone;
  bool allCanRead = true;
  graph_.forEachStore(id, [&](InstructionId store) {
    reinterprets |= graph_.instruction(store).reinterpret || graph_.instruction(store).dstReinterprets();
    if (why == Reason::kNone) why = whyNotRetypable(store);
    graph_.forEachInstUser(store, [&](OperandId user) { allCanRead = allCanRead && canRead(user); });
  });
  graph_.forEachLoad(id, [&](OperandId load) {
    isAliased |= graph_.operand(load).reinterprets();
    allCanRead = allCanRead && canRead(load);
  });
  if (reinterprets) return Reason::kInstReinterpret;
  if (isAliased) return Reason::kAliasedView;
  if (why != Reason::kNone) return why;
  return allCanRead ? Reason::kNone : Reason::kReader;
}

Reason Solver::whyNotRetypable(InstructionId id) const {
  const Instruction& store = graph_.instruction(id);
  if (mutator_.isKept(id)) return Reason::kKeep;
  if (isFoldable(store.op, options_)) return mutator_.decideLoad(id, options_.dtype).reason;
  if (store.kind() == OpKind::kMove) {
    if (store.hasCanMutateDstTy && !store.saysCanMutateDstTy) return Reason::kCanMutateDstTy;
    return movedFrom(store) == TensorId::kNone ? Reason::kMoveOp : Reason::kNone;
  }
  if (const Reason why = mutator_.whyNotCanMutateDstTy(id); why != Reason::kNone) return why;
  return mutator_.isDisallowed(id, options_.dtype) ? Reason::kAllowedDtypes : Reason::kNone;
}

/// Whether the op of a reader can read the dtype, other operands apart; a move can, since it moves on with it.
bool Solver::canRead(OperandId reader) const {
  const Instruction& user = graph_.instruction(graph_.operand(reader).owner);
  return user.kind() == OpKind::kMove || mutator_.canReadAlone(user, options_.dtype);
}

/// The tensor that a move moves, if any.
TensorId Solver::movedFrom(const Instruction& move) const {
  if (move.operandCount == 0) return TensorId::kNone;
  return graph_.tensorBehind(graph_.operand(graph_.operandId(move, 0)));
}

/// Calls `f` with each move or matmul that links the tensor to others, {"inst"} operands included; one that reads it
/// several times, several times.
template <typename F>
void Solver::forEachLinkingOp(TensorId id, F&& f) const {
  const auto visitReader = [&](OperandId reader) {
    const InstructionId user = graph_.operand(reader).owner;
    const OpKind kind = graph_.instruction(user).kind();
    const bool isPair = kind == OpKind::kMatmul && isLinked(graph_.dtype(graph_.operand(reader)));
    if (isPair || (kind == OpKind::kMove && graph_.operandIndex(reader) == 0)) f(user);
  };
  graph_.forEachLoad(id, visitReader);
  graph_.forEachStore(id, [&](InstructionId store) {
    if (graph_.instruction(store).kind() == OpKind::kMove) f(store);
    graph_.forEachInstUser(store, visitReader);
  });
}

/// Removes tensors until no link of what remains is broken.
void Solver::removeBroken() {
  const auto settle = [&](InstructionId id) {
    const Instruction& op = graph_.instruction(id);
    if (op.kind() == OpKind::kMove) {
      const TensorId from = movedFrom(op);
      if (!isIn(from))
        remove(op.dst, {.via = id, .operand = op.operandCount == 0 ? OperandId::kNone : graph_.operandId(op, 0)});
      if (!isIn(op.dst)) remove(from, {.via = id});
      return;
    }
    if (op.kind() != OpKind::kMatmul || isTorn_[index(id)]) return;
    for (std::uint32_t k = 0; k < op.operandCount; ++k) {
      const OperandId operand = graph_.operandId(op, k);
      const Operand& read = graph_.operand(operand);
      if (!read.isImmediate() && isLinked(graph_.dtype(read)) && !isIn(graph_.tensorBehind(read)))
        return tear(id, operand);
    }
  };
  for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i) settle(InstructionId{i});
  while (!removed_.empty()) {
    const TensorId id = removed_.back();
    removed_.pop_back();
    forEachLinkingOp(id, settle);
  }
}

/// Takes a tensor out of the set, if it is in.
void Solver::remove(TensorId id, BrokenLink link) {
  if (!isIn(id)) return;
  isIn_[index(id)] = false;
  verdict_.brokenLinks[index(id)] = link;
  verdict_.reasons[index(id)] = Reason::kMatmulPair;  // unless nameRemoved finds a move
  removed_.push_back(id);
}

/// Removes all that a matmul ties to an operand that is not in the set.
void Solver::tear(InstructionId matmul, OperandId lost) {
  isTorn_[index(matmul)] = true;
  for (const Operand& operand : graph_.operands(graph_.instruction(matmul)))
    remove(graph_.tensorBehind(operand), {.via = matmul, .operand = lost});
}

/// A removed tensor's reason is its move link, if one is broken in the end.
void Solver::nameRemoved() {
  const auto name = [&](TensorId id) {
    if (id != TensorId::kNone && verdict_.reasons[index(id)] == Reason::kMatmulPair)
      verdict_.reasons[index(id)] = Reason::kMoveLink;
  };
  for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i) {
    const Instruction& move = graph_.instruction(InstructionId{i});
    if (move.kind() != OpKind::kMove) continue;
    const TensorId from = movedFrom(move);
    if (!isIn(from)) name(move.dst);
    if (!isIn(move.dst)) name(from);
  }
}

/// Marks, of the set, what an op asks for, and all that links tie to it.
void Solver::keepAskedFor() {
  std::vector<TensorId> open;
  const auto keep = [&](TensorId id) {
    if (!isIn(id) || verdict_.isRetyped[index(id)]) return;
    verdict_.isRetyped[index(id)] = true;
    open.push_back(id);
  };
  for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i) {
    const Instruction& asking = graph_.instruction(InstructionId{i});
    if (!asksForDtype(asking, options_, mutator_.target())) continue;
    for (const Operand& operand : graph_.operands(asking))
      if (isCandidate(graph_, operand, options_) && !operand.reinterprets()) keep(graph_.tensorBehind(operand));
  }
  std::vector<bool> isFollowed(graph_.instructionCount(), false);
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    forEachLinkingOp(id, [&](InstructionId via) {
      if (isFollowed[index(via)]) return;
      isFollowed[index(via)] = true;
      const Instruction& op = graph_.instruction(via);
      if (op.kind() == OpKind::kMove) {
        keep(movedFrom(op));
        keep(op.dst);
      } else {
        for (const Operand& operand : graph_.operands(op))
          if (!operand.isImmediate() && isLinked(graph_.dtype(operand))) keep(graph_.tensorBehind(operand));
      }
    });
  }
}

/// The decision for one candidate edge; `isTold` remembers which retyped tensors were told of.
Decision decideEdge(const Graph& graph, OperandId id, const JointVerdict& verdict, Dtype dtype,
                    std::vector<bool>& isTold) {
  const Operand& operand = graph.operand(id);
  Decision decision{.operand = id, .state = MutateState::Match};
  const auto refuse = [&](Reason reason) {
    decision.state = MutateState::Mismatch;
    decision.reason = reason;
    return decision;
  };
  if (graph.dtype(operand) == dtype) return decision;
  if (operand.reinterprets()) return refuse(Reason::kOperandReinterpret);
  const TensorId tensor = graph.tensorBehind(operand);
  if (tensor == TensorId::kNone) return refuse(Reason::kNoDst);
  if (graph.tensor(tensor).storeCount == 1) decision.producer = graph.tensor(tensor).firstStore;
  if (!verdict.isRetyped[index(tensor)]) return refuse(verdict.reasons[index(tensor)]);
  if (!isTold[index(tensor)]) decision.state = MutateState::Mutated;
  isTold[index(tensor)] = true;
  return decision;
}

}  // namespace

JointVerdict decideJointly(const DTypeMutator& mutator, const PropagateOptions& options) {
  return Solver(mutator, options).solve();
}

JointVerdict propagateJointly(DTypeMutator& mutator, const PropagateOptions& options,
                              const DecisionListener& listener) {
  const Graph& graph = mutator.function();
  JointVerdict verdict = decideJointly(mutator, options);
  std::vector<bool> isTold(graph.tensorCount(), false);
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& asking = graph.instruction(InstructionId{i});
    if (!asksForDtype(asking, options, mutator.target())) continue;
    for (std::uint32_t k = 0; k < asking.operandCount; ++k) {
      const OperandId operand = graph.operandId(asking, k);
      if (isCandidate(graph, graph.operand(operand), options))
        listener(decideEdge(graph, operand, verdict, options.dtype, isTold));
    }
  }
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& store = graph.instruction(InstructionId{i});
    if (store.hasDst() && verdict.isRetyped[index(store.dst)])
      mutator.retypeStore(InstructionId{i}, isFoldable(store.op, options), options.dtype);
  }
  return verdict;
}

}  // namespace dtypemut
