"""taugen.lock: which commits of other repositories are policy; and the cache that holds them.

In: taugen.lock and, for `refresh` alone, the remotes. Out: pinned commits as source trees. `read` and `Cache.tree` never dial; `refresh`
is the only function of the compiler that fetches policy, and only `taugen lock` calls it.

    repositories:
      - url: https://git.example.com/platform/policy.git
        ref: main
        path: policy
        commit: 40 hex digits
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, field

from taugen.diag import Diagnostic, Refused, Span
from taugen.load import git, nodes
from taugen.load.cache import cache_folder
from taugen.load.tree import GitTree, SourceTree, Unreadable
from taugen.policy import model
from taugen.words import Json, dotted
from taugen.words.errors import shown
from taugen.words.regex import regex

FILE = "taugen.lock"
_HEAD = "# Commits of other repositories that are policy here. `taugen lock` adds what is missing, `taugen lock --update` moves all.\n"
_COMMIT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SCP = regex(r"[\w.-]+@[\w.-]+:(?!/)\S+")
_FIELDS = ("url", "ref", "path", "commit")


class Entry(Struct, frozen=True):
    """One pinned source."""

    url: str
    ref: str
    path: str
    commit: str


class Lock(Struct):
    """taugen.lock as read: `readable` is False if its findings make all pins doubtful."""

    entries: list[Entry] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    exists: bool = False
    readable: bool = True

    def entry(self, source: model.GitSource) -> Entry | None:
        """The pin of a source: the same url, ref and path."""
        return next((e for e in self.entries if (e.url, e.ref, e.path) == (source.url, source.ref, source.path)), None)

    def missing(self, source: model.GitSource) -> tuple[str, str]:
        """Why a source has no pin, and what to do."""
        other = next((e for e in self.entries if e.url == source.url), None)
        name = plain_url(source.url)
        if other is None:
            return f"{name} is not pinned in {FILE}", "run taugen lock and commit the file"
        what = f"ref {other.ref}, not {source.ref}" if other.ref != source.ref else f"the folder {other.path}, not {source.path}"
        return f"{FILE} pins {name} at {what}", "run taugen lock and commit the file"


def read(tree: SourceTree) -> Lock:
    """Read taugen.lock; an absent file pins nothing."""
    try:
        raw = tree.read(FILE, 256 * 1024)
    except Unreadable as error:
        if error.why == "does not exist":
            return Lock()
        return Lock(findings=[Diagnostic("policy-lock", f"{FILE} {error.why}", Span(FILE))], exists=True, readable=False)
    lock = Lock(exists=True)
    documents, lock.findings = nodes.parse(FILE, raw)
    lock.readable = not lock.findings
    for document in documents:
        listed = document.data.get("repositories")
        if not isinstance(listed, list):
            lock.findings.append(_fault(document, (), "there is no list of repositories"))
            lock.readable = False
            continue
        for at, one in enumerate(listed):
            _entry(document, at, one, lock)
    return lock


def _fault(document: nodes.Document, path: tuple[str | int, ...], message: str) -> Diagnostic:
    return Diagnostic(
        "policy-lock", message, document.span(path), path=dotted(path), hint=f"taugen lock writes {FILE}; restore it from Git"
    )


def _entry(document: nodes.Document, at: int, one: Json, lock: Lock) -> None:
    path = ("repositories", at)
    values = [one.get(name) for name in _FIELDS] if isinstance(one, dict) else []
    if len(values) != len(_FIELDS) or not all(isinstance(v, str) and v for v in values):
        lock.findings.append(_fault(document, path, f"an entry has {', '.join(_FIELDS)}, each as text"))
        lock.readable = False
        return
    url, ref, folder, commit = (str(v) for v in values)
    if not _COMMIT.fullmatch(commit):
        lock.findings.append(_fault(document, (*path, "commit"), f"{shown(commit)} is no full commit id"))
        lock.readable = False
        return
    lock.entries.append(Entry(url, ref, folder, commit))
    lock.spans.append(document.span((*path, "url")))


def write(entries: Iterable[Entry]) -> str:
    """The text of taugen.lock, entries in a fixed order."""
    from taugen.words.emit import emit

    listed: list[Json] = [{name: getattr(e, name) for name in _FIELDS} for e in sorted(set(entries), key=lambda e: (e.url, e.ref, e.path))]
    return _HEAD + emit({"repositories": listed})


def refuse_url(url: str) -> tuple[str, str] | None:
    """Why a URL can't be a policy repository, and what to write; None if it can."""
    if "\n" in url or url.startswith("-") or "::" in url:
        return f"{shown(url)} is no URL of a Git repository", "write an https or ssh URL"
    host = url.partition("://")[2].partition("/")[0]
    if url.startswith("https://") and "@" in host:
        return f"{plain_url(url)} carries a user name or a token", "leave it out: Git's credential helper knows it"
    if url.startswith(("https://", "ssh://", "file:///", "/")) or _SCP.fullmatch(url) or "http" in git.protocols_for(url):
        return None
    return f"{shown(url)} is no URL of a Git repository", "write an https or ssh URL, or an absolute folder of this machine"


