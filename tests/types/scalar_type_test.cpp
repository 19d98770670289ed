#include "dtypemut/types/scalar_type.h"

#include <doctest/doctest.h>

using namespace dtypemut;

TEST_CASE("a ScalarType is found by its name in any case, and by its ordinal") {
  for (int i = 0; i <= 19; ++i) {
    const auto type = static_cast<ScalarType>(i);
    CHECK(*scalarTypeFromArgument(scalarTypeName(type)) == type);
    CHECK(*scalarTypeFromArgument(std::to_string(i)) == type);
  }
  CHECK(*scalarTypeFromArgument("bfloat16") == ScalarType::kBFloat16);
  CHECK(nameAndOrdinal(ScalarType::kQUInt2x4) == "QUInt2x4 (17)");
}

TEST_CASE("anything else is wrong usage, with the nearest name") {
  for (const char* text : {"20", "-1", "06", "0x6", "", "float32"}) {
    const auto type = scalarTypeFromArgument(text);
    REQUIRE_FALSE(type);
    CHECK(type.error().exitCode() == ExitCode::kUsage);
  }
  CHECK(scalarTypeFromArgument("Bfloat").error().begin()->message ==
        "unknown ScalarType 'Bfloat': expected a name or an ordinal from 0 to 19 (did you mean 'Float'?)");
}
