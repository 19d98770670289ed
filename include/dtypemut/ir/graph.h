// The backend IR of one program (spec 2): tensors, the instructions that read and store them, and the facts that
// follow. Nodes remember where their retypable tokens stand in the document as byte offsets; the graph itself knows
// nothing of JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dtypemut/ir/name_index.h"
#include "dtypemut/ir/op_table.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

// Nodes are numbered in document order, each kind for itself.
enum class TensorId : std::uint32_t { kNone = UINT32_MAX };
enum class InstructionId : std::uint32_t { kNone = UINT32_MAX };
enum class OperandId : std::uint32_t { kNone = UINT32_MAX };

enum class Space : std::uint8_t { kDram, kSbuf, kPsum };
enum class TensorKind : std::uint8_t { kInternal, kInput, kOutput, kConst };

/// As spelled in a document, in the order of the enumerators; the first is what a document leaves out.
inline constexpr std::string_view kSpaceNames[] = {"dram", "sbuf", "psum"};
inline constexpr std::string_view kTensorKindNames[] = {"internal", "input", "output", "const"};
constexpr std::string_view spaceName(Space space) { return kSpaceNames[static_cast<std::size_t>(space)]; }
constexpr std::string_view kindName(TensorKind kind) { return kTensorKindNames[static_cast<std::size_t>(kind)]; }

/// How a document states the elements of a const tensor.
enum class DataForm : std::uint8_t { kSplat, kValues, kBase64, kFile, kSafetensors };

/// The data of a const tensor, as the document states it. Which bytes these are is a matter of io/weights.
struct ConstData {
  DataForm form = DataForm::kSplat;
  std::uint64_t tensorToken = 0;  ///< where the tensor's object begins
  std::uint64_t dataToken = 0;    ///< where the data object begins
  std::uint64_t valueToken = 0;   ///< the value of the key that names the form
  std::string_view file;          ///< the path of a file or safetensors form
  std::string_view entry;         ///< safetensors: the tensor's name there
  std::uint64_t fileOffset = 0;   ///< file: where the bytes begin
};

struct Tensor {
  std::string_view name;
  std::uint64_t nameToken = 0;
  std::uint64_t dtypeToken = 0;
  std::uint64_t elementCount = 1;  ///< stored elements: for packed dtypes, containers
  std::uint32_t shapeBegin = 0;    // see Graph::shape
  std::uint32_t rank = 0;
  std::uint32_t constData = UINT32_MAX;  // see Graph::constData
  Dtype dtype = Dtype::kNone;
  Dtype documentDtype = Dtype::kNone;  ///< before any retype
  Space space = Space::kDram;
  TensorKind kind = TensorKind::kInternal;
  TensorId cloneOf = TensorId::kNone;  ///< the weight that this one is the cast of

  // Kept by Graph.
  OperandId firstLoad = OperandId::kNone;
  std::uint32_t loadCount = 0;
  InstructionId firstStore = InstructionId::kNone;
  std::uint32_t storeCount = 0;

  bool isConst() const { return kind == TensorKind::kConst; }
  /// An input, output or const: its dtype is not the pass's to choose.
  bool isInterface() const { return kind != TensorKind::kInternal; }
  std::uint64_t sizeInBytes() const { return elementCount * containerBytes(dtype); }
};

enum class OperandKind : std::uint8_t { kTensor, kInstruction, kImmediate };

struct Operand {
  std::uint64_t token = 0;  ///< the value that names the target; of an immediate, its value
  std::uint32_t target = UINT32_MAX;
  InstructionId owner = InstructionId::kNone;
  OperandId next = OperandId::kNone;  // among the operands with this target, kept by Graph
  OperandId previous = OperandId::kNone;
  OperandKind kind = OperandKind::kImmediate;
  Dtype viewDtype = Dtype::kNone;  ///< of a reinterpreting view; kNone elsewhere

  bool isTensor() const { return kind == OperandKind::kTensor; }
  bool isInstruction() const { return kind == OperandKind::kInstruction; }
  bool isImmediate() const { return kind == OperandKind::kImmediate; }
  bool reinterprets() const { return viewDtype != Dtype::kNone; }
  TensorId tensor() const { return isTensor() ? TensorId{target} : TensorId::kNone; }
  InstructionId instruction() const { return isInstruction() ? InstructionId{target} : InstructionId::kNone; }
};

