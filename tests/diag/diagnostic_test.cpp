#include "dtypemut/diag/diagnostic.h"

#include <doctest/doctest.h>

using namespace dtypemut;

TEST_CASE("diagnostics keep twenty errors and every warning") {
  Diagnostics diagnostics;
  for (int i = 0; i < 25; ++i) {
    diagnostics.error(i, "error");
    diagnostics.note(i, "note");
    diagnostics.warning(i, "warning");
  }
  CHECK(diagnostics.full());
  CHECK(diagnostics.size() == 20 + 20 + 25);
}

TEST_CASE("one refusal outweighs unreadable files") {
  Diagnostics diagnostics;
  CHECK(diagnostics.exitCode() == ExitCode::kDone);
  diagnostics.warning(0, "warning");
  CHECK(diagnostics.exitCode() == ExitCode::kDone);
  diagnostics.add(fileError("w.bin", "cannot open"));
  CHECK(diagnostics.exitCode() == ExitCode::kFile);
  diagnostics.error(0, "refused");
  CHECK(diagnostics.exitCode() == ExitCode::kRefused);
}
