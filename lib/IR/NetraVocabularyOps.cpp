//===- NetraVocabularyOps.cpp - From token ids and to them ----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Tactics.h"
#include "Verification.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;

#define GET_OP_CLASSES
#include "Netra/IR/NetraVocabularyOps.cpp.inc"

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  RankedTensorType ids = tensorType(getIds()), table = tensorType(getTable());
  if (ids.getRank() != 1 || table.getRank() != 2)
    return emitOpError("C1: 'ids' must be [M] and 'table' [V, N], found ")
           << ids << " and " << table;
  if (failed(verifyShape(*this, "C2", "result", getResult(),
                         {ids.getDimSize(0), table.getDimSize(1)})))
    return failure();
  if (!getScale().isFinite())
    return emitOpError("C3: 'scale' must be finite, found ") << getScaleAttr();
  return success();
}

Problem EmbeddingOp::getProblem() {
  Problem problem = makeProblem(*this, "vocabulary", "embedding");
  problem.dimensions["M"] = tensorType(getIds()).getDimSize(0);
  problem.dimensions["V"] = tensorType(getTable()).getDimSize(0);
  problem.dimensions["N"] = tensorType(getTable()).getDimSize(1);
  problem.attributes["scale"] = problemNumber(getScale());
  return problem;
}

void EmbeddingOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "ids", getIds());
  addRole(inputs, "table", getTable());
  addRole(results, "result", getResult());
}

//===----------------------------------------------------------------------===//
// ArgmaxOp and SampleOp
//===----------------------------------------------------------------------===//

/// C1 of both.
static LogicalResult verifyLogits(Operation *op, Value logits) {
  RankedTensorType type = tensorType(logits);
  if (type.getRank() != 2 || type.getDimSize(1) == 0)
    return op->emitOpError("C1: 'logits' must be [M, V] with at least one "
                           "column, found ")
           << type;
  return success();
}

static void addLogitDimensions(Problem &problem, Value logits) {
  problem.dimensions["M"] = tensorType(logits).getDimSize(0);
  problem.dimensions["V"] = tensorType(logits).getDimSize(1);
}

LogicalResult ArgmaxOp::verify() {
  if (failed(verifyLogits(*this, getLogits())))
    return failure();
  int64_t rows = tensorType(getLogits()).getDimSize(0);
  if (failed(verifyShape(*this, "C2", "result", getResult(), rows)))
    return failure();
  return getValue() ? verifyShape(*this, "C2", "value", getValue(), rows)
                    : success();
}

Problem ArgmaxOp::getProblem() {
  Problem problem = makeProblem(*this, "vocabulary", "argmax");
  addLogitDimensions(problem, getLogits());
  return problem;
}

void ArgmaxOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "logits", getLogits());
  addRole(results, "result", getResult());
  addRole(results, "value", getValue());
}

LogicalResult SampleOp::verify() {
  if (failed(verifyLogits(*this, getLogits())))
    return failure();
  SmallVector<std::pair<StringRef, Value>> inputs, results;
  getRoles(inputs, results);
  llvm::append_range(inputs, results);
  for (auto [role, value] : ArrayRef(inputs).drop_front())
    if (failed(verifyShape(*this, "C2", role, value,
                           tensorType(getLogits()).getDimSize(0))))
      return failure();
  return success();
}

Problem SampleOp::getProblem() {
  Problem problem = makeProblem(*this, "vocabulary", "sample");
  addLogitDimensions(problem, getLogits());
  return problem;
}

void SampleOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "logits", getLogits());
  addRole(inputs, "temperature", getTemperature());
  addRole(inputs, "top_k", getTopK());
  addRole(inputs, "top_p", getTopP());
  addRole(inputs, "seed", getSeed());
  addRole(inputs, "offset", getOffset());
  addRole(results, "result", getResult());
}
