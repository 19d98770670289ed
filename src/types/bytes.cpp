#include "dtypemut/types/bytes.h"

namespace dtypemut {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// -1 for what is no hex digit, whatever the locale.
int digitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Diagnostic notHex(std::string message) { return {.message = std::move(message)}; }

}  // namespace

Result<std::vector<std::byte>> bytesFromHex(std::string_view text) {
  std::vector<std::byte> bytes;
  std::size_t digits = 0;
  bool inWord = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (isSpace(text[i])) {
      inWord = false;
      continue;
    }
    const bool isPrefix = !inWord && text[i] == '0' && i + 1 < text.size() && (text[i + 1] | 0x20) == 'x';
    inWord = true;
    if (isPrefix) {
      ++i;
      continue;
    }
    const int value = digitValue(text[i]);
    if (value < 0) return notHex("byte " + std::to_string(i) + " is no hex digit");
    if (digits % 2 == 0) bytes.push_back({});
    bytes.back() = bytes.back() << 4 | static_cast<std::byte>(value);
    ++digits;
  }
  if (digits % 2 != 0) return notHex("an odd number of hex digits (" + std::to_string(digits) + ")");
  return bytes;
}

bool isHexText(std::string_view text) {
  for (char c : text)
    if (!isSpace(c) && digitValue(c) < 0 && (c | 0x20) != 'x') return false;
  return !text.empty();
}

std::string hexFromBytes(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
  }
  return text;
}

std::string hexNumber(std::uint64_t value) {
  std::string digits;
  do digits.insert(digits.begin(), kDigits[value & 0xF]);
  while ((value >>= 4) != 0);
  return "0x" + digits;
}

}  // namespace dtypemut
