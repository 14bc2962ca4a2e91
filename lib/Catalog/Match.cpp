//===- Match.cpp - Tactics held against problems --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Decision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// What a tactic takes, in words
//===----------------------------------------------------------------------===//

std::string Mismatch::str() const {
  return field + ": expected " + expected + ", found " + found;
}

bool DimensionMatch::accepts(int64_t value) const {
  if (!values.empty() && !is_contained(values, value))
    return false;
  return (!min || value >= *min) && (!max || value <= *max) &&
         (!multipleOf || value % *multipleOf == 0);
}

bool DimensionMatch::acceptsAll(int64_t least, int64_t greatest) const {
  if (least == greatest)
    return accepts(least);
  return values.empty() && multipleOf.value_or(1) == 1 && accepts(least) &&
         accepts(greatest);
}

std::string DimensionMatch::describe() const {
  std::vector<std::string> parts;
  if (values.size() == 1)
    parts.push_back(itostr(values.front()));
  else if (!values.empty())
    parts.push_back(
        "one of " +
        join(map_range(values, [](int64_t value) { return itostr(value); }),
             ", "));
  if (min && max && *min == *max)
    parts.push_back(itostr(*min));
  else if (min && max)
    parts.push_back(itostr(*min) + " to " + itostr(*max));
  else if (min)
    parts.push_back("at least " + itostr(*min));
  else if (max)
    parts.push_back("at most " + itostr(*max));
  if (multipleOf)
    parts.push_back("a multiple of " + itostr(*multipleOf));
  return parts.empty() ? "any value" : join(parts, " and ");
}

std::string AttributeMatch::describe() const {
  if (any)
    return "any value";
  if (min && max)
    return toString(AttributeValue(*min)) + " to " +
           toString(AttributeValue(*max));
  std::string list = join(
      map_range(values,
                [](const AttributeValue &value) { return toString(value); }),
      ", ");
  return values.size() == 1 ? list : "one of " + list;
}

static bool accepts(const AttributeMatch &match, const AttributeValue &value) {
  if (match.any)
    return true;
  if (match.min && match.max) {
    double number;
    if (const double *real = std::get_if<double>(&value))
      number = *real;
    else if (const int64_t *integer = std::get_if<int64_t>(&value))
      number = static_cast<double>(*integer);
    else
      return false;
    return number >= *match.min && number <= *match.max;
  }
  return any_of(match.values, [&](const AttributeValue &allowed) {
    return isIdentical(allowed, value);
  });
}

//===----------------------------------------------------------------------===//
// Exact matching
//===----------------------------------------------------------------------===//

static std::string typeList(const OperandMatch &match) {
  std::vector<StringRef> names;
  for (ElementType type : match.types)
    names.push_back(elementTypeName(type));
  return join(names, " or ");
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t extent) { return itostr(extent); }),
              ", ") +
         "]";
}

static void matchShape(const OperandMatch &match, const OperandSpec &operand,
                       const Problem &problem,
                       std::vector<Mismatch> &mismatches) {
  std::vector<int64_t> expected;
  for (const Expression &extent : *match.shape) {
    Expected<int64_t> value = extent.evaluate(problem.dimensions);
    if (!value) {
      mismatches.push_back({"operand " + operand.role + " shape",
                            extent.text().str(),
                            llvm::toString(value.takeError())});
      return;
    }
    expected.push_back(*value);
  }
  if (expected != operand.shape)
    mismatches.push_back({"operand " + operand.role + " shape",
                          shapeText(expected), shapeText(operand.shape)});
}

/// A dimension of which each launch has its own number.
static void matchVarying(const Tactic &tactic, const Problem &problem,
                         const std::string &name, const DimensionMatch &match,
                         const Affine &extent,
                         std::vector<Mismatch> &mismatches) {
  uint64_t least = extent.leastOver(problem.guards).value_or(0);
  uint64_t greatest = extent.greatestOver(problem.guards).value_or(0);
  std::string found = utostr(least) + " to " + utostr(greatest) +
                      " at launch (" + extent.str() + ")";
  if (!tactic.follows.count(name) && !tactic.masks.count(name))
    mismatches.push_back({"dimension " + name,
                          "one extent, as the tactic neither follows nor masks "
                          "it",
                          found});
  else if (!match.acceptsAll(int64_t(least), int64_t(greatest)))
    mismatches.push_back({"dimension " + name, match.describe(), found});
}

