// Options that several commands share, and how their arguments are read.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/cast/cast.h"
#include "dtypemut/target/target.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut::cli {

/// By name or alias, in any case; else a usage error that names the nearest or all.
Target parseTarget(const std::string& text);
/// A dtype that --dtype and --from accept on some target (spec 3).
Dtype parseDtype(const std::string& option, const std::string& text);

/// GRAPH, the document to read.
CLI::Option* addGraphArgument(CLI::App& command, std::string& path);
/// The graphs to work on, one or several.
CLI::Option* addGraphsArgument(CLI::App& command, std::vector<std::string>& paths);
/// An option that names a file; no name at all is wrong usage.
CLI::Option* addFileOption(CLI::App& command, const std::string& name, std::string& path,
                           const std::string& description);
/// --target; what it is given ends up in `target`.
CLI::Option* addTargetOption(CLI::App& command, std::optional<Target>& target);
/// --dtype, alias --auto-cast-type.
CLI::Option* addDtypeOption(CLI::App& command, Dtype& dtype);
/// --from, comma-separated or repeated; what it is given replaces the default in `from`.
CLI::Option* addFromOption(CLI::App& command, DtypeSet& from);

/// --disable-fp8-saturation and --enable-fp8-nan-suppression (spec 9).
void addFp8Options(CLI::App& command, CastOptions& cast);
/// --threads.
CLI::Option* addThreadsOption(CLI::App& command, unsigned& threads);

/// An option that can be repeated, its arguments taken as they are.
CLI::Option* addListOption(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                           const std::string& description, const std::string& typeName);

/// A usage error: `text` is no `what`; names the nearest of `names`, or all.
[[noreturn]] void throwUnknown(const std::string& option, const std::string& what, const std::string& text,
                               const std::vector<std::string_view>& names);

/// What --fail-on takes: shared and mismatch, then the reasons.
std::vector<std::string_view> failOnNames();

/// The option's argument must be one of `names`, in any case; its position there.
std::size_t parseChoice(const std::string& option, const std::string& text,
                        std::initializer_list<std::string_view> names);

}  // namespace dtypemut::cli
