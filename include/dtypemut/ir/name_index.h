// Finds nodes by name at four bytes a slot: the names themselves stay with the nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace dtypemut {

/// A hash set of node numbers, with open addressing. Every call is given `nameOf`, which yields a number's name; so the
/// nodes may move, but their names must not change.
class NameIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The number with that name, or kNone.
  template <typename NameOf>
  std::uint32_t find(std::string_view name, NameOf&& nameOf) const {
    return slots_.empty() ? kNone : slots_[slotOf(name, nameOf)];
  }

  /// Adds `number`. If its name is there already, adds nothing and returns the number that has it; else kNone.
  template <typename NameOf>
  std::uint32_t insert(std::uint32_t number, NameOf&& nameOf) {
    if (slots_.size() * 2 <= size_ * 3) grow(nameOf);
    std::uint32_t& slot = slots_[slotOf(nameOf(number), nameOf)];
    if (slot != kNone) return slot;
    slot = number;
    ++size_;
    return kNone;
  }

 private:
  template <typename NameOf>
  std::size_t slotOf(std::string_view name, NameOf&& nameOf) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(name)&mask;
    while (slots_[slot] != kNone && nameOf(slots_[slot]) != name) slot = (slot + 1) & mask;
    return slot;
  }

  template <typename NameOf>
  void grow(NameOf&& nameOf) {
    std::vector<std::uint32_t> old(slots_.empty() ? 16 : slots_.size() * 2, kNone);
    old.swap(slots_);
    for (std::uint32_t number : old)
      if (number != kNone) slots_[slotOf(nameOf(number), nameOf)] = number;
  }

  std::vector<std::uint32_t> slots_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace dtypemut
