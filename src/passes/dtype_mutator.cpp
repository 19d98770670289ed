#include "dtypemut/passes/dtype_mutator.h"

#include <string>

#include "dtypemut/ir/verify.h"

namespace dtypemut {
namespace {

Decision refused(OperandId operand, InstructionId producer, Reason reason) {
  return {.operand = operand, .producer = producer, .state = MutateState::Mismatch, .reason = reason};
}

}  // namespace

DTypeMutator::DTypeMutator(bool mutateMultiUsers, Graph& function, const Target& target)
    : function_(&function), mutateMultiUsers_(mutateMultiUsers), target_(target) {}

void DTypeMutator::setFunction(Graph& function) {
  function_ = &function;
  scan_ = {};
}

void DTypeMutator::reset() { tensorMap_.clear(); }

bool DTypeMutator::tryMutateDstTy(OperandId operand, Dtype dtype) {
  return !matchOrMutateDstTy(operand, dtype).mismatch();
}

MutateState DTypeMutator::matchOrMutateDstTy(OperandId operand, Dtype dtype) {
  const Decision decision = decide(operand, dtype);
  apply(decision, dtype);
  return decision.state;
}

Decision DTypeMutator::decide(OperandId asking, Dtype dtype) const {
  const Graph& graph = *function_;
  const Operand& operand = graph.operand(asking);
  const auto refuse = [&](InstructionId producer, Reason reason) { return refused(asking, producer, reason); };

  // Gate 1: nothing to do.
  if (graph.dtype(operand) == dtype) return {.operand = asking, .state = MutateState::Match};
  // Gate 2: the bits behind a view are not the view's to retype.
  if (operand.reinterprets()) return refuse(InstructionId::kNone, Reason::kOperandReinterpret);
  // Gate 3: there must be a sole producer, and one that allows the dtype.
  if (operand.isImmediate()) return refuse(InstructionId::kNone, Reason::kNoStore);
  InstructionId id = operand.instruction();
  if (operand.isTensor()) {
    const Tensor& tensor = graph.tensor(operand.tensor());
    if (tensor.storeCount == 0) return refuse(InstructionId::kNone, Reason::kNoStore);
    if (tensor.storeCount > 1) return refuse(InstructionId::kNone, Reason::kMultiStore);
    id = tensor.firstStore;
    if (!graph.singleDefSingleUse(operand.tensor())) return refuse(id, Reason::kMultiLoad);
    if (isDisallowed(id, dtype)) return refuse(id, Reason::kAllowedDtypes);
  }
  const Instruction& producer = graph.instruction(id);
  // Gate 4: nobody else reads what it stores.
  if (!producer.hasDst()) return refuse(id, Reason::kNoDst);
  const std::uint32_t loads = graph.nLoads(producer.dst) + (operand.isInstruction() ? 1 : 0);
  if (loads != 1) return refuse(id, Reason::kNLoads);
  // Gate 5: the bits it writes mean another dtype.
  if (producer.reinterpret || producer.dstReinterprets()) return refuse(id, Reason::kInstReinterpret);
  // Guards: the graph must stay valid around it.
  const Tensor& dst = graph.tensor(producer.dst);
  if (dst.isInterface()) return refuse(id, Reason::kInterface);
  if (dst.storeCount > 1) return refuse(id, Reason::kSharedDef);
  bool isAliased = false;
  graph.forEachLoad(producer.dst, [&](OperandId load) { isAliased |= graph.operand(load).reinterprets(); });
  if (isAliased) return refuse(id, Reason::kAliasedView);
  if (operand.isInstruction() && isDisallowed(id, dtype)) return refuse(id, Reason::kAllowedDtypes);
  if (!everyOtherUserCanRead(id, asking, dtype)) return refuse(id, Reason::kReader);
  // Gate 6: a load has rules of its own.
  if (producer.op == Op::kSBAtomLoad) {
    Decision decision = decideLoad(id, dtype);
    decision.operand = asking;
    return decision;
  }
  // Gate 7: several users, unless that is wanted.
  if (!graph.hasSingleUser(id) && !mutateMultiUsers_) return refuse(id, Reason::kMultiUser);
  // Gate 8: the instruction's own word.
  if (const Reason why = whyNotCanMutateDstTy(id); why != Reason::kNone) return refuse(id, why);
  return {.operand = asking, .producer = id, .state = MutateState::Mutated};
}

void DTypeMutator::apply(const Decision& decision, Dtype dtype) {
  if (!decision.state.mutated()) return;
  retypeStore(decision.producer, function_->instruction(decision.producer).op == Op::kSBAtomLoad, dtype);
}

void DTypeMutator::retypeStore(InstructionId store, bool isLoad, Dtype dtype) {
  if (isLoad && !mutateLoad(store, dtype).match()) return;
  function_->mutateDstTy(store, dtype);
  ++(isLoad ? statistics_.nLoads : statistics_.operatorTypeMutated);
}

MutateState DTypeMutator::mutateLoad(InstructionId load, Dtype dtype) {
  const Decision decision = decideLoad(load, dtype);
  if (!decision.state.mutated()) return decision.state;
  if (!function_->loadConst(load))
    function_->mutateDstTy(load, dtype);
  else if (!staticCastLoadTensor(load, dtype))
    return MutateState::Mismatch;
  ++statistics_.nLoads;
  return decision.state;
}

Decision DTypeMutator::decideLoad(InstructionId id, Dtype dtype) const {
  const Graph& graph = *function_;
  const Instruction& load = graph.instruction(id);
  const auto refuse = [&](Reason reason) { return refused(OperandId::kNone, id, reason); };
  const Decision mutated{.producer = id, .state = MutateState::Mutated};

  // 0: what gate 8 would say, which gate 6 passes by.
  if (load.hasCanMutateDstTy && !load.saysCanMutateDstTy) return refuse(Reason::kCanMutateDstTy);
  if (load.hasDst() && graph.tensor(load.dst).space == Space::kPsum) return refuse(Reason::kPsum);
  // 1: a partition broadcast does not convert these to float16.
  if (load.hasPartitionBroadcast && dtype == Dtype::kFloat16 &&
      (load.dtype == Dtype::kBfloat16 || load.dtype == Dtype::kFloat32r))
    return refuse(Reason::kLoadPartitionBroadcast);
  // 2: no load takes it.
  if (dtype == Dtype::kFloat8e5) return refuse(Reason::kLoadFp8e5);
  // 3: a weight is cast here and now; one that has the dtype goes on being widened by the load.
  if (graph.loadConst(id)) {
    const Operand& source = graph.operand(graph.operandId(load, 0));
    const DtypeInfo& weight = dtypeInfo(graph.tensor(source.tensor()).dtype);
    if (source.reinterprets()) return refuse(Reason::kLoadSrcReinterpret);
    if (weight.dtypeClass == DtypeClass::kPackedFloat || weight.dtypeClass == DtypeClass::kScale)
      return refuse(Reason::kLoadSrcPacked);
    if (weight.dtype == dtype) return {.producer = id, .state = MutateState::Match};
    return mutated;
  }
  // 4: run-time data needs a DMA that casts on the way.
  if (!target_.enableDmaCast) return refuse(Reason::kLoadDmaCast);
  // 5: then the load's result may be anything.
  return mutated;
}

Status DTypeMutator::staticCastLoadTensor(InstructionId load, Dtype dtype) {
  const OperandId operand = function_->operandId(function_->instruction(load), 0);
  const TensorId source = function_->operand(operand).tensor();
  if (!function_->loadConst(load)) return Diagnostic{.message = "Can only cast weight"};
  const bool isSplat = function_->constData(function_->tensor(source)).form == DataForm::kSplat;
  function_->mutateDstTy(load, dtype);

  TensorId clone = findClone(source, dtype);
  if (clone == TensorId::kNone && isSplat && function_->nLoads(source) == 1) {
    function_->mutateTensorTy(source, dtype);
    return Done{};
  }
  if (clone == TensorId::kNone) {
    clone = function_->clone(source, cloneName(source), dtype);
    tensorMap_.insert_or_assign({source, dtype}, clone);
    if (!isSplat) statistics_.castedWeights += function_->tensor(source).sizeInBytes();
  }
  function_->replaceTensor(operand, clone);
  if (!isSplat) ++statistics_.foldedCastLoad;
  return Done{};
}

/// The clone in the memo, or kNone; also when the memo speaks of another function.
TensorId DTypeMutator::findClone(TensorId source, Dtype dtype) const {
  const auto found = tensorMap_.find({source, dtype});
  if (found == tensorMap_.end()) return TensorId::kNone;
  const TensorId clone = found->second;
  if (static_cast<std::uint32_t>(clone) >= function_->tensorCount()) return TensorId::kNone;
  const Tensor& tensor = function_->tensor(clone);
  return tensor.cloneOf == source && tensor.dtype == dtype ? clone : TensorId::kNone;
}

std::string DTypeMutator::cloneName(TensorId source) {
  for (;;) {
    std::string name = std::string(function_->tensor(source).name) + "_8_" + std::to_string(function_->allocateId());
    if (function_->findTensor(name) == TensorId::kNone) return name;
  }
}

Reason DTypeMutator::whyNotCanMutateDstTy(InstructionId id) const {
  const Instruction& instruction = function_->instruction(id);
  const OpKind kind = instruction.kind();
  if (instruction.hasCanMutateDstTy && !instruction.saysCanMutateDstTy) return Reason::kCanMutateDstTy;
  if (instruction.hasDst() && function_->tensor(instruction.dst).space == Space::kPsum) return Reason::kPsum;
  if (kind == OpKind::kMove) return Reason::kMoveOp;
  if (kind == OpKind::kDma) return Reason::kDmaOp;
  if (instruction.hasCanMutateDstTy) return Reason::kNone;
  if (kind == OpKind::kMatmul) return Reason::kMatmulOp;
  if (kind == OpKind::kOpaque) return Reason::kOpaqueOp;
  if (hasFixedDstTy(instruction.op)) return Reason::kFixedOp;
  return Reason::kNone;
}

bool DTypeMutator::isDisallowed(InstructionId id, Dtype dtype) const {
  const Instruction& instruction = function_->instruction(id);
  if (instruction.op != Op::kTensorScalarGEPOp) return false;
  return instruction.hasAllowedDtypes ? !instruction.allowedDtypes.contains(dtype) : instruction.dtype != dtype;
}

bool DTypeMutator::canReadAlone(const Instruction& user, Dtype dtype) const {
  switch (user.kind()) {
    case OpKind::kCompute:
      return true;
    case OpKind::kMatmul:
      return target_.matmulDtypes.contains(dtype);
    case OpKind::kDma:
      return target_.enableDmaCast;
    case OpKind::kMove:
    case OpKind::kOpaque:
      return false;
  }
  return false;
}

/// Whether `user` can read the result of `producer` once that is retyped to `dtype`.
bool DTypeMutator::canRead(const Instruction& user, InstructionId producer, Dtype dtype) const {
  if (!canReadAlone(user, dtype)) return false;
  if (user.kind() != OpKind::kMatmul) return true;
  const TensorId dst = function_->instruction(producer).dst;
  return !hasMixedOperands(*function_, user, [&](OperandId id) {
    const Operand& operand = function_->operand(id);
    const bool readsProducer = !operand.reinterprets() && function_->tensorBehind(operand) == dst;
    return readsProducer ? dtype : function_->dtype(operand);
  });
}

/// Whether every user of `producer` but the operand that asks can read `dtype`.
bool DTypeMutator::everyOtherUserCanRead(InstructionId producer, OperandId asking, Dtype dtype) const {
  const Graph& graph = *function_;
  const auto able = [&](OperandId user) {
    return canRead(graph.instruction(graph.operand(user).owner), producer, dtype);
  };
  bool allCan = true;
  graph.forEachLoad(graph.instruction(producer).dst,
                    [&](OperandId load) { allCan = allCan && (load == asking || able(load)); });
  const OperandId first = graph.instruction(producer).firstUser;
  if (!allCan || first == OperandId::kNone) return allCan;

  if (scan_.dtype != dtype || scan_.epoch != graph.retypeEpoch())
    scan_ = {.dtype = dtype, .epoch = graph.retypeEpoch()};
  OperandId& next = scan_.next.try_emplace(producer, first).first->second;
  while (next != OperandId::kNone && able(next)) next = graph.operand(next).next;
  if (next != asking) return next == OperandId::kNone;
  for (OperandId user = graph.operand(asking).next; user != OperandId::kNone; user = graph.operand(user).next)
    if (!able(user)) return false;
  return true;
}

}  // namespace dtypemut
