"""Kubernetes objects: from decided values to mappings and to the text of files.

In: a `ResolvedRun`, or a `Policy`. Out: `Rendered` objects with the place in the source that each comes from, patched by overlays, written
byte for byte the same. Pure: no clock, no disk but the code that a run delivers, no order of anything.
"""
