"""A GitOps repository in a temporary folder, and what `publish` makes of it."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from taugen.diag import Refused, Severity
from taugen.pipeline.publish import Outcome, Request, publish
from taugen.publish import state, trailers
from taugen.publish.state import RunState
from taugen.publish.trailers import Memory
from tests.gitkit import git, write

ACME = Path(__file__).parent.parent / "fixtures" / "acme"
SPEECH, CLIMATE, PROTEIN = (f"workspaces/{path}/tau.yaml" for path in ("speech/finetune", "climate/downscale", "protein/fold"))
WHISPER, DOWNSCALE, FOLD = "speech/whisper-finetune", "climate/downscale", "protein/fold-report"
QUEUES, WORKSPACES, STORAGE = "policy/queues.yml", "policy/tenants/workspaces.yaml", "policy/tenants/storage.yaml"

JOB = """\
name: {name}
run: {{entrypoint: [python, -m, fold.report], workload_kind: job}}
code: {{delivery: image}}
runtime: {{image: registry.tern.example/protein/fold@sha256:{digit:064d}}}
compute: {{gpus: 0, cpus: 4, memory: 16Gi}}
policy: {{profile: cpu, cluster: mesa}}
"""


def job(name: str, digit: int = 1, **more: object) -> str:
    """A small run of workspace protein; `more` are further top-level fields."""
    return JOB.format(name=name, digit=digit) + "".join(f"{key}: {value}\n" for key, value in more.items())


class Fleet:
    """The repository at `path`, its project in `prefix`. `publish` works on its commits, in this process."""

    def __init__(self, path: Path, prefix: str = "") -> None:
        self.path = path
        self.root = path / prefix
        self.where: dict[str, object] = {}
        """What every publish is asked for: to, branch."""

    @classmethod
    def make(cls, path: Path, files: Mapping[str, str | bytes | None] | None = None, prefix: str = "") -> "Fleet":
        """A new repository with acme's files and one commit."""
        shutil.copytree(ACME, path / prefix)
        git(path, "init", "-q")
        fleet = cls(path, prefix)
        fleet.commit(files or {}, "first")
        return fleet

    def copy(self, path: Path) -> "Fleet":
        """The same repository, elsewhere."""
        shutil.copytree(self.path, path, symlinks=True)
        other = Fleet(path, self.root.relative_to(self.path).as_posix().removeprefix("."))
        other.where = dict(self.where)
        return other

    def git(self, *args: str, **more: str) -> str:
        return git(self.path, *args, **more)

    def commit(self, files: Mapping[str, str | bytes | None] | None = None, message: str = "change") -> str:
        """Write files, commit everything."""
        write(self.root, files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def edit(self, path: str, *changes: tuple[str, str]) -> str:
        """Replace texts in a file, commit."""
        text = self.read(path)
        for old, new in changes:
            assert old in text, f"{old!r} is not in {path}"
            text = text.replace(old, new, 1)
        return self.commit({path: text})

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def publish(self, **asked: object) -> Outcome:
        """Publish HEAD. Raises `Refused`."""
        return publish(Request(self.root, **{**self.where, **asked}))  # type: ignore[arg-type]

    def refused(self, **asked: object) -> Refused:
        """Publish, which must be refused as a whole."""
        before = self.refs()
        try:
            outcome = self.publish(**asked)
        except Refused as refused:
            assert self.refs() == before, "a refusal moves nothing"
            return refused
        raise AssertionError(f"published {outcome.commit}")

    def refs(self) -> str:
        return self.git("for-each-ref", "refs/heads")

    @property
    def tip(self) -> str:
        return self.git("rev-parse", "refs/heads/deploy")

    def tree(self, ref: str = "deploy") -> dict[str, str]:
        """Path -> blob of all files."""
        lines = self.git("ls-tree", "-r", ref).splitlines()
        return {path: meta.split()[2] for line in lines for meta, _, path in [line.partition("\t")]}

    def show(self, path: str, ref: str = "deploy") -> str:
        return self.git("show", f"{ref}:{path}") + "\n"

    def states(self, ref: str = "deploy") -> dict[str, RunState]:
        """Run id -> state."""
        found = {}
        for path in self.tree(ref):
            if path.startswith(state.FOLDER + "/"):
                one = state.read(self.show(path, ref).encode(), "tern")
                assert one is not None, path
                found[one.run_id] = one
        return found

    def live(self) -> dict[str, RunState]:
        """`workspace/name` -> state of the live run; there must be one at most."""
        live = [one for one in self.states().values() if one.live]
        found = {f"{one.workspace}/{one.name}": one for one in live}
        assert len(found) == len(live)
        return found

    def manifests(self, run: RunState, ref: str = "deploy") -> dict[str, str]:
        return {path: blob for path, blob in self.tree(ref).items() if path.startswith(f"clusters/{run.folder}/")}

    def memory(self, ref: str = "deploy") -> Memory:
        found = trailers.read(self.git("log", "-1", "--format=%B", ref))
        assert found is not None
        return found[0]

    def deploy(self, files: Mapping[str, str | None], message: str = "by hand") -> str:
        """Somebody commits to the deploy branch."""
        place = self.path.parent / "by-hand"
        self.git("worktree", "add", "-q", "--detach", str(place), "deploy")
        try:
            write(place, files)
            git(place, "add", "-A")
            git(place, "commit", "-q", "--allow-empty", "-m", message)
            self.git("update-ref", "refs/heads/deploy", git(place, "rev-parse", "HEAD"))
        finally:
            self.git("worktree", "remove", "--force", str(place))
        return self.tip

    def fsck(self) -> None:
        """The repository holds no broken object."""
        done = subprocess.run(
            ["git", "fsck", "--full", "--strict", "--no-dangling"], cwd=self.path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr.replace("notice: No default references\n", ""), done.stderr


def rules(outcome: Outcome | Refused) -> list[str]:
    """The ids of all findings and refusals."""
    if isinstance(outcome, Refused):
        return [found.rule for found in outcome.findings]
    return [found.rule for found in (*outcome.findings, *outcome.refused)]


def errors(outcome: Outcome) -> list[str]:
    """The ids of errors and refusals."""
    return [found.rule for found in (*outcome.findings, *outcome.refused) if found.severity is Severity.ERROR]


def messages(outcome: Outcome) -> str:
    """All that findings and refusals say."""
    return "\n".join(f"{found.message} {found.hint}" for found in (*outcome.findings, *outcome.refused))


def added(outcome: Outcome) -> list[str]:
    """`workspace/name` of the runs that were added."""
    return [f"{wish.workspace}/{wish.name}" for wish in outcome.plan.add]


def ended(outcome: Outcome) -> list[tuple[str, str]]:
    """(`workspace/name`, phase) of the runs that ended."""
    return [(f"{run.workspace}/{run.name}", phase) for run, phase in outcome.plan.end]


Step = Callable[[Fleet], object]