def plain_url(url: str) -> str:
    """The URL without what stands before an @ in its host: fit for messages."""
    scheme, sep, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{sep}{host.rpartition('@')[2]}{slash}{path}" if sep else url


def label(url: str) -> str:
    """What stands before the paths of another repository in findings and headers: ``git.example.com/platform/policy//``."""
    text = plain_url(url).partition("://")[2] if "://" in url else url.rpartition("@")[2].replace(":", "/", 1)
    return f"{text.strip('/').removesuffix('.git')}//"


# ------------------------------------------------------------------------------------------------------------------- cache


class Cache:
    """Bare repositories, one a URL, below `folder`."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def place(self, url: str) -> Path:
        """The folder of one URL's repository."""
        name = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return (self.folder or cache_folder()) / "repositories" / f"{name}.git"

    def has(self, url: str, commit: str) -> bool:
        """Whether the commit is here."""
        place = self.place(url)
        try:
            return place.is_dir() and git.find(place, commit) == commit
        except git.GitError:
            return False

    def tree(self, url: str, commit: str) -> SourceTree | None:
        """The commit as a source, None where it is not here. Never dials."""
        return GitTree(self.place(url), commit) if self.has(url, commit) else None

    def fetch(self, url: str, what: str) -> str:
        """Fetch a ref or a commit and return its commit id. Dials. Raises `GitError`."""
        place = self.place(url)
        if not place.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            git.run(["init", "--quiet", "--bare", "."], cwd=place)
        try:
            _fetch(place, url, "--depth=1", what)
            commit = git.resolve(place, "FETCH_HEAD")
        except git.GitError:
            if not _COMMIT.fullmatch(what):
                raise
            # A server that gives out the tips of branches only: the commit is behind one of them, or nowhere.
            _fetch(place, url, "--unshallow" if git.is_shallow(place) else "--quiet", "+refs/heads/*:refs/taugen/heads/*")
            commit = git.resolve(place, what)
        git.run(["update-ref", f"refs/taugen/{commit}", commit], cwd=place)
        return commit


def _fetch(place: Path, url: str, option: str, what: str) -> None:
    args = ["fetch", "--quiet", "--no-tags", option, "--", url, what]
    git.run(args, cwd=place, allow=git.protocols_for(url), timeout=git.REMOTE_TIMEOUT)


def refresh(sources: Iterable[model.GitSource], lock: Lock, *, update: bool = False, cache: Cache | None = None) -> list[Entry]:
    """Pin every source: what is pinned stays and is fetched if it is not at hand; `update` moves all to their refs.

    Raises `Refused` with all that failed.
    """
    cache = cache or Cache()
    entries: list[Entry] = []
    failed: list[str] = []
    for source in dict.fromkeys((s.url, s.ref, s.path) for s in sources):
        url, ref, path = source
        pinned = None if update else lock.entry(model.GitSource(url=url, ref=ref, path=path))
        if (why := refuse_url(url)) is not None:
            failed.append(f"{why[0]}: {why[1]}")
            continue
        try:
            if pinned is None:
                entries.append(Entry(url, ref, path, cache.fetch(url, ref)))
            else:
                if not cache.has(url, pinned.commit):
                    cache.fetch(url, pinned.commit)
                entries.append(pinned)
        except git.GitError as error:
            what = f"the pinned commit {pinned.commit[:12]}" if pinned else ref
            failed.append(f"{plain_url(url)}: {what} can't be fetched: {error}")
    if failed:
        hint = (
            "check the URL and the access" if update else "check the URL and the access; taugen lock --update pins what the refs name now"
        )
        raise Refused("; ".join(failed), hint=hint)
    return entries
