#include "dtypemut/commands/cast.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "dtypemut/io/safetensors.h"
#include "file_size_limit.h"
#include "files.h"

namespace fs = std::filesystem;
using namespace dtypemut;

namespace {

std::string bytesOf(const std::vector<float>& values) {
  std::string bytes;
  for (float value : values) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  }
  return bytes;
}

/// A safetensors file in the making.
class Model {
 public:
  Model& add(const std::string& name, Dtype dtype, std::vector<std::uint64_t> shape, const std::string& bytes) {
    header.append(name, dtype, std::move(shape), bytes.size());
    data += bytes;
    return *this;
  }
  Model& add(const std::string& name, const std::vector<float>& values) {
    return add(name, Dtype::kFloat32, {values.size()}, bytesOf(values));
  }
  void write(const std::string& path) const { writeFile(path, *writeSafetensorsHeader(header, path) + data); }

  SafetensorsHeader header;
  std::string data;
};

/// The tensors of a file: their dtype codes and bytes.
std::map<std::string, std::pair<std::string, std::string>> contentOf(const std::string& path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file);
  std::map<std::string, std::pair<std::string, std::string>> content;
  for (const SafetensorsTensor& tensor : file->header().tensors) {
    std::string bytes(tensor.byteSize(), '\0');
    CHECK(file->file().read(file->offset(tensor), std::as_writable_bytes(std::span(bytes))));
    content[tensor.name] = {tensor.dtypeCode, bytes};
  }
  return content;
}

struct Outcome {
  ExitCode exitCode;
  std::string lines;
};

Outcome cast(CastFilesOptions options) {
  std::string lines;
  options.quiet = true;
  const ExitCode exitCode =
      castFiles(options, [&lines](Severity, const std::string& line) { lines += (lines.empty() ? "" : "\n") + line; });
  return {exitCode, lines};
}

Outcome castTo(Dtype dtype, const std::string& input, const std::string& output) {
  return cast({.input = input, .output = output, .audit = {}, .dtype = dtype});
}

const std::string kHalves = std::string("\x00\x3C\x00\x40", 4);  // 1 and 2 in float16

Model smallModel() {
  Model model;
  model.header.metadata = {{"format", "pt"}, {"note", "x"}};
  model.add("layer.weight", {1.0f, -2.5f, 1e30f, 0.0f})
      .add("layer.norm", {0.5f, 0.25f})
      .add("half", Dtype::kFloat16, {2}, kHalves)
      .add("ids", Dtype::kInt64, {1}, std::string(8, '\7'))
      .add("empty", Dtype::kFloat32, {0, 3}, "")
      .add("scalar", Dtype::kFloat32, {}, bytesOf({3.0f}));
  return model;
}

}  // namespace

TEST_CASE("float32 tensors are cast, all else is kept") {
  const ScratchFolder folder;
  const Model model = smallModel();
  model.write(folder / "w.safetensors");
  const std::string input = readFile(folder / "w.safetensors");
  const Outcome outcome = castTo(Dtype::kBfloat16, folder / "w.safetensors", folder / "out.safetensors");
  CHECK(outcome.lines == "");
  CHECK(outcome.exitCode == ExitCode::kDone);
  CHECK(readFile(folder / "w.safetensors") == input);
  CHECK(folder.entryCount() == 2);

  Result<SafetensorsFile> file = SafetensorsFile::open(folder / "out.safetensors");
  REQUIRE(file);
  CHECK(file->header().metadata == model.header.metadata);
  REQUIRE(file->header().tensors.size() == model.header.tensors.size());
  for (std::size_t i = 0; i < model.header.tensors.size(); ++i) {
    CHECK(file->header().tensors[i].name == model.header.tensors[i].name);
    CHECK(file->header().tensors[i].shape == model.header.tensors[i].shape);
  }
  auto content = contentOf(folder / "out.safetensors");
  CHECK(content["layer.weight"] ==
        std::pair<std::string, std::string>("BF16", std::string("\x80\x3F\x20\xC0\x4A\x71\0\0", 8)));
  CHECK(content["layer.norm"].first == "BF16");
  CHECK(content["half"] == std::pair<std::string, std::string>("F16", kHalves));
  CHECK(content["ids"] == std::pair<std::string, std::string>("I64", std::string(8, '\7')));
  CHECK(content["empty"] == std::pair<std::string, std::string>("BF16", ""));
  CHECK(content["scalar"] == std::pair<std::string, std::string>("BF16", "\x40\x40"));

  SUBCASE("and a second run changes nothing") {
    CHECK(castTo(Dtype::kBfloat16, folder / "out.safetensors", folder / "again.safetensors").exitCode ==
          ExitCode::kDone);
    CHECK(readFile(folder / "again.safetensors") == readFile(folder / "out.safetensors"));
  }
}

