#include "generator.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dtypemut/io/base64.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/ir/op_table.h"
#include "files.h"

namespace dtypemut {
namespace {

/// Not the distributions of <random>, which differ between libraries.
class Random {
 public:
  Random(std::uint64_t seed, std::span<const std::uint8_t> choices) : engine_(seed), choices_(choices) {}
  /// Content, which is not worth a choice.
  std::uint64_t next() { return engine_(); }
  std::size_t below(std::size_t n) {
    if (choices_.empty()) return static_cast<std::size_t>(engine_() % n);
    std::size_t choice = 0;
    for (std::size_t reach = 1; reach < n && !choices_.empty(); reach *= 256) {
      choice = choice * 256 + choices_.front();
      choices_ = choices_.subspan(1);
    }
    return choice % n;
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <typename Range>
  const auto& pick(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
  std::span<const std::uint8_t> choices_;
};

// ---- JSON with its spelling still open

struct Json {
  enum Kind { kScalar, kString, kArray, kObject } kind = kScalar;
  std::string text;  // of a scalar as spelled, of a string its content
  std::vector<Json> items = {};
  std::vector<std::pair<std::string, Json>> members = {};
};

Json scalar(std::string spelled) { return {.kind = Json::kScalar, .text = std::move(spelled)}; }
Json number(std::uint64_t value) { return scalar(std::to_string(value)); }
Json boolean(bool value) { return scalar(value ? "true" : "false"); }
Json string(std::string_view content) { return {.kind = Json::kString, .text = std::string(content)}; }
Json array(std::vector<Json> items = {}) { return {.kind = Json::kArray, .text = "", .items = std::move(items)}; }
Json object(std::vector<std::pair<std::string, Json>> members = {}) {
  return {.kind = Json::kObject, .text = "", .items = {}, .members = std::move(members)};
}

/// Spells a document in one of several manners.
class Speller {
 public:
  explicit Speller(Random& random)
      : random_(random),
        layout_(static_cast<Layout>(random.below(4))),
        isPlain_(random.chance(30)),
        shuffles_(random.chance(60)) {}

  std::string spell(const Json& document) {
    space(0);
    value(document, 0);
    space(0);
    return std::move(text_);
  }

 private:
  enum Layout { kCompact, kSpaced, kIndented, kWild };

  void value(const Json& json, std::size_t depth) {
    switch (json.kind) {
      case Json::kScalar:
        text_ += json.text;
        return;
      case Json::kString:
        stringOf(json.text);
        return;
      case Json::kArray:
        sequence(json.items, "[]", depth, [&](const Json& item) { value(item, depth + 1); });
        return;
      case Json::kObject:
        break;
    }
    auto members = json.members;
    if (!isPlain_)
      while (random_.chance(8)) members.emplace_back(unknownKey(members.size()), unknownValue(3));
    if (shuffles_) random_.shuffle(members);
    sequence(members, "{}", depth, [&](const auto& member) {
      stringOf(member.first);
      if (layout_ == kWild) space(depth);
      text_ += ':';
      if (layout_ != kCompact) text_ += ' ';
      if (layout_ == kWild) space(depth);
      value(member.second, depth + 1);
    });
  }

  template <typename Items, typename F>
  void sequence(const Items& items, const char* brackets, std::size_t depth, F&& f) {
    text_ += brackets[0];
    const bool onOneLine = items.empty() || (layout_ == kIndented && depth > 2);
    const auto gap = [&](std::size_t d) {
      if (!onOneLine || layout_ == kWild) space(d);
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += onOneLine && layout_ == kIndented ? ", " : ",";
      gap(depth + 1);
      f(items[i]);
      if (layout_ == kWild) space(depth);
    }
    gap(depth);
    text_ += brackets[1];
  }

  void space(std::size_t depth) {
    constexpr const char* kSpaces[] = {"", "", " ", "\n", "\t", "\r\n", "  \n\n "};
    if (layout_ == kSpaced) text_ += ' ';
    if (layout_ == kIndented) text_ += '\n' + std::string(2 * depth, ' ');
    if (layout_ == kWild) text_ += random_.pick(kSpaces);
  }

  void stringOf(std::string_view content) {
    constexpr char kHex[] = "0123456789abcdef";
    text_ += '"';
    for (char c : content) {
      const auto byte = static_cast<unsigned char>(c);
      const bool mustEscape = byte < 0x20 || c == '"' || c == '\\';
      if (byte < 0x20 || (byte < 0x80 && !isPlain_ && random_.chance(3))) {
        text_ += "\\u00";
        text_ += kHex[byte >> 4];
        text_ += kHex[byte & 15];
      } else {
        if (mustEscape || (c == '/' && !isPlain_ && random_.chance(30))) text_ += '\\';
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string unknownKey(std::size_t number) {
    constexpr const char* kKeys[] = {"x-note", "slice", "alu", "Dtype", "dtype ", "", "名前", "}]\",{", "tensor\n"};
    return random_.pick(kKeys) + (number == 0 ? "" : std::to_string(number));
  }

  Json unknownValue(std::size_t depth) {
    constexpr const char* kScalars[] = {"null", "true", "-0", "1E+05", "0.1000", "123456789012345678901234567890"};
    constexpr const char* kStrings[] = {"", "float32", "a \"quoted\" \\ /word/", "{\"tensors\": [", "\t\xC3\xA9"};
    switch (random_.below(depth == 0 ? 2 : 4)) {
      case 0:
        return scalar(random_.pick(kScalars));
      case 1:
        return string(random_.pick(kStrings));
      case 2: {
        Json json = array();
        while (random_.chance(60)) json.items.push_back(unknownValue(depth - 1));
        return json;
      }
      default:
        return object({{"name", unknownValue(depth - 1)}, {"dtype", unknownValue(depth - 1)}});
    }
  }

  Random& random_;
  const Layout layout_;
  const bool isPlain_;
  const bool shuffles_;
  std::string text_;
};

// ---- the graph

struct GeneratedTensor {
  std::string name;
  Dtype dtype;
  std::string space;
  std::string kind;  // "" is internal
  bool canBeRead;    // it is an input or const, or stored by now
  std::uint32_t reads = 0;
  std::vector<std::uint64_t> shape = {};
  std::optional<Json> data = std::nullopt;

  bool isSource() const { return kind == "input" || kind == "const"; }
};

struct GeneratedInstruction {
  std::string name;
  Dtype dtype;  // kNone: no result
  std::optional<std::size_t> dst;
  std::uint32_t reads = 0;  // as an {"inst"} operand
};

/// What an operand will read.
struct Reference {
  bool isInstruction;
  std::size_t index;
  Dtype dtype;
  std::uint32_t reads;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const GeneratorOptions& options)
      : random_(seed, options.choices),
        options_(options),
        freshness_(random_.pick(std::to_array<std::size_t>({50, 80, 95}))) {
    for (const DtypeInfo& info : kDtypes)
      if (options_.target.has(info.dtype)) dtypes_.push_back(info.dtype);
    for (std::size_t i = 0; i < static_cast<std::size_t>(Op::kOpaque); ++i)
      ops_[static_cast<std::size_t>(opKind(static_cast<Op>(i)))].push_back(static_cast<Op>(i));
  }

  std::string generate() {
    for (std::size_t i = 0; i < 2; ++i) addSource(anyDtype());
    while (instructions_.size() < options_.instructions) addSomething();
    if (random_.chance(30)) takeNamesOfClones();
    writeFiles();
    return Speller(random_).spell(document());
  }

 private:
  // ---- names, dtypes, data
  std::string newName(std::set<std::string>& taken, const char* prefix) {
    constexpr const char* kEndings[] = {"", "/w:0", " b", "_8_", "\xC3\xA9", "\"", "\\n", "\n", "."};
    for (;;) {
      std::string name = prefix + std::to_string(taken.size());
      if (random_.chance(15)) name += random_.pick(kEndings);
      if (taken.insert(name).second) return name;
    }
  }

  Dtype anyDtype() {
    const std::size_t what = random_.below(100);
    return what < 72 ? Dtype::kFloat32 : what < 86 ? options_.favourite : random_.pick(dtypes_);
  }

  std::vector<std::uint64_t> anyShape() {
    std::vector<std::uint64_t> shape;
    while (shape.size() < 3 && random_.chance(60)) shape.push_back(random_.chance(3) ? 0 : 1 + random_.below(4));
    return shape;
  }

  static std::uint64_t elementCount(const std::vector<std::uint64_t>& shape) {
    std::uint64_t count = 1;
    for (std::uint64_t dimension : shape) count *= dimension;
    return count;
  }

  Json element(Dtype dtype) {
    constexpr const char* kFloats[] = {"0",  "1",      "-0",    "0.5",     "-2.5e0",  "1E-2",     "3.14159",
                                       "15", "-0.0e5", "1e-30", "\"nan\"", "\"inf\"", "\"-inf\"", "7.00"};
    constexpr const char* kCounts[] = {"0", "1", "7", "100", "127"};
    const bool isCount = isInteger(dtype) || dtypeInfo(dtype).dtypeClass == DtypeClass::kScale;
    return scalar(isCount ? random_.pick(kCounts) : random_.pick(kFloats));
  }

  std::string anyBytes(std::uint64_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(random_.next());
    return bytes;
  }

  Json anyData(const GeneratedTensor& tensor) {
    const std::uint64_t count = elementCount(tensor.shape);
    const std::uint64_t bytes = count * containerBytes(tensor.dtype);
    switch (random_.below(options_.folder.empty() ? 3 : 5)) {
      case 0:
        return object({{"splat", element(tensor.dtype)}});
      case 1: {
        if (isPacked(tensor.dtype)) break;
        Json values = array();
        for (std::uint64_t i = 0; i < count; ++i) values.items.push_back(element(tensor.dtype));
        return object({{"values", std::move(values)}});
      }
      case 3: {
        const std::string file = random_.chance(50) ? "raw.bin" : "sub/raw.bin";
        std::string& content = files_[file];
        content += anyBytes(random_.below(5));
        const std::uint64_t offset = content.size();
        content += anyBytes(bytes);
        if (offset == 0 && random_.chance(50)) return object({{"file", string(file)}});
        return object({{"file", string(file)}, {"offset", number(offset)}});
      }
      case 4: {
        if (!canStore(tensor.dtype)) break;
        header_.append(tensor.name, tensor.dtype, tensor.shape, bytes);
        stored_ += anyBytes(bytes);
        return object({{"safetensors", string("model.safetensors")}, {"tensor", string(tensor.name)}});
      }
      default:
        break;
    }
    const std::string content = anyBytes(bytes);
    return object({{"base64", string(encodeBase64(std::as_bytes(std::span(content))))}});
  }

  // ---- tensors
  std::size_t addTensor(Dtype dtype, std::string space, std::string kind) {
    GeneratedTensor tensor{.name = newName(tensorNames_, "t"),
                           .dtype = dtype,
                           .space = std::move(space),
                           .kind = std::move(kind),
                           .canBeRead = false,
                           .shape = anyShape()};
    tensor.canBeRead = tensor.isSource();
    if (tensor.kind == "const") tensor.data = anyData(tensor);
    tensors_.push_back(std::move(tensor));
    return tensors_.size() - 1;
  }

  /// An input or const.
  std::size_t addSource(Dtype dtype) { return addTensor(dtype, "dram", random_.chance(30) ? "input" : "const"); }

  /// Adds inputs that have the names of the first clones to come.
  void takeNamesOfClones() {
    const std::size_t count = 1 + random_.below(8);
    const std::size_t firstId = tensors_.size() + count + instructions_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = random_.pick(tensors_).name + "_8_" + std::to_string(firstId + random_.below(3));
      const std::size_t tensor = addTensor(Dtype::kFloat32, "dram", "input");
      if (tensorNames_.insert(name).second) tensors_[tensor].name = name;
    }
  }

  // ---- operands
  Reference readTensor(std::size_t index) const {
    return {.isInstruction = false, .index = index, .dtype = tensors_[index].dtype, .reads = tensors_[index].reads};
  }

  /// Something that can be read and that `fits`; what was not read before is preferred, and most of the time what was
  /// stored.
  template <typename F>
  std::optional<Reference> findReadable(F&& fits) {
    if (random_.chance(15))
      if (const auto found = choose(instructionReferences(), fits)) return found;
    if (random_.chance(85))
      if (const auto found = choose(tensorReferences(false), fits)) return found;
    return choose(tensorReferences(true), fits);
  }

  std::vector<Reference> instructionReferences() const {
    std::vector<Reference> references;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const GeneratedInstruction& producer = instructions_[i];
      const std::uint32_t reads = producer.reads + (producer.dst ? tensors_[*producer.dst].reads : 0);
      if (producer.dtype != Dtype::kNone)
        references.push_back({.isInstruction = true, .index = i, .dtype = producer.dtype, .reads = reads});
    }
    return references;
  }

  std::vector<Reference> tensorReferences(bool withSources) const {
    std::vector<Reference> references;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].canBeRead && (withSources || !tensors_[i].isSource())) references.push_back(readTensor(i));
    return references;
  }

