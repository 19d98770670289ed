// How many threads there are for work that can be divided.
#pragma once

namespace dtypemut {

/// At most as many as `wanted` (0: as many as the machine has), and as can be started: 1 is the calling one alone.
int usableThreads(unsigned wanted);

}  // namespace dtypemut
