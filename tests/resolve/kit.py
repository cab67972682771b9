"""Plays a document through reading, gathering and deciding, under the fixture's policy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from taugen.diag import Diagnostic, Severity, has_errors
from taugen.load.git import Entry
from taugen.load.glob import Matcher
from taugen.load.tree import SourceTree, Unreadable
from taugen.pipeline.code import gather
from taugen.policy.load import load_policy
from taugen.policy.set import Policy
from taugen.resolve.code import plan
from taugen.resolve.resolve import resolve
from taugen.resolve.run import ResolvedRun
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc
from tests.policykit import fixture_with

MATCHER = Matcher(["workspaces/*/**/tau.yaml"])
PYTHON = "print('hello')\n"


class Files(SourceTree):
    """A source tree in memory: `links` are symbolic links with their texts, `loose` files that Git does not track, `large` ones kept in
    LFS.
    """

    root_label = "memory"
    commit = None
    hash_name = "sha1"
    lfs: frozenset[str] = frozenset()

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        *,
        links: Mapping[str, str] | None = None,
        loose: Mapping[str, str | bytes] | None = None,
        large: Sequence[str] = (),
    ) -> None:
        self.loose = dict(loose or {})
        self.contents = {path: text.encode() if isinstance(text, str) else text for path, text in {**files, **self.loose}.items()}
        self.links = dict(links or {})
        self.lfs = frozenset(large)

    def paths(self) -> Mapping[str, Entry]:
        plain = {path: Entry("100755" if path.endswith(".sh") else "100644", None) for path in self.contents if path not in self.loose}
        return plain | {path: Entry("120000", None) for path in self.links}

    def untracked(self) -> Sequence[str]:
        return sorted(self.loose)

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        return sorted(p for p in self.contents if matches(p))

    def read(self, path: str, limit: int | None = None) -> bytes:
        if path not in self.contents:
            raise Unreadable(path, "does not exist")
        return self.contents[path]

    def readlink(self, path: str) -> str:
        return self.links[path]

    def prefetch(self, paths: Iterable[str]) -> None:
        """Nothing is far away."""


@dataclass(frozen=True)
class Played:
    """What became of a document."""

    doc: RunDoc
    policy: Policy
    run: ResolvedRun | None
    findings: tuple[Diagnostic, ...]

    @property
    def decided(self) -> ResolvedRun:
        assert self.run is not None, self.findings
        assert not has_errors(self.findings), self.findings
        return self.run

    def one(self, rule: str) -> Diagnostic:
        """The only finding of a rule."""
        found = [d for d in self.findings if d.rule == rule]
        assert len(found) == 1, self.findings
        return found[0]

    def errors(self) -> list[str]:
        return [d.rule for d in self.findings if d.severity is Severity.ERROR]

    def warnings(self) -> list[str]:
        return [d.rule for d in self.findings if d.severity is Severity.WARNING]


@lru_cache(maxsize=64)
def policy_with(changed: str = "") -> Policy:
    """The fixture's policy with documents added or replaced."""
    policy, _ = load_policy(fixture_with(changed))
    assert policy is not None
    return policy


def play(
    text: str, *, workspace: str = "speech", policy: str = "", files: Mapping[str, str | bytes] | None = None, folder: str = "case"
) -> Played:
    """One document at workspaces/<workspace>/<folder>/tau.yaml; `files` are relative to that folder."""
    base = f"workspaces/{workspace}/{folder}"
    path = f"{base}/tau.yaml"
    given = {"train.py": PYTHON} if files is None else files
    here = {_join(base, name): content for name, content in given.items()}
    docs, found = read_file(path, text.encode(), workspace)
    assert len(docs) == 1, found
    tree = Files({path: text, **here})
    code = gather(tree, docs[0], plan(docs[0]), MATCHER)
    policies = policy_with(policy)
    run, more = resolve(docs[0], policies, code)
    return Played(docs[0], policies, run, (*found, *docs[0].findings, *more))


def _join(base: str, name: str) -> str:
    parts = base.split("/")
    while name.startswith("../"):
        name = name[3:]
        parts.pop()
    return "/".join([*parts, name])


IMAGE = "registry.tern.example/speech/torch@sha256:" + "1" * 64
RAY = "docker.io/rayproject/ray:2.51.0-py312-gpu"


def job(*lines: str, gpus: int | None = 1, profile: str | None = None) -> str:
    """A small job with more lines."""
    shape = [] if gpus is None else [f"compute: {{gpus: {gpus}}}"]
    chosen = [] if profile is None else [f"policy: {{profile: {profile}}}"]
    return "\n".join(
        ["name: small", "run: {entrypoint: train.py, workload_kind: job}", f"runtime: {{image: '{IMAGE}'}}", *shape, *chosen, *lines, ""]
    )


def rayjob(*lines: str) -> str:
    """A small RayJob with more lines."""
    return "\n".join(["name: small", "run: {entrypoint: train.py, workload_kind: rayjob}", f"runtime: {{image: '{RAY}'}}", *lines, ""])
