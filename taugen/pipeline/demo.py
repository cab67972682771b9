"""The main job on the shipped examples: a repository, a check, a publish to a bare repository, and what came of it.

In: a folder that is not there or is empty. Out: `Shown`. The author and the date of the repository's commit are fixed, so that the same
release makes the same commit ids everywhere.
"""

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from taugen.diag import Refused
from taugen.load import git
from taugen.load.tree import GitTree
from taugen.pipeline import check, init, publish
from taugen.pipeline.project import open_project
from taugen.words.regex import regex

PACKAGE = Path(__file__).resolve().parent.parent
IDENTITY = {"user.name": "taugen demo", "user.email": "demo@taugen.invalid"}
DATE = "2026-01-05T09:00:00+00:00"
REMOTE, BARE = "fleet", "fleet.git"

_KIND = regex(r"^kind: (\S+)$", re.MULTILINE)


class Run(Struct, frozen=True):
    """A published run: its folder, and the kinds in it."""

    path: str
    kinds: tuple[str, ...]


class Cluster(Struct, frozen=True):
    """A cluster's part of the deploy tree. `folders`: files by folder, without the runs'. `kinds`: objects by kind."""

    name: str
    engine: str
    folders: dict[str, int]
    runs: tuple[Run, ...]
    kinds: Counter[str]


class Shown(Struct, frozen=True):
    """What there is to show."""

    folder: Path
    project: str
    report: check.Report
    commit: str
    branch: str
    message: str
    files: int
    clusters: tuple[Cluster, ...]


def examples() -> Path:
    """The example repository: beside the package in a source checkout, inside it where it was installed. Raises `Refused`."""
    for folder in (PACKAGE / "data" / "examples", PACKAGE.parent / "examples"):
        if (folder / "taugen.yaml").is_file():
            return folder
    raise Refused("the examples are not here", hint="install taugen again: they belong to the package", code=2)


def demo(folder: Path) -> Shown:
    """Do it. Raises `Refused`: for a folder that is not empty (exit 2), or with what the check found."""
    target = init.free(folder)
    with init.beside(target) as draft:
        _copy(examples(), draft)
        init.first_commit(draft, "Meridian's fleet: two clusters, three workspaces, their runs\n", identity=IDENTITY, date=DATE)
        (draft / BARE).mkdir()
        git.run(["init", "--quiet", "--bare", "--initial-branch=main", "."], cwd=draft / BARE)
        with (draft / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            file.write(f"/{BARE}/\n")
        git.run(["remote", "add", REMOTE, f"./{BARE}"], cwd=draft)
        init.place(draft, target)
    project = open_project(target)
    report = check.check(project)
    if report.failed():
        raise Refused("the examples have errors", findings=report.findings)
    outcome = publish.publish(publish.Request(target, to=REMOTE))
    if outcome.commit is None or outcome.code:
        raise Refused("the examples were not published whole", findings=(*outcome.findings, *outcome.refused))
    engines = {name: item.spec.gitops.engine for name, item in project.policy.clusters.items()}
    return _shown(target, project.name, report, outcome.commit, engines)


def _copy(source: Path, target: Path) -> None:
    """Copy what is the examples', and no leftovers of tools that ran in them."""
    skip = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache", ".git", ".DS_Store")
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=skip)


def _shown(folder: Path, project: str, report: check.Report, commit: str, engines: Mapping[str, str]) -> Shown:
    with GitTree(folder / BARE, commit) as tree:
        paths = [path for path in tree.paths() if path.startswith("clusters/")]
        tree.prefetch(paths)
        texts = {path.removeprefix("clusters/"): tree.read(path).decode() for path in sorted(paths)}
    clusters = tuple(
        _cluster(name, engines[name], {p: t for p, t in texts.items() if p.startswith(f"{name}/")}) for name in sorted(engines)
    )
    message = git.commit_info(folder / BARE, commit).message
    return Shown(folder, project, report, commit, "deploy", message, len(texts), clusters)


def _cluster(name: str, engine: str, texts: dict[str, str]) -> Cluster:
    kinds = {path: _KIND.findall(text) for path, text in texts.items()}
    folders: Counter[str] = Counter()
    runs: dict[str, list[str]] = {}
    for path, found in kinds.items():
        parts = path.split("/")
        if parts[1] == "runs" and len(parts) == 6:
            runs.setdefault("/".join(parts[1:5]), []).extend(found)
        else:
            folders["/".join(parts[1:-1])] += 1
    made = tuple(Run(path, tuple(found)) for path, found in sorted(runs.items()))
    return Cluster(name, engine, dict(sorted(folders.items())), made, Counter(kind for found in kinds.values() for kind in found))
