#include "kernels.h"

#include <cstring>

#include "codecs.h"
#include "little_endian.h"
#include "tally.h"

// One binary for any x86-64: every loop is compiled once per level of the instruction set, and the best level that the
// processor has is chosen at run time. Elsewhere there is just the plain loop.
#if defined(__x86_64__) && defined(__GNUC__)
#define DTYPEMUT_X86_LEVELS 1
#else
#define DTYPEMUT_X86_LEVELS 0
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

/// One value per element.
template <typename Codec>
struct Plain {
  using Element = typename Codec::Element;

  static std::uint32_t result(const std::byte* elements, std::size_t i) {
    return Codec::decode(load<Element>(elements + i * sizeof(Element)));
  }

  static void decode(const std::byte* __restrict elements, std::byte* __restrict floats, std::size_t values) {
    for (std::size_t i = 0; i < values; ++i) store(floats + i * kFloatBytes, result(elements, i));
  }

  static void encode(const std::byte* __restrict floats, std::byte* __restrict elements, std::size_t values,
                     const CastOptions& options) {
    const EncodeLimits limits = Codec::limits(options.saturate, options.nanSuppress);
    for (std::size_t i = 0; i < values; ++i)
      store(elements + i * sizeof(Element), Codec::encode(load<std::uint32_t>(floats + i * kFloatBytes), limits));
  }

  /// Calls look with the bits of each value and of its result, which are only right if that is finite.
  template <typename Look>
  static void encodeSeen(const std::byte* __restrict floats, std::byte* __restrict elements, std::size_t values,
                         const CastOptions& options, Look look) {
    const EncodeLimits limits = Codec::limits(options.saturate, options.nanSuppress);
    for (std::size_t i = 0; i < values; ++i) {
      const std::uint32_t bits = load<std::uint32_t>(floats + i * kFloatBytes);
      const Element element = Codec::encode(bits, limits);
      store(elements + i * sizeof(Element), element);
      look(bits, Codec::decodeFinite(element));
    }
  }
};

/// Four bits per value, the first of two in the lower half of a byte.
template <typename Codec>
struct Nibbles {
  static std::uint32_t result(const std::byte* elements, std::size_t i) {
    const std::uint32_t pair = load<std::uint8_t>(elements + i / 2);
    return Codec::decode(static_cast<std::uint8_t>(pair >> (i % 2 * 4) & 0x0F));
  }

  static void decode(const std::byte* __restrict elements, std::byte* __restrict floats, std::size_t values) {
    for (std::size_t i = 0; i < values / 2; ++i) {
      const std::uint8_t pair = load<std::uint8_t>(elements + i);
      store(floats + 2 * i * kFloatBytes, Codec::decode(pair & 0x0F));
      store(floats + (2 * i + 1) * kFloatBytes, Codec::decode(static_cast<std::uint8_t>(pair >> 4)));
    }
  }

  static void encode(const std::byte* __restrict floats, std::byte* __restrict elements, std::size_t values,
                     const CastOptions& options) {
    encodeSeen(floats, elements, values, options, [](std::uint32_t, std::uint32_t) {});
  }

  template <typename Look>
  static void encodeSeen(const std::byte* __restrict floats, std::byte* __restrict elements, std::size_t values,
                         const CastOptions& options, Look look) {
    const EncodeLimits limits = Codec::limits(options.saturate, options.nanSuppress);
    for (std::size_t i = 0; i < values / 2; ++i) {
      const std::uint32_t lowBits = load<std::uint32_t>(floats + 2 * i * kFloatBytes);
      const std::uint32_t highBits = load<std::uint32_t>(floats + (2 * i + 1) * kFloatBytes);
      const std::uint8_t low = Codec::encode(lowBits, limits);
      const std::uint8_t high = Codec::encode(highBits, limits);
      store(elements + i, static_cast<std::uint8_t>(low | high << 4));
      look(lowBits, Codec::decodeFinite(low));
      look(highBits, Codec::decodeFinite(high));
    }
  }
};

template <typename Codec, typename Loops, bool kFusedMultiply>
void encodeAudited(const std::byte* floats, std::byte* elements, std::size_t values, const CastOptions& options,
                   Audit& audit) {
  QuickTally<Codec, kFusedMultiply> quick(audit.maxRelError);
  Loops::encodeSeen(floats, elements, values, options,
                    [&quick](std::uint32_t bits, std::uint32_t result) { quick.add(bits, result); });
  if (quick.isRight()) return quick.addTo(audit, values);
  CarefulTally<Codec> careful;
  for (std::size_t i = 0; i < values; ++i)
    careful.add(load<std::uint32_t>(floats + i * kFloatBytes), Loops::result(elements, i));
  careful.addTo(audit, values);
}

