#include "dtypemut/io/weights.h"

#include <algorithm>
#include <array>

#include "dtypemut/io/base64.h"
#include "dtypemut/io/elements.h"
#include "dtypemut/io/input_file.h"
#include "dtypemut/io/json_text.h"
#include "dtypemut/types/spelling.h"

namespace dtypemut {
namespace {

/// Faults of a file, moved to where the document names it.
Diagnostics inDocument(const Diagnostics& faults, std::uint64_t offset) {
  Diagnostics moved;
  for (Diagnostic fault : faults) {
    if (!fault.file.empty()) fault.message = fault.file + ": " + fault.message;
    fault.file.clear();
    fault.offset = offset;
    moved.add(std::move(fault));
  }
  return moved;
}

Diagnostic refused(const Tensor& tensor, std::uint64_t offset, const std::string& message) {
  return {.message = "tensor '" + std::string(tensor.name) + "': " + message, .offset = offset};
}

/// Faults of the file that a tensor's data are in.
Diagnostics ofTensor(const Tensor& tensor, const Diagnostics& faults, std::uint64_t offset) {
  Diagnostics named;
  for (Diagnostic fault : inDocument(faults, offset)) {
    fault.message = "tensor '" + std::string(tensor.name) + "': " + fault.message;
    named.add(std::move(fault));
  }
  return named;
}

std::string shapeText(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::uint64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

/// A value of the document, for people; of a long one the beginning.
std::string foundText(std::string_view spelled) {
  constexpr std::size_t kLongest = 40;
  return "; found " + std::string(spelled.substr(0, kLongest)) + (spelled.size() > kLongest ? "..." : "");
}

// ---- where bytes come from; all of it has been checked

class ValuesSource final : public ByteSource {
 public:
  ValuesSource(std::string_view text, std::uint64_t token, const Tensor& weight) : bytes_(weight.sizeInBytes()) {
    std::byte* element = bytes_.data();
    forEachElement(text, token, [&](std::uint64_t at) {
      parseElement(valueAt(text, at), weight.dtype, Overflow::kError, element);
      element += containerBytes(weight.dtype);
      return true;
    });
  }
  Status read(std::uint64_t offset, std::span<std::byte> out) const override {
    return MemorySource(bytes_).read(offset, out);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Decodes what is asked for, so that a large weight is never there as a whole.
class Base64Source final : public ByteSource {
 public:
  Base64Source(std::string_view text, std::uint64_t token) : text_(stringContent(text, token, buffer_)) {}
  Status read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t firstGroup = offset / 3;
    const std::uint64_t lastGroup = (offset + out.size() + 2) / 3;
    const std::vector<std::byte> bytes = decodeBase64(text_.substr(firstGroup * 4, (lastGroup - firstGroup) * 4));
    return MemorySource(bytes).read(offset - firstGroup * 3, out);
  }

 private:
  std::string buffer_;
  std::string_view text_;
};

/// A raw file, opened for each piece: there may be more of them than a process may hold open.
class FileSource final : public ByteSource {
 public:
  FileSource(const ConstData& data, std::string path) : data_(data), path_(std::move(path)) {}
  Status read(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto file = InputFile::open(path_);
    if (!file) return inDocument(file.error(), data_.dataToken);
    const Status read = file->read(data_.fileOffset + offset, out);
    if (!read) return inDocument(read.error(), data_.dataToken);
    return Done{};
  }

 private:
  const ConstData& data_;
  std::string path_;
};

class SafetensorsSource final : public ByteSource {
 public:
  SafetensorsSource(const ConstData& data, const SafetensorsFile& file)
      : data_(data), file_(file), begin_(file.offset(*file.find(data.entry))) {}
  Status read(std::uint64_t offset, std::span<std::byte> out) const override {
    const Status read = file_.file().read(begin_ + offset, out);
    if (!read) return inDocument(read.error(), data_.dataToken);
    return Done{};
  }

 private:
  const ConstData& data_;
  const SafetensorsFile& file_;
  std::uint64_t begin_;
};

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
  const std::string_view spelled = valueAt(source_.text(), data.valueToken);
  const auto fault = parseElement(spelled, tensor.dtype, Overflow::kAllowed, element.data());
  if (!fault) return {};
  return refused(tensor, data.valueToken, "'splat' " + *fault + foundText(spelled));
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
      diagnostics.add(
          refused(tensor, at, "element " + std::to_string(count) + " of 'values' " + *fault + foundText(spelled)));
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
  const Base64Check check = checkBase64(stringContent(source_.text(), data.valueToken, buffer));
  if (!check.error.empty()) return refused(tensor, data.valueToken, "'base64' is malformed: " + check.error);
  if (check.bytes == tensor.sizeInBytes()) return {};
  return refused(tensor, data.valueToken,
                 "'base64' has " + bytesText(check.bytes) + "; expected " + bytesText(tensor.sizeInBytes()));
}

Diagnostics Weights::checkFile(const Tensor& tensor, const ConstData& data) const {
  const auto file = InputFile::open(pathOf(data).string());
  if (!file) return ofTensor(tensor, file.error(), data.dataToken);
  const std::uint64_t size = file->size();
  if (data.fileOffset <= size && size - data.fileOffset >= tensor.sizeInBytes()) return {};
  return refused(tensor, data.dataToken,
                 file->path() + ": has " + bytesText(size) + "; expected " + bytesText(tensor.sizeInBytes()) +
                     " from offset " + std::to_string(data.fileOffset));
}

Diagnostics Weights::checkSafetensors(const Tensor& tensor, const ConstData& data) {
  const Result<SafetensorsFile>& file = safetensors(pathOf(data));
  if (!file) return ofTensor(tensor, file.error(), data.dataToken);
  const SafetensorsTensor* entry = file->find(data.entry);
  const std::string what = file->path() + ": tensor '" + std::string(data.entry) + "' ";
  if (entry == nullptr) {
    std::vector<std::string_view> names;
    for (const SafetensorsTensor& other : file->header().tensors) names.push_back(other.name);
    const auto nearest = nearestName(data.entry, names);
    return refused(tensor, data.dataToken,
                   what + "is not there" + (nearest ? " (did you mean '" + std::string(*nearest) + "'?)" : ""));
  }
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

std::unique_ptr<ByteSource> Weights::bytes(const Tensor& weight) {
  const ConstData& data = graph_.constData(weight);
  switch (data.form) {
    case DataForm::kSplat:
      break;
    case DataForm::kValues:
      return std::make_unique<ValuesSource>(source_.text(), data.valueToken, weight);
    case DataForm::kBase64:
      return std::make_unique<Base64Source>(source_.text(), data.valueToken);
    case DataForm::kFile:
      return std::make_unique<FileSource>(data, pathOf(data).string());
    case DataForm::kSafetensors:
      return std::make_unique<SafetensorsSource>(data, *safetensors(pathOf(data)));
  }
  return nullptr;
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
