// Why an edge was refused (spec 4, 5, 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
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
  std::string_view gate;      ///< see reason.def
  std::string_view sentence;  ///< lower case, no full stop
};

inline constexpr ReasonInfo kReasons[] = {
#define REASON(enumerator, name, gate, sentence) {name, gate, sentence},
#include "dtypemut/passes/reason.def"
#undef REASON
};
inline constexpr std::size_t kReasonCount = std::size(kReasons);

/// `reason` must not be kNone.
constexpr const ReasonInfo& reasonInfo(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

}  // namespace dtypemut
