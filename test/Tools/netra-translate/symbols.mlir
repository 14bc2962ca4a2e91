// A tactic whose symbol does not tell its kernels apart, and names that could not
// be read back.
//
// RUN: rm -rf %t && mkdir -p %t/library/manifests/gfx950/tactics
// RUN: ln -s %netra_src/kernels %t/library/kernels
// RUN: cp -r %netra_src/manifests/gfx950/profiles %netra_src/manifests/gfx950/numerics.json %t/library/manifests/gfx950/
// RUN: sed 's/"symbol": "[^"]*"/"symbol": "same"/' %netra_src/manifests/gfx950/tactics/embedding_bf16.json > %t/library/manifests/gfx950/tactics/embedding_bf16.json
// RUN: not netra-translate --netra-to-engine %s --profile=decode_m1 --library-root=%t/library -o %t/engine 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL: error: expected one machine code for symbol same of tactic gfx950.embedding_bf16, found two, for
// SYMBOL-SAME: N=1024 and 512,
// SYMBOL-SAME: which "symbol" of {{.*}}embedding_bf16.json must tell apart
// RUN: not netra-translate --netra-to-asm %s --profile=decode_m1 --library-root=%t/library 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/sound
//
// RUN: sed 's/"ids"/"i\\00s"/' %s > %t/nul.mlir
// RUN: not netra-translate --netra-to-engine %t/nul.mlir --profile=decode_m1 -o %t/engine 2>&1 | FileCheck %s --check-prefix=NUL
// NUL: error: the engine is inconsistent: /bindings/0/name: expected UTF-8 without control characters, found "i\00s"
// RUN: sed 's/"ids"/"i\\FFs"/' %s > %t/bytes.mlir
// RUN: not netra-translate --netra-to-engine %t/bytes.mlir --profile=decode_m1 -o %t/engine 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: the engine is inconsistent: /bindings/0/name: expected UTF-8 without control characters, found "i\FFs"
// RUN: not ls %t/engine

module @lookup {
  func.func @lookup(%ids: tensor<?xi32> {netra.name = "ids"}, %t: tensor<100x1024xbf16> {netra.name = "t"}, %u: tensor<100x512xbf16> {netra.name = "u"}) -> (tensor<?x1024xbf16> {netra.name = "r"}, tensor<?x512xbf16> {netra.name = "q"}) {
    %0 = netra.embedding %ids, %t : (tensor<?xi32>, tensor<100x1024xbf16>) -> tensor<?x1024xbf16>
    %1 = netra.embedding %ids, %u : (tensor<?xi32>, tensor<100x512xbf16>) -> tensor<?x512xbf16>
    return %0, %1 : tensor<?x1024xbf16>, tensor<?x512xbf16>
  }
}
