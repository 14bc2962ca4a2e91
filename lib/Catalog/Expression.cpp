//===- Expression.cpp - Integer expressions of manifests ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Expression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>
#include <set>

using namespace llvm;

namespace netra {

namespace {
enum class Op : uint8_t {
  Constant,
  Variable,
  Negate,
  Not,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  CeilDiv,
  FloorDiv,
  Min,
  Max,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
};

// Deep enough for any manifest, shallow enough for any stack.
constexpr unsigned maxDepth = 128;
constexpr size_t maxLength = 4096;
} // namespace

struct Expression::Node {
  Op op;
  unsigned column;           // of the operator or operand, counted from 1
  int64_t value = 0;         // Constant; Variable: its place in identifiers
  unsigned lhs = 0, rhs = 0; // nodes
  std::string name;          // Variable
};

struct Expression::Storage {
  std::string text;
  std::vector<Node> nodes;
  unsigned root = 0;
  std::vector<std::string> identifiers;
};

static Error failAt(StringRef text, unsigned column, const Twine &message) {
  return createStringError("expression \"" + text + "\", column " +
                           Twine(column) + ": " + message);
}

namespace {
class Parser {
public:
  Parser(StringRef text, std::vector<Expression::Node> &nodes)
      : text(text), nodes(nodes) {}

  Expected<unsigned> parse() {
    Expected<unsigned> root = parseOr();
    if (!root)
      return root;
    skipSpace();
    if (position != text.size())
      return fail("expected an operator or the end, found '" +
                  Twine(text[position]) + "'");
    return root;
  }

private:
  Error fail(const Twine &message) {
    return failAt(text, position + 1, message);
  }

  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\t'))
      ++position;
  }

