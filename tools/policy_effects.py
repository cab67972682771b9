"""What each field of policy does: two policies that differ only there, and what differs in the platform's objects, in the objects and the
state of runs, and in findings.

In: the tables of `tools.policy_probes`, the small project tests/fixtures/effects. Out: field -> places that changed. A field that is
accepted and changes nothing would be a lie: tests/policy/test_effects.py holds every field of every kind against the tables, and
docs/fields.md prints it.
"""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml

from taugen.diag import Diagnostic, ordered
from taugen.load import nodes
from taugen.load.glob import Matcher
from taugen.load.tree import SourceTree
from taugen.pipeline.compile import Compiler
from taugen.pipeline.project import Project
from taugen.policy import lock
from taugen.policy.load import load_policy
from taugen.policy.model import API_VERSION
from taugen.publish import state
from taugen.render import overlay
from taugen.render.overlay import load_overlays
from taugen.render.platform import render_platform
from taugen.resolve.explain import explain
from taugen.spec.read import read_file
from taugen.validate import engine
from taugen.validate.schemas import Validator
from taugen.words import Json
from tests.policykit import MemoryTree
from tools import effects
from tools.policy_probes import ASKED, FILES, PINS, PROBES, REMOTES, RUNS, Probe

Documents = dict[tuple[str, str], dict[str, Any]]
"""(kind, name) -> spec."""
Places = dict[str, Json]


def found(kind: str, field: str) -> list[str]:
    """The places that differ between the two policies of a field, shortened for people, in order. Raises ValueError for a document that
    can't be read.
    """
    return _differences(kind, field, PROBES[kind][field])


def refusal(kind: str, field: str) -> list[str]:
    """As `found`, for a field that is refused wherever it is set."""
    return _differences(kind, field, ASKED[kind, field])


def _differences(kind: str, field: str, probe: Probe) -> list[str]:
    one, two = (_outcome(*_policy(kind, field, probe, value), probe) for value in (probe.one, probe.two))
    whole = {place.partition(".")[0] for place in one} ^ {place.partition(".")[0] for place in two}
    changed = [place for place in dict.fromkeys([*one, *two]) if one.get(place) != two.get(place)]
    if any(place.startswith("refused.") for place in changed):
        changed = [place for place in changed if not place.partition(".")[0].endswith(tuple(f"[{run}]" for run in probe.runs))]
    return list(dict.fromkeys(_short(place, whole) for place in changed))


def _policy(kind: str, field: str, probe: Probe, value: Any) -> tuple[Documents, str]:
    """The fixture's documents with what the probe needs and the value; and a text that is the same for the same documents."""
    documents = dict(base())
    changes = [*probe.needs.items(), ((kind, probe.name, field), value)]
    for (of, name, path), new in changes:
        documents[of, name] = copy.deepcopy(documents.get((of, name), {}))
        _put(documents[of, name], path.replace("NAME", probe.key), copy.deepcopy(new))
    return documents, json.dumps([[*key, spec] for key, spec in documents.items()])


@cache
def base() -> Documents:
    """The fixture's documents."""
    texts = [(effects.FIXTURE / path).read_text(encoding="utf-8") for path in ("taugen.yaml", "policy/fleet.yaml", "more/policy.yaml")]
    return {(d["kind"], d["metadata"]["name"]): d["spec"] for text in texts for d in yaml.safe_load_all(text)}


