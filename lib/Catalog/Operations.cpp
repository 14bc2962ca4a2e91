//===- Operations.cpp - What operations are made of -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Operations.h"

#include "Netra/Catalog/Vocabulary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// The definitions
//===----------------------------------------------------------------------===//

namespace {
/// A definition as it is written below. Lists are separated by blanks.
struct Written {
  const char *name, *family, *operation;
  const char *dimensions;
  /// ROLE[EXTENT, EXTENT], with '>' before the role of a result and '?' after
  /// one that is optional. The first extent of "..M" is the product of several;
  /// of "V : M", at most M of V are touched; [...] is any shape;
  /// [OPERAND / ATTRIBUTE] is the scale of an operand.
  std::vector<const char *> operands;
  const char *attributes, *optionalAttributes;
  std::vector<OperationDefinition::Derived> derived;
  std::vector<const char *> requirements;
  const char *flop;
  const char *factors;
};
} // namespace

/// The values of an attribute that start with `prefix`.
static std::vector<std::string> choicesOf(StringRef attribute,
                                          StringRef prefix) {
  std::vector<std::string> values;
  for (StringRef choice : findAttribute(attribute)->choices)
    if (choice.starts_with(prefix))
      values.push_back(choice.str());
  return values;
}

static std::vector<Written> writtenOperations() {
  // Halves of the columns become one: gate and up.
  OperationDefinition::Derived gatedEpilogue = {
      "PARTS", "epilogue", choicesOf("epilogue", "gated_"), 2, 1};
  OperationDefinition::Derived gatedExperts = {
      "PARTS", "activation", {"none"}, 1, 2};
  OperationDefinition::Derived sharedSlot = {
      "SHARED", "shared_expert", {"none"}, 0, 1};
  OperationDefinition::Derived sharedGate = {
      "GATED", "shared_expert", {"sigmoid"}, 1, 0};
  const char *normed = "epsilon weight_offset accumulation";
  const char *product = "accumulation x_block_scale weight_block_scale";
  const char *gatedProduct =
      "activation accumulation x_block_scale weight_block_scale";
  return {
      {"netra.activation",
       "elementwise",
       "activation",
       "M N",
       {"x[..M, N]", ">result[..M, N]"},
       "activation",
       "",
       {},
       {},
       "M * N * ACTIVATION",
       ""},
      {"netra.add",
       "elementwise",
       "add",
       "M N",
       {"lhs[..M, N]", "rhs[...]", ">result[..M, N]"},
       "",
       "",
       {},
       {},
       "M * N",
       ""},
      {"netra.argmax",
       "vocabulary",
       "argmax",
       "M V",
       {"logits[M, V]", ">result[M]", ">value?[M]"},
       "",
       "",
       {},
       {},
       "0",
       ""},
      {"netra.cast",
       "elementwise",
       "cast",
       "M N",
       {"x[..M, N]", ">result[..M, N]"},
       "",
       "",
       {},
       {},
       "0",
       ""},
      {"netra.dense",
       "dense",
       "dense",
       "M N K",
       {"x[M, K]", "weight[N, K]", "x_scale?[x / x_block_scale]",
        "weight_scale?[weight / weight_block_scale]", "bias?[N]",
        "residual?[M, N / PARTS]", ">result[M, N / PARTS]"},
       "epilogue accumulation",
       "x_block_scale weight_block_scale",
       {gatedEpilogue},
       {"N % PARTS == 0", "HAS_X_SCALE == HAS_WEIGHT_SCALE"},
       "M * N * (2 * K + COLUMNS_X_SCALE + COLUMNS_WEIGHT_SCALE + HAS_BIAS) + "
       "M * (N / PARTS) * (ACTIVATION + PARTS - 1 + HAS_RESIDUAL)",
       "x weight"},
      {"netra.embedding",
       "vocabulary",
       "embedding",
       "M V N",
       {"ids[M]", "table[V : M, N]", ">result[M, N]"},
       "scale",
       "",
       {},
       {},
       "M * N * SCALED",
       ""},
      {"netra.gated",
       "activation",
       "gated",
       "M N",
       {"gate?[M, N]", "up?[M, N]", "packed?[M, 2 * N]", ">result[M, N]",
        ">result_scale?[result / result_block_scale]", ">rounded?[M, N]"},
       "activation activation_rounding",
       "result_block_scale",
       {},
       {"HAS_GATE == HAS_UP", "HAS_GATE + HAS_PACKED == 1",
        "HAS_ROUNDED <= HAS_RESULT_SCALE"},
       "M * N * (ACTIVATION + 1 + HAS_RESULT_SCALE) + ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.gated_rms_norm",
       "norm",
       "gated_rms_norm",
       "M H N",
       {"x[M, H * N]", "gate[M, H * N]", "weight[N]", ">result[M, H * N]",
        ">result_scale?[result / result_block_scale]", ">rounded?[M, H * N]"},
       "epsilon weight_offset activation accumulation",
       "result_block_scale",
       {},
       {"HAS_ROUNDED <= HAS_RESULT_SCALE"},
       "M * H * (N * (5 + ACTIVATION + HAS_RESULT_SCALE) + 4) + N * OFFSET + "
       "ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.layer_norm",
       "norm",
       "layer_norm",
       "M N",
       {"x[M, N]", "weight[N]", "bias?[N]", "residual?[M, N]", ">result[M, N]",
        ">result_scale?[result / result_block_scale]", ">sum?[M, N]",
        ">rounded?[M, N]"},
       normed,
       "result_block_scale",
       {},
       {"HAS_SUM <= HAS_RESIDUAL", "HAS_ROUNDED <= HAS_RESULT_SCALE"},
       "M * (N * (6 + HAS_BIAS + HAS_RESIDUAL + HAS_RESULT_SCALE) + 5) + N * "
       "OFFSET + ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.layout_convert",
       "layout",
       "layout_convert",
       "B M N",
       {"x[..B, M, N]", ">result[..B, M, N]"},
       "",
       "",
       {},
       {},
       "0",
       ""},
      {"netra.moe_activation",
       "moe",
       "activation",
       "M S N",
       {"x[M, S, 2 * N]", ">result[M, S, N]",
        ">result_scale[result / result_block_scale]"},
       "activation result_block_scale",
       "",
       {},
       {},
       "M * S * N * (ACTIVATION + 2) + ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.moe_down_reduce",
       "moe",
       "down_reduce",
       "M E S N K",
       {"x[M, S, K]", "x_scale?[x / x_block_scale]", "weight[E : M * S, N, K]",
        "weight_scale[weight / weight_block_scale]", "expert_weights[M, S]",
        "expert_ids[M, S]", "residual?[M, N]", ">result[M, N]"},
       product,
       "",
       {},
       {},
       "M * S * N * (2 * K + COLUMNS_X_SCALE + COLUMNS_WEIGHT_SCALE + 2) + M * "
       "N * HAS_RESIDUAL",
       "x weight"},
      {"netra.moe_gate_up",
       "moe",
       "gate_up",
       "M E S N K",
       {"x[M, K]", "x_scale[x / x_block_scale]", "weight[E : M * S, N, K]",
        "weight_scale[weight / weight_block_scale]", "expert_ids[M, S]",
        ">result[M, S, N / PARTS]"},
       gatedProduct,
       "",
       {gatedExperts},
       {"N % PARTS == 0"},
       "M * S * N * (2 * K + COLUMNS_X_SCALE + COLUMNS_WEIGHT_SCALE) + M * S * "
       "(N / PARTS) * (PARTS - 1) * (ACTIVATION + 1)",
       "x weight"},
      {"netra.mul",
       "elementwise",
       "mul",
       "M N",
       {"lhs[..M, N]", "rhs[...]", ">result[..M, N]"},
       "",
       "",
       {},
       {},
       "M * N",
       ""},
      {"netra.quantize_blocks",
       "quantize",
       "quantize_blocks",
       "M K",
       {"x[M, K]", ">result[M, K]", ">result_scale[x / result_block_scale]"},
       "result_block_scale",
       "",
       {},
       {},
       "M * K + ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.rms_norm",
       "norm",
       "rms_norm",
       "M N",
       {"x[M, N]", "weight[N]", "residual?[M, N]", ">result[M, N]",
        ">result_scale?[result / result_block_scale]", ">sum?[M, N]",
        ">rounded?[M, N]"},
       normed,
       "result_block_scale",
       {},
       {"HAS_SUM <= HAS_RESIDUAL", "HAS_ROUNDED <= HAS_RESULT_SCALE"},
       "M * (N * (4 + HAS_RESIDUAL + HAS_RESULT_SCALE) + 4) + N * OFFSET + "
       "ELEMENTS_RESULT_SCALE",
       ""},
      {"netra.route",
       "router",
       "route",
       "M E S TOPK GROUPS TOPGROUPS K",
       {"logits?[M, E]", "x?[M, K]", "weight?[E, K]", "shared_gate?[1, K]",
        "correction_bias?[E]", ">expert_ids[M, S]", ">expert_weights[M, S]"},
       "scoring normalize shared_expert routed_scale accumulation",
       "",
       {sharedSlot, sharedGate},
       {"S == TOPK + SHARED", "HAS_SHARED_GATE == GATED",
        "HAS_LOGITS + HAS_WEIGHT == 1", "HAS_WEIGHT <= HAS_X",
        "HAS_X <= HAS_WEIGHT + HAS_SHARED_GATE", "HAS_SHARED_GATE <= HAS_X",
        "HAS_X == 1 || K == 0", "1 <= TOPGROUPS", "TOPGROUPS <= GROUPS",
        "E % GROUPS == 0", "1 <= TOPK", "TOPK <= E / GROUPS * TOPGROUPS"},
       "HAS_WEIGHT * 2 * M * E * K + M * (E * (3 + SOFTMAX + "
       "HAS_CORRECTION_BIAS) + (GROUPS > 1 && E > GROUPS) * GROUPS + "
       "NORMALIZED * (2 * TOPK + 1 - SOFTMAX) + SCALED * TOPK + "
       "HAS_SHARED_GATE * (2 * K + 3))",
       "x weight"},
      {"netra.sample",
       "vocabulary",
       "sample",
       "M V",
       {"logits[M, V]", "temperature[M]", "top_k[M]", "top_p[M]", "seed[M]",
        "offset[M]", ">result[M]"},
       "",
       "",
       {},
       {},
       "M * (7 * V + 3)",
       ""},
      {"netra.transpose",
       "layout",
       "transpose",
       "M N",
       {"x[..M, N]", ">result[...]"},
       "permutation",
       "",
       {},
       {},
       "0",
       ""},
  };
}

