"""The state of a published run: one file a run, outside of every synced path.

In: a resolved run and the commit it came from, or the bytes of a state file. Out: `RunState` with the body of
`.taugen/state/<workspace>/<digest8[:2]>/<run>.yaml`. State is what retries, evidence and law 5 read later: nothing is resolved anew from
it, and a state that exists means that the run was published once and for all. What must never happen: a state of another Project taken for
ours.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, cast, get_args

from msgspec import Struct
from msgspec.structs import fields, replace

from taugen import __version__
from taugen.load.nodes import parse
from taugen.render import file
from taugen.words import Json
from taugen.words.emit import emit

if TYPE_CHECKING:
    from taugen.load.mainline import Brought
    from taugen.resolve.run import ResolvedRun

FOLDER = ".taugen/state"
Phase = Literal["live", "cancelled", "replaced", "succeeded", "failed", "deactivated", "validation-failed"]
"""`cancelled` and `replaced` are said by documents, the others by evidence (`cancelled` too, where the object is gone)."""
PHASES: frozenset[str] = frozenset(get_args(Phase))
Reference = tuple[str, str, str]
"""(kind, namespace or "", name) of an object that a live run needs."""
Key = tuple[str, str]
"""(workspace, run) of a run, or (workspace, name) of a document."""

_PLAIN = rb"([^\n\"'|>]+)\n"
# What `emit` writes for the usual state, so that 10,000 of them are read in a blink; any other layout goes through the YAML parser.
_USUAL = re.compile(
    b"".join(
        (
            rb"run: " + _PLAIN + rb"phase: ([a-z-]+)\nintent:\n",
            rb"  source: " + _PLAIN + rb"  commit: " + _PLAIN + rb"  digest: " + _PLAIN,
            rb"  code: (?:" + _PLAIN[:-2] + rb"|\"\")\n  policy: " + _PLAIN + rb"  compiler: " + _PLAIN,
            rb"(?:  (?:rendered|author|approver|pullRequest): [^\n]+\n)*",
            rb"object: " + _PLAIN + rb"cluster: " + _PLAIN + rb"attempt: (\d+)\nresumeFrom: [^\n]*\n",
            rb"needs:\n((?:- " + _PLAIN + rb")*)",
        )
    )
)
_ATTEMPT = re.compile(r"\nattempt: \d+\nresumeFrom: [^\n]*\n")


class RunState(Struct, frozen=True):
    """A published run. `refs` are the objects of its cluster that it needs while it lives (law 5); `body` is the file without its
    header."""

    workspace: str
    name: str
    run: str
    digest: str
    source: str
    commit: str
    cluster: str
    phase: Phase
    attempt: int
    policy: str
    code: str
    refs: tuple[Reference, ...]
    body: str

    @property
    def key(self) -> Key:
        """(workspace, run)."""
        return self.workspace, self.run

    @property
    def live(self) -> bool:
        """Whether its manifests stand in the deploy tree."""
        return self.phase == "live"

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
        """The same run, no longer live; nothing else of its file changes."""
        return replace(self, phase=phase, body=self.body.replace(f"\nphase: {self.phase}\n", f"\nphase: {phase}\n", 1))

    def at(self, attempt: int, resume_from: str) -> "RunState":
        """The same run, at another attempt, which resumes from a checkpoint's path (empty for none); nothing else of its file changes.

        Raises ValueError for a body in which the two stand otherwise than `of` writes them.
        """
        body, count = _ATTEMPT.subn(lambda _: "\n" + emit({"attempt": attempt, "resumeFrom": resume_from}), self.body, count=1)
        if not count:
            raise ValueError(f"{self.path} does not say its attempt as taugen writes it")
        return replace(self, attempt=attempt, body=body)

    def content(self, project: str) -> bytes:
        """The file, header included."""
        return file.encoded(self.body, self.source, project)


def state_path(workspace: str, run: str) -> str:
    """The path of a run's state."""
    return f"{FOLDER}/{workspace}/{run[-8:-6]}/{run}.yaml"


def of(run: "ResolvedRun", commit: str, rendered: str = "", by: "Brought | None" = None) -> RunState:
    """The state of a run that is published now, from the source commit `commit`. `rendered` is the digest of its objects (`digest_of`),
    `by` says who brought its document; what is not known is left out."""
    doc = run.doc
    code = run.code.tree.digest() if run.code.tree is not None else run.code.commit or ""
    refs = references(run)
    told: dict[str, Json] = {"rendered": rendered}
    if by is not None:
        told |= {"author": by.author, "approver": by.approver, "pullRequest": by.pull}
    document: dict[str, Json] = {
        "run": doc.run_id,
        "phase": "live",
        "intent": {
            "source": doc.file, "commit": commit, "digest": doc.digest, "code": code, "policy": run.policy_digest, "compiler": __version__,
            **{name: value for name, value in told.items() if value},
        },
        "object": doc.run,
        "cluster": run.cluster,
        "attempt": 1,
        "resumeFrom": "",
        "needs": [" ".join(part for part in ref if part) for ref in refs],
        **_kept(run),
    }  # fmt: skip
    body = emit(document)
    return RunState(
        doc.workspace, doc.name, doc.run, doc.digest, doc.file, commit, run.cluster, "live", 1, run.policy_digest, code, refs, body
    )


