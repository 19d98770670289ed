// The audit of a block of values in the making. Private to the cast layer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dtypemut/cast/audit.h"
#include "dtypemut/cast/small_float.h"

namespace dtypemut {

/// The smallest magnitude that overflows. Codec::overflows must be monotonous.
template <typename Codec>
constexpr std::uint32_t firstOverflow(std::uint32_t sign) {
  std::uint32_t begin = 0;
  std::uint32_t end = kFloat32Infinity;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (Codec::overflows(sign | middle))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/// By sign.
template <typename Codec>
constexpr std::uint32_t kFirstOverflow[2] = {firstOverflow<Codec>(0), firstOverflow<Codec>(1u << 31)};

/// What both tallies are made of. Bit patterns stand for floats, and the patterns of floats that are not negative order
/// as the floats do. All is computed for every value, whether it counts or not: that is what vectorises.
template <typename Codec>
struct TallyParts {
  static std::uint32_t firstThatOverflows(std::uint32_t input) {
    constexpr std::uint32_t kFirst = kFirstOverflow<Codec>[0];
    constexpr std::uint32_t kFirstNegative = kFirstOverflow<Codec>[1];
    return kFirst == kFirstNegative || input >> 31 == 0 ? kFirst : kFirstNegative;
  }

  /// Of magnitudes: a result that counts has the sign of its input.
  static std::uint32_t absoluteError(std::uint32_t input, std::uint32_t result) {
    const float error = std::bit_cast<float>(result) - std::bit_cast<float>(input);
    return std::bit_cast<std::uint32_t>(error) & kFloat32Magnitude;
  }

  /// Whether absolute / magnitude > relative. Exact, since a double holds the product.
  static bool isBeyond(std::uint32_t absolute, std::uint32_t magnitude, float relative) {
    return double{std::bit_cast<float>(absolute)} > double{std::bit_cast<float>(magnitude)} * double{relative};
  }
};

/// Looks at a block for the first time: is quick, and is right when all inputs fit into the dtype and no relative error
/// exceeds the largest one so far. Divisions would take longer than all else, and after a few blocks have been seen,
/// hardly any has something larger to offer.
template <typename Codec, bool kFusedMultiply>
class QuickTally : TallyParts<Codec> {
 public:
  explicit QuickTally(float maxRelError) : maxRelError_(maxRelError) {}

  void add(std::uint32_t input, std::uint32_t result) {
    const std::uint32_t magnitude = input & kFloat32Magnitude;
    // The sign bit of a difference tells which of two magnitudes is less.
    fits_ &= magnitude - this->firstThatOverflows(input);
    const std::uint32_t resultMagnitude = result & kFloat32Magnitude;
    const std::uint32_t resultIsZero = resultMagnitude - 1;
    const std::uint32_t inputIsZero = magnitude - 1;
    underflow_ += (resultIsZero & ~inputIsZero) >> 31;
    const std::uint32_t absolute = this->absoluteError(magnitude, resultMagnitude);
    maxAbsError_ = std::max(maxAbsError_, absolute);
    const std::uint32_t counted = absolute & ~static_cast<std::uint32_t>(static_cast<std::int32_t>(resultIsZero) >> 31);
    if constexpr (kFusedMultiply) {
      // Rounded once, the difference has the sign of the exact one. Only differences too small for any float32 vanish,
      // and those are less than the last place of the relative error.
      const float beyond =
          __builtin_fmaf(-maxRelError_, std::bit_cast<float>(magnitude), std::bit_cast<float>(counted));
      beyond_ = std::max(beyond_, std::bit_cast<std::int32_t>(beyond));
    } else {
      beyond_ |= this->isBeyond(counted, magnitude, maxRelError_);
    }
  }

  bool isRight() const { return fits_ >> 31 != 0 && beyond_ <= 0; }

  void addTo(Audit& audit, std::size_t values) const {
    audit += {.elements = values, .underflow = underflow_, .maxAbsError = std::bit_cast<float>(maxAbsError_)};
  }

 private:
  float maxRelError_;
  std::uint32_t fits_ = 1u << 31;
  std::uint32_t underflow_ = 0;
  std::uint32_t maxAbsError_ = 0;
  std::int32_t beyond_ = 0;
};

/// Is right about every block.
template <typename Codec>
class CarefulTally : TallyParts<Codec> {
 public:
  void add(std::uint32_t input, std::uint32_t result) {
    const std::uint32_t magnitude = input & kFloat32Magnitude;
    const std::uint32_t fits = mask(magnitude < this->firstThatOverflows(input));  // then it is finite
    const std::uint32_t resultMagnitude = result & kFloat32Magnitude;
    const std::uint32_t vanishes = fits & mask(resultMagnitude == 0);
    nan_ -= mask(magnitude > kFloat32Infinity);
    inf_ -= mask(magnitude == kFloat32Infinity);
    overflow_ -= mask(magnitude < kFloat32Infinity) & ~fits;
    underflow_ -= vanishes & mask(magnitude != 0);
    const std::uint32_t absolute = this->absoluteError(magnitude, resultMagnitude);
    maxAbsError_ = std::max(maxAbsError_, absolute & fits);
    const float quotient = std::bit_cast<float>(absolute) / std::bit_cast<float>(magnitude);
    const std::uint32_t relative =
        std::bit_cast<std::uint32_t>(quotient) - mask(this->isBeyond(absolute, magnitude, quotient));
    maxRelError_ = std::max(maxRelError_, relative & fits & ~vanishes);
  }

  void addTo(Audit& audit, std::size_t values) const {
    audit += {.elements = values,
              .nan = nan_,
              .inf = inf_,
              .overflow = overflow_,
              .underflow = underflow_,
              .maxAbsError = std::bit_cast<float>(maxAbsError_),
              .maxRelError = std::bit_cast<float>(maxRelError_)};
  }

 private:
  /// All bits, or none. As a number it is one below zero, which is how it is counted.
  static std::uint32_t mask(bool condition) { return 0u - condition; }

  std::uint32_t nan_ = 0;
  std::uint32_t inf_ = 0;
  std::uint32_t overflow_ = 0;
  std::uint32_t underflow_ = 0;
  std::uint32_t maxAbsError_ = 0;
  std::uint32_t maxRelError_ = 0;
};

}  // namespace dtypemut
