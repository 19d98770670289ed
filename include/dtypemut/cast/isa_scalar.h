// The wrapper's conversion of one element to c10::Scalar (spec 8, --scalar; reference.md section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "dtypemut/types/isa_dtype.h"

namespace dtypemut {

/// What a c10::Scalar holds: the alternative of ScalarKind.
using ScalarValue = std::variant<double, std::int64_t>;

/// The value of an element, exactly; NaNs are all alike. `element` must have isaDtypeSizeof(code) bytes, little-endian.
/// No value: the code is unsupported, and the device aborts at utypes.hpp:37.
std::optional<ScalarValue> isaToScalar(std::uint8_t code, std::span<const std::byte> element);

}  // namespace dtypemut
