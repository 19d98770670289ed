// Arbitrary documents, made so large that several threads read them: they must find what one thread finds, and a run
// must make of them what it makes of the small ones.
#include <doctest/doctest.h>

#include <string>

#include "dtypemut/commands/run.h"
#include "fuzz.h"
#include "reading.h"

using namespace dtypemut;

namespace {

constexpr std::size_t kMuchText = std::size_t{1} << 20;
constexpr const char* kFillerKey = "filler";

/// A member, to go before the others of a document: a long string, which a fuzzer passes sooner than as much white
/// space. Half of a document of that size will stand behind the first MiB, where buffers may end.
std::string filler(std::size_t documentSize) {
  return "\"" + std::string(kFillerKey) + "\": \"" + std::string(kMuchText - documentSize / 2, '.') + "\", ";
}

/// The document that a run writes; "" when it writes none.
std::string retyped(const std::string& text, unsigned threads, Policy policy) {
  static const fuzz::Folder kFolder({});
  kFolder.clear();
  RunOptions options;
  options.input = kFolder / "in.json";
  options.output = kFolder / "out.json";
  options.target = target(Architecture::kCayman);
  options.policy = policy;
  options.cast.threads = threads;
  options.quiet = true;
  writeFile(options.input, text);
  fuzz::Log log;
  return run(options, log.line()) == ExitCode::kDone ? readFile(options.output) : "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CAPTURE(text);
  const bool canBeFilled = text.starts_with('{') && text.size() < kMuchText && text.find(kFillerKey) == text.npos;
  const std::string much = canBeFilled ? std::string(text).insert(1, filler(size)) : enlarged(text);
  const Source source("g.json", much);
  CHECK(described(source, 2) == described(source, 1));
  if (!canBeFilled) return 0;

  const Policy policy = size % 2 == 0 ? Policy::kEdge : Policy::kJoint;
  const std::string expected = retyped(text, 1, policy);
  if (!expected.empty()) CHECK(retyped(much, 2, policy) == std::string(expected).insert(1, filler(size)));
  return 0;
}
