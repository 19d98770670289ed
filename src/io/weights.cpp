#include "dtypemut/io/weights.h"

#include <algorithm>
#include <array>

#include "dtypemut/io/base64.h"
#include "dtypemut/io/elements.h"
#include "dtypemut/io/input_file.h"
#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{12} << 20;  // whole elements, and whole groups of base64

/// The diagnostic `fault`, moved to a place in the document and naming its tensor.
Diagnostic placed(Diagnostic fault, const Tensor& tensor, std::uint64_t offset) {
  const std::string file = fault.file.empty() ? "" : fault.file + ": ";
  fault.message = "tensor '" + std::string(tensor.name) + "': " + file + fault.message;
  fault.offset = offset;
  return fault;
}

Diagnostics placed(const Diagnostics& faults, const Tensor& tensor, std::uint64_t offset) {
  Diagnostics result;
  for (const Diagnostic& fault : faults) result.add(placed(fault, tensor, offset));
  return result;
}

Diagnostic refused(const Tensor& tensor, std::uint64_t offset, std::string message) {
  return placed(Diagnostic{.message = std::move(message)}, tensor, offset);
}

std::string shapeText(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::uint64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

std::string bytesText(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

}  // namespace

Diagnostics Weights::check() {
  Diagnostics diagnostics;
  for (std::uint32_t i = 0; i < graph_.documentTensorCount() && !diagnostics.full(); ++i) {
    const Tensor& tensor = graph_.tensor(TensorId{i});
    if (tensor.constData != UINT32_MAX && tensor.dtype != Dtype::kNone) diagnostics.append(checkData(tensor));
  }
  return diagnostics;
}

Diagnostics Weights::checkData(const Tensor& tensor) {
  const ConstData& data = graph_.constData(tensor);
  switch (data.form) {
    case DataForm::kSplat:
      return checkSplat(tensor, data);
    case DataForm::kValues:
      return checkValues(tensor, data);
    case DataForm::kBase64:
      return checkBase64Form(tensor, data);
    case DataForm::kFile:
      return checkFile(tensor, data);
    case DataForm::kSafetensors:
      return checkSafetensors(tensor, data);
  }
  return {};
}

Diagnostics Weights::checkSplat(const Tensor& tensor, const ConstData& data) const {
  std::array<std::byte, 8> element{};
  const auto fault =
      parseElement(valueAt(source_.text(), data.valueToken), tensor.dtype, Overflow::kAllowed, element.data());
  if (!fault) return {};
  return refused(tensor, data.valueToken, "'splat' " + *fault);
}

Diagnostics Weights::checkValues(const Tensor& tensor, const ConstData& data) const {
  if (isPacked(tensor.dtype))
    return refused(
        tensor, data.valueToken,
        "'values' cannot give the elements of packed " + std::string(dtypeName(tensor.dtype)) + "; use 'base64'");
  std::array<std::byte, 8> element{};
  std::uint64_t count = 0;
  Diagnostics diagnostics;
  forEachElement(source_.text(), data.valueToken, [&](std::uint64_t at) {
    const std::string_view spelled = valueAt(source_.text(), at);
    if (const auto fault = parseElement(spelled, tensor.dtype, Overflow::kError, element.data()))
      diagnostics.add(refused(tensor, at, "element " + std::to_string(count) + " of 'values' " + *fault));
    ++count;
    return !diagnostics.full();
  });
  if (!diagnostics.full() && count != tensor.elementCount)
    diagnostics.add(refused(tensor, data.valueToken,
                            "'values' has " + std::to_string(count) + " elements, but shape " +
                                shapeText(graph_.shape(tensor)) + " has " + std::to_string(tensor.elementCount)));
  return diagnostics;
}

Diagnostics Weights::checkBase64Form(const Tensor& tensor, const ConstData& data) const {
  std::string buffer;
  const Base64Check check = checkBase64(base64Text(data, buffer));
  if (!check.error.empty()) return refused(tensor, data.valueToken, "'base64' is malformed: " + check.error);
  if (check.bytes == tensor.sizeInBytes()) return {};
  return refused(
      tensor, data.valueToken,
      "'base64' has " + bytesText(check.bytes) + ", but " + bytesText(tensor.sizeInBytes()) + " are expected");
}

Diagnostics Weights::checkFile(const Tensor& tensor, const ConstData& data) const {
  const auto file = InputFile::open(pathOf(data).string());
  if (!file) return placed(file.error(), tensor, data.dataToken);
  const std::uint64_t size = file->size();
  if (data.fileOffset <= size && size - data.fileOffset >= tensor.sizeInBytes()) return {};
  return refused(tensor, data.dataToken,
                 file->path() + ": has " + bytesText(size) + ", but " + bytesText(tensor.sizeInBytes()) +
                     " from offset " + std::to_string(data.fileOffset) + " are expected");
}

Diagnostics Weights::checkSafetensors(const Tensor& tensor, const ConstData& data) {
  const Result<SafetensorsFile>& file = safetensors(pathOf(data));
  if (!file) return placed(file.error(), tensor, data.dataToken);
  const SafetensorsTensor* entry = file->find(data.entry);
  const std::string what = file->path() + ": tensor '" + std::string(data.entry) + "' ";
  if (entry == nullptr) return refused(tensor, data.dataToken, what + "is not there");
  // float32r is stored as F32, and a U8 without a metadata entry may be either of the floats that have no code.
  const std::optional<Dtype> found = file->dtype(*entry);
  const bool hasCode = canStore(tensor.dtype) && entry->dtypeCode == safetensorsCode(tensor.dtype);
  const bool isPlainBytes = found == Dtype::kUint8 && isFp8(tensor.dtype);
  const bool isFloat32r = found == Dtype::kFloat32 && tensor.dtype == Dtype::kFloat32r;
  if (!hasCode || (found != tensor.dtype && !isPlainBytes && !isFloat32r))
    return refused(tensor, data.dataToken,
                   what + "is " + (found ? std::string(dtypeName(*found)) : entry->dtypeCode) + ", not " +
                       std::string(dtypeName(tensor.dtype)));
  if (!std::ranges::equal(entry->shape, graph_.shape(tensor)))
    return refused(tensor, data.dataToken,
                   what + "has shape " + shapeText(entry->shape) + ", not " + shapeText(graph_.shape(tensor)));
  return {};
}

const Result<SafetensorsFile>& Weights::safetensors(const std::filesystem::path& path) {
  auto& file = safetensors_[path];
  if (file == nullptr) file = std::make_unique<Result<SafetensorsFile>>(SafetensorsFile::open(path.string()));
  return *file;
}

std::string_view Weights::base64Text(const ConstData& data, std::string& buffer) const {
  const std::string_view spelled = valueAt(source_.text(), data.valueToken);
  const std::string_view content = spelled.substr(1, spelled.size() - 2);
  if (content.find('\\') == std::string_view::npos) return content;
  return buffer = decodeString(spelled);
}

Status Weights::cast(const Tensor& clone, const CastOptions& options, const ByteSink& sink) {
  const Tensor& weight = graph_.tensor(clone.cloneOf);
  const ConstData& data = graph_.constData(weight);
  std::vector<std::byte> cast;
  const auto castPiece = [&](std::span<const std::byte> bytes) {
    cast.resize(bytes.size() / containerBytes(weight.dtype) * containerBytes(clone.dtype));
    castBytes(weight.dtype, bytes, clone.dtype, cast, options);
    return sink(cast);
  };
  const auto castFile = [&](const InputFile& file, std::uint64_t offset) -> Status {
    std::vector<std::byte> piece;
    for (std::uint64_t done = 0; done < weight.sizeInBytes(); done += piece.size()) {
      piece.resize(std::min(kPieceBytes, weight.sizeInBytes() - done));
      if (const Status read = file.read(offset + done, piece); !read)
        return placed(read.error(), weight, data.dataToken);
      if (Status taken = castPiece(piece); !taken) return taken;
    }
    return Done{};
  };
  switch (data.form) {
    case DataForm::kSplat:
      break;  // its token stays; there are no bytes
    case DataForm::kValues: {
      std::vector<std::byte> bytes(weight.sizeInBytes());
      std::byte* element = bytes.data();
      forEachElement(source_.text(), data.valueToken, [&](std::uint64_t at) {
        parseElement(valueAt(source_.text(), at), weight.dtype, Overflow::kError, element);
        element += containerBytes(weight.dtype);
        return true;
      });
      return castPiece(bytes);
    }
    case DataForm::kBase64: {
      constexpr std::uint64_t kPieceCharacters = kPieceBytes / 3 * 4;
      std::string buffer;
      const std::string_view text = base64Text(data, buffer);
      for (std::uint64_t at = 0; at < text.size(); at += kPieceCharacters)
        if (Status taken = castPiece(decodeBase64(text.substr(at, kPieceCharacters))); !taken) return taken;
      break;
    }
    case DataForm::kFile: {
      const auto file = InputFile::open(pathOf(data).string());
      if (!file) return placed(file.error(), weight, data.dataToken);
      return castFile(*file, data.fileOffset);
    }
    case DataForm::kSafetensors: {
      const Result<SafetensorsFile>& file = safetensors(pathOf(data));
      if (!file) return placed(file.error(), weight, data.dataToken);
      const SafetensorsTensor* entry = file->find(data.entry);
      if (entry == nullptr) return refused(weight, data.dataToken, file->path() + ": tensor is not there");
      return castFile(file->file(), file->offset(*entry));
    }
  }
  return Done{};
}

std::vector<std::filesystem::path> Weights::files() const {
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t i = 0; i < graph_.documentTensorCount(); ++i) {
    const Tensor& tensor = graph_.tensor(TensorId{i});
    if (tensor.constData == UINT32_MAX) continue;
    const ConstData& data = graph_.constData(tensor);
    if (data.form == DataForm::kFile || data.form == DataForm::kSafetensors) paths.push_back(pathOf(data));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace dtypemut
