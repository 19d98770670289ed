#include "undo.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "dtypemut/types/dtype.h"
#include "json_spans.h"

namespace dtypemut {
namespace {

class Undo {
 public:
  Undo(const PlacedText& input, const PlacedText& output)
      : input_(input), output_(output), was_(parseSpans(input.text)), is_(parseSpans(output.text)) {}

  std::string run() {
    const auto& instructions = was_.at("instructions").items;
    const auto& instructionsNow = is_.at("instructions").items;
    REQUIRE(instructions.size() == instructionsNow.size());
    for (std::size_t i = 0; i < instructions.size(); ++i) undoInstruction(instructions[i], instructionsNow[i]);
    undoTensors();
    return edited(output_.text, std::move(edits_));
  }

 private:
  std::string_view was(const JsonSpan& span) const { return span.in(input_.text); }
  std::string_view is(const JsonSpan& span) const { return span.in(output_.text); }

  void putBack(const JsonSpan& now, const JsonSpan& original) {
    edits_.push_back({now.begin, now.end, std::string(was(original))});
  }

  /// Puts a dtype back where it changed, and tells whether it did.
  bool undoDtype(const JsonSpan& node, const JsonSpan& nodeNow) {
    const JsonSpan* dtype = node.find("dtype");
    const JsonSpan* dtypeNow = nodeNow.find("dtype");
    REQUIRE((dtype == nullptr) == (dtypeNow == nullptr));
    if (dtype == nullptr || was(*dtype) == is(*dtypeNow)) return false;
    CHECK(dtypeFromName(contentOf(is(*dtypeNow))));
    CHECK(contentOf(was(*dtype)) != contentOf(is(*dtypeNow)));
    putBack(*dtypeNow, *dtype);
    return true;
  }

  void undoInstruction(const JsonSpan& instruction, const JsonSpan& now) {
    undoDtype(instruction, now);
    const JsonSpan* operands = instruction.find("operands");
    if (operands == nullptr || operands->items.empty()) return;
    const JsonSpan* tensor = operands->items[0].find("tensor");
    if (tensor == nullptr) return;
    const JsonSpan& tensorNow = now.at("operands").items.at(0).at("tensor");
    if (was(*tensor) == is(tensorNow)) return;
    CHECK(contentOf(is(tensorNow)).starts_with(contentOf(was(*tensor)) + "_8_"));
    putBack(tensorNow, *tensor);
  }

  void undoTensors() {
    const auto& tensors = was_.at("tensors").items;
    const auto& tensorsNow = is_.at("tensors").items;
    std::set<std::string> namesNow;
    for (const JsonSpan& now : tensorsNow) namesNow.insert(contentOf(is(now.at("name"))));
    std::size_t next = 0;
    for (std::size_t k = 0; k < tensorsNow.size(); ++k) {
      const JsonSpan& now = tensorsNow[k];
      const std::string name = contentOf(is(now.at("name")));
      if (next < tensors.size() && contentOf(was(tensors[next].at("name"))) == name) {
        undoTensor(tensors[next++], now);
      } else if (next < tensors.size() && isCloneOf(name, tensors[next]) &&
                 !namesNow.contains(contentOf(was(tensors[next].at("name"))))) {
        undoClone(tensors[next++], now, edits_);
      } else {
        REQUIRE(next > 0);
        undoAddedClone(tensors[next - 1], tensorsNow[k - 1], now);
      }
    }
    CHECK(next == tensors.size());
  }

  bool isCloneOf(const std::string& name, const JsonSpan& tensor) const {
    const std::string prefix = contentOf(was(tensor.at("name"))) + "_8_";
    return tensor.find("data") != nullptr && name.starts_with(prefix) && name.size() > prefix.size() &&
           name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  }

  void undoTensor(const JsonSpan& tensor, const JsonSpan& now) {
    const JsonSpan* data = tensor.find("data");
    if (undoDtype(tensor, now) && data != nullptr) CHECK(data->find("splat") != nullptr);
    if (data == nullptr || input_.folder == output_.folder) return;
    for (const char* key : {"file", "safetensors"}) {
      const JsonSpan* path = data->find(key);
      if (path == nullptr) continue;
      const JsonSpan& pathNow = now.at("data").at(key);
      CHECK(std::filesystem::equivalent(std::filesystem::path(input_.folder) / contentOf(was(*path)),
                                        std::filesystem::path(output_.folder) / contentOf(is(pathNow))));
      putBack(pathNow, *path);
    }
  }

  /// Puts back what makes a clone of its weight.
  void undoClone(const JsonSpan& weight, const JsonSpan& clone, std::vector<TextEdit>& edits) const {
    const auto restore = [&](const JsonSpan& now, const JsonSpan& original) {
      edits.push_back({now.begin, now.end, std::string(was(original))});
    };
    restore(clone.at("name"), weight.at("name"));
    restore(clone.at("dtype"), weight.at("dtype"));
    const JsonSpan& data = weight.at("data");
    const JsonSpan& dataNow = clone.at("data");
    for (const char* form : {"values", "base64"})
      if (const JsonSpan* elements = data.find(form)) return restore(dataNow.at(form), *elements);
    if (data.find("splat") != nullptr) return;
    CHECK((dataNow.find("safetensors") != nullptr || dataNow.find("base64") != nullptr));
    restore(dataNow, data);
  }

  /// Takes out a clone that follows its weight, or another clone of it.
  void undoAddedClone(const JsonSpan& weight, const JsonSpan& previous, const JsonSpan& clone) {
    CHECK(isCloneOf(contentOf(is(clone.at("name"))), weight));
    std::string_view space = std::string_view(input_.text).substr(0, weight.begin);
    space.remove_prefix(space.find_last_not_of(" \t\r\n") + 1);
    CHECK(output_.text.substr(previous.end, clone.begin - previous.end) == "," + std::string(space));
    std::vector<TextEdit> edits;
    undoClone(weight, clone, edits);
    for (TextEdit& edit : edits) {
      edit.begin -= clone.begin;
      edit.end -= clone.begin;
    }
    CHECK(edited(is(clone), std::move(edits)) == was(weight));
    edits_.push_back({previous.end, clone.end, ""});
  }

  const PlacedText& input_;
  const PlacedText& output_;
  const JsonSpan was_;
  const JsonSpan is_;
  std::vector<TextEdit> edits_;
};

}  // namespace

std::string undone(const PlacedText& input, const PlacedText& output) { return Undo(input, output).run(); }

}  // namespace dtypemut
