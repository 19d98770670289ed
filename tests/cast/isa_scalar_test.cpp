#include "dtypemut/cast/isa_scalar.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "dtypemut/types/bytes.h"

using namespace dtypemut;

namespace {

ScalarValue scalar(std::uint8_t code, std::string_view hex) { return *isaToScalar(code, *bytesFromHex(hex)); }
double number(std::uint8_t code, std::string_view hex) { return std::get<double>(scalar(code, hex)); }
std::int64_t integer(std::uint8_t code, std::string_view hex) { return std::get<std::int64_t>(scalar(code, hex)); }

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the float family becomes a double, exactly") {
  CHECK(number(0x6, "803F") == 1.0);
  CHECK(number(0x6, "0100") == std::ldexp(1.0, -133));  // the smallest subnormal
  CHECK(number(0x6, "7F00") == std::ldexp(127.0, -133));
  CHECK(number(0x6, "7F7F") == std::ldexp(255.0, 120));  // max finite
  CHECK(number(0x6, "807F") == kInf);
  CHECK(number(0x6, "80FF") == -kInf);
  CHECK(std::isnan(number(0x6, "817F")));
  CHECK(number(0x7, "003C") == 1.0);
  CHECK(number(0x7, "0100") == std::ldexp(1.0, -24));
  CHECK(number(0x7, "FF83") == -std::ldexp(1023.0, -24));
  CHECK(number(0x7, "FF7B") == 65504.0);
  CHECK(number(0x7, "00FC") == -kInf);
  CHECK(std::isnan(number(0x7, "017C")));
  CHECK(number(0xA, "01000000") == std::ldexp(1.0, -149));
  CHECK(number(0xA, "CDCCCC3D") == double{0.1f});
  CHECK(std::isnan(number(0xA, "0100807F")));
  for (const auto& [code, minusZero] : {std::pair{0x6, "0080"}, {0x7, "0080"}, {0xA, "00000080"}}) {
    CHECK(number(static_cast<std::uint8_t>(code), minusZero) == 0.0);
    CHECK(std::signbit(number(static_cast<std::uint8_t>(code), minusZero)));
  }
}

TEST_CASE("the integral family keeps its sign, or has none") {
  CHECK(integer(0x2, "FF") == -1);
  CHECK(integer(0x2, "7F") == 127);
  CHECK(integer(0x3, "FF") == 255);
  CHECK(integer(0x4, "0080") == -32768);
  CHECK(integer(0x8, "FFFFFF7F") == 2147483647);
  CHECK(integer(0x8, "00000080") == -2147483648LL);
  CHECK(integer(0xC, "0000000000000080") == std::numeric_limits<std::int64_t>::min());
  CHECK(integer(0xC, "0100000000002000") == (std::int64_t{1} << 53) + 1);
}

TEST_CASE("a code without a ScalarType has no scalar either") {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const std::vector<std::byte> element(isaDtypeSizeof(byte).value_or(0));
    const std::optional<ScalarValue> value = isaToScalar(byte, element);
    CHECK(value.has_value() == isaToTorchDtype(byte).has_value());
    if (value) CHECK((value->index() == 0) == (isaToScalarKind(byte) == ScalarKind::kDouble));
  }
}
