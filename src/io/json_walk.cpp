#include "json_walk.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What stands at `offset`, for people.
std::string foundText(std::string_view text, std::uint64_t offset) {
  if (offset >= text.size()) return "the end of the text";
  const char c = text[offset];
  if (c > ' ' && c < 0x7F) return "'" + std::string(1, c) + "'";
  std::array<char, 16> byte{};
  std::snprintf(byte.data(), byte.size(), "byte 0x%02X", static_cast<unsigned char>(c));
  return byte.data();
}

/// The word that `offset` stands in, which it is moved to the beginning of; empty when it stands in none.
std::string_view wordAt(std::string_view text, std::uint64_t& offset) {
  constexpr std::size_t kLongest = 40;
  std::uint64_t begin = offset;
  while (begin > 0 && offset - begin < kLongest && isLetter(text[begin - 1])) --begin;
  std::uint64_t end = offset;
  while (end < text.size() && end - begin < kLongest && isLetter(text[end])) ++end;
  if (end > begin) offset = begin;
  return text.substr(begin, end - begin);
}

/// Made of the length and of up to sixteen bytes at the ends.
std::uint64_t fingerprintOf(std::string_view name) {
  const auto load = [&]<typename Word>(Word, std::size_t at) {
    Word word;
    std::memcpy(&word, name.data() + at, sizeof word);
    return std::uint64_t{word};
  };
  const std::size_t size = name.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    first = load(std::uint64_t{}, 0);
    last = load(std::uint64_t{}, size - 8);
  } else if (size >= 4) {
    first = load(std::uint32_t{}, 0);
    last = load(std::uint32_t{}, size - 4);
  } else if (size > 0) {
    first = load(std::uint8_t{}, 0) | load(std::uint8_t{}, size / 2) << 8;
    last = load(std::uint8_t{}, size - 1);
  }
  return first ^ std::rotl(last, 31) ^ size << 56;
}

}  // namespace

bool exceedsDouble(std::string_view spelled) {
  constexpr std::size_t kSafeLength = 300;  // without an exponent: 300 digits are below 1e300
  if (spelled.size() < kSafeLength && spelled.find_first_of("eE") == std::string_view::npos) return false;
  return std::isinf(parseDouble(spelled));
}

bool hasLoneSurrogate(std::string_view content) {
  // RapidJSON encodes the second half of a pair when it stands alone: ED A0..BF xx, which valid UTF-8 never holds.
  for (std::size_t at = content.find('\xED'); at != std::string_view::npos; at = content.find('\xED', at + 1))
    if (at + 1 < content.size() && static_cast<unsigned char>(content[at + 1]) >= 0xA0) return true;
  return false;
}

std::string jsonFault(rapidjson::ParseErrorCode code, std::string_view text, std::uint64_t& offset) {
  const std::string found = ", found " + foundText(text, offset);
  const bool isControl = offset < text.size() && static_cast<unsigned char>(text[offset]) < 0x20;
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return offset == text.size() ? "the document is empty" : "expected a value" + found;
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "expected nothing more after the document" + found;
    case rapidjson::kParseErrorValueInvalid: {
      const std::string_view word = wordAt(text, offset);
      return word.empty() ? "expected a value" + found : "unknown literal '" + std::string(word) + "'";
    }
    case rapidjson::kParseErrorObjectMissName:
      return "expected a key in quotes" + found;
    case rapidjson::kParseErrorObjectMissColon:
      return "expected ':' after the key" + found;
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected ',' or '}'" + found;
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected ',' or ']'" + found;
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "\\u must be followed by four hexadecimal digits";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "half a surrogate pair in a string";
    case rapidjson::kParseErrorStringEscapeInvalid:
      return isControl ? "a control character in a string must be escaped" + found : "unknown escape in a string";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return isControl ? "a control character in a string must be escaped" + found : "the string does not end";
    case rapidjson::kParseErrorStringInvalidEncoding:
      return "the string is not UTF-8" + found;
    case rapidjson::kParseErrorNumberTooBig:
      return "the number is beyond the range of a double";
    case rapidjson::kParseErrorNumberMissFraction:
      return "expected a digit after the decimal point" + found;
    case rapidjson::kParseErrorNumberMissExponent:
      return "expected a digit in the exponent" + found;
    default:
      return "malformed text" + found;
  }
}

void OpenKeys::closeObject() {
  if (!sets_.empty() && sets_.back().first == firsts_.size()) sets_.pop_back();
  keys_.resize(firsts_.back());
  firsts_.pop_back();
}

bool OpenKeys::insert(std::string_view key, bool isTransient) {
  if (isTransient) key = unescaped_.emplace_back(key);
  if (!sets_.empty() && sets_.back().first == firsts_.size()) return sets_.back().second.insert(key).second;
  const std::uint64_t fingerprint = fingerprintOf(key);
  for (std::size_t i = firsts_.back(); i < keys_.size(); ++i)
    if (keys_[i].fingerprint == fingerprint && keys_[i].name == key) return false;
  if (keys_.size() - firsts_.back() == kFewKeys) {
    auto& names = sets_.emplace_back(firsts_.size(), std::unordered_set<std::string_view>()).second;
    for (std::size_t i = firsts_.back(); i < keys_.size(); ++i) names.insert(keys_[i].name);
    names.insert(key);
    return true;
  }
  keys_.push_back({.fingerprint = fingerprint, .name = key});
  return true;
}

}  // namespace dtypemut
