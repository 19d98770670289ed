// c10::ScalarType: the host framework's element types, with the ordinals of the wrapper's build (reference.md section
// 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

enum class ScalarType : std::uint8_t {
#define SCALAR_TYPE(ordinal, name) k##name = ordinal,
#include "dtypemut/types/scalar_type.def"
#undef SCALAR_TYPE
};

inline constexpr std::string_view kScalarTypeNames[] = {
#define SCALAR_TYPE(ordinal, name) #name,
#include "dtypemut/types/scalar_type.def"
#undef SCALAR_TYPE
};
static_assert(std::size(kScalarTypeNames) == static_cast<std::size_t>(ScalarType::kNumOptions) + 1);
#define SCALAR_TYPE(ordinal, name) static_assert(kScalarTypeNames[ordinal] == #name);
#include "dtypemut/types/scalar_type.def"
#undef SCALAR_TYPE

constexpr int ordinal(ScalarType type) { return static_cast<int>(type); }
constexpr std::string_view scalarTypeName(ScalarType type) { return kScalarTypeNames[ordinal(type)]; }
/// As messages name it: "Half (5)".
std::string nameAndOrdinal(ScalarType type);

/// A ScalarType by name, in any case, or by decimal ordinal; anything else is wrong usage (spec 8: NAME|ORDINAL).
Result<ScalarType> scalarTypeFromArgument(std::string_view text);

}  // namespace dtypemut
