#include "dtypemut/report/graph_diff.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>

#include "dtypemut/io/json_text.h"
#include "dtypemut/report/run_report.h"

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

// ---- what the IR knows of a node, as compact JSON texts

std::string boolText(bool value) { return value ? "true" : "false"; }

std::string viewText(std::string_view tensor, Dtype viewDtype) {
  std::string text = "{\"tensor\": " + quoteString(tensor);
  if (viewDtype != Dtype::kNone) text += ", \"reinterpret\": true, \"dtype\": " + quoteString(dtypeName(viewDtype));
  return text + "}";
}

std::string operandText(const GraphDocument& document, const Operand& operand) {
  const Graph& graph = document.graph;
  if (operand.isTensor()) return viewText(graph.tensor(operand.tensor()).name, operand.viewDtype);
  if (operand.isInstruction()) return "{\"inst\": " + quoteString(graph.instruction(operand.instruction()).name) + "}";
  return "{\"imm\": " + compactValue(document.source.text(), operand.token) + "}";
}

std::string dstText(const GraphDocument& document, const Instruction& instruction) {
  if (!instruction.hasDst()) return "";
  return viewText(document.graph.tensor(instruction.dst).name, instruction.dstViewDtype);
}

/// The name of an op as the document spells it.
std::string opText(const GraphDocument& document, const Instruction& instruction) {
  if (instruction.op != Op::kOpaque) return quoteString(opName(instruction.op));
  const std::string_view text = document.source.text();
  std::string spelled;
  forEachMember(text, instruction.token, [&](const JsonMember& member) {
    if (decodeString(valueAt(text, member.key)) != "op") return true;
    spelled = quoteString(decodeString(valueAt(text, member.value)));
    return false;
  });
  return spelled;
}

std::string allowedDtypesText(const Instruction& instruction) {
  if (!instruction.hasAllowedDtypes) return "";
  std::string text = "[";
  for (const DtypeInfo& info : kDtypes)
    if (instruction.allowedDtypes.contains(info.dtype)) text += (text.size() > 1 ? ", " : "") + quoteString(info.name);
  return text + "]";
}

std::string canMutateDstTyText(const Instruction& instruction) {
  return instruction.hasCanMutateDstTy ? boolText(instruction.saysCanMutateDstTy) : "";
}