static std::vector<std::string> splitNames(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ' ', -1, /*KeepEmpty=*/false);
  return {parts.begin(), parts.end()};
}

static OperandDefinition parseOperand(StringRef text) {
  OperandDefinition operand;
  auto [role, shape] = text.split('[');
  operand.isResult = role.consume_front(">");
  operand.isOptional = role.consume_back("?");
  operand.role = role.str();
  shape.consume_back("]");
  if (shape == "...") {
    operand.hasAnyShape = true;
    return operand;
  }
  if (auto [scaled, attribute] = shape.split(" / ");
      attribute.ends_with("_block_scale")) {
    operand.scales = scaled.str();
    operand.blockScale = attribute.str();
    return operand;
  }
  operand.hasLeadingProduct = shape.consume_front("..");
  SmallVector<StringRef> extents;
  shape.split(extents, ", ");
  if (auto [extent, touched] = extents.front().split(" : "); !touched.empty()) {
    extents.front() = extent;
    operand.touched = cantFail(Expression::parse(touched));
  }
  for (StringRef extent : extents)
    operand.shape.push_back(cantFail(Expression::parse(extent)));
  return operand;
}

ArrayRef<OperationDefinition> allOperations() {
  static const std::vector<OperationDefinition> definitions = [] {
    std::vector<OperationDefinition> result;
    for (const Written &written : writtenOperations()) {
      OperationDefinition &definition = result.emplace_back();
      definition.name = written.name;
      definition.family = written.family;
      definition.operation = written.operation;
      definition.dimensions = splitNames(written.dimensions);
      for (const char *operand : written.operands)
        definition.operands.push_back(parseOperand(operand));
      definition.attributes = splitNames(written.attributes);
      definition.optionalAttributes = splitNames(written.optionalAttributes);
      definition.derived = written.derived;
      for (const char *requirement : written.requirements)
        definition.requirements.push_back(
            cantFail(Expression::parse(requirement)));
      definition.flop = cantFail(Expression::parse(written.flop));
      definition.factors = splitNames(written.factors);
    }
    return result;
  }();
  return definitions;
}

