#!/usr/bin/env bash
# A mixture-of-experts block at the sizes of Qwen3.6-35B, from its graph to
# checked numbers, on the simulated GPU. Needs 1.6 GB of disk space meanwhile.
#
#   run.sh BUILD_FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?"usage: run.sh BUILD_FOLDER"}
export PATH="$build/bin:$PATH"
export NETRA_LIBRARY_ROOT=${NETRA_LIBRARY_ROOT:-$(cd "$here/../.." && pwd)}
work="$build/examples/moe_block"
mkdir -p "$work"
trap 'rm -f "$work"/*.safetensors*' EXIT

python3 "$here/make_weights.py" "$work"
netra-translate --netra-to-engine "$here/moe_block.mlir" --profile=decode_m1 --target=gfx950 -o "$work/engine"
netra-engine inspect "$work/engine"
netra-engine pack-weights --engine "$work/engine" --checkpoint "$work/model.safetensors" -o "$work/packed.safetensors"
netra-engine run --engine "$work/engine" --weights "$work/packed.safetensors" --profile decode_m1 \
  --hip sim --check=all --repeat 2 \
  --input "x=$work/x.bin" --input "residual=$work/residual.bin" --output "y=$work/y.bin"

against_oracle() {
  moe-block-oracle "$work/model.safetensors" "$work/x.bin" "$work/residual.bin" "$1"
}
against_oracle "$work/y.bin"
if against_oracle "$work/residual.bin" > /dev/null; then
  echo "the oracle takes the input for the result: it checks nothing" >&2
  exit 1
fi
