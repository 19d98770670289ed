// How vocabularies are looked up by text: without regard to case, and with a guess for a name that is unknown.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dtypemut {

/// ASCII only, whatever the locale.
bool equalsIgnoringCase(std::string_view a, std::string_view b);

/// Whether `text`, in any case, is one of the comma-separated entries of `list`.
bool listContains(std::string_view list, std::string_view text);

/// Appends the comma-separated entries of `list` to `entries`.
void appendEntries(std::vector<std::string_view>& entries, std::string_view list);

/// The candidate with the smallest edit distance to `text`, if that is small enough to be a likely slip (at most a
/// third of the longer name, and never the whole of it). The first of equals wins.
std::optional<std::string_view> nearestName(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace dtypemut
