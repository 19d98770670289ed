// The compiler's own dtypes: the vocabulary of the JSON IR and of --dtype (spec 2; reference.md section 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtypemut {

enum class Dtype : std::uint8_t {
#define DTYPE(enumerator, ...) enumerator,
#include "dtypemut/types/dtype.def"
#undef DTYPE
  kNone = 0xFF,  ///< no dtype: an instruction without a result
};

enum class DtypeClass : std::uint8_t { kInteger, kFloat, kPackedFloat, kScale };

/// One row of dtype.def.
struct DtypeInfo {
  Dtype dtype;
  std::string_view name;  ///< as spelled in the JSON IR
  std::uint8_t containerBytes;
  std::uint8_t valuesPerContainer;
  std::uint8_t isaCode;
  std::uint8_t firstGeneration;  ///< 1 (tonga) to 5 (maverick)
  DtypeClass dtypeClass;
  std::string_view safetensorsCode;
  std::string_view shorthands;
};

inline constexpr DtypeInfo kDtypes[] = {
#define DTYPE(enumerator, name, bytes, values, isa, generation, cls, safetensors, shorthands) \
  {Dtype::enumerator, name, bytes, values, isa, generation, DtypeClass::cls, safetensors, shorthands},
#include "dtypemut/types/dtype.def"
#undef DTYPE
};
inline constexpr std::size_t kDtypeCount = std::size(kDtypes);
static_assert(kDtypeCount == 20);

/// `dtype` must not be kNone.
constexpr const DtypeInfo& dtypeInfo(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

constexpr std::string_view dtypeName(Dtype dtype) { return dtype == Dtype::kNone ? "none" : dtypeInfo(dtype).name; }
/// Bytes per stored element.
constexpr std::size_t containerBytes(Dtype dtype) { return dtypeInfo(dtype).containerBytes; }
constexpr bool isInteger(Dtype dtype) { return dtypeInfo(dtype).dtypeClass == DtypeClass::kInteger; }
constexpr bool isPacked(Dtype dtype) { return dtypeInfo(dtype).dtypeClass == DtypeClass::kPackedFloat; }
/// A float with one value per element: what --dtype and --from accept (spec 3, 5).
constexpr bool isScalarFloat(Dtype dtype) { return dtypeInfo(dtype).dtypeClass == DtypeClass::kFloat; }
/// One byte per value, with the two knobs of spec 9.
constexpr bool isFp8(Dtype dtype) { return isScalarFloat(dtype) && containerBytes(dtype) == 1; }
/// float32 or float32r: what the matrix engine calls full precision (spec 5).
constexpr bool isFullPrecision(Dtype dtype) { return dtype == Dtype::kFloat32 || dtype == Dtype::kFloat32r; }

/// The dtype of exactly this JSON spelling.
std::optional<Dtype> dtypeFromName(std::string_view name);
/// As the command line spells it: the JSON names and their shorthands, in any case.
std::optional<Dtype> dtypeFromArgument(std::string_view text);
/// What dtypeFromArgument knows: the JSON names and their shorthands, in table order.
std::vector<std::string_view> dtypeSpellings();

/// A set of dtypes, as a bit mask.
class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  constexpr DtypeSet(std::initializer_list<Dtype> dtypes) {
    for (Dtype dtype : dtypes) insert(dtype);
  }
  static constexpr DtypeSet all() { return DtypeSet((std::uint32_t{1} << kDtypeCount) - 1); }
  constexpr void insert(Dtype dtype) { bits_ |= bit(dtype); }
  constexpr void erase(Dtype dtype) { bits_ &= ~bit(dtype); }
  constexpr bool contains(Dtype dtype) const { return dtype != Dtype::kNone && (bits_ & bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DtypeSet operator|(DtypeSet other) const { return DtypeSet(bits_ | other.bits_); }
  constexpr bool operator==(const DtypeSet&) const = default;
  /// The names of the members, in table order, separated by ", ".
  std::string toString() const;

 private:
  constexpr explicit DtypeSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Dtype dtype) { return std::uint32_t{1} << static_cast<unsigned>(dtype); }
  std::uint32_t bits_ = 0;
};

}  // namespace dtypemut
