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

/// What the knobs of a cast come to for one format.
struct EncodeLimits {
  std::uint32_t ceiling;  ///< the largest float32 magnitude that is rounded; larger ones count as this one
  std::uint32_t nan;      ///< the code of a NaN, without sign
};

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
  static_assert(!kSameExponents || kFormat.overflow == kFormat.infinity, "overflow is carried into Inf");

  /// What both knobs of spec 9 make of the format. Only the one-byte floats have them.
  static constexpr EncodeLimits limits(bool saturate, bool nanSuppress) {
    constexpr bool kIsFp8 = kSignShift == 7;
    // The code that an overflow becomes has a value, if one that is read as Inf or NaN: one place up from max finite.
    return {(kIsFp8 && saturate ? kFormat.maxFinite : kFormat.overflow) * kUnitOfCode + kZeroOfCode,
            kIsFp8 && nanSuppress ? 0 : kFormat.nan};
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

  /// Whether a number that is finite overflows.
  static constexpr bool overflows(std::uint32_t bits) { return round(bits & kFloat32Magnitude) > kFormat.maxFinite; }

  static constexpr Element encode(std::uint32_t bits, EncodeLimits limits) {
    const std::uint32_t magnitude = bits & kFloat32Magnitude;
    const bool isNan = magnitude > kFloat32Infinity;
    const std::uint32_t sign = bits >> 31 << kSignShift;
    const std::uint32_t nan = (kFormat.nanKeepsSign ? sign : 0) | limits.nan;
    std::uint32_t code;
    if constexpr (kSameExponents) {
      code = shiftToEven(bits, kDroppedBits);  // the sign stays above; what overflows carries into Inf
    } else {
      code = sign | round(std::min(magnitude, limits.ceiling));
    }
    return static_cast<Element>((isNan ? nan : code) << kFormat.containerShift);
  }

  /// Exact. The payload of a NaN moves to the top of the mantissa; a signalling NaN stays one.
  static constexpr std::uint32_t decode(Element element) {
    const std::uint32_t finite = decodeFinite(element);
    const std::uint32_t code = element & kMagnitude;
    if constexpr (kSameExponents) return finite;
    const std::uint32_t special = (finite & ~kFloat32Magnitude) | kFloat32Infinity | code << kDroppedBits;
    return code >= kFormat.infinity ? special : finite;
  }

  /// As decode, of what is neither Inf nor NaN.
  static constexpr std::uint32_t decodeFinite(Element element) {
    if constexpr (kSameExponents) {
      return kFormat.containerBits == 32 ? element : std::uint32_t{element} << kDroppedBits;
    } else {
      const std::uint32_t code = element & kMagnitude;
      const std::uint32_t sign = std::uint32_t{element} >> kSignShift << 31;
      const std::uint32_t normal = code * kUnitOfCode + kZeroOfCode;
      // A small integer times a power of two: exact and normal, in any mode of the FPU.
      const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(code)) *
                                                                   std::bit_cast<float>(kSmallestSubnormal));
      return sign | (code < (1u << kFormat.mantissaBits) ? subnormal : normal);
    }
  }

 private:
  static constexpr std::uint32_t kMagnitude = (1u << kSignShift) - 1;

  // The float32 magnitude of the code of a normal value is code * kUnitOfCode + kZeroOfCode.
  static constexpr std::uint32_t kUnitOfCode = 1u << kDroppedBits;
  static constexpr std::uint32_t kZeroOfCode = (kLowestExponent - 1) << kFloat32MantissaBits;

  /// The smallest subnormal value, as float32 bits.
  static constexpr std::uint32_t kSmallestSubnormal =
      kSameExponents ? 0 : (kLowestExponent - kFormat.mantissaBits) << kFloat32MantissaBits;

  /// value / 2^shift to the nearest integer, ties to even; 1 <= shift <= 31. Wraps for nothing but a NaN.
  static constexpr std::uint32_t shiftToEven(std::uint32_t value, std::uint32_t shift) {
    const std::uint32_t odd = value >> shift & 1;
    return (value + (1u << (shift - 1)) - 1 + odd) >> shift;
  }
};

}  // namespace dtypemut
