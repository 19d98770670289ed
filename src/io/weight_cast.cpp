#include "dtypemut/io/weight_cast.h"

#include <array>
#include <memory>
#include <vector>

#include "dtypemut/io/elements.h"
#include "dtypemut/io/json_text.h"

namespace dtypemut {
namespace {

class NullSink final : public ByteSink {
 public:
  Status write(std::span<const std::byte>) override { return Done{}; }
};

bool isSplat(const Graph& graph, const Tensor& tensor) { return graph.constData(tensor).form == DataForm::kSplat; }

/// The audit of `count` values that are all like those of `one`.
Audit times(const Audit& one, std::uint64_t count) {
  Audit all = one;
  for (std::uint64_t Audit::*counter :
       {&Audit::elements, &Audit::nan, &Audit::inf, &Audit::overflow, &Audit::underflow})
    all.*counter *= count;
  return all;
}

}  // namespace

Status castClones(const Graph& graph, Weights& weights, std::span<const TensorId> clones, const StreamOptions& options,
                  ByteSink& sink, WeightAudits* audits) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<StreamItem> items;
  for (TensorId id : clones) {
    const Tensor& clone = graph.tensor(id);
    const Tensor& weight = graph.tensor(clone.cloneOf);
    sources.push_back(weights.bytes(weight));
    items.push_back({.name = weight.name,
                     .source = sources.back().get(),
                     .offset = 0,
                     .bytes = weight.sizeInBytes(),
                     .from = weight.dtype,
                     .to = clone.dtype,
                     .audit = audits == nullptr ? nullptr : &(*audits)[id]});
  }
  return streamCast(items, sink, options);
}

Status auditClones(const Graph& graph, Weights& weights, const StreamOptions& options, WeightAudits& audits) {
  std::vector<TensorId> clones;
  for (std::uint32_t i = graph.documentTensorCount(); i < graph.tensorCount(); ++i)
    if (!isSplat(graph, graph.tensor(TensorId{i}))) clones.push_back(TensorId{i});
  NullSink sink;
  return castClones(graph, weights, clones, options, sink, &audits);
}

void auditSplats(const Source& source, const Graph& graph, const CastOptions& options, WeightAudits& audits) {
  for (std::uint32_t i = 0; i < graph.tensorCount(); ++i) {
    const TensorId id{i};
    const Tensor& tensor = graph.tensor(id);
    const Dtype before = dtypeBeforeCast(graph, id);
    if (!tensor.isConst() || before == tensor.dtype || !isSplat(graph, tensor)) continue;
    std::array<std::byte, 8> element{};
    std::array<std::byte, 8> cast{};
    parseElement(valueAt(source.text(), graph.constData(tensor).valueToken), before, Overflow::kAllowed,
                 element.data());
    Audit one;
    castBytes(before, std::span(element).first(containerBytes(before)), tensor.dtype,
              std::span(cast).first(containerBytes(tensor.dtype)), options, one);
    audits[id] = times(one, tensor.elementCount);
  }
}

Dtype dtypeBeforeCast(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return tensor.cloneOf == TensorId::kNone ? tensor.documentDtype : graph.tensor(tensor.cloneOf).documentDtype;
}

}  // namespace dtypemut
