//===- TestTactic.h - A tactic for tests ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_CATALOG_TESTTACTIC_H
#define NETRA_UNITTESTS_CATALOG_TESTTACTIC_H

#include "Netra/Catalog/Catalog.h"

#include <nlohmann/json.hpp>

namespace netra::test {

/// A manifest that uses every feature of the format.
inline const char *const tacticText = R"json({
  "format": "netra.tactic/1",
  "name": "gfx950.test_dense",
  "target": "gfx950",
  "family": "dense",
  "operation": "dense",
  "maturity": "verified",
  "rank": 100,
  "summary": "a dense kernel for tests",
  "template": "dense/test.s",
  "symbol": "netra_test_n{N}_k{K}_w{WAVES}_{epilogue}_b{HAS_BIAS}",
  "match": {
    "dimensions": {
      "M": {"min": 1, "max": 4},
      "N": {"multiple_of": 8, "min": 8},
      "K": {"multiple_of": 64}
    },
    "operands": {
      "x": {"type": "bf16", "layout": "row_major", "shape": ["M", "K"]},
      "weight": {"type": ["bf16", "f8E4M3FN"], "layout": ["row_major", "n16k16"], "shape": ["N", "K"]},
      "bias": {"type": "bf16", "optional": true},
      "result": {"type": "bf16"}
    },
    "attributes": {
      "epilogue": ["none", "silu"],
      "accumulation": ["f32"],
      "epsilon": {"any": true},
      "weight_offset": {"min": 0.5, "max": 2}
    }
  },
  "options": {"WAVES": [4, 2, 1], "DEPTH": [2, 1]},
  "requires": ["K % (64 * WAVES) == 0", "DEPTH <= K / (64 * WAVES)"],
  "follows": ["M"],
  "masks": ["N"],
  "constants": {
    "EPILOGUE": {"attribute": "epilogue", "values": {"none": 0, "silu": 1}},
    "HAS_BIAS": {"present": "bias"},
    "EPSILON": {"f32": "epsilon"},
    "FP8": {"type_of": "weight", "values": {"bf16": 0, "f8E4M3FN": 1}},
    "CHUNKS": "K / (64 * WAVES)",
    "ROWS": 8,
    "TILES": "N / ROWS * CHUNKS"
  },
  "arguments": [
    {"name": "x", "kind": "pointer", "role": "x", "access": "read"},
    {"name": "weight", "kind": "pointer", "role": "weight", "access": "read"},
    {"name": "second_half", "kind": "pointer", "role": "weight", "access": "read", "operand_offset": "N / 2 * K"},
    {"name": "bias", "kind": "pointer", "role": "bias", "access": "read"},
    {"name": "rows", "kind": "value", "type": "i32", "value": "M", "follows": true},
    {"name": "result", "kind": "pointer", "role": "result", "access": "write"},
    {"name": "epsilon", "kind": "value", "type": "f32", "value": {"f32": "epsilon"}},
    {"name": "scale", "kind": "value", "type": "f64", "value": {"f64": "weight_offset"}},
    {"name": "scratch", "kind": "pointer", "role": "workspace", "access": "readwrite"}
  ],
  "launch": {
    "grid": ["N / ROWS", "M", 1],
    "block": ["64 * WAVES", "1", "1"],
    "static_lds": "4 * ROWS * WAVES",
    "dynamic_lds": "0"
  },
  "workspace": {"bytes": "4 * M * N", "alignment": 256},
  "registers": {"vgprs": "16 + DEPTH", "agprs": "0", "sgprs": "24"},
  "cost": {"bytes": "2 * N * K"},
  "numerics": {
    "accumulation": "f32",
    "rounding": "once",
    "reduction_order": "test.v1(CHUNKS, WAVES)",
    "error_bound": "1 ulp"
  },
  "graph_capture": true,
  "deterministic": true,
  "evidence": [{
    "kind": "simulated", "what": "unit tests",
    "tests": [{"name": "TestDense", "cases": 7, "failed": 0}],
    "kernels": [{
      "dimensions": {"M": 2, "N": 64, "K": 512},
      "attributes": {"epilogue": "silu", "epsilon": 1e-6, "weight_offset": 1},
      "operands": {
        "weight": {"type": "bf16", "layout": "row_major"},
        "bias": {"shape": [64]},
        "result": {"shape": [2, 64]}
      },
      "options": {"WAVES": 4, "DEPTH": 2},
      "identity_sha256": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
    }]
  }],
  "locks": [{
    "dimensions": {"M": 2, "N": 64, "K": 512},
    "options": {"WAVES": 4, "DEPTH": 2},
    "constants": {"EPILOGUE": 1, "HAS_BIAS": 1, "EPSILON": 897988541, "FP8": 0,
                  "CHUNKS": 2, "ROWS": 8, "TILES": 16},
    "text_sha256": "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
  }]
})json";

