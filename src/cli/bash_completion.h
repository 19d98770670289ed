// Completion of the command line in bash, made from its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dtypemut::cli {

/// What bash sources, or finds under `dtypemut` in its folder of completions.
std::string bashCompletion(const CLI::App& app);

}  // namespace dtypemut::cli
