//===- BundleJson.cpp - engine.json, written and read ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleFiles.h"
#include "PackJson.h"

#include "Netra/Catalog/AttributeJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;
using Json = nlohmann::json;

namespace netra {

static constexpr StringRef engineFormat = "netra.engine/1";
static constexpr StringRef roleNames[] = {"input", "output", "state"};
static constexpr StringRef outcomeNames[] = {"refuse", "plan", "node"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string name(ElementType type) {
  return elementTypeName(type).str();
}

static Json toJson(const EngineKernel &kernel) {
  Json arguments = Json::array();
  for (const EngineKernelArgument &argument : kernel.arguments)
    arguments.push_back({{"name", argument.name},
                         {"offset", argument.offset},
                         {"bytes", argument.bytes},
                         {"kind", argumentKindName(argument.kind).str()},
                         {"type", name(argument.type)},
                         {"access", accessName(argument.access).str()}});
  return {{"symbol", kernel.symbol},
          {"kernarg_bytes", kernel.kernargBytes},
          {"static_lds", kernel.staticLds},
          {"vgprs", kernel.vgprs},
          {"agprs", kernel.agprs},
          {"sgprs", kernel.sgprs},
          {"max_workgroup", kernel.maxWorkgroup},
          {"arguments", std::move(arguments)}};
}

static Json toJson(const PackStep &step) {
  switch (step.kind) {
  case PackStep::Kind::Layout:
    return {{"layout", step.layout}};
  case PackStep::Kind::Cast:
    return {{"cast", name(step.type)}};
  case PackStep::Kind::Reshape:
    return {{"reshape", step.shape}};
  case PackStep::Kind::Reorder:
    return {{"reorder", step.layout}};
  case PackStep::Kind::Restore:
    return {{"restore", step.layout}};
  }
  llvm_unreachable("unknown kind of step");
}

Json toJson(const PackRecipe &recipe) {
  Json sources = Json::array(), steps = Json::array();
  for (const PackSource &source : recipe.sources)
    sources.push_back({{"checkpoint", source.checkpoint},
                       {"type", name(source.type)},
                       {"shape", source.shape}});
  for (const PackStep &step : recipe.steps)
    steps.push_back(toJson(step));
  return {{"sources", std::move(sources)},
          {"concat_axis", recipe.concatAxis},
          {"steps", std::move(steps)}};
}

static Json toJson(const EngineWeights &weights, bool withId) {
  Json entries = Json::array();
  for (const EngineWeight &weight : weights.entries)
    entries.push_back({{"name", weight.name},
                       {"offset", weight.offset},
                       {"bytes", weight.bytes},
                       {"type", name(weight.type)},
                       {"shape", weight.shape},
                       {"layout", weight.layout},
                       {"pack", toJson(weight.pack)}});
  Json result = {{"bytes", weights.bytes},
                 {"alignment", weights.alignment},
                 {"entries", std::move(entries)}};
  if (withId)
    result["id"] = weights.id;
  return result;
}

static Json toJson(const EngineSlot &slot) {
  using Kind = EngineSlot::Kind;
  switch (slot.kind) {
  case Kind::Binding:
  case Kind::Weight:
    return {{"kind", slot.kind == Kind::Binding ? "binding" : "weight"},
            {"index", slot.index},
            {"offset", slot.offset},
            {"bytes", slot.bytes}};
  case Kind::Arena:
    return {{"kind", "arena"}, {"offset", slot.offset}, {"bytes", slot.bytes}};
  case Kind::Value:
    if (slot.follows)
      return {{"kind", "value"},
              {"type", name(slot.type)},
              {"bits", slot.bits},
              {"follows", affineToJson(*slot.follows)}};
    return {{"kind", "value"}, {"type", name(slot.type)}, {"bits", slot.bits}};
  case Kind::Null:
    break;
  }
  return {{"kind", "null"}};
}

static Json toJson(const std::vector<EngineSlot> &slots) {
  Json result = Json::array();
  for (const EngineSlot &slot : slots)
    result.push_back(toJson(slot));
  return result;
}

static Json toJson(const std::vector<EngineOperand> &operands) {
  Json result = Json::array();
  for (const EngineOperand &operand : operands) {
    result.push_back({{"name", operand.name},
                      {"type", name(operand.type)},
                      {"shape", operand.shape},
                      {"layout", operand.layout},
                      {"slot", toJson(operand.slot)}});
    if (operand.updates)
      result.back()["updates"] = *operand.updates;
  }
  return result;
}

static Json toJson(const EngineStep &step) {
  Json result = {{"name", step.name},
                 {"operation", step.operation},
                 {"after", step.after}};
  if (step.kind == EngineStep::Kind::Fallback) {
    result["kind"] = "fallback";
    result["family"] = step.family;
    result["reason"] = step.reason;
    result["attributes"] = Json::object();
    for (const auto &[key, value] : step.attributes)
      result["attributes"][key] = attributeToJson(value);
    result["inputs"] = toJson(step.inputs);
    result["outputs"] = toJson(step.outputs);
    return result;
  }
  result["kind"] = "launch";
  result["tactic"] = step.tactic;
  result["contract"] = step.contract;
  result["code_object"] = step.codeObject;
  result["kernel"] = step.kernel;
  result["grid"] = affineToJson(step.grid);
  result["block"] = step.block;
  result["dynamic_lds"] = step.dynamicLds;
  result["arguments"] = toJson(step.arguments);
  return result;
}

static Json toJson(const GuardBox &guards) {
  Json result = Json::object();
  for (const auto &[key, range] : guards)
    result[key] = {range.min, range.max};
  return result;
}

static Json decisionsToJson(const Engine &engine) {
  Json domain = Json::array(), nodes = Json::array();
  for (const GuardBox &box : engine.domain)
    domain.push_back(toJson(box));
  for (const DecisionNode &node : engine.decisions.nodes) {
    Json cases = Json::array();
    for (const DecisionCase &next : node.cases) {
      cases.push_back(
          {{"from", next.from},
           {"take", outcomeNames[static_cast<size_t>(next.kind)].str()}});
      if (next.kind != DecisionCase::Kind::Refuse)
        cases.back()["index"] = next.index;
    }
    nodes.push_back({{"dimension", guardNames[node.dimension].str()},
                     {"cases", std::move(cases)}});
  }
  return {{"domain", std::move(domain)},
          {"otherwise", "refuse"},
          {"nodes", std::move(nodes)}};
}

static Json toJson(const EnginePlan &plan) {
  Json steps = Json::array();
  for (const EngineStep &step : plan.steps)
    steps.push_back(toJson(step));
  return {{"name", plan.name},
          {"profile",
           {{"name", plan.profile.name},
            {"priority", plan.profile.priority},
            {"guards", toJson(plan.profile.guards)}}},
          {"bindings", plan.bindings},
          {"arena",
           {{"bytes", plan.arenaBytes}, {"alignment", plan.arenaAlignment}}},
          {"steps", std::move(steps)}};
}

std::string writeEngineJson(const Engine &engine) {
  Json files = Json::array(), codeObjects = Json::array(),
       bindings = Json::array(), plans = Json::array();
  for (const EngineFile &file : engine.files)
    files.push_back(
        {{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  for (const EngineCodeObject &object : engine.codeObjects) {
    Json kernels = Json::array();
    for (const EngineKernel &kernel : object.kernels)
      kernels.push_back(toJson(kernel));
    Json entry = {{"name", object.name},
                  {"sha256", object.sha256},
                  {"text_sha256", object.textSha256},
                  {"kernels", std::move(kernels)}};
    if (object.isLocked())
      entry["locked"] = {{"file", object.path}, {"bytes", *object.lockedBytes}};
    else
      entry["path"] = object.path;
    codeObjects.push_back(std::move(entry));
  }
  for (const EngineBinding &binding : engine.bindings)
    bindings.push_back(
        {{"name", binding.name},
         {"role", roleNames[static_cast<size_t>(binding.role)].str()},
         {"index", binding.index},
         {"type", name(binding.type)},
         {"shape", binding.shape},
         {"layout", binding.layout},
         {"bytes", binding.bytes}});
  for (const EnginePlan &plan : engine.plans)
    plans.push_back(toJson(plan));
  Json document = {{"format", engineFormat.str()},
                   {"id", engine.id},
                   {"name", engine.name},
                   {"target",
                    {{"architecture", engine.architecture},
                     {"wave_size", engine.waveSize},
                     {"code_object_version", engine.codeObjectVersion}}},
                   {"files", std::move(files)},
                   {"code_objects", std::move(codeObjects)},
                   {"bindings", std::move(bindings)},
                   {"weights", toJson(engine.weights, /*withId=*/true)},
                   {"plans", std::move(plans)},
                   {"decisions", decisionsToJson(engine)}};
  return json::print(document, 2) + "\n";
}

std::string computeWeightsId(const EngineWeights &weights) {
  std::string text = json::print(toJson(weights, /*withId=*/false), -1);
  return "nw_" + sha256Hex(StringRef(text)).substr(0, 24);
}

std::string computeEngineId(const Engine &engine) {
  Engine copy = engine;
  copy.id.clear();
  return "ne_" + sha256Hex(StringRef(writeEngineJson(copy))).substr(0, 24);
}

void finalizeEngine(Engine &engine, const BundleFiles &files) {
  engine.files.clear();
  for (const auto &[path, contents] : files)
    if (path != engineFileName)
      engine.files.push_back(
          {path, sha256Hex(StringRef(contents)), contents.size()});
  engine.weights.id = computeWeightsId(engine.weights);
  engine.id = computeEngineId(engine);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

using Elements = std::vector<Reader>;

Elements elements(std::optional<Reader> reader) {
  if (!reader)
    return {};
  return reader->array().value_or(Elements());
}

void readText(ObjectReader &object, StringRef key, std::string &to,
              bool mayBeEmpty = false) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::optional<std::string> text = member->string();
  if (!text)
    return;
  if (!isEngineText(*text, mayBeEmpty))
    member->fail(mayBeEmpty ? "a string without control characters"
                            : "a string that is not empty and has no control "
                              "characters");
  to = std::move(*text);
}

/// A prefix and so many lower-case hexadecimal digits.
void readHex(ObjectReader &object, StringRef key, StringRef prefix,
             size_t digits, std::string &to) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::optional<std::string> text = member->string();
  if (!text)
    return;
  StringRef rest = *text;
  bool good =
      rest.consume_front(prefix) && rest.size() == digits &&
      all_of(rest, [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); });
  if (!good)
    member->fail("\"" + prefix + "\" and " + Twine(digits) +
                 " lower-case hexadecimal digits");
  to = std::move(*text);
}

void readNumber(ObjectReader &object, StringRef key, uint64_t &to,
                uint64_t min = 0,
                uint64_t max = std::numeric_limits<uint64_t>::max()) {
  if (std::optional<Reader> member = object.required(key))
    if (std::optional<uint64_t> value = member->unsignedInteger(min, max))
      to = *value;
}

void readType(ObjectReader &object, StringRef key, ElementType &to) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::vector<StringRef> names;
  for (ElementType type : allElementTypes())
    names.push_back(elementTypeName(type));
  if (std::optional<std::string> text = member->choice(names))
    to = *parseElementType(*text);
}

void readShape(ObjectReader &object, StringRef key, std::vector<int64_t> &to) {
  for (const Reader &extent : elements(object.required(key)))
    to.push_back(extent.integer(0).value_or(0));
}

void readNumbers(ObjectReader &object, StringRef key,
                 std::vector<uint64_t> &to) {
  for (const Reader &value : elements(object.required(key)))
    to.push_back(value.unsignedInteger().value_or(0));
}

template <typename T>
void readTriple(ObjectReader &object, StringRef key, std::array<T, 3> &to) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::optional<Elements> values = member->array(3, 3);
  if (!values)
    return;
  for (size_t i = 0; i != 3; ++i)
    if constexpr (std::is_same_v<T, Affine>)
      to[i] = readAffine((*values)[i], 1, UINT32_MAX).value_or(1);
    else
      to[i] = (*values)[i].unsignedInteger(1, UINT32_MAX).value_or(1);
}

EngineKernel readKernel(const Reader &reader) {
  EngineKernel kernel;
  ObjectReader object(reader);
  readText(object, "symbol", kernel.symbol);
  readNumber(object, "kernarg_bytes", kernel.kernargBytes, 0, 65536);
  readNumber(object, "static_lds", kernel.staticLds, 0, UINT32_MAX);
  readNumber(object, "vgprs", kernel.vgprs, 0, 512);
  readNumber(object, "agprs", kernel.agprs, 0, 512);
  readNumber(object, "sgprs", kernel.sgprs, 0, 512);
  readNumber(object, "max_workgroup", kernel.maxWorkgroup, 1, 1024);
  for (const Reader &element : elements(object.required("arguments"))) {
    EngineKernelArgument argument;
    ObjectReader fields(element);
    readText(fields, "name", argument.name);
    readNumber(fields, "offset", argument.offset, 0, 65536);
    readNumber(fields, "bytes", argument.bytes, 1, 8);
    readType(fields, "type", argument.type);
    if (std::optional<Reader> member = fields.required("kind"))
      if (auto text = member->choice({"pointer", "value"}))
        argument.kind = *parseArgumentKind(*text);
    if (std::optional<Reader> member = fields.required("access"))
      if (auto text = member->choice({"read", "write", "readwrite", "value"}))
        argument.access = *parseAccess(*text);
    fields.finish();
    kernel.arguments.push_back(std::move(argument));
  }
  object.finish();
  return kernel;
}

EngineCodeObject readEngineCodeObject(const Reader &reader) {
  EngineCodeObject result;
  ObjectReader object(reader);
  readText(object, "name", result.name);
  if (std::optional<Reader> locked = object.optional("locked")) {
    ObjectReader fields(*locked);
    readText(fields, "file", result.path);
    result.lockedBytes = 0;
    readNumber(fields, "bytes", *result.lockedBytes, 1);
    fields.finish();
  } else {
    readText(object, "path", result.path);
  }
  readHex(object, "sha256", "", 64, result.sha256);
  readHex(object, "text_sha256", "", 64, result.textSha256);
  for (const Reader &element : elements(object.required("kernels")))
    result.kernels.push_back(readKernel(element));
  object.finish();
  return result;
}

/// Type, shape and layout of a tensor.
template <typename T> void readTensor(ObjectReader &object, T &entry) {
  readType(object, "type", entry.type);
  readShape(object, "shape", entry.shape);
  readText(object, "layout", entry.layout);
}

EngineBinding readBinding(const Reader &reader) {
  EngineBinding binding;
  ObjectReader object(reader);
  readText(object, "name", binding.name);
  if (std::optional<Reader> member = object.required("role"))
    if (auto text = member->choice(roleNames))
      binding.role =
          static_cast<BindingRole>(find(roleNames, *text) - roleNames);
  readNumber(object, "index", binding.index);
  readTensor(object, binding);
  readNumber(object, "bytes", binding.bytes);
  object.finish();
  return binding;
}

PackRecipe readPack(const Reader &reader) {
  PackRecipe recipe;
  ObjectReader object(reader);
  for (const Reader &element : elements(object.required("sources"))) {
    PackSource source;
    ObjectReader fields(element);
    readText(fields, "checkpoint", source.checkpoint);
    readType(fields, "type", source.type);
    readShape(fields, "shape", source.shape);
    fields.finish();
    recipe.sources.push_back(std::move(source));
  }
  if (std::optional<Reader> member = object.required("concat_axis"))
    recipe.concatAxis = member->integer(0, 16).value_or(0);
  for (const Reader &element : elements(object.required("steps"))) {
    PackStep step;
    ObjectReader fields(element);
    auto has = [&](const char *key) {
      return element.get().is_object() && element.get().contains(key);
    };
    if (has("cast")) {
      step.kind = PackStep::Kind::Cast;
      readType(fields, "cast", step.type);
    } else if (has("reshape")) {
      step.kind = PackStep::Kind::Reshape;
      readShape(fields, "reshape", step.shape);
    } else if (has("reorder")) {
      step.kind = PackStep::Kind::Reorder;
      readText(fields, "reorder", step.layout);
    } else if (has("restore")) {
      step.kind = PackStep::Kind::Restore;
      readText(fields, "restore", step.layout);
    } else {
      readText(fields, "layout", step.layout);
    }
    fields.finish();
    recipe.steps.push_back(std::move(step));
  }
  object.finish();
  return recipe;
}

EngineWeights readWeights(const Reader &reader) {
  EngineWeights weights;
  ObjectReader object(reader);
  readNumber(object, "bytes", weights.bytes);
  readNumber(object, "alignment", weights.alignment, 1, 65536);
  readHex(object, "id", "nw_", 24, weights.id);
  for (const Reader &element : elements(object.required("entries"))) {
    EngineWeight weight;
    ObjectReader fields(element);
    readText(fields, "name", weight.name);
    readNumber(fields, "offset", weight.offset);
    readNumber(fields, "bytes", weight.bytes);
    readTensor(fields, weight);
    if (std::optional<Reader> member = fields.required("pack"))
      weight.pack = readPack(*member);
    fields.finish();
    weights.entries.push_back(std::move(weight));
  }
  object.finish();
  return weights;
}

EngineSlot readSlot(const Reader &reader) {
  using Kind = EngineSlot::Kind;
  EngineSlot slot;
  ObjectReader object(reader);
  std::optional<Reader> member = object.required("kind");
  if (!member)
    return slot;
  static constexpr StringRef kinds[] = {"binding", "weight", "arena", "value",
                                        "null"};
  std::optional<std::string> text = member->choice(kinds);
  if (!text)
    return slot;
  slot.kind = static_cast<Kind>(find(kinds, *text) - kinds);
  if (slot.kind == Kind::Binding || slot.kind == Kind::Weight)
    readNumber(object, "index", slot.index);
  if (slot.kind == Kind::Value) {
    readType(object, "type", slot.type);
    readNumber(object, "bits", slot.bits);
    if (std::optional<Reader> follows = object.optional("follows"))
      slot.follows = readAffine(*follows, 1, 0);
  } else if (slot.kind != Kind::Null) {
    readNumber(object, "offset", slot.offset);
    readNumber(object, "bytes", slot.bytes);
  }
  object.finish();
  return slot;
}

std::vector<EngineSlot> readSlots(ObjectReader &object, StringRef key) {
  std::vector<EngineSlot> slots;
  for (const Reader &element : elements(object.required(key)))
    slots.push_back(readSlot(element));
  return slots;
}

std::vector<EngineOperand> readOperands(ObjectReader &object, StringRef key) {
  std::vector<EngineOperand> operands;
  for (const Reader &element : elements(object.required(key))) {
    EngineOperand &operand = operands.emplace_back();
    ObjectReader fields(element);
    readText(fields, "name", operand.name);
    readTensor(fields, operand);
    if (std::optional<Reader> member = fields.required("slot"))
      operand.slot = readSlot(*member);
    if (std::optional<Reader> member = fields.optional("updates"))
      operand.updates = member->unsignedInteger();
    fields.finish();
  }
  return operands;
}

EngineStep readStep(const Reader &reader) {
  EngineStep step;
  ObjectReader object(reader);
  std::optional<Reader> member = object.required("kind");
  std::optional<std::string> kind;
  if (member)
    kind = member->choice({"launch", "fallback"});
  if (!kind)
    return step;
  readText(object, "name", step.name);
  readText(object, "operation", step.operation);
  readNumbers(object, "after", step.after);
  if (*kind == "fallback") {
    step.kind = EngineStep::Kind::Fallback;
    readText(object, "family", step.family, /*mayBeEmpty=*/true);
    readText(object, "reason", step.reason);
    if (std::optional<Reader> member = object.required("attributes"))
      for (auto &[key, value] : ObjectReader(*member).members())
        if (std::optional<AttributeValue> attribute = readAttribute(value))
          step.attributes[key] = std::move(*attribute);
    step.inputs = readOperands(object, "inputs");
    step.outputs = readOperands(object, "outputs");
  } else {
    readText(object, "tactic", step.tactic);
    readHex(object, "contract", "nk_", 24, step.contract);
    readNumber(object, "code_object", step.codeObject);
    readNumber(object, "kernel", step.kernel);
    readTriple(object, "grid", step.grid);
    readTriple(object, "block", step.block);
    readNumber(object, "dynamic_lds", step.dynamicLds, 0, UINT32_MAX);
    step.arguments = readSlots(object, "arguments");
  }
  object.finish();
  return step;
}

DecisionNode readDecision(const Reader &reader) {
  using Kind = DecisionCase::Kind;
  DecisionNode node;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("dimension"))
    if (auto text = member->choice(guardNames))
      node.dimension = size_t(find(guardNames, *text) - guardNames);
  for (const Reader &element : elements(object.required("cases"))) {
    DecisionCase &next = node.cases.emplace_back();
    ObjectReader fields(element);
    readNumber(fields, "from", next.from);
    if (std::optional<Reader> member = fields.required("take"))
      if (auto text = member->choice(outcomeNames))
        next.kind = static_cast<Kind>(find(outcomeNames, *text) - outcomeNames);
    if (next.kind != Kind::Refuse)
      readNumber(fields, "index", next.index);
    fields.finish();
  }
  object.finish();
  return node;
}

