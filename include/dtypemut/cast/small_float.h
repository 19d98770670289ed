// One codec for every float format that is narrower than float32. A format is a row of constants; the arithmetic works
// on bit patterns, so that signalling NaNs, subnormals, and the flush and rounding modes of the FPU do not matter, and
// it is free of branches, so that loops over it vectorise.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace dtypemut {

inline constexpr std::uint32_t kFloat32Magnitude = 0x7FFFFFFF;
inline constexpr std::uint32_t kFloat32Infinity = 0x7F800000;
inline constexpr unsigned kFloat32MantissaBits = 23;
inline constexpr int kFloat32Bias = 127;

/// A binary float format. Codes are magnitudes: without the sign bit, which stands above the exponent.
struct SmallFloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  std::uint32_t maxFinite;
  std::uint32_t infinity;   ///< first code that is no finite value; maxFinite + 1 where there is neither Inf nor NaN
  std::uint32_t overflow;   ///< what an overflow becomes when it does not saturate: Inf, NaN or, for want of both, max
  std::uint32_t nan;        ///< what a NaN becomes
  bool nanKeepsSign;        ///< else the sign bit of a NaN is cleared
  unsigned containerBits;   ///< width of a stored element
  unsigned containerShift;  ///< zero bits below the code in a stored element
};

// clang-format off
//                                                       exp man bias     max finite  infinity    overflow    NaN      sign   bits shift
inline constexpr SmallFloatFormat kBfloat16Format     = {8,  7,  127,     0x7F7F,     0x7F80,     0x7F80,     0x7FC0,  false, 16,  0};
inline constexpr SmallFloatFormat kFloat16Format      = {5,  10, 15,      0x7BFF,     0x7C00,     0x7C00,     0x7E00,  true,  16,  0};
inline constexpr SmallFloatFormat kFloat32rFormat     = {8,  11, 127,     0x7F7FF,    0x7F800,    0x7F800,    0x7FC00, true,  32,  12};
inline constexpr SmallFloatFormat kFloat8e5Format     = {5,  2,  15,      0x7B,       0x7C,       0x7C,       0x7E,    true,  8,   0};
inline constexpr SmallFloatFormat kFloat8e4Format     = {4,  3,  7,       0x77,       0x78,       0x78,       0x7C,    true,  8,   0};
inline constexpr SmallFloatFormat kFloat8e3Format     = {3,  4,  3,       0x6F,       0x70,       0x70,       0x78,    true,  8,   0};
inline constexpr SmallFloatFormat kFloat8E4m3fnFormat = {4,  3,  7,       0x7E,       0x7F,       0x7F,       0x7F,    true,  8,   0};
inline constexpr SmallFloatFormat kFloat4E2m1Format   = {2,  1,  1,       0x07,       0x08,       0x07,       0x07,    true,  8,   0};
// clang-format on

/// The codes that the knobs of a cast choose: for results beyond max finite, and for NaN inputs.
struct SpecialCodes {
  std::uint32_t overflow;
  std::uint32_t nan;
};

/// What both knobs of spec 9 make of a format. Only the one-byte floats have them.
constexpr SpecialCodes specialCodes(const SmallFloatFormat& format, bool saturate, bool nanSuppress) {
  const bool isFp8 = format.exponentBits + format.mantissaBits == 7;
  return {isFp8 && saturate ? format.maxFinite : format.overflow, isFp8 && nanSuppress ? 0 : format.nan};
}

/// Encodes from and decodes to the bit patterns of float32, as golden data and spec 9 have it.
template <SmallFloatFormat kFormat>
struct SmallFloat {
  using Element = std::conditional_t<kFormat.containerBits == 8, std::uint8_t,
                                     std::conditional_t<kFormat.containerBits == 16, std::uint16_t, std::uint32_t>>;

  static constexpr unsigned kDroppedBits = kFloat32MantissaBits - kFormat.mantissaBits;
  static constexpr unsigned kSignShift = kFormat.exponentBits + kFormat.mantissaBits;
  static constexpr bool kSameExponents = kFormat.bias == kFloat32Bias;
  /// The exponent field that the smallest normal value has in float32.
  static constexpr std::uint32_t kLowestExponent = kFloat32Bias - kFormat.bias + 1;
  static_assert(kSameExponents || kFormat.bias < 64, "float32 subnormals must round to zero");

