#include "bash_completion.h"

#include <map>

#include "completion.h"

namespace dtypemut::cli {
namespace {

using Kind = Completion::Kind;

std::string bashAction(const Completion& completion) {
  switch (completion.kind) {
    case Kind::kFile:
      return "_dtypemut_files -f";
    case Kind::kFolder:
      return "_dtypemut_files -d";
    case Kind::kWord:
      return std::string(completion.isList ? "_dtypemut_list " : "_dtypemut_words ") +
             inQuotes(joined(completion.words, " "));
    case Kind::kAnything:
      return ":";
  }
  return "";
}

constexpr const char* kBashHead = R"(# bash completion for dtypemut, made from its command line
_dtypemut_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_dtypemut_list() {
  local head=
  [[ $cur == *,* ]] && head=${cur%,*},
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${cur##*,}")
}

_dtypemut_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_dtypemut() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
)";

}  // namespace

std::string bashCompletion(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  Words names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());

  std::string text = kBashHead;
  text += "      " + joined(names, " | ") + ")\n        command=${COMP_WORDS[i]}\n        break\n        ;;\n";
  text += "    esac\n  done\n\n  case \"$command $previous\" in\n";
  std::map<std::string, std::string> patterns;  // by what is to be done
  const auto addArguments = [&](const CLI::App& command, const std::string& name) {
    for (const CLI::Option* option : optionsOf(command)) {
      if (isFlag(*option)) continue;
      for (const std::string& spelling : spellingsOf(*option)) {
        std::string& pattern = patterns[bashAction(completionOf(*option))];
        pattern += (pattern.empty() ? "" : " | ") + inQuotes(name + " " + spelling);
      }
    }
  };
  addArguments(app, "");
  for (const CLI::App* command : commands) addArguments(*command, command->get_name());
  for (const auto& [action, pattern] : patterns)
    text += "    " + pattern + ")\n      " + action + "\n      return\n      ;;\n";
  text += "  esac\n\n  case \"$command $cur\" in\n";
  std::string arguments;
  const auto addCommand = [&](const CLI::App& command, const std::string& name) {
    Words spellings;
    for (const CLI::Option* option : optionsOf(command))
      for (std::string& spelling : spellingsOf(*option)) spellings.push_back(std::move(spelling));
    text += "    " + inQuotes(name + " -") + "*)\n      _dtypemut_words " + inQuotes(joined(spellings, " ")) +
            "\n      ;;\n";
    for (const CLI::Option* positional : positionalsOf(command)) {
      arguments +=
          "    " + inQuotes(name + " ") + "*)\n      " + bashAction(completionOf(*positional)) + "\n      ;;\n";
      break;
    }
  };
  addCommand(app, "");
  for (const CLI::App* command : commands) addCommand(*command, command->get_name());
  text += "    ' '*)\n      _dtypemut_words " + inQuotes(joined(names, " ")) + "\n      ;;\n" + arguments;
  return text + "  esac\n}\n\ncomplete -F _dtypemut dtypemut\n";
}

}  // namespace dtypemut::cli
