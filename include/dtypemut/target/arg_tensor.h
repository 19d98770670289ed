// The descriptor by which a tensor reaches a custom op, and the gates it has to pass there (spec 8; reference.md
// section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/target/assertion_site.h"
#include "dtypemut/types/isa_dtype.h"

namespace dtypemut {

/// The bare descriptor, or the wrapper's object, which embeds it behind its storage handle.
enum class DescriptorKind : std::uint8_t { kArgTensor, kUTensor };
constexpr std::size_t descriptorBytes(DescriptorKind kind) { return kind == DescriptorKind::kArgTensor ? 48 : 56; }

enum class ArgLocation : std::uint8_t { kInvalid = 0, kSbuf = 1, kHbm = 2 };
enum class ShapeType : std::uint8_t { kInline8d = 0, kOutOfLine = 1, kInline4d = 2 };

/// A field as it lies in memory. Which fields there are depends on the shape type and the location.
struct DescriptorField {
  enum class Kind : std::uint8_t { kNumber, kAddress, kLocation, kShapeType, kDtype, kBytes };

  std::string name;
  std::size_t offset;  ///< from the start of the object
  Kind kind;
  std::vector<std::byte> bytes;
  std::uint64_t value;  ///< little-endian; 0 for kBytes
};

/// Location and shape type are ArgLocation and ShapeType, or bytes that are neither.
struct ArgTensor {
  DescriptorKind kind;
  std::optional<std::uint64_t> handle;  ///< of a UTensor: xt_ptr_
  std::uint8_t location;
  std::uint8_t shapeType;
  std::uint8_t dtype;
  std::vector<std::uint32_t> elementCounts;     ///< as many as the shape type has; none when it is not inline
  std::optional<std::uint64_t> shapeAddress;    ///< of a shape out of line
  std::optional<std::uint64_t> storageAddress;  ///< of a known location
  std::optional<std::uint32_t> storedElements;  ///< likewise
  std::vector<DescriptorField> fields;          ///< every byte of the object, in order

  bool hasInlineShape() const { return !elementCounts.empty(); }
  /// The leading element counts that are not 0; the rank is their number.
  std::span<const std::uint32_t> shape() const;
  /// The product of shape(); none without an inline shape of at least rank 1, or when it has no 64 bits.
  std::optional<std::uint64_t> shapeElements() const;
  /// Whether shape and storage have the same number of elements; none when one of them has no number at all.
  std::optional<bool> elementsAgree() const;
};

/// Empty for a byte that is no location or shape type.
std::string_view argLocationName(std::uint8_t location);
std::string_view shapeTypeName(std::uint8_t shapeType);

/// The descriptor that `content` holds: its bytes, or hex text of them. Any other number of bytes is refused, in the
/// name of `file`.
Result<ArgTensor> readArgTensor(DescriptorKind kind, std::string_view content, const std::string& file);

/// One assertion of the wrapper, asked of a descriptor.
struct Gate {
  enum class State : std::uint8_t { kHolds, kFails, kNotChecked };

  AssertionSite site;
  State state;
  std::string detail;  ///< what was found, or why it was not checked; empty when the gate holds
};

/// The gates of a conversion, in the order in which the device meets them; it aborts at the first that fails.
std::vector<Gate> tensorGates(const ArgTensor& tensor);
/// Of the conversion to c10::Scalar.
std::vector<Gate> scalarGates(const ArgTensor& tensor);
/// Of binding a host tensor of that type back.
std::vector<Gate> copyGates(const ArgTensor& tensor, ScalarType hostType);

/// What no gate of the device guards, though nothing can be made of it: unknown location and shape type, one line each.
std::vector<std::string> unknownFields(const ArgTensor& tensor);

/// How a code meets the first gate of every conversion.
Gate supportedDtypeGate(std::uint8_t code);
/// How a code meets the gate at which a host tensor of that type is bound.
Gate dtypeMatchGate(std::uint8_t code, ScalarType hostType);

}  // namespace dtypemut
