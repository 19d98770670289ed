#include "dtypemut/io/base64.h"

#include <openssl/evp.h>

#include <array>
#include <climits>

namespace dtypemut {
namespace {

constexpr std::int8_t kNoDigit = -1;

constexpr std::array<std::int8_t, 256> kDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(kNoDigit);
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  return digits;
}();

std::int8_t digit(char c) { return kDigits[static_cast<unsigned char>(c)]; }

// EVP's lengths are ints.
constexpr std::size_t kEncodePiece = std::size_t{3} << 20;
constexpr std::size_t kDecodePiece = std::size_t{4} << 20;

std::size_t paddingOf(std::string_view text) { return text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0; }

}  // namespace

Base64Check checkBase64(std::string_view text) {
  if (text.size() % 4 != 0) return {.error = "its length is not a multiple of 4"};
  const std::size_t padding = paddingOf(text);
  const std::string_view digits = text.substr(0, text.size() - padding);
  for (std::size_t i = 0; i < digits.size(); ++i)
    if (digit(digits[i]) == kNoDigit) return {.error = "character " + std::to_string(i) + " is not of the alphabet"};
  const int unusedBits = padding == 2 ? 0xF : padding == 1 ? 0x3 : 0;
  if (padding != 0 && (digit(digits.back()) & unusedBits) != 0) return {.error = "its pad bits are not zero"};
  return {.bytes = text.size() / 4 * 3 - padding};
}

std::vector<std::byte> decodeBase64(std::string_view text) {
  // Decodes the padding to zeros, which are cut off.
  std::vector<std::byte> bytes(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += kDecodePiece) {
    const std::string_view piece = text.substr(at, kDecodePiece);
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data() + at / 4 * 3),
                    reinterpret_cast<const unsigned char*>(piece.data()), static_cast<int>(piece.size()));
  }
  bytes.resize(bytes.size() - paddingOf(text));
  return bytes;
}

std::string encodeBase64(std::span<const std::byte> bytes) {
  // EVP ends each piece with a NUL, which the next one, or resize, overwrites.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += kEncodePiece) {
    const auto piece = bytes.subspan(at, std::min(kEncodePiece, bytes.size() - at));
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + at / 3 * 4),
                    reinterpret_cast<const unsigned char*>(piece.data()), static_cast<int>(piece.size()));
  }
  text.pop_back();
  return text;
}

}  // namespace dtypemut
