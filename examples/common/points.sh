# Serving points of the examples at a model's size; sourced by their run.sh.
#
# NETRA_TEST_FULL=1 runs all that decoding and verification have, otherwise one
# token and the point of most tokens that are not a power of two.
points="decode_m1:1 verify_m12_b1:12"
if [ "${NETRA_TEST_FULL:-0}" = 1 ]; then
  points="$points verify_m8:8 decode_m16_b16:16"
fi

# check_points WORK GRAPH HIDDEN ORACLE...
#   Compiles GRAPH for all points and packs WORK/model.safetensors; runs each with
#   all checkers on the first rows of WORK/x.bin and residual.bin, HIDDEN bf16
#   each, and has `ORACLE... X RESIDUAL Y` compare the result.
check_points() {
  local work=$1 graph=$2 hidden=$3 point profile rows suffix=
  shift 3
  local profiles
  profiles=$(for point in $points; do echo "${point%:*}"; done | paste -sd, -)
  netra-translate --netra-to-engine "$graph" --profile="$profiles" --target=gfx950 -o "$work/engine"
  netra-engine inspect "$work/engine"
  netra-engine pack-weights --engine "$work/engine" --checkpoint "$work/model.safetensors" -o "$work/packed.safetensors"
  for point in $points; do
    profile=${point%:*} rows=${point#*:}
    # The bindings of another size than the first profile's have its name behind theirs.
    [ "$point" = "${points%% *}" ] || suffix=.$profile
    echo "== $profile: $rows rows"
    for input in x residual; do
      head -c $((rows * hidden * 2)) "$work/$input.bin" > "$work/$input.$rows.bin"
    done
    netra-engine run --engine "$work/engine" --weights "$work/packed.safetensors" --profile "$profile" \
      --hip sim --check=all --repeat 2 \
      --input "x$suffix=$work/x.$rows.bin" --input "residual$suffix=$work/residual.$rows.bin" --output "y$suffix=$work/y.bin"
    "$@" "$work/x.$rows.bin" "$work/residual.$rows.bin" "$work/y.bin"
    # Neither the input nor, of several rows, the result of other rows passes.
    { tail -c $((hidden * 2)) "$work/y.bin" && head -c $(((rows - 1) * hidden * 2)) "$work/y.bin"; } > "$work/turned.bin"
    for wrong in residual.$rows $([ "$rows" = 1 ] || echo turned); do
      if "$@" "$work/x.$rows.bin" "$work/residual.$rows.bin" "$work/$wrong.bin" > /dev/null; then
        echo "the oracle takes $wrong.bin for the result: it checks nothing" >&2
        exit 1
      fi
    done
  done
}
