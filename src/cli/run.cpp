#include "dtypemut/commands/run.h"

#include <memory>

#include "arguments.h"
#include "command.h"
#include "console.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kDescription =
    "Move a dtype through a graph and fold the casts of weights\n"
    "\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 -o graph.bf16.json\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 | jq .\n"
    "  dtypemut run graph.json --target trn1 --dtype fp8e4 --auto-cast matmult --stats stats.json -o out.json\n";

std::string footer() {
  std::string text = "Statistics:\n";
  for (const StatisticInfo& info : kStatistics)
    text +=
        "  " + std::string(info.name) + std::string(24 - info.name.size(), ' ') + std::string(info.description) + "\n";
  return text +
         "\nExit status: 0 done; 1 the input was refused; 2 wrong usage; 3 a file could not be read or written;\n"
         "5 the result does not verify. Nothing is written on any but 0.";
}

struct Arguments {
  RunOptions run;
  std::optional<Target> target;
  bool enableDmaCast = false;
  bool disableDmaCast = false;
};

/// What depends on several arguments (spec 3).
RunOptions complete(const Arguments& arguments) {
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
  if (arguments.enableDmaCast) options.target.enableDmaCast = true;
  if (arguments.disableDmaCast) options.target.enableDmaCast = false;
  return options;
}

}  // namespace

void addRunCommand(CLI::App& app, ExitCode& exitCode) {
  const auto arguments = std::make_shared<Arguments>();
  RunOptions& options = arguments->run;
  CLI::App& command = *app.add_subcommand("run", kDescription);
  command.footer(footer());

  command.add_option("GRAPH", options.input, "The graph, a JSON document; - is stdin")->required()->type_name("");
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
      ->type_name("OPS");
  command
      .add_option_function<std::string>(
          "--policy",
          [&options](const std::string& text) {
            options.policy = parseChoice("--policy", text, {"edge", "joint"}) == 0 ? Policy::kEdge : Policy::kJoint;
          },
          "Decide edge by edge (default), or jointly: the largest set of values that can be narrow together")
      ->type_name("POLICY");
  command.add_flag("--fold-indirect", options.propagate.foldIndirect,
                   "Fold the casts of tables that NeuronIndirectLoad reads; needs --policy joint");
  command.add_flag("--mutate-multi-users", options.mutateMultiUsers, "Retype producers with several users (gate 7)");
  CLI::Option* enable =
      command.add_flag("--enable-dma-cast", arguments->enableDmaCast, "Let the DMA cast, whatever the target");
  command.add_flag("--disable-dma-cast", arguments->disableDmaCast, "Let it not cast")->excludes(enable);
  command.add_flag("--keep-dead-weights", options.keepDeadWeights, "Keep weights whose loads all read a cast copy");

  command.add_option("-o,--output", options.output, "The retyped graph (default: - for stdout)")->type_name("FILE");
  command.add_option("--weights", options.weights, "The cast weights that came from files (default: beside -o)")
      ->type_name("FILE");
  command.add_option("--stats", options.stats, "The statistics, as JSON")->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "Print no table of statistics");

  command.callback([arguments, &exitCode] { exitCode = run(complete(*arguments), stderrLog()); });
}

}  // namespace dtypemut::cli
