#include "app.h"

#include <string_view>
#include <utility>

#include "command.h"
#include "version.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 -o graph.bf16.json\n"
    "  dtypemut verify graph.json --target trn2\n"
    "  dtypemut cast model.safetensors --dtype bf16 -o model.bf16.safetensors\n"
    "  dtypemut decode 0x6\n";

class ExamplesFirst : public CLI::Formatter {
 public:
  explicit ExamplesFirst(std::string examples) : examples_(std::move(examples)) {}
  const std::string& examples() const { return examples_; }
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

}  // namespace

void leadWithExamples(CLI::App& command, std::string examples) {
  command.formatter(std::make_shared<ExamplesFirst>(std::move(examples)));
}

std::string examplesOf(const CLI::App& app) {
  const auto formatter = std::dynamic_pointer_cast<ExamplesFirst>(app.get_formatter());
  std::string commands;
  if (!formatter) return commands;
  constexpr std::string_view kIndent = "  ";
  std::string_view rest = formatter->examples();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (rest.starts_with(kIndent)) commands += rest.substr(kIndent.size(), end - kIndent.size());
    rest.remove_prefix(end);
  }
  return commands;
}

std::unique_ptr<CLI::App> makeApp(ExitCode& exitCode) {
  auto app = std::make_unique<CLI::App>("Retype accelerator backend IR in place and fold the casts of weights");
  app->name("dtypemut");
  app->require_subcommand(1);
  // The file's sections are named like the commands, and every command takes the option.
  app->set_config("--config", "", "Read options from a TOML file: a section per command, keys as the options")
      ->type_name("FILE");
  app->allow_config_extras(CLI::config_extras_mode::error);
  app->set_version_flag("--version", std::string("dtypemut ") + version(), "Print the version and exit");
  addRunCommand(*app, exitCode);
  addVerifyCommand(*app, exitCode);
  addDiffCommand(*app, exitCode);
  addCastCommand(*app, exitCode);
  addDecodeCommand(*app, exitCode);
  addTargetsCommand(*app, exitCode);
  addSchemaCommand(*app, exitCode);
  for (CLI::App* command : app->get_subcommands({})) command->fallthrough();
  leadWithExamples(*app, kExamples);
  return app;
}

}  // namespace dtypemut::cli
