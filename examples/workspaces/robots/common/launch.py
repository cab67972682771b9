"""Shared by several runs of this workspace."""

import os
import pathlib

print("run", os.environ["TAU_RUN_ID"], "in", pathlib.Path.cwd(), "with", sorted(p.name for p in pathlib.Path.cwd().iterdir()))
