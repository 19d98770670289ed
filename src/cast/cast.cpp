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

constexpr std::size_t kFloatBytes = 4;
static_assert(kBlockValues % 4 == 0, "a block holds whole packed elements");

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

/// Touches what the processor's own prefetching cannot foresee: the beginnings of the pages that come next while
/// `bytes` bytes from the start of `rest` are worked on. Is inlined by force: in a call, GCC sees no effect and drops
/// it.
#ifdef __GNUC__
[[gnu::always_inline]] inline void prefetchPages(std::span<const std::byte> rest, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kLines = 8;
  constexpr std::size_t kAhead = kPage / 2;
  const std::size_t misalignment = (reinterpret_cast<std::uintptr_t>(rest.data()) + kAhead) % kPage;
  const std::size_t end = std::min(bytes + kAhead, rest.size() - std::min(rest.size(), kLines * kLine));
  for (std::size_t page = kAhead + (kPage - misalignment) % kPage; page < end; page += kPage)
    for (std::size_t line = 0; line < kLines; ++line) __builtin_prefetch(rest.data() + page + line * kLine);
}
#else
void prefetchPages(std::span<const std::byte>, std::size_t) {}
#endif

void copyBytes(std::span<const std::byte> in, std::span<std::byte> out) {
  assert(in.size() == out.size());
  if (in.data() != out.data() && !in.empty()) std::memcpy(out.data(), in.data(), in.size());
}

/// Casts between dtypes that differ, or only audits if they do not; `audit` may be null.
void castBlocks(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
                const CastOptions& options, Audit* audit) {
  const std::size_t values = exactValueCount(from, in.size());
  assert(from == to || (valueCount(from, in.size()) == values && byteCount(to, values) == out.size()));
  const CastKernels& source = castKernels(from);
  // A result that is the input decodes to what the input decodes to: nothing is left to look at but that.
  const CastKernels& target = castKernels(from == to ? Dtype::kFloat32 : to);
  const std::size_t blockBytes = exactByteCount(from, kBlockValues);
  Block decoded;
  Block unused;
  for (std::size_t done = 0; done < values; done += kBlockValues) {
    const std::size_t count = std::min(kBlockValues, values - done);
    const std::byte* input = in.data() + exactByteCount(from, done);
    std::byte* output = from == to ? unused.data() : out.data() + exactByteCount(to, done);
    prefetchPages(in.subspan(exactByteCount(from, done)), blockBytes);
    const std::byte* floats = input;
    if (from != Dtype::kFloat32) {
      std::byte* target32 = to == Dtype::kFloat32 && audit == nullptr ? output : decoded.data();
      source.decode(input, target32, count);
      floats = target32;
    }
    if (audit != nullptr)
      target.encodeAudited(floats, output, count, options, *audit);
    else if (to != Dtype::kFloat32)
      target.encode(floats, output, count, options);
  }
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
  if (from == to)
    copyBytes(in, out);
  else
    castBlocks(from, in, to, out, options, nullptr);
}

void castBytes(Dtype from, std::span<const std::byte> in, Dtype to, std::span<std::byte> out,
               const CastOptions& options, Audit& audit) {
  castBlocks(from, in, to, out, options, &audit);
  if (from == to) copyBytes(in, out);
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
