// What a generation of the accelerator can do (spec 3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dtypemut/types/dtype.h"

namespace dtypemut {

enum class Architecture : std::uint8_t {
#define TARGET(enumerator, ...) enumerator,
#include "dtypemut/target/target.def"
#undef TARGET
};

/// A target as the passes and the verifier see it. A plain value: the command line may override `enableDmaCast`.
struct Target {
  Architecture architecture;
  std::string_view name;
  std::uint8_t generation;
  std::string_view aliases;  ///< comma-separated
  bool enableDmaCast;        ///< the DMA engine converts dtypes on the way
  DtypeSet matmulDtypes;     ///< legal dtypes of matmul operands

  /// Whether the generation has the dtype at all.
  bool has(Dtype dtype) const { return dtypeInfo(dtype).firstGeneration <= generation; }
  /// The dtypes that --dtype accepts on this target, and --from on any (spec 3): the scalar floats it has.
  DtypeSet requestableDtypes() const;
};

/// All targets, oldest first.
std::span<const Target> targets();
const Target& target(Architecture architecture);
/// By name or alias, in any case.
std::optional<Target> targetFromArgument(std::string_view text);

}  // namespace dtypemut