  template <typename F>
  std::optional<Reference> choose(std::vector<Reference> references, F&& fits) {
    std::erase_if(references, [&](const Reference& reference) { return !fits(reference); });
    if (references.empty()) return std::nullopt;
    if (random_.chance(freshness_)) {
      // What was made last comes first, so that chains grow from their ends.
      std::vector<Reference> fresh;
      for (auto it = references.rbegin(); it != references.rend() && fresh.size() < 3; ++it)
        if (it->reads == 0) fresh.push_back(*it);
      if (!fresh.empty()) return random_.pick(fresh);
    }
    return random_.pick(references);
  }

  std::optional<Reference> findReadable() {
    return findReadable([](const Reference&) { return true; });
  }

  Json operandOf(const Reference& reference) {
    if (reference.isInstruction) {
      ++instructions_[reference.index].reads;
      return object({{"inst", string(instructions_[reference.index].name)}});
    }
    GeneratedTensor& tensor = tensors_[reference.index];
    ++tensor.reads;
    Json json = object({{"tensor", string(tensor.name)}});
    if (random_.chance(5)) json.members.emplace_back("reinterpret", boolean(false));
    return json;
  }

  /// Reads bits as another dtype: of an operand, or of a dst.
  Json viewOf(std::size_t tensor, Dtype dtype) {
    return object({{"tensor", string(tensors_[tensor].name)},
                   {"reinterpret", boolean(true)},
                   {"dtype", string(dtypeName(dtype))}});
  }

