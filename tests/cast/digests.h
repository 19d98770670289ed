// The golden checksums over all 2^32 float32 bit patterns, by stream and by chunk of 2^24.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "cast/golden.h"
#include "files.h"

namespace dtypemut::golden {

inline constexpr std::size_t kChunks = 256;
inline constexpr std::size_t kChunkInputs = std::size_t{1} << 24;

/// The conversion of every input to one format in one configuration.
struct Stream {
  std::string format;
  std::string config;
  std::size_t bytesPerOutput;
  std::uint32_t overallCrc;
  std::vector<std::uint32_t> chunkCrcs;

  std::uint32_t chunkCrc(std::span<const std::uint32_t> inputs) const {
    return crc(encodeAll(inputs, format, optionsOf(config)));
  }
};

inline std::vector<Stream> readStreams(const std::string& path) {
  const auto number = [](const nlohmann::json& text) {
    return static_cast<std::uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16));
  };
  const nlohmann::json document = nlohmann::json::parse(readFile(path));
  std::vector<Stream> streams;
  for (const nlohmann::json& entry : document["streams"]) {
    Stream stream{entry["format"], entry["config"], entry["bytes_per_output"], number(entry["overall_crc32"]), {}};
    for (const nlohmann::json& chunk : entry["chunk_crc32"]) stream.chunkCrcs.push_back(number(chunk));
    streams.push_back(std::move(stream));
  }
  return streams;
}

/// The bit patterns whose top byte is `chunk`.
inline std::vector<std::uint32_t> chunkInputs(std::size_t chunk) {
  std::vector<std::uint32_t> inputs(kChunkInputs);
  std::iota(inputs.begin(), inputs.end(), static_cast<std::uint32_t>(chunk << 24));
  return inputs;
}

}  // namespace dtypemut::golden
