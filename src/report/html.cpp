#include "dtypemut/report/html.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "dtypemut/io/json_text.h"
#include "dtypemut/report/outcome.h"
#include "html_page.h"

namespace dtypemut {
namespace {

/// JSON that a script element can hold: no tag or comment begins in it, and it has no line ends that JavaScript has but
/// JSON has not.
std::string scriptSafe(std::string_view json) {
  constexpr std::string_view kLineSeparators = "\u2028\u2029";
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '<') {
      safe += "\\u003c";
    } else if (json.substr(i, 3) == kLineSeparators.substr(0, 3) || json.substr(i, 3) == kLineSeparators.substr(3)) {
      safe += json[i + 2] == kLineSeparators[2] ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += json[i];
    }
  }
  return safe;
}

std::string jsonNumber(double number) {
  if (!std::isfinite(number)) return "null";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// The data of the page. Numbers stand in columns, and names as what follows their common beginning with the name
/// before: a large graph's names are most of its text.
class Data {
 public:
  Data(const DecisionLog& log, std::span<const WeightColumn> columns, OutputFile& output)
      : log_(log), graph_(log.graph), columns_(columns), output_(output), outcomes_(log), lines_(log.source.text()) {}

  void write(const RunReport& report) {
    text("{\"stats\": " + toJson(report));
    text(",\"policy\": \"" + std::string(log_.policy == Policy::kJoint ? "joint" : "edge") + "\"");
    text(",\"from\": \"" + log_.options.from.toString() + "\"");
    vocabularies();
    instructions();
    tensors();
    operands();
    decisions();
    weights();
    text("}");
  }

 private:
  void text(std::string_view json) { output_.write(scriptSafe(json)); }

  template <typename F>
  void array(std::string_view key, std::size_t count, F&& element) {
    std::string json = ",\n\"" + std::string(key) + "\":[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) json += ',';
      json += element(static_cast<std::uint32_t>(i));
    }
    text(json += ']');
  }

  template <typename F>
  void numbers(std::string_view key, std::size_t count, F&& number) {
    array(key, count, [&](std::uint32_t i) { return std::to_string(static_cast<std::int64_t>(number(i))); });
  }

  /// Pairs: how many UTF-16 units of the name before to keep, and what follows them.
  template <typename F>
  void names(std::string_view key, std::size_t count, F&& name) {
    std::string last;
    array(key, count, [&](std::uint32_t i) {
      const std::string next(name(i));
      std::size_t common = static_cast<std::size_t>(
          std::mismatch(last.begin(), last.end(), next.begin(), next.end()).first - last.begin());
      const auto isContinuation = [&](std::size_t at) {
        return at < next.size() && (static_cast<unsigned char>(next[at]) & 0xC0) == 0x80;
      };
      while (common > 0 && isContinuation(common)) --common;
      std::size_t units = 0;
      for (std::size_t at = 0; at < common; ++at)
        if (!isContinuation(at)) units += static_cast<unsigned char>(next[at]) >= 0xF0 ? 2 : 1;
      last = next;
      return std::to_string(units) + "," + quoteString(next.substr(common));
    });
  }

  static std::int64_t dtypeNumber(Dtype dtype) { return dtype == Dtype::kNone ? -1 : static_cast<std::int64_t>(dtype); }

  void vocabularies() {
    const auto strings = [&](std::string_view key, const auto& rows, auto&& nameOf) {
      array(key, std::size(rows), [&](std::uint32_t i) { return quoteString(nameOf(rows[i])); });
    };
    strings("dtypes", kDtypes, [](const DtypeInfo& info) { return info.name; });
    strings("kinds", kTensorKindNames, [](std::string_view name) { return name; });
    strings("outcomes", kOutcomeNames, [](std::string_view name) { return name; });
    array("states", 3, [](std::uint32_t i) { return quoteString(stateName(static_cast<MutateState::Value>(i))); });
    array("reasons", kReasonCount, [](std::uint32_t i) {
      const ReasonInfo& info = kReasons[i];
      return "{\"name\":" + quoteString(info.name) + ",\"what\":" + quoteString(info.what) +
             ",\"remedy\":" + quoteString(info.remedy) + "}";
    });
    array("statistics", std::size(kStatistics), [](std::uint32_t i) {
      return "{\"name\":" + quoteString(kStatistics[i].name) + ",\"what\":" + quoteString(kStatistics[i].description) +
             "}";
    });
  }

  void instructions() {
    const std::size_t count = graph_.instructionCount();
    const auto node = [&](std::uint32_t i) -> const Instruction& { return graph_.instruction(InstructionId{i}); };
    text(",\n\"instructions\":{\"count\":" + std::to_string(count));
    names("names", count, [&](std::uint32_t i) { return node(i).name; });
    std::unordered_map<std::string, std::size_t> opNumbers;
    std::vector<std::string> ops;
    numbers("op", count, [&](std::uint32_t i) {
      const auto [found, isNew] = opNumbers.emplace(opText(log_, node(i)), ops.size());
      if (isNew) ops.push_back(found->first);
      return found->second;
    });
    array("ops", ops.size(), [&](std::uint32_t i) { return quoteString(ops[i]); });
    numbers("before", count, [&](std::uint32_t i) { return dtypeNumber(node(i).documentDtype); });
    numbers("after", count, [&](std::uint32_t i) { return dtypeNumber(node(i).dtype); });
    numbers("dst", count,
            [&](std::uint32_t i) { return node(i).hasDst() ? static_cast<std::int64_t>(node(i).dst) : -1; });
    numbers("outcome", count, [&](std::uint32_t i) { return outcomes_.of(InstructionId{i}); });
    numbers("operandCount", count, [&](std::uint32_t i) { return node(i).operandCount; });
    numbers("line", count, [&](std::uint32_t i) { return lines_.position(node(i).token).line; });
    std::vector<std::string> locs;
    for (std::uint32_t i = 0; i < count; ++i)
      if (const auto loc = unknownKey(log_, node(i), "loc"))
        locs.push_back(std::to_string(i) + "," + quoteString(*loc));
    array("locs", locs.size(), [&](std::uint32_t i) { return locs[i]; });
    text("}");
  }

  void tensors() {
    const std::size_t count = graph_.tensorCount();
    const auto node = [&](std::uint32_t i) -> const Tensor& { return graph_.tensor(TensorId{i}); };
    text(",\n\"tensors\":{\"count\":" + std::to_string(count));
    names("names", count, [&](std::uint32_t i) { return node(i).name; });
    numbers("kind", count, [&](std::uint32_t i) { return node(i).kind; });
    numbers("before", count, [&](std::uint32_t i) { return dtypeNumber(node(i).documentDtype); });
    numbers("after", count, [&](std::uint32_t i) { return dtypeNumber(node(i).dtype); });
    numbers("outcome", count, [&](std::uint32_t i) { return outcomes_.of(TensorId{i}); });
    text("}");
  }

  /// In order of OperandId, those of an instruction together: what one reads as 2 x tensor or 2 x instruction + 1, -1
  /// for an immediate; and the dtypes of reinterpreting views.
  void operands() {
    numbers("operands", graph_.operandCount(), [&](std::uint32_t i) {
      const Operand& operand = graph_.operand(OperandId{i});
      if (operand.isImmediate()) return std::int64_t{-1};
      return 2 * static_cast<std::int64_t>(operand.target) + (operand.isInstruction() ? 1 : 0);
    });
    std::vector<std::uint32_t> views;
    for (std::uint32_t i = 0; i < graph_.operandCount(); ++i)
      if (graph_.operand(OperandId{i}).reinterprets()) views.push_back(i);
    array("views", views.size(), [&](std::uint32_t i) {
      return std::to_string(views[i]) + "," +
             std::to_string(dtypeNumber(graph_.operand(OperandId{views[i]}).viewDtype));
    });
  }

  void decisions() {
    const std::vector<Decision>& all = log_.decisions;
    text(",\n\"decisions\":{\"count\":" + std::to_string(all.size()));
    numbers("operand", all.size(), [&](std::uint32_t i) { return static_cast<std::uint32_t>(all[i].operand); });
    numbers("producer", all.size(), [&](std::uint32_t i) {
      return all[i].producer == InstructionId::kNone ? -1 : static_cast<std::int64_t>(all[i].producer);
    });
    numbers("state", all.size(), [&](std::uint32_t i) {
      return all[i].state.match()     ? MutateState::Match
             : all[i].state.mutated() ? MutateState::Mutated
                                      : MutateState::Mismatch;
    });
    numbers("reason", all.size(),
            [&](std::uint32_t i) { return all[i].state.mismatch() ? static_cast<std::int64_t>(all[i].reason) : -1; });
    array("gate", all.size(), [&](std::uint32_t i) { return quoteString(gateOf(log_, all[i])); });
    std::unordered_map<std::string, std::size_t> messageNumbers;
    std::vector<std::string> messages;
    numbers("message", all.size(), [&](std::uint32_t i) {
      const auto [found, isNew] = messageNumbers.emplace(message(all[i]), messages.size());
      if (isNew) messages.push_back(found->first);
      return found->second;
    });
    array("messages", messages.size(), [&](std::uint32_t i) { return messages[i]; });
    text("}");
  }

  /// The sentence as an array: texts, 0 for the name of the tensor and 1 for that of the producer. So one entry serves
  /// all decisions that differ in these only.
  std::string message(const Decision& decision) const {
    const TensorId tensor = graph_.tensorBehind(graph_.operand(decision.operand));
    const std::string sentenceText = sentence(log_, decision);
    std::string json = "[";
    const auto add = [&](std::string_view part) {
      if (json.size() > 1) json += ',';
      json += part;
    };
    const auto quotedName = [](std::string_view name) { return "'" + std::string(name) + "'"; };
    const std::string names[] = {
        tensor == TensorId::kNone ? "" : quotedName(graph_.tensor(tensor).name),
        decision.producer == InstructionId::kNone ? "" : quotedName(graph_.instruction(decision.producer).name)};
    for (std::size_t at = 0; at < sentenceText.size();) {
      std::size_t next = sentenceText.size();
      std::size_t which = 2;
      for (const std::size_t i : {0U, 1U}) {
        const std::size_t found = names[i].empty() ? std::string::npos : sentenceText.find(names[i], at);
        if (found >= next) continue;
        next = found;
        which = i;
      }
      if (next > at) add(quoteString(sentenceText.substr(at, next - at)));
      if (which < 2) add(std::to_string(which));
      at = next + (which < 2 ? names[which].size() : 0);
    }
    return json + "]";
  }

  /// A row for each const of the document: its number, that of its cast (-1: none), bytes before and after, and the
  /// further columns. The bytes add up to const_bytes.
  void weights() {
    std::vector<TensorId> consts;
    std::unordered_map<TensorId, TensorId> clones;
    for (std::uint32_t i = 0; i < graph_.tensorCount(); ++i) {
      const Tensor& tensor = graph_.tensor(TensorId{i});
      if (tensor.cloneOf != TensorId::kNone)
        clones.emplace(tensor.cloneOf, TensorId{i});
      else if (tensor.isConst())
        consts.push_back(TensorId{i});
    }
    array("weightColumns", columns_.size(), [&](std::uint32_t i) { return quoteString(columns_[i].title); });
    array("weights", consts.size(), [&](std::uint32_t i) {
      const Tensor& weight = graph_.tensor(consts[i]);
      const auto clone = clones.find(consts[i]);
      const bool hasClone = clone != clones.end();
      const bool isRead = weight.loadCount > 0;
      const std::uint64_t before = isRead || hasClone ? weight.elementCount * containerBytes(weight.documentDtype) : 0;
      const std::uint64_t after =
          (isRead ? weight.sizeInBytes() : 0) + (hasClone ? graph_.tensor(clone->second).sizeInBytes() : 0);
      std::string row = "[" + std::to_string(static_cast<std::uint32_t>(consts[i])) + "," +
                        (hasClone ? std::to_string(static_cast<std::uint32_t>(clone->second)) : "-1") + "," +
                        std::to_string(before) + "," + std::to_string(after) + ",[";
      const char* separator = "";
      for (std::uint64_t extent : graph_.shape(weight)) {
        row += separator + std::to_string(extent);
        separator = ",";
      }
      row += "]";
      for (const WeightColumn& column : columns_) {
        const auto cell = column.cells.find(hasClone ? clone->second : consts[i]);
        row += "," + (cell == column.cells.end() ? "null" : jsonNumber(cell->second));
      }
      return row + "]";
    });
  }

  const DecisionLog& log_;
  const Graph& graph_;
  std::span<const WeightColumn> columns_;
  OutputFile& output_;
  Outcomes outcomes_;
  LineIndex lines_;
};

}  // namespace

