#!/usr/bin/env bash
set -euo pipefail
cat shards/* > "$TAU_OUTPUT_DIR/all"
