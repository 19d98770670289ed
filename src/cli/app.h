// The command line as a whole: what parses arguments, and what man page and completions are made from.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut::cli {

/// The tool with all its subcommands. When one of them is called, its callback sets `exitCode`.
std::unique_ptr<CLI::App> makeApp(ExitCode& exitCode);

/// The examples that the help of the tool or of a subcommand begins with: commands, one a line. Empty if there are
/// none.
std::string examplesOf(const CLI::App& app);

}  // namespace dtypemut::cli
