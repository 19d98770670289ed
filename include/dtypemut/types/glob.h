// Patterns for names, as the shell has them.
#pragma once

#include <string>
#include <string_view>

namespace dtypemut {

/// Whether the whole name fits the glob, with *, ? and [...]. A name may hold any character, NUL as well.
bool matchesGlob(const std::string& glob, std::string_view name);

}  // namespace dtypemut
