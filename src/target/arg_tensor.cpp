#include "dtypemut/target/arg_tensor.h"

#include <algorithm>
#include <iterator>

#include "dtypemut/types/bytes.h"

namespace dtypemut {
namespace {

using Kind = DescriptorField::Kind;
using State = Gate::State;

/// Takes one field after the other off the bytes of a descriptor.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, std::vector<DescriptorField>& fields)
      : bytes_(bytes), fields_(fields) {}

  std::uint64_t number(std::string name, std::size_t size, Kind kind = Kind::kNumber) {
    const auto bytes = bytes_.subspan(offset_, size);
    const std::uint64_t value = kind == Kind::kBytes ? 0 : littleEndianValue(bytes);
    fields_.push_back({std::move(name), offset_, kind, {bytes.begin(), bytes.end()}, value});
    offset_ += size;
    return value;
  }
  std::uint8_t byte(std::string name, Kind kind) { return static_cast<std::uint8_t>(number(std::move(name), 1, kind)); }
  std::uint32_t word(std::string name) { return static_cast<std::uint32_t>(number(std::move(name), 4)); }
  std::uint64_t address(std::string name, std::size_t size) { return number(std::move(name), size, Kind::kAddress); }
  void bytes(std::string name, std::size_t size) { number(std::move(name), size, Kind::kBytes); }

 private:
  std::span<const std::byte> bytes_;
  std::vector<DescriptorField>& fields_;
  std::size_t offset_ = 0;
};

void readShape(FieldReader& reader, ArgTensor& tensor) {
  constexpr std::size_t kShapeBytes = 16;
  const auto readCounts = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t elements = reader.number("framework_shape[" + std::to_string(i) + "]", kShapeBytes / count);
      tensor.elementCounts.push_back(static_cast<std::uint32_t>(elements));
    }
  };
  switch (static_cast<ShapeType>(tensor.shapeType)) {
    case ShapeType::kInline8d:
      return readCounts(8);
    case ShapeType::kInline4d:
      return readCounts(4);
    case ShapeType::kOutOfLine:
      tensor.shapeAddress = reader.address("framework_shape.addr", 8);
      return reader.bytes("framework_shape.unused", 8);
  }
  reader.bytes("framework_shape", kShapeBytes);
}

void readStorage(FieldReader& reader, ArgTensor& tensor) {
  switch (static_cast<ArgLocation>(tensor.location)) {
    case ArgLocation::kSbuf:
      tensor.storageAddress = reader.address("storage.addr", 4);
      tensor.storedElements = reader.word("storage.num_elem");
      reader.number("storage.num_partitions", 1);
      reader.bytes("storage.padding", 3);
      reader.word("storage.num_elem_per_block");
      return;
    case ArgLocation::kHbm:
      tensor.storageAddress = reader.address("storage.addr", 8);
      tensor.storedElements = reader.word("storage.num_elem");
      reader.word("storage.reserved");
      return;
    case ArgLocation::kInvalid:
      break;
  }
  reader.bytes("storage", 16);
}

ArgTensor parse(DescriptorKind kind, std::span<const std::byte> bytes) {
  ArgTensor tensor{};
  tensor.kind = kind;
  FieldReader reader(bytes, tensor.fields);
  if (kind == DescriptorKind::kUTensor) tensor.handle = reader.address("xt_ptr_", 8);
  tensor.location = reader.byte("location", Kind::kLocation);
  tensor.shapeType = reader.byte("framework_shape_type", Kind::kShapeType);
  tensor.dtype = reader.byte("dtype", Kind::kDtype);
  reader.bytes("reserved0", 5);
  readShape(reader, tensor);
  readStorage(reader, tensor);
  reader.bytes("reserved1", 8);
  return tensor;
}

std::string countsText(std::span<const std::uint32_t> counts) {
  std::string text = "[";
  for (const std::uint32_t count : counts) text += (text.size() > 1 ? ", " : "") + std::to_string(count);
  return text + "]";
}

Gate gate(AssertionSite site, bool holds, std::string detailOfFailure) {
  return {site, holds ? State::kHolds : State::kFails, holds ? std::string() : std::move(detailOfFailure)};
}

}  // namespace

std::span<const std::uint32_t> ArgTensor::shape() const {
  const auto end = std::find(elementCounts.begin(), elementCounts.end(), 0u);
  return {elementCounts.begin(), end};
}

std::optional<std::uint64_t> ArgTensor::shapeElements() const {
  if (shape().empty()) return std::nullopt;
  std::uint64_t product = 1;
  for (const std::uint64_t count : shape())
    if (__builtin_mul_overflow(product, count, &product)) return std::nullopt;
  return product;
}

std::string_view argLocationName(std::uint8_t location) {
  constexpr std::string_view kNames[] = {"INVALID", "SBUF", "HBM"};
  return location < std::size(kNames) ? kNames[location] : std::string_view();
}

