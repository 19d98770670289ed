#include "dtypemut/types/bytes.h"

#include <doctest/doctest.h>

using namespace dtypemut;

TEST_CASE("hex text spells bytes in memory order") {
  for (const char* text : {"803F", "0x803f", " 80\n3F\n", "0x80 0X3F", "8 03 F", "\t803F\r\n"}) {
    const auto bytes = bytesFromHex(text);
    REQUIRE(bytes);
    CHECK(hexFromBytes(*bytes) == "803F");
    CHECK(littleEndianValue(*bytes) == 0x3F80);
    CHECK(isHexText(text));
  }
  CHECK(bytesFromHex("")->empty());
}

TEST_CASE("what is no hex text is refused, with the place") {
  const auto message = [](std::string_view text) { return bytesFromHex(text).error().begin()->message; };
  CHECK(message("80 3") == "an odd number of hex digits (3)");
  CHECK(message("80 3g") == "byte 4 is no hex digit");
  CHECK(message("800x3F") == "byte 3 is no hex digit");
  CHECK(message("80,3F") == "byte 2 is no hex digit");
  CHECK_FALSE(isHexText("80,3F"));
  CHECK_FALSE(isHexText(""));
}

TEST_CASE("numbers are as long as they have to be") {
  CHECK(hexNumber(0) == "0x0");
  CHECK(hexNumber(0x1F) == "0x1F");
  CHECK(hexNumber(~std::uint64_t{0}) == "0xFFFFFFFFFFFFFFFF");
  CHECK(littleEndianValue({}) == 0);
}
