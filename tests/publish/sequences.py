"""Random histories of a fleet: after each publish, the laws.

    python -m tests.publish.sequences --count 500 --seed 1

A history is a number of steps. A step is some edits, a commit or two, and a publish: plain, with --allow-cancel, against another writer,
or killed at a random instant. With --advance runs also fail and end by themselves, and `taugen advance` acts on it before the publish.
What must hold afterwards is in `World.check`; the first step that breaks it is printed with its seed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from unittest import mock

import yaml

from taugen.diag import Refused
from taugen.load import git as door
from taugen.pipeline import attempt, opening, source, unchanged
from taugen.pipeline import publish as pipeline
from taugen.policy import load
from taugen.publish import branch as deploy
from taugen.publish import state
from taugen.publish.state import RunState
from taugen.publish.target import Target
from tests.advance.kit import STARTED, Story, failed
from tests.gitkit import write
from tests.publish.kit import ACME, Fleet, job

NAMES = ("ant", "bee", "cat", "dog")
WORKSPACES = {"protein": "mesa", "speech": "fjord", "climate": "mesa"}
POLICY = (
    "policy/tenants/workspaces.yaml",
    "policy/queues.yml",
    "policy/profiles.yaml",
    "policy/tenants/storage.yaml",
    "overlays/mesa/registry.yaml",
    "taugen.yaml",
)
VERSIONS = ("0.1.0", "0.2.0", "0.3.0")
BROKEN = ("name: [\n", "", "name: x\nnonsense: 1\n", "\tx: 1\n")


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


@dataclass
class World:
    """A fleet, what was true of it before, and the dice."""

    fleet: Fleet
    dice: Random
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    """Run id -> manifests, as they were when it was published."""
    states: dict[str, RunState] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)
    version: str = VERSIONS[0]
    log: list[str] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    """The policy files as they were at first."""
    fate: Random | None = None
    """Dice of what becomes of runs; None for histories in which nothing does."""

    def say(self, text: str) -> None:
        self.log.append(text)

    # ---------------------------------------------------------------------------------------------------------------- documents

    def documents(self) -> list[str]:
        found = [path.relative_to(self.fleet.root).as_posix() for path in sorted(self.fleet.root.glob("workspaces/*/**/tau.yaml"))]
        return [path for path in found if (self.fleet.root / path).is_file()]

    def pick(self) -> str | None:
        documents = self.documents()
        return self.dice.choice(documents) if documents else None

    def place(self, workspace: str) -> str:
        return f"workspaces/{workspace}/d{self.dice.randrange(6)}/tau.yaml"

    def text(self, workspace: str, name: str) -> str:
        text = job(name, self.dice.randrange(1, 4)).replace("cluster: mesa", f"cluster: {WORKSPACES[workspace]}")
        return text + self.dice.choice(["", "", "", "on_edit: replace\n", "on_edit: beside\n", "on_edit: wait\n"])

    def add(self) -> None:
        workspace = self.dice.choice([*WORKSPACES, "protein", "protein"])
        path, name = self.place(workspace), self.dice.choice(NAMES)
        self.say(f"write {path} ({name})")
        write(self.fleet.root, {path: self.text(workspace, name)})

    def edit(self) -> None:
        if path := self.pick():
            self.say(f"edit {path}")
            text = self.fleet.read(path)
            lines = [line for line in text.splitlines() if not line.startswith("generation:")]
            change = self.dice.randrange(5)
            if change == 0:
                lines.append(f"generation: {self.dice.randrange(2, 5)}")
            elif change == 1:
                lines.append("# a comment")
            else:
                lines = [line.replace("cpus: 4,", f"cpus: {self.dice.choice([2, 4, 8, 4000])},") for line in lines]
                lines = [
                    line if "cpus:" not in line else line.replace("memory: 16Gi", f"memory: {self.dice.choice([8, 16])}Gi")
                    for line in lines
                ]
            write(self.fleet.root, {path: "\n".join(lines) + "\n"})

    def toggle(self) -> None:
        if path := self.pick():
            text = self.fleet.read(path)
            self.say(f"{'uncancel' if 'cancelled: true' in text else 'cancel'} {path}")
            text = text.replace("cancelled: true\n", "") if "cancelled: true" in text else text + "cancelled: true\n"
            write(self.fleet.root, {path: text})

    def move(self) -> None:
        if path := self.pick():
            target = self.place(path.split("/")[1])
            self.say(f"move {path} to {target}")
            text = self.fleet.read(path)
            write(self.fleet.root, {path: None})
            write(self.fleet.root, {target: text})

    def copy(self) -> None:
        if path := self.pick():
            target = self.place(path.split("/")[1])
            self.say(f"copy {path} to {target}")
            write(self.fleet.root, {target: self.fleet.read(path)})

    def join(self) -> None:
        """Two documents in one file."""
        one, two = self.pick(), self.pick()
        if one and two and one != two and one.split("/")[1] == two.split("/")[1]:
            self.say(f"join {two} to {one}")
            write(self.fleet.root, {one: self.fleet.read(one) + "---\n" + self.fleet.read(two), two: None})

    def delete(self) -> None:
        if path := self.pick():
            self.say(f"delete {path}")
            write(self.fleet.root, {path: None})

    def spoil(self) -> None:
        if path := self.pick():
            self.say(f"break {path}")
            write(self.fleet.root, {path: self.dice.choice(BROKEN)})

    def code(self) -> None:
        self.say("edit code")
        write(
            self.fleet.root,
            {
                "workspaces/climate/downscale/grid.py": f"x = {self.dice.randrange(9)}\n",
                "workspaces/protein/d1/x.py": f"{self.dice.randrange(9)}\n",
            },
        )

    # ---------------------------------------------------------------------------------------------------------------- policy

    def policy(self) -> None:
        """Some edit of policy, often one that live runs or their documents don't like; or everything as it was at first."""
        if self.dice.random() < 0.35:
            self.say("policy as at first")
            write(self.fleet.root, self.before)
            return
        path, old, new = self.dice.choice(EDITS)
        text = self.fleet.read(path)
        if old in text:
            self.say(f"policy: {old.strip()!r} -> {new.strip()!r}")
            write(self.fleet.root, {path: text.replace(old, new)})

    def compiler(self) -> None:
        self.version = self.dice.choice(VERSIONS)
        self.say(f"compiler {self.version}")

    def other(self) -> None:
        self.say("edit README.md")
        write(self.fleet.root, {"README.md": f"{self.dice.randrange(100)}\n"})

    # ---------------------------------------------------------------------------------------------------------------- publishing

    def step(self) -> None:
        for _ in range(self.dice.choice([1, 1, 1, 2])):
            for _ in range(self.dice.randrange(1, 4)):
                self.dice.choices(list(ACTIONS), list(ACTIONS.values()))[0](self)
            self.fleet.commit()
            self.say("commit")
        with self.compiled_by():
            if self.fate is not None and self.fate.random() < 0.6:
                self.advance(self.fate)
            self.publish()

    def advance(self, fate: Random) -> None:
        """Runs fail or end; what follows happens to them alone, once."""
        live = [run for run in self.states.values() if run.live]
        story, told = Story(self.fleet), fate.sample(live, min(len(live), fate.choice([1, 1, 2, 3])))
        for run in told:
            end = fate.choice([*[failed(30)] * 3, [("succeeded", 30)], [("deactivated", 30)], [("preempted", 30)]])
            self.say(f"{run.run_id}, attempt {run.attempt}: {end[-1][0]}")
            story.tell(run, *STARTED, *end, attempt=run.attempt)
        if "refs/heads/deploy" not in self.fleet.refs():
            return
        outcome = story.advance()
        assert outcome.code == 0
        assert story.advance().commit is None, "no news, no commit"
        old, self.states = self.states, self.fleet.states()
        changed = {run_id for run_id, run in self.states.items() if run != old[run_id]}
        assert changed == {run.run_id for run, _ in outcome.done} <= {run.run_id for run in told}
        for run_id in changed:
            run, was, files = self.states[run_id], old[run_id], self.files[run_id]
            self.files[run_id] = self.fleet.manifests(run)
            if run.live:
                assert was.at(was.attempt + 1, "") == run
                assert self.files[run_id].keys() == files.keys()
                assert [path for path in files if path.endswith("/configmap.yaml") and files[path] != self.files[run_id][path]] == []
            else:
                assert was.ended(run.phase) == run

    @contextmanager
    def compiled_by(self):
        with (
            mock.patch.object(source, "COMPILER", self.version),
            mock.patch.object(unchanged, "COMPILER", self.version),
            mock.patch.object(state, "__version__", self.version),
            mock.patch.object(load, "__version__", self.version),
        ):
            yield

    def publish(self) -> None:
        how = self.dice.choices(["plain", "allow", "race", "foreign", "kill"], [6, 2, 1, 1, 2])[0]
        live = sorted(run_id for run_id, run in self.states.items() if run.live)
        allow = frozenset(self.dice.sample(live, min(len(live), 2))) if how == "allow" else frozenset()
        self.say(f"publish ({how}{' ' + ', '.join(sorted(allow)) if allow else ''})")
        if how == "foreign":
            self.foreigner()
        if how == "kill":
            self.kill()
        full = self.once(allow, full=True)
        if how == "race":
            outcome = self.race(allow)
        else:
            outcome = self.attempt(allow)
            assert _shown(outcome) == full, f"incremental: {_shown(outcome)}\nfull: {full}"
        self.check(outcome, allow)
        again = self.attempt(frozenset())
        again_full = self.once(frozenset(), full=True)
        assert _shown(again) == again_full, f"incremental: {_shown(again)}\nfull: {again_full}"
        assert isinstance(again, Refused) or again.commit is None, "no change, no commit"

    def attempt(self, allow: frozenset[str]) -> pipeline.Outcome | Refused:
        try:
            return self.fleet.publish(allow=allow)
        except Refused as refused:
            return refused

    def once(self, allow: frozenset[str], *, full: bool) -> object:
        """What a publish would come to, without moving anything: the commit's id, the exit code, the decisions."""
        request = pipeline.Request(self.fleet.root, allow=allow, full=full)
        try:
            reading = source.read(opening.opened(request.directory, request.ref))
            target = Target.of(reading.repo, "deploy", None)
            outcome, outcome.commit = attempt.once(reading, target, target.tip(), request, lambda _: None)
        except Refused as refused:
            return _shown(refused)
        return _shown(outcome)

    def race(self, allow: frozenset[str]) -> pipeline.Outcome | Refused:
        """Somebody commits to the branch just before we would."""
        move, left = Target.move, [self.dice.choice([1, 2])]

        def late(target: Target, new: str, old: str | None) -> bool:
            if left[0]:
                left[0] -= 1
                self.foreigner()
            return move(target, new, old)

        with mock.patch.object(Target, "move", late):
            return self.attempt(allow)

    def foreigner(self) -> None:
        if "refs/heads/deploy" in self.fleet.refs():
            path, text = f"clusters/mesa/theirs/f{self.dice.randrange(3)}.yaml", f"{self.dice.randrange(100)}\n"
            self.fleet.deploy({path: text})
            self.foreign[path] = text

    def kill(self) -> None:
        """A publish that ends at some call of git; whatever it left, the branch is old or new."""
        start, left = door.start, [self.dice.randrange(4, 34)]
        before = self.fleet.refs()

        def dying(*args: object, **more: object) -> object:
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return start(*args, **more)  # type: ignore[arg-type]

        try:
            with mock.patch.object(door, "start", dying):
                self.attempt(frozenset())
        except Killed:
            self.say("killed")
        if self.fleet.refs() != before:
            assert deploy.deployed(self.fleet.path, self.fleet.tip, "clusters", "tern").memory is not None
            self.remember()

    # ---------------------------------------------------------------------------------------------------------------- laws

    def check(self, outcome: pipeline.Outcome | Refused, allow: frozenset[str]) -> None:
        if "refs/heads/deploy" not in self.fleet.refs():
            assert not self.states
            return
        old = dict(self.states)
        self.remember(None if isinstance(outcome, Refused) else outcome)
        for run_id, run in old.items():
            if run.live and not self.states[run_id].live:
                assert isinstance(outcome, pipeline.Outcome)
                self.justified(run, outcome, allow)

    def remember(self, outcome: pipeline.Outcome | None = None) -> None:
        """Laws 3 to 6 on the tip, against what was known before."""
        tree, states = self.fleet.tree(), self.fleet.states()
        assert self.states.keys() <= states.keys(), "a state is never lost"
        for run_id, run in states.items():
            known = self.states.get(run_id)
            manifests = {path: blob for path, blob in tree.items() if path.startswith(f"clusters/{run.folder}/")}
            if known is None:
                self.files[run_id] = manifests
                assert not run.live or manifests
            elif run.live:
                assert known == run, "a live run's state never changes"
                assert manifests == self.files[run_id], "a live run's files never change"
            else:
                assert not manifests
                assert known.live or known == run, "a run that ended stays as it is"
                assert known.ended(run.phase) == run
            if run.live:
                self.needs(run, tree)
        for path, text in self.foreign.items():
            assert self.fleet.show(path) == text, "files of others are left alone"
        live = {(run.workspace, run.run) for run in states.values() if run.live}
        folders = {tuple(path.split("/")[i] for i in (3, 5)) for path in tree if path.startswith("clusters/") and len(path.split("/")) == 7}
        assert folders == live, "the deploy tree holds the live runs and no other"
        self.states = states

    def needs(self, run: RunState, tree: dict[str, str]) -> None:
        """Law 5: what the run refers to is there."""
        for kind, namespace, name in run.refs:
            if kind == "Secret" or (kind == "PersistentVolumeClaim" and name != "checkpoints"):
                continue
            folder = f"workspaces/{run.workspace}" if namespace or kind == "Namespace" else "platform"
            path = f"clusters/{run.cluster}/{folder}/{kind.lower()}-{name}.yaml"
            assert path in tree, f"{path} is gone, and {run.run_id} needs it"
            text = self.fleet.show(path)
            assert not namespace or f"\n  namespace: {namespace}\n" in text
            if kind == "ClusterQueue":
                assert any(f"- {n}\n" in text for k, _, n in run.refs if k == "Namespace"), f"{path} shuts {run.run_id} out"

    def justified(self, run: RunState, outcome: pipeline.Outcome, allow: frozenset[str]) -> None:
        """Law 5: somebody said that the run goes."""
        documents = []
        for path in self.documents():
            if path.startswith(f"workspaces/{run.workspace}/"):
                try:
                    documents += [(path, d) for d in yaml.safe_load_all(self.fleet.read(path)) if isinstance(d, dict)]
                except yaml.YAMLError:
                    continue
        named = [d for _, d in documents if d.get("name") == run.name]
        if any(d.get("cancelled") for d in named):
            return
        replaced = any(wish.workspace == run.workspace and wish.name == run.name for wish in outcome.plan.add)
        if named:
            assert replaced, f"{run.run_id} ended, though its document stands"
            assert run.run_id in allow or self.states[run.run_id].phase == "replaced"
        else:
            safe = "cancel: allow" in self.fleet.read("taugen.yaml")
            assert run.run_id in allow or safe, f"{run.run_id} ended, though nobody said so"

    def elsewhere(self) -> None:
        """Law 1: the same commit in another time zone, locale, hash order, with other rights of files."""
        with tempfile.TemporaryDirectory() as folder:
            copy = self.fleet.copy(Path(folder) / "repo")
            with self.compiled_by():
                here = self.once(frozenset(), full=True)
            env = os.environ | {
                "TZ": "Pacific/Kiritimati",
                "LC_ALL": "C",
                "PYTHONHASHSEED": str(self.dice.randrange(1, 999)),
                "PYTHONPATH": os.pathsep.join(sys.path),
            }
            words = ["-c", ELSEWHERE, str(copy.root), self.version]
            done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=False)
            assert done.stdout.strip() == repr(here), f"{done.stdout}{done.stderr}\nhere: {here!r}"


