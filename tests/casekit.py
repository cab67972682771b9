"""Plays the cases of `tests/cases`: folders that a user could read, on the real command and a real Git repository.

In: a folder with `expect.yaml` (tests/cases/README.md says what it can hold). Out: what differs, one sentence each; none where the case
holds. `python -m tests.casekit [WORD]` writes the texts that are kept byte for byte anew (`check.txt`, `rendered/`): read the diff before
committing it.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.gitkit import commit, git, make_repo, write
from tests.policykit import FIXTURE

FOLDER = Path(__file__).parent / "cases"
KEYS = {
    "valid": {"why", "workspace", "objects", "none", "never", "findings", "longest"},
    "invalid": {"why", "workspace", "never", "findings"},
    "policy": {"why", "objects", "none", "never", "findings"},
    "publish": {"why", "steps"},
}
OURS = ("expect.yaml", "check.txt", "rendered", "repo")
MISSING = object()

Command = Callable[..., Any]
"""`taugen(*args, cwd=…)`: an object with code, out, err."""


@dataclass(frozen=True)
class Case:
    """One folder."""

    folder: Path
    expect: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Case":
        case = cls(folder, yaml.safe_load((folder / "expect.yaml").read_text()))
        assert case.expect["why"], folder
        assert case.expect.keys() <= KEYS[case.group], f"{folder}: unknown {sorted(case.expect.keys() - KEYS[case.group])}"
        return case

    @property
    def group(self) -> str:
        return self.folder.parent.name

    @property
    def inside(self) -> str:
        """Where its files go in the repository."""
        return f"{'policy' if self.group == 'policy' else 'workspaces/' + self.expect.get('workspace', 'speech')}/{self.folder.name}"

    def repository(self, path: Path) -> Path:
        """The fixture with the case in it, committed; files of `repo/` are laid over it."""
        fixture(path)
        if self.group != "publish":
            shutil.copytree(self.folder, path / self.inside, symlinks=True, ignore=shutil.ignore_patterns(*OURS))
        if (self.folder / "repo").is_dir():
            shutil.copytree(self.folder / "repo", path, dirs_exist_ok=True)
        commit(make_repo(path))
        return path


def fixture(path: Path) -> Path:
    """The fixture's files, with the one warning mended that it has by itself."""
    shutil.copytree(FIXTURE, path)
    for run in path.glob("workspaces/*/*/tau.yaml"):
        run.write_text(run.read_text().replace("2.51.0-py312-gpu\n", f"2.51.0-py312-gpu@sha256:{'4' * 64}\n"))
    return path


def cases(group: str) -> list[Path]:
    """The folders of a group."""
    return sorted(path.parent for path in (FOLDER / group).glob("*/expect.yaml"))


# --------------------------------------------------------------------------------------------------------------------------- findings


def findings(taugen: Command, repo: Path) -> list[dict[str, Any]]:
    """What `check` finds, as data."""
    ran = taugen("check", "--format", "json", cwd=repo)
    found: list[dict[str, Any]] = json.loads(ran.out)["findings"]
    assert ran.code == int(any(f["severity"] == "error" for f in found)), f"exit {ran.code}"
    return found


def matches(found: dict[str, Any], want: dict[str, Any], inside: str) -> bool:
    """Whether a finding is the one that a case asks for; the file is tau.yaml beside it unless the case says another."""
    text = f"{found['message']} {found['hint']}"
    origin = found["origin"] or {}
    file = want.get("file", "tau.yaml")
    return (
        found["file"] in {file, f"{inside}/{file}"}
        and all(found[key] == want[key] for key in ("rule", "line", "path") if key in want)
        and found["severity"] == want.get("severity", "error")
        and all(str(word) in text for word in want.get("mentions", ()))
        and not any(str(word) in text for word in want.get("mentions_not", ()))
        and all(origin.get(key) == value for key, value in want.get("origin", {}).items())
    )


def finding_faults(found: list[dict[str, Any]], wanted: list[dict[str, Any]], inside: str) -> Iterator[str]:
    """Each finding must be asked for, and each that is asked for be there: no echo, none lost."""
    left = list(found)
    for want in wanted:
        assert {"rule", "line"} <= want.keys(), f"rule and line are missing in {want}"
        for one in left:
            if matches(one, want, inside):
                left.remove(one)
                break
        else:
            yield f"no finding matches {want}"
    for one in left:
        yield f"not asked for: {one['file']}:{one['line']}: {one['severity']}: {one['path']}: {one['message']} [{one['rule']}]"


# ---------------------------------------------------------------------------------------------------------------------------- objects


