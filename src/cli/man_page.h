// The manual page, made from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dtypemut::cli {

/// dtypemut(1) in the man macros of roff. `version` is that of the tool.
std::string manPage(const CLI::App& app, const std::string& version);

}  // namespace dtypemut::cli
