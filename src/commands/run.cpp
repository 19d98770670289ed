#include "dtypemut/commands/run.h"

#include <algorithm>
#include <filesystem>

#include "dtypemut/io/ir_writer.h"
#include "dtypemut/io/output.h"
#include "dtypemut/ir/verify.h"
#include "dtypemut/passes/joint.h"
#include "dtypemut/report/run_report.h"

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMuchBase64 = std::uint64_t{64} << 20;  // spec 6

Diagnostic usage(std::string message) { return {.exitCode = ExitCode::kUsage, .message = std::move(message)}; }

/// The outputs that have a name, with the options that give it.
struct NamedOutput {
  std::string_view option;
  std::string path;
};

std::vector<NamedOutput> namedOutputs(const RunOptions& options) {
  std::vector<NamedOutput> outputs;
  if (!options.weights.empty()) outputs.push_back({"--weights", options.weights});
  if (!options.stats.empty()) outputs.push_back({"--stats", options.stats});
  outputs.push_back({"-o", options.output});
  return outputs;
}

/// Two options that name one file, or an option other than -o that names the input (spec 1).
Status checkNames(const RunOptions& options) {
  const std::vector<NamedOutput> outputs = namedOutputs(options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = i + 1; k < outputs.size(); ++k)
      if (isSameOutput(outputs[i].path, outputs[k].path))
        return usage(std::string(outputs[i].option) + " and " + std::string(outputs[k].option) + " name one file, '" +
                     outputs[k].path + "'");
    if (outputs[i].option != "-o" && options.input != "-" && isSameOutput(outputs[i].path, options.input))
      return usage(std::string(outputs[i].option) + " names the input, '" + options.input + "'");
  }
  return Done{};
}

bool refersTo(const std::vector<fs::path>& files, const std::string& path) {
  return std::any_of(files.begin(), files.end(),
                     [&](const fs::path& file) { return isSameOutput(file.string(), path); });
}

/// No output may replace a file that the input document refers to.
Status checkReferences(const RunOptions& options, const std::vector<fs::path>& files) {
  for (const NamedOutput& output : namedOutputs(options))
    if (output.path != "-" && refersTo(files, output.path))
      return usage(std::string(output.option) + " names '" + output.path + "', which the input refers to");
  return Done{};
}

/// Where clones of weights from files go; none when they become base64 (spec 6).
Result<std::optional<std::string>> chooseWeightsFile(const RunOptions& options, const std::vector<fs::path>& files) {
  if (!options.weights.empty()) return std::optional(options.weights);
  if (isDirectOutput(options.output)) return std::optional<std::string>();
  std::string stem = options.output;
  if (stem.ends_with(".json")) stem.resize(stem.size() - 5);
  for (const std::string& path :
       {stem + ".safetensors", stem + "." + std::string(dtypeName(options.propagate.dtype)) + ".safetensors"}) {
    if (refersTo(files, path)) continue;
    for (const NamedOutput& output : namedOutputs(options))
      if (isSameOutput(output.path, path))
        return usage(std::string(output.option) + " names '" + path + "', which is to receive the weights");
    return std::optional(path);
  }
  return usage("the input refers to '" + stem + ".safetensors'; name a file for the weights with --weights");
}

/// Makes the two documents, the report and the weights, and then lets them appear together.
Status write(const RunOptions& options, const Source& source, const Graph& graph, Weights& weights,
             const std::optional<std::string>& weightsFile, const RunReport& runReport) {
  OutputSet outputs;
  const bool isDirect = isDirectOutput(options.output);
  WriteOptions writeOptions{.folder = isDirect ? fs::path(".") : fs::path(options.output).parent_path(),
                            .keepDeadWeights = options.keepDeadWeights,
                            .cast = options.cast};
  if (weightsFile) {
    writeOptions.weightsFile = *weightsFile;
    const Result<OutputFile*> file = outputs.open(*weightsFile);
    if (!file) return file.error();
    if (Status done = writeWeights(graph, weights, options.cast, **file); !done) return done;
  }
  if (!options.stats.empty()) {
    const Result<OutputFile*> file = outputs.open(options.stats);
    if (!file) return file.error();
    (*file)->write(toJson(runReport));
  }
  const Result<OutputFile*> document = outputs.open(options.output);
  if (!document) return document.error();
  if (Status done = writeGraph(source, graph, weights, writeOptions, **document); !done) return done;
  return outputs.commit();
}