std::vector<WeightColumn> auditColumns(const WeightAudits& audits) {
  std::vector<WeightColumn> columns;
  if (audits.empty()) return columns;
  const auto add = [&](const char* title, auto member, bool isAlwaysShown) {
    WeightColumn column{.title = title};
    bool isShown = isAlwaysShown;
    for (const auto& [id, audit] : audits) {
      column.cells.emplace(id, static_cast<double>(audit.*member));
      isShown = isShown || audit.*member != 0;
    }
    if (isShown) columns.push_back(std::move(column));
  };
  add("NaN", &Audit::nan, false);
  add("Inf", &Audit::inf, false);
  add("Overflow", &Audit::overflow, true);
  add("Underflow", &Audit::underflow, true);
  add("Max abs error", &Audit::maxAbsError, true);
  add("Max rel error", &Audit::maxRelError, true);
  return columns;
}

void writeHtml(const DecisionLog& log, const RunReport& report, std::span<const WeightColumn> columns,
               OutputFile& output) {
  const std::size_t at = kHtmlPage.find(kHtmlPageData);
  output.write(kHtmlPage.substr(0, at));
  Data(log, columns, output).write(report);
  output.write(kHtmlPage.substr(at + kHtmlPageData.size()));
}

}  // namespace dtypemut
