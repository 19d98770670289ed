#include "dtypemut/report/sarif.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "dtypemut/io/ir_reader.h"
#include "dtypemut/passes/propagate.h"

using namespace dtypemut;
using Json = nlohmann::json;

namespace {

constexpr const char* kDocument =
    "{\"tensors\": [\n"
    " {\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [1], \"kind\": \"input\"},\n"
    " {\"name\": \"\xC3\xA9\", \"dtype\": \"float32\", \"shape\": [1], \"space\": \"sbuf\"},\n"
    " {\"name\": \"y\", \"dtype\": \"float32\", \"shape\": [1], \"space\": \"sbuf\"}],\n"
    " \"instructions\": [\n"
    " {\"name\": \"l\", \"op\": \"SBAtomLoad\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": \"x\"}], "
    "\"dst\": {\"tensor\": \"\xC3\xA9\"}},\n"
    " {\"name\": \"\xC3\xA9\", \"op\": \"TensorTensorOp\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": "
    "\"\xC3\xA9\"}, "
    "{\"tensor\": \"\xC3\xA9\"}], \"dst\": {\"tensor\": \"y\"}}]}\n";

/// The log of a run on kDocument, read from a file of that name.
Json logOf(const std::string& name) {
  const Source source(name, kDocument);
  ReadGraph read = readGraph(source);
  REQUIRE_FALSE(read.diagnostics.hasErrors());
  const PropagateOptions options;
  DecisionLog log{.source = source, .graph = *read.graph, .options = options};
  DTypeMutator mutator(false, *read.graph, target(Architecture::kCayman));
  propagate(mutator, options, [&](const Decision& decision) { log.decisions.push_back(decision); });
  SarifLog sarif;
  sarif.add(log);
  return Json::parse(sarif.toJson());
}

}  // namespace

TEST_CASE("a SARIF log has what the format requires") {
  const Json log = logOf("g.json");
  CHECK(log.at("version") == "2.1.0");
  REQUIRE(log.at("runs").size() == 1);
  const Json& run = log.at("runs").at(0);
  const Json& driver = run.at("tool").at("driver");
  CHECK(driver.at("name") == "dtypemut");
  REQUIRE(run.at("results").size() == 2);
  for (const Json& result : run.at("results")) {
    CHECK(result.at("message").at("text").is_string());
    CHECK(result.at("level") == "note");
    bool isDescribed = false;
    for (const Json& rule : driver.at("rules")) {
      CHECK(rule.at("shortDescription").at("text").is_string());
      isDescribed = isDescribed || rule.at("id") == result.at("ruleId");
    }
    CHECK(isDescribed);
    REQUIRE(result.at("locations").size() == 1);
    const Json& place = result.at("locations").at(0).at("physicalLocation");
    CHECK(place.at("artifactLocation").at("uri") == "g.json");
    CHECK(place.at("region").at("startLine") == 7);
  }
}

TEST_CASE("SARIF counts columns in code points, of each operand") {
  const Json log = logOf("g.json");
  CHECK(log.at("runs").at(0).at("columnKind") == "unicodeCodePoints");
  const std::string line =
      " {\"name\": \"e\", \"op\": \"TensorTensorOp\", \"dtype\": \"float32\", \"operands\": [{\"tensor\": ";
  const Json& results = log.at("runs").at(0).at("results");
  const auto columnOf = [&](std::size_t i) {
    return results.at(i).at("locations").at(0).at("physicalLocation").at("region").at("startColumn").get<std::size_t>();
  };
  CHECK(columnOf(0) == line.size() + 1);
  CHECK(columnOf(1) == line.size() + 1 + std::string("\"e\"}, {\"tensor\": ").size());
}

TEST_CASE("a path in SARIF is a URI reference") {
  const Json log = logOf("my models/100%.json");
  CHECK(log.at("runs")
            .at(0)
            .at("results")
            .at(0)
            .at("locations")
            .at(0)
            .at("physicalLocation")
            .at("artifactLocation")
            .at("uri") == "my%20models/100%25.json");
}
