// Why an edge was refused (spec 4, 5, 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace dtypemut {

enum class Reason : std::uint8_t {
#define REASON(enumerator, ...) enumerator,
#include "dtypemut/passes/reason.def"
#undef REASON
  kNone,  ///< not refused
};

struct ReasonInfo {
  std::string_view name;
  std::string_view gate;  ///< see reason.def
  std::string_view what;
  std::string_view remedy;
};

inline constexpr ReasonInfo kReasons[] = {
#define REASON(enumerator, name, gate, what, remedy) {name, gate, what, remedy},
#include "dtypemut/passes/reason.def"
#undef REASON
};
inline constexpr std::size_t kReasonCount = std::size(kReasons);

/// `reason` must not be kNone.
constexpr const ReasonInfo& reasonInfo(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

/// The reason of that name; nullopt when there is none.
constexpr std::optional<Reason> reasonFromName(std::string_view name) {
  for (std::size_t i = 0; i < kReasonCount; ++i)
    if (kReasons[i].name == name) return static_cast<Reason>(i);
  return std::nullopt;
}

}  // namespace dtypemut