def _put(spec: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at `path`, of a list in its first element; None takes it away."""
    here: Any = spec
    *parents, last = path.split(".")
    for part in parents:
        here = here.setdefault(part.removesuffix("[]"), [{}] if part.endswith("[]") else {})
        here = here[0] if part.endswith("[]") else here
    if value is None:
        here.pop(last, None)
    else:
        here[last] = value


_outcomes: dict[tuple[Any, ...], Places] = {}


def _outcome(documents: Documents, text: str, probe: Probe) -> Places:
    """Everything that can be seen of a policy; remembered, since most probes change one of the two only."""
    key = (text, probe.runs, probe.platform, json.dumps(probe.typed))
    if key not in _outcomes:
        _outcomes[key] = _seen(_project(documents), probe)
    return _outcomes[key]


def _project(documents: Documents) -> Project:
    files = dict(FILES)
    for (kind, name), spec in documents.items():
        text = json.dumps({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec})
        files["taugen.yaml" if kind == "Project" else f"policy/{kind}-{name}.yaml"] = text
    sources = documents["Project", "effects"].get("policy", [])
    pinned = [{**source["git"], "commit": PINS[tuple(source["git"].values())]} for source in sources if "git" in source]
    if pinned:
        files[lock.FILE] = json.dumps({"repositories": pinned})
    tree = MemoryTree({**_code(), **files})
    policy, findings = load_policy(tree, repositories=_Remotes())
    if policy is None or policy.broken:
        raise ValueError(f"{findings}")
    overlays, more = load_overlays(tree, policy)
    return Project(effects.FIXTURE, tree, policy, overlays, Matcher(policy.project.spec.runs), (*findings, *more))


class _Remotes:
    """The pinned repositories."""

    def tree(self, url: str, commit: str) -> SourceTree:
        del url
        return MemoryTree(REMOTES[commit])


@cache
def _code() -> dict[str, bytes]:
    """Runs and their code."""
    places = [path for path in (effects.FIXTURE / "workspaces").rglob("*") if path.is_file()]
    return {path.relative_to(effects.FIXTURE).as_posix(): path.read_bytes() for path in places}


_validators: dict[str, Validator] = {}
"""One for the same versions: each compiles its schemas at their first object."""


def _seen(project: Project, probe: Probe) -> Places:
    compiler = Compiler(project)
    compiler.validator = _validators.setdefault(repr(compiler.validator.__getstate__()), compiler.validator)
    out: Places = {f"documents.{path}": True for path in project.documents()}
    findings = list(project.findings)
    findings += engine.check_policy(project.policy)
    objects = render_platform(project.policy) if probe.platform else []
    for cluster in sorted(project.policy.clusters):
        mine, _ = overlay.apply(project.overlays, cluster, [item for item in objects if item.path.startswith(f"{cluster}/")])
        out |= _objects((item.obj, f"{item.kind}[{_HASH.sub('', item.path)}]") for item in mine)
    for run in probe.runs:
        out |= _of_run(compiler, run, probe.typed, findings)
    return out | _findings(findings)


_HASH = re.compile(r"-[0-9a-f]{8,}\b")
"""What follows from an object's contents is no name."""


def _of_run(compiler: Compiler, name: str, typed: Mapping[str, Any], findings: list[Diagnostic]) -> Places:
    workspace, document = RUNS[name]
    document = copy.deepcopy(document)
    for path, value in typed.items():
        _put(document, path, copy.deepcopy(value))
    (doc,), _ = read_file(f"workspaces/{workspace}/run/tau.yaml", json.dumps(document).encode(), workspace)
    compiled = compiler.compile(doc)
    findings += compiled.findings
    if not compiled.ok or compiled.run is None:
        return {f"refused.{name}": True}
    told = explain(compiled.run, compiler.policy)
    prices: Places = {f"explain.{line.field}": line.value for line in told if line.field.startswith("price.")}
    (kept_document,), _ = nodes.parse("state", state.of(compiled.run, "").body.encode())
    kept = _objects([(kept_document.data, f"state[{name}]")])
    del kept[f"state[{name}].intent.policy"]  # it differs with any change of policy, whatever that does
    return _objects((item.obj, f"{item.kind}[{name}]") for item in compiled.rendered) | kept | prices


def _objects(items: Iterable[tuple[Mapping[str, Json], str]]) -> Places:
    return {place: value for obj, name in items for place, value in effects.leaves(obj, name.replace(".", ","))}


def _findings(findings: Iterable[Diagnostic]) -> Places:
    """By rule, place and words; not by line, which moves with any edit."""
    out: Places = {}
    for one in ordered(findings):
        out[f"finding {one.rule}.{one.path}.{one.severity.value}.{one.message}"] = True
    return out


def _short(place: str, whole: set[str]) -> str:
    head, _, rest = place.partition(".")
    if head.startswith("finding "):
        return f"finding `{head.removeprefix('finding ')}`"
    if head == "refused":
        return "a run is refused"
    if head == "documents":
        return "which documents are read"
    if head == "explain":
        return f"`taugen explain`: `{rest.partition('.')[0]}`"
    return f"{head.partition('[')[0]}: the whole object" if head in whole else effects.short(f"{head.partition('[')[0]}.{rest}")
