#!/bin/sh
# Counts Xid errors in the kernel's log. GPUHEALTH_WINDOW: seconds that count. The arguments are the codes that count.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

now=$(cut -d ' ' -f 1 "$root/proc/uptime" 2>/dev/null)
case $now in
  '' | *[!0-9.]*) unknown 'the time since boot is not to be had' ;;
esac
ask dmesg
[ "$code" -eq 0 ] || unknown "dmesg ended with $code: $(first)"
# A line is "[seconds since boot] NVRM: Xid (PCI:0000:3b:00): 79, ...".
awk -v now="$now" -v window="${GPUHEALTH_WINDOW:-600}" -v codes=" $* " '
  /^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\]/ { kernel++ }
  /NVRM: Xid \(/ {
    line = $0
    if (line !~ /^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\]/) { undated++; next }
    at = line
    sub(/^(<[0-9]+>)?\[ */, "", at)
    sub(/\].*/, "", at)
    if (now - at > window) next
    device = line
    sub(/.*NVRM: Xid \((PCI:)?/, "", device)
    sub(/\).*/, "", device)
    code = line
    sub(/.*NVRM: Xid \([^)]*\): */, "", code)
    sub(/[^0-9].*/, "", code)
    if (code == "" || device !~ /^[0-9a-fA-F:.]+$/) { undated++; next }
    if (index(codes, " " code " ")) { count[device]++; last[device] = code }
  }
  END {
    if (NR && !kernel) exit 3
    for (device in count) print device, count[device], "Xid", last[device]
    if (undated) print "log ? lines without a time"
    else print "log 0"
  }' "$answer" || garbage
