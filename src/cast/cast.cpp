#include "dtypemut/cast/cast.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <string>

#include "dtypemut/cast/small_float.h"
#include "kernels.h"
#include "little_endian.h"

namespace dtypemut {
namespace {

/// Values decoded at a time on the way between two dtypes: what stays in the first-level cache.
constexpr std::size_t kBlockValues = 2048;
constexpr std::size_t kFloatBytes = 4;
static_assert(kBlockValues % 4 == 0 && kBlockValues <= kMaxAuditedValues, "a block holds whole packed elements");

struct alignas(64) Block : std::array<std::byte, kBlockValues * kFloatBytes> {};

std::size_t exactByteCount(Dtype dtype, std::size_t values) {
  return values / dtypeInfo(dtype).valuesPerContainer * containerBytes(dtype);
}

std::size_t exactValueCount(Dtype dtype, std::size_t bytes) {
  return bytes / containerBytes(dtype) * dtypeInfo(dtype).valuesPerContainer;
}

/// Between the order of the host and that of a file.
void swapUnlessLittle(std::span<std::uint32_t> words) {
  if constexpr (std::endian::native != std::endian::little)
    for (std::uint32_t& word : words) word = littleEndian(word);
}

}  // namespace

std::optional<std::uint64_t> valueCount(Dtype dtype, std::uint64_t bytes) {
  const std::uint64_t containers = bytes / containerBytes(dtype);
  if (bytes % containerBytes(dtype) != 0) return std::nullopt;
  if (containers > std::numeric_limits<std::uint64_t>::max() / dtypeInfo(dtype).valuesPerContainer) return std::nullopt;
  return containers * dtypeInfo(dtype).valuesPerContainer;
}

std::optional<std::uint64_t> byteCount(Dtype dtype, std::uint64_t values) {
  const std::uint64_t containers = values / dtypeInfo(dtype).valuesPerContainer;
  if (values % dtypeInfo(dtype).valuesPerContainer != 0) return std::nullopt;
  if (containers > std::numeric_limits<std::uint64_t>::max() / containerBytes(dtype)) return std::nullopt;
  return containers * containerBytes(dtype);
}

Result<std::uint64_t> castSize(Dtype from, Dtype to, std::uint64_t bytes) {
  if (from == to) return bytes;
  const std::optional<std::uint64_t> values = valueCount(from, bytes);
  if (!values) {
    return Diagnostic{.message = std::to_string(bytes) + " bytes are no whole number of elements of " +
                                 std::string(dtypeName(from)) + " (" + std::to_string(containerBytes(from)) +
                                 " bytes each)"};
  }
  const std::optional<std::uint64_t> size = byteCount(to, *values);
  if (!size) {
    return Diagnostic{
        .message = std::string(dtypeName(to)) + " packs " + std::to_string(dtypeInfo(to).valuesPerContainer) +
                   " values per element, which does not divide the number of values, " + std::to_string(*values)};
  }
  return *size;
}

void castBytes(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
               const CastOptions& options) {
  if (from == to) {
    assert(in.size() == out.size());
    if (in.data() != out.data() && !in.empty()) std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  const std::size_t values = exactValueCount(from, in.size());
  assert(valueCount(from, in.size()) == values && byteCount(to, values) == out.size());
  const CastKernels& source = castKernels(from);
  const CastKernels& target = castKernels(to);
  if (from == Dtype::kFloat32) return target.encode(in.data(), out.data(), values, options);
  if (to == Dtype::kFloat32) return source.decode(in.data(), out.data(), values);

  Block floats;
  for (std::size_t done = 0; done < values; done += kBlockValues) {
    const std::size_t count = std::min(kBlockValues, values - done);
    source.decode(in.data() + exactByteCount(from, done), floats.data(), count);
    target.encode(floats.data(), out.data() + exactByteCount(to, done), count, options);
  }
}

void castBytes(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
               const CastOptions& options, Audit& audit) {
  const std::size_t values = exactValueCount(from, in.size());
  const CastKernels& source = castKernels(from);
  // A result that is the input decodes to what the input decodes to: nothing is left to look at but that.
  const CastKernels& target = castKernels(from == to ? Dtype::kFloat32 : to);
  Block floats;
  Block unused;
  for (std::size_t done = 0; done < values; done += kBlockValues) {
    const std::size_t count = std::min(kBlockValues, values - done);
    const std::byte* input = in.data() + exactByteCount(from, done);
    std::byte* output = from == to ? unused.data() : out.data() + exactByteCount(to, done);
    if (from != Dtype::kFloat32) source.decode(input, floats.data(), count);
    target.encodeAudited(from == Dtype::kFloat32 ? input : floats.data(), output, count, options, audit);
  }
  if (from == to) castBytes(from, in, to, out, options);
}

void decodeValues(Dtype from, std::span<const std::byte> in, std::span<std::uint32_t> bits) {
  castBytes(from, in, Dtype::kFloat32, std::as_writable_bytes(bits));
  swapUnlessLittle(bits);
}

void encodeValues(std::span<const std::uint32_t> bits, Dtype to, std::span<std::byte> out, const CastOptions& options) {
  if constexpr (std::endian::native == std::endian::little) {
    castBytes(Dtype::kFloat32, std::as_bytes(bits), to, out, options);
  } else {
    std::array<std::uint32_t, kBlockValues> block;
    for (std::size_t done = 0; done < bits.size(); done += kBlockValues) {
      const std::size_t count = std::min(kBlockValues, bits.size() - done);
      std::copy_n(bits.begin() + static_cast<std::ptrdiff_t>(done), count, block.begin());
      swapUnlessLittle(block);
      castBytes(Dtype::kFloat32, std::as_bytes(std::span(block).first(count)), to,
                out.subspan(exactByteCount(to, done), exactByteCount(to, count)), options);
    }
  }
}

std::uint32_t decodeElement(Dtype dtype, const std::byte* element) {
  assert(!isPacked(dtype));
  std::uint32_t bits = 0;
  decodeValues(dtype, {element, containerBytes(dtype)}, {&bits, 1});
  return bits;
}

bool encodeElement(std::uint32_t bits, Dtype dtype, std::byte* element, const CastOptions& options) {
  const std::array<std::uint32_t, 4> values{bits, bits, bits, bits};
  encodeValues(std::span(values).first(dtypeInfo(dtype).valuesPerContainer), dtype, {element, containerBytes(dtype)},
               options);
  const std::uint32_t magnitude = bits & kFloat32Magnitude;
  return magnitude < kFloat32Infinity && magnitude >= castKernels(dtype).firstOverflow[bits >> 31];
}

}  // namespace dtypemut
