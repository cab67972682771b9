#!/bin/sh
# Prints one number of each GPU. The argument is a field of nvidia-smi --query-gpu.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi --query-gpu="index,$1" --format=csv,noheader,nounits
awk -F ', *' '
  NF != 2 || $1 !~ /^[0-9]+$/ { odd++; next }
  $2 ~ /^[0-9]+(\.[0-9]+)?$/ { print "gpu" $1, $2; good++; next }
  $2 ~ /N\/A|Not Supported/ { absent++; next }
  { print "gpu" $1, "?", $2; good++ }
  END {
    if (odd || !NR) exit 3
    if (!good) print "gpus ? not supported"
  }' "$answer" || garbage
