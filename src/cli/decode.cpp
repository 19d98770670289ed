#include "dtypemut/commands/decode.h"

#include <memory>

#include "arguments.h"
#include "command.h"
#include "console.h"
#include "dtypemut/report/decode_report.h"
#include "dtypemut/types/bytes.h"

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

/// What an argument says; wrong usage of `option` when it says nothing.
template <typename T>
T valueOf(const std::string& option, const Result<T>& parsed) {
  if (!parsed) throw CLI::ValidationError(option, parsed.error().begin()->message);
  return *parsed;
}

/// An option whose argument `take` reads.
template <typename Take>
CLI::Option* addOption(CLI::App& command, const std::string& name, const std::string& argument, Take take,
                       const std::string& description) {
  return command.add_option_function<std::string>(name, std::move(take), description)->option_text(argument);
}

void exclude(const std::vector<CLI::Option*>& some, const std::vector<CLI::Option*>& others) {
  for (CLI::Option* one : some)
    for (CLI::Option* other : others)
      if (one != other) one->excludes(other);
}

}  // namespace

void addDecodeCommand(CLI::App& app, ExitCode& exitCode) {
  CLI::App& command = *app.add_subcommand("decode", "Say what ISA dtype codes and tensor descriptors are to PyTorch");
  leadWithExamples(command, kExamples);
  command.footer(
      "Exit status: 0 done; 1 a descriptor was refused; 2 wrong usage; 3 a file could not be read or written, or memory ran out;\n"
      "4 a code has no ScalarType, or a gate of the device fails.");
  const auto options = std::make_shared<DecodeOptions>();
  const auto element = std::make_shared<ScalarElement>();

  CLI::Option* codes = command
                           .add_option_function<std::vector<std::string>>(
                               "CODE",
                               [options](const std::vector<std::string>& texts) {
                                 for (const std::string& text : texts)
                                   options->codes.push_back(valueOf("CODE", isaCodeFromArgument(text)));
                               },
                               "Hexadecimal (0x6) or decimal, or an ISA name or full enumerator in any case")
                           ->type_name("");
  CLI::Option* table =
      command.add_flag("--table", options->table, "All codes of the target's header, or of all headers");
  CLI::Option* target = addTargetOption(command, options->target);
  target->description(target->get_description() +
                      "\nCodes that its header does not name are marked; the mapping stays the same");
  CLI::Option* expect = addOption(
      command, "--expect", "NAME|ORDINAL",
      [options](const std::string& text) { options->expect = valueOf("--expect", scalarTypeFromArgument(text)); },
      "The dtype-match gate: bind a host tensor of that ScalarType to each code,\nor back to the descriptor");
  CLI::Option* reverse = addOption(
      command, "--reverse", "NAME|ORDINAL",
      [options](const std::string& text) { options->reverse = valueOf("--reverse", scalarTypeFromArgument(text)); },
      "The code that a ScalarType comes from. The device has no such function:\n"
      "this inverts the one it has, which leads from codes to ScalarTypes");
  CLI::Option* argTensor = addOption(
      command, "--arg-tensor", "FILE",
      [options](const std::string& path) {
        options->descriptor = {DescriptorKind::kArgTensor, path};
      },
      "A descriptor of 48 bytes, binary or hex text; - is stdin");
  CLI::Option* uTensor = addOption(
      command, "--utensor", "FILE",
      [options](const std::string& path) {
        options->descriptor = {DescriptorKind::kUTensor, path};
      },
      "The same within the wrapper's object of 56 bytes");
  CLI::Option* scalar = addOption(
      command, "--scalar", "HEX",
      [element](const std::string& text) { element->bytes = valueOf("--scalar", bytesFromHex(text)); },
      "The value that c10::Scalar would hold: the bytes of one element in memory\n"
      "order (bf16 1.0 is 803F), of the code of --dtype or of a descriptor");
  CLI::Option* dtype = addOption(
      command, "--dtype", "CODE",
      [element](const std::string& text) { element->code = valueOf("--dtype", isaCodeFromArgument(text)); },
      "The code of the element of --scalar");
  CLI::Option* field = addOption(
      command, "--field", "name|size|scalar-type|ordinal",
      [options](const std::string& text) {
        options->field =
            kIsaFields[parseChoice("--field", text, {kIsaFields[0], kIsaFields[1], kIsaFields[2], kIsaFields[3]})];
      },
      "Print only this word about each code");
  CLI::Option* json = command.add_flag("--json", options->json, "Print JSON, also about codes that have no ScalarType");

  const std::vector<CLI::Option*> questions = {codes, table, reverse, argTensor, uTensor, dtype};
  exclude(questions, questions);
  exclude({expect}, {table, reverse, scalar});
  exclude({scalar}, {codes, table, reverse, target, field});
  exclude({field}, {table, argTensor, uTensor, json});
  dtype->needs(scalar);

  command.callback([options, element, scalar, &exitCode] {
    if (scalar->count() > 0) options->scalar = *element;
    if (options->scalar && !element->code && !options->descriptor)
      throw CLI::ValidationError("--scalar", "needs --dtype CODE, --arg-tensor FILE or --utensor FILE");
    if (!options->scalar && !options->descriptor && !options->reverse && !options->table && options->codes.empty())
      throw CLI::ValidationError("decode", "needs CODE..., --table, --reverse, --arg-tensor, --utensor or --scalar");
    exitCode = decode(*options, stderrLog());
  });
}

}  // namespace dtypemut::cli
