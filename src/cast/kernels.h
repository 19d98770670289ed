// The loops of the cast layer, one set per dtype. Private to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtypemut/cast/cast.h"

namespace dtypemut {

/// All work on little-endian elements in memory at any alignment; `values` is what a whole number of elements holds,
/// and buffers do not overlap.
struct CastKernels {
  /// Elements to float32.
  void (*decode)(const std::byte* elements, std::byte* floats, std::size_t values);
  /// float32 to elements.
  void (*encode)(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options);
  /// Whether the float32 of these bits is finite but rounds to a magnitude beyond the largest of the dtype.
  bool (*overflows)(std::uint32_t bits);
};

const CastKernels& castKernels(Dtype dtype);

}  // namespace dtypemut