ELSEWHERE = """
import os, sys
os.umask(0o077)
from pathlib import Path
from random import Random
from tests.publish.kit import Fleet
from tests.publish.sequences import World
world = World(Fleet(Path(sys.argv[1])), Random(0), version=sys.argv[2])
with world.compiled_by():
    print(repr(world.once(frozenset(), full=True)))
"""


def _shown(outcome: object) -> object:
    """What must be the same for a full pass and an incremental one."""
    if isinstance(outcome, Refused):
        return ("refused", outcome.code, outcome.message)
    assert isinstance(outcome, pipeline.Outcome)
    plan = outcome.plan
    runs = [sorted(wish.run_id for wish in wishes) for wishes in (plan.add, plan.ended_before)]
    states = [sorted(run.run_id for run in runs) for runs in (plan.vanished, plan.unread)]
    held = sorted({wish.file for wish in plan.held})
    waiting = sorted((wish.run_id, older.run_id) for wish, older in plan.waiting)
    ended = sorted((run.run_id, phase) for run, phase in plan.end)
    return (outcome.commit, outcome.code, runs, states, held, waiting, ended, plan.pending(), plan.adrift())


ACTIONS: dict[Callable[[World], None], int] = {
    World.add: 8, World.edit: 8, World.toggle: 4, World.move: 3, World.copy: 1, World.join: 1, World.delete: 3, World.spoil: 2,
    World.code: 1, World.policy: 5, World.compiler: 1, World.other: 1,
}  # fmt: skip
_WORKSPACES = POLICY[0]
EDITS = (
    (_WORKSPACES, "namespace: lab-protein", "namespace: lab-proteins"),
    (_WORKSPACES, "  on_edit: replace\n", "  on_edit: wait\n"),
    (_WORKSPACES, "clusters: [fjord]", "clusters: [fjord, mesa]"),
    (_WORKSPACES, "{name: cpu, queue: batch}", "{name: small, queue: batch}"),
    (_WORKSPACES, "serviceAccount: climate-runs", "serviceAccount: others"),
    (_WORKSPACES, "profiles: [l40s-small, cpu]", "profiles: [cpu]"),
    (_WORKSPACES, "namespace: lab-speech\n", "namespace: lab-speech\n  nonsense: 1\n"),
    (_WORKSPACES, "namespace: lab-climate\n", "namespace: [lab-climate\n"),
    (_WORKSPACES, "{name: gpu, queue: research}", "{name: gpu, queue: batch}"),
    ("policy/queues.yml", "memory: {nominal: 800Gi}", "memory: {nominal: 900Gi}"),
    ("policy/queues.yml", "kind: Queue\nmetadata:\n  name: batch\n", "kind: Queue\nmetadata:\n  name: bulk\n"),
    ("policy/queues.yml", "metadata:\n  name: low\n", "metadata:\n  name: lowest\n"),
    ("policy/queues.yml", "spec: {value: 100,", "spec: {value: 1x,"),
    ("policy/profiles.yaml", "priority: low", "priority: normal"),
    ("policy/profiles.yaml", "cpus: {max: 48}", "cpus: {max: 3}"),
    ("policy/tenants/storage.yaml", "name: checkpoints\n", "name: models\n"),
    ("overlays/mesa/registry.yaml", "{name: registry}", "{name: mirror}"),
    ("overlays/mesa/registry.yaml", "kind: ServiceAccount", "kind: ["),
    ("taugen.yaml", "  evidence:\n", "  safety: {cancel: allow}\n  evidence:\n"),
    ("taugen.yaml", "    - path: policy\n", "    - path: policy\n    - path: nowhere\n"),
    ("policy/platform.yaml", "registry.tern.example/, ", ""),
)


