//===- InstanceBuilder.cpp - From a tactic and a problem to a kernel ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "InstanceBuilder.h"

#include "Names.h"
#include "Netra/Catalog/Decision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

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
    for (const Expression &requirement : tactic.requirements)
      requirements.push_back({&requirement, bind(requirement)});
  }

  /// The instance with these values of the tactic's options, or nothing and
  /// `fault`. To be called until there is an instance.
  std::optional<Instance> build(ArrayRef<int64_t> values) {
    repeats = false;
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
    contract.numerics = {tactic.accumulation, describe(tactic.rounding),
                         describe(tactic.reductionOrder)};
    // A graph has one grid and one set of arguments.
    contract.graphCapture = tactic.graphCapture && problem.varying.empty();
    contract.deterministic = tactic.deterministic;
    return std::move(instance);
  }

  Mismatch fault;
  /// Whether anybody will read `fault`.
  bool explains = true;
  /// Whether the last fault is one of those before, which `fault` then is not.
  bool repeats = false;

private:
  /// Where `instance` has the values of the identifiers of an expression, each
  /// of which is an option, a dimension or a constant. Empty when the problem
  /// lacks one.
  using Bound = SmallVector<const int64_t *, 4>;
  Bound bind(const Expression &expression) {
    Bound values;
    for (const std::string &name : expression.identifiers()) {
      auto found = instance.constants.find(name);
      if (found == instance.constants.end())
        return {};
      values.push_back(&found->second);
    }
    return values;
  }

  bool fail(const Twine &field, const Twine &expected, const Twine &found) {
    if (explains)
      fault = {field.str(), expected.str(), found.str()};
    return false;
  }

  std::optional<int64_t> evaluate(const Expression &expression,
                                  const Twine &field) {
    return take(expression, expression.evaluate(instance.constants), field);
  }
  std::optional<int64_t> evaluate(const Expression &expression,
                                  const Bound &values, const Twine &field) {
    if (values.size() != expression.identifiers().size())
      return evaluate(expression, field);
    return take(expression, expression.evaluate(values), field);
  }
  std::optional<int64_t> take(const Expression &expression,
                              Expected<int64_t> value, const Twine &field) {
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
                               source.kind == ConstantSource::Kind::Expression
                                   ? bind(source.expression)
                                   : Bound(),
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
          constant.source->kind == ConstantSource::Kind::Expression
              ? evaluate(constant.source->expression, constant.bound,
                         "constant " + Twine(*constant.name))
              : valueOf(*constant.source, "constant " + Twine(*constant.name));
      if (!value)
        return false;
      *constant.value = *value;
    }
    return true;
  }

  bool checkRequirements() {
    for (const auto &[requirement, bound] : requirements) {
      std::optional<int64_t> value =
          evaluate(*requirement, bound, "requirement");
      if (!value)
        return false;
      if (*value != 0)
        continue;
      if (!explains)
        return false;
      // Most choices of options fail alike.
      SmallVector<int64_t, 4> numbers;
      for (const int64_t *number : bound)
        numbers.push_back(*number);
      auto same = [&, tried = requirement](const auto &earlier) {
        return earlier.first == tried && earlier.second == numbers;
      };
      repeats = any_of(told, same);
      if (repeats)
        return false;
      told.push_back({requirement, numbers});
      std::vector<std::string> values;
      for (auto [name, number] : zip(requirement->identifiers(), numbers))
        values.push_back(name + " = " + itostr(number));
      return fail("requirement", requirement->text(),
                  "false for " + join(values, ", "));
    }
    return true;
  }

  /// The scheme with the values of this instance: "norm.rms.v1(VEC=8,
  /// WAVES=4)".
  std::string describe(const NumericScheme &scheme) const {
    if (scheme.parameters.empty())
      return scheme.id;
    std::vector<std::string> values;
    for (const std::string &name : scheme.parameters)
      values.push_back(name + "=" + itostr(instance.constants.at(name)));
    return scheme.id + "(" + join(values, ", ") + ")";
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
    Bound bound; // of an expression
    int64_t *value;
  };
  /// In an order in which they can be computed.
  std::vector<Constant> constants;
  std::vector<std::pair<const Expression *, Bound>> requirements;
  /// Requirements that were faults, with the values of their identifiers.
  std::vector<std::pair<const Expression *, SmallVector<int64_t, 4>>> told;
};
} // namespace

std::optional<Instance> buildInstance(const Tactic &tactic,
                                      const Problem &problem,
                                      ArrayRef<int64_t> options,
                                      Mismatch &fault) {
  InstanceBuilder builder(tactic, problem);
  std::optional<Instance> instance = builder.build(options);
  if (!instance)
    fault = std::move(builder.fault);
  return instance;
}

std::optional<Instance> resolveOptions(const Tactic &tactic,
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
    if (builder.explains && !builder.repeats &&
        !is_contained(faults, builder.fault))
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

} // namespace netra
