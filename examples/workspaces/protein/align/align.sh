#!/bin/sh
set -eu
# Text with dollars and braces arrives as it stands here: nothing between Git and the container expands it.
for family in "$TAU_DATA_DIR"/families/*.fa; do
    name=$(basename "${family%.fa}")
    sort -u "$family" > "$TMPDIR/$name"
    mv "$TMPDIR/$name" "$TAU_OUTPUT_DIR/$name.aln"
done
