// Completion of the command line in zsh, made from its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dtypemut::cli {

/// What zsh finds under `_dtypemut` in its function path.
std::string zshCompletion(const CLI::App& app);

}  // namespace dtypemut::cli
