//===- Diagnostics.cpp - Where errors and remarks are ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace netra;

/// "layers.0.mlp.gate_up" or, of what was fused, "…gate_up + …activation".
static std::string nameOf(Location location) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  return llvm::join(names, " + ");
}

static StringRef kindOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

Diagnostics::Diagnostics(llvm::SourceMgr &sources, MLIRContext *context,
                         StringRef input)
    : SourceMgrDiagnosticHandler(sources, context), input(input) {
  setHandler([this](Diagnostic &diagnostic) { print(diagnostic); });
}

void Diagnostics::print(Diagnostic &diagnostic) {
  if (diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    return emitDiagnostic(diagnostic);
  std::string name = nameOf(diagnostic.getLocation());
  llvm::errs() << (name.empty() ? input : name) << ": "
               << kindOf(diagnostic.getSeverity()) << ": " << diagnostic
               << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}
