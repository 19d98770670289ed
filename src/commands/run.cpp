#include "dtypemut/commands/run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "dtypemut/io/ir_writer.h"
#include "dtypemut/io/output.h"
#include "dtypemut/ir/verify.h"
#include "dtypemut/passes/joint.h"
#include "dtypemut/report/explain.h"
#include "dtypemut/report/html.h"
#include "dtypemut/report/remarks.h"
#include "dtypemut/report/run_report.h"
#include "dtypemut/report/sarif.h"
#include "dtypemut/types/glob.h"

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMuchBase64 = std::uint64_t{64} << 20;  // spec 6

Diagnostic usage(std::string message) { return {.exitCode = ExitCode::kUsage, .message = std::move(message)}; }

Diagnostic warning(std::string message) { return {.severity = Severity::kWarning, .message = std::move(message)}; }

/// The outputs that have a name, with the options that give it.
struct NamedOutput {
  std::string_view option;
  std::string path;
};

std::vector<NamedOutput> namedOutputs(const RunOptions& options) {
  std::vector<NamedOutput> outputs;
  const auto add = [&](std::string_view option, const std::string& path) {
    if (!path.empty()) outputs.push_back({option, path});
  };
  add("--weights", options.weights);
  add("--stats", options.stats);
  add("--remarks", options.remarks);
  add("--sarif", options.sarif);
  add("--audit", options.audit);
  add("--dot", options.dot);
  add("--html", options.html);
  if (!options.dryRun) add("-o", options.output);
  return outputs;
}

/// Two options that name one file, or an option other than -o that names the input (spec 1).
Status checkNames(const RunOptions& options) {
  if (options.weights == "-") return usage("--weights must name a file: the document is to refer to it");
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
    if (refersTo(files, path) || (options.input != "-" && isSameOutput(options.input, path))) continue;
    for (const NamedOutput& output : namedOutputs(options))
      if (isSameOutput(output.path, path))
        return usage(std::string(output.option) + " names '" + path + "', which is to receive the weights");
    return std::optional(path);
  }
  return usage("no file is free to receive the weights: the input is, or refers to, '" + stem + ".safetensors' and '" +
               stem + "." + std::string(dtypeName(options.propagate.dtype)) + ".safetensors'; name one with --weights");
}

void warnAboutDtype(const PropagateOptions& options, const LogLine& log) {
  const auto warn = [&](const std::string& message) { report(warning(message), nullptr, log); };
  const bool asksForNothing = options.from.empty();
  if (isFp8(options.dtype) && options.autoCast == AutoCast::kAll && !asksForNothing)
    warn("every " + options.from.toString() + " edge is narrowed to " + std::string(dtypeName(options.dtype)) +
         ", sums and normalisations included; --auto-cast matmult is the usual choice");
  if (options.dtype == Dtype::kFloat8e5) warn("loads never take float8e5");
}

// ---- what must not be retyped

bool matchesAny(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matchesGlob(glob, name); });
}

