#include "dtypemut/types/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dtypemut {
namespace {

constexpr std::size_t kLongestGuessedName = 200;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Levenshtein distance without regard to case, or `limit` + 1 when it is greater than `limit`.
std::size_t editDistance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    std::size_t best = row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
  }
  return row[b.size()];
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