const OperandDefinition *OperationDefinition::find(StringRef role) const {
  auto found = find_if(operands, [&](const OperandDefinition &operand) {
    return operand.role == role;
  });
  return found == operands.end() ? nullptr : &*found;
}

const OperationDefinition *findOperation(StringRef family,
                                         StringRef operation) {
  ArrayRef<OperationDefinition> all = allOperations();
  const OperationDefinition *found =
      find_if(all, [&](const OperationDefinition &definition) {
        return definition.family == family && definition.operation == operation;
      });
  return found == all.end() ? nullptr : found;
}

//===----------------------------------------------------------------------===//
// Problems against them
//===----------------------------------------------------------------------===//

static std::string spellShape(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t extent) { return itostr(extent); }),
              ", ") +
         "]";
}

namespace {
class OperationVerifier {
public:
  OperationVerifier(const OperationDefinition &definition,
                    const Problem &problem)
      : definition(definition), problem(problem) {}

  std::vector<std::string> run() {
    checkDimensions();
    checkAttributes();
    checkRoles();
    // What follows uses all of them.
    if (!faults.empty())
      return std::move(faults);
    collectNames();
    for (const OperandDefinition &operand : definition.operands)
      if (const OperandSpec *found = problem.find(operand.role)) {
        if (operand.scales.empty())
          checkShape(operand, *found);
        else
          checkScale(operand, *found);
      }
    for (const Expression &requirement : definition.requirements)
      checkRequirement(requirement);
    return std::move(faults);
  }

private:
  void expect(const Twine &where, const Twine &expected, const Twine &found) {
    faults.push_back(
        (where + ": expected " + expected + ", found " + found).str());
  }

