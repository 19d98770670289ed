// Joint propagation (spec 10) written down as plainly as it is told, for small graphs: by looking at every instruction
// for each question, and by trying out every set. Shares no condition with the pass.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "dtypemut/ir/graph.h"
#include "dtypemut/passes/propagate.h"
#include "dtypemut/target/target.h"

namespace dtypemut {

/// By TensorId: who is in.
using TensorSet = std::vector<bool>;

class JointOracle {
 public:
  /// The graph must be as its document says, and must outlive the oracle.
  JointOracle(const Graph& graph, const Target& target, const PropagateOptions& options);

  /// The name of the first condition of eligibility that fails, its dtype apart; "" when none does.
  std::string whyNotEligible(TensorId id) const;
  /// All eligible tensors.
  TensorSet eligible() const;

  /// Whether no link of a member is broken.
  bool isConsistent(const TensorSet& set) const;
  /// Takes members with broken links from the eligible tensors, in any order, until there are none.
  TensorSet removeInOrder(std::mt19937_64& random) const;
  /// The union of all consistent sets of eligible tensors, tried out one by one; nullopt when they are more than
  /// 2^limit. The test fails if that is not consistent itself: then there would be no greatest one.
  std::optional<TensorSet> greatest(std::size_t limit) const;

  /// Of a consistent set: what is asked for, and what links tie to it.
  TensorSet askedFor(const TensorSet& set) const;
  /// What is reported when `greatest` is the greatest consistent set: ASKING.OPERAND ANSWER for each candidate edge, in
  /// walk order, separated by "; ".
  std::string decisions(const TensorSet& greatest) const;

 private:
  struct Link {
    TensorId other;  ///< kNone when there is no tensor
    bool isMove;
  };

  bool canBecome(Dtype dtype) const { return dtype != options_.dtype && options_.from.contains(dtype); }
  std::string whyNotStored(InstructionId store) const;
  std::string whyLoadRefuses(const Instruction& load) const;
  bool canReadOp(const Instruction& reader) const;
  bool isBroken(const Link& link, const TensorSet& set) const;
  bool asks(const Instruction& instruction) const;
  bool isCandidateOf(const Instruction& asking, const Operand& operand) const;
  std::vector<Link> findLinks(TensorId id) const;

  template <typename F>
  void forEachInstruction(F&& f) const {
    for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i)
      f(InstructionId{i}, graph_.instruction(InstructionId{i}));
  }

  const Graph& graph_;
  const Target& target_;
  const PropagateOptions& options_;
  std::vector<std::vector<Link>> links_;  // by tensor
};

}  // namespace dtypemut
