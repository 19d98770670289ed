// How the elements of a tensor are spelled in a document: `splat` and `values` (spec 2, 6).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dtypemut/types/dtype.h"

namespace dtypemut {

/// What becomes of a finite number that a float dtype cannot hold.
enum class Overflow : std::uint8_t {
  kError,    ///< of `values`
  kAllowed,  ///< of a splat: it keeps its spelling when its dtype changes; it must be a float32, though
};

/// Reads one element, spelled as in JSON, into the bytes of one stored element: decimal -> float32 -> dtype without
/// saturation, or an exact integer. Returns what is wrong with it, if anything.
std::optional<std::string> parseElement(std::string_view spelled, Dtype dtype, Overflow overflow, std::byte* element);

/// Spells one element of a scalar float dtype: the shortest decimal that reads back to the same float32.
std::string spellElement(Dtype dtype, const std::byte* element);

}  // namespace dtypemut
