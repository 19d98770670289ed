// The golden data of the cast engine: formats by name, and their kernels as functions over bytes.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/cast/small_float.h"

namespace dtypemut::golden {

/// The dtype that casts to a golden format; float4 comes four to a container.
inline Dtype dtypeOf(const std::string& format) {
  if (format == "float4_e2m1") return Dtype::kFloat4E2m1X4;
  return dtypeFromName(format).value();
}

/// "s1n0" and its like; "-" where a format has no knobs.
inline CastOptions optionsOf(const std::string& config) {
  if (config == "-") return {};
  return {.saturate = config.at(1) == '1', .nanSuppress = config.at(3) == '1'};
}

/// Elements as the golden data have them: packed ones spread to one byte each.
inline std::vector<std::byte> encodeAll(std::span<const std::uint32_t> bits, const std::string& format,
                                        const CastOptions& options) {
  const Dtype dtype = dtypeOf(format);
  std::vector<std::byte> bytes(byteCount(dtype, bits.size()).value());
  encodeValues(bits, dtype, bytes, options);
  if (dtype != Dtype::kFloat4E2m1X4) return bytes;
  std::vector<std::byte> spread;
  spread.reserve(bits.size());
  for (std::byte pair : bytes) {
    spread.push_back(pair & std::byte{0x0F});
    spread.push_back(pair >> 4);
  }
  return spread;
}

inline std::uint32_t crc(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace dtypemut::golden
