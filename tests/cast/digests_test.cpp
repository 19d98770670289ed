#include "cast/digests.h"

#include <doctest/doctest.h>

using namespace dtypemut;

// A sample. All chunks: the target `exhaustive`.
TEST_CASE("golden checksums of some chunks of all float32 inputs") {
  const std::vector<golden::Stream> streams = golden::readStreams(DTYPEMUT_TESTDATA "/cast/encode_digests.json");
  CHECK(streams.size() == 20);
  for (std::size_t chunk : {0x00, 0x3E, 0x7F, 0xC1}) {
    const std::vector<std::uint32_t> inputs = golden::chunkInputs(chunk);
    for (const golden::Stream& stream : streams) {
      // Of the formats that are narrower than float32 by their exponents too, little happens elsewhere.
      const bool allExponents = stream.format == "bfloat16" || stream.format == "float32r";
      if (chunk == 0x00 && !allExponents) continue;
      CAPTURE(stream.format);
      CAPTURE(stream.config);
      CAPTURE(chunk);
      CHECK(stream.chunkCrc(inputs) == stream.chunkCrcs[chunk]);
    }
  }
}