/// By instruction: whether the patterns keep it. Reports patterns that match nothing, and those that disagree.
std::vector<bool> keptInstructions(const Graph& graph, const Source& source, const KeepPatterns& patterns,
                                   const LogLine& log) {
  if (patterns.keep.empty() && patterns.keepOp.empty() && patterns.only.empty()) return {};
  std::vector<bool> isKept(graph.instructionCount(), false);
  const PropagateOptions unused;
  const DecisionLog names{.source = source, .graph = graph, .options = unused};
  for (std::uint32_t i = 0; i < graph.instructionCount(); ++i) {
    const Instruction& instruction = graph.instruction(InstructionId{i});
    const bool isNamed = matchesAny(patterns.keep, instruction.name);
    const bool isOfOp = !patterns.keepOp.empty() && matchesAny(patterns.keepOp, opText(names, instruction));
    const bool isOnly = matchesAny(patterns.only, instruction.name);
    isKept[i] = isNamed || isOfOp || (!patterns.only.empty() && !isOnly);
    if (isOnly && (isNamed || isOfOp))
      report(warning("instruction '" + std::string(instruction.name) + "' is kept: both --only and " +
                     (isNamed ? "--keep" : "--keep-op") + " match it"),
             nullptr, log);
  }
  const auto reportUnmatched = [&](std::string_view option, const std::vector<std::string>& globs, auto&& textOf) {
    for (const std::string& glob : globs) {
      bool found = false;
      for (std::uint32_t i = 0; i < graph.instructionCount() && !found; ++i)
        found = matchesAny({glob}, textOf(graph.instruction(InstructionId{i})));
      if (!found) report(warning(std::string(option) + " '" + glob + "' matches no instruction"), nullptr, log);
    }
  };
  const auto nameOf = [](const Instruction& instruction) { return instruction.name; };
  reportUnmatched("--keep", patterns.keep, nameOf);
  reportUnmatched("--keep-op", patterns.keepOp, [&](const Instruction& i) { return opText(names, i); });
  reportUnmatched("--only", patterns.only, nameOf);
  return isKept;
}

// ---- reports about one or several graphs

class Reports {
 public:
  Reports(const RunOptions& options, OutputSet& outputs, const LogLine& log)
      : options_(options), outputs_(outputs), log_(log) {}

  /// Starts the files, the first time.
  Status open() {
    if (std::exchange(isOpen_, true)) return Done{};
    for (const auto& [path, file] : {std::pair(&options_.stats, &stats_),
                                     {&options_.remarks, &remarks_},
                                     {&options_.sarif, &sarif_},
                                     {&options_.audit, &audit_},
                                     {&options_.dot, &dot_},
                                     {&options_.html, &html_}}) {
      if (path->empty()) continue;
      const Result<OutputFile*> opened = outputs_.open(*path);
      if (!opened) return opened.error();
      *file = *opened;
    }
    return Done{};
  }

  /// Whether the decisions themselves are wanted, and not only their number.
  bool wantDecisions() const {
    return remarks_ != nullptr || sarif_ != nullptr || dot_ != nullptr || html_ != nullptr || !options_.explain.empty();
  }

  void add(const RunReport& runReport, const DecisionLog& decisions, AuditReport audit, const WeightAudits& audits) {
    runReports_.push_back(runReport);
    auditReports_.push_back(std::move(audit));
    if (remarks_ != nullptr) writeRemarks(decisions, *remarks_);
    if (sarif_ != nullptr) sarifLog_.add(decisions);
    if (dot_ != nullptr) writeDot(decisions, options_.dotOptions, *dot_);
    if (html_ != nullptr) writeHtml(decisions, runReport, auditColumns(audits), *html_);
    for (const std::string& glob : options_.explain) explanations_ += explain(decisions, glob);
  }

  /// Completes the files; `severally`: stats are about several graphs. Explanations go to stdout where nothing else
  /// does.
  Status finish(bool severally) {
    if (stats_ != nullptr) stats_->write(severally ? toJson(runReports_) : toJson(runReports_.front()));
    if (sarif_ != nullptr) sarif_->write(sarifLog_.toJson());
    if (audit_ != nullptr) audit_->write(severally ? toJson(auditReports_) : toJson(auditReports_.front()));
    while (explanations_.ends_with("\n\n")) explanations_.pop_back();
    if (explanations_.empty() || !isStdoutFree(severally)) return Done{};
    const Result<OutputFile*> standard = outputs_.open("-");
    if (!standard) return standard.error();
    (*standard)->write(std::exchange(explanations_, ""));
    return Done{};
  }

  /// What people are told once all is written.
  void tell(bool severally) {
    for (const AuditReport& audit : auditReports_)
      for (const WeightAudit& weight : audit.weights)
        if (const std::string message = overflowMessage(weight); !message.empty())
          report(warning(message), nullptr, log_);
    if (!explanations_.empty()) log_(Severity::kNote, explanations_.substr(0, explanations_.size() - 1));
    if (options_.quiet) return;
    for (const RunReport& runReport : runReports_) log_(Severity::kNote, toTable(runReport));
    if (severally) log_(Severity::kNote, toTable(total(runReports_)));
  }

