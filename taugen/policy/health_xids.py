"""Xid errors: what the driver writes into the kernel's log when something of a GPU goes wrong.

In: nothing. Out: codes with their meaning, and for each family the codes that take a node out of work and those that are only watched.
Codes that a program causes by its own mistake (13, 31, 43, 45, 109) are in neither: they would punish the node for the program.
Source: NVIDIA's Xid documentation; the codes that NVIDIA's device plugin leaves out.
"""

from collections.abc import Mapping

MEANINGS: Mapping[int, str] = {
    48: "double-bit ECC error",
    56: "display engine error",
    57: "error while programming the memory interface",
    58: "unstable memory interface",
    62: "halt of an internal micro-controller",
    63: "row remapping recorded: a reset makes it work",
    64: "row remapping could not be recorded",
    65: "exception of the video processor",
    68: "exception of the video decoder",
    69: "error of the graphics engine",
    73: "exception of the video encoder",
    74: "NVLink error",
    79: "the GPU has fallen off the bus",
    80: "damaged data sent to the GPU",
    81: "error of the VGA subsystem",
    92: "high rate of single-bit ECC errors",
    94: "contained memory error: one program lost its data",
    95: "uncontained memory error: all programs of the GPU lost theirs",
    119: "the GPU's own processor (GSP) does not answer",
    120: "the GPU's own processor (GSP) failed",
    121: "corrected error of the link between CPU and GPU",
    140: "ECC error that could not be recovered",
    143: "the GPU could not be initialised",
    144: "NVLink error (SAW)",
    145: "NVLink error (RLW)",
    146: "NVLink error (TLW)",
    147: "NVLink error (TREX)",
    148: "NVLink error (power control)",
    149: "NVLink error (NETIR)",
    150: "NVLink error (MSE)",
}
_FATAL = frozenset({48, 56, 57, 58, 62, 64, 79, 81, 92, 95, 119, 120})
_WATCHED = frozenset({63, 65, 68, 69, 73, 80, 94})
_HOPPER = frozenset({74, 140, 143})

FATAL: Mapping[str, frozenset[int]] = {
    "a100": _FATAL | {74},
    "h100": _FATAL | _HOPPER,
    "h200": _FATAL | _HOPPER,
    "gb200": _FATAL | _HOPPER | frozenset(range(144, 151)),
}
WATCHED: Mapping[str, frozenset[int]] = {"gb200": _WATCHED | {121}}


def codes(family: str, *, fatal: bool) -> list[int]:
    """The codes of a family in order: those that make its nodes unfit, or those that are watched."""
    return sorted(FATAL.get(family, _FATAL) if fatal else WATCHED.get(family, _WATCHED))
