#include "dtypemut/io/ir_schema.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dtypemut/ir/op_table.h"
#include "dtypemut/types/dtype.h"
#include "ir_keys.h"

namespace dtypemut {
namespace {

using Json = nlohmann::ordered_json;

// ---- pieces

Json described(std::string_view description, Json schema = Json::object()) {
  Json result = {{"description", description}};
  result.update(schema);
  return result;
}

Json typed(std::string_view type) { return {{"type", type}}; }
Json reference(std::string_view definition) { return {{"$ref", "#/$defs/" + std::string(definition)}}; }
Json listOf(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json oneOfNames(const auto& names) { return {{"enum", Json(names)}}; }
Json constant(Json value) { return {{"const", std::move(value)}}; }

Json required(std::initializer_list<Key> keys) {
  Json names = Json::array();
  for (const Key key : keys) names.push_back(keyName(key));
  return {{"required", names}};
}

/// Objects in which a key is there and its value fits.
Json has(Key key, Json schema) {
  Json result = required({key});
  result["properties"][keyName(key)] = std::move(schema);
  return result;
}

/// Objects in which a value fits if it is there.
Json where(Key key, Json schema) { return {{"properties", {{keyName(key), std::move(schema)}}}}; }

Json isAbsent(Key key) { return where(key, false); }

Json implies(Json condition, Json consequence) {
  return {{"if", std::move(condition)}, {"then", std::move(consequence)}};
}

/// For anyOf and oneOf: that a key is there.
Json eachRequired(std::initializer_list<Key> keys) {
  Json choices = Json::array();
  for (const Key key : keys) choices.push_back(required({key}));
  return choices;
}

std::vector<std::string_view> dtypeNames() {
  std::vector<std::string_view> names;
  for (const DtypeInfo& info : kDtypes) names.push_back(info.name);
  return names;
}

std::vector<std::string_view> knownOps() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Op::kOpaque); ++i) names.push_back(opName(static_cast<Op>(i)));
  return names;
}

// ---- properties: one per key of an object

Json rootProperty(Key key) {
  switch (key) {
    case Key::kVersion:
      return described("The version of the IR.", constant(1));
    case Key::kName:
      return described("What the program is called.", typed("string"));
    case Key::kTensors:
      return described("The tensors; their order is that of inputs and outputs.", listOf(reference("tensor")));
    case Key::kInstructions:
      return described("The instructions, in the order of execution.", listOf(reference("instruction")));
    default:
      return false;
  }
}

Json tensorProperty(Key key) {
  switch (key) {
    case Key::kName:
      return described("Unique among tensors.", {{"type", "string"}, {"minLength", 1}});
    case Key::kDtype:
      return reference("dtype");
    case Key::kShape:
      return described("The dimensions; [] is a scalar. A packed dtype counts containers.",
                       listOf({{"type", "integer"}, {"minimum", 0}}));
    case Key::kSpace:
      return described("Where the tensor lives.", {{"enum", kSpaceNames}, {"default", kSpaceNames[0]}});
    case Key::kKind:
      return described("What the tensor is to the program's caller; input, output and const live in dram.",
                       {{"enum", kTensorKindNames}, {"default", kTensorKindNames[0]}});
    case Key::kData:
      return described("The elements, of a const only.", reference("data"));
    default:
      return false;
  }
}