def at(node: Any, path: str) -> Any:
    """The value at a path: `a.b`, `[0]`, `[key.with/dots]`, `[field=value]` for the first element with that field."""
    for name, index in re.findall(r"([^.\[\]]+)|\[([^\]]+)\]", path):
        key = name or index
        if isinstance(node, list) and "=" in key:
            field, _, value = key.partition("=")
            node = next((item for item in node if isinstance(item, dict) and str(item.get(field)) == value), MISSING)
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, dict) and key in node:
            node = node[key]
        else:
            return MISSING
        if node is MISSING:
            return MISSING
    return node


def containers(node: Any) -> Iterator[dict[str, Any]]:
    """All containers of an object, those that start first too."""
    if isinstance(node, dict):
        for key in ("initContainers", "containers"):
            yield from node.get(key) or ()
        for value in node.values():
            yield from containers(value)
    elif isinstance(node, list):
        for value in node:
            yield from containers(value)


def object_faults(obj: dict[str, Any], want: dict[str, Any]) -> Iterator[str]:
    """What differs between an object and what a case says of it."""
    assert want.keys() <= {"kind", "name", "at", "absent", "contains", "env", "env_secret"}, f"unknown keys in {want}"
    if "name" in want and obj["metadata"]["name"] != want["name"]:
        yield f"is named {obj['metadata']['name']}, not {want['name']}"
    for path, value in want.get("at", {}).items():
        got = at(obj, path)
        if got != value or isinstance(got, bool) != isinstance(value, bool):
            yield f"{path} is {'absent' if got is MISSING else repr(got)}, not {value!r}"
    for path in want.get("absent", ()):
        if (got := at(obj, path)) is not MISSING:
            yield f"{path} is {got!r}, not absent"
    for path, text in want.get("contains", {}).items():
        if text not in str(at(obj, path)):
            yield f"{path} lacks {text!r}"
    env = {entry["name"]: entry for container in containers(obj) for entry in container.get("env", ())}
    for name, value in want.get("env", {}).items():
        if env.get(name, {}).get("value", "") != value or name not in env:
            yield f"env {name} is {env.get(name)}, not {value!r}"
    for name, text in want.get("env_secret", {}).items():
        ref = env.get(name, {}).get("valueFrom", {}).get("secretKeyRef", {})
        if f"{ref.get('name')}:{ref.get('key')}" != text:
            yield f"env {name} is not from {text}"


def objects_faults(expect: dict[str, Any], objects: list[dict[str, Any]]) -> Iterator[str]:
    """What differs between the objects of a case and what it says of them."""
    for want in expect.get("objects", ()):
        alike = [obj for obj in objects if obj["kind"] == want["kind"]]
        if not alike:
            yield f"no {want['kind']} was rendered"
        else:
            yield from (f"{want['kind']}: {fault}" for fault in min((list(object_faults(obj, want)) for obj in alike), key=len))
    for kind in expect.get("none", ()):
        yield from (f"{kind} {obj['metadata']['name']} was rendered" for obj in objects if obj["kind"] == kind)
    names = [obj["metadata"]["name"] for obj in objects if "metadata" in obj]
    yield from (f"{name} has {len(name)} characters" for name in names if len(name) > expect.get("longest", 253))