std::string shapeText(const Graph& graph, const Tensor& tensor) {
  std::string text = "[";
  for (const std::uint64_t dimension : graph.shape(tensor))
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

std::string dataText(const GraphDocument& document, const Tensor& tensor) {
  if (!tensor.isConst()) return "";
  constexpr std::size_t kLongest = 80;
  const ConstData& data = document.graph.constData(tensor);
  const auto whole = [&](std::string_view key) {
    const std::string text = compactValue(document.source.text(), data.valueToken);
    return "{\"" + std::string(key) + "\": " + (text.size() > kLongest ? "\"...\"" : text) + "}";
  };
  switch (data.form) {
    case DataForm::kSplat:
      return whole("splat");
    case DataForm::kValues:
      return whole("values");
    case DataForm::kBase64:
      return whole("base64");
    case DataForm::kFile:
      return "{\"file\": " + quoteString(data.file) + ", \"offset\": " + std::to_string(data.fileOffset) + "}";
    case DataForm::kSafetensors:
      return "{\"safetensors\": " + quoteString(data.file) + ", \"tensor\": " + quoteString(data.entry) + "}";
  }
  return "";
}

/// Whether two values mean the same, however they are spelled.
bool isSameValue(std::string_view a, std::string_view b) {
  using nlohmann::json;
  return a == b || json::parse(a, nullptr, false) == json::parse(b, nullptr, false);
}

bool isSameFile(const GraphDocument& a, const ConstData& dataA, const GraphDocument& b, const ConstData& dataB) {
  if (dataA.file == dataB.file) return true;
  std::error_code failedA;
  std::error_code failedB;
  const fs::path pathA = fs::weakly_canonical(a.source.folder() / dataA.file, failedA);
  const fs::path pathB = fs::weakly_canonical(b.source.folder() / dataB.file, failedB);
  return !failedA && !failedB && pathA == pathB;
}

/// `weightA` and `weightB` must be const.
bool isSameData(const GraphDocument& a, const Tensor& weightA, const GraphDocument& b, const Tensor& weightB) {
  const ConstData& dataA = a.graph.constData(weightA);
  const ConstData& dataB = b.graph.constData(weightB);
  if (dataA.form != dataB.form) return false;
  if (dataA.form == DataForm::kFile || dataA.form == DataForm::kSafetensors)
    return dataA.entry == dataB.entry && dataA.fileOffset == dataB.fileOffset && isSameFile(a, dataA, b, dataB);
  return isSameValue(valueAt(a.source.text(), dataA.valueToken), valueAt(b.source.text(), dataB.valueToken));
}

bool isSameShape(const Graph& a, const Tensor& tensorA, const Graph& b, const Tensor& tensorB) {
  return std::ranges::equal(a.shape(tensorA), b.shape(tensorB));
}

class Differ {
 public:
  Differ(const GraphDocument& a, const GraphDocument& b)
      : a_(a),
        b_(b),
        tensorsInB_(a.graph.tensorCount()),
        tensorsInA_(b.graph.tensorCount(), TensorId::kNone),
        isReplaced_(a.graph.tensorCount()),
        isReplacement_(b.graph.tensorCount()) {}

  GraphDiff run() {
    matchTensors();
    diffInterface(TensorKind::kInput);
    diffInterface(TensorKind::kOutput);
    diffInstructions();
    diffTensors();
    diff_.constBytesA = constBytes(a_.graph);
    diff_.constBytesB = constBytes(b_.graph);
    return std::move(diff_);
  }

 private:
  void matchTensors();
  void diffInterface(TensorKind kind);
  void diffInterfaceOrder(TensorKind kind);
  void diffInstructions();
  void diffInstructionOrder(const std::vector<InstructionId>& matches);
  void diffInstruction(const Instruction& a, const Instruction& b);
  void diffOperands(const Instruction& a, const Instruction& b);
  bool isSameOperand(const Operand& a, const Operand& b) const;
  bool isReplacedWeight(const Operand& a, const Operand& b) const;
  void addReplacement(const Operand& a, const Operand& b, std::string_view reader);
  void diffTensors();
  void diffTensor(const Tensor& a, const Tensor& b);

  const GraphDocument& a_;
  const GraphDocument& b_;
  GraphDiff diff_;
  std::vector<TensorId> tensorsInB_;                             // of each tensor of A its namesake in B
  std::vector<TensorId> tensorsInA_;                             // and the reverse
  std::vector<bool> isReplaced_;                                 // tensors of A that others replace in B
  std::vector<bool> isReplacement_;                              // tensors of B that replace others
  std::unordered_map<std::uint64_t, std::size_t> replacements_;  // by both weights: its place in replacedWeights
};

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

void Differ::matchTensors() {
  for (std::uint32_t i = 0; i < a_.graph.tensorCount(); ++i) {
    tensorsInB_[i] = b_.graph.findTensor(a_.graph.tensor(TensorId{i}).name);
    if (tensorsInB_[i] != TensorId::kNone) tensorsInA_[index(tensorsInB_[i])] = TensorId{i};
  }
}

// ---- the interface

void Differ::diffInterface(TensorKind kind) {
  using What = InterfaceChange::What;
  const auto add = [&](What what, std::string_view name, std::string a, std::string b) {
    diff_.interface.push_back({.kind = kind, .what = what, .name = name, .a = std::move(a), .b = std::move(b)});
  };
  for (std::uint32_t i = 0; i < a_.graph.tensorCount(); ++i) {
    const Tensor& a = a_.graph.tensor(TensorId{i});
    if (a.kind != kind) continue;
    if (tensorsInB_[i] == TensorId::kNone || b_.graph.tensor(tensorsInB_[i]).kind != kind) {
      add(What::kRemoved, a.name, "", "");
      continue;
    }
    const Tensor& b = b_.graph.tensor(tensorsInB_[i]);
    if (a.dtype != b.dtype) add(What::kDtype, a.name, quoteString(dtypeName(a.dtype)), quoteString(dtypeName(b.dtype)));
    if (!isSameShape(a_.graph, a, b_.graph, b))
      add(What::kShape, a.name, shapeText(a_.graph, a), shapeText(b_.graph, b));
  }
  for (std::uint32_t i = 0; i < b_.graph.tensorCount(); ++i) {
    const Tensor& b = b_.graph.tensor(TensorId{i});
    if (b.kind == kind && (tensorsInA_[i] == TensorId::kNone || a_.graph.tensor(tensorsInA_[i]).kind != kind))
      add(What::kAdded, b.name, "", "");
  }
  diffInterfaceOrder(kind);
}

void Differ::diffInterfaceOrder(TensorKind kind) {
  /// The tensors of that kind in both graphs, in the order of this one.
  const auto common = [&](const Graph& graph, const Graph& other, const std::vector<TensorId>& matches) {
    std::vector<std::string_view> names;
    for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
      const Tensor& tensor = graph.tensor(TensorId{i});
      if (tensor.kind == kind && matches[i] != TensorId::kNone && other.tensor(matches[i]).kind == kind)
        names.push_back(tensor.name);
    }
    return names;
  };
  const auto listText = [](const std::vector<std::string_view>& names) {
    std::string text = "[";
    for (const std::string_view name : names) text += (text.size() > 1 ? ", " : "") + quoteString(name);
    return text + "]";
  };
  const std::vector<std::string_view> a = common(a_.graph, b_.graph, tensorsInB_);
  const std::vector<std::string_view> b = common(b_.graph, a_.graph, tensorsInA_);
  if (a == b) return;
  diff_.interface.push_back(
      {.kind = kind, .what = InterfaceChange::What::kOrder, .name = {}, .a = listText(a), .b = listText(b)});
}

