#include "dtypemut/cast/cast.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace dtypemut;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytesOf(std::initializer_list<int> values) {
  Bytes bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// The elements in little-endian order, whatever the host.
template <typename T>
Bytes elements(std::initializer_list<T> values) {
  Bytes bytes;
  for (T value : values) {
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, float>)
      bits = std::bit_cast<std::uint32_t>(value);
    else
      bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  return bytes;
}

Bytes cast(Dtype from, const Bytes& in, Dtype to, const CastOptions& options = {}) {
  Result<std::uint64_t> size = castSize(from, to, in.size());
  REQUIRE(size);
  Bytes out(*size);
  castBytes(from, in, to, out, options);
  return out;
}

Bytes randomBytes(std::size_t count) {
  std::mt19937 random(count);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("bfloat16 one is the bytes 80 3F") {
  CHECK(cast(Dtype::kFloat32, elements({1.0f}), Dtype::kBfloat16) == bytesOf({0x80, 0x3F}));
  CHECK(cast(Dtype::kBfloat16, bytesOf({0x80, 0x3F}), Dtype::kFloat32) == elements({1.0f}));
}

TEST_CASE("an identity cast leaves bytes untouched") {
  for (const DtypeInfo& info : kDtypes) {
    const Bytes in = randomBytes(8 * 37);
    CHECK(cast(info.dtype, in, info.dtype) == in);
    Bytes inPlace = in;
    castBytes(info.dtype, inPlace, info.dtype, inPlace);
    CHECK(inPlace == in);
  }
}

TEST_CASE("every pair of dtypes is decode, then encode") {
  for (const DtypeInfo& from : kDtypes) {
    const Bytes in = randomBytes(5000 * 8);
    std::vector<std::uint32_t> bits(valueCount(from.dtype, in.size()).value());
    decodeValues(from.dtype, in, bits);
    for (const DtypeInfo& to : kDtypes) {
      if (from.dtype == to.dtype) continue;
      CAPTURE(from.name);
      CAPTURE(to.name);
      Bytes expected(byteCount(to.dtype, bits.size()).value());
      encodeValues(bits, to.dtype, expected);
      CHECK(cast(from.dtype, in, to.dtype) == expected);
    }
  }
}

TEST_CASE("a float goes to the nearest integer, ties to even, and is clamped") {
  const Bytes in = elements({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.4999f, 127.5f, 1e10f, -1e10f, kInfinity,
                             -kInfinity, kNan, -kNan, 254.5f, 255.5f, -0.0f});
  CHECK(cast(Dtype::kFloat32, in, Dtype::kInt8) ==
        elements<std::int8_t>({0, 2, 2, 0, -2, -2, 0, 127, 127, -128, 127, -128, 127, -128, 127, 127, 0}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kUint8) ==
        elements<std::uint8_t>({0, 2, 2, 0, 0, 0, 0, 128, 255, 0, 255, 0, 255, 0, 254, 255, 0}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8E8m0fnu) == cast(Dtype::kFloat32, in, Dtype::kUint8));
  CHECK(cast(Dtype::kFloat32, elements({32767.5f, -32768.5f, 65535.5f, 65534.5f, -1.0f, kNan, -kNan}), Dtype::kInt16) ==
        elements<std::int16_t>({32767, -32768, 32767, 32767, -1, 32767, -32768}));
  CHECK(cast(Dtype::kFloat32, elements({32767.5f, -32768.5f, 65535.5f, 65534.5f, -1.0f, kNan, -kNan}),
             Dtype::kUint16) == elements<std::uint16_t>({32768, 0, 65535, 65534, 0, 65535, 0}));
  const Bytes large = elements({2147483520.0f, 2147483648.0f, -2147483648.0f, -2147483904.0f, 4294967040.0f,
                                4294967296.0f, 8388607.5f, 8388609.0f, 16777214.0f, kNan, -kNan, 3e38f, -3e38f});
  CHECK(cast(Dtype::kFloat32, large, Dtype::kInt32) ==
        elements<std::int32_t>({2147483520, 2147483647, -2147483647 - 1, -2147483647 - 1, 2147483647, 2147483647,
                                8388608, 8388609, 16777214, 2147483647, -2147483647 - 1, 2147483647, -2147483647 - 1}));
  CHECK(cast(Dtype::kFloat32, large, Dtype::kUint32) ==
        elements<std::uint32_t>({2147483520u, 2147483648u, 0, 0, 4294967040u, 4294967295u, 8388608, 8388609, 16777214,
                                 4294967295u, 0, 4294967295u, 0}));
}

TEST_CASE("64-bit integers pass through float32 and use their whole range") {
  const Bytes in = elements({0x1p62f, 0x1p63f, -0x1p63f, -0x1.000002p63f, 0x1.fffffep63f, 0x1p64f, 1.5f, -2.5f, kNan,
                             -kNan, 0x1.fffffep31f, 0x1p40f});
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  CHECK(cast(Dtype::kFloat32, in, Dtype::kInt64) ==
        elements<std::int64_t>({std::int64_t{1} << 62, most, least, least, most, most, 2, -2, most, least, 0xFFFFFF00,
                                std::int64_t{1} << 40}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kUint64) ==
        elements<std::uint64_t>({std::uint64_t{1} << 62, std::uint64_t{1} << 63, 0, 0, 0xFFFFFF0000000000u, all, 2, 0,
                                 all, 0, 0xFFFFFF00u, std::uint64_t{1} << 40}));
  CHECK(cast(Dtype::kInt64, elements<std::int64_t>({16777217, 16777219, least, most, -1}), Dtype::kFloat32) ==
        elements({16777216.0f, 16777220.0f, -0x1p63f, 0x1p63f, -1.0f}));
  CHECK(cast(Dtype::kUint64, elements<std::uint64_t>({all, 0x8000008000000001u, 3}), Dtype::kFloat32) ==
        elements({0x1p64f, 0x1.000002p63f, 3.0f}));
  CHECK(cast(Dtype::kInt32, elements<std::int32_t>({16777217, -16777219}), Dtype::kInt64) ==
        elements<std::int64_t>({16777216, -16777220}));
  CHECK(cast(Dtype::kUint64, elements<std::uint64_t>({300, 5}), Dtype::kUint8) == elements<std::uint8_t>({255, 5}));
}

TEST_CASE("small integers survive a round trip through float32") {
  for (Dtype dtype : {Dtype::kUint8, Dtype::kInt8, Dtype::kUint16, Dtype::kInt16, Dtype::kFloat8E8m0fnu}) {
    Bytes all;
    for (int i = 0; i < 65536; ++i) {
      all.push_back(static_cast<std::byte>(i));
      all.push_back(static_cast<std::byte>(i >> 8));
    }
    CHECK(cast(Dtype::kFloat32, cast(dtype, all, Dtype::kFloat32), dtype) == all);
  }
}

TEST_CASE("a packed container holds four values, the first lowest") {
  const Bytes in = elements({1.0f, -6.0f, 0.5f, 100.0f});
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat4E2m1X4) == bytesOf({0xF2, 0x71}));
  CHECK(cast(Dtype::kFloat4E2m1X4, bytesOf({0xF2, 0x71}), Dtype::kFloat32) == elements({1.0f, -6.0f, 0.5f, 6.0f}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8E4m3fnX4) == cast(Dtype::kFloat32, in, Dtype::kFloat8E4m3fn));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8E5m2X4) == cast(Dtype::kFloat32, in, Dtype::kFloat8e5));
}

