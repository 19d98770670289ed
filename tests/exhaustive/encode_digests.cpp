// Casts all 2^32 float32 bit patterns to every golden format in every configuration: compares checksums, and what each
// level of the instruction set makes of them. Takes minutes; exits with the number of streams that differ.
//
//   dtypemut_exhaustive DIGESTS.json

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "cast/digests.h"
#include "cast/kernels.h"

using namespace dtypemut;

namespace {

/// Whether all levels make the same of the inputs.
bool levelsAgree(const golden::Stream& stream, const std::vector<std::uint32_t>& inputs) {
  const Dtype dtype = golden::dtypeOf(stream.format);
  const auto encode = [&](const CastLevel& level) {
    std::vector<std::byte> bytes(*byteCount(dtype, inputs.size()));
    level.kernels(dtype).encode(reinterpret_cast<const std::byte*>(inputs.data()), bytes.data(), inputs.size(),
                                golden::optionsOf(stream.config));
    return bytes;
  };
  const std::vector<CastLevel> levels = castLevels();
  const std::vector<std::byte> best = encode(levels.back());
  return std::all_of(levels.begin(), levels.end() - 1, [&](const CastLevel& level) { return encode(level) == best; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 255;
  const std::vector<golden::Stream> streams = golden::readStreams(argv[1]);
  std::vector<std::vector<std::uint32_t>> crcs(streams.size(), std::vector<std::uint32_t>(golden::kChunks));
  std::atomic<int> disagreements = 0;
  oneapi::tbb::parallel_for(std::size_t{0}, golden::kChunks, [&](std::size_t chunk) {
    const std::vector<std::uint32_t> inputs = golden::chunkInputs(chunk);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      crcs[i][chunk] = streams[i].chunkCrc(inputs);
      disagreements += !levelsAgree(streams[i], inputs);
    }
  });

  int different = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const golden::Stream& stream = streams[i];
    std::uint32_t overall = 0;
    int wrongChunks = 0;
    for (std::size_t chunk = 0; chunk < golden::kChunks; ++chunk) {
      wrongChunks += crcs[i][chunk] != stream.chunkCrcs[chunk];
      const auto bytes = static_cast<z_off_t>(golden::kChunkInputs * stream.bytesPerOutput);
      overall = static_cast<std::uint32_t>(crc32_combine(overall, crcs[i][chunk], bytes));
    }
    const bool same = wrongChunks == 0 && overall == stream.overallCrc;
    different += !same;
    std::printf("%-14s %-4s %s (%d of 256 chunks differ)\n", stream.format.c_str(), stream.config.c_str(),
                same ? "same" : "DIFFERENT", wrongChunks);
  }
  std::printf("%zu levels, which disagree about %d chunks\n", castLevels().size(), disagreements.load());
  return streams.empty() || disagreements != 0 ? 255 : different;
}
