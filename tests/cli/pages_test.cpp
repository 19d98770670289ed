#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "app.h"
#include "bash_completion.h"
#include "completion.h"
#include "man_page.h"
#include "zsh_completion.h"

using namespace dtypemut;
using namespace dtypemut::cli;

namespace {

/// The piece of `text` that begins with `begin` and ends before `end`, or nothing.
std::string piece(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from, text.find(end, from + begin.size()) - from);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Pages {
  ExitCode unused = ExitCode::kDone;
  std::unique_ptr<const CLI::App> app = makeApp(unused);
  std::string man = manPage(*app, "1.2-3");
  std::string bash = bashCompletion(*app);
  std::string zsh = zshCompletion(*app);
};

}  // namespace

TEST_CASE("every command and option stands in the manual page and in the completions") {
  const Pages pages;
  CHECK(contains(pages.man, "dtypemut 1.2\\-3"));
  const std::vector<const CLI::App*> commands = pages.app->get_subcommands({});
  REQUIRE_FALSE(commands.empty());
  const auto check = [](const CLI::App& app, const std::string& man, const std::string& bash, const std::string& zsh) {
    CHECK_MESSAGE(!man.empty(), app.get_name());
    CHECK_MESSAGE(!bash.empty(), app.get_name());
    CHECK_MESSAGE(!zsh.empty(), app.get_name());
    for (const CLI::Option* option : optionsOf(app))
      for (const std::string& spelling : spellingsOf(*option)) {
        CAPTURE(app.get_name());
        CAPTURE(spelling);
        std::string roff;
        for (char c : spelling) roff += c == '-' ? std::string("\\-") : std::string(1, c);
        CHECK(contains(man, "\\fB" + roff + "\\fR"));
        CHECK(contains(bash, spelling));
        CHECK(contains(zsh, spelling));
      }
    for (const CLI::Option* positional : positionalsOf(app)) CHECK(contains(man, "\\fI" + argumentName(*positional)));
  };
  check(*pages.app, piece(pages.man, ".SH OPTIONS", ".SH "), piece(pages.bash, "' -'*)", ";;"),
        piece(pages.zsh, "_arguments -C", "case "));
  for (const CLI::App* command : commands) {
    const std::string name = command->get_name();
    check(*command, piece(pages.man, ".SS dtypemut " + name + "\n", ".SS "),
          piece(pages.bash, "'" + name + " -'*)", ";;"), piece(pages.zsh, " " + name + ")\n", ";;"));
    CHECK(contains(pages.man, "\\fBdtypemut " + name + "\\fR ["));
    CHECK(contains(pages.zsh, "'" + name + ":" + command->get_description().substr(0, 5)));
  }
}

TEST_CASE("the help of the tool and of every command begins with commands to paste") {
  const Pages pages;
  std::vector<const CLI::App*> apps = pages.app->get_subcommands({});
  apps.push_back(pages.app.get());
  for (const CLI::App* app : apps) {
    CAPTURE(app->get_name());
    CHECK(app->help().starts_with("Examples:\n  dtypemut "));
    CHECK(examplesOf(*app).starts_with("dtypemut "));
    CHECK_FALSE(contains(app->get_description(), "\n"));
  }
}

TEST_CASE("what shells offer comes from the vocabularies") {
  CLI::App app;
  std::string text;
  std::vector<std::string> texts;
  const auto wordsOf = [&](const std::string& typeName) {
    return completionOf(*app.add_option("--" + typeName, text)->type_name(typeName)).words;
  };
  CHECK(wordsOf("one|two") == Words{"one", "two"});
  CHECK(contains(joined(wordsOf("TARGET"), " "), "tonga inf1 v1 sunda"));
  CHECK(contains(joined(wordsOf("DTYPE"), " "), "bfloat16 bf16"));
  CHECK(contains(joined(wordsOf("OP"), " "), "MatMulOp"));
  CHECK(contains(joined(wordsOf("REASON,..."), " "), "matmul-pair"));
  CHECK(contains(joined(wordsOf("CODE"), " "), "BFLOAT16"));
  CHECK(wordsOf("GLOB").empty());
  CHECK(completionOf(*app.add_option("GRAPH", text)->type_name("")).kind == Completion::Kind::kFile);
  CHECK(completionOf(*app.add_option("--list", texts)->type_name("DTYPE")->delimiter(',')).isList);
  CHECK(isFlag(*app.add_flag("--flag")));
  CHECK(inQuotes("it's") == "'it'\\''s'");
}
