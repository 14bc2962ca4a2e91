#!/usr/bin/env bash
# A mixture-of-experts block at the sizes of Qwen3.6-35B, from its graph to
# checked numbers, on the simulated GPU. Needs 1.6 GB of disk space meanwhile.
#
#   run.sh BUILD_FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common/points.sh"
build=${1:?"usage: run.sh BUILD_FOLDER"}
export PATH="$build/bin:$PATH"
export NETRA_LIBRARY_ROOT=${NETRA_LIBRARY_ROOT:-$(cd "$here/../.." && pwd)}
work="$build/examples/moe_block"
mkdir -p "$work"
trap 'rm -f "$work"/*.safetensors*' EXIT

python3 "$here/make_weights.py" "$work"
check_points "$work" "$here/moe_block.mlir" 2048 moe-block-oracle "$work/model.safetensors"
