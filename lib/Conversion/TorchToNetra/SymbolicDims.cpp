//===- SymbolicDims.cpp - Names of dynamic dimensions ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SymbolicDims.h"
#include "GraphReader.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

/// The text of an expression over named symbols.
static std::string spellExpression(AffineExpr expression,
                                   ArrayRef<std::string> symbols,
                                   bool isOperand = false) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return "?";
  std::string lhs = spellExpression(binary.getLHS(), symbols, true);
  std::string rhs = spellExpression(binary.getRHS(), symbols, true);
  std::string text;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    text = concat(lhs, " + ", rhs);
    break;
  case AffineExprKind::Mul:
    text = concat(lhs, " * ", rhs);
    break;
  case AffineExprKind::Mod:
    text = concat(lhs, " % ", rhs);
    break;
  case AffineExprKind::FloorDiv:
    text = concat(lhs, " / ", rhs);
    break;
  default:
    return concat("ceildiv(", spellExpression(binary.getLHS(), symbols), ", ",
                  spellExpression(binary.getRHS(), symbols), ")");
  }
  return isOperand ? concat("(", text, ")") : text;
}

DenseMap<Value, SmallVector<std::string>>
netra::importer::readSymbolicDims(func::FuncOp function,
                                  const llvm::StringMap<std::string> &renamed) {
  // The statement about an argument may be made of a copy of it.
  SmallVector<std::pair<Value, torch::BindSymbolicShapeOp>> statements;
  llvm::SetVector<Value> symbols;
  for (auto bind : function.getOps<torch::BindSymbolicShapeOp>()) {
    Value operand = bind.getOperand();
    if (auto copy = operand.getDefiningOp<torch::CopyToValueTensorOp>())
      operand = copy.getOperand();
    operand = skipIdentities(operand);
    if (!isa<BlockArgument>(operand))
      continue;
    statements.emplace_back(operand, bind);
    for (auto [i, symbol] : llvm::enumerate(bind.getShapeSymbols()))
      if (bind.getShapeExpressions().isFunctionOfSymbol(i))
        symbols.insert(symbol);
  }

  DenseMap<Value, std::string> names;
  for (Value symbol : symbols) {
    auto op = symbol.getDefiningOp<torch::SymbolicIntOp>();
    std::string name = op ? op.getSymbolName().str() : "?";
    if (auto found = renamed.find(name); found != renamed.end())
      name = found->second;
    else if (symbols.size() == 1)
      name = std::string("m");
    // A name may be an expression of the exporter's, such as "32*s1"; in
    // parentheses it is a name that does not look like a number.
    if (name.empty() || llvm::isDigit(name.front()) || name.front() == '-')
      name = concat("(", name, ")");
    names[symbol] = name;
  }

  DenseMap<Value, SmallVector<std::string>> result;
  for (auto [argument, bind] : statements) {
    SmallVector<std::string> symbolNames;
    for (Value symbol : bind.getShapeSymbols())
      symbolNames.push_back(names.lookup(symbol));
    SmallVector<std::string> dims;
    for (AffineExpr expression : bind.getShapeExpressions().getResults())
      dims.push_back(spellExpression(expression, symbolNames));
    result.try_emplace(argument, dims);
  }
  return result;
}
