#include "dtypemut/commands/run.h"

#include <memory>

#include "arguments.h"
#include "command.h"
#include "console.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 -o graph.bf16.json\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 | jq .\n"
    "  dtypemut run graph.json --target trn1 --dtype fp8e4 --auto-cast matmult --stats stats.json -o out.json\n";

std::string footer() {
  std::string text = "Statistics:\n";
  for (const StatisticInfo& info : kStatistics)
    text +=
        "  " + std::string(info.name) + std::string(24 - info.name.size(), ' ') + std::string(info.description) + "\n";
  return text +
         "\nExit status: 0 done; 1 the input was refused; 2 wrong usage; 3 a file could not be read or written, or "
         "memory ran out;\n"
         "4 --fail-on tripped, after writing everything; 5 the result does not verify. Nothing is written on 1, 2, 3 "
         "and 5.";
}

struct Arguments {
  RunOptions run;
  std::vector<std::string> inputs;
  std::string outputDir;
  std::optional<Target> target;
  std::optional<unsigned> dotDepth;
  bool enableDmaCast = false;
  bool disableDmaCast = false;
};

void addFailure(FailOn& failOn, const std::string& name) {
  if (name == "overflow") {
    failOn.audit.overflow = true;
  } else if (name == "underflow") {
    failOn.audit.underflow = true;
  } else if (const auto reason = reasonFromName(name)) {
    failOn.reasons.push_back(*reason);
  } else if (name == "shared") {
    failOn.reasons.insert(failOn.reasons.end(), {Reason::kMultiLoad, Reason::kNLoads, Reason::kMultiUser});
  } else if (name == "mismatch") {
    for (std::size_t i = 0; i < kReasonCount; ++i) failOn.reasons.push_back(static_cast<Reason>(i));
  } else {
    throwUnknown("--fail-on", "reason", name, failOnNames());
  }
}

/// What depends on several arguments (spec 3).
RunOptions completed(const Arguments& arguments) {
  RunOptions options = arguments.run;
  options.target = *arguments.target;
  const Dtype dtype = options.propagate.dtype;
  if (!options.target.has(dtype))
    throw CLI::ValidationError("--dtype", std::string(options.target.name) + " has no " +
                                              std::string(dtypeName(dtype)) + "; possible are " +
                                              options.target.requestableDtypes().toString());
  options.propagate.from.erase(dtype);
  if (options.propagate.foldIndirect && options.policy != Policy::kJoint)
    throw CLI::ValidationError("--fold-indirect", "needs --policy joint");
  if (arguments.inputs.size() > 1 && arguments.outputDir.empty())
    throw CLI::ValidationError("GRAPH", "several graphs need --output-dir");
  if (options.dotOptions.around && options.dot.empty()) throw CLI::ValidationError("--dot-around", "needs --dot");
  if (arguments.dotDepth && !options.dotOptions.around) throw CLI::ValidationError("--dot-depth", "needs --dot-around");
  options.dotOptions.depth = arguments.dotDepth.value_or(options.dotOptions.depth);
  options.input = arguments.inputs.front();
  if (arguments.enableDmaCast) options.target.enableDmaCast = true;
  if (arguments.disableDmaCast) options.target.enableDmaCast = false;
  return options;
}

}  // namespace

