#include "dtypemut/types/scalar_type.h"

#include "dtypemut/types/spelling.h"

namespace dtypemut {

std::string nameAndOrdinal(ScalarType type) {
  return std::string(scalarTypeName(type)) + " (" + std::to_string(ordinal(type)) + ")";
}

Result<ScalarType> scalarTypeFromArgument(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kScalarTypeNames); ++i)
    if (equalsIgnoringCase(kScalarTypeNames[i], text) || std::to_string(i) == text) return static_cast<ScalarType>(i);
  std::string message = "unknown ScalarType '" + std::string(text) + "': expected a name or an ordinal from 0 to " +
                        std::to_string(ordinal(ScalarType::kNumOptions));
  if (const auto nearest = nearestName(text, kScalarTypeNames))
    message += " (did you mean '" + std::string(*nearest) + "'?)";
  return Diagnostic{.exitCode = ExitCode::kUsage, .message = std::move(message)};
}

}  // namespace dtypemut
