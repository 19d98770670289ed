#include "dtypemut/commands/cast.h"

#include <memory>

#include "arguments.h"
#include "command.h"
#include "console.h"
#include "progress_bar.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut cast model.safetensors --dtype bf16 -o model.bf16.safetensors\n"
    "  dtypemut cast model.safetensors --dtype fp8e4 --exclude '*norm*' --audit audit.json -o model.fp8.safetensors\n"
    "  dtypemut cast model.safetensors.index.json --dtype bf16 -o model-bf16/\n";

constexpr const char* kFooter =
    "GLOB: * any characters, ? one, [a-z] one of these; it has to fit the whole name.\n"
    "\n"
    "Exit status: 0 done; 1 the input was refused; 2 wrong usage; 3 a file could not be read or written;\n"
    "4 done, but --fail-on. Nothing is written on 1, 2 and 3.";

}  // namespace

void addCastCommand(CLI::App& app, ExitCode& exitCode) {
  const auto options = std::make_shared<CastFilesOptions>();
  CLI::App& command = *app.add_subcommand("cast", "Cast the weights of a safetensors file or of a sharded checkpoint");
  leadWithExamples(command, kExamples);
  command.footer(kFooter);
  command.add_option("WEIGHTS", options->input, "A safetensors file, or the *.safetensors.index.json of several")
      ->required()
      ->type_name("");
  addDtypeOption(command, options->dtype)->required();
  addFromOption(command, options->from);
  addListOption(command, "--include", options->include, "Cast only tensors whose name matches (repeatable)", "GLOB");
  addListOption(command, "--exclude", options->exclude, "Cast no tensor whose name matches (repeatable)", "GLOB");
  addFp8Options(command, options->cast);
  addThreadsOption(command, options->threads);
  addFileOption(command, "-o,--output", options->output, "The result: a file, - for stdout; for an index a folder")
      ->required();
  addFileOption(command, "--audit", options->audit, "What the casts do to the values, by tensor and in total, as JSON");
  command
      .add_option_function<std::vector<std::string>>(
          "--fail-on",
          [options](const std::vector<std::string>& texts) {
            FailOnAudit& failOn = options->failOn;
            for (const std::string& text : texts)
              (parseChoice("--fail-on", text, {"overflow", "underflow"}) == 0 ? failOn.overflow : failOn.underflow) =
                  true;
          },
          "Exit 4, after writing everything, when a cast does: overflow, underflow")
      ->type_name("WHAT")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command.add_flag("--quiet", options->quiet, "Print no summary and no progress bar");

  command.callback([options, &exitCode] {
    ProgressBar bar(!options->quiet);
    options->progress = [&bar](std::uint64_t bytes, std::uint64_t allBytes) { bar.update(bytes, allBytes); };
    exitCode = castFiles(*options, [&bar, log = stderrLog()](Severity severity, const std::string& line) {
      bar.clear();
      log(severity, line);
    });
  });
}

}  // namespace dtypemut::cli
