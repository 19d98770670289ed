// The subcommands of the tool: one short file each, which fills an options struct from CLI11 and calls the library.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut::cli {

/// Makes the help of a subcommand begin with `examples`, which the list of subcommands leaves out.
void leadWithExamples(CLI::App& command, std::string examples);

/// Each adds its subcommand to `app`. When that subcommand is called, its callback sets `exitCode`.
void addRunCommand(CLI::App& app, ExitCode& exitCode);
void addVerifyCommand(CLI::App& app, ExitCode& exitCode);
void addDiffCommand(CLI::App& app, ExitCode& exitCode);
void addCastCommand(CLI::App& app, ExitCode& exitCode);
void addDecodeCommand(CLI::App& app, ExitCode& exitCode);
void addTargetsCommand(CLI::App& app, ExitCode& exitCode);
void addSchemaCommand(CLI::App& app, ExitCode& exitCode);

}  // namespace dtypemut::cli
