// A validating walk over a JSON text that tells where each token stands. RapidJSON finds the tokens; what it leaves
// unchecked of spec 2 is checked here: duplicate keys, nesting, numbers beyond a double, lone surrogates, what follows
// the document.
#pragma once

#include <rapidjson/error/error.h>
// RapidJSON looks at strings sixteen bytes at a time where it may.
#if defined(__SSE2__) && !defined(RAPIDJSON_SSE2)
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/source.h"

// By default RapidJSON works on copies of this stream, and a handler could not see where it stands.
template <>
struct rapidjson::StreamTraits<rapidjson::StringStream> {
  enum { copyOptimization = 0 };
};

namespace dtypemut {

/// For RapidJSON, which would go on with the null pointer that its own allocator returns when there is no memory.
struct ThrowingAllocator {
  static constexpr bool kNeedFree = true;
  void* Malloc(std::size_t size) { return checked(std::malloc(size), size); }
  void* Realloc(void* old, std::size_t, std::size_t size) {
    if (size != 0) return checked(std::realloc(old, size), size);
    std::free(old);
    return nullptr;
  }
  static void Free(void* memory) { std::free(memory); }

 private:
  static void* checked(void* memory, std::size_t size) {
    if (memory == nullptr && size != 0) throw std::bad_alloc();
    return memory;
  }
};
using JsonReader = rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

enum class TokenKind : std::uint8_t { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };

/// A value or key of a JSON text; of an array or object, its beginning.
struct JsonToken {
  TokenKind kind = TokenKind::kAbsent;
  /// A string whose content does not stand in the text, since it was escaped: valid during the call only.
  bool transient = false;
  std::uint64_t offset = 0;
  std::string_view text;  ///< a string's content, a number's or boolean's spelling

  bool present() const { return kind != TokenKind::kAbsent; }
};

/// Whether a number, as JSON spells it, is too large for a double.
bool exceedsDouble(std::string_view spelled);

/// Whether the content of a string holds half a surrogate pair.
bool hasLoneSurrogate(std::string_view content);

/// Why RapidJSON refused the text at `offset`: what was expected there, and what was found. Moves the offset to the
/// beginning of what is to blame.
std::string jsonFault(rapidjson::ParseErrorCode code, std::string_view text, std::uint64_t& offset);

/// The keys of the objects that are open, to find duplicates.
class OpenKeys {
 public:
  void openObject() { firsts_.push_back(keys_.size()); }
  void closeObject();
  /// False when the innermost object has the key already. What is transient is kept.
  bool insert(std::string_view key, bool isTransient);

 private:
  static constexpr std::size_t kFewKeys = 16;  // more are searched by hash

  struct Entry {
    std::uint64_t fingerprint;  // different for most different keys
    std::string_view name;
  };
  std::vector<std::size_t> firsts_;  // of each open object: its first key's place in keys_
  std::vector<Entry> keys_;
  std::vector<std::pair<std::size_t, std::unordered_set<std::string_view>>> sets_;  // by depth, of large objects
  std::deque<std::string> unescaped_;
};

/// RapidJSON's handler for walkJson.
template <typename Visitor, typename Stream>
class JsonWalk {
 public:
  JsonWalk(std::string_view text, Stream stream, std::uint64_t from, Visitor& visitor, Diagnostics& diagnostics)
      : text_(text), stream_(stream), from_(from), visitor_(visitor), diagnostics_(diagnostics) {}

  template <unsigned kFurtherFlags>
  bool run() {
    constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag | kFurtherFlags;
    if (text_.starts_with("\xEF\xBB\xBF"))
      return refuse(0, "a byte order mark; the document must be UTF-8 without one");
    JsonReader reader;
    reader.Parse<kFlags>(stream_, *this);
    if (!reader.HasParseError()) {
      // RapidJSON takes a NUL byte for the end of the text.
      return stream_.Tell() == text_.size() ||
             refuseJson(rapidjson::kParseErrorDocumentRootNotSingular, stream_.Tell());
    }
    if (reader.GetParseErrorCode() == rapidjson::kParseErrorTermination) return false;
    return refuseJson(reader.GetParseErrorCode(), std::min<std::uint64_t>(reader.GetErrorOffset(), text_.size()));
  }

