#include "json_spans.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dtypemut {
namespace {

class SpanParser {
 public:
  explicit SpanParser(std::string_view text) : text_(text) {}

  JsonSpan value() {
    skipSpace();
    JsonSpan span{.begin = at_};
    switch (text_[at_]) {
      case '{':
        sequence('}', [&] {
          std::string key = contentOf(value().in(text_));
          skipSpace();
          ++at_;  // the colon
          span.members.emplace_back(std::move(key), value());
        });
        break;
      case '[':
        sequence(']', [&] { span.items.push_back(value()); });
        break;
      case '"':
        for (++at_; text_[at_] != '"'; ++at_)
          if (text_[at_] == '\\') ++at_;
        ++at_;
        break;
      default:
        at_ = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
        break;
    }
    span.end = at_;
    return span;
  }

 private:
  void skipSpace() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  template <typename F>
  void sequence(char close, F&& element) {
    ++at_;
    for (skipSpace(); text_[at_] != close; skipSpace()) {
      if (text_[at_] == ',') ++at_;
      skipSpace();
      element();
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const JsonSpan* JsonSpan::find(std::string_view key) const {
  const auto member = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return member == members.end() ? nullptr : &member->second;
}

const JsonSpan& JsonSpan::at(std::string_view key) const {
  const JsonSpan* member = find(key);
  REQUIRE_MESSAGE(member != nullptr, key);
  return *member;
}

JsonSpan parseSpans(std::string_view text) { return SpanParser(text).value(); }

std::string contentOf(std::string_view spelledString) {
  return nlohmann::json::parse(spelledString).get<std::string>();
}

std::string edited(std::string_view text, std::vector<TextEdit> edits) {
  std::sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    REQUIRE(edit.begin >= at);
    result += text.substr(at, edit.begin - at);
    result += edit.replacement;
    at = edit.end;
  }
  return result += text.substr(at);
}

}  // namespace dtypemut
