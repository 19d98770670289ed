#include "dtypemut/report/sarif.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;

/// A path as a URI reference: what a URI reserves, and bytes that are not ASCII, are percent-encoded.
std::string uriOf(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri;
  for (char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 0xF]};
    }
  }
  return uri;
}

/// Columns in code points, as SARIF counts them. Fast where each offset is at or behind the one before, also in a
/// document that is one long line.
class CodePointColumns {
 public:
  explicit CodePointColumns(std::string_view text) : text_(text) {}
  std::uint64_t column(std::uint64_t offset, std::uint64_t byteColumn) {
    const std::uint64_t lineBegin = offset - (byteColumn - 1);
    if (lineBegin != lineBegin_ || offset < at_) {
      lineBegin_ = at_ = lineBegin;
      column_ = 1;
    }
    for (; at_ < offset; ++at_)
      if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) ++column_;
    return column_;
  }

 private:
  std::string_view text_;
  std::uint64_t lineBegin_ = UINT64_MAX;
  std::uint64_t at_ = 0;
  std::uint64_t column_ = 1;
};

}  // namespace

struct SarifLog::Results {
  Json results = Json::array();
  std::array<bool, kReasonCount> isUsed{};
};

SarifLog::SarifLog() : results_(std::make_unique<Results>()) {}
SarifLog::~SarifLog() = default;

void SarifLog::add(const DecisionLog& log) {
  const LineIndex lines(log.source.text());
  CodePointColumns columns(log.source.text());
  const std::string uri = uriOf(log.source.name());
  for (const Decision& decision : log.decisions) {
    if (!decision.state.mismatch()) continue;
    const Operand& operand = log.graph.operand(decision.operand);
    const ReasonInfo& reason = reasonInfo(decision.reason);
    const TextPosition position = lines.position(operand.token);
    results_->isUsed[static_cast<std::size_t>(decision.reason)] = true;
    const std::string message = "instruction '" + std::string(log.graph.instruction(operand.owner).name) +
                                "', operand " + std::to_string(log.graph.operandIndex(decision.operand)) + ": " +
                                sentence(log, decision) + ". To let it pass: " + std::string(reason.remedy) + ".";
    results_->results.push_back(
        {{"ruleId", reason.name},
         {"level", "note"},
         {"message", {{"text", message}}},
         {"locations",
          {{{"physicalLocation",
             {{"artifactLocation", {{"uri", uri}}},
              {"region",
               {{"startLine", position.line}, {"startColumn", columns.column(operand.token, position.column)}}}}}}}}});
  }
}

std::string SarifLog::toJson() const {
  Json rules = Json::array();
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    if (!results_->isUsed[i]) continue;
    rules.push_back({{"id", kReasons[i].name},
                     {"shortDescription", {{"text", kReasons[i].what}}},
                     {"help", {{"text", kReasons[i].remedy}}}});
  }
  const Json json = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs",
                      {{{"tool", {{"driver", {{"name", "dtypemut"}, {"rules", rules}}}}},
                        {"columnKind", "unicodeCodePoints"},
                        {"results", results_->results}}}}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dtypemut
