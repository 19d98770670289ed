// What holds of every run on every valid document.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "dtypemut/commands/run.h"
#include "files.h"

namespace dtypemut {

/// How to run on the document of that seed, but for files.
RunOptions optionsFor(std::uint64_t seed, Policy policy);

/// The document of that seed, valid for those options. With a folder, some of its weights are in files there; for
/// `choices` see GeneratorOptions.
std::string documentFor(std::uint64_t seed, const RunOptions& options, const std::string& folder = "",
                        std::span<const std::uint8_t> choices = {});

/// Such a document in a scratch folder, and how to run on it.
class Scenario {
 public:
  Scenario(std::uint64_t seed, Policy policy, std::span<const std::uint8_t> choices = {});

  const RunOptions& options() const { return options_; }
  const std::string& folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_;
  RunOptions options_;
};

/// Runs; the stats report. The test ends if the run is not done.
nlohmann::json runToTheEnd(const RunOptions& options);

/// Checks a run that is done: its document, its weights and its stats report, each in a file, and that a second run
/// changes nothing.
void checkResult(const RunOptions& options);

}  // namespace dtypemut
