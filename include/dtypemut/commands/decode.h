// Answers about ISA dtype codes, and about the descriptors that carry them (spec 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dtypemut/commands/verify.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/target/arg_tensor.h"
#include "dtypemut/target/target.h"
#include "dtypemut/types/isa_dtype.h"

namespace dtypemut {

/// Where a descriptor comes from.
struct DescriptorFile {
  DescriptorKind kind;
  std::string path;  ///< "-" is stdin
};

/// One element to convert to c10::Scalar; its code is given, or a descriptor's.
struct ScalarElement {
  std::vector<std::byte> bytes;
  std::optional<std::uint8_t> code;
};

/// The question is the first of these members that is there: scalar, descriptor, reverse, table, codes.
struct DecodeOptions {
  std::optional<ScalarElement> scalar;  ///< without a code, `descriptor` is there too
  std::optional<DescriptorFile> descriptor;
  std::optional<ScalarType> reverse;
  bool table = false;
  std::vector<std::uint8_t> codes;

  std::optional<ScalarType> expect;  ///< for codes or a descriptor: the type of the host tensor to bind
  std::optional<Target> target;
  std::string field;  ///< one of kIsaFields, for codes or reverse; empty: everything
  bool json = false;
};

/// Prints the answer on stdout and logs what is wrong; kNo when anything is.
ExitCode decode(const DecodeOptions& options, const LogLine& log);

}  // namespace dtypemut
