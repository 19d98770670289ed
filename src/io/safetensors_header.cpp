#include "safetensors_header.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <unordered_set>

#include "json_walk.h"

namespace dtypemut {
namespace {

constexpr unsigned kMaxDepth = 1024;

std::string inQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

/// Takes the events of a header and fills a SafetensorsHeader; stops, with a message, at the first that does not
/// belong.
class HeaderHandler {
 public:
  HeaderHandler(std::string_view text, const rapidjson::MemoryStream& stream, SafetensorsHeader& header)
      : text_(text), stream_(stream), header_(header) {}

  /// Why an event was refused; empty when RapidJSON itself refused the text.
  const std::string& message() const { return message_; }

  bool Null() { return scalar("null"); }
  bool Bool(bool value) { return scalar(value ? "true" : "false"); }
  bool Int(int) { return false; }  // numbers come as they are spelled
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

  bool RawNumber(const char* digits, rapidjson::SizeType length, bool) {
    const std::string_view text(digits, length);
    if (at_ != At::kShape && at_ != At::kOffsets) return scalar(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    if (error == std::errc::result_out_of_range && end == text.end())
      return refuseTensor(std::string(text) + " in " + inQuotes(key_) + " is too large");
    if (error != std::errc{} || end != text.end())
      return refuseTensor(std::string(text) + " in " + inQuotes(key_) + " is not an integer of at least 0");
    if (at_ == At::kShape) {
      tensor_.shape.push_back(value);
    } else {
      if (offsetCount_ == 2) return refuseTensor("'data_offsets' has more than two numbers");
      (offsetCount_ == 0 ? tensor_.begin : tensor_.end) = value;
      ++offsetCount_;
    }
    return true;
  }

  bool String(const char* characters, rapidjson::SizeType length, bool) {
    const std::string_view text(characters, length);
    if (hasLoneSurrogate(text)) return refuse("a string is not valid Unicode");
    if (at_ == At::kMetadata) {
      header_.metadata->emplace_back(key_, text);
      return true;
    }
    if (at_ == At::kEntry && key_ == "dtype") {
      tensor_.dtypeCode = text;
      return true;
    }
    return scalar("a string");
  }

  bool Key(const char* characters, rapidjson::SizeType length, bool) {
    key_.assign(characters, length);
    if (hasLoneSurrogate(key_)) return refuse("a key is not valid Unicode");
    if (!keys_.back().insert(key_).second) {
      if (at_ == At::kTop && key_ != kMetadataKey) return refuse("two tensors are called " + inQuotes(key_));
      const std::string message = "two keys " + inQuotes(key_);
      if (at_ == At::kTop) return refuse(message);
      return at_ == At::kMetadata ? refuse("'__metadata__': " + message) : refuseTensor(message);
    }
    if (at_ == At::kTop) tensor_ = {.name = key_, .dtypeCode = {}, .shape = {}};
    if (at_ == At::kEntry) memberBegin_ = beginOfKey();
    return true;
  }

  bool StartObject() {
    keys_.emplace_back();
    if (at_ == At::kStart) {
      at_ = At::kTop;
    } else if (at_ == At::kTop && key_ == kMetadataKey) {
      at_ = At::kMetadata;
      header_.metadata.emplace();
    } else if (at_ == At::kTop) {
      at_ = At::kEntry;
      offsetCount_ = 0;
    } else {
      return startOther("an object");
    }
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    const std::unordered_set<std::string> keys = std::move(keys_.back());
    keys_.pop_back();
    switch (at_) {
      case At::kOther:
        return endOther();
      case At::kEntry:
        at_ = At::kTop;
        for (const char* key : {"dtype", "shape", "data_offsets"})
          if (!keys.contains(key)) return refuseTensor(std::string("lacks the key '") + key + "'");
        header_.tensors.push_back(std::move(tensor_));
        tensor_ = {};
        return true;
      case At::kMetadata:
        at_ = At::kTop;
        return true;
      default:
        return true;
    }
  }

  bool StartArray() {
    if (at_ == At::kEntry && key_ == "shape") {
      at_ = At::kShape;
    } else if (at_ == At::kEntry && key_ == "data_offsets") {
      at_ = At::kOffsets;
    } else {
      return startOther("an array");
    }
    return true;
  }

  bool EndArray(rapidjson::SizeType) {
    if (at_ == At::kOther) return endOther();
    if (at_ == At::kOffsets && offsetCount_ != 2) return refuseTensor("'data_offsets' has fewer than two numbers");
    at_ = At::kEntry;
    return true;
  }

 private:
  enum class At : std::uint8_t { kStart, kTop, kMetadata, kEntry, kShape, kOffsets, kOther };

  bool isKnownMember() const { return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets"; }

  /// A value that is no object or array, where the format has no such value, or does not care.
  bool scalar(std::string_view what) {
    switch (at_) {
      case At::kOther:
        return true;
      case At::kEntry:
        if (isKnownMember()) break;
        keepMember(stream_.Tell());
        return true;
      default:
        break;
    }
    return refuseValue(what);
  }

  bool startOther(std::string_view what) {
    if (at_ != At::kOther && (at_ != At::kEntry || isKnownMember())) return refuseValue(what);
    at_ = At::kOther;
    return ++otherDepth_ < kMaxDepth || refuseTensor("nests too deeply");
  }

  bool endOther() {
    if (--otherDepth_ == 0) {
      at_ = At::kEntry;
      keepMember(stream_.Tell() + 1);  // the closing bracket is still to be taken
    }
    return true;
  }

  bool refuseValue(std::string_view what) {
    const std::string found = ", not " + std::string(what);
    switch (at_) {
      case At::kStart:
        return refuse("the header must be an object" + found);
      case At::kTop:
        if (key_ == kMetadataKey) return refuse("'__metadata__' must be an object" + found);
        return refuseTensor("must be an object" + found);
      case At::kMetadata:
        return refuse("'__metadata__': the value of " + inQuotes(key_) + " must be a string" + found);
      case At::kEntry:
        return refuseTensor(inQuotes(key_) + (key_ == "dtype" ? " must be a string" : " must be an array") + found);
      default:
        return refuseTensor(inQuotes(key_) + " must hold integers of at least 0" + found);
    }
  }

  /// Remembers the member that ends there as it is spelled.
  void keepMember(std::size_t end) {
    tensor_.otherMembers += ',';
    tensor_.otherMembers += text_.substr(memberBegin_, end - memberBegin_);
  }

  /// Where the key begins that has just been read: after a brace or a comma and white space.
  std::size_t beginOfKey() const {
    std::size_t begin = stream_.Tell() - 1;  // the closing quote
    const auto isEscaped = [this](std::size_t quote) {
      std::size_t backslashes = 0;
      while (text_[quote - 1 - backslashes] == '\\') ++backslashes;
      return backslashes % 2 == 1;
    };
    do begin = text_.rfind('"', begin - 1);
    while (isEscaped(begin));
    return begin;
  }

  bool refuse(std::string message) {
    message_ = std::move(message);
    return false;
  }
  bool refuseTensor(const std::string& message) { return refuse("tensor " + inQuotes(tensor_.name) + ": " + message); }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  SafetensorsHeader& header_;
  At at_ = At::kStart;
  unsigned otherDepth_ = 0;
  unsigned offsetCount_ = 0;
  std::size_t memberBegin_ = 0;
  std::string key_;
  SafetensorsTensor tensor_;
  std::vector<std::unordered_set<std::string>> keys_;  // of each open object
  std::string message_;
};

}  // namespace

std::string parseSafetensorsHeader(std::string_view text, std::uint64_t offset, SafetensorsHeader& header) {
  if (!text.starts_with('{')) return "the header does not begin with '{'";
  rapidjson::MemoryStream stream(text.data(), text.size());
  JsonReader reader;
  HeaderHandler handler(text, stream, header);
  constexpr unsigned kFlags =
      rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, handler);
  if (!handler.message().empty()) return handler.message();
  // A zero byte looks like the end of the text to RapidJSON.
  std::uint64_t at = result.IsError() ? result.Offset() : stream.Tell();
  if (!result.IsError() && at == text.size()) return {};
  const std::string fault =
      jsonFault(result.IsError() ? result.Code() : rapidjson::kParseErrorDocumentRootNotSingular, text, at);
  return "the header is no valid JSON at byte " + std::to_string(offset + at) + ": " + fault;
}

}  // namespace dtypemut
