// How messages about a document begin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dtypemut {

/// Whose fault something is: "instruction 'x': operand 0: ".
struct Blame {
  static constexpr std::uint32_t kWhole = UINT32_MAX;
  static constexpr std::uint32_t kDst = UINT32_MAX - 1;

  std::string_view what;        // nothing: the document
  std::string_view name;        // empty: it has none, or not yet
  std::uint32_t number = 0;     // said in place of a name
  std::uint32_t part = kWhole;  // or the dst, or the operand of this index

  std::string toString() const {
    if (what.empty()) return "";
    std::string text(what);
    text += name.empty() ? " " + std::to_string(number) : " '" + std::string(name) + "'";
    if (part == kDst) text += ": dst";
    if (part < kDst) text += ": operand " + std::to_string(part);
    return text + ": ";
  }
};

}  // namespace dtypemut
