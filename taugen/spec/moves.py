"""Older spellings that are more than another name for one field.

In: a `Draft`. Out: the same draft, moved on. Each function handles one spelling and says what it did; `before` runs ahead of the table of
renames, `after` behind it.
"""

from collections.abc import Callable

from taugen.diag import Severity
from taugen.spec import storages, unknown
from taugen.spec.draft import MISSING, Draft
from taugen.spec.refused import REFUSED
from taugen.spec.types import kind_of
from taugen.words import Json, Path, dotted
from taugen.words.regex import regex

_SHAPE = regex(r"([0-9]{1,3})x([a-z0-9][-a-z0-9.]*)")
_SLUG = regex(r"[^a-z0-9]+")
_RAY_ONLY: Path = ("compute", "gpus_per_worker")


def before(draft: Draft) -> None:
    """What must be seen under its old name."""
    _per_worker(draft)
    _empty_eval(draft)
    storages.claims(draft)


def after(draft: Draft) -> None:
    """What builds on renamed fields."""
    for step in _AFTER:
        step(draft)


def implied(draft: Draft) -> None:
    """TauGrid's default launcher of a RayJob, where it changes what `configs` means."""
    execution = draft.data.get("execution")
    if execution.__class__ is not dict or not execution.get("configs") or execution.get("launcher") is not None:
        return
    if draft.get(("run", "workload_kind")) == "rayjob" or (draft.get(("run", "workload_kind")) in (MISSING, None) and _many(draft)):
        draft.add(
            "older-spelling",
            ("execution", "configs"),
            "configs of a rayjob are ray-train's",
            "write launcher: ray-train",
            Severity.NOTE,
            key=True,
        )
        draft.put(("execution", "launcher"), "ray-train", ("execution", "configs"))


def _many(draft: Draft) -> bool:
    """What makes a run without a kind a RayJob, by TauGrid's inference: several workers, or pip packages."""
    workers = draft.get(("compute", "workers"))
    return (isinstance(workers, int) and workers > 1) or draft.get(("runtime", "pip")) not in (MISSING, None, [])


def _per_worker(draft: Draft) -> None:
    """`gpus_per_worker` is a RayJob's word: where nothing else says the kind, it does (TauGrid's inference)."""
    said = (("run", "workload_kind"), ("compute", "workload_kind"), ("run", "engine"), ("engine",))
    if draft.get(_RAY_ONLY) is MISSING or any(draft.get(path) not in (MISSING, None) for path in said) or _many(draft):
        return
    draft.put(("run", "workload_kind"), "rayjob", _RAY_ONLY)


def _empty_eval(draft: Draft) -> None:
    value = draft.get(("eval",))
    if value is None or value == {}:
        draft.take(("eval",))
    elif isinstance(value, dict):
        refusal = REFUSED[("eval",)]
        for key in value:
            draft.add(refusal.rule, ("eval", key), f"eval.{key}{refusal.message.removeprefix('eval')}", refusal.hint, key=True)
        draft.drop(("eval",))


def _engine(draft: Draft) -> None:
    value = draft.take(("engine",))
    if value is not MISSING:
        draft.older(("engine",), "run.workload_kind")
        rank = "under" if draft.typed.get(("run", "workload_kind")) == ("run", "engine") else "same"
        if value is not None:
            draft.put(("run", "workload_kind"), value, ("engine",), rank)  # type: ignore[arg-type]


def _prefix(draft: Draft) -> None:
    """TauGrid named objects `<prefix>-<name>`; here the name is all there is."""
    prefix = draft.take(("resource_naming", "prefix"))
    name = draft.get(("name",))
    if prefix in (MISSING, None):
        return
    typed: Path = ("resource_naming", "prefix")
    if not isinstance(prefix, str) or not prefix:
        draft.add("value-type", typed, f"resource_naming.prefix is {kind_of(prefix)}, but a word is wanted", "put it into name")
    elif isinstance(name, str):
        draft.older(typed, f"name: {prefix}-{name}")
        draft.data["name"] = f"{prefix}-{name}"


def _shape(draft: Draft) -> None:
    value = draft.take(("policy", "shape"))
    if value in (MISSING, None):
        return
    typed: Path = ("policy", "shape")
    found = _SHAPE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        draft.add("value-form", typed, "a shape is COUNTxCLASS, such as 8xa100-80gb", "write compute.gpus and compute.gpu_class")
        draft.gone |= {("compute", "gpus"), ("compute", "gpu_class")}
        return
    draft.older(typed, f"compute.gpus: {int(found[1])} and compute.gpu_class: {found[2]}")
    draft.put(("compute", "gpus"), int(found[1]), typed)
    draft.put(("compute", "gpu_class"), found[2], typed)


def _node_selector(draft: Draft) -> None:
    value = draft.take(("policy", "node_selector"))
    if value in (MISSING, None):
        return
    typed: Path = ("policy", "node_selector")
    if not isinstance(value, dict):
        draft.add("value-type", typed, f"policy.node_selector is {kind_of(value)}, but a mapping is wanted", "write policy.node_affinity")
        return
    draft.older(typed, "policy.node_affinity: [{key: …, operator: In, values: […]}]")
    there = draft.get(("policy", "node_affinity"))
    terms: list[Json] = list(there) if isinstance(there, list) else []
    for key in sorted(value):
        at: Path = ("policy", "node_affinity", len(terms))
        draft.typed |= dict.fromkeys((at, (*at, "key"), (*at, "values"), (*at, "values", 0)), (*typed, key))
        terms.append({"key": key, "values": [value[key]]})
    policy = draft.own(("policy",))
    if policy is not None and (there is MISSING or there is None or isinstance(there, list)):
        policy["node_affinity"] = terms


