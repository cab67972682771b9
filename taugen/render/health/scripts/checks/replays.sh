#!/bin/sh
# How many PCIe packets were sent again since each GPU was reset?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi -q
awk '
  /^GPU [0-9a-fA-F]+:[0-9a-fA-F]+:[0-9a-fA-F]+\.[0-9]+$/ { gpu = $2; gpus++; next }
  gpu != "" && /^ +Replays Since Reset +: / {
    if ($NF ~ /^[0-9]+$/) { print gpu, $NF; good++ }
    else if ($0 !~ /N\/A|Not Supported/) { print gpu, "?", $NF; good++ }
  }
  END {
    if (!gpus) exit 3
    if (!good) print "gpus ? not supported"
  }' "$answer" || garbage
