#include "dtypemut/commands/decode.h"

#include <array>
#include <iterator>

#include "dtypemut/io/output.h"
#include "dtypemut/io/source.h"
#include "dtypemut/report/decode_report.h"

namespace dtypemut {
namespace {

/// Of hex text, however it is laid out; what is longer, or has no end, is no descriptor.
constexpr std::uint64_t kMostDescriptorBytes = std::uint64_t{1} << 20;

/// Unlike Diagnostics, as many as there are: one for every code that was asked about, if need be.
using Faults = std::vector<Diagnostic>;

void append(Faults& faults, Faults more) {
  faults.insert(faults.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ExitCode fail(const Diagnostics& diagnostics, const LogLine& log) {
  report(diagnostics, nullptr, log);
  return diagnostics.exitCode();
}

ExitCode answer(const std::string& text, const Faults& faults, const LogLine& log) {
  const Status printed = writeToStdout(text);
  if (!printed) return fail(printed.error(), log);
  ExitCode exitCode = ExitCode::kDone;
  for (const Diagnostic& fault : faults) {
    log(fault.severity, formatDiagnostic(fault, nullptr));
    if (fault.severity == Severity::kError) exitCode = fault.exitCode;
  }
  return exitCode;
}

const Target* targetOf(const DecodeOptions& options) { return options.target ? &*options.target : nullptr; }

std::string wordsText(std::span<const std::uint8_t> codes, const std::string& field) {
  std::string words;
  for (const std::uint8_t code : codes)
    if (const std::optional<std::string> word = isaFieldWord(code, field)) words += *word + "\n";
  return words;
}

ExitCode decodeCodes(std::span<const std::uint8_t> codes, const DecodeOptions& options, const LogLine& log) {
  const Target* target = targetOf(options);
  Faults faults;
  for (const std::uint8_t code : codes) {
    std::vector<Gate> gates = {supportedDtypeGate(code)};
    if (options.expect) gates.push_back(dtypeMatchGate(code, *options.expect));
    append(faults, gateFailures(gates, code, target));
  }
  if (options.json) return answer(isaCodesJson(codes, target, options.expect), faults, log);
  return answer(options.field.empty() ? isaCodesText(codes, target) : wordsText(codes, options.field), faults, log);
}

ExitCode printTable(const DecodeOptions& options, const LogLine& log) {
  const Target* target = targetOf(options);
  const std::vector<std::uint8_t> codes = isaCodes(target == nullptr ? kLastGeneration : target->generation);
  return answer(options.json ? isaCodesJson(codes, target) : isaTableText(codes, target), tableNotes(target), log);
}

ExitCode reverse(const DecodeOptions& options, const LogLine& log) {
  const std::optional<std::uint8_t> code = isaFromTorchDtype(*options.reverse);
  if (code && !options.json) return decodeCodes(std::array{*code}, options, log);
  return answer(options.json ? reverseJson(*options.reverse, targetOf(options)) : "",
                code ? Faults{} : Faults{reverseFailure(*options.reverse)}, log);
}

struct NamedDescriptor {
  std::string file;
  ArgTensor tensor;
};

Result<NamedDescriptor> readDescriptor(const DescriptorFile& file) {
  const Result<Source> source = Source::read(file.path, kMostDescriptorBytes);
  if (!source) return source.error();
  Result<ArgTensor> tensor = readArgTensor(file.kind, source->text(), source->name());
  if (!tensor) return tensor.error();
  return NamedDescriptor{source->name(), std::move(*tensor)};
}

ExitCode decodeDescriptor(const DecodeOptions& options, const LogLine& log) {
  const Result<NamedDescriptor> descriptor = readDescriptor(*options.descriptor);
  if (!descriptor) return fail(descriptor.error(), log);
  const auto& [file, tensor] = *descriptor;
  const std::vector<Gate> gates = options.expect ? copyGates(tensor, *options.expect) : tensorGates(tensor);
  Faults faults = argTensorDiagnostics(tensor, file);
  append(faults, gateFailures(gates, tensor.dtype, targetOf(options), file));
  return answer(options.json ? argTensorJson(tensor, gates, targetOf(options), file) : argTensorText(tensor, gates),
                faults, log);
}

/// What is to be converted, and what stands against it.
struct ScalarQuestion {
  std::uint8_t code;
  std::vector<Gate> gates;
  Faults faults;
};

Result<ScalarQuestion> scalarQuestion(const DecodeOptions& options) {
  if (const std::optional<std::uint8_t> code = options.scalar->code) {
    const std::vector<Gate> gates = {supportedDtypeGate(*code)};
    return ScalarQuestion{*code, gates, gateFailures(gates, *code, nullptr)};
  }
  const Result<NamedDescriptor> descriptor = readDescriptor(*options.descriptor);
  if (!descriptor) return descriptor.error();
  const std::vector<Gate> gates = scalarGates(descriptor->tensor);
  return ScalarQuestion{descriptor->tensor.dtype, gates,
                        scalarDiagnostics(descriptor->tensor, gates, descriptor->file)};
}

ExitCode convertScalar(const DecodeOptions& options, const LogLine& log) {
  const Result<ScalarQuestion> question = scalarQuestion(options);
  if (!question) return fail(question.error(), log);
  const auto& [code, gates, faults] = *question;
  const std::vector<std::byte>& element = options.scalar->bytes;
  const std::optional<std::size_t> size = isaDtypeSizeof(code);
  if (size && element.size() != *size)
    return fail(Diagnostic{.exitCode = ExitCode::kUsage,
                           .message = "--scalar: found " + std::to_string(element.size()) + " bytes, expected " +
                                      std::to_string(*size) + " of one " + isaCodeAndName(code)},
                log);
  const std::optional<ScalarValue> value = faults.empty() ? isaToScalar(code, element) : std::nullopt;
  if (options.json) return answer(scalarJson(code, element, value, gates, faults), faults, log);
  return answer(value ? scalarText(*value) + "\n" : "", faults, log);
}

}  // namespace

ExitCode decode(const DecodeOptions& options, const LogLine& log) {
  if (options.scalar) return convertScalar(options, log);
  if (options.descriptor) return decodeDescriptor(options, log);
  if (options.reverse) return reverse(options, log);
  if (options.table) return printTable(options, log);
  return decodeCodes(options.codes, options, log);
}

}  // namespace dtypemut
