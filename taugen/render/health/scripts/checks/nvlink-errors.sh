#!/bin/sh
# How many errors has each GPU counted on its NVLinks?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi nvlink --errorcounters
# From Blackwell on there are more counters. What the links correct all the time (symbols, FEC, the rates of bit errors) is no fault, nor is the
# total of two that are counted here.
awk '
  function told() { if (gpu != "") { if (lines) printf "%s %d\n", gpu, sum; else print gpu, "? no links" } }
  /^GPU [0-9]+: / { told(); gpu = "gpu" $2; sub(/:.*/, "", gpu); lines = 0; sum = 0; gpus++; next }
  /^[ \t]+Link [0-9]+: .*(N\/A|Not Supported|inactive)/ || /all links are in[Aa]ctive/ { next }
  /^[ \t]+Link [0-9]+: (Effective|Symbol|FEC) [A-Za-z 0-9-]+: [0-9.e+-]+$/ || /: (Total link recovery events|Tx discards): [0-9]+$/ { next }
  /^[ \t]+Link [0-9]+: ([A-Za-z ]+ Errors|Link recovery (successful|failed) events): [0-9]+$/ { sum += $NF; lines++; next }
  NF { odd++ }
  END {
    if (odd || !gpus) exit 3
    told()
  }' "$answer" || garbage
