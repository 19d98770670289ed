#include "console.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace dtypemut::cli {

LogLine stderrLog() {
  const auto logger = std::make_shared<spdlog::logger>("dtypemut", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%v");
  // A stderr that is closed is no reason to fail.
  logger->set_error_handler([](const std::string&) {});
  return [logger](Severity severity, const std::string& line) {
    switch (severity) {
      case Severity::kError:
        return logger->error(line);
      case Severity::kWarning:
        return logger->warn(line);
      case Severity::kNote:
        return logger->info(line);
    }
  };
}

}  // namespace dtypemut::cli
