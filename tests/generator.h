// Random valid documents of the IR, for properties that hold of all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dtypemut/target/target.h"

namespace dtypemut {

struct GeneratorOptions {
  Target target;                       ///< the document verifies for it: its dtypes, its matmuls, what its DMA casts
  Dtype favourite = Dtype::kBfloat16;  ///< what is neither float32 nor at random
  std::string folder = {};             ///< where the files with weights go; empty: no weight is in a file
  std::uint32_t instructions = 30;     ///< about so many
  /// The first choices, one byte or two for each, so that a fuzzer can steer; the seed makes those that follow.
  std::span<const std::uint8_t> choices = {};
};

/// A document with ops, tensors, operands and data of all kinds, spelled in unusual ways. It is the same everywhere for
/// the same arguments.
std::string generateDocument(std::uint64_t seed, const GeneratorOptions& options);

}  // namespace dtypemut
