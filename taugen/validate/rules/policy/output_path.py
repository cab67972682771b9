"""The deploy tree has a folder of its own.

Publish owns what it writes there and deletes what no source makes any more. The folder is relative to the root of the deploy branch; the
overlays and policy that make the tree are never in it.

Breaks:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {path: ../clusters}

Mends:

    kind: Project
    metadata: {name: tern}
    spec:
      output: {path: clusters}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words.errors import shown

ID = "output-path"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    project = policy.project
    for path, folder in ((("output", "path"), project.spec.output.path), (("overlays",), project.spec.overlays)):
        if outside(folder):
            message = f"{shown(folder)} is no folder below the root of the repository"
            yield project.finding(
                ID, path, message, hint=f"write a relative path without .., such as {path[0] if path[0] != 'output' else 'clusters'}"
            )
    named = [part for part in project.spec.output.path.split("/") if part not in {"", "."}]
    if any(part.casefold() == ".git" for part in named) or named[:1] == [".taugen"]:
        message = f"{shown(project.spec.output.path)} is {'taugen' if named[:1] == ['.taugen'] else 'Git'}'s own place"
        yield project.finding(ID, ("output", "path"), message, hint="write another folder, such as clusters")
    if not any(part not in {"", "."} for part in project.spec.output.path.split("/")):
        message = "the deploy tree can't be the whole branch"
        yield project.finding(ID, ("output", "path"), message, hint="write a folder, such as clusters")


def outside(folder: str) -> bool:
    """Whether a folder is none below the root of the repository."""
    return folder.startswith("/") or ".." in folder.split("/") or not folder.isprintable() or "\\" in folder