  /// One error for each thing that --fail-on names and that happened.
  Diagnostics failures() const {
    const RunReport sum = total(runReports_);
    Diagnostics found;
    for (Reason reason : options_.failOn.reasons)
      if (const std::uint64_t count = sum.decisions.mismatchByReason[static_cast<std::size_t>(reason)]; count != 0)
        found.add({.exitCode = ExitCode::kNo,
                   .message = "--fail-on " + std::string(reasonInfo(reason).name) + ": " + std::to_string(count) +
                              (count == 1 ? " edge was refused" : " edges were refused")});
    Audit values;
    for (const AuditReport& audit : auditReports_) values += audit.total();
    found.append(dtypemut::failures(options_.failOn.audit, values));
    return found;
  }

 private:
  bool isStdoutFree(bool severally) const {
    const std::vector<NamedOutput> outputs = namedOutputs(options_);
    return std::none_of(outputs.begin(), outputs.end(), [&](const NamedOutput& output) {
      return isSameOutput(output.path, "-") && !(severally && output.option == "-o");
    });
  }

  const RunOptions& options_;
  OutputSet& outputs_;
  const LogLine& log_;
  bool isOpen_ = false;
  OutputFile* stats_ = nullptr;
  OutputFile* remarks_ = nullptr;
  OutputFile* sarif_ = nullptr;
  OutputFile* audit_ = nullptr;
  OutputFile* dot_ = nullptr;
  OutputFile* html_ = nullptr;
  std::vector<RunReport> runReports_;
  std::vector<AuditReport> auditReports_;
  SarifLog sarifLog_;
  std::string explanations_;
};

// ---- one graph

class GraphRun {
 public:
  GraphRun(const RunOptions& options, const LogLine& log) : options_(options), log_(log) {}

  /// From reading to verifying the result; `mutator` is made for the first graph and re-pointed to the others. Its
  /// outputs wait in `outputs`, its reports are added to `reports`.
  ExitCode process(std::optional<DTypeMutator>& mutator, OutputSet& outputs, Reports& reports) {
    const unsigned threads = options_.cast.threads;
    const Result<Source> source = Source::read(options_.input, Source::mostDocumentBytes(), threads);
    if (!source) return stop(source.error(), nullptr);
    CheckedGraph checked = readAndVerify(*source, &options_.target, threads);
    report(checked.diagnostics, &*source, log_);
    if (checked.diagnostics.hasErrors()) return checked.diagnostics.exitCode();
    Graph& graph = *checked.graph;
    Weights weights(*source, graph);
    const std::vector<fs::path> files = weights.files();
    if (const Status references = checkReferences(options_, files); !references)
      return stop(references.error(), nullptr);
    if (const Status drawable = checkDot(graph, options_.dotOptions); !drawable) return stop(drawable.error(), nullptr);
    if (const Status opened = reports.open(); !opened) return stop(opened.error(), nullptr);

    if (mutator) {
      mutator->setFunction(graph);
      mutator->reset();
    } else {
      warnAboutDtype(options_.propagate, log_);
      mutator.emplace(options_.mutateMultiUsers, graph, options_.target);
    }
    mutator->keep(keptInstructions(graph, *source, options_.keep, log_));
    RunReport runReport{.input = options_.input, .target = options_.target, .dtype = options_.propagate.dtype};
    DecisionLog decisions{.source = *source, .graph = graph, .options = options_.propagate, .policy = options_.policy};
    propagateInto(*mutator, runReport, reports.wantDecisions() ? &decisions : nullptr, decisions.verdict);

    if (const Diagnostics after = verify(graph, &options_.target); after.hasErrors()) {
      log_(Severity::kError, "dtypemut: error: the result does not verify; this is a fault of the tool");
      report(after, &*source, log_);
      return ExitCode::kToolsFault;
    }
    WeightAudits audits;
    const bool wantsAudit = !options_.audit.empty() || !options_.html.empty() || options_.failOn.audit.overflow ||
                            options_.failOn.audit.underflow;
    if (!options_.dryRun || wantsAudit) {
      const Status written = options_.dryRun ? auditClones(graph, weights, options_.cast, audits)
                                             : write(*source, graph, weights, files, outputs, audits);
      if (!written) return stop(written.error(), &*source);
    }
    auditSplats(*source, graph, options_.cast.cast, audits);
    reports.add(runReport, decisions, auditReport(graph, audits), audits);
    return ExitCode::kDone;
  }

