// Bytes in memory order, as text and as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

/// The number whose little-endian bytes these are, at most eight of them.
constexpr std::uint64_t littleEndianValue(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  return value;
}

/// The bytes that hex text spells: pairs of digits in any case. White space may stand anywhere, 0x before each word.
/// The error (kRefused) says what is wrong and has no file.
Result<std::vector<std::byte>> bytesFromHex(std::string_view text);
/// Whether `text` consists of nothing but what hex text may consist of.
bool isHexText(std::string_view text);
/// Two upper-case digits per byte.
std::string hexFromBytes(std::span<const std::byte> bytes);
/// A number as people read it: 0x and as many upper-case digits as it needs.
std::string hexNumber(std::uint64_t value);

}  // namespace dtypemut
