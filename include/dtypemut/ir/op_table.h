// The ops of the IR and their kinds (spec 2).
#pragma once

#include <cstdint>
#include <string_view>

namespace dtypemut {

enum class Op : std::uint8_t {
#define OP(name, kind, property) k##name,
#include "dtypemut/ir/op_table.def"
#undef OP
  kOpaque,  ///< every other name
};

/// How an op may meet a dtype that differs between its inputs and its result.
enum class OpKind : std::uint8_t {
  kCompute,  ///< reads any dtype, converts
  kMatmul,   ///< reads the target's legal matmul operand dtypes
  kMove,     ///< its first operand has the dtype of its result
  kDma,      ///< likewise, unless the target's DMA casts
  kOpaque,   ///< unknown: left alone
};

/// The op of that name, kOpaque for an unknown one.
Op opFromName(std::string_view name);
OpKind opKind(Op op);
/// The name of a known op.
std::string_view opName(Op op);
/// A compute op whose result dtype is fixed.
bool hasFixedDstTy(Op op);

}  // namespace dtypemut
