#include "dtypemut/ir/op_table.h"

#include <unordered_map>

namespace dtypemut {
namespace {

enum class Property : std::uint8_t { kNothing, kFixed };

struct OpRow {
  std::string_view name;
  OpKind kind;
  Property property;
};

constexpr OpRow kOps[] = {
#define OP(name, kind, property) {#name, OpKind::kind, Property::property},
#include "dtypemut/ir/op_table.def"
#undef OP
};
static_assert(std::size(kOps) == static_cast<std::size_t>(Op::kOpaque));

}  // namespace

Op opFromName(std::string_view name) {
  static const std::unordered_map<std::string_view, Op> ops = [] {
    std::unordered_map<std::string_view, Op> map;
    for (std::size_t i = 0; i < std::size(kOps); ++i) map.emplace(kOps[i].name, static_cast<Op>(i));
    return map;
  }();
  const auto found = ops.find(name);
  return found == ops.end() ? Op::kOpaque : found->second;
}

OpKind opKind(Op op) { return op == Op::kOpaque ? OpKind::kOpaque : kOps[static_cast<std::size_t>(op)].kind; }

std::string_view opName(Op op) { return kOps[static_cast<std::size_t>(op)].name; }

bool hasFixedDstTy(Op op) {
  return op != Op::kOpaque && kOps[static_cast<std::size_t>(op)].property == Property::kFixed;
}

}  // namespace dtypemut