void warnAboutDtype(const PropagateOptions& options, const LogLine& log) {
  const auto warn = [&](const std::string& message) {
    log(Severity::kWarning, formatDiagnostic({.severity = Severity::kWarning, .message = message}, nullptr));
  };
  if (isFp8(options.dtype) && options.autoCast == AutoCast::kAll)
    warn("every " + options.from.toString() + " edge is narrowed to " + std::string(dtypeName(options.dtype)) +
         ", sums and normalisations included; --auto-cast matmult is the usual choice");
  if (options.dtype == Dtype::kFloat8e5) warn("loads never take float8e5");
}

}  // namespace

ExitCode run(const RunOptions& options, const LogLine& log) {
  const auto stop = [&](const Diagnostics& diagnostics, const Source* source) {
    report(diagnostics, source, log);
    return diagnostics.exitCode();
  };
  if (const Status names = checkNames(options); !names) return stop(names.error(), nullptr);
  const Result<Source> source = Source::read(options.input);
  if (!source) return stop(source.error(), nullptr);
  CheckedGraph checked = readAndVerify(*source, &options.target);
  report(checked.diagnostics, &*source, log);
  if (checked.diagnostics.hasErrors()) return checked.diagnostics.exitCode();
  Graph& graph = *checked.graph;
  warnAboutDtype(options.propagate, log);

  Weights weights(*source, graph);
  const std::vector<fs::path> files = weights.files();
  if (const Status references = checkReferences(options, files); !references) return stop(references.error(), nullptr);

  RunReport runReport{.input = options.input, .target = options.target, .dtype = options.propagate.dtype};
  runReport.constBytesBefore = constBytes(graph);
  DTypeMutator mutator(options.mutateMultiUsers, graph, options.target);
  const auto policy = options.policy == Policy::kJoint ? propagateJointly : propagate;
  policy(mutator, options.propagate, [&](const Decision& decision) { runReport.decisions.add(decision); });
  runReport.statistics = mutator.statistics();
  runReport.constBytesAfter = constBytes(graph);
  runReport.redundantCasts = redundantCasts(graph);

  if (const Diagnostics after = verify(graph, &options.target); after.hasErrors()) {
    log(Severity::kError, "dtypemut: error: the result does not verify; this is a fault of the tool");
    report(after, &*source, log);
    return ExitCode::kToolsFault;
  }

  std::optional<std::string> weightsFile;
  const std::vector<TensorId> clones = clonesOfFiles(graph);
  if (!clones.empty()) {
    Result<std::optional<std::string>> chosen = chooseWeightsFile(options, files);
    if (!chosen) return stop(chosen.error(), nullptr);
    weightsFile = *chosen;
    std::uint64_t bytes = 0;
    for (TensorId clone : clones) bytes += graph.tensor(clone).sizeInBytes();
    if (!weightsFile && bytes > kMuchBase64)
      report(Diagnostic{.severity = Severity::kWarning,
                        .message = std::to_string(bytes) +
                                   " bytes of weights become base64 in the document; --weights FILE keeps them apart"},
             nullptr, log);
  }
  if (const Status written = write(options, *source, graph, weights, weightsFile, runReport); !written)
    return stop(written.error(), &*source);
  if (!options.quiet) log(Severity::kNote, toTable(runReport));
  return ExitCode::kDone;
}

}  // namespace dtypemut
