#include "dtypemut/report/decode_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dtypemut/report/text_table.h"
#include "dtypemut/types/bytes.h"

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

/// Null where there is no value.
template <typename T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// A dash where there is no value.
template <typename T>
std::string orDash(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "-";
}
std::string orDash(const std::optional<std::string>& value) { return value.value_or("-"); }

/// File names may hold any bytes; JSON may not.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

bool isNamed(std::uint8_t code, const Target& target) { return isaEnumerator(code, target.generation).has_value(); }

std::uint8_t generationOf(const Target* target) { return target == nullptr ? kLastGeneration : target->generation; }

std::string notNamed(const Target& target) { return "not in " + std::string(target.name) + "'s header"; }

std::optional<std::size_t> isaSize(std::uint8_t code) {
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  return info == nullptr ? std::nullopt : info->sizeInBytes();
}

std::optional<int> cptcBits(std::uint8_t code) { return isCptc(code) ? std::optional(code & 7) : std::nullopt; }

std::optional<std::string> typeName(const std::optional<ScalarType>& type) {
  return type ? std::optional<std::string>(scalarTypeName(*type)) : std::nullopt;
}

std::optional<int> typeOrdinal(const std::optional<ScalarType>& type) {
  return type ? std::optional(ordinal(*type)) : std::nullopt;
}

std::string_view verdict(const std::optional<ScalarType>& type) { return type ? "maps" : "aborts"; }

Json codeJson(std::uint8_t code, const Target* target, std::optional<ScalarType> hostType = std::nullopt) {
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  const std::optional<ScalarType> type = isaToTorchDtype(code);
  Json json = {{"code", code}, {"hex", hexNumber(code)}};
  json["name"] = info == nullptr ? Json(nullptr) : Json(info->name);
  json["enumerator"] = orNull(isaEnumerator(code, generationOf(target)));
  json["basic_enumerator"] = orNull(isaBasicEnumerator(code, generationOf(target)));
  json["bits"] = info == nullptr || info->bits == 0 ? Json(nullptr) : Json(info->bits);
  json["family"] =
      info == nullptr || info->family == IsaFamily::kNone ? Json(nullptr) : Json(isaFamilyName(info->family));
  json["role"] = info == nullptr ? Json(nullptr) : Json(info->role);
  json["first_generation"] = info == nullptr ? Json(nullptr) : Json(info->firstGeneration);
  json["basic"] = info != nullptr && info->isBasic();
  json["cptc_bits"] = orNull(cptcBits(code));
  json["isa_size"] = orNull(isaSize(code));
  json["wrapper_size"] = orNull(isaDtypeSizeof(code));
  json["scalar_type"] = orNull(typeName(type));
  json["ordinal"] = orNull(typeOrdinal(type));
  json["wrapper"] = verdict(type);
  if (target != nullptr) {
    json["target"] = target->name;
    json["in_header"] = isNamed(code, *target);
  }
  if (!type) {
    json["assertion"] = assertionText(AssertionSite::kSupportedDtype);
    json["reason"] = whyNoScalarType(code);
  }
  if (hostType) {
    json["expected"] = scalarTypeName(*hostType);
    json["agrees"] = type == hostType;
  }
  return json;
}

std::string_view stateName(Gate::State state) {
  constexpr std::string_view kNames[] = {"holds", "fails", "not checked"};
  return kNames[static_cast<std::size_t>(state)];
}

