#include "dtypemut/io/json_text.h"

#include <locale.h>
#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>
#include <stdlib.h>

#include <array>
#include <charconv>
#include <cstdio>

namespace dtypemut {
namespace {

bool isWhitespace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::uint64_t endOfString(std::string_view text, std::uint64_t offset) {
  // Strings can be gigabytes of base64: look for the quote, then whether it is escaped.
  for (std::uint64_t at = offset + 1;; ++at) {
    at = text.find('"', at);
    std::uint64_t begin = at;
    while (text[begin - 1] == '\\') --begin;
    if ((at - begin) % 2 == 0) return at + 1;
  }
}

unsigned hexValue(std::string_view digits) {
  unsigned value = 0;
  for (char c : digits) value = value * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

void appendUtf8(std::string& text, unsigned codePoint) {
  const auto append = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (codePoint < 0x80) return append(codePoint);
  if (codePoint < 0x800) {
    append(0xC0 | codePoint >> 6);
  } else {
    if (codePoint < 0x10000) {
      append(0xE0 | codePoint >> 12);
    } else {
      append(0xF0 | codePoint >> 18);
      append(0x80 | (codePoint >> 12 & 0x3F));
    }
    append(0x80 | (codePoint >> 6 & 0x3F));
  }
  append(0x80 | (codePoint & 0x3F));
}

template <typename Float>
Float parseFloat(std::string_view spelled, Float (*fallback)(const char*, char**, locale_t)) {
  Float value = 0;
  if (std::from_chars(spelled.data(), spelled.data() + spelled.size(), value).ec == std::errc{}) return value;
  // Out of range; from_chars does not say at which end.
  static const locale_t kPlainLocale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return fallback(std::string(spelled).c_str(), nullptr, kPlainLocale);
}

}  // namespace

double parseDouble(std::string_view spelled) { return parseFloat<double>(spelled, ::strtod_l); }
float parseFloat32(std::string_view spelled) { return parseFloat<float>(spelled, ::strtof_l); }

std::uint64_t skipWhitespace(std::string_view text, std::uint64_t offset) {
  while (offset < text.size() && isWhitespace(text[offset])) ++offset;
  return offset;
}

std::uint64_t endOfValue(std::string_view text, std::uint64_t offset) {
  if (text[offset] == '"') return endOfString(text, offset);
  if (text[offset] != '{' && text[offset] != '[') {
    const std::size_t end = text.find_first_of(" \n\r\t,]}", offset);
    return end == std::string_view::npos ? text.size() : end;
  }
  std::uint64_t depth = 0;
  for (std::uint64_t at = offset;;) {
    at = text.find_first_of("\"[]{}", at);
    if (text[at] == '"') {
      at = endOfString(text, at);
      continue;
    }
    const bool opens = text[at] == '[' || text[at] == '{';
    ++at;
    if (opens) ++depth;
    if (!opens && --depth == 0) return at;
  }
}

std::string compactValue(std::string_view text, std::uint64_t offset) {
  const std::uint64_t end = endOfValue(text, offset);
  std::string compact;
  for (std::uint64_t at = skipWhitespace(text, offset); at < end; at = skipWhitespace(text, at)) {
    const std::uint64_t begin = at;
    const bool isString = text[at] == '"';
    at = isString ? endOfString(text, at) : at + 1;
    compact += text.substr(begin, at - begin);
    if (!isString && (text[begin] == ',' || text[begin] == ':')) compact += ' ';
  }
  return compact;
}

std::string_view stringContent(std::string_view text, std::uint64_t offset, std::string& buffer) {
  const std::string_view spelled = valueAt(text, offset);
  const std::string_view content = spelled.substr(1, spelled.size() - 2);
  if (content.find('\\') == std::string_view::npos) return content;
  return buffer = decodeString(spelled);
}

std::string decodeString(std::string_view spelled) {
  std::string content;
  for (std::size_t i = 1; i + 1 < spelled.size(); ++i) {
    if (spelled[i] != '\\') {
      content += spelled[i];
      continue;
    }
    const char escape = spelled[++i];
    if (escape == 'u') {
      unsigned codePoint = hexValue(spelled.substr(i + 1, 4));
      i += 4;
      if (codePoint >= 0xD800 && codePoint < 0xDC00) {
        codePoint = 0x10000 + ((codePoint - 0xD800) << 10) + (hexValue(spelled.substr(i + 3, 4)) - 0xDC00);
        i += 6;
      }
      appendUtf8(content, codePoint);
    } else {
      constexpr std::string_view kEscapes = "bfnrt";
      const std::size_t which = kEscapes.find(escape);
      content += which == std::string_view::npos ? escape : "\b\f\n\r\t"[which];
    }
  }
  return content;
}

bool isUtf8(std::string_view text) {
  struct Nowhere {
    void Put(char) {}
  } nowhere;
  rapidjson::MemoryStream stream(text.data(), text.size());
  while (stream.Tell() < text.size())
    if (!rapidjson::UTF8<>::Validate(stream, nowhere)) return false;
  return true;
}

std::string quoteString(std::string_view content) {
  std::string spelled = "\"";
  for (char c : content) {
    if (c == '"' || c == '\\') {
      spelled += '\\';
      spelled += c;
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      spelled += c;
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned char>(c));
      spelled += escape.data();
    }
  }
  return spelled += '"';
}

}  // namespace dtypemut