void addRunCommand(CLI::App& app, ExitCode& exitCode) {
  const auto arguments = std::make_shared<Arguments>();
  RunOptions& options = arguments->run;
  CLI::App& command = *app.add_subcommand("run", "Move a dtype through a graph and fold the casts of weights");
  leadWithExamples(command, kExamples);
  command.footer(footer());

  addGraphsArgument(command, arguments->inputs);
  addTargetOption(command, arguments->target)->required();
  addDtypeOption(command, options.propagate.dtype)->required();
  addFromOption(command, options.propagate.from);
  command
      .add_option_function<std::string>(
          "--auto-cast",
          [&options](const std::string& text) {
            constexpr AutoCast kChoices[] = {AutoCast::kAll, AutoCast::kMatmult, AutoCast::kMatmult, AutoCast::kNone};
            options.propagate.autoCast =
                kChoices[parseChoice("--auto-cast", text, {"all", "matmult", "matmul", "none"})];
          },
          "Which ops ask for the dtype: all (default), matmult, none")
      ->type_name("all|matmult|none");
  command
      .add_option_function<std::string>(
          "--policy",
          [&options](const std::string& text) {
            options.policy = parseChoice("--policy", text, {"edge", "joint"}) == 0 ? Policy::kEdge : Policy::kJoint;
          },
          "Decide edge by edge (default), or jointly: the largest set of values that can be narrow together")
      ->type_name("edge|joint");
  command.add_flag("--fold-indirect", options.propagate.foldIndirect,
                   "Fold the casts of tables that NeuronIndirectLoad reads; needs --policy joint");
  command.add_flag("--mutate-multi-users", options.mutateMultiUsers, "Retype producers with several users (gate 7)");
  CLI::Option* enable =
      command.add_flag("--enable-dma-cast", arguments->enableDmaCast, "Let the DMA cast, whatever the target");
  command.add_flag("--disable-dma-cast", arguments->disableDmaCast, "Let it not cast")->excludes(enable);
  command.add_flag("--keep-dead-weights", options.keepDeadWeights, "Keep weights whose loads all read a cast copy");

  addListOption(command, "--keep", options.keep.keep, "Retype no instruction whose name matches (glob; repeatable)",
                "GLOB");
  addListOption(command, "--keep-op", options.keep.keepOp, "Retype no instruction of this op (repeatable)", "OP");
  addListOption(command, "--only", options.keep.only, "Retype only instructions whose name matches (repeatable)",
                "GLOB");

  CLI::Option* output =
      addFileOption(command, "-o,--output", options.output, "The retyped graph (default: - for stdout)");
  CLI::Option* weights =
      addFileOption(command, "--weights", options.weights,
                    "The cast weights that came from files (default: the name of -o, with .safetensors for .json)");
  addFileOption(command, "--output-dir", arguments->outputDir, "Write each graph under its own name into this folder")
      ->type_name("DIR")
      ->excludes(output)
      ->excludes(weights);
  addFp8Options(command, options.cast.cast);
  command.add_flag("--dry-run", options.dryRun, "Decide and report, but write no graph and no weights");
  addThreadsOption(command, options.cast.threads);
  addFileOption(command, "--stats", options.stats, "The statistics, as JSON");
  addFileOption(command, "--remarks", options.remarks, "Every decision with its reason: JSON, one object a line");
  addFileOption(command, "--sarif", options.sarif, "The refusals as SARIF 2.1.0, for code hosts");
  addFileOption(command, "--audit", options.audit,
                "What the casts do to the weights' values, by weight and in total, as JSON");
  addFileOption(command, "--html", options.html, "What was done and why, as one page for a browser");
  addFileOption(command, "--dot", options.dot, "A picture of the graph and what became of it, for Graphviz");
  command
      .add_option_function<std::string>(
          "--dot-around", [&options](const std::string& name) { options.dotOptions.around = name; },
          "Draw only what is near this instruction or tensor, for large graphs")
      ->type_name("NAME");
  command
      .add_option_function<unsigned>(
          "--dot-depth", [arguments](unsigned depth) { arguments->dotDepth = depth; },
          "How many edges away, in either direction (default: 2)")
      ->type_name("N")
      ->check([](const std::string& text) { return std::string(text.empty() ? "must be a number" : ""); });
  addListOption(command, "--explain", options.explain,
                "Tell the whole story of an instruction or tensor (name or glob; repeatable)", "NAME");
  command
      .add_option_function<std::vector<std::string>>(
          "--fail-on",
          [&options](const std::vector<std::string>& names) {
            for (const std::string& name : names) addFailure(options.failOn, name);
          },
          "Exit 4, after writing everything, on any of these: a reason, shared (multi-load, n-loads, multi-user), "
          "mismatch (any reason), overflow, underflow (of a weight's values)")
      ->type_name("REASON")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command.add_flag("--quiet", options.quiet, "Print no table of statistics");

  command.callback([arguments, &exitCode] {
    const RunOptions complete = completed(*arguments);
    exitCode = arguments->outputDir.empty() ? run(complete, stderrLog())
                                            : runAll(arguments->inputs, arguments->outputDir, complete, stderrLog());
  });
}

}  // namespace dtypemut::cli
