#include <array>
#include <iostream>
#include <memory>

#include "command.h"
#include "dtypemut/io/source.h"
#include "dtypemut/report/decode_report.h"
#include "dtypemut/types/bytes.h"
#include "dtypemut/types/spelling.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut decode 0x6 10 FP32 NEURON_ISA_TPB_DTYPE_INT8\n"
    "  dtypemut decode 0x6 --field scalar-type\n"
    "  dtypemut decode 0x6 --expect BFloat16\n"
    "  dtypemut decode --table --target trn2\n"
    "  dtypemut decode --arg-tensor tensor.bin --json\n"
    "  dtypemut decode --utensor - --expect Half <object.hex\n"
    "  dtypemut decode --scalar 803F --dtype bfloat16\n"
    "  dtypemut decode --reverse BFloat16\n";

struct Options {
  std::vector<std::string> codes;
  std::optional<std::string> targetText, expect, reverse, argTensor, uTensor, scalar, dtype, field;
  bool table = false;
  bool json = false;

  // What targetText and expect say.
  std::optional<Target> chosenTarget;
  std::optional<ScalarType> hostType;

  const Target* target() const { return chosenTarget ? &*chosenTarget : nullptr; }
};

using Lines = std::vector<Diagnostic>;

Lines lines(const Diagnostics& diagnostics) { return {diagnostics.begin(), diagnostics.end()}; }

void append(Lines& lines, Lines more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ExitCode complain(const Lines& diagnostics) {
  ExitCode exitCode = ExitCode::kDone;
  for (const Diagnostic& diagnostic : diagnostics) {
    std::cerr << formatDiagnostic(diagnostic, nullptr) << '\n';
    if (diagnostic.severity == Severity::kError) exitCode = diagnostic.exitCode;
  }
  return exitCode;
}

/// Prints an answer, and what is wrong about it.
ExitCode answer(const std::string& text, const Lines& diagnostics) {
  std::cout << text << std::flush;
  const ExitCode exitCode = complain(diagnostics);
  return std::cout ? exitCode : ExitCode::kFile;
}

Diagnostic wrongUsage(std::string message) { return {.exitCode = ExitCode::kUsage, .message = std::move(message)}; }

Result<Target> targetFrom(const std::string& text) {
  if (const std::optional<Target> target = targetFromArgument(text)) return *target;
  std::string message = "unknown target '" + text + "': expected";
  std::vector<std::string_view> names;
  for (const Target& row : targets()) {
    names.push_back(row.name);
    message += (names.size() == 1 ? " " : ", ") + std::string(row.name) + " (" + std::string(row.aliases) + ")";
  }
  if (const auto nearest = nearestName(text, names)) message += " (did you mean '" + std::string(*nearest) + "'?)";
  return wrongUsage(std::move(message));
}

ExitCode decodeCodes(const Options& options, std::span<const std::uint8_t> codes) {
  Lines failures;
  for (const std::uint8_t code : codes) {
    std::vector<Gate> gates = {supportedDtypeGate(code)};
    if (options.hostType) gates.push_back(dtypeMatchGate(code, *options.hostType));
    append(failures, gateFailures(gates, code, options.target()));
  }
  if (options.json) return answer(isaCodesJson(codes, options.target(), options.hostType), failures);
  if (!options.field) return answer(isaCodesText(codes, options.target()), failures);
  std::string words;
  for (const std::uint8_t code : codes)
    if (const std::optional<std::string> word = isaFieldWord(code, *options.field)) words += *word + "\n";
  return answer(words, failures);
}

ExitCode decodeArguments(const Options& options) {
  std::vector<std::uint8_t> codes;
  Lines errors;
  for (const std::string& text : options.codes) {
    const Result<std::uint8_t> code = isaCodeFromArgument(text);
    if (code)
      codes.push_back(*code);
    else
      append(errors, lines(code.error()));
  }
  return errors.empty() ? decodeCodes(options, codes) : complain(errors);
}

ExitCode printTable(const Options& options) {
  const Target* target = options.target();
  const std::vector<std::uint8_t> codes = isaCodes(target == nullptr ? kLastGeneration : target->generation);
  return answer(options.json ? isaCodesJson(codes, target) : isaTableText(codes, target), tableNotes(target));
}

ExitCode reverse(const Options& options) {
  const Result<ScalarType> type = scalarTypeFromArgument(*options.reverse);
  if (!type) return complain(lines(type.error()));
  const std::optional<std::uint8_t> code = isaFromTorchDtype(*type);
  if (code && !options.json) return decodeCodes(options, std::array{*code});
  return answer(options.json ? reverseJson(*type, options.target()) : "",
                code ? Lines{} : Lines{reverseFailure(*type)});
}

struct Descriptor {
  std::string file;
  ArgTensor tensor;
};

Result<Descriptor> readDescriptor(const Options& options) {
  const Result<Source> source = Source::read(options.argTensor ? *options.argTensor : *options.uTensor);
  if (!source) return source.error();
  const DescriptorKind kind = options.argTensor ? DescriptorKind::kArgTensor : DescriptorKind::kUTensor;
  Result<ArgTensor> tensor = readArgTensor(kind, source->text(), source->name());
  if (!tensor) return tensor.error();
  return Descriptor{source->name(), std::move(*tensor)};
}

ExitCode decodeDescriptor(const Options& options) {
  const Result<Descriptor> descriptor = readDescriptor(options);
  if (!descriptor) return complain(lines(descriptor.error()));
  const auto& [file, tensor] = *descriptor;
  const std::vector<Gate> gates = options.hostType ? copyGates(tensor, *options.hostType) : tensorGates(tensor);
  Lines diagnostics = argTensorDiagnostics(tensor, file);
  append(diagnostics, gateFailures(gates, tensor.dtype, options.target(), file));
  return answer(options.json ? argTensorJson(tensor, gates, options.target(), file) : argTensorText(tensor, gates),
                diagnostics);
}

ExitCode convertScalar(const Options& options) {
  const Result<std::vector<std::byte>> element = bytesFromHex(*options.scalar);
  if (!element) return complain({wrongUsage("--scalar: " + element.error().begin()->message)});

  std::uint8_t code = 0;
  std::vector<Gate> gates;
  Lines diagnostics;
  if (options.dtype) {
    const Result<std::uint8_t> parsed = isaCodeFromArgument(*options.dtype);
    if (!parsed) return complain(lines(parsed.error()));
    code = *parsed;
    gates = {supportedDtypeGate(code)};
    diagnostics = gateFailures(gates, code, nullptr);
  } else {
    const Result<Descriptor> descriptor = readDescriptor(options);
    if (!descriptor) return complain(lines(descriptor.error()));
    code = descriptor->tensor.dtype;
    gates = scalarGates(descriptor->tensor);
    diagnostics = scalarDiagnostics(descriptor->tensor, gates, descriptor->file);
  }
  const std::optional<std::size_t> size = isaDtypeSizeof(code);
  if (size && element->size() != *size)
    return complain({wrongUsage("--scalar: found " + std::to_string(element->size()) + " bytes, expected " +
                                std::to_string(*size) + " of one " + isaCodeAndName(code))});

  std::optional<ScalarValue> value;
  if (diagnostics.empty()) value = isaToScalar(code, *element);
  if (options.json) return answer(scalarJson(code, *element, value, gates, diagnostics), diagnostics);
  return answer(value ? scalarText(*value) + "\n" : "", diagnostics);
}

ExitCode decode(Options& options) {
  if (options.targetText) {
    const Result<Target> target = targetFrom(*options.targetText);
    if (!target) return complain(lines(target.error()));
    options.chosenTarget = *target;
  }
  if (options.expect) {
    const Result<ScalarType> type = scalarTypeFromArgument(*options.expect);
    if (!type) return complain(lines(type.error()));
    options.hostType = *type;
  }
  const bool hasDescriptor = options.argTensor || options.uTensor;
  if (options.scalar) {
    if (!options.dtype && !hasDescriptor)
      return complain({wrongUsage("--scalar needs --dtype CODE, --arg-tensor FILE or --utensor FILE")});
    return convertScalar(options);
  }
  if (hasDescriptor) return decodeDescriptor(options);
  if (options.reverse) return reverse(options);
  if (options.table) return printTable(options);
  if (!options.codes.empty()) return decodeArguments(options);
  return complain({wrongUsage("decode needs CODE..., --table, --reverse, --arg-tensor, --utensor or --scalar")});
}

void exclude(std::initializer_list<CLI::Option*> some, std::initializer_list<CLI::Option*> others) {
  for (CLI::Option* one : some)
    for (CLI::Option* other : others)
      if (one != other) one->excludes(other);
}

}  // namespace

