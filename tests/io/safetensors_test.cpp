#include "dtypemut/io/safetensors.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "files.h"

using namespace dtypemut;

namespace {

std::string fileWith(const std::string& header, std::size_t dataBytes) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i));
  return text + header + std::string(dataBytes, '\1');
}

/// What the file is refused for; empty when it is not.
std::string refusal(const std::string& content) {
  ScratchFolder folder;
  const std::string path = folder / "w.safetensors";
  writeFile(path, content);
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (file) return "";
  CHECK(file.error().exitCode() == ExitCode::kRefused);
  std::string messages;
  for (const Diagnostic& diagnostic : file.error()) {
    CHECK(diagnostic.file == path);
    if (!messages.empty()) messages += '\n';
    messages += diagnostic.message;
  }
  return messages;
}

std::string refusalOfHeader(const std::string& header, std::size_t dataBytes = 16) {
  return refusal(fileWith(header, dataBytes));
}

/// A header with one tensor w of these members, over 16 bytes of data.
std::string refusalOfTensor(const std::string& members) { return refusalOfHeader(R"({"w":{)" + members + "}}"); }

}  // namespace

TEST_CASE("a safetensors header is read in full") {
  ScratchFolder folder;
  const std::string path = folder / "w.safetensors";
  writeFile(path, fileWith(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},
      "\u0061\n":{"data_offsets":[2,4],"shape":[],"dtype":"BF16"},
      "__metadata__":{"format":"pt","dtypemut.dtype.q":"float8e4","dtypemut.dtype.b":"float8e4"},
      "q":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]},
      "e":{"dtype":"F16","shape":[3,0],"data_offsets":[12,12]},
      "x":{"dtype":"NEW","shape":[7],"note":{"a":[1,"}\\\""]} , "data_offsets":[12,16] , "n\"2":null}}   )",
                           16));
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file);
  const SafetensorsHeader& header = file->header();
  REQUIRE(header.tensors.size() == 5);
  CHECK(header.tensors[1].name == "a\n");
  CHECK(header.tensors[1].shape.empty());
  CHECK(header.tensors[0].shape == std::vector<std::uint64_t>{2});
  CHECK(header.tensors[4].otherMembers == R"(,"note":{"a":[1,"}\\\""]},"n\"2":null)");
  CHECK(header.metadata->size() == 3);
  CHECK(file->dtype(header.tensors[0]) == Dtype::kFloat32);
  CHECK(file->dtype(header.tensors[2]) == Dtype::kFloat8e4);
  CHECK_FALSE(file->dtype(header.tensors[4]).has_value());
  CHECK(file->find("e")->byteSize() == 0);
  CHECK(file->find("nope") == nullptr);
  CHECK(header.dataOrder() == std::vector<std::size_t>{2, 1, 0, 3, 4});
  CHECK(file->offset(header.tensors[2]) == std::filesystem::file_size(path) - 16);

  SUBCASE("and written again as it was") {
    Result<std::string> text = writeSafetensorsHeader(header, "out");
    REQUIRE(text);
    CHECK(text->size() % 8 == 0);
    writeFile(folder / "again.safetensors", *text + std::string(16, '\1'));
    Result<SafetensorsFile> again = SafetensorsFile::open(folder / "again.safetensors");
    REQUIRE(again);
    CHECK(again->header().metadata == header.metadata);
    REQUIRE(again->header().tensors.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(again->header().tensors[i].name == header.tensors[i].name);
      CHECK(again->header().tensors[i].begin == header.tensors[i].begin);
      CHECK(again->header().tensors[i].otherMembers == header.tensors[i].otherMembers);
    }
    CHECK(*writeSafetensorsHeader(again->header(), "out") == *text);
  }
}

