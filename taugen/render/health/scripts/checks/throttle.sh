#!/bin/sh
# For how many reasons is each GPU slowed down? Idle clocks and the power cap of software are no reasons.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

reasons=clocks_throttle_reasons
smi --query-gpu="index,$reasons.hw_thermal_slowdown,$reasons.hw_power_brake_slowdown,$reasons.sw_thermal_slowdown" --format=csv,noheader
awk -F ', *' '
  BEGIN { name[2] = "heat"; name[3] = "power-brake"; name[4] = "heat(software)" }
  NF != 4 || $1 !~ /^[0-9]+$/ { odd++; next }
  {
    value = 0; words = ""; known = 0
    for (i = 2; i <= 4; i++) {
      if ($i == "Active") { value++; words = words " " name[i] }
      if ($i == "Active" || $i == "Not Active") known++
      else if ($i !~ /N\/A|Not Supported/) strange = $i
    }
    if (strange != "") { print "gpu" $1, "?", strange; strange = ""; good++ }
    else if (known) { print "gpu" $1, value words; good++ }
  }
  END {
    if (odd || !NR) exit 3
    if (!good) print "gpus ? not supported"
  }' "$answer" || garbage
