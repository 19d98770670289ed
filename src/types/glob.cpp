#include "dtypemut/types/glob.h"

#include <fnmatch.h>

#include <algorithm>

namespace dtypemut {

bool matchesGlob(const std::string& glob, std::string_view name) {
  std::string text(name);
  // fnmatch would take a NUL for the end of the name. No glob has one, so that only wildcards can stand for it.
  std::replace(text.begin(), text.end(), '\0', '\x01');
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

}  // namespace dtypemut
