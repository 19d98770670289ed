// Malformed documents as data: tables under testdata/malformed/, each a list of
//
//   === NAME [target T] [exit N]     what `verify` and `run` must refuse, with exit status 1 unless N says otherwise
//   ++ FILE CONTENT                  a file beside the document; a FILE that ends in / is a folder
//   the document                     its lines, without a final line end
//     ^ error: MESSAGE               under a line of the document: a diagnostic, with its column and its text
//
// <XX>, two upper-case hexadecimal digits, stands for one byte, in documents and in the content of files. What stands
// before the first case of a table is comment.
//
// With DTYPEMUT_REGENERATE=1 in the environment, the tests rewrite the diagnostics to what the tool says now.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dtypemut::malformed {

struct Case {
  std::string heading;  ///< the whole line
  std::string name;
  std::string target = "trn2";
  bool hasTarget = false;  ///< the fault is one only with that target
  int exitCode = 1;
  std::vector<std::pair<std::string, std::string>> files;  ///< contents as spelled
  std::vector<std::string> lines;                          ///< of the document, as spelled
  std::vector<std::string> diagnostics;                    ///< sorted, each LINE:COLUMN: error: MESSAGE
};

struct Table {
  std::string comment;
  std::vector<Case> cases;
};

Table parseTable(const std::string& text);
std::string formatTable(const Table& table);

/// What a spelling with <XX> stands for.
std::string bytesOf(const std::string& spelled);
/// The text of the document.
std::string documentOf(const Case& example);

}  // namespace dtypemut::malformed
