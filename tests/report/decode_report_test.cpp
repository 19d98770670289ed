#include "dtypemut/report/decode_report.h"

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "dtypemut/types/bytes.h"
#include "files.h"

using namespace dtypemut;
using Json = nlohmann::json;

namespace {

std::vector<std::uint8_t> allBytes() {
  std::vector<std::uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  return codes;
}

/// Null and every target: what --target can be.
std::vector<const Target*> targetsOrNone() {
  std::vector<const Target*> rows = {nullptr};
  for (const Target& row : targets()) rows.push_back(&row);
  return rows;
}

std::uint8_t generationOf(const Target* target) { return target == nullptr ? kLastGeneration : target->generation; }

/// The cells of each line, which stand two or more spaces apart.
std::vector<std::vector<std::string>> cellsOf(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    for (std::size_t begin = line.find_first_not_of(' '); begin < line.size();) {
      const std::size_t end = std::min(line.find("  ", begin), line.size());
      rows.back().push_back(line.substr(begin, end - begin));
      begin = line.find_first_not_of(' ', end);
    }
  }
  return rows;
}

/// A JSON value as a table spells it.
std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Json orNull(const std::optional<std::size_t>& value) { return value ? Json(*value) : Json(); }

}  // namespace

TEST_CASE("the JSON of every byte says what the library functions say") {
  for (const Target* target : targetsOrNone()) {
    const Json rows = Json::parse(isaCodesJson(allBytes(), target));
    REQUIRE(rows.size() == 256);
    for (const std::uint8_t code : allBytes()) {
      CAPTURE(+code);
      const Json& row = rows[code];
      const std::optional<ScalarType> type = isaToTorchDtype(code);
      CHECK(row["code"] == code);
      CHECK(row["hex"] == hexNumber(code));
      CHECK(row["scalar_type"] == (type ? Json(scalarTypeName(*type)) : Json()));
      CHECK(row["ordinal"] == (type ? Json(ordinal(*type)) : Json()));
      CHECK(row["wrapper_size"] == orNull(isaDtypeSizeof(code)));
      CHECK(row["wrapper"] == (type ? "maps" : "aborts"));
      CHECK(row.contains("reason") != type.has_value());
      const IsaDtypeInfo* info = isaDtypeInfo(code);
      CHECK(row["name"] == (info != nullptr ? Json(info->name) : Json()));
      CHECK(row["isa_size"] == (info != nullptr ? orNull(info->sizeInBytes()) : Json()));
      CHECK(row["enumerator"].is_null() != isaEnumerator(code, generationOf(target)).has_value());
      if (target != nullptr) CHECK(row["in_header"] == !row["enumerator"].is_null());
    }
  }
}

TEST_CASE("the table has the codes of the header, and says what the JSON says") {
  for (const Target* target : targetsOrNone()) {
    const std::vector<std::uint8_t> codes = isaCodes(generationOf(target));
    const Json rows = Json::parse(isaCodesJson(codes, target));
    const auto table = cellsOf(isaTableText(codes, target));
    REQUIRE(table.size() == codes.size() + 1);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const Json& row = rows[i];
      CHECK(table[i + 1] == std::vector<std::string>{cell(row["hex"]), cell(row["name"]), cell(row["bits"]),
                                                     cell(row["family"]), cell(row["role"]),
                                                     "v" + cell(row["first_generation"]), cell(row["isa_size"]),
                                                     cell(row["wrapper_size"]), cell(row["scalar_type"]),
                                                     cell(row["ordinal"]), cell(row["wrapper"]), cell(row["basic"]),
                                                     cell(row["cptc_bits"]), cell(row["enumerator"])});
    }
  }
}

TEST_CASE("the short columns and the words of --field say the same again") {
  const auto table = cellsOf(isaCodesText(allBytes(), nullptr));
  std::vector<std::vector<std::string>> expected = {{"code", "name", "size", "ScalarType", "ordinal"}};
  for (const std::uint8_t code : allBytes()) {
    CHECK(isaFieldWord(code, "scalar-type").has_value() == isaToTorchDtype(code).has_value());
    CHECK(isaFieldWord(code, "ordinal").has_value() == isaToTorchDtype(code).has_value());
    CHECK(isaFieldWord(code, "name").has_value() == (isaDtypeInfo(code) != nullptr));
    if (!isaToTorchDtype(code)) continue;
    expected.push_back({hexNumber(code)});
    for (const std::string_view field : kIsaFields) expected.back().push_back(*isaFieldWord(code, field));
  }
  CHECK(table == expected);
}