// ---- instructions

void Differ::diffInstructions() {
  std::vector<InstructionId> matches;  // in the order of A, those of B
  std::vector<bool> isInA(b_.graph.instructionCount());
  for (std::uint32_t i = 0; i < a_.graph.instructionCount(); ++i) {
    const Instruction& a = a_.graph.instruction(InstructionId{i});
    const InstructionId match = b_.graph.findInstruction(a.name);
    if (match == InstructionId::kNone) {
      diff_.removedInstructions.push_back(a.name);
      continue;
    }
    matches.push_back(match);
    isInA[static_cast<std::size_t>(match)] = true;
    diffInstruction(a, b_.graph.instruction(match));
  }
  for (std::uint32_t i = 0; i < b_.graph.instructionCount(); ++i)
    if (!isInA[i]) diff_.addedInstructions.push_back(b_.graph.instruction(InstructionId{i}).name);
  diffInstructionOrder(matches);
}

void Differ::diffInstructionOrder(const std::vector<InstructionId>& matches) {
  if (std::is_sorted(matches.begin(), matches.end())) return;
  std::vector<InstructionId> sorted = matches;
  std::sort(sorted.begin(), sorted.end());
  const auto [inA, inB] = std::mismatch(matches.begin(), matches.end(), sorted.begin());
  diff_.instructionOrder = {b_.graph.instruction(*inA).name, b_.graph.instruction(*inB).name};
}

void Differ::diffInstruction(const Instruction& a, const Instruction& b) {
  const auto compare = [&](std::string_view key, std::string textA, std::string textB) {
    if (textA == textB) return;
    diff_.changedInstructions.push_back(
        {.name = a.name, .key = std::string(key), .a = std::move(textA), .b = std::move(textB)});
  };
  if (a.dtype != b.dtype) diff_.retypedInstructions.push_back({.name = a.name, .a = a.dtype, .b = b.dtype});
  if (a.op != b.op || a.op == Op::kOpaque) compare("op", opText(a_, a), opText(b_, b));
  diffOperands(a, b);
  compare("dst", dstText(a_, a), dstText(b_, b));
  compare("reinterpret", boolText(a.reinterpret), boolText(b.reinterpret));
  compare("partition_broadcast", boolText(a.hasPartitionBroadcast), boolText(b.hasPartitionBroadcast));
  compare("can_mutate_dst_ty", canMutateDstTyText(a), canMutateDstTyText(b));
  compare("allowed_dtypes", allowedDtypesText(a), allowedDtypesText(b));
}

void Differ::diffOperands(const Instruction& a, const Instruction& b) {
  const std::span<const Operand> operandsA = a_.graph.operands(a);
  const std::span<const Operand> operandsB = b_.graph.operands(b);
  for (std::size_t i = 0; i < std::max(operandsA.size(), operandsB.size()); ++i) {
    const Operand* operandA = i < operandsA.size() ? &operandsA[i] : nullptr;
    const Operand* operandB = i < operandsB.size() ? &operandsB[i] : nullptr;
    if (operandA != nullptr && operandB != nullptr) {
      if (isSameOperand(*operandA, *operandB)) continue;
      if (isReplacedWeight(*operandA, *operandB)) {
        addReplacement(*operandA, *operandB, a.name);
        if (operandA->viewDtype == operandB->viewDtype) continue;
      }
    }
    diff_.changedInstructions.push_back({.name = a.name,
                                         .key = "operands[" + std::to_string(i) + "]",
                                         .a = operandA == nullptr ? "" : operandText(a_, *operandA),
                                         .b = operandB == nullptr ? "" : operandText(b_, *operandB)});
  }
}

