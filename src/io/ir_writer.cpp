#include "dtypemut/io/ir_writer.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "dtypemut/io/base64.h"
#include "dtypemut/io/elements.h"
#include "dtypemut/io/json_text.h"
#include "dtypemut/io/output_sink.h"
#include "dtypemut/io/safetensors.h"

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

bool isFromFile(const ConstData& data) { return data.form == DataForm::kFile || data.form == DataForm::kSafetensors; }

/// Symlinks resolved, so that ".." leads where it seems to; as it is where that cannot be done.
fs::path resolved(const fs::path& folder) {
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, failed);
  return failed ? folder : target;
}

/// A value of the document that is replaced: by a text, with the elements of a clone somewhere in it.
struct Edit {
  std::uint64_t offset;
  std::string before;
  TensorId elementsOf = TensorId::kNone;
  std::string after = {};
};

struct Clone {
  TensorId weight;
  TensorId id;
};

class Writer {
 public:
  Writer(const Source& source, const Graph& graph, Weights& weights, const WriteOptions& options, OutputFile& output,
         WeightAudits* audits)
      : text_(source.text()),
        graph_(graph),
        weights_(weights),
        options_(options),
        output_(output),
        audits_(audits),
        isElsewhere_(resolved(source.folder()) != resolved(options.folder)) {}

  Status write();

 private:
  // ---- tensors
  void collectClones();
  Status writeTensor(TensorId id);
  Status writeWeight(TensorId id, std::span<const Clone> clones);
  void collectEdits(TensorId id);
  void collectEditsOfClone(TensorId id);
  std::string furtherMembers(const ConstData& data) const;
  Status writeElements(TensorId clone);

  // ---- instructions
  Status writeInstruction(InstructionId id);

  // ---- text
  std::string pathText(const fs::path& path);
  Status applyEdits();
  void copyTo(std::uint64_t end) {
    output_.write(text_.substr(at_, end - at_));
    at_ = end;
  }
  std::string_view spaceBefore(std::uint64_t offset) const;

  std::string_view text_;
  const Graph& graph_;
  Weights& weights_;
  const WriteOptions& options_;
  OutputFile& output_;
  WeightAudits* audits_;
  bool isElsewhere_;                 // the output stands in another folder than the input
  std::uint64_t at_ = 0;             // everything before is written
  std::optional<Diagnostic> fault_;  // of a reference that cannot be written
  std::vector<Clone> clones_;        // by weight, then in the order made
  std::size_t nextClone_ = 0;        // of the tensors that are still to be written
  std::vector<Edit> edits_;          // still to be applied
};

Status Writer::write() {
  collectClones();
  const auto writeTensors = [&]() -> Status {
    for (std::uint32_t i = 0; i < graph_.documentTensorCount(); ++i)
      if (Status done = writeTensor(TensorId{i}); !done) return done;
    return Done{};
  };
  const auto writeInstructions = [&]() -> Status {
    for (std::uint32_t i = 0; i < graph_.instructionCount(); ++i)
      if (Status done = writeInstruction(InstructionId{i}); !done) return done;
    return Done{};
  };
  const bool hasBoth = graph_.documentTensorCount() > 0 && graph_.instructionCount() > 0;
  const bool instructionsFirst =
      hasBoth && graph_.instruction(InstructionId{0}).token < graph_.tensor(TensorId{0}).dtypeToken;
  if (instructionsFirst)
    if (Status done = writeInstructions(); !done) return done;
  if (Status done = writeTensors(); !done) return done;
  if (!instructionsFirst)
    if (Status done = writeInstructions(); !done) return done;
  copyTo(text_.size());
  if (fault_) return *fault_;
  return output_.flush();
}

// ---- tensors

void Writer::collectClones() {
  for (std::uint32_t i = graph_.documentTensorCount(); i < graph_.tensorCount(); ++i)
    clones_.push_back({.weight = graph_.tensor(TensorId{i}).cloneOf, .id = TensorId{i}});
  std::stable_sort(clones_.begin(), clones_.end(), [](const Clone& a, const Clone& b) { return a.weight < b.weight; });
}