TEST_CASE("headers that the format does not allow are refused") {
  CHECK(refusal("") == "no safetensors file: it has only 0 bytes");
  CHECK(refusal("1234567") == "no safetensors file: it has only 7 bytes");
  CHECK(refusal(fileWith("{}", 0).substr(0, 9)) == "its header would have 2 bytes, but the file ends after 9");
  CHECK(refusal(std::string(8, '\xFF')) ==
        "no safetensors file: its header would have 18446744073709551615 bytes; the format's limit is 100000000");
  CHECK(refusalOfHeader("", 0) == "the header does not begin with '{'");
  CHECK(refusalOfHeader("[]", 0) == "the header does not begin with '{'");
  CHECK(refusalOfHeader(" {}", 0) == "the header does not begin with '{'");
  CHECK(refusalOfHeader("{}", 0) == "");
  CHECK(refusalOfHeader("{}  \n", 0) == "");
  CHECK(refusalOfHeader(std::string("{}\0", 3), 0) ==
        "the header is no valid JSON at byte 10: expected nothing more after the document, found byte 0x00");
  CHECK(refusalOfHeader(R"({"w":1)") == "tensor 'w': must be an object, not 1");
  CHECK(refusalOfHeader(R"({"w":{)").starts_with("the header is no valid JSON at byte 14: "));
  CHECK(refusalOfHeader("{} {}").starts_with("the header is no valid JSON at byte 11: "));
  CHECK(refusalOfHeader("{\"\xFF\":1}").starts_with("the header is no valid JSON at byte "));
  CHECK(refusalOfHeader("{\"\xED\xA0\x80\":1}").starts_with("the header is no valid JSON at byte "));
  CHECK(refusalOfHeader(R"({"\uDC00":1})") == "a key is not valid Unicode");
  CHECK(refusalOfHeader(R"({"\uD800x":1})").starts_with("the header is no valid JSON at byte "));
  CHECK(refusalOfHeader("{}", 3) == "the last 3 bytes of the data belong to no tensor");
}

TEST_CASE("metadata are an object of strings") {
  CHECK(refusalOfHeader(R"({"__metadata__":{}})", 0) == "");
  CHECK(refusalOfHeader(R"({"__metadata__":[]})", 0) == "'__metadata__' must be an object, not an array");
  CHECK(refusalOfHeader(R"({"__metadata__":null})", 0) == "'__metadata__' must be an object, not null");
  CHECK(refusalOfHeader(R"({"__metadata__":{"a":1}})", 0) ==
        "'__metadata__': the value of 'a' must be a string, not 1");
  CHECK(refusalOfHeader(R"({"__metadata__":{"a":{}}})", 0) ==
        "'__metadata__': the value of 'a' must be a string, not an object");
  CHECK(refusalOfHeader(R"({"__metadata__":{"a":"","\u0061":""}})", 0) == "'__metadata__': two keys 'a'");
  CHECK(refusalOfHeader(R"({"__metadata__":{},"__metadata__":{}})", 0) == "two keys '__metadata__'");
  CHECK(refusalOfHeader(R"({"__metadata__":{"a":"\uDFFF"}})", 0) == "a string is not valid Unicode");
}

TEST_CASE("a tensor has a dtype, a shape and two offsets") {
  const std::string dtype = R"("dtype":"F32")";
  const std::string shape = R"("shape":[4])";
  const std::string offsets = R"("data_offsets":[0,16])";
  CHECK(refusalOfTensor(dtype + "," + shape + "," + offsets) == "");
  CHECK(refusalOfTensor(shape + "," + offsets) == "tensor 'w': lacks the key 'dtype'");
  CHECK(refusalOfTensor(dtype + "," + offsets) == "tensor 'w': lacks the key 'shape'");
  CHECK(refusalOfTensor(dtype + "," + shape) == "tensor 'w': lacks the key 'data_offsets'");
  CHECK(refusalOfTensor(dtype + "," + dtype + "," + shape + "," + offsets) == "tensor 'w': two keys 'dtype'");
  CHECK(refusalOfTensor(dtype + "," + shape + "," + offsets + R"(,"a":{"b":1,"b":2})") == "tensor 'w': two keys 'b'");
  CHECK(refusalOfTensor(R"("dtype":5)") == "tensor 'w': 'dtype' must be a string, not 5");
  CHECK(refusalOfTensor(R"("shape":5)") == "tensor 'w': 'shape' must be an array, not 5");
  CHECK(refusalOfTensor(R"("shape":[[1]])") == "tensor 'w': 'shape' must hold integers of at least 0, not an array");
  CHECK(refusalOfTensor(R"("shape":["1"])") == "tensor 'w': 'shape' must hold integers of at least 0, not a string");
  for (const char* number : {"-1", "1.0", "1e3", "-0"})
    CHECK(refusalOfTensor(std::string(R"("shape":[)") + number + "]") ==
          std::string("tensor 'w': ") + number + " in 'shape' is not an integer of at least 0");
  CHECK(refusalOfTensor(R"("shape":[18446744073709551616])") ==
        "tensor 'w': 18446744073709551616 in 'shape' is too large");
  CHECK(refusalOfTensor(R"("shape":[1e999])").starts_with("the header is no valid JSON at byte "));
  CHECK(refusalOfTensor(R"("data_offsets":[-4,12])") ==
        "tensor 'w': -4 in 'data_offsets' is not an integer of at least 0");
  CHECK(refusalOfTensor(R"("data_offsets":[0])") == "tensor 'w': 'data_offsets' has fewer than two numbers");
  CHECK(refusalOfTensor(R"("data_offsets":[0,1,2])") == "tensor 'w': 'data_offsets' has more than two numbers");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += '[';
  CHECK(refusalOfTensor("\"a\":" + deep) == "tensor 'w': nests too deeply");
}