 private:
  ExitCode stop(const Diagnostics& diagnostics, const Source* source) const {
    report(diagnostics, source, log_);
    return diagnostics.exitCode();
  }

  /// Runs the policy and takes the numbers of this graph alone.
  void propagateInto(DTypeMutator& mutator, RunReport& runReport, DecisionLog* decisions, JointVerdict& verdict) const {
    Graph& graph = mutator.function();
    const Statistics before = mutator.statistics();
    runReport.constBytesBefore = constBytes(graph);
    const DecisionListener listener = [&](const Decision& decision) {
      runReport.decisions.add(decision);
      if (decisions != nullptr) decisions->decisions.push_back(decision);
    };
    if (options_.policy == Policy::kJoint)
      verdict = propagateJointly(mutator, options_.propagate, listener);
    else
      propagate(mutator, options_.propagate, listener);
    for (const StatisticInfo& info : kStatistics)
      runReport.statistics.*info.counter = mutator.statistics().*info.counter - before.*info.counter;
    runReport.constBytesAfter = constBytes(graph);
    runReport.redundantCasts = redundantCasts(graph);
  }

  /// Writes the weights and the document.
  Status write(const Source& source, const Graph& graph, Weights& weights, const std::vector<fs::path>& files,
               OutputSet& outputs, WeightAudits& audits) const {
    const bool isDirect = isDirectOutput(options_.output);
    WriteOptions writeOptions{.folder = isDirect ? fs::path(".") : fs::path(options_.output).parent_path(),
                              .keepDeadWeights = options_.keepDeadWeights,
                              .cast = options_.cast};
    const std::vector<TensorId> clones = clonesOfFiles(graph);
    if (!clones.empty()) {
      const Result<std::optional<std::string>> weightsFile = chooseWeightsFile(options_, files);
      if (!weightsFile) return weightsFile.error();
      if (*weightsFile) {
        writeOptions.weightsFile = **weightsFile;
        const Result<OutputFile*> file = outputs.open(**weightsFile);
        if (!file) return file.error();
        if (Status done = writeWeights(graph, weights, options_.cast, **file, &audits); !done) return done;
      } else {
        warnAboutBase64(graph, clones);
      }
    }
    const Result<OutputFile*> document = outputs.open(options_.output);
    if (!document) return document.error();
    return writeGraph(source, graph, weights, writeOptions, **document, &audits);
  }

  AuditReport auditReport(const Graph& graph, const WeightAudits& audits) const {
    AuditReport audit{.input = options_.input};
    for (const auto& [id, values] : audits) {
      const Tensor& tensor = graph.tensor(id);
      const Tensor& weight = tensor.cloneOf == TensorId::kNone ? tensor : graph.tensor(tensor.cloneOf);
      audit.weights.push_back({.weight = std::string(weight.name),
                               .file = std::string(graph.constData(weight).file),
                               .from = dtypeBeforeCast(graph, id),
                               .to = tensor.dtype,
                               .audit = values});
    }
    return audit;
  }

