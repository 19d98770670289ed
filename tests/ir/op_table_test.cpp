#include "dtypemut/ir/op_table.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>

using namespace dtypemut;

namespace {

/// The op table of spec 2, as it stands there.
constexpr std::pair<OpKind, const char*> kKinds[] = {
    {OpKind::kCompute,
     "ActivationOp ActivationAccumulationOp AffSelTensorScalarOp ReciprocalOp TensorScalarPtrOp TensorScalarGEPOp "
     "TensorScalarCacheReduce TensorScalarCacheCumulative TensorTensorOp TensorTensorScanOp TensorReduceOp "
     "TransposeTensorReduceOp PartitionReduceOp TensorSelect SelectReduce RangeSelect RangeSelectReduce TensorCopyOp "
     "TensorCopyPredicated MemsetOp ParReduceBNMeanVar SundaBNStats SundaBNAggr SundaBNGradient SundaBNBackprop "
     "DropoutMaskInst IndexValueInst"},
    {OpKind::kMatmul, "MatMulOp MatMulSparseOp"},
    {OpKind::kMove,
     "TransposeOp TransposeBatchnormStats2 ShuffleTInst StreamShuffleInst BroadcastPartition "
     "SimpleBroadcastPartition ComplexBroadcastPartition PoolGather IndirectCopy"},
    {OpKind::kDma,
     "SBAtomLoad SBAtomStore DMACopyOp DMATranspose DMATransposeLoad DMATransposeStore DMATransposeCopy "
     "NeuronIndirectLoad NeuronIndirectSave SendRecvOp LocalCollectiveOp TiledAllGatherOp TiledReduceScatterOp "
     "TiledAlltoAllOp"},
};

/// What can_mutate_dst_ty calls fixed.
const std::set<std::string> kFixed = {"ParReduceBNMeanVar", "SundaBNStats",    "SundaBNAggr",   "SundaBNGradient",
                                      "SundaBNBackprop",    "DropoutMaskInst", "IndexValueInst"};

}  // namespace

TEST_CASE("the op table is that of the specification, and no op more") {
  std::size_t count = 0;
  for (const auto& [kind, names] : kKinds) {
    std::istringstream words(names);
    for (std::string name; words >> name; ++count) {
      CAPTURE(name);
      const Op op = opFromName(name);
      REQUIRE(op != Op::kOpaque);
      CHECK(opKind(op) == kind);
      CHECK(opName(op) == name);
      CHECK(hasFixedDstTy(op) == kFixed.contains(name));
    }
  }
  CHECK(count == static_cast<std::size_t>(Op::kOpaque));
}

TEST_CASE("every other name is opaque") {
  for (const char* name : {"", "matmulop", "MatMulOp ", "MatMul", "LRN", "kMatMulOp"}) {
    CAPTURE(name);
    CHECK(opFromName(name) == Op::kOpaque);
  }
  CHECK(opKind(Op::kOpaque) == OpKind::kOpaque);
  CHECK_FALSE(hasFixedDstTy(Op::kOpaque));
}
