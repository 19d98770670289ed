#include <csignal>
#include <exception>
#include <iostream>

#include "command.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 -o graph.bf16.json\n"
    "  dtypemut verify graph.json --target trn2\n"
    "  dtypemut decode 0x6\n";

int main(int argc, char** argv) {
  // A reader that goes away makes a write fail, which is reported as exit status 3; it must not kill the process.
  std::signal(SIGPIPE, SIG_IGN);

  CLI::App app{kExamples};
  app.name("dtypemut");
  app.require_subcommand(1);
  ExitCode exitCode = ExitCode::kDone;
  addRunCommand(app, exitCode);
  addVerifyCommand(app, exitCode);
  addTargetsCommand(app, exitCode);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    std::cout.flush();
    return static_cast<int>(std::cout ? ExitCode::kDone : ExitCode::kFile);
  } catch (const CLI::ParseError& error) {
    std::cerr << "dtypemut: error: " << error.what() << '\n';
    return static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(exitCode);
}

}  // namespace
}  // namespace dtypemut::cli

int main(int argc, char** argv) { return dtypemut::cli::main(argc, argv); }
