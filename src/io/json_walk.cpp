#include "json_walk.h"

#include <array>
#include <cmath>
#include <cstdio>

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

}  // namespace

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
