// The JSON text of a safetensors header. Private to io/safetensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dtypemut/io/safetensors.h"

namespace dtypemut {

inline constexpr std::string_view kMetadataKey = "__metadata__";

/// Reads the text of a header, which begins at `offset` of its file; why it is refused, or empty. Whether the tensors
/// agree with the data section is left to the caller.
std::string parseSafetensorsHeader(std::string_view text, std::uint64_t offset, SafetensorsHeader& header);

}  // namespace dtypemut