  /// Consumes `token` when it comes next; a longer operator that starts with it
  /// is the caller's business (it asks for the longer one first).
  bool consume(StringRef token) {
    skipSpace();
    if (!text.substr(position).starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  unsigned add(Op op, unsigned column, unsigned lhs = 0, unsigned rhs = 0) {
    Expression::Node node{op, column, 0, lhs, rhs, {}};
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  }

  struct Level {
    StringRef token;
    Op op;
  };

  template <typename Next>
  Expected<unsigned> parseLeft(ArrayRef<Level> levels, Next next) {
    Expected<unsigned> lhs = next();
    if (!lhs)
      return lhs;
    while (true) {
      skipSpace();
      unsigned column = position + 1;
      const Level *found = find_if(
          levels, [&](const Level &level) { return consume(level.token); });
      if (found == levels.end())
        return lhs;
      Expected<unsigned> rhs = next();
      if (!rhs)
        return rhs;
      lhs = add(found->op, column, *lhs, *rhs);
    }
  }

  Expected<unsigned> parseOr() {
    if (++depth > maxDepth)
      return fail("expected at most " + Twine(maxDepth) + " nested levels");
    Expected<unsigned> result =
        parseLeft({{"||", Op::Or}}, [&] { return parseAnd(); });
    --depth;
    return result;
  }
  Expected<unsigned> parseAnd() {
    return parseLeft({{"&&", Op::And}}, [&] { return parseCompare(); });
  }
  Expected<unsigned> parseCompare() {
    Expected<unsigned> lhs = parseSum();
    if (!lhs)
      return lhs;
    static constexpr Level levels[] = {
        {"==", Op::Equal},        {"!=", Op::NotEqual}, {"<=", Op::LessEqual},
        {">=", Op::GreaterEqual}, {"<", Op::Less},      {">", Op::Greater}};
    skipSpace();
    unsigned column = position + 1;
    const Level *found = find_if(
        levels, [&](const Level &level) { return consume(level.token); });
    if (found == std::end(levels))
      return lhs;
    Expected<unsigned> rhs = parseSum();
    if (!rhs)
      return rhs;
    return add(found->op, column, *lhs, *rhs);
  }
  Expected<unsigned> parseSum() {
    return parseLeft({{"+", Op::Add}, {"-", Op::Sub}},
                     [&] { return parseProduct(); });
  }
  Expected<unsigned> parseProduct() {
    return parseLeft({{"*", Op::Mul}, {"/", Op::Div}, {"%", Op::Mod}},
                     [&] { return parseUnary(); });
  }

  Expected<unsigned> parseUnary() {
    skipSpace();
    unsigned column = position + 1;
    bool negate = consume("-");
    if (!negate && !consume("!"))
      return parsePrimary();
    if (++depth > maxDepth)
      return fail("expected at most " + Twine(maxDepth) + " nested levels");
    Expected<unsigned> operand = parseUnary();
    --depth;
    if (!operand)
      return operand;
    return add(negate ? Op::Negate : Op::Not, column, *operand);
  }

  Expected<unsigned> parsePrimary() {
    skipSpace();
    unsigned column = position + 1;
    if (position == text.size())
      return fail("expected a number, a name or '(', found the end");
    if (consume("(")) {
      Expected<unsigned> inner = parseOr();
      if (!inner)
        return inner;
      if (!consume(")"))
        return fail("expected ')'");
      return inner;
    }
    StringRef rest = text.substr(position);
    if (isDigit(rest.front())) {
      StringRef digits = rest.take_while(isAlnum);
      int64_t value;
      if (!all_of(digits, isDigit))
        return fail("expected a decimal number, found '" + digits + "'");
      if (digits.getAsInteger(10, value))
        return fail("expected a number below 2^63, found " + digits);
      position += digits.size();
      unsigned node = add(Op::Constant, column);
      nodes[node].value = value;
      return node;
    }
    if (!isAlpha(rest.front()) && rest.front() != '_')
      return fail("expected a number, a name or '(', found '" +
                  Twine(rest.front()) + "'");
    StringRef name =
        rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    position += name.size();
    static constexpr Level functions[] = {{"ceildiv", Op::CeilDiv},
                                          {"floordiv", Op::FloorDiv},
                                          {"min", Op::Min},
                                          {"max", Op::Max}};
    const Level *function = find_if(
        functions, [&](const Level &level) { return level.token == name; });
    if (function != std::end(functions)) {
      if (!consume("("))
        return fail("expected '(' after " + name);
      Expected<unsigned> lhs = parseOr();
      if (!lhs)
        return lhs;
      if (!consume(","))
        return fail("expected ',' and a second argument of " + name);
      Expected<unsigned> rhs = parseOr();
      if (!rhs)
        return rhs;
      if (!consume(")"))
        return fail("expected ')' after two arguments of " + name);
      return add(function->op, column, *lhs, *rhs);
    }
    unsigned node = add(Op::Variable, column);
    nodes[node].name = name.str();
    return node;
  }

  StringRef text;
  std::vector<Expression::Node> &nodes;
  size_t position = 0;
  unsigned depth = 0;
};
} // namespace

Expression::Expression() : Expression(constant(0)) {}

Expression Expression::constant(int64_t value) {
  auto storage = std::make_shared<Storage>();
  storage->text = itostr(value);
  storage->nodes.push_back({Op::Constant, 1, value, 0, 0, {}});
  return Expression(std::move(storage));
}

Expected<Expression> Expression::parse(StringRef text) {
  if (text.size() > maxLength)
    return createStringError("expression of " + Twine(text.size()) +
                             " characters: expected at most " +
                             Twine(maxLength));
  auto storage = std::make_shared<Storage>();
  storage->text = text.str();
  Expected<unsigned> root = Parser(storage->text, storage->nodes).parse();
  if (!root)
    return root.takeError();
  storage->root = *root;
  std::set<std::string> names;
  for (const Node &node : storage->nodes)
    if (node.op == Op::Variable)
      names.insert(node.name);
  storage->identifiers.assign(names.begin(), names.end());
  for (Node &node : storage->nodes)
    if (node.op == Op::Variable)
      node.value = lower_bound(storage->identifiers, node.name) -
                   storage->identifiers.begin();
  return Expression(std::move(storage));
}

const std::vector<std::string> &Expression::identifiers() const {
  return storage->identifiers;
}

StringRef Expression::text() const { return storage->text; }

namespace {
class Evaluator {
public:
  Evaluator(
      StringRef text, ArrayRef<Expression::Node> nodes,
      function_ref<std::optional<int64_t>(const Expression::Node &)> lookup)
      : text(text), nodes(nodes), lookup(lookup) {}

