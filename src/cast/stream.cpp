#include "dtypemut/cast/stream.h"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "dtypemut/cast/threads.h"

namespace dtypemut {
namespace {

/// The most that a chunk reads, and the most that it writes: what second-level caches hold, and enough to make a system
/// call or a task cheap.
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
/// A piece of a tensor, but for its last, is a multiple of so many elements: whole containers of every dtype.
constexpr std::uint64_t kPieceElements = 64;

/// Part of one item.
struct Piece {
  const StreamItem* item;
  std::uint64_t offset;  // in the source
  std::size_t inBytes;
  std::size_t outBytes;
  Audit audit = {};
};

/// What is cast and written at once: pieces that follow each other.
struct Chunk {
  std::vector<Piece> pieces;
  std::size_t outBytes = 0;
  std::vector<std::byte> out;  // as large as the largest so far; reused
  std::optional<Diagnostics> error;
};

bool isCopy(const StreamItem& item) { return item.from == item.to; }

/// Source bytes to result bytes; `bytes` is known to have a result.
std::uint64_t resultBytes(const StreamItem& item, std::uint64_t bytes) {
  return isCopy(item) ? bytes : *castSize(item.from, item.to, bytes);
}

/// How many source bytes of an item make up a full piece.
std::uint64_t fullPiece(const StreamItem& item) {
  if (isCopy(item)) return kChunkBytes;
  const std::uint64_t in = kPieceElements * containerBytes(item.from);
  return kChunkBytes / std::max(in, resultBytes(item, in)) * in;
}

Diagnostics ofTensor(std::string_view name, const Diagnostics& faults) {
  Diagnostics named;
  for (Diagnostic fault : faults) {
    if (fault.severity == Severity::kError) fault.message = "tensor '" + std::string(name) + "': " + fault.message;
    named.add(std::move(fault));
  }
  return named;
}

/// The three stages that chunks pass through. next and finish are called in order, by one thread at a time each;
/// transform by any, at the same time.
class Stages {
 public:
  Stages(std::span<const StreamItem> items, ByteSink& sink, const StreamOptions& options)
      : items_(items), sink_(sink), options_(options) {}

  /// Fills `chunk` with the pieces that come next; false when there are none, or after an error.
  bool next(Chunk& chunk) {
    chunk.pieces.clear();
    chunk.outBytes = 0;
    chunk.error.reset();
    if (failed_.load(std::memory_order_relaxed)) return false;
    std::uint64_t inBytes = 0;
    for (; item_ < items_.size(); ++item_, position_ = 0) {
      const StreamItem& item = items_[item_];
      while (position_ < item.bytes) {
        const std::uint64_t in = std::min(item.bytes - position_, fullPiece(item));
        const std::uint64_t out = resultBytes(item, in);
        if (!chunk.pieces.empty() && std::max(inBytes + in, chunk.outBytes + out) > kChunkBytes) return true;
        chunk.pieces.push_back({.item = &item,
                                .offset = item.offset + position_,
                                .inBytes = static_cast<std::size_t>(in),
                                .outBytes = static_cast<std::size_t>(out)});
        inBytes += in;
        chunk.outBytes += static_cast<std::size_t>(out);
        position_ += in;
      }
    }
    return !chunk.pieces.empty();
  }

  /// Reads and casts the pieces, with the help of a buffer that the thread has to itself.
  void transform(Chunk& chunk, std::vector<std::byte>& buffer) const {
    if (failed_.load(std::memory_order_relaxed)) return;
    if (chunk.out.size() < chunk.outBytes) chunk.out.resize(chunk.outBytes);
    std::size_t done = 0;
    for (Piece& piece : chunk.pieces) {
      const StreamItem& item = *piece.item;
      const std::span<std::byte> out = std::span(chunk.out).subspan(done, piece.outBytes);
      done += piece.outBytes;
      std::span<std::byte> in = out;
      if (!isCopy(item)) {
        if (buffer.size() < piece.inBytes) buffer.resize(piece.inBytes);
        in = std::span(buffer).first(piece.inBytes);
      }
      if (Status read = item.source->read(piece.offset, in); !read) {
        chunk.error = ofTensor(item.name, read.error());
        return;
      }
      if (item.from == Dtype::kNone) continue;
      if (item.audit != nullptr)
        castBytes(item.from, in, item.to, out, options_.cast, piece.audit);
      else if (!isCopy(item))
        castBytes(item.from, in, item.to, out, options_.cast);
    }
  }

