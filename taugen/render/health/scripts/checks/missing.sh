#!/bin/sh
# How many GPUs are missing? GPUHEALTH_GPUS says how many there have to be.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

wanted=${GPUHEALTH_GPUS:-0}
[ "$wanted" -gt 0 ] || unknown 'policy does not say how many GPUs the node has'
ask nvidia-smi -L
found=$(grep -Ec '^GPU [0-9]+: .*UUID' "$answer")
if [ "$found" -eq 0 ] && ! grep -Eqi 'no devices (were )?found' "$answer"; then
  unknown "nvidia-smi ended with $code: $(first)"
fi
lost=$((wanted - found))
[ "$lost" -ge 0 ] || lost=0
echo "gpus $lost $found of $wanted"