struct Instruction {
  std::string_view name;
  std::uint64_t token = 0;  ///< where the instruction's object begins
  std::uint64_t nameToken = 0;
  std::uint64_t dtypeToken = 0;
  std::uint64_t dstToken = 0;
  std::uint32_t firstOperand = 0;
  std::uint32_t operandCount = 0;
  DtypeSet allowedDtypes;  ///< meaningless unless hasAllowedDtypes
  TensorId dst = TensorId::kNone;
  Op op = Op::kOpaque;
  Dtype dtype = Dtype::kNone;  ///< of the result; kNone when there is none
  Dtype documentDtype = Dtype::kNone;
  Dtype dstViewDtype = Dtype::kNone;  ///< kNone unless the dst reinterprets
  bool reinterpret : 1 = false;
  bool hasPartitionBroadcast : 1 = false;
  bool hasAllowedDtypes : 1 = false;
  bool hasCanMutateDstTy : 1 = false;   ///< the document says can_mutate_dst_ty ...
  bool saysCanMutateDstTy : 1 = false;  ///< ... and this

  // Kept by Graph.
  InstructionId nextStore = InstructionId::kNone;  // among the stores of `dst`
  OperandId firstUser = OperandId::kNone;          // {"inst"} operands
  std::uint32_t instUserCount = 0;

  OpKind kind() const { return opKind(op); }
  bool hasDst() const { return dst != TensorId::kNone; }
  bool dstReinterprets() const { return dstViewDtype != Dtype::kNone; }
};

/// An op name the table does not have, and where the document names it first.
struct OpaqueOp {
  std::string_view name;
  std::uint64_t token = 0;
};

class Graph {
 public:
  // ---- building, by the reader
  /// Adds a node at the end of its list.
  void addTensor(Tensor tensor, std::span<const std::uint64_t> shape);
  void addInstruction(Instruction instruction, std::span<const Operand> operands);
  /// Makes room for so many nodes at once, if there is so much; what is not needed costs address space only.
  void reserveTensors(std::size_t count);
  void reserveInstructions(std::size_t count, std::size_t operands);
  std::uint32_t addConstData(const ConstData& data);
  void addOpaqueOp(OpaqueOp op) { opaqueOps_.push_back(op); }
  /// Keeps a text that does not stand in the document as it is (it was escaped there, or the pass made it).
  std::string_view keepText(std::string text);
  /// Takes the tensors, the instructions or both from another graph. Of what it takes this one must have none.
  void join(Graph other);
  /// Lets nodes be found by name. Returns those whose name is that of a node before them, each with that one, which is
  /// what will be found. Both may run at the same time.
  std::vector<std::pair<TensorId, TensorId>> indexTensors();
  std::vector<std::pair<InstructionId, InstructionId>> indexInstructions();
  /// Derives loads, stores and users, once every operand and dst has its target.
  void link();

  // ---- nodes
  std::uint32_t tensorCount() const { return static_cast<std::uint32_t>(tensors_.size()); }
  std::uint32_t instructionCount() const { return static_cast<std::uint32_t>(instructions_.size()); }
  std::uint32_t operandCount() const { return static_cast<std::uint32_t>(operands_.size()); }
  /// Tensors of the document, without what a pass added.
  std::uint32_t documentTensorCount() const { return documentTensorCount_; }

  const Tensor& tensor(TensorId id) const { return tensors_[static_cast<std::uint32_t>(id)]; }
  Tensor& tensor(TensorId id) { return tensors_[static_cast<std::uint32_t>(id)]; }
  const Instruction& instruction(InstructionId id) const { return instructions_[static_cast<std::uint32_t>(id)]; }
  Instruction& instruction(InstructionId id) { return instructions_[static_cast<std::uint32_t>(id)]; }
  const Operand& operand(OperandId id) const { return operands_[static_cast<std::uint32_t>(id)]; }
  Operand& operand(OperandId id) { return operands_[static_cast<std::uint32_t>(id)]; }
  OperandId operandId(const Instruction& instruction, std::uint32_t index) const {
    return OperandId{instruction.firstOperand + index};
  }
  std::span<const Operand> operands(const Instruction& instruction) const {
    return {operands_.data() + instruction.firstOperand, instruction.operandCount};
  }
  /// The position of an operand among those of its instruction.
  std::uint32_t operandIndex(OperandId id) const {
    return static_cast<std::uint32_t>(id) - instruction(operand(id).owner).firstOperand;
  }
  std::span<const std::uint64_t> shape(const Tensor& tensor) const {
    return {dimensions_.data() + tensor.shapeBegin, tensor.rank};
  }
  /// `tensor` must be const.
  const ConstData& constData(const Tensor& tensor) const { return constData_[tensor.constData]; }
  std::span<const OpaqueOp> opaqueOps() const { return opaqueOps_; }

