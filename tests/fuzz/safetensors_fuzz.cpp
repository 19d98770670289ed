// Safetensors files with arbitrary headers, arbitrary files, and indices of checkpoints: read and cast. Three bytes
// choose dtype, options, and how much data stands behind a header; in the corpus a line end follows them.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/commands/cast.h"
#include "dtypemut/io/checkpoint.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/types/bytes.h"
#include "fuzz.h"

using namespace dtypemut;

namespace {

constexpr std::size_t kLengthBytes = 8;
const std::string kIndexName = "m.safetensors.index.json";
const std::string kExcluded = "*w*";

/// Bytes that are floats of all magnitudes in every format.
std::string someBytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 0x9D + (i >> 3));
  return bytes;
}

std::string fileOf(std::string_view header, std::size_t dataBytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(header.size() >> shift);
  return file.append(header) + someBytes(dataBytes);
}

const fuzz::Folder& folder() {
  static const fuzz::Folder kFolder(
      {{"a.safetensors", fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8)},
       {"b.safetensors", fileOf(R"({"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                                R"("c":{"dtype":"I8","shape":[3],"data_offsets":[4,7]}})",
                                7)},
       {"out/other.txt", ""}});
  return kFolder;
}

std::string dataOf(const SafetensorsFile& file, const SafetensorsTensor& tensor) {
  std::string bytes(tensor.byteSize(), '\0');
  REQUIRE(file.file().read(file.offset(tensor), std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

/// Compares a header that was accepted with what another JSON parser finds in the file.
void checkHeader(const SafetensorsFile& file, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return;  // it limits the numbers of members that the format does not know
  const SafetensorsHeader& header = file.header();
  CHECK(json.size() == header.tensors.size() + (header.metadata ? 1 : 0));
  for (const SafetensorsTensor& tensor : header.tensors) {
    const nlohmann::json& entry = json.at(tensor.name);
    CHECK(entry.at("dtype") == tensor.dtypeCode);
    CHECK(entry.at("shape").get<std::vector<std::uint64_t>>() == tensor.shape);
    CHECK(entry.at("data_offsets") == nlohmann::json{tensor.begin, tensor.end});
    CHECK(file.find(tensor.name) == &tensor);
  }
  for (const auto& entry : header.metadata.value_or(SafetensorsHeader::Metadata{}))
    CHECK(json.at("__metadata__").at(entry.first) == entry.second);
}

/// The tensors cover the data section, each byte once.
void checkCoverage(const SafetensorsFile& file, std::size_t dataBytes) {
  std::vector<int> owners(dataBytes);
  for (const SafetensorsTensor& tensor : file.header().tensors) {
    REQUIRE(tensor.begin <= tensor.end);
    REQUIRE(tensor.end <= dataBytes);
    for (std::uint64_t i = tensor.begin; i < tensor.end; ++i) ++owners[i];
    if (const std::optional<Dtype> dtype = file.dtype(tensor)) {
      std::uint64_t elements = 1;
      for (const std::uint64_t dimension : tensor.shape) elements *= dimension;
      CHECK(tensor.byteSize() == elements * containerBytes(*dtype));
    }
  }
  CHECK(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
}

/// Whether the cast is to change the tensor.
bool isCast(const SafetensorsTensor& tensor, const std::optional<Dtype>& dtype, const CastFilesOptions& options) {
  const bool isExcluded = !options.exclude.empty() && tensor.name.find('w') != std::string::npos;
  return dtype && *dtype != options.dtype && options.from.contains(*dtype) && !isExcluded;
}

void checkCast(const SafetensorsFile& before, const SafetensorsFile& after, const CastFilesOptions& options) {
  REQUIRE(after.header().tensors.size() == before.header().tensors.size());
  for (std::size_t i = 0; i < before.header().tensors.size(); ++i) {
    const SafetensorsTensor& was = before.header().tensors[i];
    const SafetensorsTensor& is = after.header().tensors[i];
    CHECK(is.name == was.name);
    CHECK(is.shape == was.shape);
    CHECK(is.otherMembers == was.otherMembers);
    const std::string data = dataOf(before, was);
    std::string expected = data;
    if (const std::optional<Dtype> dtype = before.dtype(was); isCast(was, dtype, options)) {
      expected.resize(*castSize(*dtype, options.dtype, data.size()));
      castBytes(*dtype, std::as_bytes(std::span(data)), options.dtype, std::as_writable_bytes(std::span(expected)),
                options.cast);
      CHECK(is.dtypeCode == safetensorsCode(options.dtype));
    } else {
      CHECK(is.dtypeCode == was.dtypeCode);
    }
    CHECK(dataOf(after, is) == expected);
  }
  const auto kept = [](const SafetensorsHeader& header) {
    SafetensorsHeader::Metadata metadata = header.metadata.value_or(SafetensorsHeader::Metadata{});
    std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with("dtypemut.dtype."); });
    return metadata;
  };
  CHECK(kept(after.header()) == kept(before.header()));
}

/// The shards are cast each by itself, and the new index tells the size of all their data.
void checkCheckpoint(const CastFilesOptions& options) {
  std::optional<Source> indexBefore;
  std::optional<Source> indexAfter;
  const Result<Checkpoint> before = Checkpoint::open(options.input, indexBefore);
  const Result<Checkpoint> after = Checkpoint::open(options.output + "/" + kIndexName, indexAfter);
  REQUIRE(before);
  REQUIRE(after);
  CHECK(after->index()->files() == before->index()->files());
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < before->shards().size(); ++i) {
    checkCast(before->shards()[i], after->shards()[i], options);
    for (const SafetensorsTensor& tensor : after->shards()[i].header().tensors) bytes += tensor.byteSize();
  }
  CHECK(nlohmann::json::parse(indexAfter->text()).at("metadata").at("total_size") == bytes);
}

struct Scenario {
  CastFilesOptions options;
  std::string inputName;
  std::string content;
  bool isIndex;
};

Scenario scenarioFrom(fuzz::Input& input) {
  std::vector<Dtype> dtypes;
  for (const DtypeInfo& info : kDtypes)
    if (isScalarFloat(info.dtype)) dtypes.push_back(info.dtype);
  CastFilesOptions options{.input = {}, .output = {}, .audit = folder() / "audit.json"};
  options.dtype = dtypes[input.place('a', dtypes.size())];
  const fuzz::Switches switches(input.byte());
  if (switches.has(0))
    for (const Dtype dtype : dtypes) options.from.insert(dtype);
  const bool isWhole = switches.has(1);
  const bool isIndex = switches.has(2);
  options.cast = {.saturate = !switches.has(3), .nanSuppress = switches.has(4)};
  if (switches.has(5)) options.exclude = {kExcluded};
  const std::size_t dataBytes = input.place('0', 256);
  input.byte();
  const std::string inputName = isIndex ? kIndexName : "m.safetensors";
  options.input = folder() / inputName;
  options.output = folder() / (isIndex ? "out" : "out.safetensors");
  options.threads = 1;
  options.quiet = true;
  return {.options = std::move(options),
          .inputName = inputName,
          .content = isIndex || isWhole ? std::string(input.rest()) : fileOf(input.rest(), dataBytes),
          .isIndex = isIndex};
}

void checkFile(const CastFilesOptions& options, const std::string& content) {
  const Result<SafetensorsFile> before = SafetensorsFile::open(options.input);
  const Result<SafetensorsFile> after = SafetensorsFile::open(options.output);
  REQUIRE(before);
  REQUIRE(after);
  const auto headerBytes =
      static_cast<std::size_t>(littleEndianValue(std::as_bytes(std::span(content)).first(kLengthBytes)));
  checkHeader(*before, content.substr(kLengthBytes, headerBytes));
  checkCoverage(*before, content.size() - kLengthBytes - headerBytes);
  checkCast(*before, *after, options);

  CastFilesOptions again = options;
  again.input = options.output;
  again.output = folder() / "again.safetensors";
  fuzz::Log unused;
  CHECK(castFiles(again, unused.line()) == ExitCode::kDone);
  CHECK(readFile(again.output) == readFile(options.output));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto [options, inputName, content, isIndex] = scenarioFrom(input);
  folder().clear();
  writeFile(options.input, content);

  fuzz::Log log;
  const ExitCode exitCode = castFiles(options, log.line());
  CHECK(readFile(options.input) == content);
  if (exitCode != ExitCode::kDone) {
    CHECK((exitCode == ExitCode::kRefused || exitCode == ExitCode::kFile));
    CHECK((log.errorCount() > 0 && log.errorCount() <= Diagnostics::kMaxErrors));
    CHECK(folder().newFiles() == std::vector<std::string>{inputName});
    return 0;
  }
  CHECK(log.errorCount() == 0);
  CHECK(nlohmann::json::parse(readFile(options.audit)).at("weights").is_array());
  if (isIndex)
    checkCheckpoint(options);
  else
    checkFile(options, content);
  return 0;
}
