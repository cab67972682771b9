#!/bin/sh
# How many NVLinks of each GPU are inactive?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi nvlink --status
# "all links are inActive" stands for the links of a GPU that has none, or of which none is up: its neighbours tell which.
awk '
  /^GPU [0-9]+: / { gpu = "gpu" $2; sub(/:.*/, "", gpu); gpus++; name[gpus] = gpu; next }
  gpus && /all links are in[Aa]ctive/ { none[gpus] = 1; next }
  gpus && /^[ \t]+Link [0-9]+: / {
    if (/inactive/) down[gpus]++
    else if (!/: [0-9.]+ GB\/s/) odd++
    if (++links[gpus] > most) most = links[gpus]
    next
  }
  NF { odd++ }
  END {
    if (odd || !gpus) exit 3
    for (i = 1; i <= gpus; i++) {
      if (links[i]) print name[i], down[i] + 0, down[i] + 0 " of " links[i]
      else if (none[i] && most) print name[i], most, "all of " most
      else print name[i], "? no links"
    }
  }' "$answer" || garbage
