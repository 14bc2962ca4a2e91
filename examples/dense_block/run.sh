#!/usr/bin/env bash
# The feed-forward half of a layer of Qwen3.6-27B, from its graph to checked
# numbers, on the simulated GPU. Needs 540 MB of disk space meanwhile.
#
#   run.sh BUILD_FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common/points.sh"
build=${1:?"usage: run.sh BUILD_FOLDER"}
export PATH="$build/bin:$PATH"
export NETRA_LIBRARY_ROOT=${NETRA_LIBRARY_ROOT:-$(cd "$here/../.." && pwd)}
work="$build/examples/dense_block"
mkdir -p "$work"
trap 'rm -f "$work"/*.safetensors*' EXIT

python3 "$here/../decoder_mlp/make_weights.py" fp8 "$work" 5120 17408 16
check_points "$work" "$here/dense_block.mlir" 5120 decoder-mlp-oracle fp8 1 "$work/model.safetensors"