  void finish(Chunk& chunk) {
    if (error_) return;
    if (!chunk.error) {
      if (Status written = sink_.write(std::span(chunk.out).first(chunk.outBytes)); !written)
        chunk.error = ofTensor(chunk.pieces.front().item->name, written.error());
    }
    if (chunk.error) {
      error_ = std::move(chunk.error);
      failed_.store(true, std::memory_order_relaxed);
      return;
    }
    for (const Piece& piece : chunk.pieces) {
      if (piece.item->audit != nullptr) *piece.item->audit += piece.audit;
      done_ += piece.inBytes;
    }
    if (options_.progress) options_.progress(done_);
  }

  Status status() && {
    if (error_) return std::move(*error_);
    return Done{};
  }

 private:
  std::span<const StreamItem> items_;
  ByteSink& sink_;
  const StreamOptions& options_;
  std::atomic<bool> failed_ = false;
  // Of next.
  std::size_t item_ = 0;
  std::uint64_t position_ = 0;
  // Of finish.
  std::optional<Diagnostics> error_;
  std::uint64_t done_ = 0;
};

void runPipeline(Stages& stages, int threads) {
  namespace tbb = oneapi::tbb;
  // Twice as many chunks as threads, so that one that waits for its turn to be written holds up nobody.
  const std::size_t tokens = 2 * static_cast<std::size_t>(threads);
  std::vector<std::unique_ptr<Chunk>> chunks;
  tbb::concurrent_queue<Chunk*> unused;
  for (std::size_t i = 0; i < tokens; ++i) {
    chunks.push_back(std::make_unique<Chunk>());
    unused.push(chunks.back().get());
  }
  tbb::enumerable_thread_specific<std::vector<std::byte>> buffers;
  const auto next = [&](tbb::flow_control& control) -> Chunk* {
    Chunk* chunk = nullptr;
    unused.try_pop(chunk);  // there is one for each token
    if (stages.next(*chunk)) return chunk;
    control.stop();
    return nullptr;
  };
  const auto transform = [&](Chunk* chunk) {
    stages.transform(*chunk, buffers.local());
    return chunk;
  };
  const auto finish = [&](Chunk* chunk) {
    stages.finish(*chunk);
    unused.push(chunk);
  };
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(tokens, tbb::make_filter<void, Chunk*>(tbb::filter_mode::serial_in_order, next) &
                                       tbb::make_filter<Chunk*, Chunk*>(tbb::filter_mode::parallel, transform) &
                                       tbb::make_filter<Chunk*, void>(tbb::filter_mode::serial_in_order, finish));
  });
}

}  // namespace

Status MemorySource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
    return Diagnostic{.message = "has only " + std::to_string(bytes_.size()) + " bytes"};
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return Done{};
}

Status MemorySink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return Done{};
}

Status streamCast(std::span<const StreamItem> items, ByteSink& sink, const StreamOptions& options) {
  Diagnostics faults;
  for (const StreamItem& item : items) {
    if (isCopy(item)) continue;
    if (Result<std::uint64_t> size = castSize(item.from, item.to, item.bytes); !size)
      faults.append(ofTensor(item.name, size.error()));
  }
  if (faults.hasErrors()) return faults;

  Stages stages(items, sink, options);
  std::uint64_t bytes = 0;
  for (const StreamItem& item : items) bytes += std::max(item.bytes, resultBytes(item, item.bytes));
  // What fits in a chunk is done sooner than a thread wakes up.
  const int threads = bytes <= kChunkBytes ? 1 : usableThreads(options.threads);
  if (threads == 1) {
    Chunk chunk;
    std::vector<std::byte> buffer;
    while (stages.next(chunk)) {
      stages.transform(chunk, buffer);
      stages.finish(chunk);
    }
  } else {
    runPipeline(stages, threads);
  }
  return std::move(stages).status();
}

}  // namespace dtypemut
