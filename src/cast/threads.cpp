#include "dtypemut/cast/threads.h"

#include <oneapi/tbb/info.h>

#include <algorithm>
#include <system_error>
#include <thread>

namespace dtypemut {
namespace {

/// TBB throws in the midst of its work when it gets no thread.
bool canStartThread() {
  try {
    std::thread([] {}).join();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

int usableThreads(unsigned wanted) {
  const int available = oneapi::tbb::info::default_concurrency();  // asked for more, TBB prints a warning
  const int threads = wanted == 0 ? available : static_cast<int>(std::min(wanted, static_cast<unsigned>(available)));
  return threads == 1 || canStartThread() ? threads : 1;
}

}  // namespace dtypemut
