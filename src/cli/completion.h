// The options of a command line as shells and manual pages are told of them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtypemut::cli {

using Words = std::vector<std::string>;

/// Those that help shows.
std::vector<const CLI::Option*> optionsOf(const CLI::App& app);
std::vector<const CLI::Option*> positionalsOf(const CLI::App& app);

/// Whether an option takes no argument.
bool isFlag(const CLI::Option& option);

/// Whether an option or positional may be given several times.
bool isRepeatable(const CLI::Option& option);

/// The name that help gives an option's argument, or a positional; of one in a list of several.
std::string argumentName(const CLI::Option& option);

/// All spellings of an option, short ones first, with their dashes.
Words spellingsOf(const CLI::Option& option);

/// What an argument can be.
struct Completion {
  enum class Kind : std::uint8_t { kAnything, kFile, kFolder, kWord };

  Kind kind = Kind::kAnything;
  Words words{};        ///< for kWord
  bool isList = false;  ///< several, separated by commas
};

/// What an option or positional takes, by argumentName: words separated by | stand for themselves, TARGET and the like
/// for the names in the table of that vocabulary. Other positionals are files.
Completion completionOf(const CLI::Option& option);

std::string joined(const Words& words, std::string_view separator);

/// In single quotes, as shells read them.
std::string inQuotes(std::string_view text);

}  // namespace dtypemut::cli