bool Differ::isSameOperand(const Operand& a, const Operand& b) const {
  if (a.kind != b.kind || a.viewDtype != b.viewDtype) return false;
  if (a.isTensor()) return tensorsInB_[index(a.tensor())] == b.tensor();
  if (a.isInstruction())
    return a_.graph.instruction(a.instruction()).name == b_.graph.instruction(b.instruction()).name;
  return isSameValue(valueAt(a_.source.text(), a.token), valueAt(b_.source.text(), b.token));
}

bool Differ::isReplacedWeight(const Operand& a, const Operand& b) const {
  if (!a.isTensor() || !b.isTensor()) return false;
  if (tensorsInB_[index(a.tensor())] != TensorId::kNone && tensorsInA_[index(b.tensor())] != TensorId::kNone)
    return false;
  const Tensor& weightA = a_.graph.tensor(a.tensor());
  const Tensor& weightB = b_.graph.tensor(b.tensor());
  return weightA.isConst() && weightB.isConst() && isSameShape(a_.graph, weightA, b_.graph, weightB);
}

void Differ::addReplacement(const Operand& a, const Operand& b, std::string_view reader) {
  const std::uint64_t both = std::uint64_t{a.target} << 32 | b.target;
  const auto [found, isNew] = replacements_.try_emplace(both, diff_.replacedWeights.size());
  if (isNew) {
    diff_.replacedWeights.push_back({.a = a.tensor(),
                                     .b = b.tensor(),
                                     .aStays = tensorsInB_[index(a.tensor())] != TensorId::kNone,
                                     .bIsNew = tensorsInA_[index(b.tensor())] == TensorId::kNone});
    isReplaced_[index(a.tensor())] = true;
    isReplacement_[index(b.tensor())] = true;
  }
  diff_.replacedWeights[found->second].readers.push_back(reader);
}

// ---- tensors

void Differ::diffTensors() {
  for (std::uint32_t i = 0; i < a_.graph.tensorCount(); ++i) {
    const Tensor& a = a_.graph.tensor(TensorId{i});
    if (tensorsInB_[i] != TensorId::kNone)
      diffTensor(a, b_.graph.tensor(tensorsInB_[i]));
    else if (!isReplaced_[i])
      diff_.removedTensors.push_back(a.name);
  }
  for (std::uint32_t i = 0; i < b_.graph.tensorCount(); ++i)
    if (tensorsInA_[i] == TensorId::kNone && !isReplacement_[i])
      diff_.addedTensors.push_back(b_.graph.tensor(TensorId{i}).name);
}

void Differ::diffTensor(const Tensor& a, const Tensor& b) {
  const auto add = [&](std::string_view key, std::string textA, std::string textB) {
    diff_.changedTensors.push_back(
        {.name = a.name, .key = std::string(key), .a = std::move(textA), .b = std::move(textB)});
  };
  if (a.dtype != b.dtype) diff_.retypedTensors.push_back({.name = a.name, .a = a.dtype, .b = b.dtype});
  if (!isSameShape(a_.graph, a, b_.graph, b)) add("shape", shapeText(a_.graph, a), shapeText(b_.graph, b));
  if (a.space != b.space) add("space", quoteString(spaceName(a.space)), quoteString(spaceName(b.space)));
  if (a.kind != b.kind) add("kind", quoteString(kindName(a.kind)), quoteString(kindName(b.kind)));
  if (a.isConst() != b.isConst() || (a.isConst() && !isSameData(a_, a, b_, b)))
    add("data", dataText(a_, a), dataText(b_, b));
}

// ---- text

std::string_view whatName(InterfaceChange::What what) {
  constexpr std::string_view kNames[] = {"removed", "added", "dtype", "shape", "order"};
  return kNames[static_cast<std::size_t>(what)];
}

std::string arrowText(std::string_view a, std::string_view b) {
  return (a.empty() ? "none" : std::string(a)) + " -> " + (b.empty() ? "none" : std::string(b));
}

