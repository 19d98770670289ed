// The bytes of const tensors: where a document says they are, whether they are there, and what they are once cast
// (spec 2, 6, 7).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dtypemut/cast/stream.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/io/source.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

class Weights {
 public:
  /// Both must outlive the object.
  Weights(const Source& source, const Graph& graph) : source_(source), graph_(graph) {}

  /// Checks the data of every const tensor: its form, its length, and that it is there. A fault stands at the data
  /// value in the document and names the file.
  Diagnostics check();

  /// The bytes of a weight that is no splat, from 0 to its size. Errors stand at its data value and name the file. Must
  /// not outlive the object.
  std::unique_ptr<ByteSource> bytes(const Tensor& weight);

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

  const Source& source_;
  const Graph& graph_;
  std::map<std::filesystem::path, std::unique_ptr<Result<SafetensorsFile>>> safetensors_;
};

}  // namespace dtypemut
