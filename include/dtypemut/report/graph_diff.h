// What differs between two graphs of the IR (`dtypemut diff`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dtypemut/io/source.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

/// A graph beside the text that it was read from. Both must outlive what is made of them.
struct GraphDocument {
  const Source& source;
  const Graph& graph;
};

/// A node of both graphs whose dtype differs; kNone is an instruction without a result.
struct Retype {
  std::string_view name;
  Dtype a = Dtype::kNone;
  Dtype b = Dtype::kNone;
};

/// A node of both graphs that differs otherwise.
struct Change {
  std::string_view name;
  std::string key;  ///< as in the document: op, operands[0], dst, shape, ...
  std::string a;    ///< the value as a compact JSON text; empty where there is none
  std::string b;
};

/// A weight of A in whose stead operands read another of the same shape in B. Only one of the two may be in both.
struct ReplacedWeight {
  TensorId a = TensorId::kNone;
  TensorId b = TensorId::kNone;
  bool aStays = false;                      ///< B has the weight of A as well
  bool bIsNew = true;                       ///< A does not have the weight of B
  std::vector<std::string_view> readers{};  ///< the instructions with these operands, once for each
};

/// Something that a caller of the program notices.
struct InterfaceChange {
  enum class What : std::uint8_t { kRemoved, kAdded, kDtype, kShape, kOrder };

  TensorKind kind = TensorKind::kInput;  ///< kInput or kOutput
  What what = What::kRemoved;
  std::string_view name;  ///< empty for kOrder
  std::string a;          ///< as in Change; for kOrder the names that both have, in order
  std::string b;
};

/// Nodes are matched by name. Views are into the two documents.
struct GraphDiff {
  std::vector<InterfaceChange> interface;  ///< inputs and outputs; the consts are not meant
  std::uint64_t constBytesA = 0;           ///< of the const tensors that are read
  std::uint64_t constBytesB = 0;
  std::vector<ReplacedWeight> replacedWeights;  ///< neither weight is listed as removed or added
  std::vector<Retype> retypedInstructions;
  std::vector<Retype> retypedTensors;
  std::vector<std::string_view> removedInstructions;
  std::vector<std::string_view> removedTensors;
  std::vector<std::string_view> addedInstructions;
  std::vector<std::string_view> addedTensors;
  std::vector<Change> changedInstructions;
  std::vector<Change> changedTensors;
  /// Where the instructions that both have stand in another order: the first of A and of B that do not agree.
  std::optional<std::pair<std::string_view, std::string_view>> instructionOrder;

  bool empty() const;
};

/// Compares what the IR knows of: other keys are left out, and so are the bytes of weights, which are the same when
/// they are stated the same or stand at the same place of the same file. Linear in the documents.
GraphDiff diffGraphs(const GraphDocument& a, const GraphDocument& b);

/// One line per difference under a heading for each kind, with a final line end.
std::string diffText(const GraphDiff& diff, const GraphDocument& a, const GraphDocument& b);

/// The same as a JSON object, each difference on a line of its own.
std::string diffJson(const GraphDiff& diff, const GraphDocument& a, const GraphDocument& b);

}  // namespace dtypemut
