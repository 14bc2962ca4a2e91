#!/usr/bin/env bash
# The demo: one decoder block from a torch-mlir graph to checked numbers, on the
# simulated GPU. Every step is one command of the tools, printed as it runs.
#
#   demo.sh BUILD_FOLDER [bf16|fp8]...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?"usage: demo.sh BUILD_FOLDER [bf16|fp8]..."}
shift
kinds=("${@:-bf16}")
[ $# -gt 0 ] || kinds=(bf16 fp8)
export PATH="$build/bin:$PATH"
root=$(cd "$here/../.." && pwd)
export NETRA_LIBRARY_ROOT=${NETRA_LIBRARY_ROOT:-$root}

phases=()

heading() { printf '\n== %s\n' "$*"; }

# step NAME COMMAND...: shows the command, runs it and notes its time.
step() {
  local name=$1 begin end
  shift
  printf '\n$ %s' "${1##*/}"
  local word
  for word in "${@:2}"; do
    printf ' %s' "${word//"$root/"/}"
  done
  printf '\n'
  begin=${EPOCHREALTIME/[.,]/}
  "$@"
  end=${EPOCHREALTIME/[.,]/}
  phases+=("$(printf '%-44s %7d.%03d s' "$name" $(((end - begin) / 1000000)) $(((end - begin) / 1000 % 1000)))")
}

run() {
  local kind=$1
  local graph="$here/decoder_mlp_$kind.mlir"
  local work="$build/examples/decoder_mlp/$kind"
  phases=()
  mkdir -p "$work"

  heading "decoder_mlp, $kind weights: torch-mlir graph to checked numbers"
  if [ ! -f "$work/residual.bin" ] || [ "$here/make_weights.py" -nt "$work/residual.bin" ]; then
    step "make checkpoint and inputs (once)" python3 "$here/make_weights.py" "$kind" "$work"
  fi
  step "compile the graph to an engine" \
    netra-translate --netra-to-engine "$graph" --profile=decode_m1 --target=gfx950 -o "$work/engine"
  step "pack the weights into the kernels' layout" \
    netra-engine pack-weights --engine "$work/engine" --checkpoint "$work/model.safetensors" -o "$work/packed.safetensors"

  heading "Which kernel computes what, and why ($kind)"
  step "explain the choices" netra-engine explain "$work/engine"

  heading "Memory plan and launches ($kind)"
  step "inspect the engine" netra-engine inspect "$work/engine"

  heading "Run on the simulated GPU, every checker on ($kind)"
  step "run with all checkers and counters" \
    netra-engine run --engine "$work/engine" --weights "$work/packed.safetensors" --profile decode_m1 \
    --hip sim --check=all --counters --repeat 2 \
    --input "arg0=$work/x.bin" --input "arg1=$work/residual.bin" --output "result0=$work/y.bin"
  step "run again from a C program, unchecked" \
    env NETRA_HIP_LIBRARY=sim decoder-mlp "$work/engine" "$work/packed.safetensors" \
    "arg0=$work/x.bin" "arg1=$work/residual.bin" "result0=$work/y_c.bin"
  cmp "$work/y.bin" "$work/y_c.bin"
  printf 'The C program gives the same bits.\n'

  heading "Against the oracle, in 64-bit arithmetic ($kind)"
  step "compare with the oracle" \
    decoder-mlp-oracle "$kind" 0 "$work/model.safetensors" "$work/x.bin" "$work/residual.bin" "$work/y.bin"

  heading "Time of each phase ($kind; of this machine and the simulator, not of a GPU)"
  printf '%s\n' "${phases[@]}"
}

printf 'Each command works from %s after\n  PATH=%s/bin:$PATH\n' "$root" "${build//"$root/"/}"
for kind in "${kinds[@]}"; do
  case $kind in
    bf16|fp8) run "$kind" ;;
    *) printf 'demo.sh: unknown kind "%s": expected bf16 or fp8\n' "$kind" >&2; exit 2 ;;
  esac
done
