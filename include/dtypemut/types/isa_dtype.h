// The ISA's dtype codes, and the device wrapper's translation of them to c10::ScalarType (spec 8; reference.md section
// 3). A code is a byte: every value may arrive, also those that no header names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/types/scalar_type.h"

namespace dtypemut {

enum class IsaFamily : std::uint8_t { kNone, kSigned, kUnsigned, kFloat, kScale, kCptc };
/// A dash for kNone.
std::string_view isaFamilyName(IsaFamily family);

/// One row of isa_dtype.def.
struct IsaDtypeInfo {
  std::uint8_t code;
  std::string_view name;
  std::uint8_t bits;
  IsaFamily family;
  std::string_view role;
  std::optional<ScalarType> scalarType;
  std::uint8_t firstGeneration;
  std::string_view whyNot;

  /// Bytes per element as the ISA has it, whatever the wrapper knows; none for codes without whole bytes.
  constexpr std::optional<std::size_t> sizeInBytes() const {
    if (bits == 0 || bits % 8 != 0) return std::nullopt;
    return bits / 8;
  }
  /// One of the base sixteen, which fit a pair of nibbles and may stand in a DMA descriptor. The headers of generations
  /// 4 and 5 declare them a second time, as BASIC.
  constexpr bool isBasic() const { return code < 0x10; }
};

inline constexpr IsaDtypeInfo kIsaDtypes[] = {
#define ISA_DTYPE(code, name, bits, family, role, scalarType, generation, whyNot) \
  {code, name, bits, IsaFamily::family, role, scalarType, generation, whyNot},
#include "dtypemut/types/isa_dtype.def"
#undef ISA_DTYPE
};
static_assert(std::size(kIsaDtypes) == 30);

/// The row of a code; null when no header names it.
const IsaDtypeInfo* isaDtypeInfo(std::uint8_t code);
/// The codes that the header of a generation names, in ascending order; those of all headers are those of the last.
std::vector<std::uint8_t> isaCodes(std::uint8_t generation);
inline constexpr std::uint8_t kLastGeneration = 5;

/// Whether the code is one of the CPTC transport formats; its low three bits are then the width of an element.
constexpr bool isCptc(std::uint8_t code) { return (code & 0xF8) == 0x18 && (code & 7) != 0; }

/// The wrapper's ordinal tree, which compares and branches as the device does. No value: the device aborts at
/// utypes.hpp:37.
constexpr std::optional<ScalarType> isaToTorchDtype(std::uint8_t code) {
  if (code >= 7) {
    if (code >= 10) {
      if (code == 10) return ScalarType::kFloat;
      if (code == 12) return ScalarType::kLong;
    } else {
      if (code == 7) return ScalarType::kHalf;
      if (code == 8) return ScalarType::kInt;
    }
  } else if (code >= 4) {
    if (code == 4) return ScalarType::kShort;
    if (code == 6) return ScalarType::kBFloat16;
  } else {
    if (code == 2) return ScalarType::kChar;
    if (code == 3) return ScalarType::kByte;
  }
  return std::nullopt;
}

/// The wrapper's size tree: bytes per element. No value: the device aborts at utypes.hpp:37.
constexpr std::optional<std::size_t> isaDtypeSizeof(std::uint8_t code) {
  if (code >= 8) {
    if (code == 8 || code == 10) return 4;
    if (code == 12) return 8;
    return std::nullopt;
  }
  if (static_cast<std::uint8_t>(code - 2) < 2) return 1;
  if (static_cast<std::uint8_t>(code - 6) < 2) return 2;
  if (code == 4) return 2;
  return std::nullopt;
}

/// What a c10::Scalar holds.
enum class ScalarKind : std::uint8_t { kDouble, kIntegral };

/// The tree of the wrapper's conversion to c10::Scalar. No value: the device aborts at utypes.hpp:37.
constexpr std::optional<ScalarKind> isaToScalarKind(std::uint8_t code) {
  if (code >= 7) {
    if (code == 7 || code == 10) return ScalarKind::kDouble;
    if (code == 8 || code == 12) return ScalarKind::kIntegral;
  } else {
    if (code == 6) return ScalarKind::kDouble;
    if (code >= 2 && code <= 4) return ScalarKind::kIntegral;
  }
  return std::nullopt;
}

/// The code that maps to a ScalarType. The device has no such function; this one reads the table (spec 8, --reverse).
std::optional<std::uint8_t> isaFromTorchDtype(ScalarType type);

/// Why a code has no ScalarType; empty when it has one.
std::string_view whyNoScalarType(std::uint8_t code);

/// The code and its name: "0x6 BFLOAT16"; the code alone when it has no name.
std::string isaCodeAndName(std::uint8_t code);

/// The full enumerator of a code in the header of a generation; none when that header does not name the code.
std::optional<std::string> isaEnumerator(std::uint8_t code, std::uint8_t generation);
/// As isaEnumerator, in the BASIC family.
std::optional<std::string> isaBasicEnumerator(std::uint8_t code, std::uint8_t generation);

/// A code by number (decimal, or hexadecimal behind 0x), ISA name or full enumerator of some header, in any case;
/// anything else is wrong usage (spec 8).
Result<std::uint8_t> isaCodeFromArgument(std::string_view text);

}  // namespace dtypemut