// Defines Level<Codec, Loops>::kKernels: the loops above, compiled with the given attributes.
#define DTYPEMUT_DEFINE_LEVEL(Level, kFusedMultiply, attributes)                                              \
  template <typename Codec, template <typename> typename Loops>                                               \
  struct Level {                                                                                              \
    attributes static void decode(const std::byte* elements, std::byte* floats, std::size_t values) {         \
      Loops<Codec>::decode(elements, floats, values);                                                         \
    }                                                                                                         \
    attributes static void encode(const std::byte* floats, std::byte* elements, std::size_t values,           \
                                  const CastOptions& options) {                                               \
      Loops<Codec>::encode(floats, elements, values, options);                                                \
    }                                                                                                         \
    attributes static void encodeAudited(const std::byte* floats, std::byte* elements, std::size_t values,    \
                                         const CastOptions& options, Audit& audit) {                          \
      dtypemut::encodeAudited<Codec, Loops<Codec>, kFusedMultiply>(floats, elements, values, options, audit); \
    }                                                                                                         \
    static constexpr CastKernels kKernels = {                                                                 \
        decode, encode, encodeAudited, {kFirstOverflow<Codec>[0], kFirstOverflow<Codec>[1]}};                 \
  };

#ifdef __FP_FAST_FMAF
DTYPEMUT_DEFINE_LEVEL(PlainLevel, true, )
#else
DTYPEMUT_DEFINE_LEVEL(PlainLevel, false, )
#endif
#if DTYPEMUT_X86_LEVELS
DTYPEMUT_DEFINE_LEVEL(Avx2Level, true, __attribute__((target("avx2,fma,bmi,bmi2"), flatten)))
DTYPEMUT_DEFINE_LEVEL(Avx512Level, true,
                      __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,bmi,bmi2"), flatten)))
#endif

template <template <typename, template <typename> typename> typename Level>
const CastKernels& kernelsAt(Dtype dtype) {
  using codecs::Integer;
  switch (dtype) {
    case Dtype::kUint8:
    case Dtype::kFloat8E8m0fnu:
      return Level<Integer<std::uint8_t>, Plain>::kKernels;
    case Dtype::kInt8:
      return Level<Integer<std::int8_t>, Plain>::kKernels;
    case Dtype::kUint16:
      return Level<Integer<std::uint16_t>, Plain>::kKernels;
    case Dtype::kInt16:
      return Level<Integer<std::int16_t>, Plain>::kKernels;
    case Dtype::kUint32:
      return Level<Integer<std::uint32_t>, Plain>::kKernels;
    case Dtype::kInt32:
      return Level<Integer<std::int32_t>, Plain>::kKernels;
    case Dtype::kUint64:
      return Level<Integer<std::uint64_t>, Plain>::kKernels;
    case Dtype::kInt64:
      return Level<Integer<std::int64_t>, Plain>::kKernels;
    case Dtype::kFloat4E2m1X4:
      return Level<SmallFloat<kFloat4E2m1Format>, Nibbles>::kKernels;
    case Dtype::kFloat8e3:
      return Level<SmallFloat<kFloat8e3Format>, Plain>::kKernels;
    case Dtype::kFloat8e4:
      return Level<SmallFloat<kFloat8e4Format>, Plain>::kKernels;
    case Dtype::kFloat8E4m3fn:
    case Dtype::kFloat8E4m3fnX4:
      return Level<SmallFloat<kFloat8E4m3fnFormat>, Plain>::kKernels;
    case Dtype::kFloat8e5:
    case Dtype::kFloat8E5m2X4:
      return Level<SmallFloat<kFloat8e5Format>, Plain>::kKernels;
    case Dtype::kBfloat16:
      return Level<SmallFloat<kBfloat16Format>, Plain>::kKernels;
    case Dtype::kFloat16:
      return Level<SmallFloat<kFloat16Format>, Plain>::kKernels;
    case Dtype::kFloat32r:
      return Level<SmallFloat<kFloat32rFormat>, Plain>::kKernels;
    case Dtype::kFloat32:
    case Dtype::kNone:
      break;
  }
  return Level<codecs::Float32, Plain>::kKernels;
}

}  // namespace

std::vector<CastLevel> castLevels() {
  std::vector<CastLevel> levels = {{"plain", kernelsAt<PlainLevel>}};
#if DTYPEMUT_X86_LEVELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    levels.push_back({"AVX2", kernelsAt<Avx2Level>});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      levels.push_back({"AVX-512", kernelsAt<Avx512Level>});
  }
#endif
  return levels;
}

const CastKernels& castKernels(Dtype dtype) {
  static const CastLevel best = castLevels().back();
  return best.kernels(dtype);
}

}  // namespace dtypemut
