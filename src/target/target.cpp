#include "dtypemut/target/target.h"

#include <array>

#include "dtypemut/types/spelling.h"

namespace dtypemut {
namespace {

constexpr auto kTargets = [] {
  std::array rows = {
#define TARGET(enumerator, name, generation, aliases, dmaCast, ...) \
  Target{Architecture::enumerator, name, generation, aliases, dmaCast, DtypeSet{__VA_ARGS__}},
#include "dtypemut/target/target.def"
#undef TARGET
  };
  for (std::size_t i = 1; i < rows.size(); ++i) rows[i].matmulDtypes = rows[i].matmulDtypes | rows[i - 1].matmulDtypes;
  return rows;
}();

}  // namespace

DtypeSet Target::requestableDtypes() const {
  DtypeSet dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (isScalarFloat(info.dtype) && has(info.dtype)) dtypes.insert(info.dtype);
  return dtypes;
}

std::span<const Target> targets() { return kTargets; }

const Target& target(Architecture architecture) { return kTargets[static_cast<std::size_t>(architecture)]; }

std::optional<Target> targetFromArgument(std::string_view text) {
  for (const Target& row : kTargets)
    if (equalsIgnoringCase(row.name, text) || listContains(row.aliases, text)) return row;
  return std::nullopt;
}

}  // namespace dtypemut
