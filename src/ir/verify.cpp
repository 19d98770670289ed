#include "dtypemut/ir/verify.h"

#include <string>
#include <vector>

namespace dtypemut {
namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string opText(const Instruction& instruction) { return std::string(opName(instruction.op)); }

std::string operandText(std::uint32_t index) { return "operand " + std::to_string(index) + ": "; }

class Verifier {
 public:
  Verifier(const Graph& graph, const Target* target)
      : graph_(graph), target_(target), isStored_(graph.tensorCount(), false) {}

  Diagnostics run() {
    for (const OpaqueOp& op : graph_.opaqueOps())
      diagnostics_.warning(op.token, "unknown op " + quoted(op.name) + ": its instructions are left alone");
    for (std::uint32_t i = 0; i < graph_.tensorCount() && !diagnostics_.full(); ++i) {
      const Tensor& tensor = graph_.tensor(TensorId{i});
      if (isForeign(tensor.dtype))
        diagnostics_.error(tensor.dtypeToken, "tensor " + quoted(tensor.name) + ": " + foreignText(tensor.dtype));
    }
    for (std::uint32_t i = 0; i < graph_.instructionCount() && !diagnostics_.full(); ++i)
      check(graph_.instruction(InstructionId{i}));
    return std::move(diagnostics_);
  }

 private:
  void error(const Instruction& instruction, std::uint64_t offset, const std::string& message) {
    diagnostics_.error(offset, "instruction " + quoted(instruction.name) + ": " + message);
  }

  void check(const Instruction& instruction) {
    checkOperands(instruction);
    checkDst(instruction);
    if (instruction.kind() == OpKind::kMatmul) checkMatmul(instruction);
    if (instruction.kind() == OpKind::kMove || instruction.kind() == OpKind::kDma) checkMove(instruction);
    if (isForeign(instruction.dtype)) error(instruction, instruction.dtypeToken, foreignText(instruction.dtype));
  }

  /// Whether the generation lacks the dtype.
  bool isForeign(Dtype dtype) const { return target_ != nullptr && dtype != Dtype::kNone && !target_->has(dtype); }

  std::string foreignText(Dtype dtype) const {
    return std::string(target_->name) + " has no dtype " + quoted(dtypeName(dtype));
  }

  /// {"inst"} operands refer to an instruction with a dtype; nothing internal or output is read before it is stored.
  void checkOperands(const Instruction& instruction) {
    for (std::uint32_t i = 0; i < instruction.operandCount; ++i) {
      const Operand& operand = graph_.operand(graph_.operandId(instruction, i));
      if (operand.isInstruction()) {
        const Instruction& producer = graph_.instruction(operand.instruction());
        if (producer.dtypeToken == 0)
          error(instruction, operand.token,
                operandText(i) + "instruction " + quoted(producer.name) + " has no 'dtype'");
      } else if (operand.isTensor()) {
        const Tensor& tensor = graph_.tensor(operand.tensor());
        const bool mustBeStored = tensor.kind == TensorKind::kInternal || tensor.kind == TensorKind::kOutput;
        if (mustBeStored && !isStored_[operand.target])
          error(instruction, operand.token,
                operandText(i) + "tensor " + quoted(tensor.name) + " is read before it is stored");
      }
      if (operand.reinterprets() && isForeign(operand.viewDtype))
        error(instruction, operand.token, operandText(i) + foreignText(operand.viewDtype));
    }
  }

  /// Nothing stored to an input or const; the dtype of the dst tensor, unless something reinterprets.
  void checkDst(const Instruction& instruction) {
    if (!instruction.hasDst()) return;
    const Tensor& dst = graph_.tensor(instruction.dst);
    isStored_[static_cast<std::uint32_t>(instruction.dst)] = true;
    if (dst.kind == TensorKind::kInput || dst.kind == TensorKind::kConst)
      error(instruction, instruction.dstToken,
            "dst: tensor " + quoted(dst.name) + " is " + (dst.isConst() ? "a const" : "an input") +
                " and cannot be stored to");
    if (instruction.dstReinterprets() && isForeign(instruction.dstViewDtype))
      error(instruction, instruction.dstToken, "dst: " + foreignText(instruction.dstViewDtype));
    const bool known = instruction.dtype != Dtype::kNone && dst.dtype != Dtype::kNone;
    if (known && !instruction.reinterpret && !instruction.dstReinterprets() && instruction.dtype != dst.dtype)
      error(instruction, instruction.dtypeToken,
            "its dtype is " + quoted(dtypeName(instruction.dtype)) + ", but that of its dst tensor " +
                quoted(dst.name) + " is " + quoted(dtypeName(dst.dtype)));
  }

  /// Operands not mixed; with a target, each of a legal dtype.
  void checkMatmul(const Instruction& instruction) {
    if (hasMixedOperands(graph_, instruction, [&](OperandId id) { return graph_.dtype(graph_.operand(id)); })) {
      std::string found;
      for (const Operand& operand : graph_.operands(instruction)) {
        if (operand.isImmediate()) continue;
        found += (found.empty() ? "" : ", ") + std::string(dtypeName(graph_.dtype(operand)));
      }
      error(
          instruction, instruction.nameToken,
          opText(instruction) + " takes its operands all in full precision (float32, float32r) or none, not " + found);
    }
    if (target_ == nullptr) return;
    for (std::uint32_t i = 0; i < instruction.operandCount; ++i) {
      const Operand& operand = graph_.operand(graph_.operandId(instruction, i));
      const Dtype dtype = graph_.dtype(operand);
      if (dtype == Dtype::kNone || target_->matmulDtypes.contains(dtype)) continue;
      error(instruction, operand.token,
            operandText(i) + quoted(dtypeName(dtype)) + " is no legal operand dtype of a " + opText(instruction) +
                " on " + std::string(target_->name) + "; expected one of " + target_->matmulDtypes.toString());
    }
  }

  /// The first operand in the dtype of the result; for a dma op, with a target whose DMA does not cast.
  void checkMove(const Instruction& instruction) {
    const bool mustAgree = instruction.kind() == OpKind::kMove || (target_ != nullptr && !target_->enableDmaCast);
    if (!mustAgree || instruction.operandCount == 0) return;
    const Operand& first = graph_.operand(graph_.operandId(instruction, 0));
    const Dtype read = graph_.dtype(first);
    const Dtype result = instruction.dtype;
    if (read == Dtype::kNone || result == Dtype::kNone || read == result) return;
    const bool isMove = instruction.kind() == OpKind::kMove;
    error(instruction, first.token,
          opText(instruction) + " cannot convert" +
              (isMove ? "" : " (the DMA of " + std::string(target_->name) + " does not cast)") +
              ": its first operand is " + quoted(dtypeName(read)) + ", its result " + quoted(dtypeName(result)));
  }

  const Graph& graph_;
  const Target* target_;
  Diagnostics diagnostics_;
  std::vector<bool> isStored_;  // by an instruction already checked
};

}  // namespace

Diagnostics verify(const Graph& graph, const Target* target) { return Verifier(graph, target).run(); }

}  // namespace dtypemut
