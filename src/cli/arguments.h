// Options that several commands share, and how their arguments are read.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "dtypemut/target/target.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut::cli {

/// By name or alias, in any case; else a usage error that names the nearest or all.
Target parseTarget(const std::string& text);
/// A dtype that --dtype and --from accept on some target (spec 3).
Dtype parseDtype(const std::string& option, const std::string& text);

/// --target; what it is given ends up in `target`.
CLI::Option* addTargetOption(CLI::App& command, std::optional<Target>& target);
/// --dtype, alias --auto-cast-type.
CLI::Option* addDtypeOption(CLI::App& command, Dtype& dtype);
/// --from, comma-separated or repeated; what it is given replaces the default in `from`.
CLI::Option* addFromOption(CLI::App& command, DtypeSet& from);

/// The option's argument must be one of `names`, in any case; its position there.
std::size_t parseChoice(const std::string& option, const std::string& text,
                        std::initializer_list<std::string_view> names);

}  // namespace dtypemut::cli
