#include "malformed.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace dtypemut::malformed {
namespace {

bool isHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); }

/// How many characters of the spelling stand for the byte at `at`.
std::size_t spelledLength(const std::string& spelled, std::size_t at) {
  const bool isEscape = at + 3 < spelled.size() && spelled[at] == '<' && isHexDigit(spelled[at + 1]) &&
                        isHexDigit(spelled[at + 2]) && spelled[at + 3] == '>';
  return isEscape ? 4 : 1;
}

/// The place in the spelling of byte number `bytes`.
std::size_t spelledPlace(const std::string& spelled, std::size_t bytes) {
  std::size_t at = 0;
  for (; bytes > 0 && at < spelled.size(); --bytes) at += spelledLength(spelled, at);
  return at + bytes;
}

Case parseHeading(const std::string& line) {
  Case example;
  example.heading = line;
  std::istringstream words(line.substr(4));
  words >> example.name;
  for (std::string word; words >> word;) {
    if (word == "target") {
      words >> example.target;
      example.hasTarget = true;
    } else if (word == "exit") {
      words >> example.exitCode;
    }
  }
  return example;
}

}  // namespace

std::string bytesOf(const std::string& spelled) {
  std::string bytes;
  for (std::size_t at = 0; at < spelled.size();) {
    const std::size_t length = spelledLength(spelled, at);
    bytes += length == 1 ? spelled[at] : static_cast<char>(std::stoi(spelled.substr(at + 1, 2), nullptr, 16));
    at += length;
  }
  return bytes;
}

std::string documentOf(const Case& example) {
  std::string text;
  for (const std::string& line : example.lines) text += (&line == &example.lines.front() ? "" : "\n") + bytesOf(line);
  return text;
}

Table parseTable(const std::string& text) {
  Table table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (line.starts_with("=== ")) {
      table.cases.push_back(parseHeading(line));
    } else if (table.cases.empty()) {
      table.comment += line + "\n";
    } else if (Case& example = table.cases.back(); line.starts_with("++ ")) {
      const std::size_t space = line.find(' ', 3);
      example.files.emplace_back(line.substr(3, space - 3), space == std::string::npos ? "" : line.substr(space + 1));
    } else if (indent != std::string::npos && line.compare(indent, 2, "^ ") == 0) {
      const std::string above = example.lines.empty() ? "" : example.lines.back();
      const std::size_t within = std::min(indent, above.size());
      const std::size_t column = bytesOf(above.substr(0, within)).size() + (indent - within) + 1;
      example.diagnostics.push_back(std::to_string(std::max<std::size_t>(1, example.lines.size())) + ":" +
                                    std::to_string(column) + ": " + line.substr(indent + 2));
    } else {
      example.lines.push_back(line);
    }
  }
  for (Case& example : table.cases) std::sort(example.diagnostics.begin(), example.diagnostics.end());
  return table;
}

std::string formatTable(const Table& table) {
  std::string text = table.comment;
  for (const Case& example : table.cases) {
    text += example.heading + "\n";
    for (const auto& [name, content] : example.files)
      text += "++ " + name + (content.empty() ? "" : " ") + content + "\n";
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> byPlace;
    for (const std::string& diagnostic : example.diagnostics) {
      const std::size_t column = diagnostic.find(':') + 1;
      const std::size_t message = diagnostic.find(": ", column) + 2;
      byPlace[{std::stoul(diagnostic), std::stoul(diagnostic.substr(column))}].push_back(diagnostic.substr(message));
    }
    for (std::size_t line = 1; line <= std::max<std::size_t>(1, example.lines.size()); ++line) {
      const std::string spelled = example.lines.empty() ? "" : example.lines[line - 1];
      if (!example.lines.empty()) text += spelled + "\n";
      for (const auto& [place, messages] : byPlace) {
        if (place.first != line) continue;
        for (const std::string& message : messages)
          text += std::string(spelledPlace(spelled, place.second - 1), ' ') + "^ " + message + "\n";
      }
    }
  }
  return text;
}

}  // namespace dtypemut::malformed
