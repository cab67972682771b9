#!/bin/sh
# How many errors has each GPU counted on its NVLinks?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi nvlink --errorcounters
awk '
  function told() { if (gpu != "") { if (lines) printf "%s %d\n", gpu, sum; else print gpu, "? no links" } }
  /^GPU [0-9]+: / { told(); gpu = "gpu" $2; sub(/:.*/, "", gpu); lines = 0; sum = 0; gpus++; next }
  /^[ \t]+Link [0-9]+: [A-Za-z ]+ Errors: [0-9]+$/ { sum += $NF; lines++; next }
  /^[ \t]+Link [0-9]+: .*(N\/A|Not Supported|inactive)/ { next }
  NF { odd++ }
  END {
    if (odd || !gpus) exit 3
    told()
  }' "$answer" || garbage
