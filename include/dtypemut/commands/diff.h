// Telling what differs between two documents.
#pragma once

#include <string>

#include "dtypemut/commands/verify.h"
#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

struct DiffOptions {
  std::string a;  ///< "-" is stdin, for one of the two
  std::string b;
  bool json = false;
};

/// Prints the differences on stdout; kNo when the interface is not the same. The documents need not be valid programs.
ExitCode diff(const DiffOptions& options, const LogLine& log);

}  // namespace dtypemut
