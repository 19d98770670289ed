// What a cast does to values (spec 9).
#pragma once

#include <algorithm>
#include <cstdint>

namespace dtypemut {

/// Counts over the values of one cast or of several. All are about the float32 values between decoding and encoding, so
/// that a 64-bit integer that float32 cannot hold is not told.
struct Audit {
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;        ///< inputs
  std::uint64_t inf = 0;        ///< inputs
  std::uint64_t overflow = 0;   ///< finite inputs that round to something beyond the largest value, saturated or not
  std::uint64_t underflow = 0;  ///< finite inputs other than zero whose result is zero, overflows left out
  /// |result - input| over finite inputs that do not overflow; exact.
  float maxAbsError = 0;
  /// |result - input| / |input| over the same less zeros and underflows; rounded up to a float32.
  float maxRelError = 0;

  /// The audit of both; the order does not matter.
  Audit& operator+=(const Audit& other) {
    elements += other.elements;
    nan += other.nan;
    inf += other.inf;
    overflow += other.overflow;
    underflow += other.underflow;
    maxAbsError = std::max(maxAbsError, other.maxAbsError);
    maxRelError = std::max(maxRelError, other.maxRelError);
    return *this;
  }
  bool operator==(const Audit&) const = default;
};

}  // namespace dtypemut