def _switches(draft: Draft) -> None:
    """Switches whose off position is how things are here, and whose on position has nothing to act on."""
    for path, why, hint in (
        (("policy", "clear_node_selector"), "there is no node selector to clear: Kueue writes it from the flavor", "remove it"),
        (
            ("policy", "disable_default_priorities"),
            "there are no default priority classes to switch off",
            "remove it; the tier is that of the profile or workspace",
        ),
    ):
        value = draft.take(path)
        if value is False:
            draft.add("without-effect", path, f"{dotted(path)}: {why}", hint, Severity.NOTE, key=True)
        elif value not in (MISSING, None):
            draft.add("not-taken-over", path, f"{dotted(path)} is not taken: {why}", hint, key=True)


def _mode(draft: Draft) -> None:
    path: Path = ("policy", "mode")
    value = draft.get(path)
    if value == "fixed":
        draft.take(path)
        draft.add("older-spelling", path, "mode fixed is how every run is", "leave policy.mode out", Severity.NOTE, key=True)
    elif value is None:
        draft.take(path)
    elif value is not MISSING and value != "elastic":
        _no_word(draft, path, value, "fixed or elastic", "leave it out: every run is fixed")


def _no_word(draft: Draft, path: Path, value: object, words: str, hint: str) -> None:
    """A value that was never one of the field's words."""
    draft.add("value-choice", path, f"{dotted(path)} is {kind_of(value)}, but it can only be {words}", hint)
    draft.drop(path)


def _resource_mode(draft: Draft) -> None:
    path: Path = ("compute", "gpu_resource_mode")
    value = draft.get(path)
    slices = draft.get(("compute", "mig_profile")) not in (MISSING, None)
    if value == "mig":
        draft.take(path)
        if slices:
            draft.older(path, "compute.mig_profile alone")
        else:
            draft.add("field-missing", path, "gpu_resource_mode mig needs the slice", "write compute.mig_profile, such as 1g.10gb")
    elif value in ("device-plugin", "nvidia"):
        draft.take(path)
        if slices:
            message = f"gpu_resource_mode {value} and a MIG profile exclude each other"
            draft.add("spellings-disagree", path, message, "keep one of the two", other=("compute", "mig_profile"))
        else:
            draft.add(
                "older-spelling", path, f"gpu_resource_mode {value} is how GPUs are asked for", "leave it out", Severity.NOTE, key=True
            )
    elif value is None:
        draft.take(path)
    elif value is not MISSING and value != "dra":
        _no_word(draft, path, value, "device-plugin, nvidia, mig or dra", "leave it out; compute.mig_profile alone asks for a slice")


def _smoke_pairs(draft: Draft) -> None:
    value = draft.take(("run", "smoke_pairs"))
    if value in (MISSING, None):
        return
    typed: Path = ("run", "smoke_pairs")
    if not isinstance(value, int) or isinstance(value, bool):
        draft.add(
            "value-type", typed, f"run.smoke_pairs is {kind_of(value)}, but a whole number is wanted", "write run.args: [--smoke-pairs, N]"
        )
        return
    there = draft.get(("run", "args"))
    if there in (MISSING, None) or isinstance(there, list):
        args: list[Json] = [*there] if isinstance(there, list) else []
        draft.older(typed, f"run.args: [--smoke-pairs, {value}]")
        draft.typed |= dict.fromkeys((("run", "args", len(args)), ("run", "args", len(args) + 1)), typed)
        run = draft.own(("run",))
        if run is not None:
            run["args"] = [*args, "--smoke-pairs", str(value)]


def _title(draft: Draft) -> None:
    """TauGrid's experiment id: `name`, else the slug of `title`, else `group`."""
    value = draft.take(("experiment", "title"))
    if value in (MISSING, None):
        return
    typed: Path = ("experiment", "title")
    name = _SLUG.sub("-", value.lower()).strip("-") if isinstance(value, str) else value
    draft.older(typed, f"experiment.name: {name}")
    draft.put(("experiment", "name"), name, typed, "under")  # type: ignore[arg-type]


def _no_effect(draft: Draft) -> None:
    for path, message in (
        (("run", "ttl_seconds_after_finished"), "finished runs are removed by the commit that retires them, not by a TTL"),
        (("metrics", "offload"), "the collector reads metrics.history itself; nothing is uploaded by the run"),
    ):
        value = draft.get(path)
        # What is no number of seconds has a finding of its own.
        if value not in (MISSING, None, {}) and (path[0] != "run" or (value.__class__ is int and value > 0)):
            draft.add(
                "without-effect", path, f"{dotted(path)}: {message}", "it may stay; removing it is another run", Severity.NOTE, key=True
            )


def _leftovers(draft: Draft) -> None:
    """Sections that exist in older spellings only: whatever no rename took out of them is unknown."""
    sections: tuple[Path, ...] = (("resource_naming",), ("artifacts",), ("research",), ("runtime", "rdma"))
    for path in sections:
        value = draft.get(path)
        if value is MISSING:
            continue
        for key in value if isinstance(value, dict) else ():
            message, hint, _ = unknown.explain(path, key)
            draft.add("unknown-key", (*path, key), message, hint, key=True)
        if value is not None and not isinstance(value, dict):
            draft.add("value-type", path, f"{dotted(path)} is {kind_of(value)}, but a mapping is wanted", "remove it")
        draft.take(path)


_AFTER: tuple[Callable[[Draft], None], ...] = (
    _engine, _prefix, _shape, _node_selector, _switches, _mode, _resource_mode, _smoke_pairs, _title, _no_effect, _leftovers,
)  # fmt: skip
