#include "dtypemut/types/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dtypemut {
namespace {

constexpr std::size_t kLongestGuessedName = 200;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// How many letters must be added, left out, replaced or swapped with their neighbours to make one text of the other,
/// without regard to case; `limit` + 1 when that is more than `limit`.
std::size_t editDistance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), twoAbove(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    twoAbove.swap(above);
    above.swap(row);
    std::size_t best = row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool isSwapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (isSwapped) row[j] = std::min(row[j], twoAbove[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    // A swap may lead from the row above to the one below.
    const std::size_t bestAbove = *std::min_element(above.begin(), above.end());
    if (std::min(best, bestAbove + 1) > limit) return limit + 1;
  }
  return std::min(row[b.size()], limit + 1);
}

}  // namespace

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool listContains(std::string_view list, std::string_view text) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equalsIgnoringCase(list.substr(0, comma), text)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

void appendEntries(std::vector<std::string_view>& entries, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    entries.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

std::optional<std::string_view> nearestName(std::string_view text, std::span<const std::string_view> candidates) {
  if (text.empty() || text.size() > kLongestGuessedName) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t bestDistance = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t limit = std::min({bestDistance - 1, std::max<std::size_t>(1, candidate.size() / 3)});
    const std::size_t distance = editDistance(text, candidate, limit);
    if (distance > limit || distance >= std::max(text.size(), candidate.size())) continue;
    nearest = candidate;
    bestDistance = distance;
    if (distance == 0) break;
  }
  return nearest;
}

}  // namespace dtypemut
