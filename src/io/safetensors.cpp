#include "dtypemut/io/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "dtypemut/io/json_text.h"
#include "safetensors_header.h"

namespace dtypemut {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kDataAlignment = 8;
constexpr std::string_view kDtypeEntryPrefix = "dtypemut.dtype.";

/// Codes of the format that no Dtype has, with their bits per element.
struct ForeignCode {
  std::string_view code;
  unsigned bits;
};
constexpr ForeignCode kForeignCodes[] = {
    {"BOOL", 8},        {"F64", 64}, {"C64", 64},    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
};

std::optional<Dtype> dtypeFromCode(std::string_view code) {
  for (const DtypeInfo& info : kDtypes)
    if (!info.safetensorsCode.empty() && info.safetensorsCode == code) return info.dtype;
  return std::nullopt;
}

std::optional<unsigned> bitsPerElement(std::string_view code) {
  if (const std::optional<Dtype> dtype = dtypeFromCode(code)) return static_cast<unsigned>(8 * containerBytes(*dtype));
  for (const ForeignCode& foreign : kForeignCodes)
    if (foreign.code == code) return foreign.bits;
  return std::nullopt;
}

/// float8e3 and float8e4: those stored as U8 with a metadata entry.
bool hasDtypeEntry(Dtype dtype) { return isScalarFloat(dtype) && dtypeInfo(dtype).safetensorsCode.empty(); }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// a * b unless that has no 64 bits.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

/// The bytes of a tensor of that shape; nullopt when their number has no 64 bits or is not whole.
std::optional<std::uint64_t> sizeOf(const std::vector<std::uint64_t>& shape, unsigned bits) {
  if (std::ranges::count(shape, 0u) != 0) return 0;
  std::optional<std::uint64_t> size = bits;
  for (std::uint64_t dimension : shape)
    if (size) size = product(*size, dimension);
  if (!size || *size % 8 != 0) return std::nullopt;
  return *size / 8;
}

std::string toText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::uint64_t dimension : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(dimension);
  return text + "]";
}

/// What is wrong with one tensor by itself; empty when nothing is.
std::string faultOf(const SafetensorsTensor& tensor, std::uint64_t dataSize) {
  if (tensor.begin > tensor.end) {
    return "its data_offsets run backwards, from " + std::to_string(tensor.begin) + " to " + std::to_string(tensor.end);
  }
  if (tensor.end > dataSize) {
    return "its data end at byte " + std::to_string(tensor.end) + " of a data section of " + std::to_string(dataSize) +
           " bytes";
  }
  const std::optional<unsigned> bits = bitsPerElement(tensor.dtypeCode);
  if (!bits) return {};
  const std::optional<std::uint64_t> size = sizeOf(tensor.shape, *bits);
  const std::string what = tensor.dtypeCode + " of shape " + toText(tensor.shape);
  if (!size) return what + (*bits % 8 == 0 ? " is too large" : " is no whole number of bytes, or too large");
  if (*size == tensor.byteSize()) return {};
  return what + " takes " + std::to_string(*size) + " bytes, but its data_offsets give it " +
         std::to_string(tensor.byteSize());
}

/// What keeps the tensors from covering the data section exactly; empty when nothing does.
std::string faultOfCoverage(const SafetensorsHeader& header, std::uint64_t dataSize) {
  std::uint64_t covered = 0;
  const SafetensorsTensor* before = nullptr;
  for (std::size_t index : header.dataOrder()) {
    const SafetensorsTensor& tensor = header.tensors[index];
    if (tensor.begin < covered) {
      return "tensor " + quoted(tensor.name) + ": its data begin at byte " + std::to_string(tensor.begin) +
             ", but those of tensor " + quoted(before->name) + " end at byte " + std::to_string(covered);
    }
    if (tensor.begin > covered) {
      return "tensor " + quoted(tensor.name) + ": bytes " + std::to_string(covered) + " to " +
             std::to_string(tensor.begin) + " of the data, before its own, belong to no tensor";
    }
    covered = tensor.end;
    before = &tensor;
  }
  if (covered == dataSize) return {};
  return "the last " + std::to_string(dataSize - covered) + " bytes of the data belong to no tensor";
}

void appendTensor(std::string& text, const SafetensorsTensor& tensor) {
  text += quoteString(tensor.name);
  text += ":{\"dtype\":";
  text += quoteString(tensor.dtypeCode);
  text += ",\"shape\":[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(tensor.shape[i]);
  }
  text += "],\"data_offsets\":[" + std::to_string(tensor.begin) + ',' + std::to_string(tensor.end) + ']';
  text += tensor.otherMembers;
  text += '}';
}

}  // namespace

bool canStore(Dtype dtype) { return !safetensorsCode(dtype).empty(); }

std::string_view safetensorsCode(Dtype dtype) {
  return hasDtypeEntry(dtype) ? dtypeInfo(Dtype::kUint8).safetensorsCode : dtypeInfo(dtype).safetensorsCode;
}

void SafetensorsHeader::append(std::string name, Dtype dtype, std::vector<std::uint64_t> shape, std::uint64_t bytes) {
  const std::uint64_t begin = tensors.empty() ? 0 : tensors.back().end;
  if (hasDtypeEntry(dtype)) {
    if (!metadata) metadata.emplace();
    metadata->emplace_back(std::string(kDtypeEntryPrefix) + name, dtypeName(dtype));
  }
  tensors.push_back({.name = std::move(name),
                     .dtypeCode = std::string(safetensorsCode(dtype)),
                     .shape = std::move(shape),
                     .begin = begin,
                     .end = begin + bytes});
}

