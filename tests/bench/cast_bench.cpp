// How fast casts are, measured against memcpy of the same traffic (bytes read plus bytes written) in the same run. Ends
// with a table of the two, by cast and number of threads; of repetitions, the best counts.
//
//   dtypemut_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving [--benchmark_filter=REGEX ...]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dtypemut/cast/cast.h"

namespace {

using namespace dtypemut;

/// More than caches hold, so that what is measured is memory.
constexpr std::size_t kValues = std::size_t{32} << 20;

const std::string kCopyOf = "memcpy of ";

/// Weights as they are: a bell around zero.
const std::vector<float>& weights() {
  static const std::vector<float> values = [] {
    std::vector<float> filled(kValues);
    std::minstd_rand random(1);
    for (float& value : filled) {
      float sum = 0;
      for (int i = 0; i < 4; ++i) sum += static_cast<float>(random() % 65536) / 65536.0f - 0.5f;
      value = sum * 0.1f;
    }
    return filled;
  }();
  return values;
}

std::vector<std::byte> weightsAs(Dtype dtype) {
  std::vector<std::byte> bytes(byteCount(dtype, kValues).value());
  castBytes(Dtype::kFloat32, std::as_bytes(std::span(weights())), dtype, bytes);
  return bytes;
}

void copy(benchmark::State& state, std::size_t traffic) {
  std::vector<std::byte> from(traffic / 2, std::byte{1});
  std::vector<std::byte> to(traffic / 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(traffic) * state.iterations());
}

void cast(benchmark::State& state, Dtype from, Dtype to, bool audited) {
  const std::vector<std::byte> in = weightsAs(from);
  std::vector<std::byte> out(byteCount(to, kValues).value());
  Audit audit;
  for (auto _ : state) {
    if (audited)
      castBytes(from, in, to, out, {}, audit);
    else
      castBytes(from, in, to, out);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(in.size() + out.size()) * state.iterations());
}

/// Measures a cast and the memcpy of its traffic, on one and on two threads.
void add(Dtype from, Dtype to, bool audited = false) {
  const std::string name =
      std::string(dtypeName(from)) + "->" + std::string(dtypeName(to)) + (audited ? " audited" : "");
  const std::size_t traffic = *byteCount(from, kValues) + *byteCount(to, kValues);
  for (int threads : {1, 2}) {
    benchmark::RegisterBenchmark(name.c_str(), cast, from, to, audited)->Threads(threads)->UseRealTime();
    benchmark::RegisterBenchmark((kCopyOf + name).c_str(), copy, traffic)->Threads(threads)->UseRealTime();
  }
}

/// Prints what Google Benchmark prints, then speeds beside those of memcpy.
class TableReporter final : public benchmark::ConsoleReporter {
 public:
  TableReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto speed = run.counters.find("bytes_per_second");
      if (run.error_occurred || run.run_type == Run::RT_Aggregate || speed == run.counters.end()) continue;
      double& best = speeds_[run.run_name.function_name][run.threads];
      best = std::max(best, speed->second.value / 1e9);
    }
  }

  void Finalize() override {
    std::printf("\n%-36s %28s %28s\n%-36s %10s %8s %8s %10s %8s %8s\n", "GB/s read and written", "one thread",
                "two threads", "", "cast", "memcpy", "ratio", "cast", "memcpy", "ratio");
    for (const auto& [name, own] : speeds_) {
      const auto memory = speeds_.find(kCopyOf + name);
      if (memory == speeds_.end()) continue;
      std::printf("%-36s", name.c_str());
      for (int threads : {1, 2}) {
        const double cast = own.at(threads);
        const double copy = memory->second.at(threads);
        std::printf(" %10.1f %8.1f %8.2f", cast, copy, cast / copy);
      }
      std::printf("\n");
    }
  }

 private:
  std::map<std::string, std::map<std::int64_t, double>> speeds_;  // by name and threads
};

}  // namespace

int main(int argc, char** argv) {
  constexpr Dtype kTargets[] = {Dtype::kBfloat16, Dtype::kFloat16,  Dtype::kFloat32r,     Dtype::kFloat8e3,
                                Dtype::kFloat8e4, Dtype::kFloat8e5, Dtype::kFloat8E4m3fn, Dtype::kFloat4E2m1X4};
  for (Dtype to : kTargets) add(Dtype::kFloat32, to);
  for (Dtype from : kTargets) add(from, Dtype::kFloat32);
  for (Dtype to : kTargets) add(Dtype::kFloat32, to, true);
  add(Dtype::kBfloat16, Dtype::kFloat8e4);
  add(Dtype::kFloat32, Dtype::kInt8);

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
