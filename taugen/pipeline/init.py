"""Makes a GitOps repository for somebody who has never seen taugen.

In: a folder that is not there or is empty, a name, a GitOps engine. Out: the repository with its first commit. It appears whole or not at
all: everything is written beside it
under another name, then renamed.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from taugen import __version__
from taugen.diag import Refused
from taugen.load import git
from taugen.pipeline import schemas
from taugen.words import names
from taugen.words.names import printable
from taugen.words.regex import regex

TEMPLATES = Path(__file__).resolve().parent.parent / "data" / "init"
PYTHON_IMAGE = "docker.io/library/python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea"
Engine = Literal["argocd", "flux"]
_ENGINES = {"argocd": ("Argo CD", "argocd"), "flux": ("Flux", "flux-system")}
_ROOTS = {
    "argocd": """\
       kubectl apply -f - <<END
       apiVersion: argoproj.io/v1alpha1
       kind: Application
       metadata: {{name: taugen-root, namespace: argocd}}
       spec:
         project: default
         source: {{repoURL: {url}, targetRevision: deploy, path: clusters/main/gitops}}
         destination: {{server: https://kubernetes.default.svc, namespace: argocd}}
         syncPolicy: {{automated: {{prune: true, selfHeal: true}}}}
       END""",
    "flux": """\
       flux create source git taugen-root --url={url} --branch=deploy --interval=1m
       flux create kustomization taugen-root --source=GitRepository/taugen-root --path=./clusters/main/gitops --prune=true --interval=1m""",
}
_URL = regex(r"[A-Za-z0-9@/.:_~+%-]+")
"""What can stand in YAML and in a shell line as it is."""
FALLBACK = {"user.name": "taugen", "user.email": "taugen@localhost"}
"""Who the first commit is by where git knows nobody: the same everywhere."""


class Made(Struct, frozen=True):
    """The new repository. `fallback`: git knew no name, so the first commit carries `FALLBACK`."""

    folder: Path
    name: str
    commit: str
    files: tuple[str, ...]
    fallback: bool


def init(folder: Path, *, name: str | None = None, engine: Engine = "argocd", url: str | None = None) -> Made:
    """Make the repository. Raises `Refused` (exit 2) for a folder that is not empty; nothing is written then."""
    target = free(folder)
    name = names.slug(name or target.name)
    url = url or f"https://git.example.com/{name}/{name}.git"
    if not _URL.fullmatch(url):
        raise Refused(f"{printable(url)} is no URL of a Git repository", hint="write https://HOST/PATH.git or git@HOST:PATH.git", code=2)
    with beside(target) as draft:
        files = dict(rendered(name, engine, url))
        for path, text in files.items():
            (draft / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).write_text(text, encoding="utf-8", newline="\n")
        schemas.write(draft / "schemas", schemas.EDITOR)
        commit, fallback = first_commit(draft, f"A GitOps repository for {name}\n\nMade by taugen init {__version__}.\n")
        place(draft, target)
    return Made(target, name, commit, (*sorted(files), *(f"schemas/{kind}.json" for kind in schemas.EDITOR)), fallback)


def rendered(name: str, engine: Engine, url: str) -> Iterator[tuple[str, str]]:
    """(path, text) of every file, from the templates."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Other delimiters than usual: the files hold GitHub's ${{ }} and YAML's {a: {b: c}}.
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True,
        variable_start_string="[[ ", variable_end_string=" ]]", block_start_string="[% ", block_end_string=" %]",
        comment_start_string="[# ", comment_end_string=" #]",
    )  # fmt: skip
    engine_name, namespace = _ENGINES[engine]
    values: Mapping[str, str] = {
        "name": name, "engine": engine, "engine_name": engine_name, "engine_namespace": namespace, "url": url, "version": __version__,
        "image": PYTHON_IMAGE, "image_ci": PYTHON_IMAGE.removeprefix("docker.io/library/"), "root": _ROOTS[engine].format(url=url),
    }  # fmt: skip
    for path in templates():
        yield visible(path), environment.get_template(path).render(values)


def templates() -> list[str]:
    """Paths of the templates below `TEMPLATES`, sorted."""
    found = (path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(found)


def visible(path: str) -> str:
    """The path in the new repository: names of dot files are kept as `dot-NAME`, so that neither git nor a packager acts on them here."""
    return "/".join("." + part.removeprefix("dot-") if part.startswith("dot-") else part for part in path.split("/"))


# ------------------------------------------------------------------------------------------- shared with `taugen demo`


def free(folder: Path) -> Path:
    """The absolute path of a folder that may be made. Raises `Refused` (exit 2)."""
    target = folder.absolute()
    if target.is_symlink() and not target.is_dir():
        raise Refused(f"{folder} is a link that leads nowhere", code=2)
    target = target.resolve()
    if target.exists() and not target.is_dir():
        raise Refused(f"{folder} is not a folder", code=2)
    if target.is_dir() and any(target.iterdir()):
        raise Refused(f"{folder} is not empty", hint="name a new or an empty folder; nothing was written", code=2)
    return target


class beside:  # noqa: N801 - used like a function
    """A hidden folder to write into, next to `target` or, where that is there and empty, inside of it; gone at the end. Raises `Refused`
    where none can be made."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._draft: Path | None = None

    def __enter__(self) -> Path:
        # An empty folder stays: it may be a mount, or the current folder of a shell.
        parent = self._target if self._target.is_dir() else self._target.parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self._draft = Path(tempfile.mkdtemp(prefix=".taugen-", dir=parent))
            self._draft.chmod(0o755)
        except OSError as error:
            raise Refused(f"{self._target} can't be made: {error.strerror}", code=2) from None
        return self._draft

    def __exit__(self, *_: object) -> None:
        if self._draft is not None:
            shutil.rmtree(self._draft, ignore_errors=True)


def place(draft: Path, target: Path) -> None:
    """Give what was written its place: all of it, or none. Raises `Refused`."""
    moved: list[str] = []
    try:
        if draft.parent != target:
            os.rename(draft, target)
            return
        # What makes the folder a project comes last.
        for name in sorted(os.listdir(draft), key=lambda n: (n == "taugen.yaml", n)):
            os.rename(draft / name, target / name)
            moved.append(name)
    except OSError as error:
        for name in moved:
            os.rename(target / name, draft / name)
        raise Refused(f"{target} can't be made: {error.strerror}", hint="nothing was written", code=2) from None


def first_commit(folder: Path, message: str, *, identity: Mapping[str, str] | None = None, date: str | None = None) -> tuple[str, bool]:
    """Make a repository on branch main and commit all of it; (commit, whether the fallback identity was needed)."""
    git.run(["init", "--quiet", "--initial-branch=main", "."], cwd=folder)
    fallback = identity is None and not _known(folder)
    person = dict(identity or (FALLBACK if fallback else {}))
    settings = [word for key, value in person.items() for word in ("-c", f"{key}={value}")]
    extra = _given() if not person else {}
    if date is not None:
        extra = {**extra, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git.run(["add", "--all"], cwd=folder)
    args = [*settings, "-c", "core.autocrlf=false", "commit", "--quiet", "--no-gpg-sign", "--no-verify", "--file=-"]
    git.run(args, cwd=folder, stdin=message.encode(), env_extra=extra)
    return git.resolve(folder, "HEAD"), fallback


def _given() -> dict[str, str]:
    """Names that the environment gives; the door to git drops all GIT_* variables."""
    return {
        key: value
        for key, value in os.environ.items()
        if key in {f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    }


def _known(folder: Path) -> bool:
    given = _given()
    return all(
        (f"GIT_AUTHOR_{what}" in given and f"GIT_COMMITTER_{what}" in given)
        or git.run(["config", f"user.{what.lower()}"], cwd=folder, check=False).out.strip()
        for what in ("NAME", "EMAIL")
    )
