// Which build of the tool this is.
#pragma once

namespace dtypemut::cli {

/// The project's version and, for a build from a git work tree, the commit.
const char* version();

}  // namespace dtypemut::cli
