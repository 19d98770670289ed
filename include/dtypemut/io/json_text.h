// Finding one's way in text that is already known to be valid JSON. Offsets are bytes from the start of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dtypemut {

/// The first offset at or after `offset` that holds no white space.
std::uint64_t skipWhitespace(std::string_view text, std::uint64_t offset);

/// One past the end of the value (or key) that begins at `offset`.
std::uint64_t endOfValue(std::string_view text, std::uint64_t offset);

/// The value (or key) that begins at `offset`, as spelled.
inline std::string_view valueAt(std::string_view text, std::uint64_t offset) {
  return text.substr(offset, endOfValue(text, offset) - offset);
}

/// The value that begins at `offset`, in one line: a space behind each comma and colon is all that separates its
/// tokens.
std::string compactValue(std::string_view text, std::uint64_t offset);

/// The content of the string that begins at `offset`; `buffer` keeps it where it is spelled with escapes.
std::string_view stringContent(std::string_view text, std::uint64_t offset, std::string& buffer);

/// The content of a string as spelled, quotes included.
std::string decodeString(std::string_view spelled);

/// Whether a text could stand in a JSON string.
bool isUtf8(std::string_view text);

/// A JSON string with that content, which must be UTF-8, in ASCII escapes only where JSON asks for them.
std::string quoteString(std::string_view content);

/// The nearest double or float to a number as JSON spells it, whatever the locale; infinite beyond the largest.
double parseDouble(std::string_view spelled);
float parseFloat32(std::string_view spelled);

struct JsonMember {
  std::uint64_t key;    ///< where the key begins
  std::uint64_t value;  ///< where the value begins
};

/// Calls `f` with each member of the object that begins at `offset`, until it returns false.
template <typename F>
void forEachMember(std::string_view text, std::uint64_t offset, F&& f) {
  std::uint64_t at = skipWhitespace(text, offset + 1);
  while (text[at] != '}') {
    const std::uint64_t colon = skipWhitespace(text, endOfValue(text, at));
    const JsonMember member{.key = at, .value = skipWhitespace(text, colon + 1)};
    if (!f(member)) return;
    at = skipWhitespace(text, endOfValue(text, member.value));
    if (text[at] == ',') at = skipWhitespace(text, at + 1);
  }
}

/// Calls `f` with the offset of each element of the array that begins at `offset`, until it returns false.
template <typename F>
void forEachElement(std::string_view text, std::uint64_t offset, F&& f) {
  std::uint64_t at = skipWhitespace(text, offset + 1);
  while (text[at] != ']') {
    if (!f(at)) return;
    at = skipWhitespace(text, endOfValue(text, at));
    if (text[at] == ',') at = skipWhitespace(text, at + 1);
  }
}

}  // namespace dtypemut
