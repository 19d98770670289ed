// The page of report/html without its data; made from html_page/ by the build.
#pragma once

#include <string_view>

namespace dtypemut {

extern const std::string_view kHtmlPage;

/// What stands in it in place of the data.
inline constexpr std::string_view kHtmlPageData = "{{data}}";

}  // namespace dtypemut
