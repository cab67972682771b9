"""Thresholds and windows of checks are within their limits.

A threshold beyond its limits would never be reached, or always: 200 degrees, or a failed memory row that is taken for fine. A check that
looks at the present has no window. Rounds of checks come every 10 seconds to 10 minutes: faster ones would load the driver, slower ones
tell too late.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      checks: [{name: temperature, threshold: 200}]
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      checks: [{name: temperature, threshold: 88}]
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: docs/gpu-health.md; NVIDIA's limits of GPU temperatures
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.health_checks import INTERVALS, Check, checks
from taugen.policy.set import Item, Policy
from taugen.words import Path, durations

ID = "health-threshold"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("HealthPolicy"):
        known = checks()
        for at, entry in enumerate(item.spec.checks or ()):
            found = known.get(entry.name)
            if found is not None:
                yield from _threshold(item, at, entry.threshold, found)
                yield from _window(item, ("checks", at, "window"), entry.window, found)
        least, most = INTERVALS
        if not least <= durations.parse(item.spec.interval) <= most:
            bounds = f"from {durations.write(least)} to {durations.write(most)}"
            message = f"interval is {item.spec.interval}, but checks can run every {bounds[5:].replace(' to ', ' to every ')}"
            yield item.finding(ID, ("interval",), message, hint=f"write a duration {bounds}")


def _threshold(item: Item[model.HealthPolicy], at: int, threshold: float | None, found: Check) -> Iterator[Diagnostic]:
    low, high = found.limits
    if threshold is None or low <= threshold <= high:
        return
    wanted = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    message = f"the threshold of {found.name} is {threshold:g} {found.unit}, but only {wanted} makes sense"
    yield item.finding(ID, ("checks", at, "threshold"), message, hint=f"write {wanted}, or remove it: the default is {found.threshold:g}")


def _window(item: Item[model.HealthPolicy], path: Path, window: str | None, found: Check) -> Iterator[Diagnostic]:
    if window is None:
        return
    if not found.window:
        message = f"the check {found.name} looks at the present and has no window"
        yield item.finding(ID, path, message, hint="remove the line; an action's after says how long a fault has to last")
        return
    low, high = found.windows
    if not low <= durations.parse(window) <= high:
        message = f"the window of {found.name} is {window}, but {durations.write(low)} to {durations.write(high)} is possible"
        yield item.finding(ID, path, message, hint=f"write a duration in that range; the default is {durations.write(found.window)}")