/// A heading, unless there is nothing to list, and one line per item.
template <typename Items, typename LineOf>
void appendSection(std::string& text, std::string_view heading, const Items& items, LineOf&& lineOf) {
  if (items.empty()) return;
  text += std::string(heading) + ": " + std::to_string(items.size()) + "\n";
  for (const auto& item : items) text += "  " + oneLine(lineOf(item)) + "\n";
}

std::string interfaceLine(const InterfaceChange& change) {
  using What = InterfaceChange::What;
  const std::string kind(kindName(change.kind));
  const std::string what(whatName(change.what));
  if (change.what == What::kOrder) return kind + "s: " + what + " " + arrowText(change.a, change.b);
  const std::string line = kind + " " + std::string(change.name) + ": " + what;
  return change.a.empty() ? line : line + " " + arrowText(change.a, change.b);
}

std::string weightLine(const ReplacedWeight& weight, const Graph& graphA, const Graph& graphB) {
  const Tensor& a = graphA.tensor(weight.a);
  const Tensor& b = graphB.tensor(weight.b);
  std::string line = arrowText(a.name, b.name) + ": " + arrowText(dtypeName(a.dtype), dtypeName(b.dtype)) + ", " +
                     std::to_string(a.sizeInBytes()) + " -> " + std::to_string(b.sizeInBytes()) + " bytes, read by ";
  for (std::size_t i = 0; i < weight.readers.size(); ++i) line += (i > 0 ? ", " : "") + std::string(weight.readers[i]);
  if (weight.aStays) line += "; the former stays";
  if (!weight.bIsNew) line += "; the latter was there";
  return line;
}

// ---- JSON

std::string member(std::string_view key, const std::string& value) { return "\"" + std::string(key) + "\": " + value; }

std::string orNull(const std::string& text) { return text.empty() ? "null" : text; }

/// The path of a document, whose bytes need not be UTF-8.
std::string pathText(const std::string& path) {
  return nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// An array with each item on a line of its own, `indent` deep.
template <typename Items, typename ItemOf>
std::string arrayText(const Items& items, std::string_view indent, ItemOf&& itemOf) {
  if (items.empty()) return "[]";
  std::string text = "[";
  std::string_view separator = "\n";
  for (const auto& item : items) {
    text += separator;
    text += indent;
    text += itemOf(item);
    separator = ",\n";
  }
  return text + "\n" + std::string(indent.substr(1)) + "]";
}

std::string retypeItem(const Retype& retype) {
  const auto dtypeText = [](Dtype dtype) { return dtype == Dtype::kNone ? "null" : quoteString(dtypeName(dtype)); };
  return "{" + member("name", quoteString(retype.name)) + ", " + member("a", dtypeText(retype.a)) + ", " +
         member("b", dtypeText(retype.b)) + "}";
}

std::string changeItem(const Change& change) {
  return "{" + member("name", quoteString(change.name)) + ", " + member("key", quoteString(change.key)) + ", " +
         member("a", orNull(change.a)) + ", " + member("b", orNull(change.b)) + "}";
}

std::string interfaceItem(const InterfaceChange& change) {
  return "{" + member("kind", quoteString(kindName(change.kind))) + ", " +
         member("name", change.name.empty() ? "null" : quoteString(change.name)) + ", " +
         member("what", quoteString(whatName(change.what))) + ", " + member("a", orNull(change.a)) + ", " +
         member("b", orNull(change.b)) + "}";
}

std::string weightItem(const ReplacedWeight& weight, const Graph& graphA, const Graph& graphB) {
  const auto tensorText = [](const Tensor& tensor) {
    return "{" + member("name", quoteString(tensor.name)) + ", " +
           member("dtype", quoteString(dtypeName(tensor.dtype))) + ", " +
           member("bytes", std::to_string(tensor.sizeInBytes())) + "}";
  };
  std::string readers;
  for (const std::string_view reader : weight.readers) readers += (readers.empty() ? "" : ", ") + quoteString(reader);
  return "{" + member("a", tensorText(graphA.tensor(weight.a))) + ", " +
         member("b", tensorText(graphB.tensor(weight.b))) + ", " + member("a_stays", boolText(weight.aStays)) + ", " +
         member("b_is_new", boolText(weight.bIsNew)) + ", " + member("readers", "[" + readers + "]") + "}";
}

std::string nameItem(std::string_view name) { return quoteString(name); }

}  // namespace

