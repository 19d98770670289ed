// Finds nodes by name at eight bytes a slot: the names themselves stay with the nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace dtypemut {

/// A name with its hash, for whoever looks for it in two steps.
struct HashedName {
  HashedName() = default;
  explicit HashedName(std::string_view name)
      : text(name), hash(static_cast<std::uint32_t>(std::hash<std::string_view>{}(name))) {}

  std::string_view text;
  std::uint32_t hash = 0;
};

/// A hash set of node numbers, with open addressing. Every call is given `nameOf`, which yields a number's name; so the
/// nodes may move, but their names must not change.
class NameIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The number with that name, or kNone.
  template <typename NameOf>
  std::uint32_t find(const HashedName& name, NameOf&& nameOf) const {
    return slots_.empty() ? kNone : slots_[slotOf(name, nameOf)].number;
  }

  /// Brings what find or insert will look at first into the cache.
  void prefetch(const HashedName& name) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[name.hash & (slots_.size() - 1)]);
  }

  /// Adds `number`. If its name is there already, adds nothing and returns the number that has it; else kNone.
  template <typename NameOf>
  std::uint32_t insert(std::uint32_t number, NameOf&& nameOf) {
    reserve(size_ + 1);
    return insert(number, HashedName(nameOf(number)), nameOf);
  }

  /// Adds the numbers below `count` in their order. Calls `clash(number, other)` for each whose name is there already.
  template <typename NameOf, typename Clash>
  void insertAll(std::uint32_t count, NameOf&& nameOf, Clash&& clash) {
    reserve(size_ + count);
    std::array<HashedName, kAhead> names;
    for (std::uint32_t begin = 0; begin < count; begin += kAhead) {
      const std::uint32_t size = std::min(kAhead, count - begin);
      for (std::uint32_t i = 0; i < size; ++i) prefetch(names[i] = HashedName(nameOf(begin + i)));
      for (std::uint32_t i = 0; i < size; ++i)
        if (const std::uint32_t other = insert(begin + i, names[i], nameOf); other != kNone) clash(begin + i, other);
    }
  }

 private:
  static constexpr std::uint32_t kAhead = 16;  // so many slots are on their way into the cache at once

  struct Slot {
    std::uint32_t number = kNone;
    std::uint32_t hash = 0;  // so that names are looked at only when they are likely the same
  };

  template <typename NameOf>
  std::uint32_t insert(std::uint32_t number, const HashedName& name, NameOf&& nameOf) {
    Slot& slot = slots_[slotOf(name, nameOf)];
    if (slot.number != kNone) return slot.number;
    slot = {.number = number, .hash = name.hash};
    ++size_;
    return kNone;
  }

  template <typename NameOf>
  std::size_t slotOf(const HashedName& name, NameOf&& nameOf) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = name.hash & mask;
    while (slots_[at].number != kNone && (slots_[at].hash != name.hash || nameOf(slots_[at].number) != name.text))
      at = (at + 1) & mask;
    return at;
  }

  /// At most two thirds of the slots are ever taken.
  void reserve(std::size_t count) {
    std::size_t size = std::max<std::size_t>(slots_.size(), 16);
    while (size * 2 <= count * 3) size *= 2;
    if (size == slots_.size()) return;
    std::vector<Slot> old(size);
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
