// The keys of the JSON IR and the objects they stand in (spec 2). The reader and the schema are made from these tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dtypemut/ir/graph.h"
#include "json_walk.h"

namespace dtypemut {

enum class Key : std::uint8_t {
  kVersion,
  kName,
  kTensors,
  kInstructions,
  kDtype,
  kShape,
  kSpace,
  kKind,
  kData,
  kSplat,
  kValues,
  kBase64,
  kFile,
  kOffset,
  kSafetensors,
  kTensor,
  kOp,
  kOperands,
  kDst,
  kReinterpret,
  kCanMutateDstTy,
  kAllowedDtypes,
  kPartitionBroadcast,
  kInst,
  kImm,
  kUnknown,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::kUnknown);

inline constexpr std::array<std::string_view, kKeyCount> kKeyNames = {"version",
                                                                      "name",
                                                                      "tensors",
                                                                      "instructions",
                                                                      "dtype",
                                                                      "shape",
                                                                      "space",
                                                                      "kind",
                                                                      "data",
                                                                      "splat",
                                                                      "values",
                                                                      "base64",
                                                                      "file",
                                                                      "offset",
                                                                      "safetensors",
                                                                      "tensor",
                                                                      "op",
                                                                      "operands",
                                                                      "dst",
                                                                      "reinterpret",
                                                                      "can_mutate_dst_ty",
                                                                      "allowed_dtypes",
                                                                      "partition_broadcast",
                                                                      "inst",
                                                                      "imm"};

constexpr std::string_view keyName(Key key) { return kKeyNames[static_cast<std::size_t>(key)]; }

namespace detail {

/// Tells the keys apart, which kKeysByHash relies on.
constexpr std::size_t hashOfKey(std::string_view name) {
  const auto letter = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(name[at])); };
  return (name.size() + 12 * letter(1) + 20 * letter(name.size() - 1)) % 64;
}

inline constexpr std::array<Key, 64> kKeysByHash = [] {
  std::array<Key, 64> keys{};
  keys.fill(Key::kUnknown);
  for (std::size_t i = 0; i < kKeyCount; ++i) keys[hashOfKey(kKeyNames[i])] = static_cast<Key>(i);
  return keys;
}();

}  // namespace detail

/// The key of that name, of whatever object; kUnknown when there is none.
constexpr Key keyFromName(std::string_view name) {
  if (name.size() < 2) return Key::kUnknown;
  const Key key = detail::kKeysByHash[detail::hashOfKey(name)];
  return key != Key::kUnknown && keyName(key) == name ? key : Key::kUnknown;
}
static_assert([] {
  for (std::size_t i = 0; i < kKeyCount; ++i)
    if (keyFromName(kKeyNames[i]) != static_cast<Key>(i)) return false;
  return true;
}());

inline constexpr Key kRootKeys[] = {Key::kVersion, Key::kName, Key::kTensors, Key::kInstructions};
inline constexpr Key kTensorKeys[] = {Key::kName, Key::kDtype, Key::kShape, Key::kSpace, Key::kKind, Key::kData};
inline constexpr Key kDataKeys[] = {Key::kSplat,  Key::kValues,      Key::kBase64, Key::kFile,
                                    Key::kOffset, Key::kSafetensors, Key::kTensor};
inline constexpr Key kInstructionKeys[] = {Key::kName,
                                           Key::kOp,
                                           Key::kDtype,
                                           Key::kOperands,
                                           Key::kDst,
                                           Key::kReinterpret,
                                           Key::kCanMutateDstTy,
                                           Key::kAllowedDtypes,
                                           Key::kPartitionBroadcast};
inline constexpr Key kOperandKeys[] = {Key::kTensor, Key::kInst, Key::kImm, Key::kReinterpret, Key::kDtype};
inline constexpr Key kDstKeys[] = {Key::kTensor, Key::kReinterpret, Key::kDtype};

/// What an object's keys or an array's elements mean, by where they stand.
enum class Context : std::uint8_t {
  kRoot,
  kTensors,
  kTensor,
  kShape,
  kData,
  kInstructions,
  kInstruction,
  kOperands,
  kOperand,
  kDst,
  kAllowedDtypes,
  kUnknown,  // below a key whose value is of no interest here
};

constexpr std::span<const Key> keysOf(Context context) {
  switch (context) {
    case Context::kRoot:
      return kRootKeys;
    case Context::kTensor:
      return kTensorKeys;
    case Context::kData:
      return kDataKeys;
    case Context::kInstruction:
      return kInstructionKeys;
    case Context::kOperand:
      return kOperandKeys;
    case Context::kDst:
      return kDstKeys;
    default:
      return {};
  }
}

/// Whether the objects of that context have the key.
constexpr bool hasKey(Context context, Key key) {
  constexpr auto kKeySets = [] {
    std::array<std::uint32_t, static_cast<std::size_t>(Context::kUnknown) + 1> sets{};
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (Key known : keysOf(static_cast<Context>(i))) sets[i] |= std::uint32_t{1} << static_cast<unsigned>(known);
    return sets;
  }();
  return (kKeySets[static_cast<std::size_t>(context)] >> static_cast<unsigned>(key) & 1) != 0;
}
static_assert(kKeyCount < 32);

struct FormRow {
  Key key;
  DataForm form;
  TokenKind kind;
};
inline constexpr FormRow kForms[] = {{Key::kSplat, DataForm::kSplat, TokenKind::kNumber},
                                     {Key::kValues, DataForm::kValues, TokenKind::kArray},
                                     {Key::kBase64, DataForm::kBase64, TokenKind::kString},
                                     {Key::kFile, DataForm::kFile, TokenKind::kString},
                                     {Key::kSafetensors, DataForm::kSafetensors, TokenKind::kString}};

}  // namespace dtypemut
