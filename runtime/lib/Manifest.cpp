//===- Manifest.cpp - engine.json as typed values -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <set>

using namespace netra::rt;
using nlohmann::json;

const char *const netra::rt::dimensionNames[dimensionCount] = {
    "m", "batch", "sequence", "routed_rows", "tensor_parallel"};

uint64_t netra::rt::elementBytes(std::string_view type) {
  struct Size {
    std::string_view name;
    uint64_t bytes;
  };
  static constexpr Size sizes[] = {
      {"bf16", 2},   {"f16", 2}, {"f32", 4}, {"f64", 8}, {"f8E4M3FN", 1},
      {"f8E5M2", 1}, {"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2},
      {"i32", 4},    {"u32", 4}, {"i64", 8}, {"u64", 8}};
  for (const Size &size : sizes)
    if (size.name == type)
      return size.bytes;
  return 0;
}

bool ManifestStep::varies() const {
  auto follows = [](const ManifestSlot &slot) {
    return !slot.follows.isConstant();
  };
  auto isFixed = [](const ManifestAffine &axis) { return axis.isConstant(); };
  return !std::all_of(grid.begin(), grid.end(), isFixed) ||
         std::any_of(arguments.begin(), arguments.end(), follows);
}

namespace {

/// A value of the document with the way to it. The first failure anywhere is
/// kept in `error`; after it, getters return neutral values, so that callers
/// need not check each one.
class Node {
public:
  Node(const json &value, std::string &error) : value(value), error(error) {}

  /// Requires an object with exactly these keys; those starting with '?' may be
  /// absent.
  void keys(std::initializer_list<std::string_view> names) const {
    if (!expect(value.is_object(), "an object"))
      return;
    for (std::string_view name : names)
      if (name[0] != '?' && !value.contains(name))
        fail(cat("expected a key \"", std::string(name), '"'));
    for (const auto &[key, unused] : value.items()) {
      bool known = false;
      for (std::string_view name : names)
        known |= key == (name[0] == '?' ? name.substr(1) : name);
      if (!known)
        fail(cat("unknown key \"", key,
                 "\"; is the engine newer than this runtime?"));
    }
  }

  bool has(std::string_view key) const {
    return value.is_object() && value.contains(key);
  }

  bool isObject() const { return value.is_object(); }

  Node operator[](std::string_view key) const {
    static const json none;
    auto found = value.is_object() ? value.find(key) : value.end();
    return {found != value.end() ? *found : none, *this, key, 0};
  }

  std::vector<Node> array() const {
    std::vector<Node> result;
    if (expect(value.is_array(), "an array"))
      for (size_t i = 0; i < value.size(); ++i)
        result.push_back({value[i], *this, {}, i});
    return result;
  }

  /// Entries of an object, in the order of the keys.
  std::vector<std::pair<std::string, Node>> entries() const {
    std::vector<std::pair<std::string, Node>> result;
    if (expect(value.is_object(), "an object"))
      for (auto it = value.begin(); it != value.end(); ++it)
        result.push_back({it.key(), Node(*it, *this, it.key(), 0)});
    return result;
  }

  std::string string() const {
    if (!expect(value.is_string(), "a string"))
      return "";
    const std::string &text = value.get_ref<const std::string &>();
    if (text.find('\0') != std::string::npos)
      fail("expected a string without NUL characters");
    return text;
  }

  std::string nonEmpty() const {
    std::string text = string();
    if (text.empty())
      fail("expected a string that is not empty");
    return text;
  }

  /// `prefix` and so many lower-case hexadecimal digits.
  std::string hex(std::string_view prefix, size_t digits) const {
    std::string text = string();
    bool good = text.size() == prefix.size() + digits &&
                text.compare(0, prefix.size(), prefix) == 0;
    for (size_t i = prefix.size(); good && i < text.size(); ++i)
      good = (text[i] >= '0' && text[i] <= '9') ||
             (text[i] >= 'a' && text[i] <= 'f');
    if (!good)
      fail(cat("expected ", std::string(prefix), digits,
               " lower-case hexadecimal digits, found \"", text, '"'));
    return text;
  }

  uint64_t number(uint64_t least = 0, uint64_t most = UINT64_MAX) const {
    if (!expect(value.is_number_unsigned(), "an unsigned integer"))
      return least;
    uint64_t result = value.get<uint64_t>();
    if (result < least || result > most) {
      fail(cat("expected ", least, " to ", most, ", found ", result));
      return least;
    }
    return result;
  }

  int64_t signedNumber() const {
    if (!expect(value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<uint64_t>() > uint64_t(INT64_MAX)),
                "a 64-bit integer"))
      return 0;
    return value.get<int64_t>();
  }

  template <typename T>
  T choice(
      std::initializer_list<std::pair<std::string_view, T>> options) const {
    std::string text = string(), list;
    for (const auto &[name, result] : options) {
      if (name == text)
        return result;
      list += cat(list.empty() ? "\"" : ", \"", std::string(name), '"');
    }
    fail(cat("expected one of ", list, ", found \"", text, '"'));
    return options.begin()->second;
  }

  /// A boolean, an integer, a string or {"f64": "0x<16 digits of its bits>"}.
  ManifestAttribute attribute(const std::string &name) const {
    ManifestAttribute result;
    result.name = name;
    if (value.is_boolean()) {
      result.value.kind = NETRA_ATTRIBUTE_BOOLEAN;
      result.value.value.boolean = value.get<bool>();
    } else if (value.is_string()) {
      result.value.kind = NETRA_ATTRIBUTE_TEXT;
      result.text = string();
    } else if (value.is_object()) {
      keys({"f64"});
      std::string digits = (*this)["f64"].hex("0x", 16);
      result.value.kind = NETRA_ATTRIBUTE_NUMBER;
      if (error.empty())
        result.value.value.number =
            std::bit_cast<double>(std::stoull(digits, nullptr, 16));
    } else {
      result.value.kind = NETRA_ATTRIBUTE_INTEGER;
      result.value.value.integer = signedNumber();
    }
    return result;
  }

  std::string type() const {
    std::string text = string();
    if (!elementBytes(text))
      fail(cat("expected an element type, found \"", text, '"'));
    return text;
  }

  std::array<uint64_t, 3> triple() const {
    std::array<uint64_t, 3> result = {1, 1, 1};
    std::vector<Node> items = array();
    if (items.size() != 3) {
      fail(cat("expected 3 numbers, found ", items.size()));
      return result;
    }
    for (int i = 0; i < 3; ++i)
      result[i] = items[i].number(1, UINT32_MAX);
    return result;
  }

  std::vector<int64_t> shape() const {
    std::vector<int64_t> result;
    for (const Node &item : array())
      result.push_back(int64_t(item.number(0, INT64_MAX)));
    return result;
  }

  std::vector<uint64_t> numbers() const {
    std::vector<uint64_t> result;
    for (const Node &item : array())
      result.push_back(item.number());
    return result;
  }

  void fail(std::string what) const {
    if (error.empty())
      error = cat("engine.json: ", pointer(), ": ", std::move(what));
  }

private:
  Node(const json &value, const Node &parent, std::string_view key,
       size_t index)
      : value(value), error(parent.error), path(parent.path) {
    // Keys of this format need no escaping.
    path += '/';
    path += key.data() ? std::string(key) : std::to_string(index);
  }

  bool expect(bool condition, const char *what) const {
    if (!condition)
      fail(cat("expected ", what, ", found ",
               value.is_null() ? "nothing" : value.type_name()));
    return condition;
  }

  std::string pointer() const { return path.empty() ? "/" : path; }

  const json &value;
  std::string &error;
  std::string path;
};

ManifestKernel readKernel(const Node &node) {
  node.keys({"symbol", "kernarg_bytes", "static_lds", "vgprs", "agprs", "sgprs",
             "max_workgroup", "arguments"});
  ManifestKernel kernel;
  kernel.symbol = node["symbol"].nonEmpty();
  kernel.kernargBytes = node["kernarg_bytes"].number(0, 65536);
  kernel.staticLds = node["static_lds"].number(0, UINT32_MAX);
  kernel.vgprs = node["vgprs"].number(0, 512);
  kernel.agprs = node["agprs"].number(0, 512);
  kernel.sgprs = node["sgprs"].number(0, 512);
  kernel.maxWorkgroup = node["max_workgroup"].number(1, 1024);
  for (const Node &item : node["arguments"].array()) {
    item.keys({"name", "offset", "bytes", "kind", "type", "access"});
    ManifestArgument argument;
    argument.name = item["name"].nonEmpty();
    argument.offset = item["offset"].number();
    argument.bytes = item["bytes"].number(1, 8);
    argument.isPointer =
        item["kind"].choice<bool>({{"pointer", true}, {"value", false}});
    argument.type = item["type"].type();
    argument.access =
        item["access"].choice<Access>({{"read", Access::Read},
                                       {"write", Access::Write},
                                       {"readwrite", Access::ReadWrite},
                                       {"value", Access::Value}});
    kernel.arguments.push_back(std::move(argument));
  }
  return kernel;
}

/// A number from 1 on, or {"constant": C, DIMENSION: FACTOR, …}.
ManifestAffine readAffine(const Node &node) {
  ManifestAffine affine;
  if (!node.isObject()) {
    affine.constant = node.number(1, UINT32_MAX);
    return affine;
  }
  node.keys({"constant", "?m", "?batch", "?sequence", "?routed_rows",
             "?tensor_parallel"});
  affine.constant = node["constant"].number();
  for (unsigned i = 0; i < dimensionCount; ++i)
    if (node.has(dimensionNames[i]))
      affine.factors[i] = node[dimensionNames[i]].number(1);
  if (affine.isConstant())
    node.fail("expected a number, or a factor of a dimension");
  return affine;
}

ManifestSlot readSlot(const Node &node) {
  using Kind = ManifestSlot::Kind;
  ManifestSlot slot;
  slot.kind = node["kind"].choice<Kind>({{"null", Kind::Null},
                                         {"binding", Kind::Binding},
                                         {"weight", Kind::Weight},
                                         {"arena", Kind::Arena},
                                         {"value", Kind::Value}});
  switch (slot.kind) {
  case Kind::Binding:
  case Kind::Weight:
    node.keys({"kind", "index", "offset", "bytes"});
    slot.index = node["index"].number();
    break;
  case Kind::Arena:
    node.keys({"kind", "offset", "bytes"});
    break;
  case Kind::Value:
    node.keys({"kind", "type", "bits", "?follows"});
    slot.type = node["type"].type();
    slot.bits = node["bits"].number();
    if (node.has("follows")) {
      slot.follows = readAffine(node["follows"]);
      if (slot.follows.isConstant())
        node["follows"].fail("expected a factor of a dimension");
    }
    return slot;
  case Kind::Null:
    node.keys({"kind"});
    return slot;
  }
  slot.offset = node["offset"].number();
  slot.bytes = node["bytes"].number();
  return slot;
}

std::vector<ManifestSlot> readSlots(const Node &node) {
  std::vector<ManifestSlot> slots;
  for (const Node &item : node.array())
    slots.push_back(readSlot(item));
  return slots;
}

std::vector<ManifestOperand> readOperands(const Node &node) {
  std::vector<ManifestOperand> operands;
  for (const Node &item : node.array()) {
    item.keys({"name", "type", "shape", "layout", "slot", "?updates"});
    ManifestOperand operand;
    operand.name = item["name"].nonEmpty();
    operand.type = item["type"].type();
    operand.shape = item["shape"].shape();
    operand.layout = item["layout"].nonEmpty();
    operand.slot = readSlot(item["slot"]);
    if (item.has("updates"))
      operand.updates = item["updates"].number(0, UINT32_MAX);
    operands.push_back(std::move(operand));
  }
  return operands;
}

ManifestStep readStep(const Node &node) {
  ManifestStep step;
  step.kind = node["kind"].choice<netra_step_kind>(
      {{"launch", NETRA_STEP_LAUNCH}, {"fallback", NETRA_STEP_FALLBACK}});
  step.name = node["name"].nonEmpty();
  step.operation = node["operation"].nonEmpty();
  step.after = node["after"].numbers();
  if (step.kind == NETRA_STEP_FALLBACK) {
    node.keys({"kind", "name", "operation", "family", "reason", "attributes",
               "inputs", "outputs", "after"});
    step.family = node["family"].string();
    step.reason = node["reason"].nonEmpty();
    for (const auto &[key, item] : node["attributes"].entries())
      step.attributes.push_back(item.attribute(key));
    step.inputs = readOperands(node["inputs"]);
    step.outputs = readOperands(node["outputs"]);
    return step;
  }
  node.keys({"kind", "name", "operation", "tactic", "contract", "code_object",
             "kernel", "grid", "block", "dynamic_lds", "after", "arguments"});
  step.tactic = node["tactic"].string();
  step.contract = node["contract"].string();
  step.codeObject = node["code_object"].number();
  step.kernel = node["kernel"].number();
  std::vector<Node> grid = node["grid"].array();
  if (grid.size() != 3)
    node["grid"].fail(cat("expected 3 numbers, found ", grid.size()));
  else
    for (int i = 0; i < 3; ++i)
      step.grid[i] = readAffine(grid[i]);
  step.block = node["block"].triple();
  step.dynamicLds = node["dynamic_lds"].number(0, UINT32_MAX);
  step.arguments = readSlots(node["arguments"]);
  return step;
}

Guards readGuards(const Node &node) {
  Guards guards;
  guards.fill({0, UINT64_MAX});
  for (const auto &[key, item] : node.entries()) {
    unsigned dimension = 0;
    while (dimension < dimensionCount && key != dimensionNames[dimension])
      ++dimension;
    if (dimension == dimensionCount) {
      item.fail("a guard on a dimension that this runtime cannot check; "
                "expected m, batch, sequence, routed_rows or tensor_parallel");
      continue;
    }
    std::vector<uint64_t> range = item.numbers();
    if (range.size() != 2 || range[0] > range[1]) {
      item.fail("expected [min, max] with min <= max");
      continue;
    }
    guards[dimension] = {range[0], range[1]};
  }
  return guards;
}

ManifestDecision readDecision(const Node &node) {
  using Kind = ManifestCase::Kind;
  ManifestDecision decision;
  node.keys({"dimension", "cases"});
  decision.dimension =
      node["dimension"].choice<unsigned>({{dimensionNames[0], 0},
                                          {dimensionNames[1], 1},
                                          {dimensionNames[2], 2},
                                          {dimensionNames[3], 3},
                                          {dimensionNames[4], 4}});
  for (const Node &item : node["cases"].array()) {
    ManifestCase next;
    next.from = item["from"].number();
    next.kind = item["take"].choice<Kind>(
        {{"refuse", Kind::Refuse}, {"plan", Kind::Plan}, {"node", Kind::Node}});
    if (next.kind == Kind::Refuse) {
      item.keys({"from", "take"});
    } else {
      item.keys({"from", "take", "index"});
      next.index = item["index"].number();
    }
    decision.cases.push_back(next);
  }
  return decision;
}

ManifestPlan readPlan(const Node &node) {
  node.keys({"name", "profile", "bindings", "arena", "steps"});
  ManifestPlan plan;
  plan.name = node["name"].nonEmpty();
  Node profile = node["profile"];
  profile.keys({"name", "priority", "guards"});
  plan.profile = profile["name"].nonEmpty();
  plan.priority = profile["priority"].signedNumber();
  plan.guards = readGuards(profile["guards"]);
  plan.bindings = node["bindings"].numbers();
  Node arena = node["arena"];
  arena.keys({"bytes", "alignment"});
  plan.arenaBytes = arena["bytes"].number();
  plan.arenaAlignment = arena["alignment"].number(1, 65536);
  for (const Node &item : node["steps"].array())
    plan.steps.push_back(readStep(item));
  return plan;
}

ManifestWeights readWeights(const Node &node) {
  node.keys({"bytes", "alignment", "id", "entries"});
  ManifestWeights weights;
  weights.bytes = node["bytes"].number();
  weights.alignment = node["alignment"].number(1, 65536);
  weights.id = node["id"].string();
  for (const Node &item : node["entries"].array()) {
    // How an entry is packed concerns only the packer.
    item.keys({"name", "offset", "bytes", "type", "shape", "layout", "pack"});
    ManifestWeight weight;
    weight.name = item["name"].nonEmpty();
    weight.offset = item["offset"].number();
    weight.bytes = item["bytes"].number();
    weight.type = item["type"].type();
    weight.shape = item["shape"].shape();
    weight.layout = item["layout"].nonEmpty();
    weights.entries.push_back(std::move(weight));
  }
  if (!weights.entries.empty() || !weights.id.empty())
    node["id"].hex("nw_", 24);
  return weights;
}

void readManifest(const Node &root, Manifest &manifest) {
  // The version first: a later format may differ in every other key.
  if (std::string format = root["format"].string(); format != "netra.engine/1")
    return root["format"].fail(
        cat("expected \"netra.engine/1\", found \"", format, '"'));
  root.keys({"format", "id", "name", "target", "files", "code_objects",
             "bindings", "weights", "plans", "decisions"});
  manifest.id = root["id"].hex("ne_", 24);
  manifest.name = root["name"].nonEmpty();
  Node target = root["target"];
  target.keys({"architecture", "wave_size", "code_object_version"});
  manifest.architecture = target["architecture"].nonEmpty();
  manifest.waveSize = target["wave_size"].number();
  manifest.codeObjectVersion = target["code_object_version"].number();
  for (const Node &item : root["files"].array()) {
    item.keys({"path", "sha256", "bytes"});
    manifest.files.push_back({item["path"].nonEmpty(),
                              item["sha256"].hex("", 64),
                              item["bytes"].number()});
  }
  for (const Node &item : root["code_objects"].array()) {
    // The bytes are in the bundle, or locked.
    ManifestCodeObject object;
    object.isLocked = item.has("locked");
    item.keys({"name", object.isLocked ? "locked" : "path", "sha256",
               "text_sha256", "kernels"});
    object.name = item["name"].nonEmpty();
    if (object.isLocked) {
      Node locked = item["locked"];
      locked.keys({"file", "bytes"});
      object.path = locked["file"].nonEmpty();
      object.lockedBytes = locked["bytes"].number(1);
    } else {
      object.path = item["path"].nonEmpty();
    }
    object.sha256 = item["sha256"].hex("", 64);
    object.textSha256 = item["text_sha256"].hex("", 64);
    for (const Node &kernel : item["kernels"].array())
      object.kernels.push_back(readKernel(kernel));
    manifest.codeObjects.push_back(std::move(object));
  }
  for (const Node &item : root["bindings"].array()) {
    item.keys({"name", "role", "index", "type", "shape", "layout", "bytes"});
    ManifestBinding binding;
    binding.name = item["name"].nonEmpty();
    binding.role = item["role"].choice<netra_role>({{"input", NETRA_INPUT},
                                                    {"output", NETRA_OUTPUT},
                                                    {"state", NETRA_STATE}});
    binding.index = item["index"].number(0, UINT32_MAX);
    binding.type = item["type"].type();
    binding.shape = item["shape"].shape();
    binding.layout = item["layout"].nonEmpty();
    binding.bytes = item["bytes"].number();
    manifest.bindings.push_back(std::move(binding));
  }
  manifest.weights = readWeights(root["weights"]);
  for (const Node &item : root["plans"].array())
    manifest.plans.push_back(readPlan(item));
  Node decisions = root["decisions"];
  decisions.keys({"domain", "otherwise", "nodes"});
  for (const Node &item : decisions["domain"].array())
    (void)readGuards(item); // concerns only the compiler
  (void)decisions["otherwise"].choice<int>({{"refuse", 0}});
  for (const Node &item : decisions["nodes"].array())
    manifest.decisions.push_back(readDecision(item));
}

/// Rejects repeated keys, which JSON readers resolve in different ways.
class DuplicateFinder {
public:
  bool operator()(int, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == json::parse_event_t::object_end && !open.empty())
      open.pop_back();
    else if (event == json::parse_event_t::key && !open.empty() &&
             !open.back().insert(parsed.get<std::string>()).second &&
             duplicate.empty())
      duplicate = parsed.get<std::string>();
    return true;
  }
  std::string duplicate;

private:
  std::vector<std::set<std::string>> open;
};

} // namespace

