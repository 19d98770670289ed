#include "dtypemut/commands/verify.h"

#include "dtypemut/io/ir_reader.h"
#include "dtypemut/ir/verify.h"

namespace dtypemut {

CheckedGraph readAndVerify(const Source& source, const Target* target, unsigned threads) {
  ReadGraph read = readGraph(source, threads);
  CheckedGraph checked{.graph = std::move(read.graph), .diagnostics = std::move(read.diagnostics)};
  if (!checked.graph) return checked;
  checked.diagnostics.append(verify(*checked.graph, target));
  checked.diagnostics.append(Weights(source, *checked.graph).check());
  return checked;
}

void report(const Diagnostics& diagnostics, const Source* source, const LogLine& log) {
  for (const Diagnostic& diagnostic : diagnostics) log(diagnostic.severity, formatDiagnostic(diagnostic, source));
}

ExitCode verifyFile(const VerifyOptions& options, const LogLine& log) {
  const Result<Source> source = Source::read(options.input);
  if (!source) {
    report(source.error(), nullptr, log);
    return source.error().exitCode();
  }
  const CheckedGraph checked = readAndVerify(*source, options.target ? &*options.target : nullptr);
  report(checked.diagnostics, &*source, log);
  return checked.diagnostics.exitCode();
}

}  // namespace dtypemut
