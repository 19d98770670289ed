// The README and the help tell of the same commands and options.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <string>

#include "files.h"

namespace {

std::string outputOf(const std::string& arguments) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen((DTYPEMUT_COMMAND " " + arguments).c_str(), "r"), ::pclose);
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

std::set<std::string> matchesOf(const std::regex& pattern, const std::string& text) {
  std::set<std::string> matches;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    matches.insert((*match)[1]);
  return matches;
}

}  // namespace

TEST_CASE("the README names every command and option, and no other option") {
  const std::string readme = readFile(DTYPEMUT_TESTDATA "/../README.md");
  const std::string help = outputOf("--help");
  std::set<std::string> options = matchesOf(std::regex("(--[a-z][a-z0-9-]*)"), help);
  for (const std::string& command : matchesOf(std::regex("\n  ([a-z]+)  "), help.substr(help.find("Subcommands:")))) {
    CAPTURE(command);
    CHECK(readme.find("\n### " + command + "\n") != std::string::npos);
    options.merge(matchesOf(std::regex("(--[a-z][a-z0-9-]*)"), outputOf(command + " --help")));
  }
  CHECK(options.size() > 30);
  const std::set<std::string> told = matchesOf(std::regex("(--[a-z][a-z0-9-]*)"), readme);
  for (const std::string& option : options) CHECK_MESSAGE(told.contains(option), option << " is not in the README");

  const std::set<std::string> ofOtherTools = {"--preset", "--build", "--install", "--large"};
  for (const std::string& option : told)
    if (!ofOtherTools.contains(option)) CHECK_MESSAGE(options.contains(option), option << " is in no help");
}
