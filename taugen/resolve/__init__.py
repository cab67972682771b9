"""Decisions: from a document and policy to every value of a run, each with its reason.

In: a `RunDoc`, a `Policy`, the code's digest. Out: a `ResolvedRun`, or findings that say why there is none. Nothing is rendered here, and
nothing that was decided is decided anew further down.
"""
