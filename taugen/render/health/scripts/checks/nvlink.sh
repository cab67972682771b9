#!/bin/sh
# How many NVLinks of each GPU are inactive?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi nvlink --status
awk '
  function told() { if (gpu != "") { if (links) print gpu, down + 0, down + 0 " of " links; else print gpu, "? no links" } }
  /^GPU [0-9]+: / { told(); gpu = "gpu" $2; sub(/:.*/, "", gpu); links = 0; down = 0; gpus++; next }
  /^[ \t]+Link [0-9]+: / {
    if (/inactive/) down++
    else if (!/: [0-9.]+ GB\/s/) odd++
    links++; next
  }
  NF { odd++ }
  END {
    if (odd || !gpus) exit 3
    told()
  }' "$answer" || garbage
