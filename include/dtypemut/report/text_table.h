// Columns for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtypemut {

/// One line per row, its cells in columns two spaces apart. `alignment` has an l or r (left, right) for each column.
/// Lines end in no spaces. Cells are ASCII.
std::string alignColumns(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

}  // namespace dtypemut
