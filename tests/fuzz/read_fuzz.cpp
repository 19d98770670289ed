// Arbitrary documents, made so large that several threads read them: they must find what one thread finds.
#include <doctest/doctest.h>

#include <string>

#include "fuzz.h"
#include "reading.h"

using namespace dtypemut;

namespace {

/// An object gets a long string, which a fuzzer passes sooner than as much white space.
std::string large(std::string text) {
  static const std::string kMember = "\"filler\": \"" + std::string(std::size_t{1} << 20, '.') + "\", ";
  return text.starts_with('{') ? text.insert(1, kMember) : enlarged(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CAPTURE(text);
  const Source source("g.json", large(text));
  CHECK(described(source, 2) == described(source, 1));
  return 0;
}
