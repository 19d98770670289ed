// Casts the weights of a checkpoint (spec 9).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dtypemut/cast/stream.h"
#include "dtypemut/commands/verify.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/report/audit_report.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

struct CastFilesOptions {
  std::string input;   ///< a safetensors file, or the index of several
  std::string output;  ///< a file ("-" is stdout), or a folder if `input` is an index
  std::string audit;   ///< empty: none
  Dtype dtype = Dtype::kNone;
  DtypeSet from = {Dtype::kFloat32};  ///< F32 tensors are meant by float32 and by float32r
  std::vector<std::string> include;   ///< globs; empty: every tensor
  std::vector<std::string> exclude;   ///< globs
  FailOnAudit failOn;
  CastOptions cast;
  unsigned threads = 0;  ///< as in StreamOptions
  bool quiet = false;
  /// Called now and then with the number of bytes read and of all bytes to be read.
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

ExitCode castFiles(const CastFilesOptions& options, const LogLine& log);

}  // namespace dtypemut
