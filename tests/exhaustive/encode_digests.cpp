// Casts all 2^32 float32 bit patterns to every golden format in every configuration and compares checksums. Takes
// minutes; exits with the number of streams that differ.
//
//   dtypemut_exhaustive DIGESTS.json

#include <oneapi/tbb/parallel_for.h>

#include <cstdio>

#include "cast/digests.h"

using namespace dtypemut;

int main(int argc, char** argv) {
  if (argc != 2) return 255;
  const std::vector<golden::Stream> streams = golden::readStreams(argv[1]);
  std::vector<std::vector<std::uint32_t>> crcs(streams.size(), std::vector<std::uint32_t>(golden::kChunks));
  oneapi::tbb::parallel_for(std::size_t{0}, golden::kChunks, [&](std::size_t chunk) {
    const std::vector<std::uint32_t> inputs = golden::chunkInputs(chunk);
    for (std::size_t i = 0; i < streams.size(); ++i) crcs[i][chunk] = streams[i].chunkCrc(inputs);
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
  return streams.empty() ? 255 : different;
}
