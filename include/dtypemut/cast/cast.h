// Bytes of one dtype to bytes of another (reference.md section 5; spec 9): decoded to float32, then encoded. Elements
// lie little-endian in memory on any host; float32 values travel as bit patterns, so that signalling NaNs survive.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dtypemut/cast/audit.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

/// The two knobs of spec 9. They concern the one-byte floats, plain or packed, and nothing else.
struct CastOptions {
  bool saturate = true;      ///< overflow gives max finite; else Inf, or NaN where there is no Inf
  bool nanSuppress = false;  ///< a NaN input gives a zero of its sign
};

/// How many values `bytes` bytes of `dtype` hold; nullopt when they are no whole number of elements, or when the number
/// has no 64 bits. A packed element holds four values.
std::optional<std::uint64_t> valueCount(Dtype dtype, std::uint64_t bytes);

/// How many bytes `values` values take; nullopt when a packed dtype cannot hold just as many, or when the number has no
/// 64 bits.
std::optional<std::uint64_t> byteCount(Dtype dtype, std::uint64_t values);

/// The size of the result of casting `bytes` bytes, or an error (kRefused) that says why there is none. The message is
/// meant to follow the name of a tensor and a colon.
Result<std::uint64_t> castSize(Dtype from, Dtype to, std::uint64_t bytes);

/// Casts all of `in`. `out` must be of the size that castSize tells, which must not be an error, and must not overlap
/// `in`, except that both may be the same when `from` is `to`: then the bytes stay as they are. Any alignment will do.
void castBytes(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
               const CastOptions& options = {});

/// As castBytes, and adds what it does to the values to `audit`. In one pass over the bytes. A packed dtype counts all
/// of its values.
void castBytes(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
               const CastOptions& options, Audit& audit);

/// As castBytes, to the bit patterns of float32 in the byte order of the host: one per value.
void decodeValues(Dtype from, std::span<const std::byte> in, std::span<std::uint32_t> bits);
/// As castBytes, from such patterns.
void encodeValues(std::span<const std::uint32_t> bits, Dtype to, std::span<std::byte> out,
                  const CastOptions& options = {});

/// The float32 bit pattern of one element of a dtype that is not packed.
std::uint32_t decodeElement(Dtype dtype, const std::byte* element);
/// As decodeElement. A signalling NaN may become quiet on the way, which is all that can be lost.
inline float decodeFloat(Dtype dtype, const std::byte* element) {
  return std::bit_cast<float>(decodeElement(dtype, element));
}

/// Writes one element of any dtype; a packed one gets the value four times. Returns whether `bits` is finite but
/// overflows (spec 9): rounded as if the dtype had no largest value, it lies beyond it.
bool encodeElement(std::uint32_t bits, Dtype dtype, std::byte* element, const CastOptions& options = {});
inline bool encodeFloat(float value, Dtype dtype, std::byte* element, const CastOptions& options = {}) {
  return encodeElement(std::bit_cast<std::uint32_t>(value), dtype, element, options);
}

}  // namespace dtypemut
