#include "dtypemut/commands/diff.h"

#include "dtypemut/io/ir_reader.h"
#include "dtypemut/io/output.h"
#include "dtypemut/report/graph_diff.h"

namespace dtypemut {
namespace {

/// A document, as far as it could be read, with everything that is wrong with it.
struct Document {
  std::optional<Source> source;
  std::optional<Graph> graph;
  Diagnostics diagnostics;
};

Document readDocument(const std::string& path) {
  Document document;
  Result<Source> source = Source::read(path);
  if (!source) {
    document.diagnostics = source.error();
    return document;
  }
  document.source = std::move(*source);
  ReadGraph read = readGraph(*document.source);
  document.graph = std::move(read.graph);
  document.diagnostics = std::move(read.diagnostics);
  return document;
}

}  // namespace

ExitCode diff(const DiffOptions& options, const LogLine& log) {
  if (options.a == "-" && options.b == "-") {
    report(Diagnostic{.exitCode = ExitCode::kUsage, .message = "only one of the two documents can be stdin"}, nullptr,
           log);
    return ExitCode::kUsage;
  }
  const Document a = readDocument(options.a);
  const Document b = readDocument(options.b);
  Diagnostics faults;
  for (const Document* document : {&a, &b}) {
    report(document->diagnostics, document->source ? &*document->source : nullptr, log);
    faults.append(document->diagnostics);
  }
  if (a.diagnostics.hasErrors() || b.diagnostics.hasErrors()) return faults.exitCode();

  const GraphDocument left{.source = *a.source, .graph = *a.graph};
  const GraphDocument right{.source = *b.source, .graph = *b.graph};
  const GraphDiff differences = diffGraphs(left, right);
  const Status printed =
      writeToStdout(options.json ? diffJson(differences, left, right) : diffText(differences, left, right));
  if (!printed) {
    report(printed.error(), nullptr, log);
    return printed.error().exitCode();
  }
  return differences.interface.empty() ? ExitCode::kDone : ExitCode::kNo;
}

}  // namespace dtypemut
