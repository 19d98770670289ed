#include "dtypemut/io/ir_reader.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dtypemut/types/spelling.h"
#include "ir_keys.h"
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
  void begin(std::uint64_t offset, std::span<const Key> keys) {
    offset_ = offset;
    for (Key key : keys) (*this)[key] = {};
  }
  std::uint64_t offset() const { return offset_; }
  JsonToken& operator[](Key key) { return tokens_[static_cast<std::size_t>(key)]; }
  const JsonToken& operator[](Key key) const { return tokens_[static_cast<std::size_t>(key)]; }

 private:
  std::uint64_t offset_ = 0;  // where the object begins
  std::array<JsonToken, kKeyCount> tokens_;
};

/// Whose fault something is, as messages begin: "instruction 'x': operand 0: ".
struct Blame {
  static constexpr std::uint32_t kWhole = UINT32_MAX;
  static constexpr std::uint32_t kDst = UINT32_MAX - 1;

  std::string_view what;        // nothing: the document
  std::string_view name;        // empty: it has none, or not yet
  std::uint32_t number = 0;     // said in place of a name
  std::uint32_t part = kWhole;  // or the dst, or the operand of this index

  std::string toString() const {
    if (what.empty()) return "";
    std::string text(what);
    text += name.empty() ? " " + std::to_string(number) : " '" + std::string(name) + "'";
    if (part == kDst) text += ": dst";
    if (part < kDst) text += ": operand " + std::to_string(part);
    return text + ": ";
  }
};

std::string_view contentOf(const JsonToken& token) {
  return token.kind == TokenKind::kString ? token.text : std::string_view();
}

/// From so many nodes the reader learns how many there may be.
constexpr std::uint32_t kSampleNodes = 1024;

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source) {}
  ReadGraph read();

  // ---- walkJson's visitor
  bool key(const JsonToken& token);
  bool value(JsonToken token);
  bool end();

 private:
  struct Frame {
    Context context = Context::kUnknown;
    Key key = Key::kUnknown;  // of an object: whose value comes next
  };

  /// A reference that could not be resolved at once: its tensor may come later in the document.
  struct PendingReference {
    JsonToken name;
    InstructionId owner;
    std::uint32_t operand;  // its index, or Blame::kDst
    bool isInstruction;
  };

  bool error(std::uint64_t offset, std::string message);
  Context contextWithin(const JsonToken& token) const;
  bool refuseNode(Context list, const JsonToken& token);
  bool isOfInterest() const;
  void begin(Context context, std::uint64_t offset);
  Record* recordOf(Context context);

  void finishRoot();
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

  // ---- references
  void resolve(Operand& operand, const JsonToken& name, InstructionId owner, std::uint32_t index);
  void resolvePending();
  std::string guessTensor(std::string_view name) const;
  std::string guessInstruction(std::string_view name) const;
  template <typename NameOf>
  std::string guess(std::string_view name, std::uint32_t count, NameOf&& nameOf) const;

  const Source& source_;
  Graph graph_;
  Diagnostics diagnostics_;
  std::vector<Frame> frames_;
  Blame blame_;

  Record root_, tensor_, data_, instruction_, operand_;  // operand_ serves dst too: neither stands within the other
  std::uint32_t tensorsSeen_ = 0;                        // elements of the two lists, up to the one being read
  std::uint32_t instructionsSeen_ = 0;
  std::vector<JsonToken> shape_;
  std::vector<JsonToken> allowedDtypes_;
  std::vector<Operand> operands_;        // of the instruction being read
  std::vector<JsonToken> operandNames_;  // what each refers to
  JsonToken dstName_;
  Dtype dstViewDtype_ = Dtype::kNone;
  std::vector<std::uint64_t> dimensions_;
  std::vector<PendingReference> pending_;
  std::unordered_set<std::string_view> opaqueNames_;
  bool refused_ = false;  // by something after which nothing sensible can be said of the document
};