  void warnAboutBase64(const Graph& graph, const std::vector<TensorId>& clones) const {
    std::uint64_t bytes = 0;
    for (TensorId clone : clones) bytes += graph.tensor(clone).sizeInBytes();
    if (bytes > kMuchBase64)
      report(warning(std::to_string(bytes) +
                     " bytes of weights become base64 in the document; --weights FILE keeps them apart"),
             nullptr, log_);
  }

  const RunOptions& options_;
  const LogLine& log_;
};

/// The first of 5, 3, 1, 4, 0 that is among them; wrong usage, which only one graph alone can find, before all.
ExitCode gravest(ExitCode a, ExitCode b) {
  for (ExitCode code : {ExitCode::kUsage, ExitCode::kToolsFault, ExitCode::kFile, ExitCode::kRefused, ExitCode::kNo})
    if (a == code || b == code) return code;
  return ExitCode::kDone;
}

}  // namespace

ExitCode run(const RunOptions& options, const LogLine& log) {
  const auto stop = [&](const Diagnostics& diagnostics) {
    report(diagnostics, nullptr, log);
    return diagnostics.exitCode();
  };
  if (const Status names = checkNames(options); !names) return stop(names.error());
  OutputSet outputs(options.cast.threads);
  Reports reports(options, outputs, log);
  std::optional<DTypeMutator> mutator;
  if (const ExitCode code = GraphRun(options, log).process(mutator, outputs, reports); code != ExitCode::kDone)
    return code;
  if (const Status finished = reports.finish(false); !finished) return stop(finished.error());
  if (const Status written = outputs.commit(); !written) return stop(written.error());
  reports.tell(false);
  return stop(reports.failures());
}

ExitCode runAll(const std::vector<std::string>& inputs, const std::string& folder, const RunOptions& options,
                const LogLine& log) {
  const auto stop = [&](const Diagnostics& diagnostics) {
    report(diagnostics, nullptr, log);
    return diagnostics.exitCode();
  };
  for (const auto& [option, path] : {std::pair("--dot", &options.dot), {"--html", &options.html}})
    if (!path->empty())
      return stop(usage(std::string(option) + " is about a single graph; it does not go with --output-dir"));
  std::map<std::string, std::string> byName;
  for (const std::string& input : inputs) {
    const std::string name = fs::path(input).filename().string();
    if (input == "-" || name.empty()) return stop(usage("--output-dir needs inputs that have names"));
    const auto [found, isNew] = byName.emplace(name, input);
    if (!isNew)
      return stop(usage("'" + found->second + "' and '" + input + "' would both be written to '" + name + "'"));
  }
  std::error_code failed;
  if (!options.dryRun && !fs::is_directory(folder, failed))
    return stop(fileError(folder, "cannot write: no such folder"));

  const auto optionsFor = [&](const std::string& input) {
    RunOptions one = options;
    one.input = input;
    one.output = (fs::path(folder) / fs::path(input).filename()).string();
    return one;
  };
  // Before the first graph is written.
  for (const std::string& input : inputs)
    if (const Status names = checkNames(optionsFor(input)); !names) return stop(names.error());

  OutputSet reportOutputs(options.cast.threads);
  Reports reports(options, reportOutputs, log);
  if (const Status opened = reports.open(); !opened) return stop(opened.error());
  std::optional<DTypeMutator> mutator;
  ExitCode overall = ExitCode::kDone;
  for (const std::string& input : inputs) {
    const RunOptions one = optionsFor(input);
    OutputSet outputs(options.cast.threads);
    ExitCode code = GraphRun(one, log).process(mutator, outputs, reports);
    if (code == ExitCode::kDone)
      if (const Status written = outputs.commit(); !written) code = stop(written.error());
    overall = gravest(overall, code);
  }
  if (const Status finished = reports.finish(true); !finished) return stop(finished.error());
  if (const Status written = reportOutputs.commit(); !written) overall = gravest(overall, stop(written.error()));
  reports.tell(true);
  return gravest(overall, stop(reports.failures()));
}

}  // namespace dtypemut
