#!/bin/sh
# Has each GPU joined the NVLink fabric?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

smi -q
awk '
  function told() {
    if (gpu == "" || state ~ /N\/A/) return
    if (state == "") print gpu, "? no section Fabric"
    else if (state == "Completed" && status == "Success") print gpu, 0
    else print gpu, 1, state "," status
    good++
  }
  /^GPU [0-9a-fA-F]+:[0-9a-fA-F]+:[0-9a-fA-F]+\.[0-9]+$/ { told(); gpu = $2; state = ""; status = ""; inside = 0; gpus++; next }
  /^    [A-Za-z]/ { inside = ($1 == "Fabric" && NF == 1); next }
  inside && /^        State +: / { state = $0; sub(/.*: */, "", state) }
  inside && /^        Status +: / { status = $0; sub(/.*: */, "", status) }
  END {
    if (!gpus) exit 3
    told()
    if (!good) print "gpus ? no fabric"
  }' "$answer" || garbage