  void checkDimensions() {
    for (const std::string &name : definition.dimensions)
      if (!problem.dimensions.count(name))
        expect("dimension " + name, "an extent, as " + definition.name + " has",
               "none");
    for (const auto &[name, extent] : problem.dimensions)
      if (!is_contained(definition.dimensions, name))
        expect("dimension " + name,
               "only those of " + definition.name + " (" +
                   join(definition.dimensions, ", ") + ")",
               Twine(extent));
  }

  void checkAttributes() {
    for (const std::string &name : definition.attributes)
      if (!problem.attributes.count(name))
        expect("attribute " + name, "a value, as " + definition.name + " has",
               "none");
    for (const auto &[name, value] : problem.attributes)
      if (!is_contained(definition.attributes, name) &&
          !is_contained(definition.optionalAttributes, name))
        expect(
            "attribute " + name,
            "only those of " + definition.name + " (" +
                join(concat<const std::string>(definition.attributes,
                                               definition.optionalAttributes),
                     ", ") +
                ")",
            toString(value));
    for (const auto &[name, value] : problem.attributes)
      if (const AttributeDefinition *known = findAttribute(name);
          known && !known->accepts(value))
        expect("attribute " + name, known->describe(), toString(value));
  }

  void checkRoles() {
    std::vector<std::string> roles;
    for (const OperandDefinition &operand : definition.operands) {
      roles.push_back(operand.role);
      bool isThere = problem.find(operand.role) != nullptr;
      if (!isThere && !operand.isOptional)
        expect("operand " + operand.role,
               "a tensor, as " + definition.name + " has", "none");
      bool isDescribed = problem.attributes.count(operand.blockScale) != 0;
      if (is_contained(definition.optionalAttributes, operand.blockScale) &&
          isThere != isDescribed)
        expect("operand " + operand.role,
               isDescribed
                   ? "a scale, which " + operand.blockScale + " describes"
                   : "none without " + operand.blockScale,
               isThere ? "one" : "none");
    }
    for (const OperandSpec &operand : problem.operands)
      if (!is_contained(roles, operand.role))
        expect("operand " + operand.role,
               "only those of " + definition.name + " (" + join(roles, ", ") +
                   ")",
               tensorName(operand.type, operand.shape));
  }

