// A mutator for libFuzzer that mostly keeps a document valid: it moves the values of a JSON text about, where the
// fuzzer's own mutations of bytes would break it. Built only with a fuzzer, for targets whose inputs are a JSON text,
// perhaps behind a line that chooses options.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "json_spans.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned seed);

namespace dtypemut::fuzz {
namespace {

/// A value with what is around it.
struct Place {
  const JsonSpan* value;
  std::string_view key;             ///< empty in an array
  std::size_t begin;                ///< where its key begins, or itself
  const JsonSpan* array = nullptr;  ///< that it is an item of
};

class JsonMutator {
 public:
  JsonMutator(std::string_view text, unsigned seed) : text_(text), random_(seed), root_(parseSpans(text)) {
    collect(root_);
  }

  /// The text with one edit; the same text when the edit that was chosen does not apply.
  std::string mutated() {
    if (places_.empty()) return std::string(text_);
    const Place& place = pick(places_);
    switch (below(8)) {
      case 0:
        return withText(*place.value, pick(places_).value->in(text_));
      case 1:
        return removed(place);
      case 2:
        return doubled(place);
      case 3:
        return swapped(place);
      case 4:
        return withBytesMutated(place);
      default:
        return withOneOfSameKey(place);
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  void collect(const JsonSpan& span) {
    for (const JsonSpan& item : span.items) {
      places_.push_back({.value = &item, .key = {}, .begin = item.begin, .array = &span});
      collect(item);
    }
    for (const auto& [key, value] : span.members) {
      const std::size_t colon = text_.find_last_of(':', value.begin - 1);
      places_.push_back({.value = &value, .key = key, .begin = beginOfKey(colon)});
      collect(value);
    }
  }

  std::size_t beginOfKey(std::size_t colon) const {
    std::size_t quote = text_.rfind('"', colon);
    do quote = text_.rfind('"', quote - 1);
    while (quote > 0 && text_[quote - 1] == '\\');
    return quote;
  }

  std::string withText(const JsonSpan& span, std::string_view replacement) const {
    return edited(text_, {{span.begin, span.end, std::string(replacement)}});
  }

  /// Without a comma that would be left over.
  std::string removed(const Place& place) const {
    std::size_t begin = place.begin;
    std::size_t end = place.value->end;
    const std::size_t next = text_.find_first_not_of(" \t\r\n", end);
    const std::size_t previous = begin == 0 ? std::string_view::npos : text_.find_last_not_of(" \t\r\n", begin - 1);
    if (next != std::string_view::npos && text_[next] == ',')
      end = next + 1;
    else if (previous != std::string_view::npos && text_[previous] == ',')
      begin = previous;
    return edited(text_, {{begin, end, ""}});
  }

  /// An item of an array twice; a node gets another name.
  std::string doubled(const Place& place) {
    if (place.array == nullptr) return std::string(text_);
    std::string copy(place.value->in(text_));
    if (const JsonSpan* name = place.value->find("name"); name != nullptr && name->end > name->begin + 1)
      copy.insert(name->end - 1 - place.value->begin, 1, static_cast<char>('a' + below(26)));
    return edited(text_, {{place.value->end, place.value->end, "," + copy}});
  }

  std::string swapped(const Place& place) {
    if (place.array == nullptr) return std::string(text_);
    const JsonSpan& other = pick(place.array->items);
    if (&other == place.value) return std::string(text_);
    return edited(text_, {{place.value->begin, place.value->end, std::string(other.in(text_))},
                          {other.begin, other.end, std::string(place.value->in(text_))}});
  }

  /// The content of a string, or another value whole.
  std::string withBytesMutated(const Place& place) const {
    const bool isString = text_[place.value->begin] == '"';
    const std::size_t begin = place.value->begin + (isString ? 1 : 0);
    const std::size_t end = place.value->end - (isString ? 1 : 0);
    std::string bytes(text_.substr(begin, end - begin));
    const std::size_t size = bytes.size();
    bytes.resize(size + 16);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
    return edited(text_, {{begin, end, bytes}});
  }

  std::string withOneOfSameKey(const Place& place) {
    std::vector<const JsonSpan*> others;
    for (const Place& other : places_)
      if (other.key == place.key && (other.array == nullptr) == (place.array == nullptr)) others.push_back(other.value);
    return withText(*place.value, pick(others)->in(text_));
  }

  std::string_view text_;
  std::minstd_rand random_;
  const JsonSpan root_;
  std::vector<Place> places_;
};

}  // namespace
}  // namespace dtypemut::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned seed) {
  constexpr std::size_t kMostOptions = 6;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t head = input.starts_with('{') ? 0 : input.substr(0, kMostOptions).find('\n') + 1;
  const std::string_view document = input.substr(head);
  if (seed % 4 == 0 || !nlohmann::json::accept(document)) return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(document);
  for (unsigned i = 0; i <= seed / 4 % 3 && nlohmann::json::accept(text); ++i)
    text = dtypemut::fuzz::JsonMutator(text, seed / 12 + i).mutated();
  if (head + text.size() > maxSize || text == document) return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data + head, text.data(), text.size());
  return head + text.size();
}