  Expected<int64_t> evaluate(unsigned index) {
    const Expression::Node &node = nodes[index];
    if (node.op == Op::Constant)
      return node.value;
    if (node.op == Op::Variable) {
      if (std::optional<int64_t> value = lookup(node))
        return *value;
      return fail(node, "unknown name '" + node.name + "'");
    }
    Expected<int64_t> lhs = evaluate(node.lhs);
    if (!lhs)
      return lhs;
    int64_t result;
    switch (node.op) {
    case Op::Negate:
      if (__builtin_sub_overflow(int64_t(0), *lhs, &result))
        return overflow(node);
      return result;
    case Op::Not:
      return *lhs == 0;
    case Op::And:
      if (*lhs == 0)
        return 0;
      return truth(evaluate(node.rhs));
    case Op::Or:
      if (*lhs != 0)
        return 1;
      return truth(evaluate(node.rhs));
    default:
      break;
    }
    Expected<int64_t> rhs = evaluate(node.rhs);
    if (!rhs)
      return rhs;
    return combine(node, *lhs, *rhs);
  }

protected:
  Error fail(const Expression::Node &node, const Twine &message) {
    return failAt(text, node.column, message);
  }
  Error overflow(const Expression::Node &node) {
    return fail(node, "the result does not fit 64 bits");
  }
  static Expected<int64_t> truth(Expected<int64_t> value) {
    if (!value)
      return value;
    return *value != 0;
  }

  Expected<int64_t> combine(const Expression::Node &node, int64_t lhs,
                            int64_t rhs) {
    int64_t result;
    switch (node.op) {
    case Op::Add:
      if (__builtin_add_overflow(lhs, rhs, &result))
        return overflow(node);
      return result;
    case Op::Sub:
      if (__builtin_sub_overflow(lhs, rhs, &result))
        return overflow(node);
      return result;
    case Op::Mul:
      if (__builtin_mul_overflow(lhs, rhs, &result))
        return overflow(node);
      return result;
    case Op::Div:
      if (rhs == 0)
        return fail(node, "division of " + Twine(lhs) + " by 0");
      if (rhs == -1) {
        if (__builtin_sub_overflow(int64_t(0), lhs, &result))
          return overflow(node);
        return result;
      }
      if (lhs % rhs != 0)
        return fail(node, Twine(lhs) + " / " + Twine(rhs) +
                              " is not exact (remainder " + Twine(lhs % rhs) +
                              "); use ceildiv or floordiv to round");
      return lhs / rhs;
    case Op::Mod:
    case Op::CeilDiv:
    case Op::FloorDiv: {
      if (rhs <= 0)
        return fail(node, "expected a positive divisor, found " + Twine(rhs));
      int64_t quotient = lhs / rhs, remainder = lhs % rhs;
      if (remainder < 0) {
        remainder += rhs;
        --quotient; // |quotient| shrinks by rounding, so this cannot overflow
      }
      if (node.op == Op::Mod)
        return remainder;
      if (node.op == Op::CeilDiv)
        return quotient + (remainder != 0);
      return quotient;
    }
    case Op::Min:
      return std::min(lhs, rhs);
    case Op::Max:
      return std::max(lhs, rhs);
    case Op::Equal:
      return lhs == rhs;
    case Op::NotEqual:
      return lhs != rhs;
    case Op::Less:
      return lhs < rhs;
    case Op::LessEqual:
      return lhs <= rhs;
    case Op::Greater:
      return lhs > rhs;
    default:
      return lhs >= rhs;
    }
  }

  StringRef text;
  ArrayRef<Expression::Node> nodes;

private:
  function_ref<std::optional<int64_t>(const Expression::Node &)> lookup;
};
} // namespace

namespace {
/// Evaluates over linear forms. Numbers combine as above.
class LinearEvaluator : Evaluator {
  using Linear = Expression::Linear;

public:
  LinearEvaluator(StringRef text, ArrayRef<Expression::Node> nodes,
                  function_ref<Expected<Linear>(StringRef)> lookup)
      : Evaluator(text, nodes, nullptr), lookup(lookup) {}

