// Makes what stands beside the command: dtypemut_pages man|bash|zsh, on stdout. Run by the build.
#include <iostream>
#include <string_view>

#include "app.h"
#include "bash_completion.h"
#include "man_page.h"
#include "version.h"
#include "zsh_completion.h"

int main(int argc, char** argv) {
  using namespace dtypemut;
  ExitCode unused = ExitCode::kDone;
  const std::unique_ptr<CLI::App> app = cli::makeApp(unused);
  const std::string_view page = argc == 2 ? argv[1] : "";
  if (page == "man")
    std::cout << cli::manPage(*app, cli::version());
  else if (page == "bash")
    std::cout << cli::bashCompletion(*app);
  else if (page == "zsh")
    std::cout << cli::zshCompletion(*app);
  else
    return static_cast<int>(ExitCode::kUsage);
  return static_cast<int>(std::cout.flush() ? ExitCode::kDone : ExitCode::kFile);
}
