"""What the readers of evidence look at: two branches, as they are now.

In: a folder inside of a clone, or the URL of a GitOps repository. Out: `View`: the tips of the evidence branch and of the deploy branch,
what taugen.yaml says about both, and when each cluster's collector was last heard of. What must never happen: a branch of the clone that
moves, a whole repository fetched to show ten lines of it.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from taugen.diag import Refused, has_errors
from taugen.evidence import store, summary
from taugen.evidence.cache import Cache
from taugen.evidence.store import Branch
from taugen.load import fastimport, git, partial
from taugen.load.history import without_user
from taugen.load.nodes import parse
from taugen.load.root import ROOT_FILE, find_root
from taugen.words import Json

DEPTH = 120
"""Commits of history that are fetched from a URL: at 6 pushes a minute they span more than the time after which a cluster is stale."""
_LOOKED_BACK = 2000
_UPPER = "tree:5"
"""A filter of git's: the folders down to those that hold runs, ``<cluster>/runs/<workspace>/<two>``."""
_AUTHOR = "taugen collector "


@dataclass(frozen=True, slots=True)
class Settings:
    """What taugen.yaml says; the URLs are None where the repository itself is meant."""

    project: str = ""
    deploy: str = "deploy"
    deploy_url: str | None = None
    tree: str = "clusters"
    evidence: str = "evidence"
    evidence_url: str | None = None


@dataclass(frozen=True)
class View:
    """Both branches. `settings` is what taugen.yaml says; `root` is its folder on disk, None for a URL; `notes` say what could not be
    looked at."""

    evidence: Branch
    deploy: Branch
    settings: Settings
    root: Path | None = None
    notes: tuple[str, ...] = ()
    seen: dict[str, str] = field(default_factory=dict)
    """When each cluster's collector was last heard of: the date of its newest commit, RFC 3339. One that is not named was not heard of
    since `oldest`."""
    oldest: str = ""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Commits of the summaries of clusters."""

    @property
    def cache(self) -> Cache:
        """What was computed before from this evidence."""
        return Cache.of(self.evidence.repo)

    def heard(self, cluster: str) -> str:
        """The latest at which the cluster's collector may have been heard of; "" if never."""
        return self.seen.get(cluster, self.oldest)


def of(directory: Path, url: str | None = None, *, fetch: bool = True) -> View:
    """Look at the clone around `directory`, or at a repository by its URL. `fetch` asks remotes for what is new. Raises `Refused`."""
    return _remote(url) if url is not None else _clone(directory, fetch=fetch)


def _clone(directory: Path, *, fetch: bool) -> View:
    root = find_root(directory)
    try:
        settings = _settings((root / ROOT_FILE).read_bytes())
        top = git.toplevel(root)
        if top is None:
            hint = "taugen runs --from URL reads a remote repository"
            raise Refused(f"{root} is not in a Git repository, so it has no evidence", hint=hint, code=2)
        notes: list[str] = []
        evidence = _branch(top, settings.evidence, settings.evidence_url, notes, fetch=fetch, thin=True)
        deploy = _branch(top, settings.deploy, settings.deploy_url, notes, fetch=fetch)
        return _view(evidence, deploy, settings, root, notes)
    except OSError as error:
        raise Refused(f"{root / ROOT_FILE} can't be read: {error.strerror}", code=2) from None
    except git.GitError as error:
        raise Refused(str(error), code=2) from None


def _branch(top: Path, name: str, url: str | None, notes: list[str], *, fetch: bool, thin: bool = False) -> Branch:
    """A branch of the clone, of its remote ``origin``, or of another repository."""
    if url is not None and "://" not in url and (top / url).is_dir():
        return Branch(top / url, git.find(top / url, f"refs/heads/{name}"))
    if url is not None:
        return _kept(url, name, notes, fetch=fetch, thin=thin)
    tips = [git.find(top, f"refs/heads/{name}"), git.find(top, f"refs/remotes/origin/{name}")]
    if fetch and git.run(["config", "--get", "remote.origin.url"], cwd=top, check=False).code == 0:
        try:
            tips.append(fastimport.fetch(top, "origin", f"refs/heads/{name}"))
        except git.GitError as error:
            notes.append(f"branch {name} is shown as it was fetched last, since origin can't be reached: {error}")
    return Branch(top, _newest(top, [tip for tip in tips if tip is not None]))


def _newest(repo: Path, tips: Sequence[str]) -> str | None:
    """The one that has the others in its history; the last where they went apart."""
    best: str | None = None
    for tip in dict.fromkeys(tips):
        best = best if best is not None and git.is_ancestor(repo, tip, best) else tip
    return best


