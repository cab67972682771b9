"""Counts what run @run@ has done."""

import sys

with open(sys.argv[1], encoding="utf-8") as lines:
    print(sum(1 for _ in lines), "families")