TEST_CASE("sizes that do not fit are told, not rounded") {
  CHECK(*castSize(Dtype::kFloat32, Dtype::kFloat4E2m1X4, 32) == 4);
  CHECK(*castSize(Dtype::kFloat4E2m1X4, Dtype::kFloat32, 4) == 32);
  CHECK(*castSize(Dtype::kFloat32, Dtype::kBfloat16, 0) == 0);
  CHECK(*castSize(Dtype::kFloat32, Dtype::kFloat32, 3) == 3);
  Result<std::uint64_t> packed = castSize(Dtype::kFloat32, Dtype::kFloat8E5m2X4, 4 * 7);
  REQUIRE_FALSE(packed);
  CHECK(packed.error().begin()->message ==
        "float8_e5m2_x4 packs 4 values per element, which does not divide the number of values, 7");
  CHECK(packed.error().exitCode() == ExitCode::kRefused);
  Result<std::uint64_t> torn = castSize(Dtype::kFloat32, Dtype::kBfloat16, 7);
  REQUIRE_FALSE(torn);
  CHECK(torn.error().begin()->message == "7 bytes are no whole number of elements of float32 (4 bytes each)");
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK_FALSE(byteCount(Dtype::kInt64, most / 4).has_value());
  CHECK_FALSE(valueCount(Dtype::kFloat4E2m1X4, most - 1).has_value());
}