TEST_CASE("data lie within the file and agree with dtype and shape") {
  const auto refused = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return refusalOfTensor(R"("dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets);
  };
  CHECK(refused("F32", "[5]", "[0,20]") == "tensor 'w': its data end at byte 20 of a data section of 16 bytes");
  CHECK(refused("F32", "[4]", "[16,0]") == "tensor 'w': its data_offsets run backwards, from 16 to 0");
  CHECK(refused("F32", "[3]", "[0,16]") ==
        "tensor 'w': F32 of shape [3] takes 12 bytes, but its data_offsets give it 16");
  CHECK(refused("F64", "[2]", "[0,16]") == "");
  CHECK(refused("BOOL", "[4,4]", "[0,16]") == "");
  CHECK(refused("F4", "[32]", "[0,16]") == "");
  CHECK(refused("F4", "[31]", "[0,16]") == "tensor 'w': F4 of shape [31] is no whole number of bytes, or too large");
  CHECK(refused("F32", "[4294967296,4294967296]", "[0,16]") ==
        "tensor 'w': F32 of shape [4294967296, 4294967296] is too large");
  CHECK(refused("F32", "[4294967296,4294967296,0]", "[0,16]") ==
        "tensor 'w': F32 of shape [4294967296, 4294967296, 0] takes 0 bytes, but its data_offsets give it 16");
  CHECK(refused("???", "[77]", "[0,16]") == "");
}

TEST_CASE("tensors cover the data without gap or overlap") {
  const auto refused = [](const std::string& a, const std::string& b) {
    return refusalOfHeader(R"({"a":{"dtype":"?","shape":[],"data_offsets":)" + a +
                           R"(},"b":{"dtype":"?","shape":[],"data_offsets":)" + b + "}}");
  };
  CHECK(refused("[8,16]", "[0,8]") == "");
  CHECK(refused("[0,8]", "[4,16]") == "tensor 'b': its data begin at byte 4, but those of tensor 'a' end at byte 8");
  CHECK(refused("[10,16]", "[0,8]") == "tensor 'a': bytes 8 to 10 of the data, before its own, belong to no tensor");
  CHECK(refused("[0,8]", "[8,12]") == "the last 4 bytes of the data belong to no tensor");
  CHECK(refused("[0,16]", "[8,8]") == "tensor 'b': its data begin at byte 8, but those of tensor 'a' end at byte 16");
  CHECK(refused("[0,16]", "[16,16]") == "");
  CHECK(refused("[0,16]", "[0,0]") == "");
  CHECK(refusalOfHeader(R"({"a":{"dtype":"?","shape":[],"data_offsets":[0,16]},
                            "\u0061":{"dtype":"?","shape":[],"data_offsets":[16,16]}})") ==
        "two tensors are called 'a'");
}

TEST_CASE("all faulty tensors are told, up to twenty") {
  std::string header = "{";
  for (int i = 0; i < 30; ++i)
    header += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,3]})";
  const std::string messages = refusalOfHeader(header + "}");
  CHECK(std::ranges::count(messages, '\n') == 19);
}

TEST_CASE("a file that cannot be read is no refusal of its content") {
  ScratchFolder folder;
  for (const std::string& path : {folder / "missing", folder.path()}) {
    Result<SafetensorsFile> file = SafetensorsFile::open(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().exitCode() == ExitCode::kFile);
    CHECK(file.error().begin()->file == path);
  }
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Result<InputFile> piped = InputFile::open(fifo);
  REQUIRE_FALSE(piped);
  CHECK(piped.error().begin()->message == "cannot read: not a regular file");
}