  void collectNames() {
    names = problem.dimensions;
    for (const OperationDefinition::Derived &derived : definition.derived)
      names[derived.name] =
          is_contained(derived.values,
                       toString(problem.attributes.at(derived.attribute)))
              ? derived.inside
              : derived.outside;
    for (const OperandDefinition &operand : definition.operands)
      names["HAS_" + StringRef(operand.role).upper()] =
          problem.find(operand.role) != nullptr;
  }

  /// Of an expression over `names`; nothing after a fault.
  std::optional<int64_t> evaluate(const Expression &expression,
                                  const Twine &where) {
    Expected<int64_t> value = expression.evaluate(names);
    if (value)
      return *value;
    expect(where, "a value of " + expression.text(),
           llvm::toString(value.takeError()));
    return std::nullopt;
  }

  void checkShape(const OperandDefinition &operand, const OperandSpec &found) {
    if (operand.hasAnyShape)
      return;
    std::string where = "operand " + operand.role;
    std::vector<int64_t> expected;
    std::vector<StringRef> texts;
    for (const Expression &extent : operand.shape) {
      std::optional<int64_t> value = evaluate(extent, where);
      if (!value)
        return;
      expected.push_back(*value);
      texts.push_back(extent.text());
    }
    std::vector<int64_t> shape = found.shape;
    if (operand.hasLeadingProduct) {
      if (shape.size() < expected.size())
        shape.insert(shape.begin(), expected.size() - shape.size(), 1);
      size_t leading = shape.size() - expected.size() + 1;
      // A problem that has been verified has a number of elements.
      int64_t product =
          int64_t(cantFail(elementCount(ArrayRef(shape).take_front(leading))));
      shape.erase(shape.begin(), shape.begin() + leading - 1);
      shape.front() = product;
    }
    if (shape != expected)
      expect(where,
             (operand.hasLeadingProduct ? "rows and columns [" : "shape [") +
                 join(texts, ", ") + "], " + spellShape(expected),
             spellShape(found.shape));
  }

  void checkScale(const OperandDefinition &operand, const OperandSpec &found) {
    const OperandSpec *scaled = problem.find(operand.scales);
    auto attribute = problem.attributes.find(operand.blockScale);
    if (!scaled || attribute == problem.attributes.end())
      return; // reported, or of an operand that need not be there
    const auto &meaning = std::get<std::string>(attribute->second);
    auto [block, type] = StringRef(meaning).split(':');
    auto [rows, columns] = block.split('x');
    std::vector<int64_t> expected = scaled->shape;
    if (expected.size() < 2)
      return; // its own shape has been reported
    for (auto [extent, size] : {std::pair(&expected[expected.size() - 2], rows),
                                std::pair(&expected.back(), columns)}) {
      int64_t blockSize = 1;
      (void)size.getAsInteger(10, blockSize);
      *extent = divideCeilSigned(*extent, blockSize);
    }
    if (found.shape != expected || elementTypeName(found.type) != type)
      expect("operand " + operand.role,
             spellShape(expected) + " of " + type + " for " + meaning +
                 " blocks of " + operand.scales,
             spellShape(found.shape) + " of " + elementTypeName(found.type));
  }

  void checkRequirement(const Expression &requirement) {
    std::optional<int64_t> value = evaluate(requirement, "problem");
    if (!value || *value != 0)
      return;
    std::vector<std::string> values;
    for (const std::string &name : requirement.identifiers())
      values.push_back(name + " = " + itostr(names.at(name)));
    expect("problem",
           requirement.text() + ", as " + definition.name + " has it",
           join(values, ", "));
  }

  const OperationDefinition &definition;
  const Problem &problem;
  std::map<std::string, int64_t> names;
  std::vector<std::string> faults;
};
} // namespace

std::vector<std::string> verifyOperation(const Problem &problem) {
  if (const OperationDefinition *definition =
          findOperation(problem.family, problem.operation))
    return OperationVerifier(*definition, problem).run();
  std::vector<std::string> known;
  for (const OperationDefinition &definition : allOperations())
    known.push_back(definition.family + "." + definition.operation);
  return {"operation: expected one of " + join(known, ", ") + ", found " +
          problem.family + "." + problem.operation};
}

} // namespace netra
