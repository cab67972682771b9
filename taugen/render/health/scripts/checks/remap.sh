#!/bin/sh
# Does row remapping of a GPU's memory wait for a reset (pending), or has it failed (failure)?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi --query-remapped-rows="gpu_bus_id,remapped_rows.$1" --format=csv,noheader
awk -F ', *' '
  NF != 2 || $1 !~ /^[0-9a-fA-F]+:[0-9a-fA-F]+:[0-9a-fA-F]+\.[0-9]+$/ { odd++; next }
  $2 == "Yes" || $2 ~ /^[1-9][0-9]*$/ { print $1, 1; good++; next }
  $2 == "No" || $2 == "0" { print $1, 0; good++; next }
  $2 ~ /N\/A|Not Supported/ { next }
  { print $1, "?", $2; good++ }
  END {
    if (odd || !NR) exit 3
    if (!good) print "gpus ? not supported"
  }' "$answer" || garbage
