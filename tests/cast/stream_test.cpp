#include "dtypemut/cast/stream.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

using namespace dtypemut;

namespace {

using Bytes = std::vector<std::byte>;

Bytes randomBytes(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(std::size_t limit) : limit_(limit) {}
  Status write(std::span<const std::byte> bytes) override {
    CHECK_FALSE(failed_);
    failed_ = (count_ += bytes.size()) > limit_;
    if (failed_) return fileError("out", "cannot write: No space left on device");
    return Done{};
  }

 private:
  std::size_t limit_;
  std::size_t count_ = 0;
  bool failed_ = false;
};

struct Streamed {
  Bytes bytes;
  std::vector<Audit> audits;
};

/// Tensors of all sorts, one after the other in one source.
Streamed streamEverything(unsigned threads) {
  struct Tensor {
    Dtype from;
    Dtype to;
    std::size_t bytes;
  };
  const Tensor tensors[] = {
      {Dtype::kFloat32, Dtype::kBfloat16, 5'000'004},
      {Dtype::kNone, Dtype::kNone, 3'000'001},
      {Dtype::kFloat16, Dtype::kFloat32, 4'000'002},
      {Dtype::kFloat32, Dtype::kFloat8e4, 0},
      {Dtype::kFloat8e5, Dtype::kInt64, 2'000'003},
      {Dtype::kFloat32, Dtype::kFloat4E2m1X4, 16 * 100'001},
      {Dtype::kFloat32, Dtype::kFloat32, 12},
      {Dtype::kFloat4E2m1X4, Dtype::kUint64, 2 * 70'001},
      {Dtype::kFloat32, Dtype::kFloat8e3, 4},
      {Dtype::kBfloat16, Dtype::kBfloat16, 2'000'000},
      {Dtype::kFloat32, Dtype::kFloat8E4m3fn, 4'444'444},
  };
  std::size_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.bytes;
  static const Bytes in = randomBytes(total);
  const MemorySource source(in);
  Streamed streamed;
  streamed.audits.resize(std::size(tensors));
  std::vector<StreamItem> items;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < std::size(tensors); ++i) {
    items.push_back({.name = "t",
                     .source = &source,
                     .offset = offset,
                     .bytes = tensors[i].bytes,
                     .from = tensors[i].from,
                     .to = tensors[i].to,
                     .audit = &streamed.audits[i]});
    offset += tensors[i].bytes;
  }
  MemorySink sink(streamed.bytes);
  std::uint64_t progress = 0;
  StreamOptions options;
  options.threads = threads;
  options.progress = [&](std::uint64_t done) {
    CHECK(done > progress);
    progress = done;
  };
  CHECK(streamCast(items, sink, options));
  CHECK(progress == total);

  Bytes expected;
  for (std::size_t i = 0; i < std::size(tensors); ++i) {
    const std::span<const std::byte> part(in.data() + items[i].offset, tensors[i].bytes);
    Bytes out(part.begin(), part.end());
    Audit audit;
    if (tensors[i].from != Dtype::kNone) {
      out.resize(*castSize(tensors[i].from, tensors[i].to, part.size()));
      castBytes(tensors[i].from, part, tensors[i].to, out, {}, audit);
    }
    expected.insert(expected.end(), out.begin(), out.end());
    CHECK(streamed.audits[i] == audit);
  }
  CHECK(streamed.bytes == expected);
  return streamed;
}

}  // namespace

TEST_CASE("a stream gives what castBytes gives, whatever the number of threads") {
  const Streamed one = streamEverything(1);
  for (unsigned threads : {0u, 2u}) {
    const Streamed many = streamEverything(threads);
    CHECK(one.bytes == many.bytes);
    CHECK(one.audits == many.audits);
  }
}

TEST_CASE("many small tensors are streamed") {
  const Bytes in = randomBytes(40'000);
  const MemorySource source(in);
  std::vector<StreamItem> items;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    items.push_back({"t", &source, 4 * i, 4, Dtype::kFloat32, Dtype::kBfloat16});
  Bytes out;
  MemorySink sink(out);
  CHECK(streamCast(items, sink, {}));
  Bytes expected(20'000);
  castBytes(Dtype::kFloat32, in, Dtype::kBfloat16, expected);
  CHECK(out == expected);
}

TEST_CASE("a stream without bytes writes none") {
  Bytes out;
  MemorySink sink(out);
  CHECK(streamCast({}, sink, {}));
  CHECK(out.empty());
}

TEST_CASE("the first error in the order of the items is told, with its tensor") {
  const Bytes in = randomBytes(8'000'000);
  const MemorySource source(in);
  const MemorySource shorter(std::span<const std::byte>(in).first(5'000'000));
  const StreamItem items[] = {{"a", &source, 0, 8'000'000, Dtype::kFloat32, Dtype::kBfloat16},
                              {"b", &shorter, 0, 8'000'000, Dtype::kFloat32, Dtype::kBfloat16},
                              {"c", &shorter, 6'000'000, 4, Dtype::kFloat32, Dtype::kBfloat16}};
  for (unsigned threads : {1u, 2u}) {
    StreamOptions options;
    options.threads = threads;
    CountingSink sink(100'000'000);
    const Status shortRead = streamCast(items, sink, options);
    REQUIRE_FALSE(shortRead);
    CHECK(shortRead.error().size() == 1);
    CHECK(shortRead.error().begin()->message == "tensor 'b': has only 5000000 bytes");

    CountingSink full(5'000'000);
    const Status written = streamCast(std::span(items).first(1), full, options);
    CHECK(written);
    CountingSink fuller(3'000'000);
    const Status noSpace = streamCast(items, fuller, options);
    REQUIRE_FALSE(noSpace);
    CHECK(noSpace.error().begin()->message == "tensor 'a': cannot write: No space left on device");
    CHECK(noSpace.error().begin()->file == "out");
    CHECK(noSpace.error().exitCode() == ExitCode::kFile);
  }
}

TEST_CASE("sizes that do not fit are all told before anything is written") {
  const MemorySource source({});
  const StreamItem items[] = {{"a", &source, 0, 7, Dtype::kFloat32, Dtype::kBfloat16},
                              {"b", &source, 0, 8, Dtype::kFloat32, Dtype::kBfloat16},
                              {"c", &source, 0, 8, Dtype::kFloat32, Dtype::kFloat8E5m2X4}};
  CountingSink sink(0);
  const Status status = streamCast(items, sink, {});
  REQUIRE_FALSE(status);
  CHECK(status.error().size() == 2);
  CHECK(status.error().begin()->message ==
        "tensor 'a': 7 bytes are no whole number of elements of float32 (4 bytes each)");
}
