//===- netra-opt.cpp - Run passes on netra IR -----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Reads MLIR, runs the passes named on the command line, prints the result.
// `netra-opt --help` lists them. Exit status: 0 when it worked, 1 when it did
// not; then the output file is as it was before.
//
//===----------------------------------------------------------------------===//

#include "InputFile.h"
#include "Interrupts.h"
#include "OutputFile.h"

#include "Netra/Conversion/Passes.h"
#include "Netra/IR/NetraDialect.h"
#include "Netra/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

namespace cl = llvm::cl;

/// The options that LLVM's libraries have registered for themselves steer code
/// generators that this tool does not run; --help-hidden still lists them.
static void hideOptionsOfLibraries() {
  for (auto &entry : cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "version"}, entry.first))
      entry.second->setHiddenFlag(cl::Hidden);
}

/// A location and the line of source say where; the whole operation, which may
/// be the module, only on request.
static void quietDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  auto options = cl::getRegisteredOptions();
  auto found = options.find("mlir-print-op-on-diagnostic");
  if (found != options.end())
    static_cast<cl::opt<bool> *>(found->second)->setInitialValue(false);
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "netra-opt: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  netra::tool::treatFileSizeLimitAsError();
  llvm::InitLLVM init(argc, argv);
  hideOptionsOfLibraries();
  quietDiagnostics();
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "netra-opt " << NETRA_VERSION << "\n";
  });

  // One line for each library that has dialects.
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, netra::NetraDialect>();
  netra::registerImportDialects(registry);

  // One line for each library that has passes.
  mlir::registerTransformsPasses();
  netra::registerConversionPasses();
  netra::registerTransforms();

  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Netra's pass driver\n", registry);
  mlir::MlirOptMainConfig config =
      mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, "-", registry));

  if (input == "-" && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(reading from the terminal; end with ctrl-d)\n";
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      netra::tool::readInput(input);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool failed =
      mlir::MlirOptMain(stream, std::move(*file), registry, config).failed();
  // What a failed run has printed (after --split-input-file, say) is worth
  // seeing, but not worth a file.
  if (failed && output != "-")
    return 1;
  if (llvm::Error error = netra::tool::writeOutput(output, text))
    return fail(llvm::toString(std::move(error)));
  return failed ? 1 : 0;
}