bool GraphDiff::empty() const {
  return interface.empty() && replacedWeights.empty() && retypedInstructions.empty() && retypedTensors.empty() &&
         removedInstructions.empty() && removedTensors.empty() && addedInstructions.empty() && addedTensors.empty() &&
         changedInstructions.empty() && changedTensors.empty() && !instructionOrder;
}

GraphDiff diffGraphs(const GraphDocument& a, const GraphDocument& b) { return Differ(a, b).run(); }

std::string diffText(const GraphDiff& diff, const GraphDocument& a, const GraphDocument& b) {
  std::string text = oneLine(arrowText(a.source.name(), b.source.name())) + "\n";
  const auto retypeLine = [](const Retype& retype) {
    return std::string(retype.name) + ": " + arrowText(dtypeName(retype.a), dtypeName(retype.b));
  };
  const auto changeLine = [](const Change& change) {
    return std::string(change.name) + ": " + change.key + " " + arrowText(change.a, change.b);
  };
  const auto nameLine = [](std::string_view name) { return std::string(name); };
  appendSection(text, "retyped instructions", diff.retypedInstructions, retypeLine);
  appendSection(text, "retyped tensors", diff.retypedTensors, retypeLine);
  appendSection(text, "replaced weights", diff.replacedWeights,
                [&](const ReplacedWeight& weight) { return weightLine(weight, a.graph, b.graph); });
  appendSection(text, "removed instructions", diff.removedInstructions, nameLine);
  appendSection(text, "removed tensors", diff.removedTensors, nameLine);
  appendSection(text, "added instructions", diff.addedInstructions, nameLine);
  appendSection(text, "added tensors", diff.addedTensors, nameLine);
  appendSection(text, "changes of instructions", diff.changedInstructions, changeLine);
  appendSection(text, "changes of tensors", diff.changedTensors, changeLine);
  if (diff.instructionOrder)
    text += oneLine("order of instructions: differs from " +
                    arrowText(diff.instructionOrder->first, diff.instructionOrder->second) + " on") +
            "\n";
  if (diff.empty()) text += "no differences\n";
  text += "constants that are read: " + std::to_string(diff.constBytesA) + " -> " + std::to_string(diff.constBytesB) +
          " bytes\n";
  if (diff.interface.empty()) return text + "interface: the same\n";
  appendSection(text, "interface: differences", diff.interface, interfaceLine);
  return text;
}

std::string diffJson(const GraphDiff& diff, const GraphDocument& a, const GraphDocument& b) {
  const auto weightOf = [&](const ReplacedWeight& weight) { return weightItem(weight, a.graph, b.graph); };
  const std::string order = diff.instructionOrder
                                ? "{" + member("a", quoteString(diff.instructionOrder->first)) + ", " +
                                      member("b", quoteString(diff.instructionOrder->second)) + "}"
                                : "null";
  const std::pair<std::string_view, std::string> members[] = {
      {"a", pathText(a.source.name())},
      {"b", pathText(b.source.name())},
      {"retyped_instructions", arrayText(diff.retypedInstructions, "  ", retypeItem)},
      {"retyped_tensors", arrayText(diff.retypedTensors, "  ", retypeItem)},
      {"replaced_weights", arrayText(diff.replacedWeights, "  ", weightOf)},
      {"removed_instructions", arrayText(diff.removedInstructions, "  ", nameItem)},
      {"removed_tensors", arrayText(diff.removedTensors, "  ", nameItem)},
      {"added_instructions", arrayText(diff.addedInstructions, "  ", nameItem)},
      {"added_tensors", arrayText(diff.addedTensors, "  ", nameItem)},
      {"changed_instructions", arrayText(diff.changedInstructions, "  ", changeItem)},
      {"changed_tensors", arrayText(diff.changedTensors, "  ", changeItem)},
      {"instruction_order", order},
      {"const_bytes", "{" + member("a", std::to_string(diff.constBytesA)) + ", " +
                          member("b", std::to_string(diff.constBytesB)) + "}"},
      {"interface", "{" + member("same", boolText(diff.interface.empty())) + ", " +
                        member("changes", arrayText(diff.interface, "   ", interfaceItem)) + "}"},
  };
  std::string text = "{";
  std::string_view separator = "\n ";
  for (const auto& [key, value] : members) {
    text += separator;
    text += member(key, value);
    separator = ",\n ";
  }
  return text + "\n}\n";
}

}  // namespace dtypemut
