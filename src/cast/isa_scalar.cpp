#include "dtypemut/cast/isa_scalar.h"

#include <bit>

#include "dtypemut/cast/small_float.h"
#include "dtypemut/types/bytes.h"

namespace dtypemut {
namespace {

/// float32 bits of a float element. Only codes of ScalarKind::kDouble come here.
std::uint32_t float32Bits(ScalarType type, std::uint64_t element) {
  switch (type) {
    case ScalarType::kBFloat16:
      return SmallFloat<kBfloat16Format>::decode(static_cast<std::uint16_t>(element));
    case ScalarType::kHalf:
      return SmallFloat<kFloat16Format>::decode(static_cast<std::uint16_t>(element));
    default:
      return static_cast<std::uint32_t>(element);
  }
}

}  // namespace

std::optional<ScalarValue> isaToScalar(std::uint8_t code, std::span<const std::byte> element) {
  const std::optional<ScalarKind> kind = isaToScalarKind(code);
  if (!kind) return std::nullopt;
  const ScalarType type = *isaToTorchDtype(code);
  const std::uint64_t value = littleEndianValue(element);
  if (*kind == ScalarKind::kDouble) return double{std::bit_cast<float>(float32Bits(type, value))};
  if (type == ScalarType::kByte) return static_cast<std::int64_t>(value);
  // The sign bit of the element moves to the top and is drawn down again.
  const std::size_t unusedBits = 64 - 8 * element.size();
  return static_cast<std::int64_t>(value << unusedBits) >> unusedBits;
}

}  // namespace dtypemut
