// The bytes of const tensors: where a document says they are, whether they are there, and what they are once cast
// (spec 2, 6, 7).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/io/source.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

/// Takes a piece of the bytes of a tensor; pieces come in order.
using ByteSink = std::function<Status(std::span<const std::byte>)>;

class Weights {
 public:
  /// Both must outlive the object.
  Weights(const Source& source, const Graph& graph) : source_(source), graph_(graph) {}

  /// Checks the data of every const tensor: its form, its length, and that it is there. A fault stands at the data
  /// value in the document and names the file.
  Diagnostics check();

  /// Casts the bytes of the weight that `clone` is the cast of, and hands them over in pieces of whole elements. Errors
  /// stand at the weight's data value.
  Status cast(const Tensor& clone, const CastOptions& options, const ByteSink& sink);

  /// The path of a file or safetensors form, from the working directory.
  std::filesystem::path pathOf(const ConstData& data) const { return source_.folder() / data.file; }
  /// Every file that the document refers to.
  std::vector<std::filesystem::path> files() const;

 private:
  Diagnostics checkData(const Tensor& tensor);
  Diagnostics checkSplat(const Tensor& tensor, const ConstData& data) const;
  Diagnostics checkValues(const Tensor& tensor, const ConstData& data) const;
  Diagnostics checkBase64Form(const Tensor& tensor, const ConstData& data) const;
  Diagnostics checkFile(const Tensor& tensor, const ConstData& data) const;
  Diagnostics checkSafetensors(const Tensor& tensor, const ConstData& data);
  /// Opened once per path.
  const Result<SafetensorsFile>& safetensors(const std::filesystem::path& path);
  /// The content of a base64 form; `buffer` holds it where the document spells it with escapes.
  std::string_view base64Text(const ConstData& data, std::string& buffer) const;

  const Source& source_;
  const Graph& graph_;
  std::map<std::filesystem::path, std::unique_ptr<Result<SafetensorsFile>>> safetensors_;
};

}  // namespace dtypemut
