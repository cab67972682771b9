"""What policy writes for runs obeys the rules of run documents.

Sections of `defaults` stand in for those that a run leaves out. What no document may say would otherwise come into every run by this
way, and the findings would stand in documents whose authors can't mend them.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        runtime: {working_dir: work}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        runtime: {working_dir: /work}

Source: this project
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from taugen.diag import Diagnostic
from taugen.policy.set import Item, Policy
from taugen.resolve.sizes import is_mig_profile
from taugen.resolve.storage import RESERVED, clean
from taugen.spec.model import RunSpec
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import duration_bounds, env_size, pip_entry, rdma_resource, size_zero, working_dir
from taugen.words import Path, durations
from taugen.words.errors import shown

ID = "default-fields"

_RULES = (duration_bounds, env_size, pip_entry, rdma_resource, size_zero, working_dir)
"""Rules of documents that need nothing but the sections that can have defaults."""
_SECTIONS = ("compute", "resilience", "runtime", "storage")
_BASE: Path = ("spec", "defaults")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind in ("Platform", "Workspace"):
        for item in policy.each(kind):
            doc = _as_document(item)
            for rule in _RULES:
                yield from (replace(found, rule=ID) for found in rule.check(doc, policy))
            yield from _times(item)
            yield from _rest(item, doc)


def _as_document(item: Item[Any]) -> RunDoc:
    """A run that says what the defaults say; its places are theirs."""
    sections = {name: section for name in _SECTIONS if (section := getattr(item.spec.defaults, name)) is not None}
    typed: dict[Path, Path] = {(name,): (*_BASE, name) for name in _SECTIONS}
    return RunDoc(item.document, item.name if item.kind == "Workspace" else "", RunSpec.model_construct(**sections), digest="", typed=typed)


def _times(item: Item[Any]) -> Iterator[Diagnostic]:
    defaults = item.spec.defaults
    if defaults.max_duration == "0s":
        hint = "write a time such as 72h, or leave it out"
        yield item.finding(ID, ("defaults", "max_duration"), "max_duration is no time at all", hint=hint)
    if defaults.grace_period is not None and durations.parse(defaults.grace_period) > duration_bounds.MOST_GRACE:
        text = f"a grace period of {defaults.grace_period} would hold nodes for more than 24h after runs were told to end"
        yield item.finding(ID, ("defaults", "grace_period"), text, hint="write 24h or less: long enough to save a checkpoint")


def _rest(item: Item[Any], doc: RunDoc) -> Iterator[Diagnostic]:
    """What `resolve` would say of each run."""
    compute, storage = doc.spec.compute, doc.spec.storage
    if compute is not None and compute.mig_profile is not None and not is_mig_profile(compute.mig_profile):
        hint = "write compute and memory slices, such as 1g.10gb"
        yield item.finding(ID, ("defaults", "compute", "mig_profile"), f"{shown(compute.mig_profile)} is not a MIG profile", hint=hint)
    if storage is None:
        return
    base: Path = ("defaults", "storage")
    if storage.output is not None and clean(storage.output) is None:
        hint = "write an absolute path below a mounted storage, without .."
        yield item.finding(ID, (*base, "output"), f"{shown(storage.output)} is no plain absolute path", hint=hint)
    for at, mount in enumerate(storage.mounts or ()):
        place = clean(mount.path)
        if place is None or place in RESERVED:
            fault = "is no plain absolute path" if place is None else "is a place that the system keeps"
            text = f"{shown(mount.path)} {fault}"
            yield item.finding(ID, (*base, "mounts", at, "path"), text, hint="write an absolute path without .., such as /data")
