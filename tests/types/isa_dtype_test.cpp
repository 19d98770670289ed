#include "dtypemut/types/isa_dtype.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "dtypemut/types/bytes.h"
#include "dtypemut/types/dtype.h"

using namespace dtypemut;

namespace {

std::uint8_t byte(int value) { return static_cast<std::uint8_t>(value); }

}  // namespace

// The source document says which eight codes the trees accept, and what they make of them.
TEST_CASE("the trees accept eight codes and give the rest no value at all") {
  const std::map<int, std::pair<int, std::size_t>> accepted = {{0x2, {1, 1}},  {0x3, {0, 1}}, {0x4, {2, 2}},
                                                               {0x6, {15, 2}}, {0x7, {5, 2}}, {0x8, {3, 4}},
                                                               {0xA, {6, 4}},  {0xC, {4, 8}}};
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const auto expected = accepted.find(code);
    const std::optional<ScalarType> type = isaToTorchDtype(byte(code));
    const std::optional<std::size_t> size = isaDtypeSizeof(byte(code));
    REQUIRE(type.has_value() == (expected != accepted.end()));
    REQUIRE(size.has_value() == type.has_value());
    CHECK(isaToScalarKind(byte(code)).has_value() == type.has_value());
    if (!type) continue;
    CHECK(ordinal(*type) == expected->second.first);
    CHECK(*size == expected->second.second);
    CHECK(ordinal(*type) != 42);
    CHECK(*type != ScalarType::kUndefined);
  }
}

TEST_CASE("the trees and the table agree on every byte") {
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const IsaDtypeInfo* info = isaDtypeInfo(byte(code));
    CHECK(isaToTorchDtype(byte(code)) == (info == nullptr ? std::nullopt : info->scalarType));
    CHECK(whyNoScalarType(byte(code)).empty() == isaToTorchDtype(byte(code)).has_value());
    if (!isaToTorchDtype(byte(code))) continue;
    CHECK(isaDtypeSizeof(byte(code)) == info->sizeInBytes());
    CHECK(isaToScalarKind(byte(code)) ==
          (info->family == IsaFamily::kFloat ? ScalarKind::kDouble : ScalarKind::kIntegral));
    CHECK(isaFromTorchDtype(*info->scalarType) == code);
  }
}

TEST_CASE("eight ScalarTypes come from a code, the others from none") {
  int reversible = 0;
  for (int i = 0; i <= ordinal(ScalarType::kNumOptions); ++i)
    if (isaFromTorchDtype(static_cast<ScalarType>(i))) ++reversible;
  CHECK(reversible == 8);
  CHECK_FALSE(isaFromTorchDtype(ScalarType::kUndefined).has_value());
  CHECK_FALSE(isaFromTorchDtype(ScalarType::kDouble).has_value());
}

TEST_CASE("rows are in order of their codes, with unique names") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < std::size(kIsaDtypes); ++i) {
    CHECK(names.insert(kIsaDtypes[i].name).second);
    if (i > 0) CHECK(kIsaDtypes[i - 1].code < kIsaDtypes[i].code);
  }
}

TEST_CASE("each header names as many codes as it has enumerators") {
  CHECK(isaCodes(1) == std::vector<std::uint8_t>{0x0, 0x3, 0x5, 0x6, 0x7, 0x8, 0xA, 0xC});
  for (const auto& [generation, count] : std::map<int, std::size_t>{{1, 8}, {2, 16}, {3, 16}, {4, 24}, {5, 30}}) {
    std::size_t enumerators = 0, basic = 0;
    for (int code = 0; code < 256; ++code) {
      enumerators += isaEnumerator(byte(code), byte(generation)).has_value();
      basic += isaBasicEnumerator(byte(code), byte(generation)).has_value();
    }
    CHECK(isaCodes(byte(generation)).size() == count);
    CHECK(enumerators == count);
    CHECK(basic == (generation < 4 ? 0 : 16));
  }
  CHECK(isaEnumerator(0x3, 1) == "TONGA_ISA_TPB_DTYPE_UINT8");
  CHECK_FALSE(isaEnumerator(0x2, 1).has_value());
  CHECK(isaEnumerator(0x2, 2) == "NEURON_ISA_TPB_DTYPE_INT8");
  CHECK(isaBasicEnumerator(0x2, 4) == "NEURON_ISA_TPB_DTYPE_BASIC_INT8");
}