  Json viewOperand(std::size_t tensor, Dtype dtype) {
    ++tensors_[tensor].reads;
    return viewOf(tensor, dtype);
  }

  std::optional<std::size_t> readableTensor() {
    const auto found = findReadable([](const Reference& reference) { return !reference.isInstruction; });
    return found ? std::optional(found->index) : std::nullopt;
  }

  Json immediate() {
    constexpr const char* kValues[] = {"1.0", "0", "\"-inf\"", "null", "[1, {\"dtype\": \"float32\"}]", "-1e-7"};
    Json json = object({{"imm", scalar(random_.pick(kValues))}});
    if (random_.chance(10)) json.members.emplace_back("dtype", string("float32"));
    return json;
  }

  Json anyOperand() {
    if (random_.chance(12)) return immediate();
    if (random_.chance(4))
      if (const auto tensor = readableTensor()) return viewOperand(*tensor, anyDtype());
    const auto reference = findOrLoad(anyDtype(), [](const Reference&) { return true; });
    return reference ? operandOf(*reference) : immediate();
  }

  /// The result of a new load, unless that went somewhere out of the way.
  std::optional<Reference> loadAnew(Dtype dtype) {
    // A load may widen, where the DMA casts.
    const Dtype sourceDtype = options_.target.enableDmaCast && random_.chance(15) ? anyDtype() : dtype;
    addLoad(addSource(sourceDtype), dtype);
    const std::optional<std::size_t> dst = instructions_.back().dst;
    return dst && tensors_[*dst].dtype == dtype ? std::optional(readTensor(*dst)) : std::nullopt;
  }