def digest_of(files: Mapping[str, bytes]) -> str:
    """The digest of a run's objects: the sha256 of the lines that ``sha256sum`` prints of their files, by name."""
    lines = [f"{sha256(content).hexdigest()}  {path.rpartition('/')[2]}\n" for path, content in sorted(files.items())]
    return sha256("".join(lines).encode()).hexdigest()


def references(run: "ResolvedRun") -> tuple[Reference, ...]:
    """The objects that the run needs while it lives."""
    place, namespace = run.placement, run.namespace
    refs = [("Namespace", "", namespace), ("LocalQueue", namespace, place.queue), ("ClusterQueue", "", place.cluster_queue)]
    if place.tier:
        refs.append(("WorkloadPriorityClass", "", place.tier))
    if run.service_account:
        refs.append(("ServiceAccount", namespace, run.service_account))
    secrets = {variable.secret for variable in run.env if variable.secret} | ({run.code.secret[0]} if run.code.secret else set())
    refs += [("PersistentVolumeClaim", namespace, claim) for claim in sorted({m.claim for m in run.mounts})]
    return (*refs, *(("Secret", namespace, name) for name in sorted(secrets)))


def _kept(run: "ResolvedRun") -> dict[str, Json]:
    """What stands in state for the collector and for retries."""
    request: dict[str, Json] = {"kind": run.kind, "nodes": run.nodes, "gpus": run.gpus, "gpuClass": run.gpu_class, "profile": run.profile}
    request |= {"queue": run.placement.cluster_queue, "tier": run.placement.tier, "image": run.image, "maxDuration": run.max_duration}
    out: dict[str, Json] = {"request": {k: v for k, v in request.items() if v is not None}}
    if run.mounts:
        out["mounts"] = {mount.path: mount.claim for mount in run.mounts}
    if run.output is not None:
        out["output"] = run.output
    if run.checkpoint is not None:
        out["checkpoint"] = {f.name: v for f in fields(run.checkpoint) if (v := getattr(run.checkpoint, f.name)) is not None}
    for key, section in (("resilience", run.resilience), ("metrics", run.metrics), ("experiment", run.experiment), ("model", run.model)):
        if section:
            out[key] = dict(section)
    return out


def read(content: bytes, project: str) -> RunState | None:
    """The state in a file's bytes; None if they are no state of this Project."""
    head, _, body = content.partition(b"\n")
    header = file.parse_header(head.decode("utf-8", "replace") + "\n")
    if header is None or header.project != project:
        return None
    return of_body(body)


def of_body(body: bytes) -> RunState | None:
    """The state in a file's body, as evidence of the run keeps it; None if it is none."""
    usual = _USUAL.match(body)
    if usual is None:
        return _parsed(body)
    run_id, phase, source, commit, digest, code, policy, _, run, cluster, attempt, needs = (
        part.decode() for part in usual.groups(b"")[:12]
    )
    if phase not in PHASES:
        return None
    workspace, name = _names(run_id)
    refs = tuple(_reference(line[2:]) for line in needs.splitlines())
    return RunState(
        workspace, name, run, digest, source, commit, cluster, cast("Phase", phase), int(attempt), policy, code, refs, body.decode()
    )


def _parsed(body: bytes) -> RunState | None:
    documents, findings = parse("state", body)
    if findings or len(documents) != 1:
        return None
    data = documents[0].data
    intent, needs = data.get("intent"), data.get("needs")
    texts = [data.get(key) for key in ("run", "phase", "object", "cluster")]
    if not isinstance(intent, dict) or not isinstance(needs, list) or not all(isinstance(text, str) for text in texts):
        return None
    run_id, phase, run, cluster = (str(text) for text in texts)
    if phase not in PHASES or "/" not in run_id:
        return None
    workspace, name = _names(run_id)
    source, commit, digest, code, policy = (str(intent.get(key) or "") for key in ("source", "commit", "digest", "code", "policy"))
    attempt = data.get("attempt")
    refs = tuple(_reference(str(need)) for need in needs)
    number = attempt if isinstance(attempt, int) else 1
    return RunState(workspace, name, run, digest, source, commit, cluster, cast("Phase", phase), number, policy, code, refs, body.decode())


def _names(run_id: str) -> tuple[str, str]:
    """Workspace and name in `<workspace>/<name>/<digest8>`."""
    workspace, _, rest = run_id.partition("/")
    return workspace, rest.rpartition("/")[0]


def _reference(need: str) -> Reference:
    kind, *parts = need.split(" ")
    return (kind, parts[0], parts[1]) if len(parts) == 2 else (kind, "", " ".join(parts))