  static constexpr SpecialCodes specials(bool saturate, bool nanSuppress) {
    return specialCodes(kFormat, saturate, nanSuppress);
  }

  /// The code of a float32 magnitude rounded to nearest, ties to even, as if exponents went on for ever at the top: the
  /// input overflows exactly when this is beyond kFormat.maxFinite. A NaN gives some such code too.
  static constexpr std::uint32_t round(std::uint32_t magnitude) {
    if constexpr (kSameExponents) {
      return shiftToEven(magnitude, kDroppedBits);
    } else {
      // A value below the normals is shifted further, by the distance of its exponent from theirs. Beyond the width of
      // a significand the result is zero, so that the shift may stop there.
      const std::uint32_t exponent = magnitude >> kFloat32MantissaBits;
      const std::uint32_t significand = (magnitude & 0x007FFFFF) | 0x00800000;
      const std::uint32_t raised = std::max(exponent, kLowestExponent);
      const std::uint32_t shift = std::min(kDroppedBits + (raised - exponent), 31u);
      return ((raised - kLowestExponent) << kFormat.mantissaBits) + shiftToEven(significand, shift);
    }
  }

  static constexpr Element encode(std::uint32_t bits, SpecialCodes special) {
    const std::uint32_t magnitude = bits & kFloat32Magnitude;
    return withSign(bits, magnitude, select(magnitude, round(magnitude), special));
  }

  /// Whether a number that is finite overflows.
  static constexpr bool overflows(std::uint32_t bits) { return round(bits & kFloat32Magnitude) > kFormat.maxFinite; }

  /// The first half of encode: the final code, still without sign, of a magnitude and what round made of it.
  static constexpr std::uint32_t select(std::uint32_t magnitude, std::uint32_t rounded, SpecialCodes special) {
    const std::uint32_t finite = rounded > kFormat.maxFinite ? special.overflow : rounded;
    return magnitude > kFloat32Infinity ? special.nan : finite;
  }

  static constexpr Element withSign(std::uint32_t bits, std::uint32_t magnitude, std::uint32_t code) {
    std::uint32_t sign = bits >> 31;
    if constexpr (!kFormat.nanKeepsSign) sign = magnitude > kFloat32Infinity ? 0 : sign;
    return static_cast<Element>((sign << kSignShift | code) << kFormat.containerShift);
  }

  /// Exact. The payload of a NaN moves to the top of the mantissa; a signalling NaN stays one.
  static constexpr std::uint32_t decode(Element element) {
    if constexpr (kSameExponents) {
      return kFormat.containerBits == 32 ? element : std::uint32_t{element} << kDroppedBits;
    } else {
      const std::uint32_t code = element;
      const std::uint32_t sign = code >> kSignShift << 31;
      return sign | decodeMagnitude(code & ((1u << kSignShift) - 1));
    }
  }

  /// As decode, of a code without sign.
  static constexpr std::uint32_t decodeMagnitude(std::uint32_t code) {
    if constexpr (kSameExponents) {
      return code << kDroppedBits;
    } else {
      const std::uint32_t widened = code << kDroppedBits;
      const std::uint32_t normal = widened + ((kLowestExponent - 1) << kFloat32MantissaBits);
      // A small integer times a power of two: exact and normal, in any mode of the FPU.
      const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(code)) *
                                                                   std::bit_cast<float>(kSmallestSubnormal));
      const std::uint32_t finite = code < (1u << kFormat.mantissaBits) ? subnormal : normal;
      return code >= kFormat.infinity ? kFloat32Infinity | widened : finite;
    }
  }

 private:
  /// The smallest subnormal value, as float32 bits.
  static constexpr std::uint32_t kSmallestSubnormal =
      kSameExponents ? 0 : (kLowestExponent - kFormat.mantissaBits) << kFloat32MantissaBits;

  /// value / 2^shift to the nearest integer, ties to even; 1 <= shift <= 31. Does not wrap for magnitudes of float32.
  static constexpr std::uint32_t shiftToEven(std::uint32_t value, std::uint32_t shift) {
    const std::uint32_t odd = value >> shift & 1;
    return (value + (1u << (shift - 1)) - 1 + odd) >> shift;
  }
};

}  // namespace dtypemut
