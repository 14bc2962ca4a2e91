//===- ContractConversionTest.cpp - Contracts as attributes ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/ContractConversion.h"

#include "IRTest.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;
using namespace netra;

namespace {

using ContractConversionTest = netra::IRTest;

Contract makeContract() {
  Contract contract;
  contract.target = "gfx950";
  contract.problem.family = "norm";
  contract.problem.operation = "rms_norm";
  contract.problem.dimensions = {{"M", 1}, {"N", 64}};
  contract.problem.operands = {
      {"x", ElementType::BF16, {1, 64}, "row_major"},
      {"result", ElementType::F8E4M3FN, {1, 64}, "row_major"}};
  contract.problem.attributes = {{"epsilon", 1e-6},
                                 {"zero", -0.0},
                                 {"accumulation", std::string("f32")},
                                 {"exact", true},
                                 {"rows", int64_t(-3)}};
  Argument value;
  value.name = "bits";
  value.kind = ArgumentKind::Value;
  value.type = ElementType::U64;
  value.access = Access::Value;
  value.bits = std::numeric_limits<uint64_t>::max();
  Argument pointer;
  pointer.name = pointer.role = "x";
  contract.arguments = {pointer, value};
  contract.kernargBytes = 16;
  contract.grid = {std::numeric_limits<uint32_t>::max(), 2, 3};
  contract.block = {64, 1, 1};
  contract.numerics = {"f32", "once", "tree: \"quoted\", ümlaut"};
  return contract;
}

TEST_F(ContractConversionTest, GoesThereAndBack) {
  Contract contract = makeContract();
  DictionaryAttr attribute = contractToAttr(&context, contract);
  llvm::Expected<Contract> back = contractFromAttr(attribute);
  ASSERT_TRUE(static_cast<bool>(back)) << llvm::toString(back.takeError());
  EXPECT_EQ(*back, contract);
  EXPECT_EQ(back->id(), contract.id());
}

TEST_F(ContractConversionTest, SurvivesPrintingAndParsing) {
  Contract contract = makeContract();
  std::string text;
  llvm::raw_string_ostream(text) << contractToAttr(&context, contract);
  Attribute parsed = parseAttribute(text, &context);
  ASSERT_TRUE(isa_and_present<DictionaryAttr>(parsed)) << text << messages;
  llvm::Expected<Contract> back =
      contractFromAttr(cast<DictionaryAttr>(parsed));
  ASSERT_TRUE(static_cast<bool>(back)) << llvm::toString(back.takeError());
  EXPECT_EQ(back->id(), contract.id());
}

/// Every path to a value inside a dictionary, with the value taken away or
/// replaced by one of another kind.
void collectDamaged(Builder &builder, DictionaryAttr dictionary,
                    llvm::function_ref<void(StringRef, DictionaryAttr)> use) {
  for (NamedAttribute field : dictionary) {
    NamedAttrList without(dictionary);
    without.erase(field.getName());
    use(field.getName(), without.getDictionary(builder.getContext()));
    for (Attribute wrong :
         {Attribute(builder.getUnitAttr()),
          Attribute(builder.getF32FloatAttr(1.0f)),
          Attribute(builder.getI32IntegerAttr(1)),
          Attribute(builder.getArrayAttr(builder.getUnitAttr()))}) {
      NamedAttrList changed(dictionary);
      changed.set(field.getName(), wrong);
      use(field.getName(), changed.getDictionary(builder.getContext()));
    }
    if (auto nested = dyn_cast<DictionaryAttr>(field.getValue()))
      // The entries of these are free; their form is the catalogue's matter.
      if (field.getName() != "dimensions" && field.getName() != "attributes")
        collectDamaged(builder, nested,
                       [&](StringRef name, DictionaryAttr damaged) {
                         NamedAttrList changed(dictionary);
                         changed.set(field.getName(), damaged);
                         use(name, changed.getDictionary(builder.getContext()));
                       });
  }
}

TEST_F(ContractConversionTest, DamagedContractsAreErrors) {
  Builder builder(&context);
  DictionaryAttr good = contractToAttr(&context, makeContract());
  unsigned count = 0;
  collectDamaged(builder, good, [&](StringRef name, DictionaryAttr damaged) {
    ++count;
    llvm::Expected<Contract> contract = contractFromAttr(damaged);
    EXPECT_FALSE(static_cast<bool>(contract)) << "damaged " << name.str();
    if (!contract) {
      EXPECT_FALSE(llvm::toString(contract.takeError()).empty());
    }
  });
  EXPECT_GT(count, 60u);
}

TEST_F(ContractConversionTest, IsLookedUpByItsDictionary) {
  Contract contract = makeContract();
  DictionaryAttr made = contractToAttr(&context, contract);
  std::string text;
  llvm::raw_string_ostream(text) << made;
  // In a context that has not seen the contract, it is read.
  MLIRContext other;
  auto parsed = dyn_cast_or_null<DictionaryAttr>(parseAttribute(text, &other));
  ASSERT_TRUE(parsed);
  for (DictionaryAttr attribute : {made, parsed}) {
    llvm::Expected<const KnownContract &> known = lookupContract(attribute);
    ASSERT_TRUE(static_cast<bool>(known)) << llvm::toString(known.takeError());
    EXPECT_EQ(known->contract, contract);
    EXPECT_EQ(known->id, contract.id());
    llvm::Expected<const KnownContract &> again = lookupContract(attribute);
    ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
    EXPECT_EQ(&*known, &*again);
  }
  NamedAttrList fields(made);
  fields.erase("kernarg_bytes");
  for (int time = 0; time != 2; ++time) {
    llvm::Expected<const KnownContract &> damaged =
        lookupContract(fields.getDictionary(&context));
    EXPECT_FALSE(static_cast<bool>(damaged));
    llvm::consumeError(damaged.takeError());
  }
}

TEST_F(ContractConversionTest, ForeignAttributesAreErrors) {
  Builder builder(&context);
  NamedAttrList fields(contractToAttr(&context, makeContract()));
  fields.set("unknown", builder.getStringAttr("\xff\xfe"));
  llvm::Expected<Contract> contract =
      contractFromAttr(fields.getDictionary(&context));
  ASSERT_FALSE(static_cast<bool>(contract));
  EXPECT_NE(llvm::toString(contract.takeError()).find("unknown"),
            std::string::npos);
}

} // namespace
