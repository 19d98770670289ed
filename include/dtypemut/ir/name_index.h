// Finds nodes by name at eight bytes a slot: the names themselves stay with the nodes.
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
    return slots_.empty() ? kNone : slots_[slotOf(name, hashOf(name), nameOf)].number;
  }

  /// Brings what find or insert will look at first into the cache.
  void prefetch(std::string_view name) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hashOf(name) & (slots_.size() - 1)]);
  }

  /// Adds `number`. If its name is there already, adds nothing and returns the number that has it; else kNone.
  template <typename NameOf>
  std::uint32_t insert(std::uint32_t number, NameOf&& nameOf) {
    if (slots_.size() * 2 <= size_ * 3) grow();
    const std::string_view name = nameOf(number);
    const std::uint32_t hash = hashOf(name);
    Slot& slot = slots_[slotOf(name, hash, nameOf)];
    if (slot.number != kNone) return slot.number;
    slot = {.number = number, .hash = hash};
    ++size_;
    return kNone;
  }

 private:
  struct Slot {
    std::uint32_t number = kNone;
    std::uint32_t hash = 0;  // so that names are looked at only when they are likely the same
  };

  static std::uint32_t hashOf(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  }

  template <typename NameOf>
  std::size_t slotOf(std::string_view name, std::uint32_t hash, NameOf&& nameOf) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].number != kNone && (slots_[at].hash != hash || nameOf(slots_[at].number) != name))
      at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.number == kNone) continue;
      std::size_t at = slot.hash & mask;
      while (slots_[at].number != kNone) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace dtypemut
