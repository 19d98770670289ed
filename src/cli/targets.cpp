#include <iostream>

#include "command.h"
#include "dtypemut/target/target.h"

namespace dtypemut::cli {

void addTargetsCommand(CLI::App& app, ExitCode& exitCode) {
  CLI::App& command = *app.add_subcommand("targets", "List the targets and what each can do");
  leadWithExamples(command,
                   "Examples:\n"
                   "  dtypemut targets\n"
                   "  dtypemut targets | grep -A5 cayman\n");
  command.footer("Exit status: 0 done; 2 wrong usage; 3 stdout could not be written.");
  command.callback([&exitCode] {
    for (const Target& row : targets()) {
      std::cout << row.name << "\n  aliases:          " << row.aliases << "\n  generation:       " << +row.generation
                << "\n  DMA casts:        " << (row.enableDmaCast ? "yes" : "no")
                << "\n  --dtype:          " << row.requestableDtypes().toString()
                << "\n  matmul operands:  " << row.matmulDtypes.toString() << '\n';
    }
    std::cout.flush();
    exitCode = std::cout ? ExitCode::kDone : ExitCode::kFile;
  });
}

}  // namespace dtypemut::cli
