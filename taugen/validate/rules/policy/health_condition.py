"""An action is about a condition that a check of its policy sets, and each condition has one action.

An action on a condition that nothing sets never acts: the fault that it was meant for would pass unseen.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuNvlink, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: docs/gpu-health.md
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.health_checks import checks, chosen, conditions
from taugen.policy.set import Item, Policy
from taugen.words import suggest
from taugen.words.errors import shown

ID = "health-condition"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule. A policy whose checks are wrong is told so by health-check, and only that."""
    for item in policy.each("HealthPolicy"):
        known = checks()
        if any(entry.name not in known for entry in item.spec.checks or ()):
            continue
        set_ = _set(item.spec)
        seen: dict[str, int] = {}
        for at, action in enumerate(item.spec.actions):
            path = ("actions", at, "condition")
            first = seen.setdefault(action.condition, at)
            if first != at:
                origin = item.span(("actions", first, "condition"))
                yield item.finding(ID, path, f"{action.condition} has an action already", hint="keep one of the two", origin=origin)
            elif action.condition not in set_:
                message, hint = _words(item, action.condition, set_)
                yield item.finding(ID, path, message, hint=hint)


def _set(spec: model.HealthPolicy) -> list[str]:
    """The conditions that the policy's checks can set on any of its classes: InfiniBand's too, where the nodes may have it."""
    mine = {one.check.condition for name in spec.gpuClasses for one in chosen(spec, name, rdma=True)}
    return [name for name in conditions() if name in mine]


def _words(item: Item[model.HealthPolicy], condition: str, set_: list[str]) -> tuple[str, str]:
    if condition not in conditions():
        near = suggest.closest(condition, list(conditions()))
        return f"there is no condition {shown(condition)}", f"did you mean {near}?" if near else f"the conditions are {', '.join(set_)}"
    setting = ", ".join(check.name for check in checks().values() if check.condition == condition)
    message = f"no check of the policy sets {condition} on {', '.join(item.spec.gpuClasses)}"
    return message, f"list the check {setting}, if the class has it, or remove the action; the conditions here are {', '.join(set_)}"