ReadGraph Reader::read() {
  const bool complete = walkJson(source_.text(), Source::kPadding >= kWalkPadding, *this, diagnostics_);
  if (!complete || refused_) return {.graph = std::nullopt, .diagnostics = std::move(diagnostics_)};
  resolvePending();
  graph_.link();
  return {.graph = std::move(graph_), .diagnostics = std::move(diagnostics_)};
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
  frame.key = Key::kUnknown;
  for (Key known : keysOf(frame.context))
    if (keyName(known) == token.text) frame.key = known;
  return true;
}

bool Reader::value(JsonToken token) {
  const Context within = contextWithin(token);
  if (frames_.empty() && within != Context::kRoot) {
    refused_ = true;
    return error(token.offset, "the document must be an object, not " + std::string(kindName(token.kind))), false;
  }
  if (token.transient && isOfInterest()) token.text = graph_.keepText(std::string(token.text));
  if (!frames_.empty()) {
    const auto [context, key] = frames_.back();
    if (Record* record = recordOf(context); record != nullptr && key != Key::kUnknown) (*record)[key] = token;
    if (key == Key::kTensor || (key == Key::kName && context == Context::kTensor)) graph_.prefetchTensor(token.text);
    if (key == Key::kInst || (key == Key::kName && context == Context::kInstruction))
      graph_.prefetchInstruction(token.text);
    if (context == Context::kShape) shape_.push_back(token);
    if (context == Context::kAllowedDtypes) allowedDtypes_.push_back(token);
    if (context == Context::kTensors) ++tensorsSeen_;
    if (context == Context::kInstructions) ++instructionsSeen_;
    const bool isNode =
        context == Context::kTensors || context == Context::kInstructions || context == Context::kOperands;
    if (isNode && within == Context::kUnknown && !refuseNode(context, token)) return false;
  }
  if (token.kind == TokenKind::kArray || token.kind == TokenKind::kObject) begin(within, token.offset);
  return true;
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
    operandNames_.emplace_back();
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
  if (Record* record = recordOf(context)) record->begin(offset, keysOf(context));
  if (context == Context::kTensor) shape_.clear();
  if (context == Context::kInstruction) {
    operands_.clear();
    operandNames_.clear();
    allowedDtypes_.clear();
    dstName_ = {};
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
    case Context::kRoot:
      finishRoot();
      break;
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
  const TensorId namesake = graph_.addTensor(tensor, dimensions_);
  if (namesake == TensorId::kNone) return;
  error(tensor.nameToken, "another tensor has this name");
  diagnostics_.note(graph_.tensor(namesake).nameToken, "the other tensor '" + std::string(tensor.name) + "'");
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
  JsonToken name;
  if (tensor.present() + inst.present() + imm.present() != 1) {
    error(operand_.offset(), "must have exactly one of 'tensor', 'inst' and 'imm'");
  } else if (imm.present()) {
    operand.token = imm.offset;
  } else if (tensor.present()) {
    operand.viewDtype = readView(operand_);
    if (expect(TokenKind::kString, tensor, Key::kTensor)) {
      operand.kind = OperandKind::kTensor;
      name = tensor;
    }
  } else {
    for (Key key : {Key::kReinterpret, Key::kDtype})
      if (operand_[key].present())
        error(operand_[key].offset, "'" + std::string(keyName(key)) + "' is not allowed beside 'inst'");
    if (expect(TokenKind::kString, inst, Key::kInst)) {
      operand.kind = OperandKind::kInstruction;
      name = inst;
    }
  }
  if (name.present()) operand.token = name.offset;
  operands_.push_back(operand);
  operandNames_.push_back(name);
}

void Reader::finishDst() {
  blameInstruction(Blame::kDst);
  dstViewDtype_ = readView(operand_);
  const JsonToken& tensor = operand_[Key::kTensor];
  if (!tensor.present())
    error(operand_.offset(), "has no 'tensor'");
  else if (expect(TokenKind::kString, tensor, Key::kTensor))
    dstName_ = tensor;
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
    instruction.dstToken = dstName_.offset;
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

  const InstructionId id{graph_.instructionCount()};
  for (std::uint32_t i = 0; i < operands_.size(); ++i) resolve(operands_[i], operandNames_[i], id, i);
  Operand written{.kind = OperandKind::kTensor};
  if (dstName_.present()) {
    resolve(written, dstName_, id, Blame::kDst);
    instruction.dst = written.tensor();
  }
  if (graph_.instructionCount() == kSampleNodes) {
    const std::uint64_t begin = root_[Key::kInstructions].offset;
    graph_.reserveInstructions(extrapolate(kSampleNodes, begin, instruction.token),
                               extrapolate(graph_.operandCount(), begin, instruction.token));
  }
  const InstructionId namesake = graph_.addInstruction(instruction, operands_);
  if (namesake == InstructionId::kNone) return;
  error(instruction.nameToken, "another instruction has this name");
  diagnostics_.note(graph_.instruction(namesake).nameToken,
                    "the other instruction '" + std::string(instruction.name) + "'");
  while (!pending_.empty() && pending_.back().owner == id) pending_.pop_back();
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

// ---- references

/// Lets `operand` refer to the node of that name; or notes that this is still to be done, and makes it an immediate.
void Reader::resolve(Operand& operand, const JsonToken& name, InstructionId owner, std::uint32_t index) {
  if (operand.isImmediate()) return;
  operand.target = operand.isTensor() ? static_cast<std::uint32_t>(graph_.findTensor(name.text))
                                      : static_cast<std::uint32_t>(graph_.findInstruction(name.text));
  if (operand.target != NameIndex::kNone) return;
  pending_.push_back({.name = name, .owner = owner, .operand = index, .isInstruction = operand.isInstruction()});
  operand.kind = OperandKind::kImmediate;
}

void Reader::resolvePending() {
  for (const PendingReference& reference : pending_) {
    if (diagnostics_.full()) return;
    Instruction& owner = graph_.instruction(reference.owner);
    const bool isDst = reference.operand == Blame::kDst;
    blame_ = {.what = "instruction", .name = owner.name, .part = isDst ? Blame::kDst : reference.operand};
    const std::string name = "'" + std::string(reference.name.text) + "'";
    if (reference.isInstruction) {
      if (graph_.findInstruction(reference.name.text) != InstructionId::kNone)
        error(reference.name.offset, "instruction " + name + " does not stand earlier in the list");
      else
        error(reference.name.offset, "unknown instruction " + name + guessInstruction(reference.name.text));
      continue;
    }
    const TensorId tensor = graph_.findTensor(reference.name.text);
    if (tensor == TensorId::kNone) {
      error(reference.name.offset, "unknown tensor " + name + guessTensor(reference.name.text));
    } else if (isDst) {
      owner.dst = tensor;
    } else {
      Operand& operand = graph_.operand(graph_.operandId(owner, reference.operand));
      operand.kind = OperandKind::kTensor;
      operand.target = static_cast<std::uint32_t>(tensor);
    }
  }
}

std::string Reader::guessTensor(std::string_view name) const {
  return guess(name, graph_.tensorCount(), [&](std::uint32_t i) { return graph_.tensor(TensorId{i}).name; });
}

std::string Reader::guessInstruction(std::string_view name) const {
  return guess(name, graph_.instructionCount(),
               [&](std::uint32_t i) { return graph_.instruction(InstructionId{i}).name; });
}

template <typename NameOf>
std::string Reader::guess(std::string_view name, std::uint32_t count, NameOf&& nameOf) const {
  constexpr std::uint32_t kMostGuessed = 50'000;  // a guess is not worth the wait beyond
  if (count > kMostGuessed) return "";
  std::vector<std::string_view> names(count);
  for (std::uint32_t i = 0; i < count; ++i) names[i] = nameOf(i);
  const auto nearest = nearestName(name, names);
  return nearest ? " (did you mean '" + std::string(*nearest) + "'?)" : "";
}

}  // namespace

ReadGraph readGraph(const Source& source) { return Reader(source).read(); }

}  // namespace dtypemut
