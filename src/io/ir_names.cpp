#include "ir_names.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dtypemut/io/json_text.h"
#include "dtypemut/types/spelling.h"
#include "ir_blame.h"

namespace dtypemut {
namespace {

struct Reference {
  InstructionId owner = InstructionId::kNone;
  std::uint32_t part = 0;  // the index of the operand, or Blame::kDst
  bool isInstruction = false;
  std::uint64_t token = 0;
};

/// Resolves the references of some instructions. Several are looked up at once, each step of all before the next: most
/// of the time goes to waiting for memory.
class Resolver {
 public:
  Resolver(std::string_view text, Graph& graph, std::vector<Reference>& dangling)
      : text_(text), graph_(graph), dangling_(dangling) {}

  void resolve(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const InstructionId id{i};
      const Instruction& owner = graph_.instruction(id);
      for (std::uint32_t k = 0; k < owner.operandCount; ++k) {
        const Operand& operand = graph_.operand(graph_.operandId(owner, k));
        if (!operand.isImmediate()) add({id, k, operand.isInstruction(), operand.token});
      }
      if (owner.dstToken != 0) add({id, Blame::kDst, false, owner.dstToken});
    }
    findAll();
  }

 private:
  static constexpr std::size_t kAhead = 32;

  struct Lookup {
    Reference reference;
    HashedName name;
    std::string buffer;
  };

  void add(const Reference& reference) {
    Lookup& lookup = lookups_[count_];
    lookup.reference = reference;
    lookup.name = HashedName(stringContent(text_, reference.token, lookup.buffer));
    if (reference.isInstruction)
      graph_.prefetchInstruction(lookup.name);
    else
      graph_.prefetchTensor(lookup.name);
    if (++count_ == kAhead) findAll();
  }

  void findAll() {
    for (std::size_t i = 0; i < count_; ++i) find(lookups_[i].reference, lookups_[i].name);
    count_ = 0;
  }

  void find(const Reference& reference, const HashedName& name) {
    std::uint32_t target = NameIndex::kNone;
    if (!reference.isInstruction)
      target = static_cast<std::uint32_t>(graph_.findTensor(name));
    else if (const InstructionId found = graph_.findInstruction(name); found < reference.owner)
      target = static_cast<std::uint32_t>(found);
    if (target == NameIndex::kNone) dangling_.push_back(reference);

    Instruction& owner = graph_.instruction(reference.owner);
    if (reference.part == Blame::kDst) {
      owner.dst = TensorId{target};
    } else {
      Operand& operand = graph_.operand(graph_.operandId(owner, reference.part));
      operand.target = target;
      if (target == NameIndex::kNone) operand.kind = OperandKind::kImmediate;
    }
  }

  std::string_view text_;
  Graph& graph_;
  std::vector<Reference>& dangling_;
  std::array<Lookup, kAhead> lookups_;
  std::size_t count_ = 0;
};

/// The references that found nothing, in the order of their instructions.
std::vector<Reference> resolve(std::string_view text, Graph& graph, bool severalThreads) {
  constexpr std::uint32_t kGrain = 8192;
  std::vector<Reference> dangling;
  if (!severalThreads) {
    Resolver(text, graph, dangling).resolve(0, graph.instructionCount());
    return dangling;
  }
  namespace tbb = oneapi::tbb;
  tbb::enumerable_thread_specific<std::vector<Reference>> found;
  tbb::parallel_for(tbb::blocked_range<std::uint32_t>(0, graph.instructionCount(), kGrain), [&](const auto& block) {
    Resolver(text, graph, found.local()).resolve(block.begin(), block.end());
  });
  for (const std::vector<Reference>& some : found) dangling.insert(dangling.end(), some.begin(), some.end());
  std::sort(dangling.begin(), dangling.end(), [](const Reference& a, const Reference& b) {
    return std::tie(a.owner, a.part) < std::tie(b.owner, b.part);
  });
  return dangling;
}

/// The name that may have been meant, for people.
template <typename NameOf>
std::string guess(std::string_view name, std::uint32_t count, NameOf&& nameOf) {
  constexpr std::uint32_t kMostGuessed = 50'000;  // a guess is not worth the wait beyond
  if (count > kMostGuessed) return "";
  std::vector<std::string_view> names(count);
  for (std::uint32_t i = 0; i < count; ++i) names[i] = nameOf(i);
  const auto nearest = nearestName(name, names);
  return nearest ? " (did you mean '" + std::string(*nearest) + "'?)" : "";
}

/// Why the reference to a tensor, or to an instruction, found nothing.
std::string whyDangling(const Graph& graph, std::string_view name, bool isInstruction) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (!isInstruction)
    return "unknown tensor " + quoted +
           guess(name, graph.tensorCount(), [&](std::uint32_t i) { return graph.tensor(TensorId{i}).name; });
  if (graph.findInstruction(name) != InstructionId::kNone)
    return "instruction " + quoted + " does not stand earlier in the list";
  return "unknown instruction " + quoted + guess(name, graph.instructionCount(), [&](std::uint32_t i) {
           return graph.instruction(InstructionId{i}).name;
         });
}

/// `what` is the kind of the nodes.
template <typename Id, typename NodeOf>
void reportNamesakes(const std::vector<std::pair<Id, Id>>& namesakes, std::string_view what, NodeOf&& nodeOf,
                     Diagnostics& diagnostics) {
  for (const auto& [id, first] : namesakes) {
    if (diagnostics.full()) return;
    const auto& node = nodeOf(id);
    diagnostics.error(node.nameToken, Blame{.what = what, .name = node.name}.toString() + "another " +
                                          std::string(what) + " has this name");
    diagnostics.note(nodeOf(first).nameToken, "the other " + std::string(what) + " '" + std::string(node.name) + "'");
  }
}

}  // namespace

void indexNames(Graph& graph, bool severalThreads, Diagnostics& diagnostics) {
  std::vector<std::pair<TensorId, TensorId>> tensors;
  std::vector<std::pair<InstructionId, InstructionId>> instructions;
  const auto indexTensors = [&] { tensors = graph.indexTensors(); };
  const auto indexInstructions = [&] { instructions = graph.indexInstructions(); };
  if (severalThreads) {
    oneapi::tbb::parallel_invoke(indexTensors, indexInstructions);
  } else {
    indexTensors();
    indexInstructions();
  }
  reportNamesakes(
      tensors, "tensor", [&](TensorId id) -> const Tensor& { return graph.tensor(id); }, diagnostics);
  reportNamesakes(
      instructions, "instruction", [&](InstructionId id) -> const Instruction& { return graph.instruction(id); },
      diagnostics);
}

void resolveReferences(std::string_view text, Graph& graph, bool severalThreads, Diagnostics& diagnostics) {
  for (const Reference& reference : resolve(text, graph, severalThreads)) {
    if (diagnostics.full()) return;
    const Blame blame{.what = "instruction", .name = graph.instruction(reference.owner).name, .part = reference.part};
    std::string buffer;
    const std::string_view name = stringContent(text, reference.token, buffer);
    diagnostics.error(reference.token, blame.toString() + whyDangling(graph, name, reference.isInstruction));
  }
}

}  // namespace dtypemut
