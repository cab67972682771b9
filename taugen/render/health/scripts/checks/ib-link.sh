#!/bin/sh
# Is each InfiniBand port active? Ports that are disabled, and those that are Ethernet, don't count.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

found=0
for port in "$root"/sys/class/infiniband/*/ports/*; do
  [ -d "$port" ] || continue
  device=${port#"$root"/sys/class/infiniband/}
  device="${device%%/*}/${port##*/}"
  layer=$(cat "$port/link_layer" 2>/dev/null)
  [ "$layer" != Ethernet ] || continue
  found=1
  case $(cat "$port/phys_state" 2>/dev/null) in
    '3: Disabled') continue ;;
  esac
  state=$(tr -cd '[:print:]' <"$port/state" 2>/dev/null)
  case $state in
    '4: ACTIVE') echo "$device 0" ;;
    [0-9]': '[A-Z]*) echo "$device 1 ${state#*: }" ;;
    *) echo "$device ? state is not understood" ;;
  esac
done
[ "$found" -eq 1 ] || unknown 'the node has no InfiniBand port'
