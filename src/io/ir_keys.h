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
