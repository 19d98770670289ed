// A model's weights: one safetensors file, or several shards that an index lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/safetensors.h"
#include "dtypemut/io/source.h"

namespace dtypemut {

/// A *.safetensors.index.json: which tensor stands in which file of the same folder.
class CheckpointIndex {
 public:
  /// Errors stand in `source`, which is taken over even so. A file name that leads out of the folder is one.
  static Result<CheckpointIndex> parse(const Source& source);

  /// The file names, each once, in the order of their first appearance.
  const std::vector<std::string>& files() const { return files_; }

  struct Entry {
    std::string tensor;
    std::size_t file;      ///< position in files()
    std::uint64_t offset;  ///< of the tensor's name in the text
  };
  const std::vector<Entry>& entries() const { return entries_; }

  /// `text`, which is what was parsed, with another metadata.total_size and otherwise as it is.
  std::string withTotalSize(std::string_view text, std::uint64_t bytes) const;

 private:
  friend class IndexVisitor;

  std::vector<std::string> files_;
  std::vector<Entry> entries_;
  std::uint64_t rootOffset_ = 0;
  std::optional<std::uint64_t> metadataOffset_;
  std::optional<std::uint64_t> totalSizeOffset_;
};

/// An open checkpoint whose headers are valid, and which holds what its index lists.
class Checkpoint {
 public:
  /// Whether a path is that of an index.
  static bool isIndexPath(const std::string& path) { return path.ends_with(".json"); }

  /// Errors with an offset stand in the index, which `index` then holds.
  static Result<Checkpoint> open(const std::string& path, std::optional<Source>& index, unsigned threads = 0);

  /// One file if there is no index.
  const std::vector<SafetensorsFile>& shards() const { return shards_; }
  const std::optional<CheckpointIndex>& index() const { return index_; }

 private:
  Checkpoint() = default;

  std::vector<SafetensorsFile> shards_;  // in the order of the index's files
  std::optional<CheckpointIndex> index_;
};

}  // namespace dtypemut