  TensorId findTensor(const HashedName& name) const;
  TensorId findTensor(std::string_view name) const { return findTensor(HashedName(name)); }
  InstructionId findInstruction(const HashedName& name) const;
  InstructionId findInstruction(std::string_view name) const { return findInstruction(HashedName(name)); }
  /// For a name that is about to be looked for.
  void prefetchTensor(const HashedName& name) const { tensorNames_.prefetch(name); }
  void prefetchInstruction(const HashedName& name) const { instructionNames_.prefetch(name); }

  // ---- derived facts (spec 2), each in constant time
  /// How many operands, anywhere, read the tensor.
  std::uint32_t nLoads(TensorId id) const { return tensor(id).loadCount; }
  bool singleDefSingleUse(TensorId id) const { return tensor(id).storeCount == 1 && tensor(id).loadCount == 1; }
  /// {"inst"} operands that name the instruction, plus the loads of its dst tensor.
  std::uint32_t users(InstructionId id) const;
  bool hasSingleUser(InstructionId id) const { return users(id) == 1; }
  /// Of an SBAtomLoad, or a NeuronIndirectLoad, whose first operand is the table: whether its source is const.
  bool loadConst(InstructionId id) const;
  /// The view's dtype when the operand reinterprets, else its tensor's or instruction's; kNone for an immediate.
  Dtype dtype(const Operand& operand) const;
  /// The tensor that an operand reads: its own, or its instruction's dst. kNone when there is none.
  TensorId tensorBehind(const Operand& operand) const;

  // ---- ranges over derived facts; F takes the id
  template <typename F>
  void forEachLoad(TensorId id, F&& f) const {
    for (OperandId load = tensor(id).firstLoad; load != OperandId::kNone; load = operand(load).next) f(load);
  }
  template <typename F>
  void forEachStore(TensorId id, F&& f) const {
    for (InstructionId s = tensor(id).firstStore; s != InstructionId::kNone; s = instruction(s).nextStore) f(s);
  }
  /// The {"inst"} operands that name the instruction.
  template <typename F>
  void forEachInstUser(InstructionId id, F&& f) const {
    for (OperandId u = instruction(id).firstUser; u != OperandId::kNone; u = operand(u).next) f(u);
  }

  // ---- what the pass does (spec 4)
  /// The next free id: they count up from the number of tensors and instructions in the document.
  std::uint64_t allocateId() { return nextId_++; }
  /// Retypes an instruction's result and, when it has one, its dst tensor.
  void mutateDstTy(InstructionId id, Dtype dtype);
  void mutateTensorTy(TensorId id, Dtype dtype);
  /// How many retypes so far went to any other dtype than this one.
  std::uint64_t retypesToOthers(Dtype dtype) const { return retypes_ - retypesTo_[static_cast<std::size_t>(dtype)]; }
  /// Adds a tensor like `original` but for name and dtype, read by nothing.
  TensorId clone(TensorId original, std::string name, Dtype dtype);
  /// Lets an operand read another tensor.
  void replaceTensor(OperandId id, TensorId replacement);

 private:
  void countRetype(Dtype dtype);
  void insertLoad(OperandId id);
  void removeLoad(OperandId id);

  std::vector<Tensor> tensors_;
  std::vector<Instruction> instructions_;
  std::vector<Operand> operands_;
  std::vector<std::uint64_t> dimensions_;
  std::vector<ConstData> constData_;
  std::vector<OpaqueOp> opaqueOps_;
  std::list<std::string> texts_;
  NameIndex tensorNames_;
  NameIndex instructionNames_;
  std::uint32_t documentTensorCount_ = 0;
  std::uint64_t nextId_ = 0;
  std::uint64_t retypes_ = 0;
  std::array<std::uint64_t, kDtypeCount> retypesTo_{};
};

}  // namespace dtypemut
