#!/bin/sh
# What does DCGM say of the GPUs? 0 healthy, 1 warning, 2 failure. GPUHEALTH_DCGM is HOST:PORT of its host engine.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

engine=${GPUHEALTH_DCGM:-localhost:5555}
# Watches have to be set before anything is checked; setting them again changes nothing.
ask dcgmi health --host "$engine" --set a
[ "$code" -eq 0 ] || unknown "dcgmi ended with $code: $(first)"
ask dcgmi health --host "$engine" --check
[ "$code" -eq 0 ] || unknown "dcgmi ended with $code: $(first)"
awk -F '|' '
  /Overall Health/ {
    word = $3
    gsub(/[ \t\r]/, "", word)
    if (word == "Healthy") print "dcgm 0"
    else if (word == "Warning") print "dcgm 1 warning"
    else if (word == "Failure") print "dcgm 2 failure"
    else exit 3
    found = 1
    exit
  }
  END { if (!found) exit 3 }' "$answer" || garbage
