#include "dtypemut/commands/cast.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "dtypemut/io/checkpoint.h"
#include "dtypemut/io/output.h"
#include "dtypemut/io/output_sink.h"
#include "dtypemut/types/glob.h"

namespace dtypemut {
namespace {

namespace fs = std::filesystem;

Diagnostic usage(std::string message) { return {.exitCode = ExitCode::kUsage, .message = std::move(message)}; }

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The globs of one option, and which of them have met a name that they fit.
class Globs {
 public:
  explicit Globs(const std::vector<std::string>& patterns) : patterns_(patterns), hasMatched_(patterns.size()) {}

  bool empty() const { return patterns_.empty(); }

  bool match(const std::string& name) {
    bool any = false;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (!matchesGlob(patterns_[i], name)) continue;
      hasMatched_[i] = true;
      any = true;
    }
    return any;
  }

  void warnOfIdle(const std::string& option, Diagnostics& diagnostics) const {
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (!hasMatched_[i])
        diagnostics.add({.severity = Severity::kWarning,
                         .message = option + " '" + patterns_[i] + "' matches the name of no tensor"});
  }

 private:
  const std::vector<std::string>& patterns_;
  std::vector<bool> hasMatched_;
};

/// One file on its way.
struct Shard {
  const SafetensorsFile* in;
  std::string out;  // path
  SafetensorsHeader header;
  std::vector<std::size_t> order;          // of the data: positions in header.tensors
  std::vector<std::optional<Dtype>> from;  // of the tensors that are cast
};

/// All of it.
struct Plan {
  std::vector<Shard> shards;
  std::string indexOut;  // path; empty without an index
  AuditReport report;    // with a weight for each tensor that is cast, in the order in which they are
  std::uint64_t tensors = 0;
  std::uint64_t bytesIn = 0;
  std::uint64_t bytesOut = 0;
};

Result<Plan> makePlan(const CastFilesOptions& options, const Checkpoint& checkpoint, Diagnostics& warnings) {
  Plan plan{.report = {.input = options.input, .weights = {}}};
  Globs include(options.include);
  Globs exclude(options.exclude);
  // The format has one code for float32 and float32r.
  DtypeSet from = options.from;
  if (from.contains(Dtype::kFloat32r)) from.insert(Dtype::kFloat32);
  from.erase(options.dtype);

  if (checkpoint.index()) plan.indexOut = (fs::path(options.output) / fs::path(options.input).filename()).string();
  Diagnostics faults;
  for (std::size_t i = 0; i < checkpoint.shards().size(); ++i) {
    const SafetensorsFile& file = checkpoint.shards()[i];
    Shard shard{
        .in = &file, .out = options.output, .header = file.header(), .order = file.header().dataOrder(), .from = {}};
    if (checkpoint.index()) shard.out = (fs::path(options.output) / checkpoint.index()->files()[i]).string();
    shard.from.resize(shard.header.tensors.size());
    std::vector<std::optional<Dtype>> to(shard.header.tensors.size());
    std::uint64_t end = 0;
    for (std::size_t position : shard.order) {
      SafetensorsTensor& tensor = shard.header.tensors[position];
      const bool isIncluded = include.empty() || include.match(tensor.name);
      const bool isExcluded = exclude.match(tensor.name);
      const std::optional<Dtype> dtype = file.dtype(tensor);
      std::uint64_t bytes = tensor.byteSize();
      plan.bytesIn += bytes;
      if (isIncluded && !isExcluded && dtype && from.contains(*dtype)) {
        shard.from[position] = dtype;
        to[position] = options.dtype;
        const Result<std::uint64_t> size = castSize(*dtype, options.dtype, bytes);
        if (!size)
          faults.add(refusedFile(file.path(), "tensor '" + tensor.name + "': " + size.error().begin()->message));
        else
          bytes = *size;
        plan.report.weights.push_back({.weight = tensor.name,
                                       .file = checkpoint.index() ? file.path() : std::string(),
                                       .from = *dtype,
                                       .to = options.dtype});
      }
      tensor.begin = end;
      tensor.end = end += bytes;
    }
    plan.tensors += shard.header.tensors.size();
    plan.bytesOut += end;
    shard.header.setDtypes(to);
    plan.shards.push_back(std::move(shard));
  }
  include.warnOfIdle("--include", warnings);
  exclude.warnOfIdle("--exclude", warnings);
  if (faults.hasErrors()) return faults;
  return plan;
}

/// Two options that name one file, or --audit naming an input (spec 1).
Status checkNames(const CastFilesOptions& options, const Plan& plan) {
  if (options.audit.empty()) return Done{};
  if (isSameOutput(options.audit, options.input)) return usage("--audit names the input, '" + options.input + "'");
  if (!plan.indexOut.empty() && isSameOutput(options.audit, plan.indexOut))
    return usage("-o and --audit name one file, '" + plan.indexOut + "'");
  for (const Shard& shard : plan.shards) {
    if (isSameOutput(options.audit, shard.out)) return usage("-o and --audit name one file, '" + shard.out + "'");
    if (isSameOutput(options.audit, shard.in->path()))
      return usage("--audit names '" + shard.in->path() + "', which the input refers to");
  }
  return Done{};
}

/// Streams the data of one file; `weight` runs through the report's weights with its tensors.
Status writeShard(const Shard& shard, const StreamOptions& options, OutputFile& file,
                  std::vector<WeightAudit>::iterator& weight) {
  const Result<std::string> header = writeSafetensorsHeader(shard.header, shard.out);
  if (!header) return header.error();
  file.write(*header);

  std::vector<StreamItem> items;
  items.reserve(shard.order.size());
  for (std::size_t position : shard.order) {
    const SafetensorsTensor& tensor = shard.in->header().tensors[position];
    StreamItem item{.name = tensor.name,
                    .source = &shard.in->file(),
                    .offset = shard.in->offset(tensor),
                    .bytes = tensor.byteSize(),
                    .from = Dtype::kNone,
                    .to = Dtype::kNone};
    if (shard.from[position]) {
      item.from = weight->from;
      item.to = weight->to;
      item.audit = &weight->audit;
      ++weight;
    }
    items.push_back(item);
  }
  OutputSink sink(file);
  if (Status streamed = streamCast(items, sink, options); !streamed) return streamed;
  Status flushed = file.flush();
  if (flushed || items.empty()) return flushed;
  Diagnostic fault = *flushed.error().begin();
  fault.message = "tensor '" + std::string(items.back().name) + "': " + fault.message;
  return fault;
}

/// Makes all files and lets them appear together, the index last.
Status write(const CastFilesOptions& options, const Checkpoint& checkpoint, const std::optional<Source>& index,
             Plan& plan) {
  OutputSet outputs(options.threads);
  if (checkpoint.index())
    if (Status made = outputs.makeFolder(options.output); !made) return made;
  StreamOptions streamOptions{.cast = options.cast, .threads = options.threads};
  std::uint64_t bytesBefore = 0;
  if (options.progress)
    streamOptions.progress = [&](std::uint64_t bytes) { options.progress(bytesBefore + bytes, plan.bytesIn); };
  auto weight = plan.report.weights.begin();
  for (const Shard& shard : plan.shards) {
    const Result<OutputFile*> file = outputs.open(shard.out);
    if (!file) return file.error();
    if (Status done = writeShard(shard, streamOptions, **file, weight); !done) return done;
    for (const SafetensorsTensor& tensor : shard.in->header().tensors) bytesBefore += tensor.byteSize();
  }
  if (!options.audit.empty()) {
    const Result<OutputFile*> file = outputs.open(options.audit);
    if (!file) return file.error();
    (*file)->write(toJson(plan.report));
  }
  if (checkpoint.index()) {
    const Result<OutputFile*> file = outputs.open(plan.indexOut);
    if (!file) return file.error();
    (*file)->write(checkpoint.index()->withTotalSize(index->text(), plan.bytesOut));
  }
  return outputs.commit();
}

}  // namespace

