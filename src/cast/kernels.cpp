#include "kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codecs.h"
#include "little_endian.h"

// One binary for any x86-64: each loop is compiled once per level of the instruction set, and the dynamic loader picks.
// Sanitizers cannot instrument what runs that early. Elsewhere there is just the plain loop.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DTYPEMUT_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), flatten))
#else
#define DTYPEMUT_KERNEL
#endif

namespace dtypemut {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return littleEndian(value);
}

template <typename T>
void store(std::byte* to, T value) {
  value = littleEndian(value);
  std::memcpy(to, &value, sizeof value);
}

constexpr std::size_t kFloatBytes = 4;

/// The smallest magnitude that overflows. Codec::overflows must be monotonous.
template <typename Codec>
constexpr std::uint32_t firstOverflow(std::uint32_t sign) {
  std::uint32_t begin = 0;
  std::uint32_t end = kFloat32Infinity;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (Codec::overflows(sign | middle))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

template <typename Codec>
constexpr std::uint32_t kFirstOverflow[2] = {firstOverflow<Codec>(0), firstOverflow<Codec>(1u << 31)};

/// An Audit in the making, in a form that vectorises: counters of 32 bits, and maxima of the bit patterns of floats
/// that are not negative, which order as the floats do.
template <typename Codec>
struct Tally {
  std::uint32_t nan = 0;
  std::uint32_t inf = 0;
  std::uint32_t overflow = 0;
  std::uint32_t underflow = 0;
  std::uint32_t maxAbsError = 0;
  std::uint32_t maxRelError = 0;

  void add(std::uint32_t input, std::uint32_t result) {
    constexpr std::uint32_t kFirst = kFirstOverflow<Codec>[0];
    constexpr std::uint32_t kFirstNegative = kFirstOverflow<Codec>[1];
    const std::uint32_t magnitude = input & kFloat32Magnitude;
    const std::uint32_t first = kFirst == kFirstNegative || input >> 31 == 0 ? kFirst : kFirstNegative;
    const bool isFinite = magnitude < kFloat32Infinity;
    const bool fits = magnitude < first;  // then it is finite
    const bool vanishes = fits & (magnitude != 0) & ((result & kFloat32Magnitude) == 0);
    nan += magnitude > kFloat32Infinity;
    inf += magnitude == kFloat32Infinity;
    overflow += isFinite & !fits;
    underflow += vanishes;

    // What does not count is computed all the same, and dropped.
    const float error = std::bit_cast<float>(result) - std::bit_cast<float>(input);
    const std::uint32_t absolute = std::bit_cast<std::uint32_t>(error) & kFloat32Magnitude;
    const std::uint32_t relative =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(absolute) / std::bit_cast<float>(magnitude));
    maxAbsError = std::max(maxAbsError, fits ? absolute : 0);
    maxRelError = std::max(maxRelError, fits & (magnitude != 0) & !vanishes ? relative : 0);
  }

  void addTo(Audit& audit, std::size_t values) const {
    audit += {.elements = values,
              .nan = nan,
              .inf = inf,
              .overflow = overflow,
              .underflow = underflow,
              .maxAbsError = std::bit_cast<float>(maxAbsError),
              .maxRelError = std::bit_cast<float>(maxRelError)};
  }
};

/// One value per element.
template <typename Codec>
struct Plain {
  using Element = typename Codec::Element;

  DTYPEMUT_KERNEL static void decode(const std::byte* __restrict elements, std::byte* __restrict floats,
                                     std::size_t values) {
    for (std::size_t i = 0; i < values; ++i)
      store(floats + i * kFloatBytes, Codec::decode(load<Element>(elements + i * sizeof(Element))));
  }

  DTYPEMUT_KERNEL static void encode(const std::byte* __restrict floats, std::byte* __restrict elements,
                                     std::size_t values, const CastOptions& options) {
    const SpecialCodes specials = Codec::specials(options.saturate, options.nanSuppress);
    for (std::size_t i = 0; i < values; ++i)
      store(elements + i * sizeof(Element), Codec::encode(load<std::uint32_t>(floats + i * kFloatBytes), specials));
  }

  DTYPEMUT_KERNEL static void encodeAudited(const std::byte* __restrict floats, std::byte* __restrict elements,
                                            std::size_t values, const CastOptions& options, Audit& audit) {
    const SpecialCodes specials = Codec::specials(options.saturate, options.nanSuppress);
    Tally<Codec> tally;
    for (std::size_t i = 0; i < values; ++i) {
      const std::uint32_t bits = load<std::uint32_t>(floats + i * kFloatBytes);
      const Element element = Codec::encode(bits, specials);
      store(elements + i * sizeof(Element), element);
      tally.add(bits, Codec::decode(element));
    }
    tally.addTo(audit, values);
  }
};

