#include "dtypemut/types/isa_dtype.h"

#include <algorithm>
#include <charconv>

#include "dtypemut/types/bytes.h"
#include "dtypemut/types/dtype.h"
#include "dtypemut/types/spelling.h"

namespace dtypemut {
namespace {

/// A family of enumerators: whose headers declare it, and of which codes.
struct EnumeratorFamily {
  std::string_view prefix;
  std::uint8_t firstGeneration;
  std::uint8_t lastGeneration;
  bool basicOnly;

  /// Whether some header has the code in this family.
  bool names(const IsaDtypeInfo& info) const {
    return info.firstGeneration <= lastGeneration && (info.isBasic() || !basicOnly);
  }
  std::optional<std::string> enumerator(std::uint8_t code, std::uint8_t generation) const {
    const IsaDtypeInfo* info = isaDtypeInfo(code);
    if (info == nullptr || !names(*info) || generation < info->firstGeneration) return std::nullopt;
    if (generation < firstGeneration || generation > lastGeneration) return std::nullopt;
    return std::string(prefix) + std::string(info->name);
  }
};

constexpr EnumeratorFamily kTongaFamily = {"TONGA_ISA_TPB_DTYPE_", 1, 1, false};
constexpr EnumeratorFamily kNeuronFamily = {"NEURON_ISA_TPB_DTYPE_", 2, kLastGeneration, false};
constexpr EnumeratorFamily kBasicFamily = {"NEURON_ISA_TPB_DTYPE_BASIC_", 4, kLastGeneration, true};

Diagnostic wrongUsage(std::string message) { return {.exitCode = ExitCode::kUsage, .message = std::move(message)}; }

const EnumeratorFamily* familyOf(std::string_view enumerator) {
  for (const EnumeratorFamily* family : {&kBasicFamily, &kNeuronFamily, &kTongaFamily})  // the longer prefix first
    if (equalsIgnoringCase(enumerator.substr(0, family->prefix.size()), family->prefix)) return family;
  return nullptr;
}

/// What an unknown name, without the prefix of `family` (null: it had none), was perhaps meant to be; empty if nothing.
std::string nearestSpelling(std::string_view name, const EnumeratorFamily* family) {
  // A dtype of the compiler means its own code, however near some other name is.
  if (const std::optional<Dtype> dtype = dtypeFromArgument(name); dtype && family == nullptr)
    return std::string(isaDtypeInfo(dtypeInfo(*dtype).isaCode)->name);
  std::vector<std::string_view> names;
  for (const IsaDtypeInfo& info : kIsaDtypes) names.push_back(info.name);
  const std::optional<std::string_view> nearest = nearestName(name, names);
  if (!nearest) return {};
  if (family == nullptr) return std::string(*nearest);
  const bool hasIt = std::any_of(std::begin(kIsaDtypes), std::end(kIsaDtypes), [&](const IsaDtypeInfo& info) {
    return info.name == *nearest && family->names(info);
  });
  return std::string((hasIt ? *family : kNeuronFamily).prefix) + std::string(*nearest);
}

}  // namespace

std::string_view isaFamilyName(IsaFamily family) {
  constexpr std::string_view kNames[] = {"-", "signed", "unsigned", "float", "scale", "cptc"};
  return kNames[static_cast<std::size_t>(family)];
}

const IsaDtypeInfo* isaDtypeInfo(std::uint8_t code) {
  const auto row = std::find_if(std::begin(kIsaDtypes), std::end(kIsaDtypes),
                                [&](const IsaDtypeInfo& info) { return info.code == code; });
  return row == std::end(kIsaDtypes) ? nullptr : row;
}

std::vector<std::uint8_t> isaCodes(std::uint8_t generation) {
  std::vector<std::uint8_t> codes;
  for (const IsaDtypeInfo& info : kIsaDtypes)
    if (info.firstGeneration <= generation) codes.push_back(info.code);
  return codes;
}

std::optional<std::uint8_t> isaFromTorchDtype(ScalarType type) {
  for (const IsaDtypeInfo& info : kIsaDtypes)
    if (info.scalarType == type) return info.code;
  return std::nullopt;
}

std::string_view whyNoScalarType(std::uint8_t code) {
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  return info == nullptr ? "not a code" : info->whyNot;
}

std::string isaCodeAndName(std::uint8_t code) {
  const IsaDtypeInfo* info = isaDtypeInfo(code);
  return info == nullptr ? hexNumber(code) : hexNumber(code) + " " + std::string(info->name);
}

std::optional<std::string> isaEnumerator(std::uint8_t code, std::uint8_t generation) {
  return (generation == 1 ? kTongaFamily : kNeuronFamily).enumerator(code, generation);
}

std::optional<std::string> isaBasicEnumerator(std::uint8_t code, std::uint8_t generation) {
  return kBasicFamily.enumerator(code, generation);
}

Result<std::uint8_t> isaCodeFromArgument(std::string_view text) {
  const bool isHex = text.size() > 2 && equalsIgnoringCase(text.substr(0, 2), "0x");
  const std::string_view digits = text.substr(isHex ? 2 : 0);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, isHex ? 16 : 10);
  if (end == digits.data() + digits.size() && error != std::errc::invalid_argument) {
    if (error == std::errc::result_out_of_range || digits.starts_with('-') || number > 0xFF)
      return wrongUsage("code " + std::string(text) + " is out of range: expected 0 to 255 (0x0 to 0xFF)");
    return static_cast<std::uint8_t>(number);
  }

  const EnumeratorFamily* family = familyOf(text);
  const std::string_view name = text.substr(family == nullptr ? 0 : family->prefix.size());
  for (const IsaDtypeInfo& info : kIsaDtypes)
    if (equalsIgnoringCase(info.name, name) && (family == nullptr || family->names(info))) return info.code;

  std::string message =
      "unknown ISA dtype '" + std::string(text) + "': expected a code from 0 to 255, an ISA name or an enumerator";
  if (const std::string nearest = nearestSpelling(name, family); !nearest.empty())
    message += " (did you mean '" + nearest + "'?)";
  return wrongUsage(std::move(message));
}

}  // namespace dtypemut
