// The end of a stream of casts that is a file.
#pragma once

#include <cstddef>
#include <span>

#include "dtypemut/cast/stream.h"
#include "dtypemut/io/output.h"

namespace dtypemut {

/// Appends to an output, which must outlive it. An error may come late, from OutputFile::flush.
class OutputSink final : public ByteSink {
 public:
  explicit OutputSink(OutputFile& file) : file_(file) {}
  Status write(std::span<const std::byte> bytes) override {
    file_.write(bytes);
    return file_.ok() ? Status(Done{}) : file_.flush();
  }

 private:
  OutputFile& file_;
};

}  // namespace dtypemut
