// The byte order of elements in memory and in files. Private to the cast layer.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>

namespace dtypemut {

/// The value whose bytes on this host are the little-endian ones of `value`; its own inverse.
template <std::unsigned_integral T>
constexpr T littleEndian(T value) {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    return value;
  } else {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
  }
}

}  // namespace dtypemut
