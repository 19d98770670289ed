#include "dtypemut/io/checkpoint.h"

#include <unordered_map>

#include "dtypemut/io/json_text.h"
#include "json_walk.h"

namespace dtypemut {

/// Takes the tokens of an index. Sections are the members of the document.
class IndexVisitor {
 public:
  IndexVisitor(CheckpointIndex& index, Diagnostics& diagnostics) : index_(index), diagnostics_(diagnostics) {}

  bool hasWeightMap() const { return hasWeightMap_; }

  bool key(const JsonToken& token) {
    if (depth_ == 1) section_ = token.text;
    if (depth_ == 2) {
      name_ = token.text;
      nameOffset_ = token.offset;
    }
    return true;
  }

  bool value(const JsonToken& token) {
    const bool opens = token.kind == TokenKind::kObject || token.kind == TokenKind::kArray;
    if (depth_ == 0) {
      if (token.kind != TokenKind::kObject) return refuse(token.offset, "an index must be an object");
      index_.rootOffset_ = token.offset;
    } else if (depth_ == 1 && isKnownSection()) {
      if (token.kind != TokenKind::kObject) return refuse(token.offset, "'" + section_ + "' must be an object");
      if (section_ == "metadata") index_.metadataOffset_ = token.offset;
      hasWeightMap_ |= section_ == "weight_map";
    } else if (depth_ == 2 && section_ == "metadata" && name_ == "total_size") {
      if (opens) return refuse(token.offset, "'total_size' must be a number");
      index_.totalSizeOffset_ = token.offset;
    } else if (depth_ == 2 && section_ == "weight_map") {
      if (token.kind != TokenKind::kString)
        return refuse(token.offset, "tensor '" + name_ + "': the name of its file must be a string");
      if (!addEntry(token)) return false;
    }
    if (opens) ++depth_;
    return true;
  }

  bool end() {
    --depth_;
    return true;
  }

 private:
  bool isKnownSection() const { return section_ == "metadata" || section_ == "weight_map"; }

  bool addEntry(const JsonToken& token) {
    const std::string file(token.text);
    if (file.empty() || file == "." || file == ".." || file.find_first_of(std::string_view("/\0", 2)) != file.npos)
      return refuse(token.offset, "tensor '" + name_ + "': '" + file + "' is no name of a file beside the index");
    const auto [found, isNew] = positions_.try_emplace(file, index_.files_.size());
    if (isNew) index_.files_.push_back(file);
    index_.entries_.push_back({.tensor = name_, .file = found->second, .offset = nameOffset_});
    return true;
  }

  bool refuse(std::uint64_t offset, std::string message) {
    diagnostics_.error(offset, std::move(message));
    return false;
  }

  CheckpointIndex& index_;
  Diagnostics& diagnostics_;
  unsigned depth_ = 0;
  std::string section_;
  std::string name_;
  std::uint64_t nameOffset_ = 0;
  bool hasWeightMap_ = false;
  std::unordered_map<std::string, std::size_t> positions_;  // in files_
};

Result<CheckpointIndex> CheckpointIndex::parse(const Source& source) {
  CheckpointIndex index;
  Diagnostics diagnostics;
  IndexVisitor visitor(index, diagnostics);
  if (!walkJson(source, visitor, diagnostics)) return diagnostics;
  if (!visitor.hasWeightMap()) diagnostics.error(index.rootOffset_, "an index must have a 'weight_map'");
  if (diagnostics.hasErrors()) return diagnostics;
  return index;
}

std::string CheckpointIndex::withTotalSize(std::string_view text, std::uint64_t bytes) const {
  std::string edited(text);
  const std::string number = std::to_string(bytes);
  if (totalSizeOffset_) {
    edited.replace(*totalSizeOffset_, endOfValue(text, *totalSizeOffset_) - *totalSizeOffset_, number);
    return edited;
  }
  const auto insert = [&](std::uint64_t object, const std::string& member) {
    const bool isEmpty = text[skipWhitespace(text, object + 1)] == '}';
    edited.insert(object + 1, member + (isEmpty ? "" : ","));
  };
  if (metadataOffset_)
    insert(*metadataOffset_, "\"total_size\": " + number);
  else
    insert(rootOffset_, "\"metadata\": {\"total_size\": " + number + "}");
  return edited;
}

Result<Checkpoint> Checkpoint::open(const std::string& path, std::optional<Source>& index, unsigned threads) {
  Checkpoint checkpoint;
  if (!isIndexPath(path)) {
    Result<SafetensorsFile> file = SafetensorsFile::open(path);
    if (!file) return file.error();
    checkpoint.shards_.push_back(std::move(*file));
    return checkpoint;
  }
  Result<Source> source = Source::read(path, Source::mostDocumentBytes(), threads);
  if (!source) return source.error();
  index = std::move(*source);
  Result<CheckpointIndex> parsed = CheckpointIndex::parse(*index);
  if (!parsed) return parsed.error();
  checkpoint.index_ = std::move(*parsed);

  Diagnostics diagnostics;
  for (const std::string& name : checkpoint.index_->files()) {
    Result<SafetensorsFile> file = SafetensorsFile::open((index->folder() / name).string());
    if (file)
      checkpoint.shards_.push_back(std::move(*file));
    else
      diagnostics.append(file.error());
  }
  if (diagnostics.hasErrors()) return diagnostics;
  for (const CheckpointIndex::Entry& entry : checkpoint.index_->entries()) {
    if (diagnostics.full()) break;
    const SafetensorsFile& file = checkpoint.shards_[entry.file];
    if (file.find(entry.tensor) == nullptr)
      diagnostics.error(entry.offset, "tensor '" + entry.tensor + "' is not in '" + file.path() + "'");
  }
  if (diagnostics.hasErrors()) return diagnostics;
  return checkpoint;
}

}  // namespace dtypemut
