#include "recount.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dtypemut/ir/op_table.h"

namespace dtypemut {
namespace {

using Json = nlohmann::json;

/// A document with its nodes by name.
struct Nodes {
  explicit Nodes(const std::string& text) : json(Json::parse(text)) {
    for (const Json& tensor : json.at("tensors")) tensors[tensor.at("name")] = &tensor;
    for (const Json& instruction : json.at("instructions")) instructions[instruction.at("name")] = &instruction;
  }

  Json json;
  std::map<std::string, const Json*> tensors;
  std::map<std::string, const Json*> instructions;
};

Dtype dtypeOf(const Json& node) {
  return node.contains("dtype") ? *dtypeFromName(node.at("dtype").get<std::string>()) : Dtype::kNone;
}

bool isView(const Json& operand) { return operand.contains("tensor") && operand.value("reinterpret", false); }

Dtype dtypeOf(const Nodes& nodes, const Json& operand) {
  if (operand.contains("imm")) return Dtype::kNone;
  if (isView(operand)) return dtypeOf(operand);
  if (operand.contains("tensor")) return dtypeOf(*nodes.tensors.at(operand.at("tensor")));
  return dtypeOf(*nodes.instructions.at(operand.at("inst")));
}

/// The name of the tensor behind an operand; "" when there is none.
std::string tensorOf(const Nodes& nodes, const Json& operand) {
  if (operand.contains("imm")) return "";
  if (operand.contains("tensor")) return operand.at("tensor");
  const Json& producer = *nodes.instructions.at(operand.at("inst"));
  return producer.contains("dst") && producer["dst"].is_object() ? producer["dst"].at("tensor").get<std::string>() : "";
}

const Json& operandsOf(const Json& instruction) {
  static const Json kNone = Json::array();
  const auto operands = instruction.find("operands");
  return operands == instruction.end() ? kNone : *operands;
}

Op opOf(const Json& instruction) { return opFromName(instruction.at("op").get<std::string>()); }

std::uint64_t sizeOf(const Json& tensor) {
  std::uint64_t size = containerBytes(dtypeOf(tensor));
  for (const Json& dimension : tensor.at("shape")) size *= dimension.get<std::uint64_t>();
  return size;
}

bool isConst(const Json& tensor) { return tensor.value("kind", "internal") == "const"; }

std::uint64_t constBytes(const Nodes& nodes) {
  std::set<std::string> read;
  for (const Json& instruction : nodes.json.at("instructions"))
    for (const Json& operand : operandsOf(instruction))
      if (operand.contains("tensor")) read.insert(operand.at("tensor").get<std::string>());
  std::uint64_t bytes = 0;
  for (const std::string& name : read)
    if (isConst(*nodes.tensors.at(name))) bytes += sizeOf(*nodes.tensors.at(name));
  return bytes;
}

bool asks(const Json& instruction, const RunOptions& options) {
  const OpKind kind = opKind(opOf(instruction));
  if (options.propagate.autoCast == AutoCast::kNone) return false;
  if (kind == OpKind::kMatmul) return options.target.matmulDtypes.contains(options.propagate.dtype);
  return kind == OpKind::kCompute && options.propagate.autoCast == AutoCast::kAll;
}

}  // namespace

Recount recount(const std::string& before, const std::string& after, const RunOptions& options) {
  const Nodes was(before);
  const Nodes is(after);
  const Dtype dtype = options.propagate.dtype;
  Recount count;
  std::set<std::string> castWeights;
  std::set<std::string> narrowedAndAsked;
  for (const auto& [name, instruction] : was.instructions) {
    const Json& now = *is.instructions.at(name);
    const Op op = opOf(*instruction);
    if (dtypeOf(*instruction) != dtypeOf(now))
      ++(isFoldable(op, options.propagate) ? count.statistics.nLoads : count.statistics.operatorTypeMutated);
    const Json& operands = operandsOf(*instruction);
    const Json& operandsNow = operandsOf(now);
    REQUIRE(operands.size() == operandsNow.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Json& operand = operands[i];
      const std::string tensor = tensorOf(was, operand);
      if (operand.contains("tensor") && operandsNow[i].at("tensor") != tensor) {
        CHECK(isFoldable(op, options.propagate));
        if (!was.tensors.at(tensor)->at("data").contains("splat")) {
          ++count.statistics.foldedCastLoad;
          castWeights.insert(tensor);
        }
      }
      const Dtype read = dtypeOf(was, operand);
      if (!asks(*instruction, options) || (read != dtype && !options.propagate.from.contains(read))) continue;
      ++count.candidates;
      if (read != dtype && !isView(operand) && tensor != "" &&
          dtypeOf(*is.tensors.at(tensor)) != dtypeOf(*was.tensors.at(tensor)))
        narrowedAndAsked.insert(tensor);
    }
    if (op == Op::kTensorCopyOp && !operands.empty() && !operands[0].contains("imm") &&
        dtypeOf(is, operandsNow[0]) == dtypeOf(now) && dtypeOf(was, operands[0]) != dtypeOf(*instruction))
      ++count.redundantCasts;
  }
  for (const std::string& name : castWeights) count.statistics.castedWeights += sizeOf(*was.tensors.at(name));
  count.mutated = options.policy == Policy::kJoint ? narrowedAndAsked.size()
                                                   : count.statistics.operatorTypeMutated + count.statistics.nLoads;
  count.constBytesBefore = constBytes(was);
  count.constBytesAfter = constBytes(is);
  return count;
}

void checkStats(const std::string& stats, const Recount& expected, const RunOptions& options) {
  const Json json = Json::parse(stats);
  CHECK(json.at("input") == options.input);
  CHECK(json.at("target") == options.target.name);
  CHECK(json.at("dtype") == dtypeName(options.propagate.dtype));
  CHECK(json.at("statistics").size() == 4);
  for (const StatisticInfo& info : kStatistics) {
    CAPTURE(info.name);
    CHECK(json.at("statistics").at(std::string(info.name)) == expected.statistics.*info.counter);
  }
  const Json& decisions = json.at("decisions");
  CHECK(decisions.at("mutated") == expected.mutated);
  CHECK(decisions.at("match").get<std::uint64_t>() + expected.mutated + decisions.at("mismatch").get<std::uint64_t>() ==
        expected.candidates);
  std::uint64_t mismatches = 0;
  for (const auto& [reason, count] : decisions.at("mismatch_by_reason").items()) {
    CHECK(count > 0);
    mismatches += count.get<std::uint64_t>();
  }
  CHECK(decisions.at("mismatch") == mismatches);
  CHECK(json.at("const_bytes") == Json{{"before", expected.constBytesBefore}, {"after", expected.constBytesAfter}});
  CHECK(json.at("redundant_casts") == expected.redundantCasts);
}

void checkInterface(const std::string& before, const std::string& after) {
  const Nodes was(before);
  const Nodes is(after);
  for (const auto& entry : was.tensors) {
    const std::string& name = entry.first;
    const Json* tensor = entry.second;
    const auto now = is.tensors.find(name);
    CAPTURE(name);
    if (now == is.tensors.end()) {
      CHECK(isConst(*tensor));
    } else if (tensor->value("kind", "internal") != "internal") {
      const bool isSplat = isConst(*tensor) && tensor->at("data").contains("splat");
      CHECK((dtypeOf(*tensor) == dtypeOf(*now->second) || isSplat));
    }
  }
}

}  // namespace dtypemut
