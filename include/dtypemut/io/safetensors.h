// The safetensors file format: eight bytes with the length of a header, a JSON header, and the data of its tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/input_file.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

/// The format's limit for the length of a header.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// One tensor of a header. `begin` and `end` count bytes from the start of the data section.
struct SafetensorsTensor {
  std::string name;
  std::string dtypeCode;  ///< as spelled in the file; not always one that a Dtype has
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string otherMembers = {};  ///< JSON members that the format does not know, as spelled, each after a comma

  std::uint64_t byteSize() const { return end - begin; }
};

/// A header, to be read or to be written.
struct SafetensorsHeader {
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  std::optional<Metadata> metadata;        ///< the header's __metadata__, in its order
  std::vector<SafetensorsTensor> tensors;  ///< in the order of the header, which need not be that of the data

  /// Adds a tensor whose data follow all others, stored as `dtype` is: float8e3 and float8e4, which have no code of
  /// their own, as U8 with a metadata entry (spec 6). `dtype` must be one that canStore tells.
  void append(std::string name, Dtype dtype, std::vector<std::uint64_t> shape, std::uint64_t bytes);

  /// Gives each tensor that has a dtype here (one entry per tensor, in their order) the code and the metadata entry
  /// that go with it; a metadata entry that does not is removed. The others stay as they are.
  void setDtypes(const std::vector<std::optional<Dtype>>& dtypes);

  /// Positions in `tensors` by where the data begin; of tensors without data those first that come first.
  std::vector<std::size_t> dataOrder() const;
};

/// Whether safetensors has a way to store the dtype (spec 6): all but the packed ones and float8_e8m0fnu.
bool canStore(Dtype dtype);
/// The code a dtype is stored as: "U8" for float8e3 and float8e4.
std::string_view safetensorsCode(Dtype dtype);

/// The bytes of a file before its data section, which padding aligns to 8 bytes. An error (kRefused) beyond the
/// format's limit, about `path`.
Result<std::string> writeSafetensorsHeader(const SafetensorsHeader& header, const std::string& path);

/// An open safetensors file whose header has been found to be valid: its tensors cover the data section without gap or
/// overlap, and the sizes of those whose dtype the format knows agree with their shapes.
class SafetensorsFile {
 public:
  /// Errors about content (kRefused) name the tensor.
  static Result<SafetensorsFile> open(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const std::string& path() const { return file_.path(); }
  const InputFile& file() const { return file_; }
  /// Where in the file the data of a tensor of header() begin.
  std::uint64_t offset(const SafetensorsTensor& tensor) const { return dataOffset_ + tensor.begin; }
  /// Null when there is none.
  const SafetensorsTensor* find(std::string_view name) const;
  /// What the code of a tensor of header() stands for, with spec 6's metadata entry taken into account; nullopt when
  /// the tool has no such dtype. F32 is float32, never float32r.
  std::optional<Dtype> dtype(const SafetensorsTensor& tensor) const;

 private:
  explicit SafetensorsFile(InputFile file) : file_(std::move(file)) {}

  InputFile file_;
  std::uint64_t dataOffset_ = 0;
  SafetensorsHeader header_;
  std::unordered_map<std::string_view, std::size_t> byName_;         // into header_.tensors
  std::unordered_map<std::string_view, std::string_view> metadata_;  // into header_.metadata
};

}  // namespace dtypemut