/// Four bits per value, the first of two in the lower half of a byte.
template <typename Codec>
struct Nibbles {
  DTYPEMUT_KERNEL static void decode(const std::byte* __restrict elements, std::byte* __restrict floats,
                                     std::size_t values) {
    for (std::size_t i = 0; i < values / 2; ++i) {
      const std::uint8_t pair = load<std::uint8_t>(elements + i);
      store(floats + 2 * i * kFloatBytes, Codec::decode(pair & 0x0F));
      store(floats + (2 * i + 1) * kFloatBytes, Codec::decode(static_cast<std::uint8_t>(pair >> 4)));
    }
  }

  DTYPEMUT_KERNEL static void encode(const std::byte* __restrict floats, std::byte* __restrict elements,
                                     std::size_t values, const CastOptions&) {
    const SpecialCodes specials = Codec::specials(true, false);
    for (std::size_t i = 0; i < values / 2; ++i) {
      const std::uint32_t low = Codec::encode(load<std::uint32_t>(floats + 2 * i * kFloatBytes), specials);
      const std::uint32_t high = Codec::encode(load<std::uint32_t>(floats + (2 * i + 1) * kFloatBytes), specials);
      store(elements + i, static_cast<std::uint8_t>(low | high << 4));
    }
  }

  DTYPEMUT_KERNEL static void encodeAudited(const std::byte* __restrict floats, std::byte* __restrict elements,
                                            std::size_t values, const CastOptions&, Audit& audit) {
    const SpecialCodes specials = Codec::specials(true, false);
    Tally<Codec> tally;
    for (std::size_t i = 0; i < values / 2; ++i) {
      const std::uint32_t lowBits = load<std::uint32_t>(floats + 2 * i * kFloatBytes);
      const std::uint32_t highBits = load<std::uint32_t>(floats + (2 * i + 1) * kFloatBytes);
      const std::uint8_t low = Codec::encode(lowBits, specials);
      const std::uint8_t high = Codec::encode(highBits, specials);
      store(elements + i, static_cast<std::uint8_t>(low | high << 4));
      tally.add(lowBits, Codec::decode(low));
      tally.add(highBits, Codec::decode(high));
    }
    tally.addTo(audit, values);
  }
};

template <typename Codec, template <typename> typename Loops = Plain>
constexpr CastKernels kKernelsOf = {
    Loops<Codec>::decode,
    Loops<Codec>::encode,
    Loops<Codec>::encodeAudited,
    {kFirstOverflow<Codec>[0], kFirstOverflow<Codec>[1]},
};

template <SmallFloatFormat kFormat>
constexpr const CastKernels& kFloatKernels = kKernelsOf<SmallFloat<kFormat>>;
template <std::integral Int>
constexpr const CastKernels& kIntegerKernels = kKernelsOf<codecs::Integer<Int>>;

}  // namespace

const CastKernels& castKernels(Dtype dtype) {
  switch (dtype) {
    case Dtype::kUint8:
    case Dtype::kFloat8E8m0fnu:
      return kIntegerKernels<std::uint8_t>;
    case Dtype::kInt8:
      return kIntegerKernels<std::int8_t>;
    case Dtype::kUint16:
      return kIntegerKernels<std::uint16_t>;
    case Dtype::kInt16:
      return kIntegerKernels<std::int16_t>;
    case Dtype::kUint32:
      return kIntegerKernels<std::uint32_t>;
    case Dtype::kInt32:
      return kIntegerKernels<std::int32_t>;
    case Dtype::kUint64:
      return kIntegerKernels<std::uint64_t>;
    case Dtype::kInt64:
      return kIntegerKernels<std::int64_t>;
    case Dtype::kFloat4E2m1X4:
      return kKernelsOf<SmallFloat<kFloat4E2m1Format>, Nibbles>;
    case Dtype::kFloat8e3:
      return kFloatKernels<kFloat8e3Format>;
    case Dtype::kFloat8e4:
      return kFloatKernels<kFloat8e4Format>;
    case Dtype::kFloat8E4m3fn:
    case Dtype::kFloat8E4m3fnX4:
      return kFloatKernels<kFloat8E4m3fnFormat>;
    case Dtype::kFloat8e5:
    case Dtype::kFloat8E5m2X4:
      return kFloatKernels<kFloat8e5Format>;
    case Dtype::kBfloat16:
      return kFloatKernels<kBfloat16Format>;
    case Dtype::kFloat16:
      return kFloatKernels<kFloat16Format>;
    case Dtype::kFloat32r:
      return kFloatKernels<kFloat32rFormat>;
    case Dtype::kFloat32:
    case Dtype::kNone:
      break;
  }
  return kKernelsOf<codecs::Float32>;
}

}  // namespace dtypemut