  Expected<Linear> evaluate(unsigned index) {
    const Expression::Node &node = nodes[index];
    if (node.op == Op::Constant)
      return Linear{node.value, {}};
    if (node.op == Op::Variable)
      return lookup(node.name);
    Expected<Linear> lhs = evaluate(node.lhs);
    if (!lhs)
      return lhs;
    if (node.op == Op::Negate)
      return map(node, Op::Sub, Linear(), *lhs);
    if (node.op == Op::Not) {
      if (!lhs->terms.empty())
        return notLinear(node);
      return Linear{lhs->constant == 0, {}};
    }
    bool isDecided =
        lhs->terms.empty() && ((node.op == Op::And && lhs->constant == 0) ||
                               (node.op == Op::Or && lhs->constant != 0));
    if (isDecided)
      return Linear{node.op == Op::Or, {}};
    Expected<Linear> rhs = evaluate(node.rhs);
    if (!rhs)
      return rhs;
    if (lhs->terms.empty() && rhs->terms.empty()) {
      if (node.op == Op::And || node.op == Op::Or)
        return Linear{rhs->constant != 0, {}};
      return map(node, node.op, *lhs, *rhs);
    }
    switch (node.op) {
    case Op::Add:
    case Op::Sub:
      return map(node, node.op, *lhs, *rhs);
    case Op::Mul:
      if (rhs->terms.empty())
        return scale(node, *lhs, rhs->constant);
      if (lhs->terms.empty())
        return scale(node, *rhs, lhs->constant);
      return notLinear(node);
    case Op::Div:
    case Op::CeilDiv:
    case Op::FloorDiv:
      // Whole multiples of the divisor leave the quotient, rounded or not.
      if (!rhs->terms.empty() || rhs->constant <= 0 ||
          any_of(lhs->terms, [&](const auto &term) {
            return term.second % rhs->constant != 0;
          }))
        return notLinear(node);
      return divide(node, *lhs, rhs->constant);
    default:
      return notLinear(node);
    }
  }

private:
  Error notLinear(const Expression::Node &node) {
    return fail(node, "the result is no sum of a constant and whole multiples");
  }

  /// `op` on each coefficient.
  Expected<Linear> map(const Expression::Node &node, Op op, const Linear &lhs,
                       const Linear &rhs) {
    Expression::Node step = node;
    step.op = op;
    Linear result;
    Expected<int64_t> constant = combine(step, lhs.constant, rhs.constant);
    if (!constant)
      return constant.takeError();
    result.constant = *constant;
    std::set<std::string> names;
    for (const Linear *side : {&lhs, &rhs})
      for (const auto &[name, factor] : side->terms)
        names.insert(name);
    for (const std::string &name : names) {
      auto factor = [&](const Linear &side) {
        auto found = side.terms.find(name);
        return found == side.terms.end() ? 0 : found->second;
      };
      Expected<int64_t> sum = combine(step, factor(lhs), factor(rhs));
      if (!sum)
        return sum.takeError();
      if (*sum != 0)
        result.terms[name] = *sum;
    }
    return result;
  }

  Expected<Linear> scale(const Expression::Node &node, Linear form,
                         int64_t factor) {
    if (factor == 0)
      return Linear();
    for (int64_t *value : values(form))
      if (__builtin_mul_overflow(*value, factor, value))
        return overflow(node);
    return form;
  }

  Expected<Linear> divide(const Expression::Node &node, Linear form,
                          int64_t divisor) {
    for (int64_t *value : values(form)) {
      Expected<int64_t> quotient = combine(node, *value, divisor);
      if (!quotient)
        return quotient.takeError();
      *value = *quotient;
    }
    return form;
  }

  static std::vector<int64_t *> values(Linear &form) {
    std::vector<int64_t *> result = {&form.constant};
    for (auto &[name, factor] : form.terms)
      result.push_back(&factor);
    return result;
  }

  function_ref<Expected<Linear>(StringRef)> lookup;
};
} // namespace

Expected<Expression::Linear> Expression::evaluateLinear(
    function_ref<Expected<Linear>(StringRef)> lookup) const {
  return LinearEvaluator(storage->text, storage->nodes, lookup)
      .evaluate(storage->root);
}

Expected<int64_t> Expression::evaluate(
    function_ref<std::optional<int64_t>(StringRef)> lookup) const {
  return Evaluator(storage->text, storage->nodes,
                   [&](const Node &node) { return lookup(node.name); })
      .evaluate(storage->root);
}

Expected<int64_t>
Expression::evaluate(const std::map<std::string, int64_t> &variables) const {
  return Evaluator(storage->text, storage->nodes,
                   [&](const Node &node) -> std::optional<int64_t> {
                     auto found = variables.find(node.name);
                     if (found == variables.end())
                       return std::nullopt;
                     return found->second;
                   })
      .evaluate(storage->root);
}

Expected<int64_t> Expression::evaluate(ArrayRef<const int64_t *> values) const {
  assert(values.size() == storage->identifiers.size());
  return Evaluator(storage->text, storage->nodes,
                   [&](const Node &node) -> std::optional<int64_t> {
                     return *values[size_t(node.value)];
                   })
      .evaluate(storage->root);
}

} // namespace netra
