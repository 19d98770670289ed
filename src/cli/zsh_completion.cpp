#include "zsh_completion.h"

#include "completion.h"

namespace dtypemut::cli {
namespace {

using Kind = Completion::Kind;

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// For a text within the [] of an _arguments specification.
std::string zshDescription(const std::string& text) {
  std::string escaped;
  for (char c : firstLine(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The last parts of an _arguments specification: what an argument is called, and what it can be.
std::string zshArgument(const CLI::Option& option) {
  const Completion completion = completionOf(option);
  const std::string name = zshDescription(argumentName(option));
  switch (completion.kind) {
    case Kind::kFile:
      return ":" + name + ":_files";
    case Kind::kFolder:
      return ":" + name + ":_files -/";
    case Kind::kWord:
      return ":" + name +
             (completion.isList ? ":_values -s , " + name + " " + joined(completion.words, " ")
                                : ":(" + joined(completion.words, " ") + ")");
    case Kind::kAnything:
      return ":" + name + ": ";
  }
  return "";
}

std::string zshOption(const CLI::Option& option) {
  Words spellings = spellingsOf(option);
  Words excluded;
  if (!isRepeatable(option)) excluded = spellings;
  for (const CLI::Option* other : option.get_excludes())
    for (const std::string& spelling : spellingsOf(*other)) excluded.push_back(spelling);
  if (!isFlag(option))
    for (std::string& spelling : spellings) spelling += spelling.starts_with("--") ? "=" : "+";
  const std::string before =
      (isRepeatable(option) ? std::string("*") : "") + (excluded.empty() ? "" : "(" + joined(excluded, " ") + ")");
  const std::string after =
      "[" + zshDescription(option.get_description()) + "]" + (isFlag(option) ? "" : zshArgument(option));
  std::string text;
  if (spellings.size() == 1) return inQuotes(before + spellings.front() + after);
  return (before.empty() ? "" : inQuotes(before)) + "{" + joined(spellings, ",") + "}" + inQuotes(after);
}

}  // namespace

std::string zshCompletion(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  const auto specifications = [](const CLI::App& command, std::string_view indent) {
    std::string text;
    for (const CLI::Option* option : optionsOf(command)) text += " \\\n" + std::string(indent) + zshOption(*option);
    for (const CLI::Option* positional : positionalsOf(command))
      text +=
          " \\\n" + std::string(indent) + inQuotes((isRepeatable(*positional) ? "*" : "") + zshArgument(*positional));
    return text;
  };
  std::string text =
      "#compdef dtypemut\n"
      "# zsh completion for dtypemut, made from its command line\n"
      "\n"
      "_dtypemut() {\n"
      "  local curcontext=$curcontext context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a commands=(\n";
  for (const CLI::App* command : commands)
    text += "    " + inQuotes(command->get_name() + ":" + firstLine(command->get_description())) + "\n";
  text += "  )\n  _arguments -C" + specifications(app, "    ") +
          " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n"
          "  case $state in\n"
          "    command)\n      _describe command commands\n      ;;\n"
          "    argument)\n      case $words[1] in\n";
  for (const CLI::App* command : commands)
    text += "        " + command->get_name() + ")\n          _arguments" + specifications(*command, "            ") +
            "\n          ;;\n";
  return text + "      esac\n      ;;\n  esac\n}\n\n_dtypemut \"$@\"\n";
}

}  // namespace dtypemut::cli
