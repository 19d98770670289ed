#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <memory>

#include "command.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 -o graph.bf16.json\n"
    "  dtypemut verify graph.json --target trn2\n"
    "  dtypemut decode 0x6\n";

class ExamplesFirst : public CLI::Formatter {
 public:
  explicit ExamplesFirst(std::string examples) : examples_(std::move(examples)) {}
  std::string make_description(const CLI::App* app) const override {
    return examples_ + "\n" + CLI::Formatter::make_description(app);
  }
  /// Without the list of what an option excludes, which would be most of the text.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }

 private:
  std::string examples_;
};

/// Takes the place of standard streams that are closed, before a file that is opened later does: reading and writing
/// such a stream has to fail.
void holdClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int main(int argc, char** argv) {
  holdClosedStreams();
  // A reader that goes away makes a write fail, which is reported as exit status 3; it must not kill the process.
  std::signal(SIGPIPE, SIG_IGN);

  CLI::App app{kExamples};
  app.name("dtypemut");
  app.require_subcommand(1);
  ExitCode exitCode = ExitCode::kDone;
  addRunCommand(app, exitCode);
  addVerifyCommand(app, exitCode);
  addDecodeCommand(app, exitCode);
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

void leadWithExamples(CLI::App& command, std::string examples) {
  command.formatter(std::make_shared<ExamplesFirst>(std::move(examples)));
}

}  // namespace dtypemut::cli

int main(int argc, char** argv) { return dtypemut::cli::main(argc, argv); }
