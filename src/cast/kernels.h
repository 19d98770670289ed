// The loops of the cast layer, one set per dtype. Private to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dtypemut/cast/audit.h"
#include "dtypemut/cast/cast.h"

namespace dtypemut {

/// Values that are worked on at a time where that takes several steps: so many that the first-level cache holds them.
inline constexpr std::size_t kBlockValues = 2048;

/// All work on little-endian elements in memory at any alignment; `values` is what a whole number of elements holds,
/// and buffers do not overlap.
struct CastKernels {
  /// Elements to float32.
  void (*decode)(const std::byte* elements, std::byte* floats, std::size_t values);
  /// float32 to elements.
  void (*encode)(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options);
  /// As encode, and adds to `audit`; at most kBlockValues values.
  void (*encodeAudited)(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options,
                        Audit& audit);
  /// The smallest float32 magnitude of a positive and of a negative number that overflows: rounded as if the dtype had
  /// no largest value, it lies beyond it. Infinity where no number does.
  std::uint32_t firstOverflow[2];
};

/// The kernels for one level of the instruction set.
struct CastLevel {
  std::string_view name;
  const CastKernels& (*kernels)(Dtype dtype);
};

/// The levels that this machine can run, the best last. All give the same results.
std::vector<CastLevel> castLevels();

/// The kernels of the best level.
const CastKernels& castKernels(Dtype dtype);

}  // namespace dtypemut
