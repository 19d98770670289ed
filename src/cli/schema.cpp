#include "command.h"
#include "console.h"
#include "dtypemut/io/ir_schema.h"
#include "dtypemut/io/output.h"

namespace dtypemut::cli {

void addSchemaCommand(CLI::App& app, ExitCode& exitCode) {
  CLI::App& command = *app.add_subcommand("schema", "Print a JSON Schema (2020-12) of the IR");
  leadWithExamples(command,
                   "Examples:\n"
                   "  dtypemut schema >dtypemut.schema.json\n"
                   "  dtypemut schema | python3 -m jsonschema -i graph.json /dev/stdin\n");
  command.footer("Exit status: 0 done; 2 wrong usage; 3 stdout could not be written.");
  command.callback([&exitCode] {
    const Status written = writeToStdout(irSchema());
    if (!written) report(written.error(), nullptr, stderrLog());
    exitCode = written ? ExitCode::kDone : written.error().exitCode();
  });
}

}  // namespace dtypemut::cli
