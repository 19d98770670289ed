#include "dtypemut/io/elements.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dtypemut/cast/cast.h"
#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

bool isNumber(std::string_view spelled) {
  return !spelled.empty() && (spelled[0] == '-' || (spelled[0] >= '0' && spelled[0] <= '9'));
}

/// Reads an integer of `bytes` bytes, stored little-endian.
std::optional<std::string> parseInteger(std::string_view spelled, Dtype dtype, std::byte* element) {
  const std::size_t bits = containerBytes(dtype) * 8;
  const bool isSigned = dtypeName(dtype).starts_with("int");
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (isSigned ? 1 : 0));
  const std::uint64_t deepest = isSigned ? largest + 1 : 0;

  const bool isNegative = spelled.starts_with('-');
  const std::string_view digits = spelled.substr(isNegative ? 1 : 0);
  std::uint64_t magnitude = 0;
  const auto [rest, status] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  const bool isWhole = !digits.empty() && rest == digits.data() + digits.size();
  if (!isWhole) return "must be an integer, spelled without point or exponent, for " + std::string(dtypeName(dtype));
  if (status != std::errc{} || magnitude > (isNegative ? deepest : largest))
    return "is out of the range of " + std::string(dtypeName(dtype));
  const std::uint64_t value = isNegative ? 0 - magnitude : magnitude;
  for (std::size_t i = 0; i < bits / 8; ++i) element[i] = static_cast<std::byte>(value >> (8 * i));
  return std::nullopt;
}

/// Reads a float32; nullopt when the text is neither a number nor one of the names.
std::optional<float> parseFloatOrName(std::string_view spelled) {
  if (isNumber(spelled)) return parseFloat32(spelled);
  if (!spelled.starts_with('"')) return std::nullopt;
  const std::string name = decodeString(spelled);
  if (name == "nan") return std::numeric_limits<float>::quiet_NaN();
  if (name == "inf") return std::numeric_limits<float>::infinity();
  if (name == "-inf") return -std::numeric_limits<float>::infinity();
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parseElement(std::string_view spelled, Dtype dtype, Overflow overflow, std::byte* element) {
  // A scale exponent is a plain byte (reference.md section 5).
  if (isInteger(dtype) || dtypeInfo(dtype).dtypeClass == DtypeClass::kScale)
    return parseInteger(spelled, dtype, element);
  const std::optional<float> value = parseFloatOrName(spelled);
  if (!value) return "must be a number, \"nan\", \"inf\" or \"-inf\"";
  if (isNumber(spelled) && std::isinf(*value)) return "is beyond the range of float32";
  const bool overflows = encodeFloat(*value, dtype, element, {.saturate = false});
  if (overflows && overflow == Overflow::kError) return "is beyond the range of " + std::string(dtypeName(dtype));
  return std::nullopt;
}

std::string spellElement(Dtype dtype, const std::byte* element) {
  const float value = decodeFloat(dtype, element);
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  if (value == 0 && std::signbit(value)) return "-0.0";  // "-0" would be read as an integer by many
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace dtypemut