TEST_CASE("the order of the data is kept even where it is not that of the header") {
  const ScratchFolder folder;
  Model model;
  model.add("first", {1.0f, 2.0f}).add("second", Dtype::kUint8, {3}, "abc").add("third", {4.0f});
  std::reverse(model.header.tensors.begin(), model.header.tensors.end());
  model.write(folder / "w.safetensors");
  REQUIRE(castTo(Dtype::kFloat16, folder / "w.safetensors", folder / "o").exitCode == ExitCode::kDone);
  Result<SafetensorsFile> file = SafetensorsFile::open(folder / "o");
  REQUIRE(file);
  CHECK(file->header().tensors[0].name == "third");
  CHECK(file->header().tensors[0].begin == 7);
  CHECK(file->header().tensors[2].begin == 0);
  CHECK(contentOf(folder / "o")["second"].second == "abc");
  CHECK(contentOf(folder / "o")["third"].second == std::string("\x00\x44", 2));
}

TEST_CASE("globs choose tensors") {
  const ScratchFolder folder;
  smallModel().write(folder / "w.safetensors");
  CastFilesOptions options{
      .input = folder / "w.safetensors", .output = folder / "o", .audit = {}, .dtype = Dtype::kBfloat16};
  SUBCASE("by --exclude") {
    options.exclude = {"*norm*", "sc?l[a-b]r"};
    CHECK(cast(options).lines == "");
    auto content = contentOf(folder / "o");
    CHECK(content["layer.weight"].first == "BF16");
    CHECK(content["layer.norm"].first == "F32");
    CHECK(content["scalar"].first == "F32");
  }
  SUBCASE("by --include, less --exclude") {
    options.include = {"layer.*", "nothing*"};
    options.exclude = {"*.norm"};
    CHECK(cast(options).lines == "dtypemut: warning: --include 'nothing*' matches the name of no tensor");
    auto content = contentOf(folder / "o");
    CHECK(content["layer.weight"].first == "BF16");
    CHECK(content["layer.norm"].first == "F32");
    CHECK(content["scalar"].first == "F32");
  }
}

TEST_CASE("--from names what is cast") {
  const ScratchFolder folder;
  smallModel().write(folder / "w.safetensors");
  CastFilesOptions options{
      .input = folder / "w.safetensors", .output = folder / "o", .audit = {}, .dtype = Dtype::kBfloat16};
  options.from = {Dtype::kFloat16};
  CHECK(cast(options).exitCode == ExitCode::kDone);
  auto content = contentOf(folder / "o");
  CHECK(content["half"] == std::pair<std::string, std::string>("BF16", std::string("\x80\x3F\x00\x40", 4)));
  CHECK(content["layer.norm"].first == "F32");

  options.from = {Dtype::kFloat32r, Dtype::kBfloat16};
  CHECK(cast(options).exitCode == ExitCode::kDone);
  content = contentOf(folder / "o");
  CHECK(content["half"].first == "F16");
  CHECK(content["layer.norm"].first == "BF16");
}