EnginePlan readPlan(const Reader &reader) {
  EnginePlan plan;
  ObjectReader object(reader);
  readText(object, "name", plan.name);
  if (std::optional<Reader> member = object.required("profile")) {
    ObjectReader fields(*member);
    readText(fields, "name", plan.profile.name);
    if (std::optional<Reader> priority = fields.required("priority"))
      plan.profile.priority = priority->integer().value_or(0);
    if (std::optional<Reader> guards = fields.required("guards"))
      plan.profile.guards = readGuardBox(*guards);
    fields.finish();
  }
  readNumbers(object, "bindings", plan.bindings);
  if (std::optional<Reader> member = object.required("arena")) {
    ObjectReader fields(*member);
    readNumber(fields, "bytes", plan.arenaBytes);
    readNumber(fields, "alignment", plan.arenaAlignment, 1, 65536);
    fields.finish();
  }
  for (const Reader &element : elements(object.required("steps")))
    plan.steps.push_back(readStep(element));
  object.finish();
  return plan;
}

} // namespace

Expected<Engine> readEngineJson(StringRef text, StringRef path) {
  Expected<json::Value> document = json::parse(text, path);
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics(path);
  Engine engine;
  ObjectReader object(Reader(*document, "", diagnostics));
  // The version first: another format may differ in every other key.
  if (std::optional<Reader> member = object.required("format"))
    if (!member->choice({engineFormat}))
      return diagnostics.takeError();
  readHex(object, "id", "ne_", 24, engine.id);
  readText(object, "name", engine.name);
  if (std::optional<Reader> member = object.required("target")) {
    ObjectReader fields(*member);
    readText(fields, "architecture", engine.architecture);
    readNumber(fields, "wave_size", engine.waveSize);
    readNumber(fields, "code_object_version", engine.codeObjectVersion);
    fields.finish();
  }
  for (const Reader &element : elements(object.required("files"))) {
    EngineFile file;
    ObjectReader fields(element);
    readText(fields, "path", file.path);
    readHex(fields, "sha256", "", 64, file.sha256);
    readNumber(fields, "bytes", file.bytes);
    fields.finish();
    engine.files.push_back(std::move(file));
  }
  for (const Reader &element : elements(object.required("code_objects")))
    engine.codeObjects.push_back(readEngineCodeObject(element));
  for (const Reader &element : elements(object.required("bindings")))
    engine.bindings.push_back(readBinding(element));
  if (std::optional<Reader> member = object.required("weights"))
    engine.weights = readWeights(*member);
  for (const Reader &element : elements(object.required("plans")))
    engine.plans.push_back(readPlan(element));
  if (std::optional<Reader> member = object.required("decisions")) {
    ObjectReader fields(*member);
    for (const Reader &element : elements(fields.required("domain")))
      engine.domain.push_back(readGuardBox(element));
    if (std::optional<Reader> otherwise = fields.required("otherwise"))
      (void)otherwise->choice({"refuse"});
    for (const Reader &element : elements(fields.required("nodes")))
      engine.decisions.nodes.push_back(readDecision(element));
    fields.finish();
  }
  object.finish();
  if (Error error = diagnostics.takeError())
    return error;
  return engine;
}

} // namespace netra
