#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "dtypemut/types/spelling.h"

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

/// The argument that no option or command took, if that is what was wrong.
std::optional<std::string> unexpectedArgument(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  const auto isOption = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto option = std::find_if(rest.begin(), rest.end(), isOption);
  if (option != rest.end()) return option->substr(0, option->find('='));
  return rest.empty() ? std::nullopt : std::optional(rest.front());
}

/// What was wrong with the usage, for people.
std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  const bool hasCommand = !app.get_subcommands().empty();
  const std::optional<std::string> argument = unexpectedArgument(app);
  const bool isUnexpected = !hasCommand || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!isUnexpected || !argument) return error.what();

  const bool isOption = argument->starts_with('-');
  if (hasCommand && !isOption) return "unexpected argument '" + *argument + "'";
  std::vector<std::string> names;
  if (isOption) {
    const CLI::App& command = hasCommand ? *app.get_subcommands().front() : app;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else {
    for (const CLI::App* command : commands) names.push_back(command->get_name());
  }
  const auto nearest = nearestName(*argument, std::vector<std::string_view>(names.begin(), names.end()));
  std::string message = std::string("unknown ") + (isOption ? "option" : "command") + " '" + *argument + "'";
  if (nearest) return message + " (did you mean '" + std::string(*nearest) + "'?)";
  if (isOption) return message;
  for (const std::string& name : names) message += (&name == &names.front() ? "; expected one of " : ", ") + name;
  return message;
}

/// What is wrong with the config file. CLI11 tells what it could not place, as "section.key".
std::string describe(const CLI::ConfigError& error) {
  const std::string text = error.what();
  constexpr std::string_view kUnplaced = "INI was not able to parse ";
  if (!text.starts_with(kUnplaced)) return text;
  return "no command has the option '" + text.substr(kUnplaced.size()) + "' (section.key)";
}

int main(int argc, char** argv) {
  holdClosedStreams();
  // A reader that goes away makes a write fail, which is reported as exit status 3; it must not kill the process.
  std::signal(SIGPIPE, SIG_IGN);

  CLI::App app{kExamples};
  app.name("dtypemut");
  app.require_subcommand(1);
  // The file's sections are named like the commands, and every command takes the option.
  app.set_config("--config", "", "Read options from a TOML file: a section per command, keys as the options")
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_version_flag("--version", "dtypemut " DTYPEMUT_VERSION);
  ExitCode exitCode = ExitCode::kDone;
  addRunCommand(app, exitCode);
  addVerifyCommand(app, exitCode);
  addDiffCommand(app, exitCode);
  addDecodeCommand(app, exitCode);
  addTargetsCommand(app, exitCode);
  addSchemaCommand(app, exitCode);
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    std::cout.flush();
    return static_cast<int>(std::cout ? ExitCode::kDone : ExitCode::kFile);
  } catch (const CLI::FileError&) {
    std::cerr << app.get_config_ptr()->as<std::string>() << ": error: cannot read\n";
    return static_cast<int>(ExitCode::kFile);
  } catch (const CLI::ConfigError& error) {
    std::cerr << app.get_config_ptr()->as<std::string>() << ": error: " << describe(error) << '\n';
    return static_cast<int>(ExitCode::kUsage);
  } catch (const CLI::ParseError& error) {
    std::cerr << "dtypemut: error: " << describe(app, error) << '\n';
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