ExitCode castFiles(const CastFilesOptions& options, const LogLine& log) {
  std::optional<Source> index;
  const auto stop = [&](const Diagnostics& diagnostics) {
    report(diagnostics, index ? &*index : nullptr, log);
    return diagnostics.exitCode();
  };
  if (!options.audit.empty() && isSameOutput(options.output, options.audit))
    return stop(usage("-o and --audit name one file, '" + options.audit + "'"));
  if (Checkpoint::isIndexPath(options.input) && isDirectOutput(options.output))
    return stop(usage("-o must name a folder, since the input is an index"));
  const Result<Checkpoint> checkpoint = Checkpoint::open(options.input, index, options.threads);
  if (!checkpoint) return stop(checkpoint.error());
  Diagnostics warnings;
  Result<Plan> plan = makePlan(options, *checkpoint, warnings);
  if (!plan) return stop(plan.error());
  if (const Status names = checkNames(options, *plan); !names) return stop(names.error());
  report(warnings, nullptr, log);
  if (const Status written = write(options, *checkpoint, index, *plan); !written) return stop(written.error());

  for (const WeightAudit& weight : plan->report.weights) {
    if (const std::string message = overflowMessage(weight); !message.empty()) {
      report(Diagnostic{.severity = Severity::kWarning,
                        .message = message,
                        .file = weight.file.empty() ? options.input : weight.file},
             nullptr, log);
    }
  }
  const Audit total = plan->report.total();
  if (!options.quiet) {
    log(Severity::kNote, std::to_string(plan->report.weights.size()) + " of " + plural(plan->tensors, "tensor") +
                             " cast to " + std::string(dtypeName(options.dtype)) + ": " +
                             std::to_string(plan->bytesIn) + " bytes became " + std::to_string(plan->bytesOut));
  }
  return stop(failures(options.failOn, total));
}

}  // namespace dtypemut
