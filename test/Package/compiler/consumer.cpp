// A program that sees nothing but the installed compiler libraries.
#include "Netra/Catalog/Catalog.h"
#include "Netra/IR/NetraDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  if (!context.getOrLoadDialect<netra::NetraDialect>())
    return 1;
  auto catalog =
      netra::Catalog::load(netra::Catalog::findLibraryRoot(), "gfx950");
  if (!catalog) {
    llvm::errs() << llvm::toString(catalog.takeError()) << "\n";
    return 2;
  }
  llvm::outs() << catalog->tactics().size() << " tactics\n";
  return catalog->tactics().empty() ? 3 : 0;
}
