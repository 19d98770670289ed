#include "dtypemut/io/ir_reader.h"

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dtypemut/cast/threads.h"
#include "dtypemut/io/json_text.h"
#include "dtypemut/types/spelling.h"
#include "ir_blame.h"
#include "ir_keys.h"
#include "ir_names.h"
#include "json_walk.h"

namespace dtypemut {
namespace {

std::string_view kindName(TokenKind kind) {
  constexpr std::string_view kNames[] = {"nothing",  "null",     "a boolean", "a number",
                                         "a string", "an array", "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// The values of the known keys of the object being read. Which object it is decides which are looked at.
class Record {
 public:
  void begin(std::uint64_t offset) {
    offset_ = offset;
    present_ = 0;
  }
  std::uint64_t offset() const { return offset_; }
  void set(Key key, const JsonToken& token) {
    tokens_[static_cast<std::size_t>(key)] = token;
    present_ |= bit(key);
  }
  const JsonToken& operator[](Key key) const {
    static constexpr JsonToken kAbsent;
    return (present_ & bit(key)) != 0 ? tokens_[static_cast<std::size_t>(key)] : kAbsent;
  }
  /// Takes what the other has.
  void join(const Record& other) {
    for (std::size_t i = 0; i < kKeyCount; ++i)
      if (const Key key = static_cast<Key>(i); (other.present_ & bit(key)) != 0) set(key, other[key]);
  }

 private:
  static constexpr std::uint32_t bit(Key key) { return std::uint32_t{1} << static_cast<unsigned>(key); }

  std::uint64_t offset_ = 0;  // where the object begins
  std::uint32_t present_ = 0;
  std::array<JsonToken, kKeyCount> tokens_;
};

std::string_view contentOf(const JsonToken& token) {
  return token.kind == TokenKind::kString ? token.text : std::string_view();
}

/// Shorter documents are read before a thread wakes up.
constexpr std::size_t kMuchText = std::size_t{1} << 20;

/// From so many nodes the reader learns how many there may be.
constexpr std::uint32_t kSampleNodes = 1024;

/// Where the second of the document's two lists begins, when one reader reads the document up to there and another
/// looks for it and reads the rest.
class Split {
 public:
  /// By the reader of the rest, once. False when it is not wanted any more.
  bool propose(std::uint64_t offset) {
    std::uint64_t open = kOpen;
    return offset_.compare_exchange_strong(open, offset);
  }
  bool isAt(std::uint64_t offset) const { return offset_ == offset; }
  /// By the reader up to the split: the rest is not wanted.
  void refuse() { offset_ = kRefused; }
  bool isRefused() const { return offset_.load(std::memory_order_relaxed) == kRefused; }

 private:
  static constexpr std::uint64_t kOpen = UINT64_MAX;
  static constexpr std::uint64_t kRefused = UINT64_MAX - 1;

  std::atomic<std::uint64_t> offset_ = kOpen;
};

enum class Part : std::uint8_t { kWhole, kUpToSplit, kRest };

/// Reads a document, or a part of it. References are left to find their nodes.
class Reader {
 public:
  explicit Reader(const Source& source, Part part = Part::kWhole, Split* split = nullptr)
      : source_(source), part_(part), split_(split) {}

  /// Reads from a key of the outermost object on, or all. False when it did not come to the end, or what was read is no
  /// document of the IR's outer shape.
  bool walk(std::uint64_t from = 0) { return walkJson(source_, *this, diagnostics_, from) && !refused_; }
  /// Whether walk ended at the split.
  bool isAtSplit() const { return isAtSplit_; }
  bool hasErrors() const { return diagnostics_.hasErrors(); }
  /// Takes what the reader of the rest has read. False when that is not what would come next.
  bool join(Reader&& rest);
  /// Checks what concerns the document as a whole.
  void finishRoot();
  Graph takeGraph() { return std::move(graph_); }
  Diagnostics takeDiagnostics() { return std::move(diagnostics_); }

  // ---- walkJson's visitor
  bool key(const JsonToken& token);
  bool value(JsonToken token);
  bool end();

 private:
  struct Frame {
    Context context = Context::kUnknown;
    Key key = Key::kUnknown;  // of an object: whose value comes next
  };

  bool error(std::uint64_t offset, std::string message);
  Context contextWithin(const JsonToken& token) const;
  bool rootKey(const JsonToken& token);
  bool take(const JsonToken& token, Context within);
  bool refuseNode(Context list, const JsonToken& token);
  bool isOfInterest() const;
  void begin(Context context, std::uint64_t offset);
  Record* recordOf(Context context);

  void finishTensor();
  std::optional<ConstData> readData();
  void finishOperand();
  void finishDst();
  void finishInstruction();

  // ---- values of known keys. A fault is reported, and the value is read as if it were absent.
  bool expect(TokenKind kind, const JsonToken& token, Key key);
  std::string_view readName(const Record& record);
  Dtype readDtype(const JsonToken& token, std::string_view place = "");
  bool readBool(const Record& record, Key key);
  std::optional<std::uint64_t> readSize(const JsonToken& token, std::string_view what);
  /// The enumerator whose place among `names` is that of the value; the first one when there is no value.
  template <typename Enum>
  Enum readSpelling(const Record& record, Key key, std::span<const std::string_view> names);
  std::uint64_t readShape(Dtype dtype);
  /// The dtype of a reinterpreting view; kNone when it does not reinterpret.
  Dtype readView(const Record& record);
  bool hasRoomFor(std::size_t count);
  std::size_t extrapolate(std::size_t count, std::uint64_t begin, std::uint64_t here) const;

  void blameInstruction(std::uint32_t part);
  void readOp(Instruction& instruction);
  void checkLoadAndStore(const Instruction& instruction, bool hasDst);

  const Source& source_;
  Part part_;
  Split* split_;
  bool isAtSplit_ = false;
  Graph graph_;
  Diagnostics diagnostics_;
  std::vector<Frame> frames_;
  Blame blame_;

  Record root_, tensor_, data_, instruction_, operand_;  // operand_ serves dst too: neither stands within the other
  std::uint32_t tensorsSeen_ = 0;                        // elements of the two lists, up to the one being read
  std::uint32_t instructionsSeen_ = 0;
  std::vector<JsonToken> shape_;
  std::vector<JsonToken> allowedDtypes_;
  std::vector<Operand> operands_;  // of the instruction being read
  std::uint64_t dstToken_ = 0;     // the name that its dst refers to
  Dtype dstViewDtype_ = Dtype::kNone;
  std::vector<std::uint64_t> dimensions_;
  std::unordered_set<std::string> rootKeys_;  // of a part
  std::unordered_set<std::string_view> opaqueNames_;
  bool refused_ = false;  // by something after which nothing sensible can be said of the document
};

bool Reader::join(Reader&& rest) {
  const bool hasBoth = std::any_of(rest.rootKeys_.begin(), rest.rootKeys_.end(),
                                   [&](const std::string& key) { return rootKeys_.contains(key); });
  if (hasBoth) return false;
  root_.join(rest.root_);
  graph_.join(std::move(rest.graph_));
  return true;
}

/// Reports a fault; false when no further one would be kept.
bool Reader::error(std::uint64_t offset, std::string message) {
  diagnostics_.error(offset, blame_.toString() + message);
  return !diagnostics_.full();
}

// ---- structure

Record* Reader::recordOf(Context context) {
  switch (context) {
    case Context::kRoot:
      return &root_;
    case Context::kTensor:
      return &tensor_;
    case Context::kData:
      return &data_;
    case Context::kInstruction:
      return &instruction_;
    case Context::kOperand:
    case Context::kDst:
      return &operand_;
    default:
      return nullptr;
  }
}

bool Reader::key(const JsonToken& token) {
  Frame& frame = frames_.back();
  const Key key = keyFromName(token.text);
  frame.key = hasKey(frame.context, key) ? key : Key::kUnknown;
  return part_ == Part::kWhole || frame.context != Context::kRoot || rootKey(token);
}

/// Of a part; ends the walk at the split.
bool Reader::rootKey(const JsonToken& token) {
  const Key key = frames_.back().key;
  const bool isList = key == Key::kTensors || key == Key::kInstructions;
  const bool isSecond = root_[Key::kTensors].present() || root_[Key::kInstructions].present();
  if (part_ == Part::kUpToSplit && isList && isSecond) {
    isAtSplit_ = split_->isAt(token.offset);
    if (isAtSplit_) return false;
    split_->refuse();
  }
  rootKeys_.emplace(token.text);
  return true;
}

bool Reader::value(JsonToken token) {
  if (part_ == Part::kRest && split_->isRefused()) return false;
  const Context within = contextWithin(token);
  if (frames_.empty() && within != Context::kRoot) {
    refused_ = true;
    return error(token.offset, "the document must be an object, not " + std::string(kindName(token.kind))), false;
  }
  if (token.transient && isOfInterest()) token.text = graph_.keepText(std::string(token.text));
  if (!frames_.empty() && !take(token, within)) return false;
  if (token.kind == TokenKind::kArray || token.kind == TokenKind::kObject) begin(within, token.offset);
  return true;
}

/// Takes a value to where it belongs; false when no further fault would be kept.
bool Reader::take(const JsonToken& token, Context within) {
  const auto [context, key] = frames_.back();
  switch (context) {
    case Context::kShape:
      shape_.push_back(token);
      return true;
    case Context::kAllowedDtypes:
      allowedDtypes_.push_back(token);
      return true;
    case Context::kTensors:
      ++tensorsSeen_;
      return within != Context::kUnknown || refuseNode(context, token);
    case Context::kInstructions:
      ++instructionsSeen_;
      return within != Context::kUnknown || refuseNode(context, token);
    case Context::kOperands:
      return within != Context::kUnknown || refuseNode(context, token);
    case Context::kUnknown:
      return true;
    default:
      if (key != Key::kUnknown) recordOf(context)->set(key, token);
      return true;
  }
}

/// Refuses a tensor, instruction or operand that is no object; false when no further fault would be kept.
bool Reader::refuseNode(Context list, const JsonToken& token) {
  if (list == Context::kTensors) {
    blame_ = {.what = "tensor", .number = tensorsSeen_ - 1};
  } else if (list == Context::kInstructions) {
    blame_ = {.what = "instruction", .number = instructionsSeen_ - 1};
  } else {
    blameInstruction(static_cast<std::uint32_t>(operands_.size()));
    operands_.emplace_back();  // an immediate, to keep the numbers of those to come
  }
  return error(token.offset, "must be an object, not " + std::string(kindName(token.kind)));
}

/// Whether the value that comes next is one that is read.
bool Reader::isOfInterest() const {
  const auto [context, key] = frames_.back();
  return key != Key::kUnknown || context == Context::kShape || context == Context::kAllowedDtypes;
}

void Reader::begin(Context context, std::uint64_t offset) {
  frames_.push_back({.context = context});
  if (Record* record = recordOf(context)) record->begin(offset);
  if (context == Context::kTensor) shape_.clear();
  if (context == Context::kInstruction) {
    operands_.clear();
    allowedDtypes_.clear();
    dstToken_ = 0;
    dstViewDtype_ = Dtype::kNone;
  }
}

/// The context within the value that begins with `token`.
Context Reader::contextWithin(const JsonToken& token) const {
  const bool isObject = token.kind == TokenKind::kObject;
  const bool isArray = token.kind == TokenKind::kArray;
  if (frames_.empty()) return isObject ? Context::kRoot : Context::kUnknown;
  const auto [context, key] = frames_.back();
  if (isArray) {
    if (context == Context::kRoot && key == Key::kTensors) return Context::kTensors;
    if (context == Context::kRoot && key == Key::kInstructions) return Context::kInstructions;
    if (context == Context::kTensor && key == Key::kShape) return Context::kShape;
    if (context == Context::kInstruction && key == Key::kOperands) return Context::kOperands;
    if (context == Context::kInstruction && key == Key::kAllowedDtypes) return Context::kAllowedDtypes;
  } else if (isObject) {
    if (context == Context::kTensors) return Context::kTensor;
    if (context == Context::kTensor && key == Key::kData) return Context::kData;
    if (context == Context::kOperands) return Context::kOperand;
    if (context == Context::kInstruction && key == Key::kDst) return Context::kDst;
    if (context == Context::kInstructions) return Context::kInstruction;
  }
  return Context::kUnknown;
}

bool Reader::end() {
  const Context context = frames_.back().context;
  frames_.pop_back();
  switch (context) {
    case Context::kTensor:
      finishTensor();
      break;
    case Context::kOperand:
      finishOperand();
      break;
    case Context::kDst:
      finishDst();
      break;
    case Context::kInstruction:
      finishInstruction();
      break;
    default:
      break;
  }
  return !diagnostics_.full() && !refused_;
}

// ---- values of known keys

bool Reader::expect(TokenKind kind, const JsonToken& token, Key key) {
  if (token.kind == kind) return true;
  error(token.offset, "'" + std::string(keyName(key)) + "' must be " + std::string(kindName(kind)) + ", not " +
                          std::string(kindName(token.kind)));
  return false;
}

/// The required name of a tensor or instruction; empty when there is none.
std::string_view Reader::readName(const Record& record) {
  const JsonToken& token = record[Key::kName];
  if (!token.present()) return error(record.offset(), "has no 'name'"), std::string_view();
  if (!expect(TokenKind::kString, token, Key::kName)) return {};
  if (token.text.empty()) error(token.offset, "'name' is empty");
  return token.text;
}

/// `place` follows the name of what is unknown: nothing, for the value of 'dtype', or where else it stands.
Dtype Reader::readDtype(const JsonToken& token, std::string_view place) {
  if (token.kind != TokenKind::kString) {
    error(token.offset, (place.empty() ? "'dtype'" : "a dtype" + std::string(place)) + " must be a string, not " +
                            std::string(kindName(token.kind)));
    return Dtype::kNone;
  }
  if (const auto dtype = dtypeFromName(token.text)) return *dtype;
  // A slip in a shorthand is more likely meant as that than as any full name; the document needs the full name, though.
  const auto nearest = nearestName(token.text, dtypeSpellings());
  const std::string guess(nearest ? dtypeName(*dtypeFromArgument(*nearest)) : "");
  error(token.offset,
        "unknown dtype '" + std::string(token.text) + "'" + std::string(place) +
            (guess.empty() ? "; expected one of " + DtypeSet::all().toString() : " (did you mean '" + guess + "'?)"));
  return Dtype::kNone;
}

bool Reader::readBool(const Record& record, Key key) {
  const JsonToken& token = record[key];
  return token.present() && expect(TokenKind::kBool, token, key) && token.text == "true";
}

/// `what` says what must be such a size.
std::optional<std::uint64_t> Reader::readSize(const JsonToken& token, std::string_view what) {
  const bool isNumber = token.kind == TokenKind::kNumber;
  std::uint64_t value = 0;
  const char* last = token.text.data() + token.text.size();
  const auto [rest, status] = std::from_chars(token.text.data(), last, value);
  if (isNumber && status == std::errc{} && rest == last) return value;
  error(token.offset, std::string(what) + " must be an integer from 0 to 2^64 - 1, not " +
                          std::string(isNumber ? token.text : kindName(token.kind)));
  return std::nullopt;
}

template <typename Enum>
Enum Reader::readSpelling(const Record& record, Key key, std::span<const std::string_view> names) {
  const JsonToken& token = record[key];
  if (!token.present() || !expect(TokenKind::kString, token, key)) return Enum{};
  std::string expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == token.text) return static_cast<Enum>(i);
    expected += (expected.empty() ? "'" : "', '") + std::string(names[i]);
  }
  error(token.offset, "unknown " + std::string(keyName(key)) + " '" + std::string(token.text) + "'; expected one of " +
                          expected + "'");
  return Enum{};
}

/// Fills dimensions_ and returns the number of elements.
std::uint64_t Reader::readShape(Dtype dtype) {
  dimensions_.clear();
  const JsonToken& shape = tensor_[Key::kShape];
  if (!shape.present()) return error(tensor_.offset(), "has no 'shape'"), 1;
  if (!expect(TokenKind::kArray, shape, Key::kShape)) return 1;
  bool isEmpty = false;
  for (const JsonToken& token : shape_) {
    dimensions_.push_back(readSize(token, "a dimension of 'shape'").value_or(1));
    isEmpty = isEmpty || dimensions_.back() == 0;
  }
  if (isEmpty) return 0;
  const std::uint64_t limit =
      std::numeric_limits<std::int64_t>::max() / (dtype == Dtype::kNone ? 1 : containerBytes(dtype));
  std::uint64_t count = 1;
  for (std::uint64_t dimension : dimensions_) {
    if (dimension > limit / count) return error(shape.offset, "'shape' has more than 2^63 - 1 bytes"), 1;
    count *= dimension;
  }
  return count;
}

Dtype Reader::readView(const Record& record) {
  const JsonToken& dtype = record[Key::kDtype];
  if (readBool(record, Key::kReinterpret)) {
    if (!dtype.present()) return error(record.offset(), "a reinterpreting view must have a 'dtype'"), Dtype::kNone;
    return readDtype(dtype);
  }
  if (dtype.present()) error(dtype.offset, "'dtype' is allowed only beside \"reinterpret\": true");
  return Dtype::kNone;
}

/// Whether `count` nodes of a kind still have ids of 32 bits.
bool Reader::hasRoomFor(std::size_t count) {
  constexpr std::size_t kMaxNodes = UINT32_MAX - 1;
  if (count < kMaxNodes) return true;
  refused_ = true;
  error(0, "the document has more than 2^32 - 2 tensors, instructions or operands");
  return false;
}

/// How many there will be if there were `count` from `begin` to `here`, and the rest of the document is like that; a
/// little more, so that a guess that is nearly right spares the copying.
std::size_t Reader::extrapolate(std::size_t count, std::uint64_t begin, std::uint64_t here) const {
  const double rate = static_cast<double>(count) / static_cast<double>(here - begin);
  return static_cast<std::size_t>(1.1 * rate * static_cast<double>(source_.text().size() - begin));
}

// ---- the document

void Reader::finishRoot() {
  blame_ = {};
  if (const JsonToken& version = root_[Key::kVersion];
      version.present() && expect(TokenKind::kNumber, version, Key::kVersion) && version.text != "1")
    error(version.offset, "unknown 'version' " + std::string(version.text) + " of the IR; this tool reads version 1");
  if (const JsonToken& name = root_[Key::kName]; name.present()) expect(TokenKind::kString, name, Key::kName);
  for (Key key : {Key::kTensors, Key::kInstructions}) {
    const JsonToken& token = root_[key];
    if (!token.present())
      error(root_.offset(), "the document has no '" + std::string(keyName(key)) + "'");
    else
      expect(TokenKind::kArray, token, key);
  }
}

// ---- a tensor

void Reader::finishTensor() {
  if (!hasRoomFor(graph_.tensorCount())) return;
  const JsonToken& name = tensor_[Key::kName];
  blame_ = {.what = "tensor", .name = contentOf(name), .number = tensorsSeen_ - 1};
  Tensor tensor;
  tensor.name = readName(tensor_);
  tensor.nameToken = name.offset;
  if (const JsonToken& dtype = tensor_[Key::kDtype]; dtype.present()) {
    tensor.dtype = tensor.documentDtype = readDtype(dtype);
    tensor.dtypeToken = dtype.offset;
  } else {
    error(tensor_.offset(), "has no 'dtype'");
  }
  tensor.elementCount = readShape(tensor.dtype);
  tensor.space = readSpelling<Space>(tensor_, Key::kSpace, kSpaceNames);
  tensor.kind = readSpelling<TensorKind>(tensor_, Key::kKind, kTensorKindNames);
  if (tensor.isInterface() && tensor.space != Space::kDram)
    error(tensor_[Key::kSpace].offset, "'space' of an input, output or const tensor must be 'dram', not '" +
                                           std::string(tensor_[Key::kSpace].text) + "'");
  if (const JsonToken& data = tensor_[Key::kData]; data.present() && !tensor.isConst()) {
    error(data.offset, "only a tensor of kind 'const' has 'data'");
  } else if (!data.present() && tensor.isConst()) {
    error(tensor_.offset(), "a const tensor must have 'data'");
  } else if (data.present() && expect(TokenKind::kObject, data, Key::kData)) {
    if (const auto constData = readData()) tensor.constData = graph_.addConstData(*constData);
  }
  if (tensor.name.empty()) return;
  if (graph_.tensorCount() == kSampleNodes)
    graph_.reserveTensors(extrapolate(kSampleNodes, root_[Key::kTensors].offset, tensor_.offset()));
  graph_.addTensor(tensor, dimensions_);
}

std::optional<ConstData> Reader::readData() {
  std::optional<ConstData> found;
  for (const auto& [key, form, kind] : kForms) {
    const JsonToken& token = data_[key];
    if (!token.present()) continue;
    if (found) {
      error(data_.offset(), "'data' must have exactly one form, not both '" +
                                std::string(keyName(kForms[static_cast<std::size_t>(found->form)].key)) + "' and '" +
                                std::string(keyName(key)) + "'");
      return std::nullopt;
    }
    found = {.form = form, .tensorToken = tensor_.offset(), .dataToken = data_.offset(), .valueToken = token.offset};
  }
  if (!found) {
    error(data_.offset(), "'data' must have one of 'splat', 'values', 'base64', 'file' and 'safetensors'");
    return std::nullopt;
  }
  const FormRow& row = kForms[static_cast<std::size_t>(found->form)];
  const JsonToken& token = data_[row.key];
  if (row.form == DataForm::kSplat) {
    if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kString) return found;
    error(token.offset,
          "'splat' must be a number, \"nan\", \"inf\" or \"-inf\", not " + std::string(kindName(token.kind)));
    return std::nullopt;
  }
  if (!expect(row.kind, token, row.key)) return std::nullopt;
  if (row.form == DataForm::kFile || row.form == DataForm::kSafetensors) {
    found->file = token.text;
    if (token.text.empty() || token.text.find('\0') != std::string_view::npos)
      return error(token.offset, "'" + std::string(keyName(row.key)) + "' is no file name"), std::nullopt;
  }
  if (const JsonToken& offset = data_[Key::kOffset]; row.form == DataForm::kFile && offset.present())
    found->fileOffset = readSize(offset, "'offset'").value_or(0);
  if (row.form == DataForm::kSafetensors) {
    const JsonToken& entry = data_[Key::kTensor];
    if (!entry.present()) return error(data_.offset(), "'data' has no 'tensor' beside 'safetensors'"), std::nullopt;
    if (!expect(TokenKind::kString, entry, Key::kTensor)) return std::nullopt;
    found->entry = entry.text;
  }
  return found;
}

// ---- an instruction

/// For faults within the instruction being read, whose name may still be to come.
void Reader::blameInstruction(std::uint32_t part) {
  blame_ = {.what = "instruction",
            .name = contentOf(instruction_[Key::kName]),
            .number = instructionsSeen_ - 1,
            .part = part};
}

void Reader::finishOperand() {
  blameInstruction(static_cast<std::uint32_t>(operands_.size()));
  const JsonToken& tensor = operand_[Key::kTensor];
  const JsonToken& inst = operand_[Key::kInst];
  const JsonToken& imm = operand_[Key::kImm];
  Operand operand;
  if (tensor.present() + inst.present() + imm.present() != 1) {
    error(operand_.offset(), "must have exactly one of 'tensor', 'inst' and 'imm'");
  } else if (imm.present()) {
    operand.token = imm.offset;
  } else if (tensor.present()) {
    operand.viewDtype = readView(operand_);
    if (expect(TokenKind::kString, tensor, Key::kTensor)) {
      operand.kind = OperandKind::kTensor;
      operand.token = tensor.offset;
    }
  } else {
    for (Key key : {Key::kReinterpret, Key::kDtype})
      if (operand_[key].present())
        error(operand_[key].offset, "'" + std::string(keyName(key)) + "' is not allowed beside 'inst'");
    if (expect(TokenKind::kString, inst, Key::kInst)) {
      operand.kind = OperandKind::kInstruction;
      operand.token = inst.offset;
    }
  }
  operands_.push_back(operand);
}

void Reader::finishDst() {
  blameInstruction(Blame::kDst);
  dstViewDtype_ = readView(operand_);
  const JsonToken& tensor = operand_[Key::kTensor];
  if (!tensor.present())
    error(operand_.offset(), "has no 'tensor'");
  else if (expect(TokenKind::kString, tensor, Key::kTensor))
    dstToken_ = tensor.offset;
}

void Reader::finishInstruction() {
  blameInstruction(Blame::kWhole);
  if (!hasRoomFor(graph_.instructionCount()) || !hasRoomFor(graph_.operandCount() + operands_.size())) return;
  Instruction instruction;
  instruction.token = instruction_.offset();
  instruction.name = readName(instruction_);
  instruction.nameToken = instruction_[Key::kName].offset;
  readOp(instruction);
  const JsonToken& dst = instruction_[Key::kDst];
  const bool hasDst = dst.present() && dst.kind != TokenKind::kNull;
  if (const JsonToken& dtype = instruction_[Key::kDtype]; dtype.present()) {
    instruction.dtype = instruction.documentDtype = readDtype(dtype);
    instruction.dtypeToken = dtype.offset;
  } else if (hasDst) {
    error(instruction.token, "has a 'dst' but no 'dtype'");
  }
  if (hasDst && expect(TokenKind::kObject, dst, Key::kDst)) {
    instruction.dstToken = dstToken_;
    instruction.dstViewDtype = dstViewDtype_;
  }
  if (const JsonToken& operands = instruction_[Key::kOperands]; operands.present())
    expect(TokenKind::kArray, operands, Key::kOperands);
  instruction.reinterpret = readBool(instruction_, Key::kReinterpret);
  instruction.hasPartitionBroadcast = readBool(instruction_, Key::kPartitionBroadcast);
  if (const JsonToken& token = instruction_[Key::kCanMutateDstTy]; token.kind == TokenKind::kBool) {
    instruction.hasCanMutateDstTy = true;
    instruction.saysCanMutateDstTy = token.text == "true";
  } else if (token.present()) {
    expect(TokenKind::kBool, token, Key::kCanMutateDstTy);
  }
  if (const JsonToken& allowed = instruction_[Key::kAllowedDtypes];
      allowed.present() && expect(TokenKind::kArray, allowed, Key::kAllowedDtypes)) {
    instruction.hasAllowedDtypes = true;
    for (const JsonToken& token : allowedDtypes_) {
      const Dtype dtype = readDtype(token, " in 'allowed_dtypes'");
      if (dtype != Dtype::kNone) instruction.allowedDtypes.insert(dtype);
    }
  }
  checkLoadAndStore(instruction, hasDst);
  if (instruction.name.empty()) return;

  if (graph_.instructionCount() == kSampleNodes) {
    const std::uint64_t begin = root_[Key::kInstructions].offset;
    graph_.reserveInstructions(extrapolate(kSampleNodes, begin, instruction.token),
                               extrapolate(graph_.operandCount(), begin, instruction.token));
  }
  graph_.addInstruction(instruction, operands_);
}

void Reader::readOp(Instruction& instruction) {
  const JsonToken& op = instruction_[Key::kOp];
  if (!op.present()) {
    error(instruction.token, "has no 'op'");
  } else if (expect(TokenKind::kString, op, Key::kOp)) {
    instruction.op = opFromName(op.text);
    if (instruction.op == Op::kOpaque && opaqueNames_.insert(op.text).second)
      graph_.addOpaqueOp({.name = op.text, .token = op.offset});
  }
}

void Reader::checkLoadAndStore(const Instruction& instruction, bool hasDst) {
  const bool isLoad = instruction.op == Op::kSBAtomLoad;
  if (!isLoad && instruction.op != Op::kSBAtomStore) return;
  const std::string op(opName(instruction.op));
  if (operands_.size() != 1) {
    error(instruction.token, "an " + op + " must have exactly one operand, not " + std::to_string(operands_.size()));
  } else if (!operands_[0].isTensor() && (isLoad || !operands_[0].isInstruction())) {
    error(operands_[0].token, "the operand of an " + op + " must be a tensor" + (isLoad ? "" : " or an instruction"));
  }
  if (!isLoad && !hasDst) error(instruction.token, "an " + op + " must have a 'dst'");
}

// ---- two at once

/// Where a key of that name and an array stand, as far as that can be told without reading all that is before; npos
/// when nowhere.
std::size_t findList(std::string_view text, Key key) {
  const std::string spelled = "\"" + std::string(keyName(key)) + "\"";
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    at = static_cast<const char*>(::memmem(at, static_cast<std::size_t>(end - at), spelled.data(), spelled.size()));
    if (at == nullptr) return std::string_view::npos;
    const auto offset = static_cast<std::size_t>(at - text.data());
    const std::uint64_t colon = skipWhitespace(text, offset + spelled.size());
    const std::uint64_t array = skipWhitespace(text, colon + 1);
    if (colon < text.size() && text[colon] == ':' && array < text.size() && text[array] == '[') return offset;
  }
}

