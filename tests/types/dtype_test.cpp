#include "dtypemut/types/dtype.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace dtypemut;

TEST_CASE("dtype names and shorthands are unique") {
  std::set<std::string> spellings;
  for (const DtypeInfo& info : kDtypes) {
    CHECK(spellings.insert(std::string(info.name)).second);
    std::string shorthands(info.shorthands);
    for (std::size_t begin = 0; begin < shorthands.size();) {
      const std::size_t end = std::min(shorthands.find(',', begin), shorthands.size());
      const std::string shorthand = shorthands.substr(begin, end - begin);
      CHECK(spellings.insert(shorthand).second);
      CHECK(dtypeFromArgument(shorthand) == info.dtype);
      CHECK_FALSE(dtypeFromName(shorthand).has_value());
      begin = end + 1;
    }
  }
}

TEST_CASE("documents spell dtypes exactly, arguments in any case") {
  CHECK(dtypeFromName("bfloat16") == Dtype::kBfloat16);
  CHECK_FALSE(dtypeFromName("BFLOAT16").has_value());
  CHECK(dtypeFromArgument("BFloat16") == Dtype::kBfloat16);
  CHECK(dtypeFromArgument("FP8E4") == Dtype::kFloat8e4);
  CHECK_FALSE(dtypeFromArgument("").has_value());
  CHECK_FALSE(dtypeFromArgument("fp8").has_value());
}

TEST_CASE("the enumerators are the rows") {
  for (std::size_t i = 0; i < kDtypeCount; ++i) CHECK(static_cast<std::size_t>(kDtypes[i].dtype) == i);
}

TEST_CASE("a dtype set holds what was put in") {
  DtypeSet set{Dtype::kFloat32, Dtype::kUint8};
  CHECK(set.contains(Dtype::kUint8));
  CHECK_FALSE(set.contains(Dtype::kInt8));
  CHECK_FALSE(set.contains(Dtype::kNone));
  CHECK(set.toString() == "uint8, float32");
  set.erase(Dtype::kUint8);
  set.erase(Dtype::kFloat32);
  CHECK(set.empty());
}
