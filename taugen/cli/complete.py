"""What a shell offers: runs by workspace/name, findings by id.

In: what was typed so far. Out: words. A shell waits for each answer, so nothing heavy is loaded: names are found by their line, not by
reading YAML, and findings by the names of their files. What must never happen: an error on the terminal of somebody who presses a key.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

_NAME = re.compile(rb"^name:[ \t]*[\"']?([A-Za-z0-9][\w.-]*)", re.MULTILINE)
_FINDING = re.compile(r"^## (\S+)$", re.MULTILINE)
_PACKAGE = Path(__file__).resolve().parent.parent
_HEAD = 4096
"""Bytes of a document in which its name is looked for."""
_MOST = 2000
"""Words that are offered at most."""


def runs(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """`workspace/name` of the runs of the working tree; only the workspaces where several are meant."""
    from taugen.diag import Refused
    from taugen.load.git import GitError
    from taugen.load.root import find_root

    try:
        root = find_root(context.params.get("directory") or Path())
        workspace, slash, _ = typed.partition("/")
        near = [place for place in _workspaces(root) if place.startswith(workspace)] if not slash else [workspace]
        names = [*_runs(root, near[0])] if len(near) == 1 else [f"{place}/" for place in near]
    except (Refused, GitError, OSError):
        return []
    return sorted({name for name in names if name.startswith(typed)})[:_MOST]


def findings(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Ids of findings: those of rules and those of the other stages."""
    rules = (path.stem for path in (_PACKAGE / "validate" / "rules").glob("*/[a-z]*.py"))
    others = _FINDING.findall((_PACKAGE / "data" / "findings.md").read_text(encoding="utf-8"))
    return sorted({name for name in (*(rule.replace("_", "-") for rule in rules), *others) if name.startswith(typed)})


def subjects(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """What `explain` takes: a run or a finding."""
    return [*runs(context, parameter, typed), *findings(context, parameter, typed)]


def _workspaces(root: Path) -> list[str]:
    return [place.name for place in (root / "workspaces").iterdir() if place.is_dir() and not place.is_symlink()]


def _runs(root: Path, workspace: str) -> Iterator[str]:
    from taugen.load import git

    args = ["ls-files", "-z", "-c", "-o", "--exclude-standard", "--", f"workspaces/{workspace}"]
    listed = git.run(args, cwd=root).out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    for path in listed:
        folder, _, name = path.rpartition("/")
        if name == "tau.yaml" or (folder.endswith("/tau") and name.endswith(".yaml")):
            place = root / path
            if place.is_file() and not place.is_symlink():
                with place.open("rb") as file:
                    yield from (f"{workspace}/{found.decode()}" for found in _NAME.findall(file.read(_HEAD)))
