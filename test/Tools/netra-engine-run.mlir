// From a module to numbers on the simulator: inspect, explain, validate,
// pack-weights and run on one small engine.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: netra-translate --netra-to-engine %s --profile=decode_m1 -o %t/engine
//
// RUN: netra-engine inspect %t/engine | FileCheck %s --check-prefix=INSPECT
// INSPECT: engine small, id ne_
// INSPECT: input  0  x {{.*}}1x512xbf16
// INSPECT: output 0  y {{.*}}1x512xbf16
// INSPECT: weights
// INSPECT: from a.weight + b.weight
// INSPECT: decisions
// INSPECT-NEXT: 0 by m
// INSPECT-NEXT: {{^ +0 +refused$}}
// INSPECT-NEXT: {{^ +1 +decision 1$}}
// INSPECT-NEXT: {{^ +2 and above +refused$}}
// INSPECT-NEXT: 1 by batch
// INSPECT-NEXT: {{^ +0 +refused$}}
// INSPECT-NEXT: {{^ +1..64 +decision 2$}}
// INSPECT-NEXT: {{^ +65 and above +refused$}}
// INSPECT-NEXT: 2 by sequence
// INSPECT-NEXT: {{^ +0..1048576 +plan decode_m1$}}
// INSPECT-NEXT: {{^ +1048577 and above +refused$}}
// INSPECT: plan decode_m1: profile decode_m1, priority 30, for batch = 1..64, m = 1
// INSPECT: gfx950.dense_bf16_m1
// INSPECT: memory: arena of 1024 bytes
// INSPECT: 0 1024 Wr
//
// RUN: netra-engine inspect --json %t/engine | diff - %t/engine/engine.json
//
// RUN: netra-engine explain %t/engine | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: plan decode_m1
// EXPLAIN: tactic  gfx950.dense_bf16_m1
// EXPLAIN-NEXT: why
// EXPLAIN: not {{.*}}expected {{.*}}, found
//
// RUN: netra-engine validate %t/engine | FileCheck %s --check-prefix=VALID
// VALID: engine: valid
//
// A checkpoint with everything wrong: all of it is told at once, and nothing is
// written.
// RUN: python3 %S/Inputs/make_checkpoint.py %t/wrong.safetensors a.weight:BF16:512x256 c.weight:F32:512x512
// RUN: not netra-engine pack-weights --engine %t/engine --checkpoint %t/wrong.safetensors -o %t/packed 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: tensor a.weight {{.*}}expected 512x512xbf16, found 512x256xbf16
// WRONG-DAG: tensor b.weight {{.*}}not in the checkpoint
// WRONG-DAG: tensor c.weight {{.*}}expected 512x512xbf16, found 512x512xf32
// WRONG: does not fit the engine: 3 problems
// RUN: not ls %t/packed %t/packed.partial
//
// Two files, or a directory of them, give the same bytes.
// RUN: mkdir %t/checkpoint
// RUN: python3 %S/Inputs/make_checkpoint.py %t/checkpoint/1.safetensors a.weight:BF16:512x512 b.weight:BF16:512x512
// RUN: python3 %S/Inputs/make_checkpoint.py %t/checkpoint/2.safetensors c.weight:BF16:512x512
// RUN: netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint --threads 3 -o %t/packed | FileCheck %s --check-prefix=PACKED
// PACKED: packed 2 weights, 1.5 MiB
// RUN: netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint/1.safetensors --checkpoint %t/checkpoint/2.safetensors -o %t/again
// RUN: cmp %t/packed %t/again
// RUN: netra-engine pack-weights --checkpoint %t/checkpoint/1.safetensors %t/checkpoint/2.safetensors --engine %t/engine -o %t/again
// RUN: cmp %t/packed %t/again
// RUN: netra-engine pack-weights --engine %t/engine -o %t/again --checkpoint %t/checkpoint/*.safetensors
// RUN: cmp %t/packed %t/again
//
// RUN: netra-engine run --engine %t/engine --weights %t/packed --hip=sim --check=all --seed=1 --repeat=2 --output y=%t/y 2>&1 | FileCheck %s --check-prefix=RUNS
// RUNS: profile decode_m1: 2 steps
// RUNS: launch 2:
// RUNS: all 2 launches give the same bits
// RUNS: checkers (all): no findings
//
// A graph, another schedule and another order of work-groups change no bit.
// RUN: netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --graph --output y=%t/graph
// RUN: cmp %t/y %t/graph
// RUN: netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --schedule=random:5 --workgroup-order=reverse --output y=%t/order
// RUN: cmp %t/y %t/order
//
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --mfma=guess 2>&1 | FileCheck %s --check-prefix=MFMA
// MFMA: run: --mfma: expected cdna3 or sequential, found "guess"
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --workgroup-order=random:x 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: run: --workgroup-order: expected forward, reverse, random or random:SEED, a number below 2^64, found "random:x"
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --memory-limit=64K 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: hipErrorOutOfMemory
//
// RUN: netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --counters=json | FileCheck %s --check-prefix=JSON
// JSON: "findings": 0
// JSON: "instructions":
// JSON: "repeats_equal": true
//
// What does not fit is said.
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: no --input for x; --seed=N
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --input x=%s 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: expected 1024 bytes for x, found
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --output z=%t/z 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: run: --output: expected one of y, found z
// RUN: not netra-engine run --engine %t/engine --weights %t/wrong.safetensors --hip=sim --seed=1 2>&1 | FileCheck %s --check-prefix=UNPACKED
// UNPACKED: NETRA_MANIFEST: {{.*}}pack-weights
//
// What was packed is checked against the engine alone, and, by unpacking,
// against the checkpoint.
// RUN: netra-engine validate %t/engine --weights %t/packed | FileCheck %s --check-prefix=VALID
// RUN: netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint --verify %t/packed | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: packed: 2 weights, 1.5 MiB, as engine and checkpoint make them
// RUN: python3 %S/Inputs/flip.py %t/packed %t/damaged 5000
// RUN: not netra-engine validate %t/engine --weights %t/damaged 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: damaged: block 0 ({{.*}}): expected SHA-256 {{[0-9a-f]+}}, found
// DAMAGED: 1 fault
// RUN: not netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint --verify %t/damaged 2>&1 | FileCheck %s --check-prefix=DIFFERS
// DIFFERS: block 0
// DIFFERS: from tensor {{[abc]}}.weight: element {{[0-9]+}}: expected the bytes
// DIFFERS: is not what engine and checkpoint make: 2 differences
// RUN: not netra-engine run --engine %t/engine --weights %t/damaged --hip=sim --seed=1 2>&1 | FileCheck %s --check-prefix=REFUSES
// REFUSES: NETRA_MANIFEST: {{.*}}expected SHA-256 {{[0-9a-f]+}}, found {{[0-9a-f]+}}; the file is damaged
// RUN: not netra-engine run --engine %t/engine --hip=sim --seed=1 2>&1 | FileCheck %s --check-prefix=UNWEIGHTED
// UNWEIGHTED: run: --weights is missing: expected the file that netra-engine pack-weights makes for this engine, with its 1.5 MiB of weights
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --input z=%s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: run: --input: expected one of x, found z
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --repeat=never 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: run: --repeat: expected a number from 1 to 4294967295, found "never"
// RUN: bash -c 'for o in threads=-1 threads=010 threads=1025 threads=x; do netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --$o; test $? = 2 || exit 9; done' 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS-COUNT-4: netra-engine: run: --threads: expected a number of threads up to 1024, or 0 for one per core, found "{{-1|010|1025|x}}"
// RUN: bash -c 'for o in memory-limit=x timeout=-1; do netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --$o; test $? = 2 || exit 9; done' 2>&1 | FileCheck %s --check-prefix=LIMITS
// LIMITS: netra-engine: run: --memory-limit: expected a number of bytes below 2^64, with K, M or G for powers of 1024, found "x"
// LIMITS: netra-engine: run: --timeout: expected seconds, at most a year of them, or 0 for no limit, found "-1"
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --shape m=2 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: NETRA_UNSUPPORTED_PROFILE: no plan admits m=2
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --check=luck 2>&1 | FileCheck %s --check-prefix=CHECKER
// CHECKER: run: --check:
// RUN: not netra-engine run --engine %t/engine --hip=/no/such/library.so --seed=1 2>&1 | FileCheck %s --check-prefix=LIBRARY
// LIBRARY: NETRA_HIP: cannot open a HIP library for "/no/such/library.so"
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --output y=/no/such/folder/y 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: cannot write /no/such/folder/y