def texts(folder: Path) -> dict[str, str]:
    """Path -> text of every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def rendered(taugen: Command, repo: Path, out: Path) -> dict[str, str]:
    """What `render` writes."""
    ran = taugen("render", "-o", str(out), cwd=repo)
    assert ran.code == 0, ran.err
    return texts(out)


# ------------------------------------------------------------------------------------------------------------------------------- play


@dataclass(frozen=True)
class Base:
    """The fixture by itself."""

    tree: dict[str, str]

    @classmethod
    def of(cls, taugen: Command, folder: Path) -> "Base":
        repo = fixture(folder / "repo")
        commit(make_repo(repo))
        assert findings(taugen, repo) == []
        return cls(rendered(taugen, repo, folder / "out"))


@dataclass(frozen=True)
class Played:
    """What the command said of a case: findings, their text, and files that the fixture alone has not, or not so."""

    findings: list[dict[str, Any]]
    text: str
    files: dict[str, str]


def play(case: Case, base: Base, taugen: Command, folder: Path) -> Played:
    """Check and, where there is no error, render."""
    repo = case.repository(folder / "repo")
    found = findings(taugen, repo)
    text = taugen("check", *([case.inside] if case.group != "policy" else []), cwd=repo).out
    files: dict[str, str] = {}
    if not any(one["severity"] == "error" for one in found):
        tree = rendered(taugen, repo, folder / "out")
        wanted = {path: said for path, said in tree.items() if base.tree.get(path) != said}
        files = wanted if case.group == "policy" else {path: said for path, said in wanted.items() if "/runs/" in path}
    return Played(found, text, files)


def faults(case: Case, base: Base, taugen: Command, folder: Path) -> list[str]:
    """What does not hold of a case of runs or policy."""
    played = play(case, base, taugen, folder)
    said = [*finding_faults(played.findings, case.expect.get("findings", []), case.inside)]
    if case.group != "invalid":
        said += objects_faults(case.expect, [yaml.safe_load(text) for text in played.files.values()])
    everything = played.text + json.dumps(played.findings) + "".join(played.files.values())
    said += [f"printed {text!r}" for text in case.expect.get("never", ()) if text in everything]
    if case.group != "valid" or (case.folder / "check.txt").exists():
        said += _differs("check.txt", (case.folder / "check.txt").read_text(), played.text)
    if (case.folder / "rendered").is_dir():
        kept = texts(case.folder / "rendered")
        said += [f"rendered/{path} is only {'kept' if path in kept else 'rendered'}" for path in sorted(kept.keys() ^ played.files.keys())]
        for path in sorted(kept.keys() & played.files.keys()):
            said += _differs(f"rendered/{path}", kept[path], played.files[path])
    return said


def _differs(name: str, kept: str, now: str) -> list[str]:
    return [] if kept == now else [f"{name} differs (python -m tests.casekit writes it anew); now:\n{now}"]


# ---------------------------------------------------------------------------------------------------------------------------- publish


def live(repo: Path) -> list[str]:
    """The runs on the deploy branch, as workspace/name, from the state files."""
    paths = git(repo, "ls-tree", "-r", "--name-only", "deploy", ".taugen/state").splitlines()
    states = [yaml.safe_load(git(repo, "show", f"deploy:{path}")) for path in paths if path.endswith(".yaml")]
    return sorted(state["run"].rpartition("/")[0] for state in states if state["phase"] == "live")


def step_faults(case: Case, taugen: Command, folder: Path) -> Iterator[str]:
    """Play a history of a repository, publish after publish."""
    repo = case.repository(folder / "repo")
    for number, step in enumerate(case.expect["steps"], 1):
        assert step.keys() <= {"write", "replace", "delete", "deploy", "run", "exit", "says", "live", "commit"}, f"step {number}"
        _edit(repo, step)
        before = _tip(repo)
        ran = taugen(*step.get("run", "publish").split(), cwd=repo)
        said = ran.out + ran.err
        if ran.code != step.get("exit", 0):
            yield f"step {number}: exit {ran.code}, not {step.get('exit', 0)}: {said}"
        yield from (f"step {number}: {text!r} is not said: {said}" for text in step.get("says", ()) if text not in said)
        if "live" in step and live(repo) != sorted(step["live"]):
            yield f"step {number}: {live(repo)} are live"
        if "commit" in step and step["commit"] != (_tip(repo) != before):
            yield f"step {number}: {'no commit' if step['commit'] else 'a commit'} was made: {said}"


def _tip(repo: Path) -> str:
    return git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads/deploy")


def _edit(repo: Path, step: dict[str, Any]) -> None:
    """Change the sources as a step says, and commit them; `deploy` writes to the deploy branch behind taugen's back."""
    files: dict[str, str | bytes | None] = {**step.get("write", {}), **dict.fromkeys(step.get("delete", ()))}
    for path, changes in step.get("replace", {}).items():
        files[path] = text = (repo / path).read_text()
        for old, new in changes.items():
            assert old in text, f"{old!r} is not in {path}"
            files[path] = text = text.replace(old, new)
    if files:
        commit(repo, files)
    if "deploy" in step:
        git(repo, "switch", "-q", "deploy")
        for pattern, (old, new) in step["deploy"].items():
            (path,) = repo.glob(pattern)
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
        commit(repo)
        git(repo, "switch", "-q", "main")


# ------------------------------------------------------------------------------------------------------------------------------ write


def main(word: str = "") -> None:
    """Write what is kept byte for byte anew."""
    taugen = process()
    with tempfile.TemporaryDirectory() as temporary:
        base = Base.of(taugen, Path(temporary))
        for folder in [path for group in ("valid", "invalid", "policy") for path in cases(group) if word in str(path)]:
            case = Case.read(folder)
            played = play(case, base, taugen, Path(temporary) / case.group / folder.name)
            if case.group != "valid" or played.findings:
                (folder / "check.txt").write_text(played.text)
            if (folder / "rendered").is_dir():
                shutil.rmtree(folder / "rendered")
                write(folder / "rendered", dict(played.files))


@cache
def process(**more: str) -> Command:
    """The command as a process of its own, with the git configuration of nobody; `more` is its environment."""
    import os
    import subprocess
    from types import SimpleNamespace

    def taugen(*args: str, cwd: Path) -> SimpleNamespace:
        alone = {"NO_COLOR": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        env = os.environ | alone | {"PYTHONPATH": str(Path(__file__).parents[1])} | more
        done = subprocess.run([sys.executable, "-m", "taugen", *args], cwd=cwd, env=env, capture_output=True, text=True, check=False)
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    return taugen


if __name__ == "__main__":
    main(*sys.argv[1:])
