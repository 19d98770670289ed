// RFC 4648 section 4: padded, no white space, zero pad bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dtypemut {

/// The number of bytes that a text encodes, or the reason why it is not strict base64.
struct Base64Check {
  std::uint64_t bytes = 0;
  std::string error;  ///< empty when the text is sound
};
Base64Check checkBase64(std::string_view text);

/// Decodes a sound text, or a piece of one that begins and ends at multiples of four characters.
std::vector<std::byte> decodeBase64(std::string_view text);

/// Encodes; pieces of a multiple of three bytes can be put together.
std::string encodeBase64(std::span<const std::byte> bytes);

}  // namespace dtypemut