Json dataProperty(Key key) {
  switch (key) {
    case Key::kSplat:
      return described("Every element has this value.", reference("element"));
    case Key::kValues:
      return described("The elements, row-major; not for packed dtypes.", listOf(reference("element")));
    case Key::kBase64:
      return described(
          "The elements' bytes, little-endian; RFC 4648 section 4, padded, without white space.",
          {{"type", "string"},
           {"contentEncoding", "base64"},
           {"pattern", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"}});
    case Key::kFile:
      return described("A file with the elements' bytes, relative to the document's folder.", reference("path"));
    case Key::kOffset:
      return described("Beside file: where the bytes begin.", {{"default", 0}});
    case Key::kSafetensors:
      return described("A safetensors file with the tensor, relative to the document's folder.", reference("path"));
    case Key::kTensor:
      return described("Beside safetensors: the name of the tensor there; its dtype and shape must agree.");
    default:
      return false;
  }
}

Json instructionProperty(Key key) {
  switch (key) {
    case Key::kName:
      return described("Unique among instructions.", {{"type", "string"}, {"minLength", 1}});
    case Key::kOp:
      return described("Ops other than these are opaque: left alone.",
                       {{"type", "string"}, {"anyOf", {oneOfNames(knownOps()), Json::object()}}});
    case Key::kDtype:
      return described("The dtype of the result, required when there is a dst or when an operand refers to it.",
                       reference("dtype"));
    case Key::kOperands:
      return described("What the instruction reads.", listOf(reference("operand")));
    case Key::kDst:
      return described("Where the result goes.", {{"anyOf", {reference("view"), typed("null")}}});
    case Key::kReinterpret:
      return described("The instruction deals with bits, not values: it is not retyped.", typed("boolean"));
    case Key::kCanMutateDstTy:
      return described("Whether the result may be retyped; by default the op decides.", typed("boolean"));
    case Key::kAllowedDtypes:
      return described("The dtypes that a TensorScalarGEPOp may be given; by default only the one it has.",
                       listOf(reference("dtype")));
    case Key::kPartitionBroadcast:
      return described("Of a load: it broadcasts over partitions.", typed("boolean"));
    default:
      return false;
  }
}

Json operandProperty(Key key) {
  switch (key) {
    case Key::kTensor:
      return described("The tensor that is read.", typed("string"));
    case Key::kInst:
      return described("The instruction, further up, whose result is read.", typed("string"));
    case Key::kImm:
      return described("An immediate; never retyped.");
    case Key::kReinterpret:
      return described("Beside tensor: read its bits as another dtype.");
    case Key::kDtype:
      return described("Beside reinterpret: that other dtype.");
    default:
      return false;
  }
}

Json viewProperty(Key key) {
  switch (key) {
    case Key::kTensor:
      return described("The tensor.", typed("string"));
    case Key::kReinterpret:
      return described("The tensor's bits stand for another dtype.", typed("boolean"));
    case Key::kDtype:
      return described("That other dtype; only, and then required, beside \"reinterpret\": true.", reference("dtype"));
    default:
      return false;
  }
}

/// An object with the keys of a context; further keys are legal.
Json object(Context context, Json (*property)(Key), std::string_view description) {
  Json result = described(description, typed("object"));
  for (const Key key : keysOf(context)) result["properties"][keyName(key)] = property(key);
  return result;
}

// ---- objects

/// What `splat` and `values` may hold depends on the dtype.
Json elementRules() {
  Json rules = Json::array();
  Json packed = Json::array();
  for (const DtypeInfo& info : kDtypes) {
    if (isPacked(info.dtype)) packed.push_back(info.name);
    if (!isInteger(info.dtype) && info.dtypeClass != DtypeClass::kScale) continue;
    const std::size_t bits = info.containerBytes * std::size_t{8};
    const bool isSigned = info.name.starts_with("int");
    Json element = {{"type", "integer"}, {"minimum", 0}};
    element["maximum"] = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (isSigned ? 1 : 0));
    if (isSigned) element["minimum"] = std::numeric_limits<std::int64_t>::min() >> (64 - bits);
    Json data = where(Key::kSplat, element);
    data["properties"][keyName(Key::kValues)]["items"] = element;
    rules.push_back(implies(has(Key::kDtype, constant(info.name)), where(Key::kData, data)));
  }
  rules.push_back(implies(has(Key::kDtype, oneOfNames(packed)), where(Key::kData, isAbsent(Key::kValues))));
  return rules;
}

Json tensorSchema() {
  Json tensor = object(Context::kTensor, tensorProperty, "A tensor.");
  tensor.update(required({Key::kName, Key::kDtype, Key::kShape}));
  std::vector<std::string_view> interface;
  for (const std::string_view kind : kTensorKindNames)
    if (kind != kindName(TensorKind::kInternal)) interface.push_back(kind);
  const std::string_view isConst = kindName(TensorKind::kConst);
  tensor["allOf"] = elementRules();
  tensor["allOf"].push_back(
      implies(has(Key::kKind, oneOfNames(interface)), where(Key::kSpace, constant(spaceName(Space::kDram)))));
  Json data = implies(has(Key::kKind, constant(isConst)), required({Key::kData}));
  data["else"] = isAbsent(Key::kData);
  tensor["allOf"].push_back(data);
  return tensor;
}

Json dataSchema() {
  Json data = object(Context::kData, dataProperty, "Exactly one of these forms.");
  data["oneOf"] = Json::array();
  for (const FormRow& row : kForms) data["oneOf"].push_back(required({row.key}));
  data["dependentSchemas"] = {
      {keyName(Key::kFile), where(Key::kOffset, {{"type", "integer"}, {"minimum", 0}})},
      {keyName(Key::kSafetensors), has(Key::kTensor, typed("string"))},
  };
  return data;
}

Json instructionSchema() {
  Json instruction = object(Context::kInstruction, instructionProperty, "An instruction.");
  instruction.update(required({Key::kName, Key::kOp}));
  const auto only = [](Json operand) { return Json{{"items", std::move(operand)}, {"minItems", 1}, {"maxItems", 1}}; };
  Json tensorOrInst;
  tensorOrInst["anyOf"] = eachRequired({Key::kTensor, Key::kInst});
  const Json load = has(Key::kOperands, only(required({Key::kTensor})));
  Json store = has(Key::kOperands, only(tensorOrInst));
  store["allOf"] = {has(Key::kDst, typed("object"))};
  instruction["allOf"] = {implies(has(Key::kDst, typed("object")), required({Key::kDtype})),
                          implies(has(Key::kOp, constant(opName(Op::kSBAtomLoad))), load),
                          implies(has(Key::kOp, constant(opName(Op::kSBAtomStore))), store)};
  return instruction;
}

Json operandSchema() {
  Json operand = object(Context::kOperand, operandProperty, "Exactly one of tensor, inst and imm.");
  operand["oneOf"] = eachRequired({Key::kTensor, Key::kInst, Key::kImm});
  Json nothingElse = isAbsent(Key::kReinterpret);
  nothingElse.update(isAbsent(Key::kDtype), true);
  operand["allOf"] = {implies(required({Key::kTensor}), reference("view")),
                      implies(required({Key::kInst}), nothingElse)};
  return operand;
}

Json viewSchema() {
  Json view = object(Context::kDst, viewProperty, "An access to a tensor.");
  view.update(required({Key::kTensor}));
  view.update(implies(has(Key::kReinterpret, constant(true)), required({Key::kDtype})));
  view["else"] = isAbsent(Key::kDtype);
  return view;
}

}  // namespace

std::string irSchema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "dtypemut IR"}};
  schema.update(
      object(Context::kRoot, rootProperty,
             "A program of an accelerator backend. Keys that this schema does not know are legal everywhere."));
  schema.update(required({Key::kTensors, Key::kInstructions}));
  schema["$defs"] = {
      {"dtype", described("A dtype.", oneOfNames(dtypeNames()))},
      {"element", described("A number, or one of the names of what JSON has no numbers for.",
                            {{"anyOf", {typed("number"), oneOfNames(std::vector{"nan", "inf", "-inf"})}}})},
      {"path", described("A file name.", {{"type", "string"}, {"pattern", "^[^\\u0000]+$"}})},
      {"tensor", tensorSchema()},
      {"data", dataSchema()},
      {"instruction", instructionSchema()},
      {"operand", operandSchema()},
      {"view", viewSchema()},
  };
  return schema.dump(2) + "\n";
}

}  // namespace dtypemut