TEST_CASE("CPTC codes carry their width in their low bits") {
  for (int code = 0; code < 256; ++code) {
    const IsaDtypeInfo* info = isaDtypeInfo(byte(code));
    CHECK(isCptc(byte(code)) == (info != nullptr && info->family == IsaFamily::kCptc));
    if (isCptc(byte(code))) CHECK(info->bits == (code & 7));
  }
  CHECK_FALSE(isCptc(0x18));
}

TEST_CASE("the compiler's dtypes agree with the codes they are sent as") {
  for (const DtypeInfo& dtype : kDtypes) {
    CAPTURE(dtype.name);
    const IsaDtypeInfo* info = isaDtypeInfo(dtype.isaCode);
    REQUIRE(info != nullptr);
    CHECK(info->firstGeneration <= dtype.firstGeneration);
    CHECK(info->bits * dtype.valuesPerContainer == 8 * dtype.containerBytes);
  }
}

TEST_CASE("a code is found by number, name and enumerator, in any case") {
  for (const char* text : {"0x6", "0X06", "6", "006", "BFLOAT16", "bfloat16", "NEURON_ISA_TPB_DTYPE_BFLOAT16",
                           "neuron_isa_tpb_dtype_basic_bfloat16", "TONGA_ISA_TPB_DTYPE_BFLOAT16"})
    CHECK(*isaCodeFromArgument(text) == 0x6);
  CHECK(*isaCodeFromArgument("0xff") == 0xFF);
  CHECK(*isaCodeFromArgument("255") == 0xFF);
  CHECK(*isaCodeFromArgument("cptc7") == 0x1F);
  for (const IsaDtypeInfo& info : kIsaDtypes) {
    CHECK(*isaCodeFromArgument(info.name) == info.code);
    CHECK(*isaCodeFromArgument(hexNumber(info.code)) == info.code);
    for (std::uint8_t generation = info.firstGeneration; generation <= kLastGeneration; ++generation)
      CHECK(*isaCodeFromArgument(*isaEnumerator(info.code, generation)) == info.code);
  }
}

TEST_CASE("anything else is wrong usage, with the nearest spelling") {
  const auto message = [](std::string_view text) {
    const Result<std::uint8_t> code = isaCodeFromArgument(text);
    REQUIRE_FALSE(code);
    CHECK(code.error().exitCode() == ExitCode::kUsage);
    return code.error().begin()->message;
  };
  const std::string_view expected = ": expected a code from 0 to 255, an ISA name or an enumerator";
  for (const char* text : {"256", "0x100", "99999999999999999999", "-1", "-0"})
    CHECK(message(text) == "code " + std::string(text) + " is out of range: expected 0 to 255 (0x0 to 0xFF)");
  for (const char* text : {"", "-", "+6", "0x", "6.0", "0x6g", " 6", "A"})
    CHECK(message(text) == "unknown ISA dtype '" + std::string(text) + "'" + std::string(expected));
  const auto suggested = [&](std::string_view text) {
    const std::string whole = message(text);
    const std::size_t begin = whole.find("did you mean '") + 14;
    return whole.substr(begin, whole.find('\'', begin) - begin);
  };
  CHECK(suggested("fp33") == "FP32");
  CHECK(suggested("bf16") == "BFLOAT16");
  CHECK(suggested("float8e5") == "FP8_EXP5");
  CHECK(suggested("NEURON_ISA_TPB_DTYPE_FP33") == "NEURON_ISA_TPB_DTYPE_FP32");
  // Names that the family's headers lack.
  CHECK(suggested("TONGA_ISA_TPB_DTYPE_INT8") == "NEURON_ISA_TPB_DTYPE_INT8");
  CHECK(suggested("NEURON_ISA_TPB_DTYPE_BASIC_CPTC1") == "NEURON_ISA_TPB_DTYPE_CPTC1");
}