/// To be called for the tensors in their order.
Status Writer::writeTensor(TensorId id) {
  const std::size_t first = nextClone_;
  while (nextClone_ < clones_.size() && clones_[nextClone_].weight == id) ++nextClone_;
  if (first != nextClone_) return writeWeight(id, std::span(clones_).subspan(first, nextClone_ - first));
  collectEdits(id);
  return applyEdits();
}

/// Writes a weight with clones: itself, unless nothing reads it any more, then each of them.
Status Writer::writeWeight(TensorId id, std::span<const Clone> clones) {
  const std::uint64_t begin = graph_.constData(graph_.tensor(id)).tensorToken;
  const std::uint64_t end = endOfValue(text_, begin);
  const bool isDead = graph_.nLoads(id) == 0 && !options_.keepDeadWeights;
  copyTo(begin);
  if (!isDead) {
    collectEdits(id);
    if (Status done = applyEdits(); !done) return done;
    copyTo(end);
  }
  for (std::size_t i = 0; i < clones.size(); ++i) {
    if (i > 0 || !isDead) {
      output_.write(std::string_view(","));
      output_.write(spaceBefore(begin));
    }
    at_ = begin;
    collectEditsOfClone(clones[i].id);
    if (Status done = applyEdits(); !done) return done;
    copyTo(end);
  }
  return Done{};
}

/// What changes in a tensor of the document itself.
void Writer::collectEdits(TensorId id) {
  const Tensor& tensor = graph_.tensor(id);
  if (tensor.dtype != tensor.documentDtype) edits_.push_back({tensor.dtypeToken, quoteString(dtypeName(tensor.dtype))});
  if (isElsewhere_ && tensor.isConst()) {
    const ConstData& data = graph_.constData(tensor);
    if (isFromFile(data) && fs::path(data.file).is_relative())
      edits_.push_back({data.valueToken, pathText(weights_.pathOf(data))});
  }
}

/// What makes the text of a weight that of its clone.
void Writer::collectEditsOfClone(TensorId id) {
  const Tensor& clone = graph_.tensor(id);
  const Tensor& weight = graph_.tensor(clone.cloneOf);
  const ConstData& data = graph_.constData(weight);
  edits_.push_back({weight.nameToken, quoteString(clone.name)});
  edits_.push_back({weight.dtypeToken, quoteString(dtypeName(clone.dtype))});
  if (data.form == DataForm::kValues || data.form == DataForm::kBase64) edits_.push_back({data.valueToken, "", id});
  if (isFromFile(data)) {
    const std::string rest = furtherMembers(data) + "}";
    if (options_.weightsFile)
      edits_.push_back({data.dataToken, "{\"safetensors\": " + pathText(*options_.weightsFile) +
                                            ", \"tensor\": " + quoteString(clone.name) + rest});
    else
      edits_.push_back({data.dataToken, "{\"base64\": ", id, rest});
  }
}

/// The members of a data object that say nothing of its form, each after a comma: the tool does not know them.
std::string Writer::furtherMembers(const ConstData& data) const {
  std::string members;
  forEachMember(text_, data.dataToken, [&](const JsonMember& member) {
    const std::string key = decodeString(valueAt(text_, member.key));
    if (key == "file" || key == "offset" || key == "safetensors" || key == "tensor") return true;
    members += ", ";
    members += text_.substr(member.key, endOfValue(text_, member.value) - member.key);
    return true;
  });
  return members;
}

/// Takes elements and writes them as `values`.
class ValuesSink final : public ByteSink {
 public:
  ValuesSink(Dtype dtype, OutputFile& output) : dtype_(dtype), output_(output) {}
  Status write(std::span<const std::byte> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); i += containerBytes(dtype_)) {
      output_.write(std::exchange(separator_, ", "));
      output_.write(spellElement(dtype_, bytes.data() + i));
    }
    return Done{};
  }

 private:
  Dtype dtype_;
  OutputFile& output_;
  std::string_view separator_ = "";
};

/// Takes bytes and writes them as base64, in groups of three.
class Base64Sink final : public ByteSink {
 public:
  explicit Base64Sink(OutputFile& output) : output_(output) {}
  Status write(std::span<const std::byte> bytes) override {
    rest_.insert(rest_.end(), bytes.begin(), bytes.end());
    const std::size_t whole = rest_.size() / 3 * 3;
    output_.write(encodeBase64({rest_.data(), whole}));
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(whole));
    return Done{};
  }
  void finish() { output_.write(encodeBase64(rest_)); }

 private:
  OutputFile& output_;
  std::vector<std::byte> rest_;
};