TEST_CASE("the knobs concern the one-byte floats only") {
  const Bytes in = elements({1e30f, -kInfinity, kNan, -kNan});
  const CastOptions plain{.saturate = false, .nanSuppress = false};
  const CastOptions both{.saturate = true, .nanSuppress = true};
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8e4) == bytesOf({0x77, 0xF7, 0x7C, 0xFC}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8e4, plain) == bytesOf({0x78, 0xF8, 0x7C, 0xFC}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8E4m3fnX4, plain) == bytesOf({0x7F, 0xFF, 0x7F, 0xFF}));
  CHECK(cast(Dtype::kFloat32, in, Dtype::kFloat8E4m3fnX4, both) == bytesOf({0x7E, 0xFE, 0x00, 0x80}));
  for (Dtype dtype : {Dtype::kBfloat16, Dtype::kFloat16, Dtype::kFloat32r, Dtype::kFloat4E2m1X4, Dtype::kInt8})
    CHECK(cast(Dtype::kFloat32, in, dtype, plain) == cast(Dtype::kFloat32, in, dtype, both));
}

TEST_CASE("a single element tells whether it overflows") {
  std::byte element[8];
  CHECK_FALSE(encodeFloat(464.0f, Dtype::kFloat8E4m3fn, element));
  CHECK(element[0] == std::byte{0x7E});
  CHECK(encodeFloat(464.0001f, Dtype::kFloat8E4m3fn, element));
  CHECK(encodeFloat(-65520.0f, Dtype::kFloat16, element));
  CHECK_FALSE(encodeFloat(65519.0f, Dtype::kFloat16, element));
  CHECK_FALSE(encodeFloat(kInfinity, Dtype::kFloat16, element));
  CHECK_FALSE(encodeFloat(kNan, Dtype::kFloat16, element));
  CHECK(encodeFloat(std::numeric_limits<float>::max(), Dtype::kBfloat16, element));
  CHECK_FALSE(encodeFloat(std::numeric_limits<float>::max(), Dtype::kFloat32, element));
  CHECK(encodeFloat(128.0f, Dtype::kInt8, element));
  CHECK_FALSE(encodeFloat(-128.0f, Dtype::kInt8, element));
  CHECK(encodeFloat(-1.0f, Dtype::kUint8, element));
  CHECK(encodeFloat(0x1p32f, Dtype::kUint32, element));
  CHECK(encodeFloat(0x1p64f, Dtype::kUint64, element));
  CHECK(encodeFloat(0x1p63f, Dtype::kInt64, element));
  CHECK_FALSE(encodeFloat(-0x1p63f, Dtype::kInt64, element));
  CHECK_FALSE(encodeFloat(1.0f, Dtype::kFloat4E2m1X4, element));
  CHECK(element[0] == std::byte{0x22});
  CHECK(element[1] == std::byte{0x22});
}
