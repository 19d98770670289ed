// The counters of the pass (reference.md section 2).
#pragma once

#include <cstdint>
#include <string_view>

namespace dtypemut {

struct Statistics {
  std::uint64_t operatorTypeMutated = 0;
  std::uint64_t castedWeights = 0;  ///< bytes, before the cast
  std::uint64_t foldedCastLoad = 0;
  std::uint64_t nLoads = 0;  ///< loads retyped; not the n_loads of a tensor
};

struct StatisticInfo {
  std::string_view name;
  std::string_view description;
  std::uint64_t Statistics::*counter;
};

inline constexpr StatisticInfo kStatistics[] = {
    {"operator_type_mutated", "Number of operator whose dst type is mutated for legalization",
     &Statistics::operatorTypeMutated},
    {"casted_weights", "Number of bytes statically casted in weight tensor", &Statistics::castedWeights},
    {"folded_cast_load", "Number of load whose cast is folded into its weight", &Statistics::foldedCastLoad},
    {"n_loads", "Number of load whose tensor type mutated", &Statistics::nLoads},
};

}  // namespace dtypemut
