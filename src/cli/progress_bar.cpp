#include "progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace dtypemut::cli {

ProgressBar::ProgressBar(bool isWanted) : isWanted_(isWanted && ::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::update(std::uint64_t bytes, std::uint64_t allBytes) {
  constexpr std::size_t kWidth = 40;
  constexpr double kGigabyte = 1e9;
  if (!isWanted_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double part = allBytes == 0 ? 1 : static_cast<double>(bytes) / static_cast<double>(allBytes);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const auto filled = static_cast<std::size_t>(std::min(part, 1.0) * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %3.0f%%  %.2f of %.2f GB  %.2f GB/s\033[K", bar.c_str(), part * 100,
               static_cast<double>(bytes) / kGigabyte, static_cast<double>(allBytes) / kGigabyte,
               static_cast<double>(bytes) / kGigabyte / seconds);
  std::fflush(stderr);
  isShown_ = true;
}

void ProgressBar::clear() {
  if (!isShown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  isShown_ = false;
}

}  // namespace dtypemut::cli
