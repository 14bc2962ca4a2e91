//===- IRTest.h - What the tests of the dialect share -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_IR_IRTEST_H
#define NETRA_UNITTESTS_IR_IRTEST_H

#include "Netra/IR/NetraOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <string>

namespace netra {

/// A context with the dialect; diagnostics are collected, not printed.
class IRTest : public ::testing::Test {
protected:
  IRTest()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<NetraDialect, mlir::func::FuncDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    return module;
  }

  mlir::InFlightDiagnostic emitError() {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  }

  /// The only operation of type `Op` below `module`.
  template <typename Op> static Op only(mlir::ModuleOp module) {
    Op found;
    unsigned count = 0;
    module.walk([&](Op op) {
      found = op;
      ++count;
    });
    EXPECT_EQ(count, 1u);
    return found;
  }

  template <typename Op> static unsigned count(mlir::ModuleOp module) {
    unsigned count = 0;
    module.walk([&](Op) { ++count; });
    return count;
  }

  static std::string print(mlir::Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os);
    return text;
  }

  mlir::MLIRContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace netra

#endif // NETRA_UNITTESTS_IR_IRTEST_H