TEST_CASE("float8e4 and float8e3 are stored as U8 that says so, and are read back") {
  const ScratchFolder folder;
  Model model;
  model.add("w", {1.0f, 300.0f, -0.0f}).add("bytes", Dtype::kUint8, {1}, "\x38");
  model.write(folder / "w.safetensors");
  CHECK(castTo(Dtype::kFloat8e4, folder / "w.safetensors", folder / "e4").lines ==
        (folder / "w.safetensors") + ": warning: tensor 'w': 1 of 3 values overflows float8e4");
  Result<SafetensorsFile> file = SafetensorsFile::open(folder / "e4");
  REQUIRE(file);
  CHECK(file->header().metadata == SafetensorsHeader::Metadata{{"dtypemut.dtype.w", "float8e4"}});
  CHECK(contentOf(folder / "e4")["w"] == std::pair<std::string, std::string>("U8", std::string("\x38\x77\x80", 3)));

  CastFilesOptions back{.input = folder / "e4", .output = folder / "back", .audit = {}, .dtype = Dtype::kFloat32};
  back.from = {Dtype::kFloat8e4};
  CHECK(cast(back).exitCode == ExitCode::kDone);
  CHECK(contentOf(folder / "back")["w"] == std::pair<std::string, std::string>("F32", bytesOf({1.0f, 240.0f, -0.0f})));
  CHECK(contentOf(folder / "back")["bytes"] == std::pair<std::string, std::string>("U8", "\x38"));
  Result<SafetensorsFile> backFile = SafetensorsFile::open(folder / "back");
  REQUIRE(backFile);
  CHECK(backFile->header().metadata->empty());
}

TEST_CASE("the knobs of fp8") {
  const ScratchFolder folder;
  Model model;
  model.add("w", {1e9f, std::numeric_limits<float>::quiet_NaN()});
  model.write(folder / "w");
  CastFilesOptions options{.input = folder / "w", .output = folder / "o", .audit = {}, .dtype = Dtype::kFloat8E4m3fn};
  const auto bytes = [&](bool saturate, bool nanSuppress) {
    options.cast = {.saturate = saturate, .nanSuppress = nanSuppress};
    CHECK(cast(options).exitCode == ExitCode::kDone);
    return contentOf(folder / "o")["w"];
  };
  CHECK(bytes(true, false) == std::pair<std::string, std::string>("F8_E4M3", "\x7E\x7F"));
  CHECK(bytes(false, false) == std::pair<std::string, std::string>("F8_E4M3", "\x7F\x7F"));
  CHECK(bytes(true, true) == std::pair<std::string, std::string>("F8_E4M3", std::string("\x7E\x00", 2)));
}

