//===- netra-opt.cpp - Run passes on netra IR -----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Reads MLIR, runs the passes named on the command line, prints the result.
// `netra-opt --help` lists them.
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/Passes.h"
#include "Netra/IR/NetraDialect.h"
#include "Netra/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  // One line for each library that has dialects.
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, netra::NetraDialect>();
  netra::registerImportDialects(registry);

  // One line for each library that has passes.
  mlir::registerTransformsPasses();
  netra::registerConversionPasses();
  netra::registerTransforms();

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Netra's pass driver\n", registry));
}