  /// As findReadable, but often a new load rather than what was read before.
  template <typename F>
  std::optional<Reference> findOrLoad(Dtype dtype, F&& fits) {
    const auto found = findReadable(fits);
    if (found && (found->reads == 0 || random_.chance(40))) return found;
    const auto loaded = loadAnew(dtype);
    return loaded ? loaded : found;
  }

  // ---- instructions
  struct Shape {
    OpKind kind;
    std::optional<Op> op = std::nullopt;  // else any of the kind
    Dtype dtype = Dtype::kNone;           // of the result
    std::vector<Json> operands = {};
    bool needsDst = false;
    std::size_t dstInPsum = 6;  // percent
  };

  /// Where a result of that dtype can go: the member `dst`, if any; the tensor can be read from then on.
  std::optional<Json> chooseDst(const Shape& shape, bool& reinterprets, std::optional<std::size_t>& chosen) {
    if (!shape.needsDst && random_.chance(4)) return random_.chance(30) ? std::optional(scalar("null")) : std::nullopt;
    if (random_.chance(3)) {
      const std::size_t tensor = addTensor(anyDtype(), "sbuf", "");
      chosen = tensor;
      tensors_[tensor].canBeRead = true;
      if (random_.chance(50)) return viewOf(tensor, anyDtype());
      reinterprets = true;
      return object({{"tensor", string(tensors_[tensor].name)}});
    }
    std::vector<std::size_t> existing;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].dtype == shape.dtype && !tensors_[i].isSource()) existing.push_back(i);
    std::size_t tensor = 0;
    if (!existing.empty() && random_.chance(5)) {
      tensor = random_.pick(existing);
    } else if (random_.chance(4)) {
      tensor = addTensor(shape.dtype, "dram", "output");
    } else {
      const std::string space = random_.chance(shape.dstInPsum) ? "psum" : random_.chance(80) ? "sbuf" : "dram";
      tensor = addTensor(shape.dtype, space, "");
    }
    chosen = tensor;
    tensors_[tensor].canBeRead = true;
    return object({{"tensor", string(tensors_[tensor].name)}});
  }

