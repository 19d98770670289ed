#include "completion.h"

#include <string_view>

#include "arguments.h"
#include "dtypemut/ir/op_table.h"
#include "dtypemut/target/target.h"
#include "dtypemut/types/dtype.h"
#include "dtypemut/types/isa_dtype.h"
#include "dtypemut/types/scalar_type.h"

namespace dtypemut::cli {
namespace {

using Kind = Completion::Kind;

// ---- vocabularies

void appendSplit(Words& words, std::string_view list, char separator) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

Words targetWords() {
  Words words;
  for (const Target& target : targets()) {
    words.emplace_back(target.name);
    appendSplit(words, target.aliases, ',');
  }
  return words;
}

Words dtypeWords() {
  Words words;
  const DtypeSet requestable = targets().back().requestableDtypes();
  for (const DtypeInfo& info : kDtypes) {
    if (!requestable.contains(info.dtype)) continue;
    words.emplace_back(info.name);
    appendSplit(words, info.shorthands, ',');
  }
  return words;
}

Words opWords() {
  Words words;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Op::kOpaque); ++i)
    words.emplace_back(opName(static_cast<Op>(i)));
  return words;
}

Words isaWords() {
  Words words;
  for (const IsaDtypeInfo& info : kIsaDtypes) words.emplace_back(info.name);
  return words;
}

Words failOnWords() {
  const std::vector<std::string_view> names = failOnNames();
  return {names.begin(), names.end()};
}

/// By the name of an argument.
Completion completionOfName(std::string_view name) {
  if (name == "FILE") return {.kind = Kind::kFile};
  if (name == "DIR") return {.kind = Kind::kFolder};
  if (name == "TARGET") return {.kind = Kind::kWord, .words = targetWords()};
  if (name == "DTYPE") return {.kind = Kind::kWord, .words = dtypeWords()};
  if (name == "OP") return {.kind = Kind::kWord, .words = opWords()};
  if (name == "REASON") return {.kind = Kind::kWord, .words = failOnWords()};
  if (name == "CODE") return {.kind = Kind::kWord, .words = isaWords()};
  if (name == "NAME|ORDINAL")
    return {.kind = Kind::kWord, .words = {std::begin(kScalarTypeNames), std::end(kScalarTypeNames)}};
  if (name.find('|') == std::string_view::npos) return {};
  Completion completion{.kind = Kind::kWord};
  appendSplit(completion.words, name, '|');
  return completion;
}

}  // namespace

std::vector<const CLI::Option*> optionsOf(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> positionalsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string joined(const Words& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

std::string inQuotes(std::string_view text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

bool isFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool isRepeatable(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 || option.get_expected_max() > 1;
}

std::string argumentName(const CLI::Option& option) {
  std::string name = option.get_option_text();
  if (name.empty()) name = option.get_type_name();
  if (name.empty()) name = option.get_name(true, false);
  name.resize(std::min(name.find(':'), name.size()));  // what follows describes validators
  name.resize(std::min(name.find(",..."), name.size()));
  return name;
}

std::vector<std::string> spellingsOf(const CLI::Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.get_snames()) spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) spellings.push_back("--" + name);
  return spellings;
}

Completion completionOf(const CLI::Option& option) {
  Completion completion = completionOfName(argumentName(option));
  if (option.get_positional() && completion.kind == Kind::kAnything) completion.kind = Kind::kFile;
  completion.isList = option.get_delimiter() != '\0';
  return completion;
}

}  // namespace dtypemut::cli