def retrying() -> dict[str, str]:
    """Policy by which runs that fail are tried again, once."""
    path = "policy/platform.yaml"
    text = (ACME / path).read_text()
    said = "  defaults:\n    resilience: {max_retries: 1, retry_on: [Error]}\n"
    return {path: text.replace("  defaults:\n", said, 1) if "  defaults:\n" in text else text.replace("spec:\n", f"spec:\n{said}", 1)}


def play(folder: Path, base: Fleet, seed: int, steps: int, *, elsewhere: bool = False, advance: bool = False) -> int:
    """Play one history; the number of commits that came of it. AssertionError with what was done."""
    world = World(base.copy(folder), Random(seed), fate=Random(f"fate {seed}") if advance else None)
    world.before = {path: world.fleet.read(path) for path in (*POLICY, "policy/platform.yaml")}
    try:
        if "refs/heads/deploy" in world.fleet.refs():
            world.remember()
        for _ in range(steps):
            world.step()
        if elsewhere:
            world.elsewhere()
        world.fleet.fsck()
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error}\n" + "\n".join(world.log)) from error
    return int(world.fleet.git("rev-list", "--count", "deploy"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Play random histories and check the laws of publishing after each step.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--advance", action="store_true", help="runs fail and end, and are advanced")
    asked = parser.parse_args()
    started, failed, commits = time.monotonic(), 0, 0
    os.environ.update({"GIT_CONFIG_NOSYSTEM": "1", "HOME": tempfile.mkdtemp()})
    with tempfile.TemporaryDirectory() as temporary:
        base = Fleet.make(Path(temporary) / "base", retrying() if asked.advance else {})
        base.publish()
        for seed in range(asked.seed, asked.seed + asked.count):
            folder = Path(temporary) / "history"
            try:
                commits += play(folder, base, seed, asked.steps, elsewhere=seed % 10 == 0, advance=asked.advance)
            except AssertionError as error:
                failed += 1
                sys.stderr.write(f"{error}\n")
            shutil.rmtree(folder, ignore_errors=True)
            played = seed - asked.seed + 1
            if played % 10 == 0:
                sys.stderr.write(f"{played} histories, {failed} failed, {time.monotonic() - started:.0f} s\n")
    passed = asked.count - failed
    sys.stdout.write(f"{commits} commits in {asked.count} histories of {asked.steps} steps from seed {asked.seed}\n")
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