void addDecodeCommand(CLI::App& app, ExitCode& exitCode) {
  CLI::App* command =
      app.add_subcommand("decode", "Say what an ISA dtype code is to PyTorch, and what a descriptor says");
  leadWithExamples(*command, kExamples);
  const auto options = std::make_shared<Options>();

  CLI::Option* codes = command->add_option(
      "CODE", options->codes, "Hexadecimal (0x6) or decimal, or an ISA name or full enumerator in any case");
  CLI::Option* table =
      command->add_flag("--table", options->table, "All codes of the target's header, or of all headers");
  CLI::Option* target = command->add_option("--target", options->targetText,
                                            "Mark codes that its header does not name; the mapping stays the same");
  CLI::Option* expect =
      command->add_option("--expect", options->expect,
                          "The dtype-match gate: bind a host tensor of that ScalarType to each code,\n"
                          "or back to the descriptor");
  CLI::Option* reverse = command->add_option("--reverse", options->reverse,
                                             "The code that a ScalarType comes from. The device has no such function:\n"
                                             "this inverts its only one, which leads from codes to ScalarTypes");
  CLI::Option* argTensor = command->add_option("--arg-tensor", options->argTensor,
                                               "A descriptor of 48 bytes, binary or hex text; - is stdin");
  CLI::Option* uTensor =
      command->add_option("--utensor", options->uTensor, "The same within the wrapper's object of 56 bytes");
  CLI::Option* scalar =
      command->add_option("--scalar", options->scalar,
                          "The value that c10::Scalar would hold: the bytes of one element in memory\n"
                          "order (bf16 1.0 is 803F), of the code of --dtype or of a descriptor");
  CLI::Option* dtype = command->add_option("--dtype", options->dtype, "The code of the element of --scalar");
  CLI::Option* field = command->add_option("--field", options->field, "Print only this word about each code");
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print JSON, also about codes that have no ScalarType");

  codes->type_name("");
  target->type_name("TARGET");
  expect->type_name("NAME|ORDINAL");
  reverse->type_name("NAME|ORDINAL");
  argTensor->type_name("FILE");
  uTensor->type_name("FILE");
  scalar->type_name("HEX");
  dtype->type_name("CODE")->needs(scalar);
  field->type_name("WORD")->check(
      CLI::IsMember(std::vector<std::string>(std::begin(kIsaFields), std::end(kIsaFields))));

  const auto questions = {codes, table, reverse, argTensor, uTensor, dtype};
  exclude(questions, questions);
  exclude({expect}, {table, reverse, scalar});
  exclude({scalar}, {codes, table, reverse, target, field});
  exclude({field}, {table, argTensor, uTensor, json});
  command->callback([options, &exitCode] { exitCode = decode(*options); });
}

}  // namespace dtypemut::cli
