#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app.h"
#include "dtypemut/types/spelling.h"
#include "signals.h"

namespace dtypemut::cli {
namespace {

/// Takes the place of standard streams that are closed, before a file that is opened later does: reading and writing
/// such a stream has to fail.
void holdClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// A checkpoint may have more shards than the files that a process may have open unless it asks.
void allowManyFiles() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
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
  allowManyFiles();
  // A reader that goes away, or a limit on the size of files, makes a write fail, which is reported as exit status 3;
  // it must not kill the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  removeOutputsOnSignals();

  ExitCode exitCode = ExitCode::kDone;
  const std::unique_ptr<CLI::App> app = makeApp(exitCode);
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success& help) {
    app->exit(help);
    std::cout.flush();
    return static_cast<int>(std::cout ? ExitCode::kDone : ExitCode::kFile);
  } catch (const CLI::FileError&) {
    std::cerr << app->get_config_ptr()->as<std::string>() << ": error: cannot read\n";
    return static_cast<int>(ExitCode::kFile);
  } catch (const CLI::ConfigError& error) {
    std::cerr << app->get_config_ptr()->as<std::string>() << ": error: " << describe(error) << '\n';
    return static_cast<int>(ExitCode::kUsage);
  } catch (const CLI::ParseError& error) {
    std::cerr << "dtypemut: error: " << describe(*app, error) << '\n';
    return static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(exitCode);
}

}  // namespace

}  // namespace dtypemut::cli

int main(int argc, char** argv) {
  using dtypemut::ExitCode;
  // Without the help of what may need memory itself.
  const auto fail = [](ExitCode code, std::string_view before, std::string_view what) {
    for (const std::string_view text : {std::string_view("dtypemut: error: "), before, what, std::string_view("\n")})
      static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    return static_cast<int>(code);
  };
  try {
    return dtypemut::cli::main(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kFile, "out of memory", "");
  } catch (const std::exception& error) {
    return fail(ExitCode::kToolsFault, "internal fault: ", error.what());
  }
}
