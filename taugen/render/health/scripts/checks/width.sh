#!/bin/sh
# How many PCIe lanes has each GPU lost?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi --query-gpu=index,pcie.link.width.max,pcie.link.width.current --format=csv,noheader,nounits
awk -F ', *' '
  NF != 3 || $1 !~ /^[0-9]+$/ { odd++; next }
  $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+$/ { print "gpu" $1, ($2 > $3 ? $2 - $3 : 0), $3 " of " $2; good++; next }
  $2 ~ /N\/A|Not Supported/ { next }
  { print "gpu" $1, "?", $3; good++ }
  END {
    if (odd || !NR) exit 3
    if (!good) print "gpus ? not supported"
  }' "$answer" || garbage
