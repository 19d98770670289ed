#include "version.h"

#include "dtypemut_version.h"

namespace dtypemut::cli {

const char* version() { return DTYPEMUT_VERSION; }

}  // namespace dtypemut::cli