Json gatesJson(std::span<const Gate> gates) {
  Json json = Json::array();
  for (const Gate& gate : gates) {
    const AssertionSiteInfo& info = assertionSiteInfo(gate.site);
    Json entry = {{"site", assertionPlace(gate.site)},
                  {"expression", info.expression},
                  {"guards", info.guards},
                  {"state", stateName(gate.state)}};
    if (!gate.detail.empty()) entry["detail"] = gate.detail;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Where the device aborts.
Json abortsAt(std::span<const Gate> gates) {
  for (const Gate& gate : gates)
    if (gate.state == Gate::State::kFails) return assertionPlace(gate.site);
  return nullptr;
}

/// What the number in a field stands for; empty when it stands for itself, or for nothing known.
std::string meaning(const DescriptorField& field) {
  const auto byte = static_cast<std::uint8_t>(field.value);
  switch (field.kind) {
    case DescriptorField::Kind::kLocation:
      return std::string(argLocationName(byte));
    case DescriptorField::Kind::kShapeType:
      return std::string(shapeTypeName(byte));
    case DescriptorField::Kind::kDtype:
      return isaDtypeInfo(byte) == nullptr ? std::string() : std::string(isaDtypeInfo(byte)->name);
    default:
      return {};
  }
}

bool standsForSomething(const DescriptorField& field) {
  return field.kind == DescriptorField::Kind::kLocation || field.kind == DescriptorField::Kind::kShapeType ||
         field.kind == DescriptorField::Kind::kDtype;
}

std::string valueText(const DescriptorField& field) {
  switch (field.kind) {
    case DescriptorField::Kind::kBytes:
      return hexFromBytes(field.bytes);
    case DescriptorField::Kind::kAddress:
    case DescriptorField::Kind::kDtype:
      return hexNumber(field.value);
    default:
      return std::to_string(field.value);
  }
}

Json fieldJson(const DescriptorField& field) {
  Json json = {{"offset", field.offset}, {"size", field.bytes.size()}, {"name", field.name}};
  const bool isText = field.kind == DescriptorField::Kind::kBytes || field.kind == DescriptorField::Kind::kAddress;
  json["value"] = isText ? Json(valueText(field)) : Json(field.value);
  if (standsForSomething(field)) json["meaning"] = meaning(field).empty() ? Json(nullptr) : Json(meaning(field));
  return json;
}

std::string shapeText(const ArgTensor& tensor) {
  if (tensor.shapeAddress) return "out of line, at " + hexNumber(*tensor.shapeAddress);
  if (!tensor.hasInlineShape()) return "unknown";
  return Json(tensor.shape()).dump() + ", rank " + std::to_string(tensor.shape().size());
}

std::string elementsText(const ArgTensor& tensor) {
  const std::string stored = tensor.storedElements ? std::to_string(*tensor.storedElements) : "unknown";
  std::string shaped = tensor.shape().empty() ? "unknown" : "2^64 or more";
  if (tensor.shapeElements()) shaped = std::to_string(*tensor.shapeElements());
  std::string text = shaped + " by the shape, " + stored + " by the storage";
  if (tensor.elementsAgree()) text += *tensor.elementsAgree() ? ": they agree" : ": they disagree";
  return text;
}

std::string dtypeText(std::uint8_t code) {
  const std::optional<ScalarType> type = isaToTorchDtype(code);
  if (!type) return isaCodeAndName(code) + ", no ScalarType";
  return isaCodeAndName(code) + ", size " + std::to_string(*isaDtypeSizeof(code)) + ", " + nameAndOrdinal(*type);
}

/// JSON has no numbers for NaN and the infinities.
Json scalarValueJson(const ScalarValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  const double number = std::get<double>(value);
  return std::isfinite(number) ? Json(number) : Json(scalarText(value));
}

Diagnostic no(std::string message, std::string file) {
  return {.exitCode = ExitCode::kNo, .message = std::move(message), .file = std::move(file)};
}

}  // namespace

std::string isaCodesText(std::span<const std::uint8_t> codes, const Target* target) {
  std::vector<Row> rows;
  for (const std::uint8_t code : codes) {
    const std::optional<ScalarType> type = isaToTorchDtype(code);
    if (!type) continue;
    if (rows.empty()) rows.push_back({"code", "name", "size", "ScalarType", "ordinal"});
    rows.push_back({hexNumber(code), std::string(isaDtypeInfo(code)->name), std::to_string(*isaDtypeSizeof(code)),
                    std::string(scalarTypeName(*type)), std::to_string(ordinal(*type))});
    if (target != nullptr && !isNamed(code, *target)) rows.back().push_back(notNamed(*target));
  }
  return alignColumns(rows, "llrlrl");
}

std::string isaTableText(std::span<const std::uint8_t> codes, const Target* target) {
  std::vector<Row> rows = {{"code", "name", "bits", "family", "role", "since", "ISA size", "wrapper size", "ScalarType",
                            "ordinal", "wrapper", "BASIC", "CPTC bits", "enumerator"}};
  for (const std::uint8_t code : codes) {
    const IsaDtypeInfo* info = isaDtypeInfo(code);
    const std::optional<ScalarType> type = isaToTorchDtype(code);
    rows.push_back({hexNumber(code), std::string(info->name), info->bits == 0 ? "-" : std::to_string(info->bits),
                    std::string(isaFamilyName(info->family)), std::string(info->role),
                    "v" + std::to_string(info->firstGeneration), orDash(info->sizeInBytes()),
                    orDash(isaDtypeSizeof(code)), orDash(typeName(type)), orDash(typeOrdinal(type)),
                    std::string(verdict(type)), info->isBasic() ? "yes" : "no", orDash(cptcBits(code)),
                    orDash(isaEnumerator(code, generationOf(target)))});
  }
  return alignColumns(rows, "llrlllrrlrllrl");
}

std::vector<Diagnostic> tableNotes(const Target* target) {
  std::string codes;
  for (const IsaDtypeInfo& info : kIsaDtypes)
    if (target != nullptr && info.scalarType && !isNamed(info.code, *target))
      codes += (codes.empty() ? "" : ", ") + isaCodeAndName(info.code);
  if (codes.empty()) return {};
  return {{.severity = Severity::kNote, .message = notNamed(*target) + ", but mapped by the wrapper: " + codes}};
}

std::string isaCodesJson(std::span<const std::uint8_t> codes, const Target* target,
                         std::optional<ScalarType> hostType) {
  Json json = Json::array();
  for (const std::uint8_t code : codes) json.push_back(codeJson(code, target, hostType));
  return dump(json);
}

std::optional<std::string> isaFieldWord(std::uint8_t code, std::string_view field) {
  const std::optional<ScalarType> type = isaToTorchDtype(code);
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  if (info == nullptr) return std::nullopt;
  if (field == "name") return std::string(info->name);
  if (field == "size") return info->sizeInBytes() ? std::optional(std::to_string(*info->sizeInBytes())) : std::nullopt;
  if (field == "scalar-type") return typeName(type);
  return type ? std::optional(std::to_string(ordinal(*type))) : std::nullopt;
}

Diagnostic reverseFailure(ScalarType type) {
  std::string message = nameAndOrdinal(type) + " comes from no ISA dtype code: only";
  std::string_view separator = " ";
  for (int i = 0; i <= ordinal(ScalarType::kNumOptions); ++i) {
    if (!isaFromTorchDtype(static_cast<ScalarType>(i))) continue;
    message += separator;
    message += kScalarTypeNames[i];
    separator = ", ";
  }
  return no(message + " do", {});
}

std::string reverseJson(ScalarType type, const Target* target) {
  if (const std::optional<std::uint8_t> code = isaFromTorchDtype(type)) return dump(codeJson(*code, target));
  return dump({{"code", nullptr},
               {"scalar_type", scalarTypeName(type)},
               {"ordinal", ordinal(type)},
               {"reason", reverseFailure(type).message}});
}

std::string scalarText(const ScalarValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  const double number = std::get<double>(value);
  if (std::isnan(number)) return "nan";
  std::array<char, 32> digits;
  std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string scalarJson(std::uint8_t code, std::span<const std::byte> element, const std::optional<ScalarValue>& value,
                       std::span<const Gate> gates, std::span<const Diagnostic> errors) {
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  Json json = {{"code", code}, {"hex", hexNumber(code)}};
  json["name"] = info == nullptr ? Json(nullptr) : Json(info->name);
  json["bytes"] = hexFromBytes(element);
  json["kind"] = !value ? Json(nullptr) : Json(std::holds_alternative<double>(*value) ? "double" : "integral");
  json["value"] = value ? scalarValueJson(*value) : Json(nullptr);
  json["gates"] = gatesJson(gates);
  json["aborts_at"] = abortsAt(gates);
  json["errors"] = Json::array();
  for (const Diagnostic& error : errors) json["errors"].push_back(error.message);
  return dump(json);
}

std::string argTensorText(const ArgTensor& tensor, std::span<const Gate> gates) {
  std::vector<Row> fields = {{"offset", "size", "field", "value"}};
  for (const DescriptorField& field : tensor.fields) {
    std::string value = valueText(field);
    if (standsForSomething(field)) value += " " + (meaning(field).empty() ? "unknown" : meaning(field));
    fields.push_back({std::to_string(field.offset), std::to_string(field.bytes.size()), field.name, std::move(value)});
  }
  const std::vector<Row> facts = {
      {"shape", shapeText(tensor)}, {"elements", elementsText(tensor)}, {"dtype", dtypeText(tensor.dtype)}};
  std::vector<Row> asserted;
  for (const Gate& gate : gates)
    asserted.push_back({std::string(stateName(gate.state)), assertionText(gate.site),
                        gate.detail.empty() ? std::string(assertionSiteInfo(gate.site).guards) : gate.detail});
  return alignColumns(fields, "rrll") + "\n" + alignColumns(facts, "ll") + "\n" + alignColumns(asserted, "lll");
}

std::string argTensorJson(const ArgTensor& tensor, std::span<const Gate> gates, const Target* target,
                          const std::string& file) {
  const auto address = [](const std::optional<std::uint64_t>& value) {
    return value ? Json(hexNumber(*value)) : Json();
  };
  Json json = {{"file", file}, {"descriptor", tensor.kind == DescriptorKind::kArgTensor ? "ARG_TENSOR" : "UTensor"}};
  for (const DescriptorField& field : tensor.fields) json["fields"].push_back(fieldJson(field));
  const auto name = [](std::string_view text) { return text.empty() ? Json() : Json(text); };
  json["location"] = name(argLocationName(tensor.location));
  json["shape_type"] = name(shapeTypeName(tensor.shapeType));
  json["shape"] = tensor.hasInlineShape() ? Json(tensor.shape()) : Json();
  json["rank"] = tensor.hasInlineShape() ? Json(tensor.shape().size()) : Json();
  json["shape_address"] = address(tensor.shapeAddress);
  json["storage_address"] = address(tensor.storageAddress);
  json["shape_elements"] = orNull(tensor.shapeElements());
  json["storage_elements"] = orNull(tensor.storedElements);
  json["elements_agree"] = orNull(tensor.elementsAgree());
  json["dtype"] = codeJson(tensor.dtype, target);
  json["gates"] = gatesJson(gates);
  json["aborts_at"] = abortsAt(gates);
  json["unknown"] = unknownFields(tensor);
  return dump(json);
}

std::vector<Diagnostic> gateFailures(std::span<const Gate> gates, std::uint8_t code, const Target* target,
                                     const std::string& file) {
  std::vector<Diagnostic> failures;
  for (const Gate& gate : gates) {
    if (gate.state != Gate::State::kFails) continue;
    const bool isAboutCode = gate.site == AssertionSite::kSupportedDtype || gate.site == AssertionSite::kDtypeMatch;
    std::string message = isAboutCode ? isaCodeAndName(code) + ": " : "";
    message += assertionText(gate.site) + ": " + gate.detail;
    if (isAboutCode && target != nullptr && isaDtypeInfo(code) != nullptr && !isNamed(code, *target))
      message += "; " + notNamed(*target);
    failures.push_back(no(std::move(message), file));
  }
  return failures;
}

std::vector<Diagnostic> argTensorDiagnostics(const ArgTensor& tensor, const std::string& file) {
  std::vector<Diagnostic> diagnostics;
  for (std::string& fault : unknownFields(tensor)) diagnostics.push_back(no(std::move(fault), file));
  const auto warn = [&](std::string message) {
    diagnostics.push_back({.severity = Severity::kWarning, .message = std::move(message), .file = file});
  };
  const std::span<const std::uint32_t> behindShape = std::span(tensor.elementCounts).subspan(tensor.shape().size());
  if (std::any_of(behindShape.begin(), behindShape.end(), [](auto count) { return count != 0; }))
    warn("framework_shape has an element count behind its first 0, which the rank leaves out");
  if (tensor.elementsAgree() == false) warn("element counts: " + elementsText(tensor));
  return diagnostics;
}

std::vector<Diagnostic> scalarDiagnostics(const ArgTensor& tensor, std::span<const Gate> gates,
                                          const std::string& file) {
  std::vector<Diagnostic> failures = gateFailures(gates, tensor.dtype, nullptr, file);
  for (std::string& fault : unknownFields(tensor)) failures.push_back(no(std::move(fault), file));
  if (tensor.shapeAddress)
    failures.push_back(
        no("the shape is " + shapeText(tensor) + ": its element counts are not in the descriptor", file));
  return failures;
}

}  // namespace dtypemut