TEST_CASE("each code without a ScalarType fails at :37 with a reason, and only there") {
  for (const std::uint8_t code : allBytes()) {
    const std::vector<Gate> gates = {supportedDtypeGate(code), dtypeMatchGate(code, ScalarType::kUndefined)};
    const std::vector<Diagnostic> failures = gateFailures(gates, code, nullptr);
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].exitCode == ExitCode::kNo);
    const std::string place = isaToTorchDtype(code) ? "utypes.hpp:65 " : "utypes.hpp:37 0: ";
    CHECK(failures[0].message.starts_with(isaCodeAndName(code) + ": " + place));
    CHECK_FALSE(failures[0].message.ends_with(": "));
  }
}

TEST_CASE("--reverse inverts the tree for every ScalarType") {
  for (int i = 0; i <= ordinal(ScalarType::kNumOptions); ++i) {
    const auto type = static_cast<ScalarType>(i);
    const Json json = Json::parse(reverseJson(type, nullptr));
    CHECK(json["ordinal"] == i);
    CHECK(json["scalar_type"] == scalarTypeName(type));
    CHECK(json["code"].is_null() == json.contains("reason"));
    if (!json["code"].is_null()) CHECK(isaToTorchDtype(json["code"].get<std::uint8_t>()) == type);
  }
}

TEST_CASE("a printed double reads back exactly, and shows that it is one") {
  for (const std::uint8_t code : std::initializer_list<std::uint8_t>{0x6, 0x7}) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const std::byte element[] = {static_cast<std::byte>(bits & 0xFF), static_cast<std::byte>(bits >> 8)};
      const double value = std::get<double>(*isaToScalar(code, element));
      const std::string text = scalarText(value);
      const Json json = Json::parse(scalarJson(code, element, value, {}, {}));
      if (!std::isfinite(value)) {
        REQUIRE(text == (std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"));
        REQUIRE(json["value"] == text);
        continue;
      }
      double back = 0;
      const char* end = text.data() + text.size();
      REQUIRE(std::from_chars(text.data(), end, back).ptr == end);
      REQUIRE(back == value);
      REQUIRE(std::signbit(back) == std::signbit(value));
      REQUIRE(text.find_first_of(".e") != std::string::npos);
      REQUIRE(json["value"].get<double>() == value);
    }
  }
  CHECK(scalarText(std::int64_t{-9007199254740993}) == "-9007199254740993");
}

TEST_CASE("the README's table of codes is the one that decode knows") {
  std::string expected =
      "<!-- isa-table -->\n"
      "| code | ISA name | bits | family | role | since | ISA size | wrapper size | ScalarType | why none |\n"
      "|---:|---|---:|---|---|---|---:|---:|---|---|\n";
  for (const Json& row : Json::parse(isaCodesJson(isaCodes(kLastGeneration), nullptr))) {
    std::string type = "-";
    if (!row["ordinal"].is_null()) type = cell(row["scalar_type"]) + " (" + cell(row["ordinal"]) + ")";
    expected += "| " + cell(row["hex"]) + " | " + cell(row["name"]) + " | " + cell(row["bits"]) + " | " +
                cell(row["family"]) + " | " + cell(row["role"]) + " | v" + cell(row["first_generation"]) + " | " +
                cell(row["isa_size"]) + " | " + cell(row["wrapper_size"]) + " | " + type + " | " +
                row.value("reason", "") + " |\n";
  }
  expected += "<!-- /isa-table -->\n";
  const std::string readme = readFile(DTYPEMUT_TESTDATA "/../README.md");
  CHECK_MESSAGE(readme.find(expected) != std::string::npos, "README.md does not hold this table:\n" << expected);
}
