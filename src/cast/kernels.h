// The loops of the cast layer, one set per dtype. Private to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtypemut/cast/cast.h"

namespace dtypemut {

/// So many that 32 bits can count them.
inline constexpr std::size_t kMaxAuditedValues = std::size_t{1} << 30;

/// All work on little-endian elements in memory at any alignment; `values` is what a whole number of elements holds,
/// and buffers do not overlap.
struct CastKernels {
  /// Elements to float32.
  void (*decode)(const std::byte* elements, std::byte* floats, std::size_t values);
  /// float32 to elements.
  void (*encode)(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options);
  /// As encode; adds to `audit`. At most kMaxAuditedValues at a time.
  void (*encodeAudited)(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options,
                        Audit& audit);
  /// The smallest float32 magnitude of a positive and of a negative number that overflows: rounded as if the dtype had
  /// no largest value, it lies beyond it. Infinity where no number does.
  std::uint32_t firstOverflow[2];
};

const CastKernels& castKernels(Dtype dtype);

}  // namespace dtypemut