  void addInstruction(Shape shape) {
    const Op op = shape.op                        ? *shape.op
                  : shape.kind == OpKind::kOpaque ? Op::kOpaque
                                                  : random_.pick(ops_[static_cast<std::size_t>(shape.kind)]);
    const std::string name = newName(instructionNames_, "i");
    Json json = object({{"name", string(name)}});
    constexpr std::string_view kUnknown[] = {"LRN", "Upsample", "matmulop"};
    json.members.emplace_back("op", string(op == Op::kOpaque ? random_.pick(kUnknown) : opName(op)));
    bool reinterprets = random_.chance(2);
    std::optional<Json> dst;
    std::optional<std::size_t> chosen;
    if (shape.dtype != Dtype::kNone) {
      dst = chooseDst(shape, reinterprets, chosen);
      json.members.emplace_back("dtype", string(dtypeName(shape.dtype)));
    }
    if (!shape.operands.empty() || random_.chance(80))
      json.members.emplace_back("operands", array(std::move(shape.operands)));
    if (dst) json.members.emplace_back("dst", std::move(*dst));
    if (reinterprets || random_.chance(3)) json.members.emplace_back("reinterpret", boolean(reinterprets));
    if (random_.chance(8)) json.members.emplace_back("can_mutate_dst_ty", boolean(random_.chance(70)));
    if (random_.chance(op == Op::kTensorScalarGEPOp ? 80 : 4)) {
      Json allowed = array();
      for (const DtypeInfo& info : kDtypes)
        if (random_.chance(60)) allowed.items.push_back(string(info.name));
      json.members.emplace_back("allowed_dtypes", std::move(allowed));
    }
    if (random_.chance(op == Op::kSBAtomLoad ? 20 : 2))
      json.members.emplace_back("partition_broadcast", boolean(random_.chance(80)));
    instructions_.push_back({.name = name, .dtype = shape.dtype, .dst = chosen});
    instructionJson_.push_back(std::move(json));
  }

