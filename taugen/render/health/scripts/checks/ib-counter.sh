#!/bin/sh
# Prints a counter of each InfiniBand port. The argument is its name.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

found=0
for port in "$root"/sys/class/infiniband/*/ports/*; do
  [ -d "$port" ] || continue
  layer=$(cat "$port/link_layer" 2>/dev/null)
  [ "$layer" != Ethernet ] || continue
  device=${port#"$root"/sys/class/infiniband/}
  device="${device%%/*}/${port##*/}"
  found=1
  value=$(cat "$port/counters/$1" 2>/dev/null)
  case $value in
    '' | *[!0-9]*) echo "$device ? $1 is not understood" ;;
    *) echo "$device $value" ;;
  esac
done
[ "$found" -eq 1 ] || unknown 'the node has no InfiniBand port'
