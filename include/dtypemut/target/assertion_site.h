// Where the device wrapper aborts, and what each place guards (reference.md section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace dtypemut {

enum class AssertionSite : std::uint8_t {
  kSupportedDtype,
  kHandle,
  kDtypeMatch,
  kInlineShape,
  kRank,
  kOneElement4d,
  kOneElement8d,
};

struct AssertionSiteInfo {
  AssertionSite site;
  std::uint16_t line;           ///< of utypes.hpp
  std::string_view expression;  ///< what is asserted
  std::string_view guards;
};

// clang-format off
inline constexpr AssertionSiteInfo kAssertionSites[] = {
    {AssertionSite::kSupportedDtype, 37, "0", "the dtype code has a ScalarType"},
    {AssertionSite::kHandle, 64, "xt_ptr_", "the storage handle is present"},
    {AssertionSite::kDtypeMatch, 65, "aten_t.dtype().toScalarType() == isa_to_torch_dtype(t_.dtype)", "the host tensor has the dtype's ScalarType"},
    {AssertionSite::kInlineShape, 94, "t_.framework_shape_type != ..._OUT_OF_LINE_SHAPE", "the shape is not out of line"},
    {AssertionSite::kRank, 139, "num_dim != 0", "the rank is at least 1"},
    {AssertionSite::kOneElement4d, 172, "nelem_* == 0 && \"Cannot create an at::Scalar. Argument has more than 1 element\"", "a 4D shape has one element"},
    {AssertionSite::kOneElement8d, 178, "nelem_* == 0 && \"Cannot create an at::Scalar. Argument has more than 1 element\"", "an 8D shape has one element"},
};
// clang-format on

constexpr const AssertionSiteInfo& assertionSiteInfo(AssertionSite site) {
  return kAssertionSites[static_cast<std::size_t>(site)];
}
/// "utypes.hpp:37".
inline std::string assertionPlace(AssertionSite site) {
  return "utypes.hpp:" + std::to_string(assertionSiteInfo(site).line);
}
/// As the device prints it: "utypes.hpp:37 0".
inline std::string assertionText(AssertionSite site) {
  return assertionPlace(site) + " " + std::string(assertionSiteInfo(site).expression);
}

}  // namespace dtypemut
