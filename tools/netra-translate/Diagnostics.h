//===- Diagnostics.h - Where errors and remarks are -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_DIAGNOSTICS_H
#define NETRA_TOOLS_TRANSLATE_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace netra {

/// Prints diagnostics on stderr. What lies in a file has its line and column;
/// operations of imported models have the name of the part of the model that
/// they come from, and everything else that of the input.
class Diagnostics : public mlir::SourceMgrDiagnosticHandler {
public:
  Diagnostics(llvm::SourceMgr &sources, mlir::MLIRContext *context,
              llvm::StringRef input);

private:
  void print(mlir::Diagnostic &diagnostic);

  std::string input;
};

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_DIAGNOSTICS_H