TEST_CASE("a file that shrinks after it was opened gives an error") {
  ScratchFolder folder;
  const std::string path = folder / "w.bin";
  writeFile(path, std::string(100, 'x'));
  Result<InputFile> file = InputFile::open(path);
  REQUIRE(file);
  std::byte bytes[100];
  CHECK(file->read(0, bytes));
  REQUIRE(::truncate(path.c_str(), 60) == 0);
  Status read = file->read(0, bytes);
  REQUIRE_FALSE(read);
  CHECK(read.error().exitCode() == ExitCode::kFile);
  CHECK(read.error().begin()->message == "cannot read: the file ends at byte 60, before what was expected");
}

TEST_CASE("a written header lays its tensors one after the other") {
  SafetensorsHeader header;
  header.append("w\"\\\x01é", Dtype::kBfloat16, {2, 3}, 12);
  header.append("e3", Dtype::kFloat8e3, {5}, 5);
  header.append("none", Dtype::kFloat32r, {0, 4}, 0);
  Result<std::string> text = writeSafetensorsHeader(header, "out");
  REQUIRE(text);
  CHECK(text->size() % 8 == 0);
  CHECK(text->substr(8, text->find_last_not_of(' ') - 7) ==
        R"({"__metadata__":{"dtypemut.dtype.e3":"float8e3"},)"
        "\"w\\\"\\\\\\u0001é\":"
        R"({"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
        R"("e3":{"dtype":"U8","shape":[5],"data_offsets":[12,17]},)"
        R"("none":{"dtype":"F32","shape":[0,4],"data_offsets":[17,17]}})");

  ScratchFolder folder;
  const std::string path = folder / "w.safetensors";
  writeFile(path, *text + std::string(17, '\0'));
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file);
  CHECK(file->find("w\"\\\x01é") != nullptr);
  CHECK(file->dtype(*file->find("e3")) == Dtype::kFloat8e3);
  CHECK(*writeSafetensorsHeader({}, "out") == fileWith("{}      ", 0));
}

TEST_CASE("dtype entries follow the dtypes") {
  SafetensorsHeader header;
  header.append("a", Dtype::kFloat8e4, {1}, 1);
  header.append("b", Dtype::kFloat8e4, {1}, 1);
  header.append("c", Dtype::kFloat32, {1}, 4);
  header.append("d", Dtype::kFloat8e3, {1}, 1);
  header.metadata->insert(header.metadata->begin(), {"format", "pt"});
  header.setDtypes({Dtype::kFloat8e3, Dtype::kBfloat16, Dtype::kFloat8e4, std::nullopt});
  CHECK(header.metadata == SafetensorsHeader::Metadata{{"format", "pt"},
                                                       {"dtypemut.dtype.a", "float8e3"},
                                                       {"dtypemut.dtype.d", "float8e3"},
                                                       {"dtypemut.dtype.c", "float8e4"}});
  CHECK(header.tensors[1].dtypeCode == "BF16");
  CHECK(header.tensors[2].dtypeCode == "U8");
}

TEST_CASE("which dtypes the format can store") {
  for (const DtypeInfo& info : kDtypes)
    CHECK(canStore(info.dtype) == (!isPacked(info.dtype) && info.dtype != Dtype::kFloat8E8m0fnu));
  CHECK(safetensorsCode(Dtype::kFloat32r) == "F32");
}

TEST_CASE("a hundred thousand tensors are found by name") {
  SafetensorsHeader header;
  for (int i = 0; i < 100'000; ++i) header.append("layer." + std::to_string(i), Dtype::kFloat8e3, {1}, 1);
  ScratchFolder folder;
  const std::string path = folder / "w.safetensors";
  writeFile(path, *writeSafetensorsHeader(header, path) + std::string(100'000, '\0'));
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file);
  CHECK(file->find("layer.99999")->begin == 99'999);
  CHECK(file->dtype(*file->find("layer.77777")) == Dtype::kFloat8e3);
}

TEST_CASE("real files are read") {
  const std::string folder = DTYPEMUT_SHARED "/real";
  if (!std::filesystem::exists(folder)) return;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    Result<SafetensorsFile> file = SafetensorsFile::open(entry.path().string());
    CHECK(static_cast<bool>(file));
    ++count;
  }
  CHECK(count > 5);
}