/// Reads the two lists of a document at the same time. None when that cannot be done, or when anything is wrong: what
/// is, and in which order, shows only to one who reads from the beginning to the end.
std::optional<Reader> readListsAtOnce(const Source& source) {
  Split split;
  Reader first(source, Part::kUpToSplit, &split);
  Reader rest(source, Part::kRest, &split);
  const auto walk = [](Reader& reader, std::uint64_t from) {
    try {
      return reader.walk(from);
    } catch (const std::bad_alloc&) {
      return false;  // one alone may have enough
    }
  };
  bool isFirstRead = false;
  bool isRestRead = false;
  oneapi::tbb::parallel_invoke(
      [&] {
        isFirstRead = walk(first, 0);
        if (!first.isAtSplit()) split.refuse();
      },
      [&] {
        const std::size_t tensors = findList(source.text(), Key::kTensors);
        const std::size_t instructions = findList(source.text(), Key::kInstructions);
        const std::size_t second = std::max(tensors, instructions);
        if (second != std::string_view::npos && split.propose(second)) isRestRead = walk(rest, second);
      });
  if (first.hasErrors()) return std::nullopt;
  if (isFirstRead) return first;
  if (!first.isAtSplit() || !isRestRead || rest.hasErrors() || !first.join(std::move(rest))) return std::nullopt;
  return first;
}

}  // namespace

ReadGraph readGraph(const Source& source, unsigned threads) {
  const int usable = source.text().size() < kMuchText ? 1 : usableThreads(threads);
  const bool severalThreads = usable > 1;
  const auto read = [&]() -> ReadGraph {
    std::optional<Reader> reader = severalThreads ? readListsAtOnce(source) : std::nullopt;
    bool isRead = reader.has_value();
    if (!isRead) isRead = reader.emplace(source).walk();
    if (isRead) reader->finishRoot();
    Graph graph = reader->takeGraph();
    Diagnostics diagnostics = reader->takeDiagnostics();
    reader.reset();
    indexNames(graph, severalThreads, diagnostics);
    if (!isRead) return {.graph = std::nullopt, .diagnostics = std::move(diagnostics)};
    resolveReferences(source.text(), graph, severalThreads, diagnostics);
    graph.link();
    return {.graph = std::move(graph), .diagnostics = std::move(diagnostics)};
  };
  return severalThreads ? oneapi::tbb::task_arena(usable).execute(read) : read();
}

}  // namespace dtypemut
