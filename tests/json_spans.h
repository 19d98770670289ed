// Where in a valid JSON text each value stands: for comparing two texts token by token. Shares nothing with the reader
// under test.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtypemut {

struct JsonSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<JsonSpan> items = {};                            // of an array
  std::vector<std::pair<std::string, JsonSpan>> members = {};  // of an object, in order; keys decoded

  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
  /// The member of that key, or null.
  const JsonSpan* find(std::string_view key) const;
  /// As find, for a member that must be there.
  const JsonSpan& at(std::string_view key) const;
};

JsonSpan parseSpans(std::string_view text);

/// The content of a string as spelled.
std::string contentOf(std::string_view spelledString);

/// A piece of a text, and what to put in its place.
struct TextEdit {
  std::size_t begin;
  std::size_t end;
  std::string replacement;
};
/// The text with all edits made; they must not overlap.
std::string edited(std::string_view text, std::vector<TextEdit> edits);

}  // namespace dtypemut
