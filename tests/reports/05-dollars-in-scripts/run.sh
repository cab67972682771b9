#!/usr/bin/env bash
set -euo pipefail
for word in "${@:-nothing}"; do
  printf '%s %s %s %s\n' "${word%.wav}" "${#word}" "$((6 * 7))" "${PATTERN}|${PRICE}"
done
