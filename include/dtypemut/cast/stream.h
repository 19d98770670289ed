// Casts of any size in bounded memory: from sources through the cast engine to one sink, in chunks, on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "dtypemut/cast/audit.h"
#include "dtypemut/cast/cast.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/types/dtype.h"

namespace dtypemut {

/// Bytes that can be read at any place.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` with what stands at `offset`, or tells why not. Is called from several threads at once.
  virtual Status read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

/// Takes bytes one after the other.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Is called by one thread at a time, though not always the same. Not called again after an error.
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

/// Bytes in memory, which must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Status read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::span<const std::byte> bytes_;
};

/// Appends to a vector, which must outlive it.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  Status write(std::span<const std::byte> bytes) override;

 private:
  std::vector<std::byte>& bytes_;
};

/// One tensor on its way.
struct StreamItem {
  std::string_view name;  ///< of the tensor, for errors
  const ByteSource* source;
  std::uint64_t offset;  ///< in the source
  std::uint64_t bytes;   ///< in the source
  Dtype from;            ///< kNone, for both: copied unseen
  Dtype to;
  Audit* audit = nullptr;  ///< what to add the item's audit to
};

struct StreamOptions {
  CastOptions cast;
  unsigned threads = 0;  ///< at most so many; 0: as many as the machine has. The result is the same for any number
  /// Called now and then, by one thread at a time, with the number of source bytes that are done.
  std::function<void(std::uint64_t)> progress = {};
};

/// Writes the results of all items to `sink`, in their order. Errors name the tensor; one of castSize comes before
/// anything is read. The first error in the order of the items ends the stream.
Status streamCast(std::span<const StreamItem> items, ByteSink& sink, const StreamOptions& options);

}  // namespace dtypemut
