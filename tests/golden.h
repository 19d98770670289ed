// Golden tests: the built command, run on the cases under testdata/.
//
// A case is a folder testdata/<command>/<case>/ of
// - cmd: shell lines, run by /bin/sh in a scratch folder; `dtypemut` is the built command, $TESTDATA is testdata/
// - input files, copied into the scratch folder; cmd or another input names each of them
// - expected/: exit, stdout and stderr (no file: nothing was printed), and every file that cmd creates or changes, byte
//   for byte
//
// With DTYPEMUT_REGENERATE=1 in the environment, the tests rewrite each expected/ to what the command does now.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dtypemut::golden {

/// Files by their path relative to a folder, with their bytes.
using Files = std::map<std::string, std::string>;
Files readFiles(const std::filesystem::path& folder);

/// What `cmd` of the case in `folder` leaves behind, laid out like its expected/.
Files runCase(const std::filesystem::path& folder);

/// What is wrong with the case in `folder`, one line each: differences from its expected/, and inputs that nothing
/// names. With `regenerate` set, its expected/ is rewritten instead of compared.
std::vector<std::string> checkCase(const std::filesystem::path& folder, bool regenerate);

}  // namespace dtypemut::golden