  void addLoad(std::size_t source, Dtype dtype) {
    Shape shape{.kind = OpKind::kDma, .op = Op::kSBAtomLoad, .dtype = dtype, .dstInPsum = 5};
    const bool asView = random_.chance(4);
    shape.operands = {asView ? viewOperand(source, options_.target.enableDmaCast ? anyDtype() : dtype)
                             : operandOf(readTensor(source))};
    addInstruction(std::move(shape));
  }

  /// What a dma op may make of that dtype.
  Dtype dmaResult(Dtype dtype) { return options_.target.enableDmaCast && random_.chance(20) ? anyDtype() : dtype; }

  void addSomeLoad() {
    // A weight is often loaded more than once.
    std::optional<std::size_t> source;
    if (random_.chance(45))
      source = random_.chance(70)
                   ? choose(tensorReferences(true),
                            [&](const Reference& reference) { return tensors_[reference.index].isSource(); })
                         ->index
                   : readableTensor();
    if (!source) source = addSource(anyDtype());
    addLoad(*source, dmaResult(tensors_[*source].dtype));
  }

  void addCompute() {
    Shape shape{.kind = OpKind::kCompute, .dtype = anyDtype()};
    if (random_.chance(12)) shape.op = Op::kTensorScalarGEPOp;
    if (random_.chance(12)) shape.op = Op::kTensorCopyOp;
    constexpr std::size_t kCounts[] = {0, 1, 1, 1, 1, 2, 2, 3};
    for (std::size_t i = random_.pick(kCounts); i > 0; --i) shape.operands.push_back(anyOperand());
    addInstruction(std::move(shape));
  }

