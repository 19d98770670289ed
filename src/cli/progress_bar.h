// A bar on the terminal for what takes long.
#pragma once

#include <chrono>
#include <cstdint>

namespace dtypemut::cli {

/// Shows on stderr, if that is a terminal, how much is done; not before a second has passed. Vanishes with the object.
class ProgressBar {
 public:
  explicit ProgressBar(bool isWanted);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void update(std::uint64_t bytes, std::uint64_t allBytes);
  /// Makes room for a line of text; the next update shows the bar again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool isWanted_;
  bool isShown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + std::chrono::seconds(1);
};

}  // namespace dtypemut::cli
