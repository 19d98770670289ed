// The casts of weights that a pass decided on, carried out on their bytes (spec 4, 6, 9).
#pragma once

#include <map>
#include <span>

#include "dtypemut/cast/audit.h"
#include "dtypemut/cast/stream.h"
#include "dtypemut/io/weights.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

/// What casts did to values, by the tensor that holds the result: a clone, or a splat that was retyped in place.
using WeightAudits = std::map<TensorId, Audit>;

/// Casts the bytes of the weights that these are clones of into `sink`, in that order. None may be of a splat. Adds to
/// `audits`, if there are any, what that did to values.
Status castClones(const Graph& graph, Weights& weights, std::span<const TensorId> clones, const StreamOptions& options,
                  ByteSink& sink, WeightAudits* audits = nullptr);

/// Casts all clones that have bytes into nothing, for their audits alone.
Status auditClones(const Graph& graph, Weights& weights, const StreamOptions& options, WeightAudits& audits);

/// What became of splats: they keep their spelling, but not what it means.
void auditSplats(const Source& source, const Graph& graph, const CastOptions& options, WeightAudits& audits);

/// The dtype that the weight had whose cast `id` holds.
Dtype dtypeBeforeCast(const Graph& graph, TensorId id);

}  // namespace dtypemut