  void addMatmul() {
    const bool isFull = random_.chance(85);
    const auto fits = [&](Dtype dtype) {
      return options_.target.matmulDtypes.contains(dtype) && isFullPrecision(dtype) == isFull;
    };
    Shape shape{.kind = OpKind::kMatmul, .dtype = Dtype::kFloat32, .dstInPsum = 70};
    if (random_.chance(10)) shape.dtype = anyDtype();
    const std::size_t count = random_.chance(80) ? 2 : 1 + random_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      if (random_.chance(5)) shape.operands.push_back(immediate());
      if (random_.chance(3)) {
        if (const auto tensor = readableTensor()) {
          shape.operands.push_back(viewOperand(*tensor, isFull ? Dtype::kFloat32 : Dtype::kBfloat16));
          continue;
        }
      }
      const auto reference = findOrLoad(isFull ? Dtype::kFloat32 : Dtype::kBfloat16,
                                        [&](const Reference& candidate) { return fits(candidate.dtype); });
      if (reference) shape.operands.push_back(operandOf(*reference));
    }
    addInstruction(std::move(shape));
  }

  /// Further operands of moves and dma ops: indices or flags.
  void addIndices(Shape& shape) {
    while (random_.chance(25)) {
      const auto index = findReadable([](const Reference& candidate) { return isInteger(candidate.dtype); });
      shape.operands.push_back(index ? operandOf(*index) : immediate());
    }
  }

  void addMoveOrDma(OpKind kind) {
    Shape shape{.kind = kind};
    // Of the dma ops, loads and stores have rules of their own.
    while (kind == OpKind::kDma && (!shape.op || *shape.op == Op::kSBAtomLoad || *shape.op == Op::kSBAtomStore))
      shape.op = random_.pick(ops_[static_cast<std::size_t>(kind)]);
    if (random_.chance(4)) {
      // Nothing to move: an immediate, or no operand at all.
      shape.dtype = anyDtype();
      if (random_.chance(50)) shape.operands = {immediate()};
      return addInstruction(std::move(shape));
    }
    if (random_.chance(5)) {
      if (const auto tensor = readableTensor()) {
        shape.dtype = anyDtype();
        shape.operands = {viewOperand(*tensor, shape.dtype)};
        return addInstruction(std::move(shape));
      }
    }
    const auto first = findReadable();
    if (!first) return;
    shape.dtype = kind == OpKind::kDma ? dmaResult(first->dtype) : first->dtype;
    shape.operands = {operandOf(*first)};
    addIndices(shape);
    if (random_.chance(4)) shape.dtype = Dtype::kNone;
    addInstruction(std::move(shape));
  }

  void addStore() {
    const auto stored = findReadable();
    if (!stored) return;
    Shape shape{.kind = OpKind::kDma,
                .op = Op::kSBAtomStore,
                .dtype = dmaResult(stored->dtype),
                .needsDst = true,
                .dstInPsum = 0};
    shape.operands = {operandOf(*stored)};
    addInstruction(std::move(shape));
  }

  void addOpaque() {
    Shape shape{.kind = OpKind::kOpaque, .dtype = random_.chance(85) ? anyDtype() : Dtype::kNone};
    for (std::size_t i = random_.below(3); i > 0; --i) shape.operands.push_back(anyOperand());
    addInstruction(std::move(shape));
  }

  void addSomething() {
    const std::size_t what = random_.below(100);
    if (what < 22) return addSomeLoad();
    if (what < 57) return addCompute();
    if (what < 74) return addMatmul();
    if (what < 84) return addMoveOrDma(OpKind::kMove);
    if (what < 89) return addMoveOrDma(OpKind::kDma);
    if (what < 96) return addStore();
    addOpaque();
  }

  // ---- the whole
  Json document() {
    std::vector<std::size_t> order(tensors_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (random_.chance(50)) random_.shuffle(order);
    Json tensors = array();
    for (std::size_t i : order) {
      const GeneratedTensor& tensor = tensors_[i];
      Json json = object({{"name", string(tensor.name)}, {"dtype", string(dtypeName(tensor.dtype))}});
      Json shape = array();
      for (std::uint64_t dimension : tensor.shape) shape.items.push_back(number(dimension));
      json.members.emplace_back("shape", std::move(shape));
      if (tensor.space != "dram" || random_.chance(50)) json.members.emplace_back("space", string(tensor.space));
      if (!tensor.kind.empty() || random_.chance(20))
        json.members.emplace_back("kind", string(tensor.kind.empty() ? "internal" : tensor.kind));
      if (tensor.data) json.members.emplace_back("data", *tensor.data);
      tensors.items.push_back(std::move(json));
    }
    Json root = object({{"tensors", std::move(tensors)}, {"instructions", array(std::move(instructionJson_))}});
    if (random_.chance(50)) root.members.emplace_back("version", scalar("1"));
    if (random_.chance(50)) root.members.emplace_back("name", string("generated"));
    return root;
  }

  void writeFiles() {
    if (options_.folder.empty()) return;
    std::filesystem::create_directories(options_.folder + "/sub");
    for (const auto& [name, content] : files_) writeFile(options_.folder + "/" + name, content);
    if (!header_.tensors.empty())
      writeFile(options_.folder + "/model.safetensors", *writeSafetensorsHeader(header_, "") + stored_);
  }

  Random random_;
  const GeneratorOptions& options_;
  const std::size_t freshness_;  // percent
  std::vector<Dtype> dtypes_;
  std::array<std::vector<Op>, 5> ops_;  // by kind
  std::vector<GeneratedTensor> tensors_;
  std::vector<GeneratedInstruction> instructions_;
  std::vector<Json> instructionJson_;
  std::set<std::string> tensorNames_;
  std::set<std::string> instructionNames_;
  std::map<std::string, std::string> files_;
  SafetensorsHeader header_;
  std::string stored_;  // the data section that goes with header_
};

}  // namespace

std::string generateDocument(std::uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).generate();
}

}  // namespace dtypemut