  bool Null() { return visitor_.value({.kind = TokenKind::kNull, .offset = takeToken()}); }
  bool Bool(bool isTrue) {
    return visitor_.value({.kind = TokenKind::kBool, .offset = takeToken(), .text = isTrue ? "true" : "false"});
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) {
    const std::uint64_t begin = takeToken();
    const std::string_view spelled = text_.substr(begin, previousEnd_ - begin);
    if (exceedsDouble(spelled)) return refuse(begin, "the number is beyond the range of a double");
    return visitor_.value({.kind = TokenKind::kNumber, .offset = begin, .text = spelled});
  }
  bool String(const char* content, rapidjson::SizeType length, bool) {
    const JsonToken token = stringToken({content, length});
    return isSound(token) && visitor_.value(token);
  }
  bool Key(const char* content, rapidjson::SizeType length, bool) {
    const JsonToken token = stringToken({content, length});
    if (!isSound(token)) return false;
    if (!keys_.insert(token.text, token.transient))
      return refuse(token.offset, "duplicate key '" + std::string(token.text) + "'");
    return visitor_.key(token);
  }
  bool StartObject() {
    keys_.openObject();
    if (!start(TokenKind::kObject)) return false;
    if (depth_ == 1 && from_ != 0) skipTo(from_);
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    keys_.closeObject();
    return end();
  }
  bool StartArray() { return start(TokenKind::kArray); }
  bool EndArray(rapidjson::SizeType) { return end(); }
  // Never called: numbers come as they are spelled.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  static constexpr std::size_t kMaxDepth = 1024;  // spec 2

  /// Reports what makes the text no JSON document of ours, and ends the walk.
  bool refuse(std::uint64_t offset, std::string message) {
    diagnostics_.error(offset, std::move(message));
    return false;
  }

  bool refuseJson(rapidjson::ParseErrorCode code, std::uint64_t offset) {
    const std::string fault = jsonFault(code, text_, offset);
    // A number can be too large for us without being invalid.
    return refuse(offset, code == rapidjson::kParseErrorNumberTooBig ? fault : "invalid JSON: " + fault);
  }

  /// Where the token that the stream has just passed, or is about to enter, begins: behind the one before it, and
  /// whatever white space, comma and colon stand between.
  std::uint64_t takeToken() {
    std::uint64_t begin = previousEnd_;
    while (text_[begin] == ' ' || text_[begin] == ',' || text_[begin] == ':' || text_[begin] == '\n' ||
           text_[begin] == '\r' || text_[begin] == '\t')
      ++begin;
    previousEnd_ = stream_.Tell();
    return begin;
  }

  JsonToken stringToken(std::string_view content) {
    const std::uint64_t begin = takeToken();
    if (previousEnd_ - begin == content.size() + 2)
      return {.kind = TokenKind::kString, .offset = begin, .text = text_.substr(begin + 1, content.size())};
    return {.kind = TokenKind::kString, .transient = true, .offset = begin, .text = content};
  }

  /// What RapidJSON has not looked at in a string, or cannot hold.
  bool isSound(const JsonToken& token) {
    if (previousEnd_ - token.offset > std::numeric_limits<rapidjson::SizeType>::max())
      return refuse(token.offset, "the string is longer than 4 GiB, the most that this tool takes");
    if (token.transient && hasLoneSurrogate(token.text))
      return refuse(token.offset, "invalid JSON: half a surrogate pair in a string");
    return true;
  }

  bool start(TokenKind kind) {
    const std::uint64_t begin = stream_.Tell();
    previousEnd_ = begin + 1;
    if (++depth_ > kMaxDepth) return refuse(begin, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
    return visitor_.value({.kind = kind, .offset = begin});
  }

  bool end() {
    previousEnd_ = stream_.Tell() + 1;
    --depth_;
    return visitor_.end();
  }

  /// Lets RapidJSON, which is about to take the brace of the document, go on at `offset` instead of behind the brace.
  void skipTo(std::uint64_t offset) {
    stream_.src_ += offset - 1 - stream_.Tell();
    previousEnd_ = offset;
  }

  std::string_view text_;
  Stream stream_;
  std::uint64_t from_;
  Visitor& visitor_;
  Diagnostics& diagnostics_;
  std::uint64_t previousEnd_ = 0;
  std::size_t depth_ = 0;
  OpenKeys keys_;
};

/// Walks a JSON document and calls `visitor.key(token)`, `visitor.value(token)` (also where an array or object begins)
/// and `visitor.end()` (where one ends), each of which may end the walk by returning false. False when the walk did not
/// reach the end; the reason, unless it was the visitor's, is in `diagnostics`. `from`, unless it is 0: the offset of a
/// key of the outermost object, which must be the first thing in the document, to go on from once that has begun.
template <typename Visitor>
bool walkJson(const Source& source, Visitor& visitor, Diagnostics& diagnostics, std::uint64_t from = 0) {
  // RapidJSON's fast path reads past the end, and lets pass what plain text does not hold.
  static_assert(Source::kPadding >= 16);
  const std::string_view text = source.text();
  if (source.isPlain())
    return JsonWalk(text, rapidjson::StringStream(text.data()), from, visitor, diagnostics).template run<0>();
  return JsonWalk(text, rapidjson::MemoryStream(text.data(), text.size()), from, visitor, diagnostics)
      .template run<rapidjson::kParseValidateEncodingFlag>();
}

}  // namespace dtypemut
