"""The state of a published run: one file a run, outside of every synced path.

In: a resolved run and the commit it came from. Out: the text of `.taugen/state/<workspace>/<digest8[:2]>/<run>.yaml`, and back. State is what retries, evidence and law 5
read later: nothing is resolved anew from it, and a state that exists means that the run has been published once and for all.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from taugen import __version__
from taugen.load.nodes import parse
from taugen.render.types import Rendered
from taugen.resolve.run import ResolvedRun
from taugen.words import Json
from taugen.words.emit import emit

FOLDER = ".taugen/state"
Phase = Literal["live", "cancelled", "replaced"]
Reference = tuple[str, str, str]
"""(kind, namespace or "", name) of an object that a live run needs."""


@dataclass(frozen=True, slots=True)
class RunState:
    """`refs` are the objects of its cluster that the run needs while it lives (law 5); `files` are its manifests relative to the deploy tree."""

    workspace: str
    name: str
    run: str
    digest: str
    source: str
    commit: str
    cluster: str
    phase: Phase = "live"
    attempt: int = 1
    resume_from: str = ""
    compiler: str = __version__
    policy: str = ""
    code: str = ""
    refs: tuple[Reference, ...] = ()
    kept: dict[str, Json] = field(default_factory=dict)
    """What later stages read: request, resilience, checkpoint, metrics, experiment."""

    @property
    def path(self) -> str:
        """Where the state stands on the branch."""
        return state_path(self.workspace, self.run)

    @property
    def run_id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return f"{self.workspace}/{self.name}/{self.digest[:8]}"

    @property
    def folder(self) -> str:
        """The folder of the run's manifests, relative to the deploy tree."""
        return f"{self.cluster}/runs/{self.workspace}/{self.run[-8:-6]}/{self.run}"

    def ended(self, phase: Phase) -> "RunState":
        """The same run, no longer live."""
        return replace(self, phase=phase)


def state_path(workspace: str, run: str) -> str:
    """The path of a run's state."""
    return f"{FOLDER}/{workspace}/{run[-8:-6]}/{run}.yaml"


def of(run: ResolvedRun, rendered: tuple[Rendered, ...], commit: str) -> RunState:
    """The state of a run that is published now."""
    doc = run.doc
    return RunState(
        workspace=doc.workspace,
        name=doc.name,
        run=doc.run,
        digest=doc.digest,
        source=doc.file,
        commit=commit,
        cluster=run.cluster,
        policy=run.policy_digest,
        code=run.code.tree.digest() if run.code.tree is not None else (run.code.commit or ""),
        refs=references(run),
        kept=kept(run),
    )


def references(run: ResolvedRun) -> tuple[Reference, ...]:
    """The objects that the run needs while it lives."""
    place, namespace = run.placement, run.namespace
    refs: list[Reference] = [("Namespace", "", namespace), ("LocalQueue", namespace, place.queue), ("ClusterQueue", "", place.cluster_queue)]
    if place.tier:
        refs.append(("WorkloadPriorityClass", "", place.tier))
    if run.service_account:
        refs.append(("ServiceAccount", namespace, run.service_account))
    refs += [("PersistentVolumeClaim", namespace, claim) for claim in sorted({m.claim for m in run.mounts})]
    return tuple(refs)


def kept(run: ResolvedRun) -> dict[str, Json]:
    """What stands in state for the collector and for retries."""
    request: dict[str, Json] = {"kind": run.kind, "nodes": run.nodes, "gpus": run.gpus, "gpuClass": run.gpu_class, "profile": run.profile}
    request |= {"queue": run.placement.cluster_queue, "tier": run.placement.tier, "image": run.image, "maxDuration": run.max_duration}
    out: dict[str, Json] = {"request": {k: v for k, v in request.items() if v is not None}}
    if run.checkpoint is not None:
        out["checkpoint"] = {k: v for k, v in asdict(run.checkpoint).items() if v is not None}
    for key, section in (("resilience", run.resilience), ("metrics", run.metrics), ("experiment", run.experiment)):
        if section:
            out[key] = dict(section)
    return out


def write(state: RunState) -> Json:
    """The state as it is written."""
    document: dict[str, Json] = {
        "run": f"{state.workspace}/{state.name}/{state.digest[:8]}",
        "phase": state.phase,
        "intent": {"source": state.source, "commit": state.commit, "digest": state.digest, "code": state.code, "policy": state.policy, "compiler": state.compiler},
        "object": state.run,
        "cluster": state.cluster,
        "attempt": state.attempt,
        "resumeFrom": state.resume_from,
        "needs": [" ".join(part for part in ref if part) for ref in state.refs],
    }
    return {**document, **state.kept}


def text(state: RunState) -> str:
    """The body of the state's file, without its header."""
    return emit(write(state))


def read(body: bytes, workspace: str) -> RunState | None:
    """The state in a file's bytes; None if they are no state of ours."""
    documents, findings = parse("state", body)
    if findings or len(documents) != 1:
        return None
    data = documents[0].data
    try:
        return _from(data, workspace)
    except (KeyError, TypeError, ValueError):
        return None


def _from(data: dict[str, Json], workspace: str) -> RunState:
    intent, needs = data["intent"], data.get("needs") or []
    assert isinstance(intent, dict)
    assert isinstance(needs, list)
    own = {"run", "phase", "intent", "object", "cluster", "attempt", "resumeFrom", "needs"}
    name = str(data["run"]).split("/", 1)[1].rpartition("/")[0]
    return RunState(
        workspace=workspace,
        name=name,
        run=str(data["object"]),
        digest=str(intent["digest"]),
        source=str(intent["source"]),
        commit=str(intent["commit"]),
        cluster=str(data["cluster"]),
        phase=data["phase"],  # type: ignore[arg-type]
        attempt=int(str(data["attempt"])),
        resume_from=str(data["resumeFrom"] or ""),
        compiler=str(intent["compiler"]),
        policy=str(intent["policy"]),
        code=str(intent["code"] or ""),
        refs=tuple(_reference(str(need)) for need in needs),
        kept={k: v for k, v in data.items() if k not in own},
    )


def _reference(need: str) -> Reference:
    parts = need.split(" ")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else (parts[0], "", parts[1])
