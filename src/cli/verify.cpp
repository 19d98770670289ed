#include "dtypemut/commands/verify.h"

#include <memory>

#include "arguments.h"
#include "command.h"
#include "console.h"

namespace dtypemut::cli {

void addVerifyCommand(CLI::App& app, ExitCode& exitCode) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = *app.add_subcommand("verify", "Find everything that is wrong with a graph");
  leadWithExamples(command,
                   "Examples:\n"
                   "  dtypemut verify graph.json\n"
                   "  dtypemut verify graph.json --target trn2\n");
  command.footer("Exit status: 0 valid; 1 not; 2 wrong usage; 3 a file could not be read, or memory ran out.");
  addGraphArgument(command, options->input);
  addTargetOption(command, options->target);
  command.callback([options, &exitCode] { exitCode = verifyFile(*options, stderrLog()); });
}

}  // namespace dtypemut::cli
