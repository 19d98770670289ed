#include "dtypemut/ir/graph.h"

#include <utility>

namespace dtypemut {
namespace {

template <typename Nodes>
auto namesOf(const Nodes& nodes) {
  return [&nodes](std::uint32_t number) { return nodes[number].name; };
}

}  // namespace

TensorId Graph::addTensor(Tensor tensor, std::span<const std::uint64_t> shape) {
  const auto number = static_cast<std::uint32_t>(tensors_.size());
  tensor.shapeBegin = static_cast<std::uint32_t>(dimensions_.size());
  tensor.rank = static_cast<std::uint32_t>(shape.size());
  tensors_.push_back(tensor);
  const std::uint32_t namesake = tensorNames_.insert(number, namesOf(tensors_));
  if (namesake != NameIndex::kNone) {
    tensors_.pop_back();
    return TensorId{namesake};
  }
  dimensions_.insert(dimensions_.end(), shape.begin(), shape.end());
  return TensorId::kNone;
}

InstructionId Graph::addInstruction(Instruction instruction, std::span<const Operand> operands) {
  const auto number = static_cast<std::uint32_t>(instructions_.size());
  instruction.firstOperand = static_cast<std::uint32_t>(operands_.size());
  instruction.operandCount = static_cast<std::uint32_t>(operands.size());
  instructions_.push_back(instruction);
  const std::uint32_t namesake = instructionNames_.insert(number, namesOf(instructions_));
  if (namesake != NameIndex::kNone) {
    instructions_.pop_back();
    return InstructionId{namesake};
  }
  for (const Operand& operand : operands) {
    operands_.push_back(operand);
    operands_.back().owner = InstructionId{number};
  }
  return InstructionId::kNone;
}

void Graph::reserveInstructions(std::size_t count, std::size_t operands) {
  instructions_.reserve(count);
  operands_.reserve(operands);
}

std::uint32_t Graph::addConstData(const ConstData& data) {
  constData_.push_back(data);
  return static_cast<std::uint32_t>(constData_.size() - 1);
}

std::string_view Graph::keepText(std::string text) { return texts_.emplace_back(std::move(text)); }

void Graph::link() {
  // Backwards, so that prepending leaves the lists in document order.
  for (std::size_t i = operands_.size(); i-- > 0;) {
    const OperandId id{static_cast<std::uint32_t>(i)};
    if (operands_[i].isTensor()) insertLoad(id);
    if (!operands_[i].isInstruction()) continue;
    Instruction& producer = instruction(operands_[i].instruction());
    operands_[i].next = std::exchange(producer.firstUser, id);
    ++producer.instUserCount;
  }
  for (std::size_t i = instructions_.size(); i-- > 0;) {
    if (!instructions_[i].hasDst()) continue;
    Tensor& stored = tensor(instructions_[i].dst);
    instructions_[i].nextStore = std::exchange(stored.firstStore, InstructionId{static_cast<std::uint32_t>(i)});
    ++stored.storeCount;
  }
  documentTensorCount_ = tensorCount();
  nextId_ = std::uint64_t{tensorCount()} + instructionCount();
}

TensorId Graph::findTensor(std::string_view name) const { return TensorId{tensorNames_.find(name, namesOf(tensors_))}; }

InstructionId Graph::findInstruction(std::string_view name) const {
  return InstructionId{instructionNames_.find(name, namesOf(instructions_))};
}

std::uint32_t Graph::users(InstructionId id) const {
  const Instruction& producer = instruction(id);
  return producer.instUserCount + (producer.hasDst() ? nLoads(producer.dst) : 0);
}

bool Graph::loadConst(InstructionId id) const {
  const Instruction& load = instruction(id);
  if (load.op != Op::kSBAtomLoad && load.op != Op::kNeuronIndirectLoad) return false;
  const TensorId source = load.operandCount == 0 ? TensorId::kNone : operand(operandId(load, 0)).tensor();
  return source != TensorId::kNone && tensor(source).isConst();
}

Dtype Graph::dtype(const Operand& operand) const {
  if (operand.reinterprets()) return operand.viewDtype;
  if (operand.isTensor()) return tensor(operand.tensor()).dtype;
  if (operand.isInstruction()) return instruction(operand.instruction()).dtype;
  return Dtype::kNone;
}

TensorId Graph::tensorBehind(const Operand& operand) const {
  return operand.isInstruction() ? instruction(operand.instruction()).dst : operand.tensor();
}

void Graph::mutateDstTy(InstructionId id, Dtype dtype) {
  instruction(id).dtype = dtype;
  if (instruction(id).hasDst()) mutateTensorTy(instruction(id).dst, dtype);
}

void Graph::mutateTensorTy(TensorId id, Dtype dtype) {
  if (std::exchange(lastRetype_, dtype) != dtype) ++retypeEpoch_;
  tensor(id).dtype = dtype;
}

TensorId Graph::clone(TensorId original, std::string name, Dtype dtype) {
  const TensorId id{tensorCount()};
  Tensor copy = tensor(original);
  copy.name = keepText(std::move(name));
  copy.dtype = dtype;
  copy.cloneOf = original;
  copy.firstLoad = OperandId::kNone;
  copy.loadCount = 0;
  tensors_.push_back(copy);
  tensorNames_.insert(static_cast<std::uint32_t>(id), namesOf(tensors_));
  return id;
}

void Graph::replaceTensor(OperandId id, TensorId replacement) {
  removeLoad(id);
  operand(id).target = static_cast<std::uint32_t>(replacement);
  insertLoad(id);
}

void Graph::insertLoad(OperandId id) {
  Tensor& read = tensor(operand(id).tensor());
  operand(id).previous = OperandId::kNone;
  operand(id).next = read.firstLoad;
  if (read.firstLoad != OperandId::kNone) operand(read.firstLoad).previous = id;
  read.firstLoad = id;
  ++read.loadCount;
}

void Graph::removeLoad(OperandId id) {
  const Operand& load = operand(id);
  Tensor& read = tensor(load.tensor());
  if (load.previous == OperandId::kNone)
    read.firstLoad = load.next;
  else
    operand(load.previous).next = load.next;
  if (load.next != OperandId::kNone) operand(load.next).previous = load.previous;
  --read.loadCount;
}

}  // namespace dtypemut
