#!/bin/sh
# Does the driver answer? Prints "driver 0", or ends with 1 and what the driver says.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ask nvidia-smi -L
# Exit codes of nvidia-smi: 9 no driver, 10 interrupts, 14 infoROM damaged, 15 a GPU fell off the bus, 18 versions differ. One GPU of several that
# is gone is for the check missing.sh.
if grep -Eq '^GPU [0-9]+: .*UUID' "$answer"; then
  echo 'driver 0'
elif grep -Eqi 'no devices (were )?found' "$answer"; then
  echo 'driver 0 no GPU found'
elif grep -Eq "couldn't communicate with the NVIDIA driver|Driver/library version mismatch|fallen off the bus|GPU is lost" "$answer"; then
  problem "$(first)"
else
  case $code in
    9 | 10 | 14 | 15 | 18) problem "nvidia-smi ended with $code: $(first)" ;;
    *) unknown "nvidia-smi ended with $code: $(first)" ;;
  esac
fi