Status Writer::writeElements(TensorId id) {
  const Tensor& clone = graph_.tensor(id);
  if (graph_.constData(clone).form == DataForm::kValues) {
    ValuesSink sink(clone.dtype, output_);
    output_.write(std::string_view("["));
    if (Status done = castClones(graph_, weights_, std::span(&id, 1), options_.cast, sink, audits_); !done) return done;
    output_.write(std::string_view("]"));
    return Done{};
  }
  Base64Sink sink(output_);
  output_.write(std::string_view("\""));
  if (Status done = castClones(graph_, weights_, std::span(&id, 1), options_.cast, sink, audits_); !done) return done;
  sink.finish();
  output_.write(std::string_view("\""));
  return Done{};
}

// ---- instructions

Status Writer::writeInstruction(InstructionId id) {
  const Instruction& instruction = graph_.instruction(id);
  if (instruction.dtype != instruction.documentDtype)
    edits_.push_back({instruction.dtypeToken, quoteString(dtypeName(instruction.dtype))});
  for (const Operand& operand : graph_.operands(instruction)) {
    if (!operand.isTensor() || operand.target < graph_.documentTensorCount()) continue;
    edits_.push_back({operand.token, quoteString(graph_.tensor(operand.tensor()).name)});
  }
  return applyEdits();
}

// ---- text

/// A path from the working directory as a JSON string, relative to the folder of the output. One that is not UTF-8
/// cannot be written as JSON: then it is a fault.
std::string Writer::pathText(const fs::path& path) {
  const fs::path folder = resolved(path.parent_path()).lexically_relative(resolved(options_.folder));
  const std::string reference = (folder / path.filename()).lexically_normal().generic_string();
  if (!isUtf8(reference))
    fault_ = {.exitCode = ExitCode::kUsage,
              .message = "the document cannot refer to '" + reference + "', which is not UTF-8; choose another place"};
  return quoteString(reference);
}

/// Writes the text from where the writer is up to the last value that is to be replaced, with all of them replaced.
Status Writer::applyEdits() {
  std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  for (const Edit& edit : edits_) {
    copyTo(edit.offset);
    output_.write(edit.before);
    if (edit.elementsOf != TensorId::kNone)
      if (Status done = writeElements(edit.elementsOf); !done) return done;
    output_.write(edit.after);
    at_ = endOfValue(text_, edit.offset);
  }
  edits_.clear();
  return Done{};
}

std::string_view Writer::spaceBefore(std::uint64_t offset) const {
  std::uint64_t begin = offset;
  while (text_[begin - 1] != '[' && text_[begin - 1] != ',') --begin;
  return text_.substr(begin, offset - begin);
}

}  // namespace

std::vector<TensorId> clonesOfFiles(const Graph& graph) {
  std::vector<TensorId> clones;
  for (std::uint32_t i = graph.documentTensorCount(); i < graph.tensorCount(); ++i)
    if (isFromFile(graph.constData(graph.tensor(TensorId{i})))) clones.push_back(TensorId{i});
  return clones;
}

Status writeWeights(const Graph& graph, Weights& weights, const StreamOptions& options, OutputFile& output,
                    WeightAudits* audits) {
  const std::vector<TensorId> clones = clonesOfFiles(graph);
  SafetensorsHeader header;
  for (TensorId id : clones) {
    const Tensor& clone = graph.tensor(id);
    const auto shape = graph.shape(clone);
    header.append(std::string(clone.name), clone.dtype, {shape.begin(), shape.end()}, clone.sizeInBytes());
  }
  const Result<std::string> text = writeSafetensorsHeader(header, output.path());
  if (!text) return text.error();
  output.write(*text);
  OutputSink sink(output);
  if (Status done = castClones(graph, weights, clones, options, sink, audits); !done) return done;
  return output.flush();
}

Status writeGraph(const Source& source, const Graph& graph, Weights& weights, const WriteOptions& options,
                  OutputFile& output, WeightAudits* audits) {
  return Writer(source, graph, weights, options, output, audits).write();
}

}  // namespace dtypemut
