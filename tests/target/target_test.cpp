#include "dtypemut/target/target.h"

#include <doctest/doctest.h>

using namespace dtypemut;

TEST_CASE("targets are found by every name and alias, in any case") {
  for (const char* name : {"tonga", "inf1", "V1"}) CHECK(targetFromArgument(name)->generation == 1);
  for (const char* name : {"sunda", "TRN1", "inf2", "v2"}) CHECK(targetFromArgument(name)->generation == 2);
  for (const char* name : {"Cayman", "trn2", "v3"}) CHECK(targetFromArgument(name)->generation == 3);
  for (const char* name : {"mariana", "trn3", "v4"}) CHECK(targetFromArgument(name)->generation == 4);
  for (const char* name : {"maverick", "trn4", "v5"}) CHECK(targetFromArgument(name)->generation == 5);
  CHECK_FALSE(targetFromArgument("trn5").has_value());
}

TEST_CASE("only tonga's DMA carries no casts") {
  for (const Target& row : targets()) CHECK(row.enableDmaCast == (row.architecture != Architecture::kTonga));
}

TEST_CASE("legal matmul operand dtypes, generation by generation") {
  CHECK(target(Architecture::kTonga).matmulDtypes.toString() == "uint8, bfloat16, float16, float32");
  const auto sunda = "uint8, int8, float8e3, float8e4, float8e5, bfloat16, float16, float32, float32r";
  CHECK(target(Architecture::kSunda).matmulDtypes.toString() == sunda);
  CHECK(target(Architecture::kCayman).matmulDtypes.toString() == sunda);
  const auto mariana =
      "uint8, int8, float8e3, float8e4, float8_e4m3fn, float8e5, float8_e4m3fn_x4, float8_e5m2_x4, bfloat16, float16, "
      "float32, float32r";
  CHECK(target(Architecture::kMariana).matmulDtypes.toString() == mariana);
  CHECK(target(Architecture::kMaverick).matmulDtypes.toString() == mariana);
}

TEST_CASE("a generation without a dtype cannot be asked for it") {
  CHECK(target(Architecture::kTonga).requestableDtypes().toString() == "bfloat16, float16, float32");
  CHECK(target(Architecture::kCayman).requestableDtypes().toString() ==
        "float8e3, float8e4, float8e5, bfloat16, float16, float32, float32r");
  CHECK(target(Architecture::kMariana).requestableDtypes().contains(Dtype::kFloat8E4m3fn));
}
