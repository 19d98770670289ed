#include "dtypemut/commands/diff.h"

#include <memory>

#include "command.h"
#include "console.h"

namespace dtypemut::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  dtypemut diff graph.json graph.bf16.json\n"
    "  dtypemut run graph.json --target trn2 --dtype bf16 | dtypemut diff graph.json -\n"
    "  dtypemut diff graph.json graph.bf16.json --json | jq .replaced_weights\n";

}  // namespace

void addDiffCommand(CLI::App& app, ExitCode& exitCode) {
  CLI::App& command = *app.add_subcommand("diff", "List what differs between two graphs");
  leadWithExamples(command, kExamples);
  command.footer(
      "Nodes are matched by name, and a weight with the one that the same operands read instead. Keys that the IR\n"
      "does not know are not compared, and files of weights not opened.\n"
      "\n"
      "Exit status: 0 the interface is the same: the inputs and outputs, their names, dtypes, shapes and order;\n"
      "1 a document was refused; 2 wrong usage; 3 a file could not be read or written, or memory ran out;\n"
      "4 the interface differs.");
  const auto options = std::make_shared<DiffOptions>();
  command.add_option("A", options->a, "A graph, a JSON document; - is stdin")->required()->type_name("");
  command.add_option("B", options->b, "The graph to compare it with")->required()->type_name("");
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options, &exitCode] { exitCode = diff(*options, stderrLog()); });
}

}  // namespace dtypemut::cli
