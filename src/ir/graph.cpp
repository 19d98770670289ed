#include "dtypemut/ir/graph.h"

#include <new>
#include <utility>

#include "huge_pages.h"

namespace dtypemut {
namespace {

template <typename Nodes>
auto namesOf(const Nodes& nodes) {
  return [&nodes](std::uint32_t number) { return nodes[number].name; };
}

template <typename Nodes>
void reserveNodes(Nodes& nodes, std::size_t count) {
  try {
    nodes.reserve(count);
  } catch (const std::bad_alloc&) {
    return;  // the guess may be far too high
  }
  adviseHugePages(nodes.data(), nodes.capacity() * sizeof(nodes[0]));
}

template <typename Id, typename Nodes>
std::vector<std::pair<Id, Id>> indexNames(NameIndex& names, const Nodes& nodes) {
  std::vector<std::pair<Id, Id>> namesakes;
  names.insertAll(static_cast<std::uint32_t>(nodes.size()), namesOf(nodes),
                  [&](std::uint32_t number, std::uint32_t first) { namesakes.emplace_back(Id{number}, Id{first}); });
  return namesakes;
}

}  // namespace

void Graph::addTensor(Tensor tensor, std::span<const std::uint64_t> shape) {
  tensor.shapeBegin = static_cast<std::uint32_t>(dimensions_.size());
  tensor.rank = static_cast<std::uint32_t>(shape.size());
  tensors_.push_back(tensor);
  dimensions_.insert(dimensions_.end(), shape.begin(), shape.end());
}

void Graph::addInstruction(Instruction instruction, std::span<const Operand> operands) {
  const InstructionId id{instructionCount()};
  instruction.firstOperand = static_cast<std::uint32_t>(operands_.size());
  instruction.operandCount = static_cast<std::uint32_t>(operands.size());
  instructions_.push_back(instruction);
  for (const Operand& operand : operands) {
    operands_.push_back(operand);
    operands_.back().owner = id;
  }
}

void Graph::reserveTensors(std::size_t count) { reserveNodes(tensors_, count); }

void Graph::reserveInstructions(std::size_t count, std::size_t operands) {
  reserveNodes(instructions_, count);
  reserveNodes(operands_, operands);
}

std::uint32_t Graph::addConstData(const ConstData& data) {
  constData_.push_back(data);
  return static_cast<std::uint32_t>(constData_.size() - 1);
}

std::string_view Graph::keepText(std::string text) { return texts_.emplace_back(std::move(text)); }

void Graph::join(Graph other) {
  if (!other.tensors_.empty()) {
    tensors_ = std::move(other.tensors_);
    dimensions_ = std::move(other.dimensions_);
    constData_ = std::move(other.constData_);
  }
  if (!other.instructions_.empty()) {
    instructions_ = std::move(other.instructions_);
    operands_ = std::move(other.operands_);
    opaqueOps_ = std::move(other.opaqueOps_);
  }
  texts_.splice(texts_.end(), other.texts_);
}

std::vector<std::pair<TensorId, TensorId>> Graph::indexTensors() {
  return indexNames<TensorId>(tensorNames_, tensors_);
}

std::vector<std::pair<InstructionId, InstructionId>> Graph::indexInstructions() {
  return indexNames<InstructionId>(instructionNames_, instructions_);
}

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

TensorId Graph::findTensor(const HashedName& name) const {
  return TensorId{tensorNames_.find(name, namesOf(tensors_))};
}

InstructionId Graph::findInstruction(const HashedName& name) const {
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
  countRetype(dtype);
  instruction(id).dtype = dtype;
  if (instruction(id).hasDst()) mutateTensorTy(instruction(id).dst, dtype);
}

void Graph::mutateTensorTy(TensorId id, Dtype dtype) {
  countRetype(dtype);
  tensor(id).dtype = dtype;
}

void Graph::countRetype(Dtype dtype) {
  ++retypes_;
  ++retypesTo_[static_cast<std::size_t>(dtype)];
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
