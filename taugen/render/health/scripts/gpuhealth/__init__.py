"""The check runner of GPU nodes: a program of the standard library alone, run from a ConfigMap as ``python3 -m gpuhealth``.

In: `checks.json` beside it, the checks' scripts, the node's name. Out: node conditions, events, taints, metrics. What must never happen: a
taint for a check that could not tell, more nodes of a class tainted than policy allows, a round that waits for a program that hangs.
"""