static void matchProblem(const Tactic &tactic, const Problem &problem,
                         const SelectOptions &options,
                         std::vector<Mismatch> &mismatches) {
  auto compare = [&](StringRef field, StringRef expected, StringRef found) {
    if (expected != found)
      mismatches.push_back({field.str(), expected.str(), found.str()});
  };
  compare("family", tactic.family, problem.family);
  compare("operation", tactic.operation, problem.operation);
  compare("target", tactic.target, options.target);
  // Without near misses, one difference is enough.
  auto isDecided = [&] {
    return options.nearestMisses == 0 && !mismatches.empty();
  };

  bool dimensionsKnown = true;
  for (const auto &[name, match] : tactic.dimensions) {
    auto found = problem.dimensions.find(name);
    if (found == problem.dimensions.end()) {
      mismatches.push_back({"dimension " + name, match.describe(), "absent"});
      dimensionsKnown = false;
    } else if (auto varies = problem.varying.find(name);
               varies != problem.varying.end()) {
      matchVarying(tactic, problem, name, match, varies->second, mismatches);
    } else if (!match.accepts(found->second)) {
      mismatches.push_back(
          {"dimension " + name, match.describe(), itostr(found->second)});
    }
  }
  for (const auto &[name, value] : problem.dimensions)
    if (!tactic.dimensions.count(name))
      mismatches.push_back({"dimension " + name, "absent", itostr(value)});
  if (isDecided())
    return;

  for (const auto &[role, match] : tactic.operands) {
    if (isDecided())
      return;
    const OperandSpec *operand = problem.find(role);
    if (!operand) {
      if (!match.optional)
        mismatches.push_back(
            {"operand " + role, typeList(match) + " operand", "absent"});
      continue;
    }
    if (!is_contained(match.types, operand->type))
      mismatches.push_back({"operand " + role + " type", typeList(match),
                            elementTypeName(operand->type).str()});
    if (!is_contained(match.layouts, operand->layout))
      mismatches.push_back({"operand " + role + " layout",
                            join(match.layouts, " or "), operand->layout});
    if (match.shape && dimensionsKnown)
      matchShape(match, *operand, problem, mismatches);
  }
  for (const OperandSpec &operand : problem.operands)
    if (!tactic.operands.count(operand.role))
      mismatches.push_back({"operand " + operand.role, "absent",
                            tensorName(operand.type, operand.shape)});
  if (isDecided())
    return;

  for (const auto &[name, match] : tactic.attributes) {
    auto found = problem.attributes.find(name);
    if (found == problem.attributes.end())
      mismatches.push_back({"attribute " + name, match.describe(), "absent"});
    else if (!accepts(match, found->second))
      mismatches.push_back(
          {"attribute " + name, match.describe(), toString(found->second)});
  }
  for (const auto &[name, value] : problem.attributes)
    if (!tactic.attributes.count(name))
      mismatches.push_back({"attribute " + name, "absent", toString(value)});
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

namespace {
/// Builds the instance of a tactic whose `match` part already holds. The first
/// fault becomes a mismatch.
class InstanceBuilder {
public:
  InstanceBuilder(const Tactic &tactic, const Problem &problem)
      : tactic(tactic), problem(problem), target(*findTarget(tactic.target)) {
    instance.tactic = &tactic;
    instance.constants = problem.dimensions;
    for (const auto &[name, choices] : tactic.options)
      options.emplace_back(&instance.options[name], &instance.constants[name]);
    orderConstants();
  }

  /// The instance with these values of the tactic's options, or nothing and
  /// `fault`. To be called until there is an instance.
  std::optional<Instance> build(ArrayRef<int64_t> values) {
    for (auto [option, value] : zip_equal(options, values))
      *option.first = *option.second = value;
    if (!(buildConstants() && checkRequirements() && buildSymbol() &&
          buildArguments() && buildLaunch() && buildRegisters() &&
          checkFollowing()))
      return std::nullopt;
    Contract &contract = instance.contract;
    contract.target = tactic.target;
    contract.waveSize = target.waveSize;
    contract.problem = problem;
    contract.numerics = tactic.numerics;
    // A graph has one grid and one set of arguments.
    contract.graphCapture = tactic.graphCapture && problem.varying.empty();
    contract.deterministic = tactic.deterministic;
    return std::move(instance);
  }

  Mismatch fault;
  /// Whether anybody will read `fault`.
  bool explains = true;

private:
  bool fail(const Twine &field, const Twine &expected, const Twine &found) {
    if (explains)
      fault = {field.str(), expected.str(), found.str()};
    return false;
  }

  std::optional<int64_t> evaluate(const Expression &expression,
                                  const Twine &field) {
    Expected<int64_t> value = expression.evaluate(instance.constants);
    if (value)
      return *value;
    fail(field, expression.text(), llvm::toString(value.takeError()));
    return std::nullopt;
  }

  /// A value inside [min, max].
  std::optional<uint64_t> evaluate(const Expression &expression,
                                   const Twine &field, uint64_t min,
                                   uint64_t max) {
    std::optional<int64_t> value = evaluate(expression, field);
    if (!value)
      return std::nullopt;
    if (*value >= 0 && uint64_t(*value) >= min && uint64_t(*value) <= max)
      return uint64_t(*value);
    fail(field, Twine(min) + " to " + Twine(max),
         Twine(*value) + " = " + expression.text());
    return std::nullopt;
  }

  /// The form of a name where dimensions vary. Of a dimension that is masked,
  /// only an argument knows the number of a launch.
  Expected<Expression::Linear> linearOf(StringRef name, bool isArgument) {
    if (auto varies = problem.varying.find(name.str());
        varies != problem.varying.end() &&
        (isArgument || tactic.follows.count(name.str()))) {
      Expression::Linear form;
      form.constant = int64_t(varies->second.constant);
      for (const auto &[guard, factor] : varies->second.terms)
        form.terms[guard] = int64_t(factor);
      return form;
    }
    // Constants may be of dimensions; the reader has refused circles.
    auto constant = tactic.constants.find(name.str());
    if (constant != tactic.constants.end() &&
        constant->second.kind == ConstantSource::Kind::Expression)
      return constant->second.expression.evaluateLinear(
          [&](StringRef used) { return linearOf(used, isArgument); });
    return Expression::Linear{instance.constants.at(name.str()), {}};
  }

  /// What `expression` is at each launch.
  std::optional<Affine> evaluateAffine(const Expression &expression,
                                       const Twine &field, bool isArgument) {
    Expected<Expression::Linear> form = expression.evaluateLinear(
        [&](StringRef name) { return linearOf(name, isArgument); });
    if (!form) {
      fail(field, "what follows " + toString(problem.guards),
           llvm::toString(form.takeError()));
      return std::nullopt;
    }
    Affine result(uint64_t(form->constant));
    bool isNegative = form->constant < 0;
    for (const auto &[guard, factor] : form->terms) {
      isNegative |= factor < 0;
      result.terms[guard] = uint64_t(factor);
    }
    if (!isNegative)
      return result;
    fail(field, "a sum of what is not negative",
         expression.text() + " with a negative part");
    return std::nullopt;
  }

  std::optional<int64_t> valueOf(const ConstantSource &source,
                                 const Twine &field) {
    using Kind = ConstantSource::Kind;
    switch (source.kind) {
    case Kind::Expression:
      return evaluate(source.expression, field);
    case Kind::Present:
      return problem.find(source.name) != nullptr;
    case Kind::ElementType: {
      const OperandSpec *operand = problem.find(source.name);
      if (!operand)
        return 0;
      for (const auto &[type, value] : source.values)
        if (std::get<std::string>(type) == elementTypeName(operand->type))
          return value;
      fail(field, "a value for type " + elementTypeName(operand->type), "none");
      return std::nullopt;
    }
    default:
      break;
    }
    const AttributeValue &attribute = problem.attributes.at(source.name);
    if (source.kind == Kind::Attribute) {
      for (const auto &[allowed, value] : source.values)
        if (isIdentical(allowed, attribute))
          return value;
      fail(field, "a value for " + source.name + " = " + toString(attribute),
           "none");
      return std::nullopt;
    }
    double number;
    if (const double *real = std::get_if<double>(&attribute)) {
      number = *real;
    } else if (const int64_t *integer = std::get_if<int64_t>(&attribute)) {
      number = static_cast<double>(*integer);
    } else {
      fail(field, "a number as attribute " + source.name, toString(attribute));
      return std::nullopt;
    }
    if (source.kind == Kind::F32Bits)
      return bit_cast<uint32_t>(static_cast<float>(number));
    return static_cast<int64_t>(bit_cast<uint64_t>(number));
  }

  /// Constants may use each other.
  void orderConstants() {
    std::vector<const std::pair<const std::string, ConstantSource> *> left;
    for (const auto &constant : tactic.constants)
      left.push_back(&constant);
    while (!left.empty()) {
      size_t before = left.size();
      erase_if(left, [&](const auto *constant) {
        const ConstantSource &source = constant->second;
        bool ready = source.kind != ConstantSource::Kind::Expression ||
                     all_of(source.expression.identifiers(),
                            [&](const std::string &used) {
                              return instance.constants.count(used) != 0;
                            });
        if (ready)
          constants.push_back({&constant->first, &source,
                               &instance.constants[constant->first]});
        return ready;
      });
      // The reader has refused circles and unknown names.
      assert(left.size() < before && "constants that cannot be computed");
      if (left.size() == before)
        return;
    }
  }

  bool buildConstants() {
    for (const Constant &constant : constants) {
      std::optional<int64_t> value =
          valueOf(*constant.source, "constant " + *constant.name);
      if (!value)
        return false;
      *constant.value = *value;
    }
    return true;
  }

  bool checkRequirements() {
    for (const Expression &requirement : tactic.requirements) {
      std::optional<int64_t> value = evaluate(requirement, "requirement");
      if (!value)
        return false;
      if (*value != 0)
        continue;
      if (!explains)
        return false;
      std::vector<std::string> values;
      for (const std::string &name : requirement.identifiers())
        values.push_back(name + " = " + itostr(instance.constants.at(name)));
      return fail("requirement", requirement.text(),
                  "false for " + join(values, ", "));
    }
    return true;
  }

  bool buildSymbol() {
    std::string symbol;
    StringRef rest = tactic.symbol;
    while (true) {
      auto [text, tail] = rest.split('{');
      symbol += text;
      if (text.size() == rest.size())
        break;
      auto [name, after] = tail.split('}');
      auto constant = instance.constants.find(name.str());
      if (constant != instance.constants.end()) {
        // A minus sign is no symbol character.
        int64_t value = constant->second;
        symbol += value < 0 ? "m" + itostr(value).substr(1) : itostr(value);
      } else {
        symbol += toString(problem.attributes.at(name.str()));
      }
      rest = after;
    }
    if (!isSymbolName(symbol) || symbol.size() > 240)
      return fail("symbol", "letters, digits and '_', at most 240", symbol);
    instance.symbol = std::move(symbol);
    return true;
  }

  bool buildArguments() {
    // There may be those of options that did not work.
    instance.contract.arguments.clear();
    uint64_t offset = 0;
    for (const ArgumentSpec &spec : tactic.arguments) {
      Argument argument;
      argument.name = spec.name;
      argument.kind = spec.kind;
      argument.access = spec.access;
      argument.role = spec.role;
      if (spec.kind == ArgumentKind::Pointer) {
        if (!buildPointer(spec, argument))
          return false;
        if (argument.bytes == 0)
          continue; // belongs to an optional operand that is absent
      } else if (!buildValue(spec, argument)) {
        return false;
      }
      offset = spec.offset.value_or(alignTo(offset, argument.bytes));
      argument.offset = offset;
      offset += argument.bytes;
      instance.contract.arguments.push_back(std::move(argument));
    }
    instance.contract.kernargBytes =
        tactic.golden ? tactic.golden->kernargBytes : alignTo(offset, 8);
    return true;
  }

  bool buildPointer(const ArgumentSpec &spec, Argument &argument) {
    argument.bytes = 8;
    std::optional<uint64_t> operandOffset =
        evaluate(spec.operandOffset, "argument " + spec.name, 0,
                 std::numeric_limits<int64_t>::max());
    if (!operandOffset)
      return false;
    argument.operandOffset = *operandOffset;
    if (spec.role == "workspace") {
      argument.type = ElementType::U8;
      return true;
    }
    const OperandSpec *operand = problem.find(spec.role);
    if (!operand) {
      argument.bytes = 0;
      return true;
    }
    argument.type = operand->type;
    if (spec.type && *spec.type != operand->type)
      return fail("argument " + spec.name + " type",
                  elementTypeName(*spec.type), elementTypeName(operand->type));
    Expected<uint64_t> bytes = tensorBytes(operand->type, operand->shape);
    if (!bytes)
      return fail("operand " + spec.role, "a legal shape",
                  llvm::toString(bytes.takeError()));
    if (*operandOffset != 0 && *operandOffset >= *bytes)
      return fail("argument " + spec.name + " operand offset",
                  "less than " + Twine(*bytes), Twine(*operandOffset));
    return true;
  }

  bool buildValue(const ArgumentSpec &spec, Argument &argument) {
    argument.type = *spec.type;
    argument.bytes = elementBytes(*spec.type);
    std::optional<int64_t> value =
        valueOf(*spec.value, "argument " + spec.name);
    if (!value)
      return false;
    int64_t min = std::numeric_limits<int64_t>::min();
    int64_t max = std::numeric_limits<int64_t>::max();
    if (argument.type == ElementType::I32)
      min = std::numeric_limits<int32_t>::min(),
      max = std::numeric_limits<int32_t>::max();
    else if (argument.type == ElementType::U32)
      min = 0, max = std::numeric_limits<uint32_t>::max();
    else if (argument.type == ElementType::U64)
      min = 0;
    if (*value < min || *value > max)
      return fail("argument " + spec.name,
                  "a value of type " + elementTypeName(argument.type),
                  Twine(*value));
    argument.bits = static_cast<uint64_t>(*value);
    if (argument.bytes == 4)
      argument.bits &= 0xffffffff;
    if (!spec.follows || problem.varying.empty())
      return true;
    std::optional<Affine> follows = evaluateAffine(
        spec.value->expression, "argument " + spec.name, /*isArgument=*/true);
    if (!follows)
      return false;
    if (!follows->isConstant())
      argument.follows = std::move(*follows);
    return true;
  }

  /// A dimension that varies shows in the grid or in an argument.
  bool checkFollowing() {
    const Contract &contract = instance.contract;
    for (const auto &[name, extent] : problem.varying)
      for (const auto &[guard, factor] : extent.terms) {
        bool isMasked = tactic.masks.count(name) != 0;
        bool shows = isMasked
                         ? any_of(contract.arguments,
                                  [&](const Argument &argument) {
                                    return argument.follows &&
                                           argument.follows->terms.count(guard);
                                  })
                         : any_of(contract.grid, [&](const Affine &axis) {
                             return axis.terms.count(guard) != 0;
                           });
        if (!shows)
          return fail(isMasked ? "arguments" : "launch grid",
                      "what follows " + guard + ", as dimension " + name +
                          " does",
                      "constants");
      }
    return true;
  }

  bool buildLaunch() {
    Contract &contract = instance.contract;
    static constexpr const char *axes[] = {" x", " y", " z"};
    uint64_t workItems = 1;
    for (size_t i = 0; i != 3; ++i) {
      std::optional<uint64_t> block =
          evaluate(tactic.block[i], Twine("launch block") + axes[i], 1,
                   target.maxWorkgroup);
      // The dispatch packet counts work-items of a dimension in 32 bits.
      uint64_t limit = std::numeric_limits<uint32_t>::max() / block.value_or(1);
      if (i != 0)
        limit = std::min<uint64_t>(limit, target.maxGridYz);
      std::string field = std::string("launch grid") + axes[i];
      std::optional<uint64_t> grid =
          block ? evaluate(tactic.grid[i], field, 1, limit) : std::nullopt;
      if (!grid)
        return false;
      contract.block[i] = static_cast<uint32_t>(*block);
      contract.grid[i] = *grid;
      workItems *= *block;
      if (problem.varying.empty())
        continue;
      std::optional<Affine> affine =
          evaluateAffine(tactic.grid[i], field, /*isArgument=*/false);
      if (!affine)
        return false;
      contract.grid[i] = std::move(*affine);
    }
    std::string fault = findUnlaunchable(
        contract.grid,
        {contract.block[0], contract.block[1], contract.block[2]},
        problem.guards, target.maxGridYz);
    if (!fault.empty())
      return fail("launch grid",
                  "a grid for all of " + toString(problem.guards), fault);
    if (workItems > target.maxWorkgroup)
      return fail("launch block",
                  "at most " + Twine(target.maxWorkgroup) + " work-items",
                  Twine(workItems));
    std::optional<uint64_t> staticLds =
        evaluate(tactic.staticLds, "launch static LDS", 0, target.maxLds);
    if (!staticLds)
      return false;
    std::optional<uint64_t> dynamicLds = evaluate(
        tactic.dynamicLds, "launch dynamic LDS", 0, target.maxLds - *staticLds);
    std::optional<uint64_t> workspace =
        dynamicLds ? evaluate(tactic.workspaceBytes, "workspace", 0,
                              std::numeric_limits<int64_t>::max())
                   : std::nullopt;
    if (!workspace)
      return false;
    contract.staticLds = *staticLds;
    contract.dynamicLds = *dynamicLds;
    contract.workspaceBytes = *workspace;
    contract.workspaceAlignment = tactic.workspaceAlignment;
    return true;
  }

  bool buildRegisters() {
    std::optional<uint64_t> vgprs =
        evaluate(tactic.vgprs, "registers vgprs", 1, target.maxVgprs);
    std::optional<uint64_t> agprs =
        vgprs ? evaluate(tactic.agprs, "registers agprs", 0, target.maxAgprs)
              : std::nullopt;
    std::optional<uint64_t> sgprs =
        agprs ? evaluate(tactic.sgprs, "registers sgprs", 1, target.maxSgprs)
              : std::nullopt;
    if (!sgprs)
      return false;
    instance.vgprs = static_cast<uint32_t>(*vgprs);
    instance.agprs = static_cast<uint32_t>(*agprs);
    instance.sgprs = static_cast<uint32_t>(*sgprs);
    return true;
  }

  const Tactic &tactic;
  const Problem &problem;
  const TargetInfo &target;
  Instance instance;

  /// Where `instance` has the options, in the tactic's order.
  std::vector<std::pair<int64_t *, int64_t *>> options;
  struct Constant {
    const std::string *name;
    const ConstantSource *source;
    int64_t *value;
  };
  /// In an order in which they can be computed.
  std::vector<Constant> constants;
};
} // namespace

/// Tries option combinations in order and gives the first that works. On
/// failure `faults` has the distinct reasons, the first three of them.
static std::optional<Instance> resolveOptions(const Tactic &tactic,
                                              const Problem &problem,
                                              std::vector<Mismatch> &faults) {
  std::vector<size_t> choice(tactic.options.size(), 0);
  std::vector<int64_t> values(choice.size());
  InstanceBuilder builder(tactic, problem);
  while (true) {
    for (size_t i = 0; i != choice.size(); ++i)
      values[i] = tactic.options[i].second[choice[i]];
    builder.explains = faults.size() < 3;
    if (std::optional<Instance> instance = builder.build(values))
      return instance;
    if (builder.explains && !is_contained(faults, builder.fault))
      faults.push_back(builder.fault);
    // The last option varies fastest.
    size_t i = choice.size();
    while (i-- > 0) {
      if (++choice[i] != tactic.options[i].second.size())
        break;
      choice[i] = 0;
    }
    if (i == size_t(-1))
      return std::nullopt;
  }
}

static Cost estimateCost(const Tactic &tactic, const Instance &instance) {
  const TargetInfo &target = *findTarget(tactic.target);
  const Problem &problem = instance.contract.problem;
  Cost cost;
  bool hasFp8 = false, hasHalf = false;
  for (const OperandSpec &operand : problem.operands) {
    hasFp8 |= operand.type == ElementType::F8E4M3FN ||
              operand.type == ElementType::F8E5M2;
    hasHalf |=
        operand.type == ElementType::BF16 || operand.type == ElementType::F16;
    if (Expected<uint64_t> bytes = tensorBytes(operand.type, operand.shape))
      cost.bytes = SaturatingAdd(cost.bytes, *bytes);
    else
      consumeError(bytes.takeError());
  }
  auto estimate = [&](const std::optional<Expression> &expression,
                      uint64_t fallback) {
    if (!expression)
      return fallback;
    Expected<int64_t> value = expression->evaluate(instance.constants);
    if (!value) {
      consumeError(value.takeError());
      return fallback;
    }
    return uint64_t(std::max<int64_t>(*value, 0));
  };
  cost.bytes = estimate(tactic.costBytes, cost.bytes);
  cost.flop = estimate(tactic.costFlops, 0);
  uint64_t peak = hasFp8    ? target.fp8FlopPerMicrosecond
                  : hasHalf ? target.bf16FlopPerMicrosecond
                            : target.f32FlopPerMicrosecond;
  auto picoseconds = [](uint64_t amount, uint64_t perMicrosecond) -> uint64_t {
    auto time =
        static_cast<unsigned __int128>(amount) * 1000000 / perMicrosecond;
    return time > std::numeric_limits<uint64_t>::max()
               ? std::numeric_limits<uint64_t>::max()
               : static_cast<uint64_t>(time);
  };
  cost.picoseconds =
      std::max(picoseconds(cost.bytes, target.memoryBytesPerMicrosecond),
               picoseconds(cost.flop, peak));
  return cost;
}

Candidate matchTactic(const Tactic &tactic, const Problem &problem,
                      const SelectOptions &options) {
  Candidate candidate;
  candidate.tactic = &tactic;
  matchProblem(tactic, problem, options, candidate.mismatches);
  if (tactic.maturity == Maturity::Rejected)
    candidate.mismatches.push_back(
        {"maturity", "verified or accepted", "rejected"});
  else if (tactic.maturity == Maturity::Experiment &&
           !options.allowExperimental)
    candidate.mismatches.push_back(
        {"maturity", "verified or accepted (or permission for experiments)",
         "experiment"});
  if (tactic.golden && !options.allowGolden)
    candidate.mismatches.push_back(
        {"golden code object", "a folder that has it (--golden-root)", "none"});
  if (!candidate.matches())
    return candidate;
  std::vector<Mismatch> faults;
  if (std::optional<Instance> instance =
          resolveOptions(tactic, problem, faults)) {
    candidate.instance = std::move(*instance);
    candidate.cost = estimateCost(tactic, candidate.instance);
  } else {
    candidate.mismatches = std::move(faults);
  }
  return candidate;
}

Expected<Instance> instantiate(const Tactic &tactic, const Problem &problem,
                               const std::map<std::string, int64_t> &options) {
  std::vector<Mismatch> mismatches;
  SelectOptions selectOptions;
  selectOptions.target = tactic.target;
  matchProblem(tactic, problem, selectOptions, mismatches);
  for (const auto &[name, choices] : tactic.options) {
    auto found = options.find(name);
    if (found == options.end())
      mismatches.push_back({"option " + name, "a value", "none"});
    else if (!is_contained(choices, found->second))
      mismatches.push_back({"option " + name,
                            "one of " + join(map_range(choices,
                                                       [](int64_t value) {
                                                         return itostr(value);
                                                       }),
                                             ", "),
                            itostr(found->second)});
  }
  for (const auto &[name, value] : options)
    if (none_of(tactic.options,
                [&](const auto &option) { return option.first == name; }))
      mismatches.push_back({"option " + name, "absent", itostr(value)});
  if (mismatches.empty()) {
    std::vector<int64_t> values;
    for (const auto &[name, choices] : tactic.options)
      values.push_back(options.at(name));
    InstanceBuilder builder(tactic, problem);
    if (std::optional<Instance> instance = builder.build(values))
      return std::move(*instance);
    mismatches.push_back(builder.fault);
  }
  std::vector<std::string> lines;
  for (const Mismatch &mismatch : mismatches)
    lines.push_back(mismatch.str());
  return createStringError("tactic " + tactic.name + ": " + join(lines, "; "));
}

} // namespace netra