TEST_CASE("an audit tells each weight and the total") {
  const ScratchFolder folder;
  Model model;
  model.add("a", {65520.0f, 1e-9f, 2049.0f, std::numeric_limits<float>::infinity()})
      .add("kept", Dtype::kInt8, {1}, "x")
      .add("b", {std::numeric_limits<float>::quiet_NaN(), 0.0f, 1.0f});
  model.write(folder / "w");
  CastFilesOptions options{
      .input = folder / "w", .output = folder / "o", .audit = folder / "audit.json", .dtype = Dtype::kFloat16};
  SUBCASE("in a report") {
    const Outcome outcome = cast(options);
    CHECK(outcome.exitCode == ExitCode::kDone);
    CHECK(outcome.lines == (folder / "w") + ": warning: tensor 'a': 1 of 4 values overflows float16");
    const auto json = nlohmann::ordered_json::parse(readFile(folder / "audit.json"));
    CHECK(json["input"] == folder / "w");
    REQUIRE(json["weights"].size() == 2);
    CHECK(json["weights"][0].dump() ==
          R"({"weight":"a","from":"float32","to":"float16","elements":4,"nan":0,"inf":1,"overflow":1,"underflow":1,)"
          R"("max_abs_error":1.0,"max_rel_error":0.00048804294783622026})");
    CHECK(json["weights"][1]["weight"] == "b");
    CHECK(json["weights"][1]["nan"] == 1);
    CHECK(json["total"].dump() == R"({"elements":7,"nan":1,"inf":1,"overflow":1,"underflow":1,"max_abs_error":1.0,)"
                                  R"("max_rel_error":0.00048804294783622026})");
  }
  SUBCASE("and makes the exit status 4 on request, with everything written") {
    options.failOn = {.overflow = true, .underflow = true};
    const Outcome outcome = cast(options);
    CHECK(outcome.exitCode == ExitCode::kNo);
    CHECK(outcome.lines == (folder / "w") +
                               ": warning: tensor 'a': 1 of 4 values overflows float16\n"
                               "dtypemut: error: --fail-on overflow: 1 value beyond the largest\n"
                               "dtypemut: error: --fail-on underflow: 1 value became zero");
    CHECK(fs::exists(folder / "o"));
    CHECK(fs::exists(folder / "audit.json"));
  }
  SUBCASE("but not when nothing of the kind happens") {
    options.dtype = Dtype::kBfloat16;
    options.failOn = {.overflow = true, .underflow = true};
    CHECK(cast(options).exitCode == ExitCode::kDone);
  }
}

TEST_CASE("an audit of nothing is an audit") {
  const ScratchFolder folder;
  Model().write(folder / "w");
  CHECK(
      cast({.input = folder / "w", .output = folder / "o", .audit = folder / "a", .dtype = Dtype::kFloat16}).exitCode ==
      ExitCode::kDone);
  CHECK(nlohmann::json::parse(readFile(folder / "a"))["weights"].empty());
  CHECK(readFile(folder / "o") == readFile(folder / "w"));
}

TEST_CASE("a sharded checkpoint goes into a folder, with its index") {
  const ScratchFolder folder;
  fs::create_directory(folder / "in");
  Model().add("a", {1.0f, 2.0f}).write(folder / "in/model-1.safetensors");
  Model().add("b", {3.0f}).add("i", Dtype::kInt8, {3}, "xyz").write(folder / "in/model-2.safetensors");
  const std::string index =
      "{\n  \"metadata\": {\"total_size\": 15, \"x\": [1, 2]},\n"
      "  \"weight_map\": {\"i\": \"model-2.safetensors\", \"a\": \"model-1.safetensors\",\n"
      "    \"b\": \"model-2.safetensors\"}\n}\n";
  const std::string indexPath = folder / "in/model.safetensors.index.json";
  writeFile(indexPath, index);
  CastFilesOptions options{
      .input = indexPath, .output = folder / "out", .audit = folder / "audit.json", .dtype = Dtype::kBfloat16};

  SUBCASE("that is made") {
    const Outcome outcome = cast(options);
    CHECK(outcome.lines == "");
    CHECK(outcome.exitCode == ExitCode::kDone);
    std::string expected = index;
    expected.replace(expected.find("15"), 2, "9");
    CHECK(readFile(folder / "out/model.safetensors.index.json") == expected);
    CHECK(contentOf(folder / "out/model-1.safetensors")["a"].first == "BF16");
    CHECK(contentOf(folder / "out/model-2.safetensors")["i"].second == "xyz");
    CHECK(std::distance(fs::directory_iterator(folder / "out"), {}) == 3);
    const auto audit = nlohmann::json::parse(readFile(folder / "audit.json"));
    CHECK(audit["weights"].size() == 2);
    CHECK(audit["weights"][1]["file"] == folder / "in/model-1.safetensors");
  }
  SUBCASE("that may be the input's") {
    options.output = folder / "in";
    CHECK(cast(options).exitCode == ExitCode::kDone);
    CHECK(contentOf(folder / "in/model-1.safetensors")["a"].first == "BF16");
    CHECK(std::distance(fs::directory_iterator(folder / "in"), {}) == 3);
  }
  SUBCASE("that is gone again when a shard fails") {
    fs::resize_file(folder / "in/model-2.safetensors", fs::file_size(folder / "in/model-2.safetensors") - 1);
    const Outcome outcome = cast(options);
    CHECK(outcome.exitCode == ExitCode::kRefused);
    CHECK(outcome.lines == (folder / "in/model-2.safetensors") +
                               ": error: tensor 'i': its data end at byte 7 of a data section of 6 bytes");
    CHECK_FALSE(fs::exists(folder / "out"));
    CHECK_FALSE(fs::exists(folder / "audit.json"));
  }
  SUBCASE("but not into a file") {
    writeFile(folder / "out", "precious");
    const Outcome outcome = cast(options);
    CHECK(outcome.exitCode == ExitCode::kFile);
    CHECK(outcome.lines == (folder / "out") + ": error: cannot write: Not a directory");
    CHECK(readFile(folder / "out") == "precious");
    options.output = "-";
    CHECK(cast(options).exitCode == ExitCode::kUsage);
  }
  SUBCASE("unless a file of it is named twice") {
    for (const std::string name : {"out/model-1.safetensors", "out/model.safetensors.index.json"}) {
      fs::create_directory(folder / "out");
      options.audit = folder / name;
      const Outcome outcome = cast(options);
      CHECK(outcome.exitCode == ExitCode::kUsage);
      CHECK(outcome.lines == "dtypemut: error: -o and --audit name one file, '" + (folder / name) + "'");
    }
    options.audit = folder / "in/model-2.safetensors";
    CHECK(cast(options).lines == "dtypemut: error: --audit names '" + options.audit + "', which the input refers to");
  }
}

