"""A later attempt of a published run, made from the committed objects of the one before.

In: the objects of a run's folder as they were committed, overlays and all; the new attempt and where it resumes. Out: the same objects with
name, attempt and resume point replaced. Nothing is resolved anew (a run is frozen), and nothing else differs: the result is what
`run.render_attempt` would give."""

from collections.abc import Mapping, Sequence
from copy import deepcopy

from msgspec import Struct

from taugen.render.env import ATTEMPT_ENV, MASTER_ENV, RDZV_ENV
from taugen.render.expand import escape
from taugen.render.frame import ATTEMPT_LABEL
from taugen.render.service import JOB_NAME
from taugen.render.types import Object
from taugen.words import Json, names

_RUNS = ("Job", "JobSet", "RayJob")
_NAMED = (JOB_NAME, "jobset.sigs.k8s.io/jobset-name", "ray.io/originated-from-cr-name")
"""Labels whose value is the attempt's name: a Service selects by the first; an overlay's affinity may use any."""


def next_attempt(objects: Sequence[Object], attempt: int, resume_from: str, reason: str = "") -> list[Object]:
    """The objects of `attempt`. `resume_from` is a checkpoint's path, empty for none; `reason` why the last attempt ended (`OOMKilled`).

    Raises ValueError for an attempt that no name can hold, or objects that are not one attempt's.
    """
    found = [obj for obj in objects if obj["kind"] in _RUNS]
    if len(found) != 1:
        raise ValueError(f"{len(found)} objects of an attempt stand where one is expected")
    old = _name(found[0])
    step = _Step(
        old,
        names.attempt_name(old.rpartition("-")[0], attempt),
        {"TAU_ATTEMPT": str(attempt), "TAU_RESUME_FROM": resume_from, "TAU_RETRY_ATTEMPT": str(attempt - 1), "TAU_RETRY_REASON": reason},
        bare=found[0]["kind"] == "JobSet",
    )
    return [step.object(obj) if _name(obj) == old else deepcopy(obj) for obj in objects]


def _name(obj: Object) -> str:
    metadata = obj["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata["name"])


class _Step(Struct, frozen=True):
    """From the attempt `old` to `new`; `env` are the new values of `ATTEMPT_ENV`, `bare` as in `env`: no ``value`` for an empty
    variable."""

    old: str
    new: str
    env: Mapping[str, str]
    bare: bool

    def object(self, obj: Object) -> Object:
        """One object of the attempt."""
        out = {key: self.value(item) for key, item in obj.items()}
        metadata = out["metadata"]
        assert isinstance(metadata, dict)
        metadata["name"] = self.new
        return out

    def value(self, value: Json) -> Json:
        """A copy of `value` with every label, subdomain and variable that belongs to the attempt replaced."""
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {key: self.field(key, item) for key, item in value.items()}

    def field(self, key: str, item: Json) -> Json:
        """The value of one key."""
        if key == ATTEMPT_LABEL and isinstance(item, str):
            return self.env["TAU_ATTEMPT"]
        if item == self.old and (key in _NAMED or key == "subdomain"):
            return self.new
        return self.variables(item) if key == "env" and isinstance(item, list) else self.value(item)

    def variables(self, entries: list[Json]) -> list[Json]:
        """The variables of a container, in their order; only a container that had an attempt's variables gets the new ones."""
        known = {str(entry["name"]): entry for entry in entries if isinstance(entry, dict)}
        if "TAU_ATTEMPT" not in known:
            return deepcopy(entries)
        out: dict[str, Json] = {name: self.variable(name, entry) for name, entry in known.items() if name not in ATTEMPT_ENV}
        for name in ATTEMPT_ENV:
            value = self.env[name]
            if value or name == "TAU_RESUME_FROM":
                out[name] = {"name": name} if self.bare and not value else {"name": name, "value": escape(value)}
        if list(known) == sorted(known):
            return [out[name] for name in sorted(out)]
        return [*(out[name] for name in known if name in out), *(out[name] for name in out if name not in known)]

    def variable(self, name: str, entry: Object) -> Json:
        """A variable that outlives the attempt: where ranks meet has the attempt's name in it."""
        value = entry.get("value")
        if name in RDZV_ENV and value == self.old:
            return {**entry, "value": self.new}
        if name in MASTER_ENV and isinstance(value, str) and value.startswith(self.old + "-") and value.endswith("." + self.old):
            return {**entry, "value": self.new + value[len(self.old) : -len(self.old)] + self.new}
        return deepcopy(entry)
