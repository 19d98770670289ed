// The text of a document, and where in it something stands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dtypemut/diag/diagnostic.h"

namespace dtypemut {

struct TextPosition {
  std::uint64_t line;    ///< from 1
  std::uint64_t column;  ///< from 1, in bytes
};

/// For whoever needs many positions in one text.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  TextPosition position(std::uint64_t offset) const;

 private:
  std::vector<std::uint64_t> begins_;  // of the lines
};

/// Owns the text of a document for as long as anything refers into it. Movable; views into the text stay valid.
class Source {
 public:
  /// Reads a file, or stdin for "-"; an error (kFile) when it is larger than `mostBytes`, also if it has no end.
  /// `threads`: on at most so many; 0: as many as the machine has.
  static Result<Source> read(const std::string& path, std::uint64_t mostBytes = mostDocumentBytes(),
                             unsigned threads = 0);
  /// A text from elsewhere; references in it are relative to `folder`.
  Source(std::string name, std::string_view text, std::filesystem::path folder = ".");

  /// Half of this machine's memory: to read a document and to keep its graph takes about twice its size, and a system
  /// whose memory is used up ends processes without a word.
  static std::uint64_t mostDocumentBytes();

  /// So many NUL bytes follow the text.
  static constexpr std::size_t kPadding = 16;

  std::string_view text() const { return {text_.get(), size_}; }
  /// Whether the text is ASCII, without the control characters 0x1A to 0x1F.
  bool isPlain() const { return isPlain_; }
  /// The path as given; "<stdin>" for stdin.
  const std::string& name() const { return name_; }
  /// What relative paths in the document are relative to (spec 2).
  const std::filesystem::path& folder() const { return folder_; }

  TextPosition position(std::uint64_t offset) const;

 private:
  struct Free {
    void operator()(char* text) const;
  };
  Source() = default;
  /// Room for so many bytes and the padding; null when there is none.
  static char* allocate(std::size_t capacity);
  bool readPieces(int descriptor, std::size_t size, int threads);

  std::string name_;
  std::filesystem::path folder_;
  std::unique_ptr<char, Free> text_;
  std::size_t size_ = 0;
  bool isPlain_ = true;
};

/// A text with its control characters as escapes, so that it is one line.
std::string oneLine(std::string_view text);

/// One line without its end, as compilers print it (spec 1): FILE:LINE:COLUMN: error: MESSAGE, or FILE: error: ...
/// Control characters in names are written as escapes. `source` is the document that offsets are in.
std::string formatDiagnostic(const Diagnostic& diagnostic, const Source* source);

}  // namespace dtypemut
