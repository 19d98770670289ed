// Graph out: the text of the document, with the tokens of retyped nodes replaced (spec 6).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dtypemut/cast/stream.h"
#include "dtypemut/diag/diagnostic.h"
#include "dtypemut/io/output.h"
#include "dtypemut/io/source.h"
#include "dtypemut/io/weight_cast.h"
#include "dtypemut/io/weights.h"
#include "dtypemut/ir/graph.h"

namespace dtypemut {

struct WriteOptions {
  /// What relative paths in the output will be relative to: the folder of the output document.
  std::filesystem::path folder = ".";
  /// The safetensors file that receives clones of weights from files, as a path from the working directory; without
  /// one they become base64.
  std::optional<std::filesystem::path> weightsFile;
  /// Weights stay although all their loads moved to clones.
  bool keepDeadWeights = false;
  StreamOptions cast;
};

/// The clones of weights from files, in the order in which they were made: the tensors of WriteOptions::weightsFile.
std::vector<TensorId> clonesOfFiles(const Graph& graph);

/// Writes the safetensors file with those clones, named as in the graph. Adds to `audits`, if there are any, what that
/// did to values.
Status writeWeights(const Graph& graph, Weights& weights, const StreamOptions& options, OutputFile& output,
                    WeightAudits* audits = nullptr);

/// Writes the document. A graph that nothing was changed in gives the source's text, but for references to files where
/// the output stands in another folder. Adds to `audits`, if there are any, what casting the weights in it did to
/// values.
Status writeGraph(const Source& source, const Graph& graph, Weights& weights, const WriteOptions& options,
                  OutputFile& output, WeightAudits* audits = nullptr);

}  // namespace dtypemut
