// Memory in large pages, for what is large.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>

namespace dtypemut {

/// Asks for pages of 2 MiB for memory that is about to be filled: the system is then asked for far fewer. Not where the
/// last of them, which may stay nearly empty, would weigh.
inline void adviseHugePages(void* memory, std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (bytes >= 16 * kHugePage && std::align(kHugePage, kHugePage, memory, bytes) != nullptr)
    static_cast<void>(::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
}

}  // namespace dtypemut