TEST_CASE("an index without a total size gets one") {
  const ScratchFolder folder;
  Model().add("a", {1.0f}).write(folder / "m.safetensors");
  const auto newIndex = [&](const std::string& index) {
    writeFile(folder / "i.json", index);
    REQUIRE(castTo(Dtype::kFloat16, folder / "i.json", folder / "out").exitCode == ExitCode::kDone);
    return readFile(folder / "out/i.json");
  };
  CHECK(newIndex(R"({"weight_map": {"a": "m.safetensors"}})") ==
        R"({"metadata": {"total_size": 2},"weight_map": {"a": "m.safetensors"}})");
  CHECK(newIndex(R"({"metadata": {}, "weight_map": {"a": "m.safetensors"}})") ==
        R"({"metadata": {"total_size": 2}, "weight_map": {"a": "m.safetensors"}})");
  CHECK(newIndex(R"({"metadata": {"a": {"total_size": 7}}, "weight_map": {"a": "m.safetensors"}})") ==
        R"({"metadata": {"total_size": 2,"a": {"total_size": 7}}, "weight_map": {"a": "m.safetensors"}})");
}

TEST_CASE("an index that is wrong is refused where it is") {
  const ScratchFolder folder;
  Model().add("a", {1.0f}).write(folder / "m.safetensors");
  const auto refusal = [&](const std::string& index) {
    writeFile(folder / "i.json", index);
    const Outcome outcome = castTo(Dtype::kFloat16, folder / "i.json", folder / "out");
    CHECK(outcome.exitCode == ExitCode::kRefused);
    CHECK_FALSE(fs::exists(folder / "out"));
    const std::string prefix = (folder / "i.json") + ":";
    REQUIRE(outcome.lines.starts_with(prefix));
    return outcome.lines.substr(prefix.size());
  };
  CHECK(refusal("[]") == "1:1: error: an index must be an object");
  CHECK(refusal("{}") == "1:1: error: an index must have a 'weight_map'");
  CHECK(refusal(R"({"weight_map": []})") == "1:16: error: 'weight_map' must be an object");
  CHECK(refusal(R"({"metadata": 1})") == "1:14: error: 'metadata' must be an object");
  CHECK(refusal(R"({"metadata": {"total_size": {}}})") == "1:29: error: 'total_size' must be a number");
  CHECK(refusal(R"({"weight_map": {"a": 1}})") == "1:22: error: tensor 'a': the name of its file must be a string");
  for (const std::string name : {"../m.safetensors", "/etc/passwd", "..", ""})
    CHECK(refusal(R"({"weight_map": {"a": ")" + name + "\"}}") ==
          "1:22: error: tensor 'a': '" + name + "' is no name of a file beside the index");
  CHECK(refusal(R"({"weight_map": {"a": "m.safetensors", "a": "m.safetensors"}})").find("duplicate key 'a'") !=
        std::string::npos);
  CHECK(refusal(R"({"weight_map": {"b": "m.safetensors"}})") ==
        "1:17: error: tensor 'b' is not in '" + (folder / "m.safetensors") + "'");
  writeFile(folder / "i.json", R"({"weight_map": {"b": "missing.safetensors"}})");
  CHECK(castTo(Dtype::kFloat16, folder / "i.json", folder / "out").exitCode == ExitCode::kFile);
}

