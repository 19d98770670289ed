#include "json_walk.h"

#include <cmath>

#include "dtypemut/io/json_text.h"

namespace dtypemut {

bool exceedsDouble(std::string_view spelled) {
  constexpr std::size_t kSafeLength = 300;  // without an exponent: 300 digits are below 1e300
  if (spelled.size() < kSafeLength && spelled.find_first_of("eE") == std::string_view::npos) return false;
  return std::isinf(parseDouble(spelled));
}

bool isPlainText(std::string_view text) {
  constexpr std::size_t kBlock = 4096;  // long enough for the vectoriser, short enough to stop early
  while (!text.empty()) {
    unsigned strange = 0;
    for (char c : text.substr(0, kBlock)) {
      const auto byte = static_cast<unsigned char>(c);
      strange |= static_cast<unsigned>(byte >= 0x80) | static_cast<unsigned>(byte >= 0x1A && byte < 0x20);
    }
    if (strange != 0) return false;
    text.remove_prefix(std::min(kBlock, text.size()));
  }
  return true;
}

bool hasLoneSurrogate(std::string_view content) {
  // RapidJSON encodes the second half of a pair when it stands alone: ED A0..BF xx, which valid UTF-8 never holds.
  for (std::size_t at = content.find('\xED'); at != std::string_view::npos; at = content.find('\xED', at + 1))
    if (at + 1 < content.size() && static_cast<unsigned char>(content[at + 1]) >= 0xA0) return true;
  return false;
}

void OpenKeys::closeObject() {
  if (!sets_.empty() && sets_.back().first == firsts_.size()) sets_.pop_back();
  keys_.resize(firsts_.back());
  firsts_.pop_back();
}

bool OpenKeys::insert(const JsonToken& key) {
  const std::string_view name = key.transient ? unescaped_.emplace_back(key.text) : key.text;
  const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(firsts_.back());
  const bool hasSet = !sets_.empty() && sets_.back().first == firsts_.size();
  if (hasSet) {
    if (!sets_.back().second.insert(name).second) return false;
  } else {
    if (std::find(first, keys_.end(), name) != keys_.end()) return false;
    if (static_cast<std::size_t>(keys_.end() - first) == kFewKeys) {
      sets_.emplace_back(firsts_.size(), std::unordered_set<std::string_view>(first, keys_.end()));
      sets_.back().second.insert(name);
    }
  }
  if (!hasSet) keys_.push_back(name);
  return true;
}

}  // namespace dtypemut
