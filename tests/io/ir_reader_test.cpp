// Large documents are read by several threads. Whatever a document holds, that must not show.
#include "dtypemut/io/ir_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "files.h"
#include "generator.h"
#include "graphs.h"
#include "malformed.h"
#include "reading.h"

using namespace dtypemut;
using namespace dtypemut::graphs;

namespace {

void checkReading(const std::string& text) {
  const Source source("g.json", enlarged(text));
  const std::string alone = described(source, 1);
  CHECK(described(source, 2) == alone);
  CHECK(described(source, 0) == alone);
}

const std::string kTensors = "\"tensors\": [" + input("a") + "," + sbuf("b") + "," + splat("w") + "]";
const std::string kInstructions =
    "\"instructions\": [" + op("l", "SBAtomLoad", "a", "b") + "," + op("o", "Odd", "@l w:int32 #1", "") + "]";

}  // namespace

TEST_CASE("a large document is what several threads read, wherever its lists stand") {
  const std::string decoy = R"("extra": {"instructions": [1], "tensors" : ["instructions"]})";
  const std::string escaped = "\"t\\u0065nsors\"" + kTensors.substr(kTensors.find(':'));
  for (const std::string& text : {
           "{" + kTensors + "," + kInstructions + "}",
           "{" + kInstructions + "," + kTensors + "}",
           "{\"version\": 1," + kTensors + ", \"name\": \"instructions\", " + kInstructions + ", \"more\": []}\n",
           "{" + decoy + "," + kTensors + "," + kInstructions + "}",
           "{" + kTensors + "," + decoy + "," + kInstructions + "}",
           "{" + kTensors + "," + kInstructions + "," + decoy + "}",
           "{" + escaped + "," + kInstructions + "}",
           "{" + kInstructions + "," + escaped + "}",
           "{" + kTensors + ",\"\xC3\xA4\": \"\xE2\x82\xAC\"," + kInstructions + "}",
       }) {
    CAPTURE(text);
    const Source source("g.json", enlarged(text));
    const ReadGraph read = readGraph(source, 2);
    CHECK(errorText(read.diagnostics, source) == "");
    REQUIRE(read.graph);
    CHECK(read.graph->tensorCount() == 3);
    CHECK(read.graph->instructionCount() == 2);
    CHECK(read.graph->nLoads(read.graph->findTensor("w")) == 1);
    CHECK(read.graph->users(read.graph->findInstruction("l")) == 1);
    checkReading(text);
  }
}

TEST_CASE("what is wrong with a large document is said as if one thread had read it") {
  for (const std::string& text : {
           std::string(),
           std::string("["),
           std::string("[]"),
           std::string("{}"),
           "{" + kTensors + "}",
           "{" + kInstructions + "}",
           "{" + kTensors + "," + kInstructions,
           "{" + kTensors + "," + kInstructions + "]",
           "{" + kTensors + "," + kInstructions + "} {",
           "{" + kTensors + "," + kInstructions + ",}",
           "{" + kTensors + " " + kInstructions + "}",
           "{" + kTensors + "}," + kInstructions + "}",
           "{\"name\": 1," + kTensors + "," + kInstructions + "}",
           "{" + kTensors + "," + kInstructions + ",\"version\": 2}",
           "{\"version\": 1," + kTensors + "," + kInstructions + ",\"version\": 1}",
           "{\"x\": 1," + kTensors + "," + kInstructions + ",\"x\": 1}",
           "{\"x\": 1," + kTensors + "," + kInstructions + ",\"\\u0078\": 1}",
           "{" + kTensors + "," + kInstructions + "," + kTensors + "}",
           "{" + kTensors + "," + kInstructions + "," + kInstructions + "}",
           "{\"tensors\": [1, {}]," + kInstructions + "}",
           "{" + kTensors + ",\"instructions\": [1, {}]}",
           "{\"tensors\": {}," + kInstructions + "}",
           "{" + kTensors + ",\"instructions\": 1}",
           "{\"tensors\": [" + input("a") + "," + input("a") + "]," + kInstructions + "}",
           "{" + kTensors + ",\"instructions\": [" + op("l", "SBAtomLoad", "a", "b") + "," +
               op("l", "SBAtomLoad", "c", "d") + "," + op("m", "ActivationOp", "@n @m @l", "b") + "]}",
       }) {
    CAPTURE(text);
    CHECK(described(Source("g.json", enlarged(text)), 2).find("error") != std::string::npos);
    checkReading(text);
  }
}

TEST_CASE("names that two nodes have are reported also where the document breaks off") {
  const std::string text = "{\"tensors\": [" + input("a") + "," + input("a") + "], \"instructions\": [}";
  for (const std::string& document : {text, enlarged(text)}) {
    const Source source("g.json", document);
    const std::string found = errorText(readGraph(source).diagnostics, source);
    CHECK(found.find("another tensor has this name") != std::string::npos);
    CHECK(found.find("invalid JSON") != std::string::npos);
  }
}

TEST_CASE("more is wrong with a large document than is said") {
  std::vector<std::string> tensors = {input("a")};
  std::vector<std::string> instructions;
  for (int i = 0; i < 30; ++i) instructions.push_back(op("i" + std::to_string(i), "ActivationOp", "a x", "y"));
  checkReading(document(tensors, instructions));
  for (int i = 0; i < 15; ++i) tensors.push_back(input("a"));
  checkReading(document(tensors, instructions));
  for (int i = 0; i < 15; ++i) tensors.push_back(input("a", "float33"));
  checkReading(document(tensors, instructions));
}

TEST_CASE("several threads resolve many references as one does") {
  std::vector<std::string> tensors = {input("t0")};
  std::vector<std::string> instructions;
  for (int i = 1; i <= 30'000; ++i) {
    const std::string number = std::to_string(i);
    tensors.push_back(sbuf("t" + number));
    const std::string before = i % 3 == 0 ? "@i" + std::to_string(i - 1) : "t" + std::to_string(i * 7 % i);
    instructions.push_back(op("i" + number, "ActivationOp", before + (i % 9'000 == 0 ? " lost" : ""), "t" + number));
  }
  checkReading(document(tensors, instructions));
}

TEST_CASE("malformed documents, enlarged") {
  for (const auto& entry : std::filesystem::directory_iterator(DTYPEMUT_TESTDATA "/malformed"))
    for (const malformed::Case& example : malformed::parseTable(readFile(entry.path())).cases) {
      CAPTURE(example.name);
      checkReading(malformed::documentOf(example));
    }
}

TEST_CASE("generated documents, enlarged") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    checkReading(generateDocument(seed, {.target = target(Architecture::kCayman)}));
  }
}