TEST_CASE("the output may be the input, or a symlink to it") {
  const ScratchFolder folder;
  smallModel().write(folder / "w.safetensors");
  REQUIRE(castTo(Dtype::kFloat16, folder / "w.safetensors", folder / "expected").exitCode == ExitCode::kDone);
  fs::create_symlink("w.safetensors", folder / "link");
  ::chmod((folder / "w.safetensors").c_str(), 0640);
  for (const std::string input : {"w.safetensors", "link"}) {
    smallModel().write(folder / "w.safetensors");
    CHECK(castTo(Dtype::kFloat16, folder / input, folder / "link").exitCode == ExitCode::kDone);
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(readFile(folder / "w.safetensors") == readFile(folder / "expected"));
    struct stat status {};
    REQUIRE(::stat((folder / "w.safetensors").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
  }
}

TEST_CASE("two options that name one file are wrong usage") {
  const ScratchFolder folder;
  smallModel().write(folder / "w");
  CastFilesOptions options{
      .input = folder / "w", .output = folder / "o", .audit = folder / "o", .dtype = Dtype::kFloat16};
  CHECK(cast(options).exitCode == ExitCode::kUsage);
  options.audit = folder / "./w";
  const Outcome outcome = cast(options);
  CHECK(outcome.exitCode == ExitCode::kUsage);
  CHECK(outcome.lines == "dtypemut: error: --audit names the input, '" + (folder / "w") + "'");
  CHECK(folder.entryCount() == 1);
}

TEST_CASE("an input that is refused leaves nothing behind") {
  const ScratchFolder folder;
  std::string content = *writeSafetensorsHeader(smallModel().header, "w");
  writeFile(folder / "w", content);
  for (const std::string& output : {folder / "o", folder / "w"}) {
    const Outcome outcome = castTo(Dtype::kFloat16, folder / "w", output);
    CHECK(outcome.exitCode == ExitCode::kRefused);
    CHECK(outcome.lines.starts_with((folder / "w") + ": error: tensor 'layer.weight': its data end at byte 16"));
    CHECK(readFile(folder / "w") == content);
    CHECK(folder.entryCount() == 1);
  }
}

TEST_CASE("a file that shrinks while it is cast is an error that names the tensor") {
  const ScratchFolder folder;
  Model model;
  model.add("first", std::vector<float>(1'000'000, 1.0f)).add("second", std::vector<float>(1'000'000, 2.0f));
  for (const std::string& output : {folder / "o", folder / "w"}) {
    model.write(folder / "w");
    CastFilesOptions options{.input = folder / "w", .output = output, .audit = {}, .dtype = Dtype::kFloat16};
    options.threads = 1;
    options.progress = [&](std::uint64_t, std::uint64_t) { fs::resize_file(folder / "w", 5'000'000); };
    const Outcome outcome = cast(options);
    CHECK(outcome.exitCode == ExitCode::kFile);
    CHECK(outcome.lines ==
          (folder / "w") +
              ": error: tensor 'second': cannot read: the file ends at byte 5000000, before what was expected");
    CHECK(fs::file_size(folder / "w") == 5'000'000);
    CHECK(folder.entryCount() == 1);
  }
}

TEST_CASE("a disk that is full is an error that names the tensor") {
  const ScratchFolder folder;
  Model model;
  model.add("first", std::vector<float>(1'000'000, 1.0f)).add("second", std::vector<float>(1'000'000, 2.0f));
  model.write(folder / "w");
  const std::string input = readFile(folder / "w");
  for (const auto& [limit, tensor] : std::map<rlim_t, std::string>{{1'000'000, "first"}, {3'000'000, "second"}}) {
    for (const std::string& output : {folder / "o", folder / "w"}) {
      const Outcome outcome = [&] {
        const FileSizeLimit full(limit);
        return castTo(Dtype::kFloat16, folder / "w", output);
      }();
      CHECK(outcome.exitCode == ExitCode::kFile);
      CHECK(outcome.lines == output + ": error: tensor '" + tensor + "': cannot write: File too large");
      CHECK(folder.entryCount() == 1);
    }
  }
  CHECK(readFile(folder / "w") == input);
}

TEST_CASE("a small output that does not fit on the disk names its tensor too") {
  const ScratchFolder folder;
  Model().add("only", {1.0f}).write(folder / "w");
  const Outcome outcome = [&] {
    const FileSizeLimit full(10);
    return castTo(Dtype::kFloat16, folder / "w", folder / "o");
  }();
  CHECK(outcome.lines == (folder / "o") + ": error: tensor 'only': cannot write: File too large");
  CHECK(folder.entryCount() == 1);
}

TEST_CASE("a folder that cannot be written to is an error") {
  const ScratchFolder folder;
  smallModel().write(folder / "w");
  const Outcome outcome = castTo(Dtype::kFloat16, folder / "w", folder / "missing/o");
  CHECK(outcome.exitCode == ExitCode::kFile);
  CHECK(outcome.lines == (folder / "missing/o") + ": error: cannot write: No such file or directory");
  CHECK(castTo(Dtype::kFloat16, folder / "w", "/proc/o").exitCode == ExitCode::kFile);
  CHECK(castTo(Dtype::kFloat16, folder / "missing", folder / "o").exitCode == ExitCode::kFile);
  CHECK(folder.entryCount() == 1);
}

TEST_CASE("a device takes the output directly") {
  const ScratchFolder folder;
  smallModel().write(folder / "w");
  CHECK(castTo(Dtype::kFloat16, folder / "w", "/dev/null").exitCode == ExitCode::kDone);
  const Outcome full = castTo(Dtype::kFloat16, folder / "w", "/dev/full");
  CHECK(full.exitCode == ExitCode::kFile);
  CHECK(full.lines == "/dev/full: error: cannot write: No space left on device");
}

TEST_CASE("the number of threads makes no difference") {
  const ScratchFolder folder;
  Model model;
  std::vector<float> values(700'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 1.7f - 5e5f;
  for (int i = 0; i < 5; ++i) model.add("w" + std::to_string(i), values);
  model.write(folder / "w");
  CastFilesOptions options{
      .input = folder / "w", .output = folder / "o1", .audit = folder / "a1", .dtype = Dtype::kFloat8e5};
  options.threads = 1;
  const Outcome one = cast(options);
  options.output = folder / "o2";
  options.audit = folder / "a2";
  options.threads = 2;
  const Outcome two = cast(options);
  CHECK(one.exitCode == ExitCode::kDone);
  CHECK(one.lines == two.lines);
  CHECK(readFile(folder / "o1") == readFile(folder / "o2"));
  CHECK(readFile(folder / "a1") == readFile(folder / "a2"));
}
