// Tensor descriptors of arbitrary bytes, and hex text of them: read, explained, and asked at every gate.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "dtypemut/cast/isa_scalar.h"
#include "dtypemut/commands/decode.h"
#include "dtypemut/target/arg_tensor.h"
#include "dtypemut/types/bytes.h"
#include "fuzz.h"

using namespace dtypemut;

namespace {

const fuzz::Folder& folder() {
  static const fuzz::Folder kFolder({});
  return kFolder;
}

std::string bytesOf(const ArgTensor& tensor) {
  std::string bytes;
  for (const DescriptorField& field : tensor.fields) {
    CHECK(field.offset == bytes.size());
    for (const std::byte byte : field.bytes) bytes += static_cast<char>(byte);
  }
  return bytes;
}

void checkElements(const ArgTensor& tensor) {
  // Exact where it matters: below 2^64.
  long double product = 1;
  for (const std::uint32_t count : tensor.shape()) {
    CHECK(count != 0);
    product *= static_cast<long double>(count);
  }
  const bool isNumber = !tensor.shape().empty() && product < 0x1p64L;
  CHECK(tensor.shapeElements().has_value() == isNumber);
  if (isNumber) CHECK(*tensor.shapeElements() == static_cast<std::uint64_t>(product));
}

void checkGates(const ArgTensor& tensor, const std::vector<Gate>& gates) {
  bool isAsked = false;
  for (const Gate& gate : gates) {
    CHECK((gate.state == Gate::State::kHolds) == gate.detail.empty());
    if (gate.site != AssertionSite::kSupportedDtype) continue;
    isAsked = true;
    CHECK((gate.state == Gate::State::kHolds) == isaToTorchDtype(tensor.dtype).has_value());
  }
  CHECK(isAsked);
}

/// What the command makes of the file, asked in each way.
void decodeFile(const DescriptorFile& file, const std::optional<ArgTensor>& tensor, const ScalarElement& element) {
  DecodeOptions options{.scalar = {}, .descriptor = file, .reverse = {}, .codes = {}, .expect = {}, .target = {}};
  const auto ask = [&] {
    fuzz::Log log;
    const ExitCode exitCode = decode(options, log.line());
    CHECK((exitCode == ExitCode::kDone) == (log.errorCount() == 0));
    if (!tensor) CHECK(exitCode == ExitCode::kRefused);
    return exitCode;
  };
  const ExitCode asText = ask();
  if (tensor) CHECK((asText == ExitCode::kDone || asText == ExitCode::kNo));
  options.json = true;
  options.target = target(Architecture::kCayman);
  CHECK(ask() == asText);
  options.expect = ScalarType::kBFloat16;
  ask();
  options.expect = std::nullopt;
  options.scalar = element;
  const ExitCode asScalar = ask();
  if (tensor && isaDtypeSizeof(tensor->dtype) != element.bytes.size() && isaDtypeSizeof(tensor->dtype))
    CHECK(asScalar == ExitCode::kUsage);
}

void check(DescriptorKind kind, const std::string& content) {
  const std::string path = folder() / "t";
  const Result<ArgTensor> read = readArgTensor(kind, content, "t");
  const auto bytes = std::as_bytes(std::span(content)).first(std::min<std::size_t>(content.size(), 8));
  ScalarElement element{.bytes = {bytes.begin(), bytes.end()}, .code = {}};
  if (!read) {
    CHECK(read.error().exitCode() == ExitCode::kRefused);
    const Result<std::vector<std::byte>> hex = bytesFromHex(content);
    CHECK((!hex || hex->size() != descriptorBytes(kind)));
    return decodeFile({kind, path}, std::nullopt, element);
  }
  const std::string is = bytesOf(*read);
  CHECK(is.size() == descriptorBytes(kind));
  CHECK((is == content || isHexText(content)));
  CHECK(read->handle.has_value() == (kind == DescriptorKind::kUTensor));
  checkElements(*read);
  for (const std::vector<Gate>& gates : {tensorGates(*read), scalarGates(*read), copyGates(*read, ScalarType::kFloat)})
    checkGates(*read, gates);

  const Result<ArgTensor> again = readArgTensor(kind, hexFromBytes(std::as_bytes(std::span(is))), "t");
  REQUIRE(again);
  CHECK(bytesOf(*again) == is);
  if (const auto size = isaDtypeSizeof(read->dtype); size && *size <= element.bytes.size()) element.bytes.resize(*size);
  decodeFile({kind, path}, *read, element);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  writeFile(folder() / "t", content);
  for (const DescriptorKind kind : {DescriptorKind::kArgTensor, DescriptorKind::kUTensor}) check(kind, content);
  return 0;
}