void SafetensorsHeader::setDtypes(const std::vector<std::optional<Dtype>>& dtypes) {
  std::unordered_map<std::string, Dtype> changed;  // by the key of the metadata entry
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!dtypes[i]) continue;
    tensors[i].dtypeCode = safetensorsCode(*dtypes[i]);
    changed.emplace(std::string(kDtypeEntryPrefix) + tensors[i].name, *dtypes[i]);
  }
  Metadata kept;
  for (auto& [key, value] : metadata.value_or(Metadata{})) {
    const auto found = changed.find(key);
    if (found == changed.end()) {
      kept.emplace_back(std::move(key), std::move(value));
    } else if (hasDtypeEntry(found->second)) {
      kept.emplace_back(key, dtypeName(found->second));
      changed.erase(found);
    }
  }
  for (const SafetensorsTensor& tensor : tensors) {
    std::string key = std::string(kDtypeEntryPrefix) + tensor.name;
    const auto found = changed.find(key);
    if (found != changed.end() && hasDtypeEntry(found->second))
      kept.emplace_back(std::move(key), dtypeName(found->second));
  }
  if (metadata || !kept.empty()) metadata = std::move(kept);
}

std::vector<std::size_t> SafetensorsHeader::dataOrder() const {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [this](std::size_t i) { return std::pair(tensors[i].begin, tensors[i].end); });
  return order;
}

Result<std::string> writeSafetensorsHeader(const SafetensorsHeader& header, const std::string& path) {
  std::string text(kLengthBytes, '\0');
  text += '{';
  if (header.metadata) {
    text += quoteString(kMetadataKey);
    text += ":{";
    for (const auto& [key, value] : *header.metadata) {
      if (!text.ends_with('{')) text += ',';
      text += quoteString(key);
      text += ':';
      text += quoteString(value);
    }
    text += '}';
  }
  bool first = !header.metadata;
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (!std::exchange(first, false)) text += ',';
    appendTensor(text, tensor);
  }
  text += '}';
  text.resize((text.size() + kDataAlignment - 1) / kDataAlignment * kDataAlignment, ' ');
  const std::uint64_t length = text.size() - kLengthBytes;
  if (length > kMaxSafetensorsHeader) {
    return refusedFile(path, "its header would take " + std::to_string(length) + " bytes; the format's limit is " +
                                 std::to_string(kMaxSafetensorsHeader));
  }
  for (std::size_t i = 0; i < kLengthBytes; ++i) text[i] = static_cast<char>(length >> (8 * i) & 0xFF);
  return text;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  Result<InputFile> input = InputFile::open(path);
  if (!input) return input.error();
  SafetensorsFile file(std::move(*input));
  const std::uint64_t size = file.file_.size();
  if (size < kLengthBytes)
    return refusedFile(path, "no safetensors file: it has only " + std::to_string(size) + " bytes");

  std::array<std::byte, kLengthBytes> lengthBytes;
  if (Status read = file.file_.read(0, lengthBytes); !read) return read.error();
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(lengthBytes[i]);
  if (length > kMaxSafetensorsHeader) {
    return refusedFile(path, "no safetensors file: its header would have " + std::to_string(length) +
                                 " bytes; the format's limit is " + std::to_string(kMaxSafetensorsHeader));
  }
  if (length > size - kLengthBytes) {
    return refusedFile(path, "its header would have " + std::to_string(length) + " bytes, but the file ends after " +
                                 std::to_string(size));
  }
  std::string text(length, '\0');
  if (Status read = file.file_.read(kLengthBytes, std::as_writable_bytes(std::span(text))); !read) return read.error();
  if (std::string message = parseSafetensorsHeader(text, kLengthBytes, file.header_); !message.empty())
    return refusedFile(path, message);

  file.dataOffset_ = kLengthBytes + length;
  const std::uint64_t dataSize = size - file.dataOffset_;
  Diagnostics faults;
  for (const SafetensorsTensor& tensor : file.header_.tensors) {
    if (const std::string fault = faultOf(tensor, dataSize); !fault.empty())
      faults.add(refusedFile(path, "tensor " + quoted(tensor.name) + ": " + fault));
    if (faults.full()) break;
  }
  if (faults.hasErrors()) return faults;
  if (const std::string fault = faultOfCoverage(file.header_, dataSize); !fault.empty())
    return refusedFile(path, fault);

  file.byName_.reserve(file.header_.tensors.size());
  for (std::size_t i = 0; i < file.header_.tensors.size(); ++i) file.byName_.emplace(file.header_.tensors[i].name, i);
  if (file.header_.metadata)
    for (const auto& [key, value] : *file.header_.metadata) file.metadata_.emplace(key, value);
  return file;
}

const SafetensorsTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &header_.tensors[found->second];
}

std::optional<Dtype> SafetensorsFile::dtype(const SafetensorsTensor& tensor) const {
  const std::optional<Dtype> dtype = dtypeFromCode(tensor.dtypeCode);
  if (dtype != Dtype::kUint8 || metadata_.empty()) return dtype;
  const auto entry = metadata_.find(std::string(kDtypeEntryPrefix) + tensor.name);
  if (entry == metadata_.end()) return dtype;
  const std::optional<Dtype> named = dtypeFromName(entry->second);
  return named && hasDtypeEntry(*named) ? named : dtype;
}

}  // namespace dtypemut
