#include "dtypemut/types/spelling.h"

#include <doctest/doctest.h>

#include <vector>

using namespace dtypemut;

TEST_CASE("lists are searched entry by entry") {
  CHECK(listContains("fp16,f16,half", "HALF"));
  CHECK(listContains("fp16,f16,half", "f16"));
  CHECK_FALSE(listContains("fp16,f16,half", "f1"));
  CHECK_FALSE(listContains("fp16,f16,half", ""));
  CHECK_FALSE(listContains("", ""));
}

TEST_CASE("an unknown name is met with its nearest neighbour, if there is one") {
  const std::vector<std::string_view> names = {"bfloat16", "float16", "float32", "x"};
  CHECK(nearestName("bfloat17", names) == "bfloat16");
  CHECK(nearestName("FLOAT32", names) == "float32");
  CHECK(nearestName("flaot32", names) == "float32");
  CHECK(nearestName("float23", std::vector<std::string_view>{"float8e3", "float32"}) == "float32");
  CHECK(nearestName("inptu", std::vector<std::string_view>{"output", "input"}) == "input");
  CHECK(nearestName("ipnut", std::vector<std::string_view>{"input"}) == "input");
  CHECK_FALSE(nearestName("iptun", std::vector<std::string_view>{"input"}).has_value());
  CHECK_FALSE(nearestName("int8", names).has_value());
  CHECK_FALSE(nearestName("y", names).has_value());
  CHECK_FALSE(nearestName("", names).has_value());
}
