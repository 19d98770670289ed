// The subcommands of the tool: one short file each, which fills an options struct from CLI11 and calls the library.
#pragma once

#include <CLI/CLI.hpp>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut::cli {

/// Each adds its subcommand to `app`. When that subcommand is called, its callback sets `exitCode`.
void addRunCommand(CLI::App& app, ExitCode& exitCode);
void addVerifyCommand(CLI::App& app, ExitCode& exitCode);
void addTargetsCommand(CLI::App& app, ExitCode& exitCode);

}  // namespace dtypemut::cli
