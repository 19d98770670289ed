// The pass of the source document: moves a dtype to the producer of a value by retyping its destination in place
// (spec 4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/ir/graph.h"
#include "dtypemut/passes/reason.h"
#include "dtypemut/passes/statistics.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

/// What became of a request (reference.md section 1).
class MutateState {
 public:
  enum Value : std::uint8_t {
    Match,    ///< the value has the dtype already, or accepts it
    Mutated,  ///< the dtype was changed in place
    Mismatch  ///< the dtype cannot flow here
  };
  constexpr MutateState(Value value) : value_(value) {}  // NOLINT: an enum with accessors
  constexpr bool match() const { return value_ == Match; }
  constexpr bool mutated() const { return value_ == Mutated; }
  constexpr bool mismatch() const { return value_ == Mismatch; }
  constexpr bool matchOrMutated() const { return value_ != Mismatch; }
  constexpr bool operator==(const MutateState&) const = default;

 private:
  Value value_;
};

/// The answer for one edge: an operand, and the instruction that produces what it reads.
struct Decision {
  OperandId operand = OperandId::kNone;
  InstructionId producer = InstructionId::kNone;  ///< kNone where it was not looked for, or is not sole
  MutateState state = MutateState::Match;
  Reason reason = Reason::kNone;  ///< of a Mismatch
};

class DTypeMutator {
 public:
  /// `mutateMultiUsers` is the knob of gate 7. The function must outlive the mutator or the next setFunction().
  DTypeMutator(bool mutateMultiUsers, Graph& function, const Target& target);

  /// Re-points the mutator and keeps the memo, which speaks of the tensors of the old function: call reset() as well
  /// unless the new one continues it.
  void setFunction(Graph& function);
  /// Clears the memo.
  void reset();

  /// Retypes the producer of what `operand` reads to `dtype`, where that is right.
  MutateState matchOrMutateDstTy(OperandId operand, Dtype dtype);
  /// Whether the dtype is satisfiable there: not Mismatch.
  bool tryMutateDstTy(OperandId operand, Dtype dtype);
  /// Retypes an SBAtomLoad: folds the cast into a const source, or lets the DMA carry it.
  MutateState mutateLoad(InstructionId load, Dtype dtype);
  /// Lets a load read a copy of its const source that has `dtype`, made once per source and dtype; the bytes are cast
  /// when the result is written. "Can only cast weight" when the source is not const.
  Status staticCastLoadTensor(InstructionId load, Dtype dtype);

  /// What matchOrMutateDstTy would do. Changes nothing.
  Decision decide(OperandId operand, Dtype dtype) const;
  /// What mutateLoad would do: its state, and the reason of a Mismatch.
  Decision decideLoad(InstructionId load, Dtype dtype) const;
  /// Carries out a decision made for `dtype` on the graph as it is now.
  void apply(const Decision& decision, Dtype dtype);
  /// Retypes the result of one store of a tensor that is retyped as a whole (spec 10): as mutateLoad does, which must
  /// not refuse, with a load whose const source has `dtype` ceasing to widen; or, when it is no load, by its dtype.
  void retypeStore(InstructionId store, bool isLoad, Dtype dtype);

  // ---- conditions that other policies share with the gates
  /// Why can_mutate_dst_ty of the instruction is false (spec 2; gate 8); kNone when it is true.
  Reason whyNotCanMutateDstTy(InstructionId id) const;
  bool canMutateDstTy(InstructionId id) const { return whyNotCanMutateDstTy(id) == Reason::kNone; }
  /// Whether a TensorScalarGEPOp refuses the dtype; false for any other op.
  bool isDisallowed(InstructionId id, Dtype dtype) const;
  /// Whether `user` can read `dtype`, apart from a matmul's other operands.
  bool canReadAlone(const Instruction& user, Dtype dtype) const;

  Graph& function() const { return *function_; }
  const Target& target() const { return target_; }
  const Statistics& statistics() const { return statistics_; }
  /// The weights already cast: (source, dtype) -> clone.
  const std::map<std::pair<TensorId, Dtype>, TensorId>& tensorMap() const { return tensorMap_; }

 private:
  bool canRead(const Instruction& user, InstructionId producer, Dtype dtype) const;
  bool everyOtherUserCanRead(InstructionId producer, OperandId asking, Dtype dtype) const;
  TensorId findClone(TensorId source, Dtype dtype) const;
  std::string cloneName(TensorId source);

  std::map<std::pair<TensorId, Dtype>, TensorId> tensorMap_;
  Graph* function_;
  bool mutateMultiUsers_;
  Target target_;
  Statistics statistics_;

  // Of instructions with {"inst"} users: the first of them not yet seen to be able to read dtype_. Once one is able, it
  // stays so as long as retypes go to that dtype; so the users of a value are looked through once, not once per user.
  struct Scan {
    Dtype dtype = Dtype::kNone;
    std::uint64_t epoch = 0;
    std::unordered_map<InstructionId, OperandId> next;
  };
  mutable Scan scan_;
};

}  // namespace dtypemut
