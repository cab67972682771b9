#!/bin/bash
# Aligns the families of run @run@, one after the other.
set -euo pipefail
families=100
while [ $# -gt 0 ]; do
  case "$1" in
    --families) families="$2"; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
for ((family = 0; family < families; family++)); do
  printf '%s\t%d\n' "@run@" "$family" >> "$TMPDIR/done.tsv"
done
python3 "$(dirname "$0")/count.py" "$TMPDIR/done.tsv"
