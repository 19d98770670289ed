#include "man_page.h"

#include <string_view>
#include <vector>

#include "app.h"
#include "completion.h"

namespace dtypemut::cli {
namespace {

/// A text that roff prints as it is.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    const bool isFirst = result.empty() || result.back() == '\n';
    if (isFirst && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

/// Paragraphs, which an empty line ends; lines that begin with spaces stay lines.
std::string paragraphs(std::string_view text) {
  std::string result;
  bool isVerbatim = false;
  bool begins = true;
  const auto setVerbatim = [&](bool verbatim) {
    if (verbatim != isVerbatim) result += verbatim ? ".RS\n.nf\n" : ".fi\n.RE\n";
    isVerbatim = verbatim;
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool isEmpty = line.find_first_not_of(' ') == std::string_view::npos;
    setVerbatim(!isEmpty && line.starts_with("  "));
    if (begins && !isEmpty) result += ".PP\n";
    begins = isEmpty;
    if (!isEmpty) result += escaped(isVerbatim ? line.substr(2) : line) + "\n";
  }
  setVerbatim(false);
  return result;
}

std::string examples(const CLI::App& app) {
  const std::string commands = examplesOf(app);
  return commands.empty() ? "" : ".PP\n.RS\n.nf\n" + escaped(commands) + ".fi\n.RE\n";
}

std::string argument(const CLI::Option& option) { return italic(argumentName(option)); }

std::string optionEntry(const CLI::Option& option) {
  std::string heading;
  for (const std::string& spelling : spellingsOf(option)) heading += (heading.empty() ? "" : ", ") + bold(spelling);
  if (!isFlag(option)) heading += " " + argument(option);
  return ".TP\n" + heading + "\n" + escaped(option.get_description()) + (option.get_required() ? " (required)" : "") +
         "\n";
}

std::string entries(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* positional : positionalsOf(app))
    text += ".TP\n" + argument(*positional) + "\n" + escaped(positional->get_description()) + "\n";
  for (const CLI::Option* option : optionsOf(app)) text += optionEntry(*option);
  return text;
}

std::string synopsis(const CLI::App& command) {
  std::string text = bold("dtypemut " + command.get_name()) + " [" + italic("OPTION") + "]...";
  for (const CLI::Option* positional : positionalsOf(command)) {
    const std::string several = isRepeatable(*positional) ? "..." : "";
    const std::string name = argument(*positional) + several;
    text += " " + (positional->get_required() ? name : "[" + name + "]");
  }
  return text;
}

}  // namespace

std::string manPage(const CLI::App& app, const std::string& version) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  std::string text = ".\\\" Made from the command line of the tool.\n";
  text += ".TH DTYPEMUT 1 \"\" \"dtypemut " + escaped(version) + "\" \"User Commands\"\n";
  std::string description = app.get_description();
  description.front() = CLI::detail::to_lower(description.substr(0, 1)).front();
  text += ".SH NAME\ndtypemut \\- " + escaped(description) + "\n";
  text += ".SH SYNOPSIS\n.nf\n";
  for (const CLI::App* command : commands) text += synopsis(*command) + "\n";
  text += ".fi\n.SH EXAMPLES\n" + examples(app);
  text += ".SH OPTIONS\n" + entries(app);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    text += ".SS dtypemut " + escaped(command->get_name()) + "\n" + paragraphs(command->get_description()) +
            examples(*command) + entries(*command) + paragraphs(command->get_footer());
  return text;
}

}  // namespace dtypemut::cli
