//===- ContractPropertyTest.cpp - What the id of a contract depends on ----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The id changes with every field and with nothing else. Fields are listed
// once, by structured bindings: a struct that gets another field does not
// compile here until the field is in the list, and what is in the list is
// mutated. Values are drawn per type, so that a new type of field needs a rule
// before it compiles.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Contract.h"

#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/Layout.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace netra;

namespace {

using Random = std::mt19937_64;

size_t below(Random &random, size_t limit) { return random() % limit; }

//===----------------------------------------------------------------------===//
// The fields
//===----------------------------------------------------------------------===//

void forEachField(Numerics &value, auto &&visit) {
  auto &[accumulation, rounding, reductionOrder] = value;
  visit("accumulation", accumulation);
  visit("rounding", rounding);
  visit("reduction_order", reductionOrder);
}

void forEachField(Argument &value, auto &&visit) {
  auto &[name, kind, type, access, role, offset, bytes, operandOffset, bits,
         follows] = value;
  visit("name", name);
  visit("kind", kind);
  visit("type", type);
  visit("access", access);
  visit("role", role);
  visit("offset", offset);
  visit("bytes", bytes);
  visit("operand_offset", operandOffset);
  visit("bits", bits);
  visit("follows", follows);
}

void forEachField(Affine &value, auto &&visit) {
  auto &[constant, terms] = value;
  visit("constant", constant);
  visit("terms", terms);
}

void forEachField(GuardRange &value, auto &&visit) {
  auto &[min, max] = value;
  visit("min", min);
  visit("max", max);
}

void forEachField(OperandSpec &value, auto &&visit) {
  auto &[role, type, shape, layout] = value;
  visit("role", role);
  visit("type", type);
  visit("shape", shape);
  visit("layout", layout);
}

void forEachField(Problem &value, auto &&visit) {
  auto &[family, operation, dimensions, operands, attributes, varying, guards] =
      value;
  visit("family", family);
  visit("operation", operation);
  visit("dimensions", dimensions);
  visit("operands", operands);
  visit("attributes", attributes);
  visit("varying", varying);
  visit("guards", guards);
}

void forEachField(Contract &value, auto &&visit) {
  auto &[target, waveSize, problem, arguments, kernargBytes, grid, block,
         staticLds, dynamicLds, workspaceBytes, workspaceAlignment, numerics,
         graphCapture, deterministic] = value;
  visit("target", target);
  visit("wave_size", waveSize);
  visit("problem", problem);
  visit("arguments", arguments);
  visit("kernarg_bytes", kernargBytes);
  visit("grid", grid);
  visit("block", block);
  visit("static_lds", staticLds);
  visit("dynamic_lds", dynamicLds);
  visit("workspace_bytes", workspaceBytes);
  visit("workspace_alignment", workspaceAlignment);
  visit("numerics", numerics);
  visit("graph_capture", graphCapture);
  visit("deterministic", deterministic);
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

void draw(Random &random, bool &value) { value = random() & 1; }

template <std::integral T> void draw(Random &random, T &value) {
  // Small values, which meet often, and the ends of the range.
  switch (below(random, 4)) {
  case 0:
    value = std::numeric_limits<T>::max() - static_cast<T>(below(random, 3));
    break;
  case 1:
    value = static_cast<T>(random() & std::numeric_limits<T>::max());
    break;
  default:
    value = static_cast<T>(below(random, 5));
  }
}

/// Lower-case names, and, where any text may stand, what JSON has to escape.
void draw(Random &random, std::string &value, bool anyText = true) {
  static const char *const hard[] = {"\"",   "\\", "\n", "ü", "{}", ",\"",
                                     "\x01", " ",  ":",  "/", "0",  "]"};
  value = static_cast<char>('a' + below(random, 26));
  for (size_t i = below(random, 4); i != 0; --i)
    if (anyText && random() % 2)
      value += hard[below(random, std::size(hard))];
    else
      value += static_cast<char>('a' + below(random, 26));
}

void draw(Random &random, double &value) {
  static const double edges[] = {0.0,  -0.0, 1.0,   1e-6,
                                 1e-5, 0.1,  1e300, -std::nan("1")};
  value = below(random, 2) ? edges[below(random, std::size(edges))]
                           : std::bit_cast<double>(random());
}

void draw(Random &random, ElementType &value) {
  value = allElementTypes()[below(random, allElementTypes().size())];
}

void draw(Random &random, ArgumentKind &value) {
  value = ArgumentKind(below(random, 2));
}

void draw(Random &random, Access &value) { value = Access(below(random, 4)); }

void draw(Random &random, AttributeValue &value) {
  bool boolean;
  int64_t integer;
  double number;
  std::string text;
  switch (below(random, 4)) {
  case 0:
    draw(random, boolean);
    value = boolean;
    break;
  case 1:
    draw(random, integer);
    value = integer;
    break;
  case 2:
    draw(random, number);
    value = number;
    break;
  default:
    draw(random, text);
    value = text;
  }
}

/// A layout with its shape, so that the whole is well-formed.
void draw(Random &random, OperandSpec &value) {
  draw(random, value.type);
  int64_t a = 1 + below(random, 4), b = 1 + below(random, 4);
  switch (below(random, 4)) {
  case 0:
    value.layout = "n16k16";
    value.shape = {a * 16, b * 16};
    break;
  case 1:
    value.layout = "blocked<2,4>";
    value.shape = {a * 2, b * 4};
    break;
  case 2:
    value.layout = "group_major";
    value.shape = {a, b};
    break;
  default:
    value.layout = "row_major";
    value.shape.assign(below(random, 4), a);
  }
}

/// Has dimensions, grid and values follow guards, as one that is well-formed
/// does.
void vary(Random &random, Contract &contract) {
  static const char *const names[] = {"m", "batch", "sequence", "routed_rows",
                                      "tensor_parallel"};
  Problem &problem = contract.problem;
  auto follow = [&](const char *guard) {
    return Affine(below(random, 3), {{guard, 1 + below(random, 4)}});
  };
  for (size_t i = 1 + below(random, 3); i-- != 0;) {
    const char *guard = names[below(random, std::size(names))];
    uint64_t least = 1 + below(random, 4);
    problem.guards.try_emplace(
        guard, GuardRange{least, least + 1 + below(random, 60)});
    std::string name = "V" + std::to_string(i);
    problem.varying[name] = follow(guard);
    problem.dimensions[name] =
        int64_t(*problem.varying[name].greatestOver(problem.guards));
    contract.grid[below(random, 3)] = follow(guard);
    for (Argument &argument : contract.arguments)
      if (argument.kind == ArgumentKind::Value && random() % 2) {
        argument.follows = follow(guard);
        argument.bits = *argument.follows->greatestOver(problem.guards);
      }
  }
}

Contract randomContract(Random &random) {
  Contract contract;
  auto fill = [&](const char *, auto &field) {
    if constexpr (requires { draw(random, field); })
      draw(random, field);
  };
  forEachField(contract, fill);
  forEachField(contract.numerics, fill);
  for (uint32_t &extent : contract.block)
    extent = 1 + static_cast<uint32_t>(below(random, 1000));
  for (Affine &extent : contract.grid)
    extent = 1 + below(random, 1000);
  Problem &problem = contract.problem;
  draw(random, problem.family, /*anyText=*/false);
  draw(random, problem.operation, /*anyText=*/false);
  for (size_t i = below(random, 4); i != 0; --i)
    problem.dimensions[std::string(
        1, static_cast<char>('A' + below(random, 26)))] =
        static_cast<int64_t>(below(random, 9000));
  for (size_t i = below(random, 4); i != 0; --i) {
    OperandSpec operand;
    draw(random, operand);
    operand.role = "r" + std::to_string(i);
    problem.operands.push_back(operand);
  }
  for (size_t i = below(random, 4); i != 0; --i) {
    std::string name;
    draw(random, name, /*anyText=*/false);
    draw(random, problem.attributes[name]);
  }
  contract.arguments.resize(below(random, 4));
  for (Argument &argument : contract.arguments)
    forEachField(argument, fill);
  if (random() % 2)
    vary(random, contract);
  return contract;
}

//===----------------------------------------------------------------------===//
// One change
//===----------------------------------------------------------------------===//

/// Walks a contract and makes the change whose number is `wanted`; `count` is
/// then the number of changes passed, and `path` says which one was made.
class Change {
public:
  Change(Random &random, size_t wanted) : random(random), wanted(wanted) {}

  size_t count = 0;
  std::string path;

  void walk(const std::string &at, auto &value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (requires {
                    forEachField(value, [](const char *, auto &) {});
                  })
      forEachField(value, [&](const char *name, auto &field) {
        walk(at + "/" + name, field);
      });
    else if constexpr (std::is_same_v<T, AttributeValue>)
      walkAttribute(at, value);
    else if constexpr (std::is_same_v<T, std::optional<Affine>>)
      walkOptional(at, value);
    else if constexpr (requires { value.insert_or_assign("", value[""]); })
      walkMap(at, value);
    else if constexpr (requires { value.push_back(value[0]); } &&
                       !std::is_same_v<T, std::string>)
      walkList(at, value);
    else if constexpr (requires { std::tuple_size<T>::value; })
      for (size_t i = 0; i != value.size(); ++i)
        walk(at + "/" + std::to_string(i), value[i]);
    else
      offer(at, [&] {
        T before = value;
        while (value == before)
          draw(random, value);
      });
  }

private:
  void offer(const std::string &at, auto &&change) {
    if (count++ != wanted)
      return;
    path = at;
    change();
  }

  /// Elements added, removed, exchanged, and each on its own.
  template <typename T> void walkList(const std::string &at, T &list) {
    offer(at + " longer", [&] {
      typename T::value_type element{};
      if constexpr (std::is_same_v<typename T::value_type, OperandSpec>)
        element.role = "more";
      list.push_back(element);
    });
    if (!list.empty())
      offer(at + " shorter", [&] { list.pop_back(); });
    // The order of operands has no meaning.
    if constexpr (!std::is_same_v<typename T::value_type, OperandSpec>)
      if (list.size() > 1 && !(list.front() == list.back()))
        offer(at + " exchanged", [&] { std::swap(list.front(), list.back()); });
    for (size_t i = 0; i != list.size(); ++i)
      walk(at + "/" + std::to_string(i), list[i]);
  }

  template <typename T> void walkMap(const std::string &at, T &map) {
    offer(at + " longer", [&] { map["NEW"] = {}; });
    if (map.empty())
      return;
    offer(at + " shorter", [&] { map.erase(map.begin()); });
    offer(at + " renamed", [&] {
      auto node = map.extract(map.begin());
      node.key() += "X";
      map.insert(std::move(node));
    });
    for (auto &[name, value] : map)
      walk(at + "/" + name, value);
  }

  void walkOptional(const std::string &at, std::optional<Affine> &value) {
    if (!value) {
      offer(at + " there", [&] { value.emplace(); });
      return;
    }
    walk(at, *value);
    offer(at + " absent", [&] { value.reset(); });
  }

  /// Another value, and the same spelling as another type.
  void walkAttribute(const std::string &at, AttributeValue &value) {
    offer(at, [&] {
      AttributeValue before = value;
      while (isIdentical(value, before))
        draw(random, value);
    });
    if (!std::holds_alternative<std::string>(value))
      offer(at + " as text", [&] { value = toString(value); });
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      offer(at + " as number",
            [&, n = *integer] { value = static_cast<double>(n); });
    if (const double *number = std::get_if<double>(&value))
      offer(at + " lowest bit", [&, n = *number] {
        value = std::bit_cast<double>(std::bit_cast<uint64_t>(n) ^ 1);
      });
    if (const bool *boolean = std::get_if<bool>(&value))
      offer(at + " as integer",
            [&, n = *boolean] { value = static_cast<int64_t>(n); });
  }

  Random &random;
  size_t wanted;
};

} // namespace

TEST(ContractProperty, EveryChangeOfEveryFieldChangesTheId) {
  Random random(41);
  size_t changes = 0;
  for (int i = 0; i != 60; ++i) {
    const Contract contract = randomContract(random);
    // Not only are they others than that of the contract: they all differ. Two
    // changes rarely make the same contract; then the ids must be equal.
    std::map<std::string, Contract> seen = {{contract.id(), contract}};
    Change counting(random, std::numeric_limits<size_t>::max());
    Contract copy = contract;
    counting.walk("", copy);
    ASSERT_EQ(copy.toJson(), contract.toJson());
    for (size_t wanted = 0; wanted != counting.count; ++wanted) {
      copy = contract;
      Change change(random, wanted);
      change.walk("", copy);
      ASSERT_FALSE(change.path.empty());
      std::string id = copy.id();
      EXPECT_EQ(id.size(), 27u);
      EXPECT_NE(id, contract.id()) << change.path << "\n" << copy.toJson();
      auto [at, isNew] = seen.try_emplace(id, copy);
      EXPECT_TRUE(isNew || at->second.toJson() == copy.toJson())
          << change.path << "\n"
          << copy.toJson();
      ++changes;
    }
  }
  EXPECT_GT(changes, 60u * 30u);
}

/// Every field that is listed above stands in the canonical form, where it can
/// be read back.
TEST(ContractProperty, EveryFieldIsPrintedAndParsed) {
  Random random(42);
  for (int i = 0; i != 500; ++i) {
    Contract contract = randomContract(random);
    ASSERT_EQ(llvm::toString(contract.problem.verify()), "")
        << contract.toJson();
    llvm::Expected<Contract> again = Contract::fromJson(contract.toJson());
    ASSERT_TRUE(static_cast<bool>(again))
        << llvm::toString(again.takeError()) << "\n"
        << contract.toJson();
    EXPECT_EQ(again->toJson(), contract.toJson());
    EXPECT_EQ(again->id(), contract.id());
    // Field by field, without the canonical form.
    EXPECT_EQ(again->arguments, contract.arguments);
    EXPECT_EQ(again->numerics, contract.numerics);
    EXPECT_EQ(again->grid, contract.grid);
    EXPECT_EQ(again->block, contract.block);
    EXPECT_EQ(again->problem.dimensions, contract.problem.dimensions);
    EXPECT_EQ(again->problem.varying, contract.problem.varying);
    EXPECT_EQ(again->problem.guards, contract.problem.guards);
    ASSERT_EQ(again->problem.attributes.size(),
              contract.problem.attributes.size());
    for (const auto &[name, value] : contract.problem.attributes)
      EXPECT_TRUE(isIdentical(again->problem.attributes.at(name), value))
          << name;
  }
}

namespace {
/// The same document with its keys in another order and other white space.
std::string respell(Random &random, const nlohmann::json &value) {
  auto space = [&] {
    static const char *const spaces[] = {"", " ", "\n", "\t  ", "\r\n"};
    return spaces[below(random, std::size(spaces))];
  };
  if (!value.is_structured())
    return space() + value.dump() + space();
  std::vector<std::string> members;
  for (const auto &[key, member] : value.items())
    members.push_back(
        (value.is_object()
             ? space() + nlohmann::json(key).dump() + space() + ":"
             : "") +
        respell(random, member));
  if (value.is_object())
    std::shuffle(members.begin(), members.end(), random);
  std::string text = value.is_object() ? "{" : "[";
  for (size_t i = 0; i != members.size(); ++i)
    text += (i ? "," : "") + members[i];
  return text + space() + (value.is_object() ? "}" : "]");
}
} // namespace

TEST(ContractProperty, NothingElseChangesTheId) {
  Random random(43);
  for (int i = 0; i != 300; ++i) {
    Contract contract = randomContract(random);
    std::string id = contract.id();
    Contract shuffled = contract;
    std::shuffle(shuffled.problem.operands.begin(),
                 shuffled.problem.operands.end(), random);
    EXPECT_EQ(shuffled.id(), id);
    EXPECT_TRUE(shuffled.problem == contract.problem);
    // Maps filled in another order.
    shuffled.problem.attributes.clear();
    for (auto at = contract.problem.attributes.rbegin();
         at != contract.problem.attributes.rend(); ++at)
      shuffled.problem.attributes.insert(*at);
    EXPECT_EQ(shuffled.id(), id);
    std::string text =
        respell(random, nlohmann::json::parse(contract.toJson()));
    llvm::Expected<Contract> again = Contract::fromJson(text);
    ASSERT_TRUE(static_cast<bool>(again))
        << llvm::toString(again.takeError()) << "\n"
        << text;
    EXPECT_EQ(again->id(), id);
    for (const char *locale : {"C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "C"}) {
      std::setlocale(LC_ALL, locale); // as it was when the locale is not there
      EXPECT_EQ(contract.id(), id);
    }
  }
}

TEST(ContractProperty, NoTwoContractsShareAnId) {
  Random random(44);
  std::map<std::string, std::string> seen;
  for (int i = 0; i != 8000; ++i) {
    Contract contract = randomContract(random);
    std::string text = contract.toJson();
    auto [at, isNew] = seen.try_emplace(contract.id(), text);
    EXPECT_TRUE(isNew || at->second == text) << at->second << "\n" << text;
  }
  EXPECT_GT(seen.size(), 7900u);
}