/// A golden record that uses every feature of the format, for the same problem.
inline const char *const goldenText = R"json({
  "format": "netra.golden/1",
  "name": "gfx950.test_golden",
  "target": "gfx950",
  "family": "dense",
  "operation": "dense",
  "maturity": "verified",
  "rank": 100,
  "summary": "a dense kernel of somebody else",
  "code": {
    "file": "dense/test.hsaco",
    "bytes": 4096,
    "sha256": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    "text_sha256": "11112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    "identity_sha256": "22112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    "symbol": "somebody_else",
    "kernarg_bytes": 64
  },
  "match": {
    "dimensions": {"M": {"min": 1, "max": 4}, "N": {"multiple_of": 8}, "K": 512},
    "operands": {
      "x": {"type": "bf16", "shape": ["M", "K"]},
      "weight": {"type": ["bf16", "f16"], "shape": ["N", "K"]},
      "bias": {"type": "bf16"},
      "result": {"type": "bf16"}
    },
    "attributes": {
      "epilogue": ["silu"], "accumulation": ["f32"], "epsilon": {"any": true},
      "weight_offset": {"any": true}
    }
  },
  "requires": ["N >= M"],
  "arguments": [
    {"name": "x", "kind": "pointer", "type": "bf16", "role": "x", "access": "read", "offset": 8, "bytes": 8},
    {"name": "weight", "kind": "pointer", "type": "bf16", "role": "weight", "access": "read", "operand_offset": 16, "offset": 16, "bytes": 8},
    {"name": "rows", "kind": "value", "type": "i32", "value": "M", "offset": 24, "bytes": 4},
    {"name": "result", "kind": "pointer", "type": "bf16", "role": "result", "access": "write", "offset": 32, "bytes": 8},
    {"name": "epsilon", "kind": "value", "type": "f32", "value": {"f32": "epsilon"}, "offset": 40, "bytes": 4},
    {"name": "scratch", "kind": "pointer", "type": "u8", "role": "workspace", "access": "readwrite", "offset": 48, "bytes": 8}
  ],
  "launch": {"grid": ["N / 8", "M", 1], "block": [256, 1, 1], "static_lds": 512, "dynamic_lds": "1024"},
  "workspace": {"bytes": "4 * M * N", "alignment": 256},
  "registers": {"vgprs": 16, "agprs": 0, "sgprs": 24},
  "cost": {"bytes": "2 * N * K"},
  "numerics": {"accumulation": "f32", "rounding": "once", "reduction_order": "theirs", "error_bound": "1 ulp"},
  "graph_capture": true,
  "deterministic": true,
  "evidence": [{"kind": "simulated", "what": "unit tests"}]
})json";

/// The schemes of arithmetic that the two name.
inline const char *const schemesText = R"json({
  "format": "netra.numerics/1",
  "schemes": [
    {"kind": "reduction_order", "name": "test", "version": 1, "parameters": ["CHUNKS", "WAVES"], "text": "chunks, then waves"},
    {"kind": "reduction_order", "name": "theirs", "parameters": [], "text": "as they like"},
    {"kind": "rounding", "name": "once", "parameters": [], "text": "at the end"}
  ]
})json";

/// A problem that the tactic above matches.
inline Problem testProblem(int64_t n = 64, int64_t k = 512) {
  Problem problem;
  problem.family = "dense";
  problem.operation = "dense";
  problem.dimensions = {{"M", 2}, {"N", n}, {"K", k}};
  problem.operands = {{"x", ElementType::BF16, {2, k}, "row_major"},
                      {"weight", ElementType::BF16, {n, k}, "row_major"},
                      {"bias", ElementType::BF16, {n}, "row_major"},
                      {"result", ElementType::BF16, {2, n}, "row_major"}};
  problem.attributes = {{"epilogue", std::string("silu")},
                        {"accumulation", std::string("f32")},
                        {"epsilon", 1e-6},
                        {"weight_offset", 1.0}};
  return problem;
}

inline nlohmann::json testTacticJson() {
  // ordered text → ordered reader: options keep their order only in the text,
  // so tests that care about it use `tacticText` itself. Without locks, which
  // name every option and constant and so forbid changes of them.
  nlohmann::json document = nlohmann::json::parse(tacticText);
  document.erase("locks");
  return document;
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_CATALOG_TESTTACTIC_H