def _thin(url: str, name: str, *, fetch: bool) -> Branch | None:
    """The evidence branch of a remote that has summaries of it: what is below the folders of runs is fetched when it is wanted. None where
    there are none, or the server can't do that."""
    place = store.cached(url, "runs")
    ref = f"refs/taugen/read/{name}"
    try:
        partial.make(place)
        if fetch:
            partial.fetch_all(place, url, f"refs/heads/{name}-summary", f"{summary.FETCHED}/{name}")
        if not summary.known(place, name):
            return None
        tip = partial.fetch(place, url, f"refs/heads/{name}", ref, depth=DEPTH, what=_UPPER) if fetch else git.find(place, ref)
    except git.GitError:
        return None
    return Branch(place, tip) if tip is not None else None


def _kept(url: str, name: str, notes: list[str], *, fetch: bool = True, thin: bool = False) -> Branch:
    """A branch of a remote repository, fetched into the cache folder: folders and commits, contents when they are wanted."""
    if thin and (found := _thin(url, name, fetch=fetch)) is not None:
        return found
    place = store.cached(url)
    ref = f"refs/taugen/read/{name}"
    try:
        partial.make(place)
        tip = partial.fetch(place, url, f"refs/heads/{name}", ref, depth=DEPTH) if fetch else git.find(place, ref)
        return Branch(place, tip)
    except git.GitError as error:
        kept = git.find(place, ref)
        if kept is None:
            message = f"branch {name} of {without_user(url)} can't be fetched: {error}"
            raise Refused(message, hint="check the address and the credentials", code=4) from None
        notes.append(f"branch {name} is shown as it was fetched last, since {without_user(url)} can't be reached: {error}")
        return Branch(place, kept)


def _remote(url: str) -> View:
    """A GitOps repository by its URL; one without taugen.yaml is taken for one of evidence."""
    notes: list[str] = []
    address = url if "://" in url or not Path(url).is_dir() else Path(url).absolute().as_uri()
    place = store.cached(address)
    try:
        partial.make(place)
        tip = partial.fetch(place, address, "HEAD", "refs/taugen/read-head")
        raw = Branch(place, tip).read_many([ROOT_FILE])[0]
    except git.GitError as error:
        message = f"{without_user(url)} can't be fetched: {error}"
        raise Refused(message, hint="check the address and the credentials", code=4) from None
    settings = _settings(raw) if raw is not None else Settings()
    # What is kept of evidence with summaries is a repository of its own: the deploy branch is fetched beside it.
    more: list[str] = []
    with ThreadPoolExecutor(1) as beside:
        thin = beside.submit(_thin, settings.evidence_url or address, settings.evidence, fetch=True)
        deploy = _kept(settings.deploy_url or address, settings.deploy, more)
        evidence = thin.result() or _kept(settings.evidence_url or address, settings.evidence, notes)
    return _view(evidence, deploy, settings, None, [*notes, *more])


def _view(evidence: Branch, deploy: Branch, settings: Settings, root: Path | None, notes: list[str]) -> View:
    seen, oldest = _heard(evidence)
    if evidence.tip is None:
        notes.append(f"nothing was collected yet: there is no branch {settings.evidence}")
    if deploy.tip is None:
        notes.append(f"there is no branch {settings.deploy} yet, so what is live is not known")
    return View(evidence, deploy, settings, root, tuple(notes), seen, oldest, summary.known(evidence.repo, settings.evidence))


def _heard(evidence: Branch) -> tuple[dict[str, str], str]:
    """The date of each collector's newest commit, and that of the oldest commit that was looked at."""
    if evidence.tip is None:
        return {}, ""
    args = ["log", f"--max-count={_LOOKED_BACK}", "--format=%ct %an", "--no-show-signature", "--end-of-options", evidence.tip]
    seen: dict[str, int] = {}
    oldest = 0
    for line in git.run(args, cwd=evidence.repo).out.decode("utf-8", "replace").splitlines():
        time, _, author = line.partition(" ")
        oldest = int(time)
        if author.startswith(_AUTHOR):
            cluster = author[len(_AUTHOR) :]
            seen[cluster] = max(seen.get(cluster, 0), oldest)
    return {cluster: _spelled(time) for cluster, time in seen.items()}, _spelled(oldest)


def _spelled(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# ----------------------------------------------------------------------------------------------------------------- taugen.yaml


def _settings(raw: bytes) -> Settings:
    """What taugen.yaml says about its branches. Its model is not asked: who reads evidence need not have a policy without faults. Raises
    `Refused` for what is no YAML."""
    documents, faults = parse(ROOT_FILE, raw)
    if has_errors(faults):
        raise Refused(f"{ROOT_FILE} can't be read, so nobody knows where its evidence is", findings=faults)
    data = documents[0].data if documents else {}
    spec, name = _mapping(data.get("spec")), _mapping(data.get("metadata")).get("name")
    output, evidence = _mapping(spec.get("output")), _mapping(spec.get("evidence"))
    usual = Settings()
    return Settings(
        name if isinstance(name, str) else "",
        _text(output.get("branch")) or usual.deploy,
        _text(output.get("url")),
        (_text(output.get("path")) or usual.tree).strip("/"),
        _text(evidence.get("branch")) or usual.evidence,
        _text(evidence.get("url")),
    )


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
