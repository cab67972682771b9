"""The tables of docs/gpu-health.md, from the data that the compiler reads.

In: the page as people wrote it. Out: the page with the part between its two marks made anew.
"""

from taugen.policy.health_checks import ALL, FAMILIES, LINKED, OTHER, Check, checks, family
from taugen.policy.health_xids import MEANINGS, codes
from taugen.words import durations

BEGIN, END = "<!-- checks: written by tools/make_docs.py from the data -->\n", "<!-- end of checks -->\n"
USUAL = {"always": "yes", "rdma": "where nodes have `rdma/…` resources", "asked": "only where policy lists it"}


def page(text: str) -> str:
    """The page with its tables."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + "\n" + "\n".join(_tables()) + END + rest.partition(END)[2]


def _tables() -> list[str]:
    assert all(family(name) == name for name in FAMILIES)
    rows = ["| check | source | condition | a fault is | window | families | runs by default |", "|---|---|---|---|---|---|---|"]
    for check in checks().values():
        window = durations.write(check.window) if check.window else "now"
        name = f"[`{check.name}`](#{check.name})"
        cells = (name, check.source, f"`{check.condition}`", _fault(check), window, _families(check), USUAL[check.usual])
        rows.append(f"| {' | '.join(cells)} |")
    rows.append("")
    for check in checks().values():
        rows += [f"### {check.name}\n", f"**Reads** {check.reads}\n", f"**Why** {check.why}\n", f"**Next** {check.then}\n", _limits(check)]
    return [*rows, *_xids()]


def _fault(check: Check) -> str:
    others = ", ".join(f"{name} {value:g}" for name, value in check.thresholds.items())
    return f"more than {check.threshold:g}{f' ({others})' if others else ''} {check.unit}"


def _families(check: Check) -> str:
    if check.families == ALL:
        return "all"
    if check.families == ALL - {OTHER}:
        return "all five"
    if check.families == LINKED:
        return ", ".join(name for name in FAMILIES if name in LINKED)
    return ", ".join(name for name in FAMILIES if name in check.families)


def _limits(check: Check) -> str:
    low, high = check.limits
    threshold = f"The threshold is {low:g}" if low == high else f"The threshold can be {low:g} to {high:.10g}"
    window = f", the window {durations.write(check.windows[0])} to {durations.write(check.windows[1])}" if check.window else ""
    return f"{threshold}{window}.\n"


def _xids() -> list[str]:
    rows = ["### Xid codes\n", "`xid` takes the codes of the first kind, `xid-watch` those of the second.\n"]
    rows += ["| code | means | takes the node out | is watched |", "|---|---|---|---|"]
    for code, meaning in MEANINGS.items():
        fatal, watched = (_where(code, fatal=kind) for kind in (True, False))
        rows.append(f"| {code} | {meaning} | {fatal} | {watched} |")
    return [*rows, "", "Codes 13, 31, 43, 45 and 109 are a program's own mistake and count nowhere.\n"]


def _where(code: int, *, fatal: bool) -> str:
    there = [name for name in (*FAMILIES, OTHER) if code in codes(name, fatal=fatal)]
    return "all" if len(there) == len(FAMILIES) + 1 else ", ".join(there) or "-"
