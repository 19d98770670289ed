// The codec of every dtype: how one stored element becomes the bit pattern of a float32, and the reverse. Private to
// the cast layer. Each has
//
//   Element                               what is stored
//   EncodeLimits limits(saturate, nanSuppress)
//   Element encode(bits, limits)
//   bits decode(element)
//   bits decodeFinite(element)            the same, of what is neither Inf nor NaN
//   bool overflows(bits)                  rounded as if there were no limit, the result lies beyond it; free for Inf,
//   NaN
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

#include "dtypemut/cast/small_float.h"

namespace dtypemut::codecs {

/// float32 itself.
struct Float32 {
  using Element = std::uint32_t;
  static constexpr EncodeLimits limits(bool, bool) { return {0, 0}; }
  static constexpr Element encode(std::uint32_t bits, EncodeLimits) { return bits; }
  static constexpr std::uint32_t decode(Element element) { return element; }
  static constexpr std::uint32_t decodeFinite(Element element) { return element; }
  static constexpr bool overflows(std::uint32_t) { return false; }
};

/// An integer: rounds to nearest even, then clamps; a NaN gives the end of the range that its sign bit points to.
template <std::integral Int>
struct Integer {
  using Element = std::make_unsigned_t<Int>;
  using Wide = std::conditional_t<sizeof(Int) == 8, std::uint64_t, std::uint32_t>;

  static constexpr EncodeLimits limits(bool, bool) { return {0, 0}; }

  static constexpr Element encode(std::uint32_t bits, EncodeLimits) {
    const bool negative = bits >> 31 != 0;
    const Wide clamped = std::min(roundMagnitude(bits & kFloat32Magnitude), limit(negative));
    return static_cast<Element>(negative ? Wide{0} - clamped : clamped);
  }

  static constexpr std::uint32_t decode(Element element) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<Int>(element)));
  }
  static constexpr std::uint32_t decodeFinite(Element element) { return decode(element); }

  static constexpr bool overflows(std::uint32_t bits) {
    return roundMagnitude(bits & kFloat32Magnitude) > limit(bits >> 31 != 0) || tooWide(bits & kFloat32Magnitude);
  }

 private:
  /// The largest magnitude on either side of zero.
  static constexpr Wide limit(bool negative) {
    constexpr Wide kMost = static_cast<Wide>(std::numeric_limits<Int>::max());
    return negative ? Wide{std::signed_integral<Int> ? kMost + 1 : 0} : kMost;
  }

  static constexpr bool tooWide(std::uint32_t magnitude) {
    return magnitude >> kFloat32MantissaBits >= kFloat32Bias + 8 * sizeof(Wide);
  }

  /// The magnitude of a float32, rounded; the largest Wide where it does not fit, and for a NaN.
  static constexpr Wide roundMagnitude(std::uint32_t magnitude) {
    constexpr std::uint32_t kUnitExponent = kFloat32Bias + kFloat32MantissaBits;  // here the significand is the value
    const std::uint32_t exponent = magnitude >> kFloat32MantissaBits;
    const Wide significand = (magnitude & 0x007FFFFF) | 0x00800000;
    const std::uint32_t right = std::clamp(kUnitExponent - std::min(exponent, kUnitExponent), 1u, 31u);
    const std::uint32_t left =
        std::min(std::max(exponent, kUnitExponent) - kUnitExponent, std::uint32_t{8 * sizeof(Wide) - 1});
    const Wide odd = significand >> right & 1;
    const Wide fraction = (significand + (Wide{1} << (right - 1)) - 1 + odd) >> right;
    const Wide whole = exponent < kUnitExponent ? fraction : significand << left;
    return tooWide(magnitude) ? std::numeric_limits<Wide>::max() : whole;
  }
};

}  // namespace dtypemut::codecs