Status netra::rt::parseManifest(std::string_view text, Manifest &manifest) {
  DuplicateFinder duplicates;
  json document = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t event, json &parsed) {
        return duplicates(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (document.is_discarded())
    return {NETRA_MANIFEST,
            "engine.json: expected a JSON document; the file is damaged or cut "
            "off"};
  if (!duplicates.duplicate.empty())
    return {NETRA_MANIFEST, cat("engine.json: the key \"", duplicates.duplicate,
                                "\" occurs twice in one object")};
  std::string error;
  Node root(document, error);
  readManifest(root, manifest);
  if (!error.empty())
    return {NETRA_MANIFEST, std::move(error)};

  // The id is the hash of the document with an empty id.
  std::string quoted = cat("\"id\": \"", manifest.id, '"');
  size_t at = text.find(quoted);
  if (at == std::string_view::npos)
    return {NETRA_MANIFEST, "engine.json: the id is not written in the "
                            "canonical form \"id\": \"ne_…\""};
  Sha256 sha;
  sha.update(text.substr(0, at));
  sha.update("\"id\": \"\"");
  sha.update(text.substr(at + quoted.size()));
  std::string id = "ne_" + sha.finish().substr(0, 24);
  if (id != manifest.id)
    return {NETRA_MANIFEST,
            cat("engine.json: /id: the contents hash to ", id, ", not to ",
                manifest.id, "; the file was changed after it was written")};
  return Status::ok();
}
