#include "dtypemut/cast/small_float.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cast/golden.h"
#include "files.h"

using namespace dtypemut;

namespace {

struct NamedFormat {
  const char* name;
  SmallFloatFormat format;
};

constexpr NamedFormat kFormats[] = {
    {"bfloat16", kBfloat16Format},          {"float16", kFloat16Format},        {"float32r", kFloat32rFormat},
    {"float8e5", kFloat8e5Format},          {"float8e4", kFloat8e4Format},      {"float8e3", kFloat8e3Format},
    {"float8_e4m3fn", kFloat8E4m3fnFormat}, {"float4_e2m1", kFloat4E2m1Format},
};

nlohmann::json decodeTables() { return nlohmann::json::parse(readFile(DTYPEMUT_TESTDATA "/cast/decode_tables.json")); }

float decodeCode(const std::string& format, std::uint8_t code) {
  if (format != "float4_e2m1") return decodeFloat(golden::dtypeOf(format), reinterpret_cast<const std::byte*>(&code));
  std::uint32_t bits[4];
  const std::byte pairs[2] = {std::byte{code}, std::byte{0}};
  decodeValues(Dtype::kFloat4E2m1X4, pairs, bits);
  return std::bit_cast<float>(bits[0]);
}

}  // namespace

TEST_CASE("the codes of a format agree with its widths") {
  for (const auto& [name, format] : kFormats) {
    CAPTURE(name);
    const unsigned codeBits = format.exponentBits + format.mantissaBits;
    CHECK(format.containerShift + codeBits + 1 <= format.containerBits);
    CHECK(format.infinity == format.maxFinite + 1);
    CHECK(format.nan < (1u << codeBits));
    CHECK((format.overflow == format.infinity || format.overflow == format.maxFinite));
  }
}

TEST_CASE("golden single conversions") {
  std::istringstream lines(readFile(DTYPEMUT_TESTDATA "/cast/encode_cases.csv"));
  std::string line;
  std::getline(lines, line);
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string format, config, input, expected;
    std::getline(fields, format, ',');
    std::getline(fields, config, ',');
    std::getline(fields, input, ',');
    std::getline(fields, expected, ',');
    const std::vector<std::uint32_t> bits(4, static_cast<std::uint32_t>(std::stoul(input, nullptr, 16)));
    const std::vector<std::byte> bytes = golden::encodeAll(bits, format, golden::optionsOf(config));
    std::uint32_t code = 0;
    for (std::size_t i = bytes.size() / 4; i-- > 0;) code = code << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    if (code != std::stoul(expected, nullptr, 16)) FAIL_CHECK(line << ": got " << std::hex << code);
    ++count;
  }
  CHECK(count == 3774);
}

TEST_CASE("every code of the formats of at most eight bits decodes to its value") {
  const nlohmann::json tables = decodeTables()["tables"];
  for (const auto& [format, values] : tables.items()) {
    for (std::size_t code = 0; code < values.size(); ++code) {
      const float expected = std::strtof(values[code].get<std::string>().c_str(), nullptr);
      const float decoded = decodeCode(format, static_cast<std::uint8_t>(code));
      const bool same = std::isnan(expected)
                            ? std::isnan(decoded)
                            : std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(decoded);
      if (!same) FAIL_CHECK(format << " code " << code << ": " << decoded << " instead of " << expected);
    }
  }
}

TEST_CASE("all codes of the 16-bit formats, decoded, have the golden checksum and encode to themselves") {
  std::vector<std::byte> codes(2 * 65536);
  for (std::size_t code = 0; code < 65536; ++code) {
    codes[2 * code] = static_cast<std::byte>(code);
    codes[2 * code + 1] = static_cast<std::byte>(code >> 8);
  }
  const nlohmann::json checksums = decodeTables()["crc32_of_decoded_float32"];
  for (const auto& [format, checksum] : checksums.items()) {
    CAPTURE(format);
    const Dtype dtype = golden::dtypeOf(format);
    std::vector<std::byte> floats(4 * 65536);
    castBytes(dtype, codes, Dtype::kFloat32, floats);
    CHECK(golden::crc(floats) == std::stoul(checksum.get<std::string>(), nullptr, 16));

    std::vector<std::byte> again(codes.size());
    castBytes(Dtype::kFloat32, floats, dtype, again);
    const std::uint32_t infinity = dtype == Dtype::kBfloat16 ? 0x7F80 : 0x7C00;
    std::size_t different = 0;
    for (std::size_t code = 0; code < 65536; ++code) {
      std::uint32_t expected = static_cast<std::uint32_t>(code);
      if ((code & 0x7FFF) > infinity) expected = dtype == Dtype::kBfloat16 ? 0x7FC0 : (code & 0x8000) | 0x7E00;
      const auto low = std::to_integer<std::uint32_t>(again[2 * code]);
      const auto high = std::to_integer<std::uint32_t>(again[2 * code + 1]);
      if ((high << 8 | low) != expected) ++different;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("a signalling NaN of float16 stays one when it is decoded") {
  const std::byte signalling[] = {std::byte{0x01}, std::byte{0xFC}};
  CHECK(decodeElement(Dtype::kFloat16, signalling) == 0xFF802000);
}
