#include "cast/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace dtypemut;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostValues = 129;
constexpr std::size_t kAlignments = 64;
constexpr std::byte kUntouched{0xA5};

/// float32 of all sorts: any exponent, and those that most formats have.
Bytes someFloats(std::size_t count) {
  std::mt19937 random(1);
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    if (i % 3 != 0) bits = (bits & 0x80FFFFFF) | (0x38000000 + (bits >> 4 & 0x0F000000));
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::byte>(bits >> shift));
  }
  return bytes;
}

std::size_t bytesOf(const DtypeInfo& info, std::size_t values) {
  return values / info.valuesPerContainer * info.containerBytes;
}

/// What `kernel` writes when its input and its output begin at that distance from a multiple of kAlignments.
template <typename Kernel>
Bytes outputAt(std::size_t alignment, std::span<const std::byte> in, std::size_t outBytes, Kernel kernel) {
  struct alignas(kAlignments) Buffer {
    std::byte bytes[kAlignments + kMostValues * 8 + kAlignments];
  };
  static Buffer from;
  static Buffer to;
  std::copy(in.begin(), in.end(), from.bytes + alignment);
  std::fill(std::begin(to.bytes), std::end(to.bytes), kUntouched);
  kernel(from.bytes + alignment, to.bytes + alignment);
  const auto untouched = [](std::byte byte) { return byte == kUntouched; };
  CHECK(std::all_of(to.bytes, to.bytes + alignment, untouched));
  CHECK(std::all_of(to.bytes + alignment + outBytes, std::end(to.bytes), untouched));
  return Bytes(to.bytes + alignment, to.bytes + alignment + outBytes);
}

}  // namespace

TEST_CASE("every level does every length at every alignment as it does single elements") {
  const Bytes floats = someFloats(kMostValues);
  for (const CastLevel& level : castLevels()) {
    CAPTURE(level.name);
    for (const DtypeInfo& info : kDtypes) {
      CAPTURE(info.name);
      const CastKernels& single = castLevels().front().kernels(info.dtype);
      const CastKernels& kernels = level.kernels(info.dtype);
      const std::size_t values = info.valuesPerContainer;
      const std::size_t most = kMostValues / values * values;
      Bytes elements(bytesOf(info, most));
      Bytes decoded(4 * most);
      Audit audit;
      std::vector<Audit> audits = {audit};
      for (std::size_t i = 0; i < most; i += values) {
        std::byte* element = elements.data() + bytesOf(info, i);
        single.encode(floats.data() + 4 * i, element, values, {});
        single.decode(element, decoded.data() + 4 * i, values);
        Bytes unused(info.containerBytes);
        single.encodeAudited(floats.data() + 4 * i, unused.data(), values, {}, audit);
        audits.push_back(audit);
      }
      std::size_t different = 0;
      for (std::size_t length = 0; length <= most; length += values) {
        const std::span<const std::byte> theseFloats(floats.data(), 4 * length);
        const std::span<const std::byte> theseElements(elements.data(), bytesOf(info, length));
        for (std::size_t alignment = 0; alignment < kAlignments; ++alignment) {
          const Bytes encoded =
              outputAt(alignment, theseFloats, theseElements.size(),
                       [&](const std::byte* in, std::byte* out) { kernels.encode(in, out, length, {}); });
          different += !std::ranges::equal(encoded, theseElements);
          const Bytes back = outputAt(alignment, theseElements, 4 * length,
                                      [&](const std::byte* in, std::byte* out) { kernels.decode(in, out, length); });
          different += !std::equal(back.begin(), back.end(), decoded.begin());
          Audit whole;
          const Bytes audited =
              outputAt(alignment, theseFloats, theseElements.size(),
                       [&](const std::byte* in, std::byte* out) { kernels.encodeAudited(in, out, length, {}, whole); });
          different += audited != encoded;
          different += whole != audits[length / values];
        }
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("the thresholds of overflow are those of the formats") {
  CHECK(castKernels(Dtype::kBfloat16).firstOverflow[0] == 0x7F7F8000);
  CHECK(castKernels(Dtype::kFloat32r).firstOverflow[1] == 0x7F7FF800);
  CHECK(castKernels(Dtype::kFloat16).firstOverflow[0] == 0x477FF000);       // 65520
  CHECK(castKernels(Dtype::kFloat8E4m3fn).firstOverflow[0] == 0x43E80001);  // above 464
  CHECK(castKernels(Dtype::kFloat8e4).firstOverflow[0] == 0x43780000);      // 248
  CHECK(castKernels(Dtype::kFloat32).firstOverflow[0] == 0x7F800000);
  CHECK(castKernels(Dtype::kUint8).firstOverflow[0] == 0x437F8000);  // 255.5
  CHECK(castKernels(Dtype::kUint8).firstOverflow[1] == 0x3F000001);  // above 0.5
}

TEST_CASE("an audit does not depend on what comes first") {
  // The first block sets a relative error that later ones exceed, reach, or stay below.
  const auto auditOf = [](const std::vector<float>& values, const CastKernels& kernels) {
    Audit audit;
    std::byte out[8];
    for (float value : values) kernels.encodeAudited(reinterpret_cast<const std::byte*>(&value), out, 1, {}, audit);
    return audit;
  };
  std::vector<float> values = {1.0f, 1.00390625f, 1.003f, 1.00390625f, -1.0039f, 257.0f, 0.1f, 3.3f, 1e-3f};
  std::sort(values.begin(), values.end());
  for (const CastLevel& level : castLevels()) {
    const CastKernels& kernels = level.kernels(Dtype::kBfloat16);
    const Audit sorted = auditOf(values, kernels);
    CHECK(sorted.maxRelError > 0.003f);
    std::mt19937 random(3);
    for (int i = 0; i < 100; ++i) {
      std::shuffle(values.begin(), values.end(), random);
      CHECK(auditOf(values, kernels) == sorted);
    }
    std::sort(values.begin(), values.end());
  }
}
