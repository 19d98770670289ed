// Whole runs on arbitrary documents, which may refer to files beside them. Four bytes choose target, dtype and options;
// in the corpus a line end follows them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "dtypemut/commands/run.h"
#include "dtypemut/commands/verify.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/report/graph_diff.h"
#include "fuzz.h"
#include "graphs.h"
#include "properties.h"

using namespace dtypemut;

namespace {

/// Float32 weights of all magnitudes, among others; as many bytes as the header says.
std::string weightsFile() {
  const std::string floats("\0\0\x80\x3F\0\0\x80\xFF\x01\0\x80\x7F\xFF\xFF\x7F\x7F", 16);
  SafetensorsHeader header;
  header.append("w", Dtype::kFloat32, {4}, 16);
  header.append("m", Dtype::kFloat32, {2, 2}, 16);
  header.append("h", Dtype::kFloat16, {4}, 8);
  header.append("b", Dtype::kBfloat16, {2, 4}, 16);
  header.append("f", Dtype::kFloat8e4, {4}, 4);
  header.append("i", Dtype::kInt32, {1}, 4);
  header.append("none", Dtype::kFloat32, {0}, 0);
  std::string content = *writeSafetensorsHeader(header, "m.safetensors");
  for (int i = 0; i < 4; ++i) content += floats;
  return content;
}

const fuzz::Folder& folder() {
  static const fuzz::Folder kFolder({{"m.safetensors", weightsFile()},
                                     {"w.bin", std::string("\0\0\x80\x3F\0\0\x20\xC1\0\0\0\x80\xCA\xF2\x49\x71", 16)},
                                     {"sub/w.bin", std::string(64, '\x3C')},
                                     {"place/other.txt", ""}});
  return kFolder;
}

RunOptions optionsFrom(fuzz::Input& input) {
  RunOptions options;
  options.quiet = true;
  options.target = targets()[input.place('1', targets().size())];
  std::vector<Dtype> dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (options.target.requestableDtypes().contains(info.dtype)) dtypes.push_back(info.dtype);
  options.propagate.dtype = dtypes[input.place('a', dtypes.size())];

  const fuzz::Switches decisions(input.byte());
  if (decisions.has(0)) options.policy = Policy::kJoint;
  if (decisions.has(1)) options.mutateMultiUsers = true;
  if (decisions.has(2)) options.target.enableDmaCast = !options.target.enableDmaCast;
  if (decisions.has(3)) options.propagate.autoCast = AutoCast::kMatmult;
  if (decisions.has(4))
    for (const DtypeInfo& info : kDtypes)
      if (isScalarFloat(info.dtype)) options.propagate.from.insert(info.dtype);
  if (decisions.has(5)) options.propagate.foldIndirect = options.policy == Policy::kJoint;

  const fuzz::Switches writing(input.byte());
  input.byte();
  const std::string outputs = folder() / (writing.has(0) ? "place/" : "");
  options.input = folder() / "in.json";
  options.output = outputs + "out.json";
  options.stats = outputs + "stats.json";
  if (writing.has(1)) options.weights = folder() / "cast.safetensors";
  if (writing.has(2)) options.keepDeadWeights = true;
  if (writing.has(3)) options.cast.cast.saturate = false;
  if (writing.has(4)) options.cast.cast.nanSuppress = true;
  if (writing.has(5)) {
    options.remarks = outputs + "remarks";
    options.sarif = outputs + "sarif.json";
    options.audit = outputs + "audit.json";
    options.html = outputs + "page.html";
    options.dot = outputs + "graph.dot";
    options.explain = {"*"};
  }
  options.cast.threads = 1;
  return options;
}

void checkReports(const RunOptions& options) {
  const auto decisions = nlohmann::json::parse(readFile(options.stats)).at("decisions");
  std::uint64_t remarks = 0;
  std::istringstream lines(readFile(options.remarks));
  for (std::string line; std::getline(lines, line); ++remarks) {
    const nlohmann::json remark = nlohmann::json::parse(line);
    CHECK((remark.at("state") == "mismatch") == !remark.at("reason").is_null());
  }
  CHECK(remarks == decisions.at("match").get<std::uint64_t>() + decisions.at("mutated").get<std::uint64_t>() +
                       decisions.at("mismatch").get<std::uint64_t>());
  CHECK(nlohmann::json::parse(readFile(options.sarif)).at("runs").size() == 1);
  CHECK(nlohmann::json::parse(readFile(options.audit)).at("weights").is_array());
  const std::string page = readFile(options.html);
  const std::size_t data = page.find('>', page.find("id=\"data\"")) + 1;
  CHECK(nlohmann::json::parse(page.substr(data, page.find('<', data) - data)).is_object());
  CHECK(readFile(options.dot).ends_with("}\n"));
}

/// The interface is the same, and a document does not differ from itself.
void checkDiff(const RunOptions& options) {
  const graphs::Document a(readFile(options.input));
  const graphs::Document b(readFile(options.output));
  const GraphDocument before{.source = a.source, .graph = a.graph};
  const GraphDocument after{.source = b.source, .graph = b.graph};
  CHECK(diffGraphs(before, before).empty());
  const GraphDiff difference = diffGraphs(before, after);
  CHECK(difference.interface.empty());
  CHECK(difference.addedInstructions.empty());
  CHECK(difference.removedInstructions.empty());
  CHECK(diffText(difference, before, after).ends_with("\n"));
  CHECK(nlohmann::json::parse(diffJson(difference, before, after)).is_object());
}

/// Diagnostics about the document stand in it, and call it invalid JSON only if another parser does.
void checkDiagnostics(const fuzz::Log& log, const std::string& path, const std::string& document) {
  for (const std::string& line : log.diagnostics()) {
    CAPTURE(line);
    std::size_t row = 0;
    std::size_t column = 0;
    int placeSize = 0;
    if (!line.starts_with(path)) continue;
    const std::string rest = line.substr(path.size());
    if (std::sscanf(rest.c_str(), ":%zu:%zu: %n", &row, &column, &placeSize) != 2) continue;
    REQUIRE((row >= 1 && column >= 1));
    std::size_t begin = 0;
    for (std::size_t i = 1; i < row; ++i) {
      begin = document.find('\n', begin) + 1;
      REQUIRE(begin != 0);
    }
    CHECK(begin + column - 1 <= std::min(document.find('\n', begin), document.size()));
    const bool isEndedByNul = document.find('\0') != std::string::npos;  // for the other parser
    if (rest.substr(static_cast<std::size_t>(placeSize)).starts_with("error: invalid JSON: ") && !isEndedByNul)
      CHECK_FALSE(nlohmann::json::accept(document));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const RunOptions options = optionsFrom(input);
  folder().clear();
  const std::string document(input.rest());
  writeFile(options.input, document);

  fuzz::Log verified;
  const ExitCode verdict = verifyFile({.input = options.input, .target = options.target}, verified.line());
  fuzz::Log ran;
  const ExitCode exitCode = run(options, ran.line());
  CHECK(readFile(options.input) == document);
  checkDiagnostics(verified, options.input, document);
  if (exitCode != ExitCode::kDone) {
    CHECK(folder().newFiles() == std::vector<std::string>{"in.json"});
    CHECK((ran.errorCount() > 0 && ran.errorCount() <= Diagnostics::kMaxErrors));
    // All that run asks beyond verify is that no output be a file of the document's.
    CHECK(exitCode == (verdict == ExitCode::kDone ? ExitCode::kUsage : verdict));
    if (verdict != ExitCode::kDone) CHECK(ran.diagnostics() == verified.diagnostics());
    return 0;
  }
  CHECK(verdict == ExitCode::kDone);
  CHECK(ran.errorCount() == 0);
  if (!options.remarks.empty()) checkReports(options);
  checkDiff(options);
  checkResult(options);
  return 0;
}