std::string_view shapeTypeName(std::uint8_t shapeType) {
  constexpr std::string_view kNames[] = {"INLINE_SHAPE8D", "OUT_OF_LINE_SHAPE", "INLINE_SHAPE4D"};
  return shapeType < std::size(kNames) ? kNames[shapeType] : std::string_view();
}

std::optional<bool> ArgTensor::elementsAgree() const {
  if (shape().empty() || !storedElements) return std::nullopt;
  return shapeElements() == std::uint64_t{*storedElements};
}

Result<ArgTensor> readArgTensor(DescriptorKind kind, std::string_view content, const std::string& file) {
  const std::size_t size = descriptorBytes(kind);
  const std::string expected = std::string(", expected ") + std::to_string(size) + " bytes of " +
                               (kind == DescriptorKind::kArgTensor ? "an ARG_TENSOR" : "a UTensor");
  const bool isText = std::all_of(content.begin(), content.end(), [](char c) { return c < '\x7F' && c >= '\t'; });
  if (isHexText(content) || (isText && content.size() != size)) {
    const Result<std::vector<std::byte>> bytes = bytesFromHex(content);
    if (!bytes) return refusedFile(file, bytes.error().begin()->message + expected);
    if (bytes->size() == size) return parse(kind, *bytes);
    return refusedFile(file, "found " + std::to_string(bytes->size()) + " bytes of hex text" + expected);
  }
  if (content.size() == size) return parse(kind, std::as_bytes(std::span(content)));
  return refusedFile(file, "found " + std::to_string(content.size()) + " bytes" + expected);
}

Gate supportedDtypeGate(std::uint8_t code) {
  return gate(AssertionSite::kSupportedDtype, isaToTorchDtype(code).has_value(), std::string(whyNoScalarType(code)));
}

Gate dtypeMatchGate(std::uint8_t code, ScalarType hostType) {
  const std::optional<ScalarType> type = isaToTorchDtype(code);
  if (!type)
    return {AssertionSite::kDtypeMatch, State::kNotChecked,
            "the device aborts at " + assertionPlace(AssertionSite::kSupportedDtype)};
  return gate(AssertionSite::kDtypeMatch, *type == hostType,
              "the host tensor is " + nameAndOrdinal(hostType) + ", the code maps to " + nameAndOrdinal(*type));
}

std::vector<Gate> tensorGates(const ArgTensor& tensor) {
  Gate rank = gate(AssertionSite::kRank, !tensor.shape().empty(), "the first element count is 0");
  if (!tensor.hasInlineShape()) rank = {AssertionSite::kRank, State::kNotChecked, "there is no inline shape"};
  return {gate(AssertionSite::kInlineShape, !tensor.shapeAddress,
               "the shape is out of line, at " + hexNumber(tensor.shapeAddress.value_or(0))),
          supportedDtypeGate(tensor.dtype), std::move(rank)};
}

std::vector<Gate> scalarGates(const ArgTensor& tensor) {
  std::vector<Gate> gates;
  if (tensor.hasInlineShape()) {
    const std::vector<std::uint32_t>& counts = tensor.elementCounts;
    const bool isOne =
        counts[0] == 1 && std::all_of(counts.begin() + 1, counts.end(), [](auto count) { return count == 0; });
    gates.push_back(gate(counts.size() == 4 ? AssertionSite::kOneElement4d : AssertionSite::kOneElement8d, isOne,
                         "the element counts are " + countsText(counts) + ", expected 1 and then 0"));
  }
  gates.push_back(supportedDtypeGate(tensor.dtype));
  return gates;
}

std::vector<Gate> copyGates(const ArgTensor& tensor, ScalarType hostType) {
  Gate handle = gate(AssertionSite::kHandle, tensor.handle != 0u, "the storage handle is 0");
  if (!tensor.handle) handle = {AssertionSite::kHandle, State::kNotChecked, "an ARG_TENSOR has no storage handle"};
  return {std::move(handle), supportedDtypeGate(tensor.dtype), dtypeMatchGate(tensor.dtype, hostType)};
}

std::vector<std::string> unknownFields(const ArgTensor& tensor) {
  std::vector<std::string> faults;
  if (argLocationName(tensor.location).empty())
    faults.push_back("unknown location " + std::to_string(tensor.location) +
                     ": expected 0 (INVALID), 1 (SBUF) or 2 (HBM)");
  if (shapeTypeName(tensor.shapeType).empty())
    faults.push_back("unknown framework_shape_type " + std::to_string(tensor.shapeType) +
                     ": expected 0 (INLINE_SHAPE8D), 1 (OUT_OF_LINE_SHAPE) or 2 (INLINE_SHAPE4D)");
  return faults;
}

}  // namespace dtypemut