// A device, a pipe or a folder is never replaced by a file.
// RUN: mkfifo %t/pipe
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 --output y=%t/pipe 2>&1 | FileCheck %s --check-prefix=SPECIAL
// RUN: not netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint -o %t/pipe 2>&1 | FileCheck %s --check-prefix=SPECIAL
// RUN: test -p %t/pipe
// SPECIAL: cannot write {{.*}}/pipe: expected the name of a regular file, found a special file
// RUN: not netra-engine pack-weights --engine %t/engine --checkpoint %t/checkpoint -o %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: expected the name of a regular file, found a folder
//
// An engine that was changed is refused by both verifiers.
// RUN: sed -i 's/"priority": 30/"priority": 31/' %t/engine/engine.json
// RUN: not netra-engine validate %t/engine 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: /id: expected ne_
// RUN: not netra-engine run --engine %t/engine --weights %t/packed --hip=sim --seed=1 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: NETRA_MANIFEST: engine.json: /id

module @small {
  netra.parameter @a : tensor<512x512xbf16> checkpoint("a.weight")
  netra.parameter @b : tensor<512x512xbf16> checkpoint("b.weight")
  netra.parameter @c : tensor<512x512xbf16> checkpoint("c.weight")
  func.func @small(%x: tensor<?x512xbf16> {netra.name = "x"}) -> (tensor<?x512xbf16> {netra.name = "y"}) {
    %wa = netra.get @a : tensor<512x512xbf16>
    %wb = netra.get @b : tensor<512x512xbf16>
    %wc = netra.get @c : tensor<512x512xbf16>
    %a = netra.dense %x, %wa : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %b = netra.dense %x, %wb : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    %h = netra.gated %a, %b {activation = #netra.activation<silu>} : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x512xbf16>
    %y = netra.dense %h, %wc : (tensor<?x512xbf16>, tensor<512x512xbf16>) -> tensor<?x512xbf16>
    return %y : tensor<?x512xbf16>
  }
}
