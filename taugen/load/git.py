"""The one door to git: every git process of taugen starts here.

In: arguments and a folder. Out: bytes, or `GitError` with the arguments and what git said. What must never happen: a shell, a hook of the
repository, a prompt, a connection that the caller did not allow, a path read as an option or as a pattern, an answer that depends on
the locale, the time zone or `GIT_*` variables left by a surrounding git command.

Configuration of the system and of the user is read on purpose: credential helpers, proxies, certificates, `insteadOf` and `safe.directory`
live there, and a push needs them. What in it could change an answer is pinned by options and variables below instead.
"""

import os
import re
import select
import subprocess
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple, Self

from msgspec import Struct

LOCAL_TIMEOUT = 600.0  # seconds
REMOTE_TIMEOUT = 300.0  # seconds
REMOTE_PROTOCOLS = ("https", "ssh", "file")
_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")

# Needed to authenticate or to reach a server; everything else that starts with GIT_ is dropped. Inside a hook GIT_DIR and GIT_INDEX_FILE
# are set, which would point every command at the wrong repository.
_KEPT = frozenset({
    "GIT_ASKPASS", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH", "GIT_HTTP_PROXY_AUTHMETHOD", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CAINFO", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY",
})  # fmt: skip
_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_PINNED = {
    "GIT_GRAFT_FILE": f"{os.devnull}/none",  # a file that is there, though empty, makes git say that grafts are deprecated
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",  # git 2.44; older ones fail on the transport instead
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    # glibc gives freed memory back to the system above 128 KiB, and zlib takes twice that for each object: without this, half of the time
    # of fast-import goes into page faults.
    "MALLOC_TRIM_THRESHOLD_": "67108864",
    "TZ": "UTC",
}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "pack.compression=1",
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))


class GitError(Exception):
    """A git command failed: `argv` (without git and the pinned options), `code`, `stderr`. `str()` is one sentence for people."""

    def __init__(self, argv: Sequence[str], code: int, stderr: str) -> None:
        self.argv, self.code, self.stderr = tuple(argv), code, stderr.strip()
        super().__init__(self.argv, code, self.stderr)  # what another process makes it of again

    def __str__(self) -> str:
        why = f"it was ended by signal {-self.code}" if self.code < 0 and not self.stderr else _plain(self.stderr)
        return f"git {self.argv[0] if self.argv else ''} failed ({self.code}): {why}"


class GitResult(NamedTuple):
    """What a git process left."""

    code: int
    out: bytes
    err: bytes


class Entry(NamedTuple):
    """A file of a tree: `mode` is 100644, 100755, 120000 or 160000; `blob` the object id, None where only the disk knows it."""

    mode: str
    blob: str | None


class CommitInfo(Struct, frozen=True):
    """A commit as it was written. Dates are git's raw form, seconds since the epoch and the zone: ``1700000000 +0100``."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    author_date: str
    committer_name: str
    committer_email: str
    committer_date: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def _plain(stderr: str) -> str:
    if "dubious ownership" in stderr:
        allow = "git config --global --add safe.directory <its folder>"
        return f"the repository belongs to another user; run as that one, or allow it with: {allow}"
    if "not a git repository" in stderr:
        return "this folder is not in a Git repository"
    if "promisor remote" in stderr:
        return "an object is not here, since this is a partial clone: git fetch --refetch --filter=blob:limit=1g brings it"
    lines = [line.removeprefix("fatal: ").removeprefix("error: ") for line in stderr.splitlines() if line.strip()]
    return "; ".join(lines[:4]) or "no message"


def environment(allow: Iterable[str] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a git process.

    `allow` lists the transports it may use; none by default, so that a partial clone can't dial home.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT or k.startswith(_KEPT_PREFIXES)}
    env.update(_PINNED)
    narrowed = os.environ.get("GIT_ALLOW_PROTOCOL")
    allowed = [p for p in allow if p != "ext" and (narrowed is None or p in narrowed.split(":"))]
    env["GIT_ALLOW_PROTOCOL"] = ":".join(allowed) or "none"
    env.update(extra or {})
    return env


def protocols_for(url: str) -> tuple[str, ...]:
    """The transports a remote may use: https, ssh and local paths, and plain http on the loopback interface only."""
    loopback = any(url == host or url.startswith((host + "/", host + ":")) for host in _LOOPBACK)
    return (*REMOTE_PROTOCOLS, "http") if loopback else REMOTE_PROTOCOLS


begun: dict[tuple[str, tuple[str, ...]], Callable[[], GitResult]] = {}
"""Answers to come, by folder and arguments: of questions that `ask.begin` asked, about what can't change meanwhile."""


def run(
    args: Sequence[str],
    *,
    cwd: Path | str,
    stdin: bytes | Iterable[bytes] | None = None,
    check: bool = True,
    env_extra: Mapping[str, str] | None = None,
    allow: Iterable[str] = (),
    timeout: float = LOCAL_TIMEOUT,
) -> GitResult:
    """Run ``git ARGS`` in `cwd` to its end.

    `stdin` may be pieces, which are written as they come. Raises `GitError` on a non-zero exit (unless `check` is False), a missing git, a
    missing folder or a timeout (code 124).
    """
    early = begun.pop((str(cwd), tuple(args)), None) if begun and stdin is None and env_extra is None and not allow else None
    result = early() if early is not None else _run(args, cwd, stdin, environment(allow, env_extra), timeout)
    if check and result.code:
        raise GitError(args, result.code, result.err.decode("utf-8", "replace"))
    return result


def _run(args: Sequence[str], cwd: Path | str, stdin: bytes | Iterable[bytes] | None, env: Mapping[str, str], timeout: float) -> GitResult:
    # Files instead of pipes: a process that answers while it still reads can't dead-lock with us.
    with spool(args) as out, spool(args) as err:
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = start(args, cwd=cwd, stdin=source, stdout=out, stderr=err, env=env)
        try:
            feed(process, [stdin] if isinstance(stdin, bytes) else stdin or ())
            code = _wait(process, timeout)
        except subprocess.TimeoutExpired:
            raise GitError(args, 124, f"no end after {timeout:.0f} seconds") from None
        finally:
            stop(process)
        out.seek(0)
        err.seek(0)
        return GitResult(code, out.read(), err.read())


def _wait(process: "subprocess.Popen[bytes]", timeout: float) -> int:
    """The exit code. `Popen.wait` with a timeout sleeps between looks, up to 50 ms for each git process; a pidfd wakes us at once."""
    if not hasattr(os, "pidfd_open"):
        return process.wait(timeout)
    end = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        over = bool(poll.poll(timeout * 1000))
    finally:
        os.close(end)
    return process.wait(None if over else 0)


def spool(args: Sequence[str]) -> IO[bytes]:
    """A file for what the git process with `args` says."""
    try:
        # Memory where there is such a file: an answer must not get lost because a disk is full.
        if hasattr(os, "memfd_create"):
            return open(os.memfd_create("git"), "w+b")
        import tempfile  # which loads archives and their compressors

        return tempfile.TemporaryFile()
    except OSError as error:
        import tempfile

        raise GitError(args, 126, f"no temporary file can be made in {tempfile.gettempdir()}: {error.strerror}") from None


def start(
    args: Sequence[str],
    *,
    cwd: Path | str,
    stdin: int | IO[bytes] = subprocess.PIPE,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    env: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a git process for the callers that talk to it while it runs; `run` is for all others."""
    try:
        return subprocess.Popen(
            ["git", *_OPTIONS, *args], cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, env=dict(env or environment()), bufsize=1 << 16
        )
    except FileNotFoundError:
        missing = "git is not installed" if Path(cwd).is_dir() else f"the folder {cwd} does not exist"
        raise GitError(args, 127, missing) from None
    except NotADirectoryError:
        raise GitError(args, 127, f"{cwd} is not a folder") from None


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process that may still run, and close its pipes."""
    if process.poll() is None:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue


def _stop_own(process: "subprocess.Popen[bytes]", said: IO[bytes], owner: int) -> None:
    said.close()
    if os.getpid() == owner:
        stop(process)


def feed(process: "subprocess.Popen[bytes]", pieces: Iterable[bytes]) -> None:
    """Write pieces to a process and close its input; one that ended early is no error here: its exit code and stderr say why."""
    if process.stdin is None:
        return
    try:
        for piece in pieces:
            process.stdin.write(piece)
        process.stdin.close()
    except BrokenPipeError:
        return


class CatFile:
    """One long-lived ``git cat-file --batch``: contents by object id or by any name git knows (``HEAD:path``)."""

    # Requests that are certain to fit into the smallest pipe (4 KiB): git may be busy answering while they are written.
    _AHEAD = 50

    def __init__(self, repo: Path | str, env_extra: Mapping[str, str] | None = None) -> None:
        args = ["cat-file", "--batch"]
        self._said = spool(args)
        try:
            self._process = start(args, cwd=repo, stderr=self._said, env=environment(extra=env_extra))
        except GitError:
            self._said.close()
            raise
        self._owner = os.getpid()
        self._end = weakref.finalize(self, _stop_own, self._process, self._said, self._owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ours(self) -> bool:
        """Whether this process started it, rather than one that forked since."""
        return self._owner == os.getpid()

    @property
    def usable(self) -> bool:
        """Whether it can be asked by this process."""
        return self.ours and self._end.alive and self._process.poll() is None

    def close(self) -> None:
        """End the process, as being collected as garbage does; the object is of no use afterwards."""
        self._end()

    def read(self, spec: str) -> bytes | None:
        """The content of an object, None where there is no such object. Raises `GitError` if git died."""
        content = next(self.read_many([spec]))
        assert not isinstance(content, int)
        return content

    def read_many(self, specs: Sequence[str], limit: int | None = None) -> Iterator[bytes | int | None]:
        """The contents in the order of `specs`; asked for in blocks, since a round trip costs more than a small object.

        None stands for an object that does not exist, a number for the size of one with more than `limit` bytes, which is passed over. To
        be read to its end.
        """
        for first in range(0, len(specs), self._AHEAD):
            block = specs[first : first + self._AHEAD]
            self._ask(block)
            for spec in block:
                yield self._answer(spec, limit)

    def _ask(self, specs: Sequence[str]) -> None:
        lines = []
        for spec in specs:
            if "\n" in spec:
                raise GitError(["cat-file"], 128, f"an object name can't hold a line break: {spec!r}")
            lines.append(spec.encode("utf-8", "surrogateescape") + b"\n")
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(b"".join(lines))
            pipe.flush()
        except (BrokenPipeError, ValueError):
            raise self._died() from None

    def _answer(self, spec: str, limit: int | None) -> bytes | int | None:
        pipe = self._process.stdout
        assert pipe is not None
        head = pipe.readline()
        if not head:
            raise self._died()
        if head.endswith((b" missing\n", b" ambiguous\n", b" submodule\n")):
            return None
        last = head.rsplit(b" ", 1)[-1].strip()
        if not last.isdigit():
            self.close()  # what follows on the pipe would be taken for other answers
            raise GitError(["cat-file"], 128, f"{spec}: {head.decode('utf-8', 'replace').strip()}")
        size = int(last)
        if limit is not None and size > limit:
            left = size + 1
            while left:
                left -= len(pipe.read(min(left, 1 << 20))) or left
            return size
        content = pipe.read(size + 1)
        if len(content) != size + 1:
            raise self._died()
        return content[:-1]

    def _died(self) -> GitError:
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace")
        return GitError(["cat-file", "--batch"], code, said or "git ended: the repository is damaged or was removed")


def sizes(repo: Path | str, specs: Sequence[str]) -> list[int | None]:
    """The sizes of objects in bytes, without reading their contents; None where there is no such object."""
    text = "".join(f"{spec}\n" for spec in specs).encode("utf-8", "surrogateescape")
    out = run(["cat-file", "--batch-check=%(objectsize)"], cwd=repo, stdin=text).out
    return [int(line) if line.isdigit() else None for line in out.splitlines()]


_tops: dict[str, Path] = {}
"""Folders, and the working trees that hold them. A command asks often, and nobody moves a repository while it runs."""
_commits: set[tuple[str, str]] = set()
"""(repository, id) of commits that were seen: an id stands for one thing for ever."""
TOPLEVEL = ("rev-parse", "--show-toplevel")


def toplevel(folder: Path | str, answer: GitResult | None = None) -> Path | None:
    """The root of the working tree that holds `folder`; None outside of a repository. Raises `GitError` in a bare one. `answer` is what
    git said to `TOPLEVEL`, if it was asked before."""
    key = os.path.abspath(folder)
    if (known := _tops.get(key)) is not None and os.path.lexists(known / ".git"):
        return known
    got = answer or run(TOPLEVEL, cwd=folder, check=False)
    if got.code == 0:
        top = _tops[key] = Path(os.fsdecode(got.out.removesuffix(b"\n")))
        return top
    if b"not a git repository" in got.err:
        return None
    raise GitError(TOPLEVEL, got.code, got.err.decode("utf-8", "replace"))


def resolve(repo: Path | str, ref: str) -> str:
    """The full id of the commit that `ref` names. Raises `GitError` that says which name is unknown, or has two meanings: a tag, which
    anybody may push that may push at all, goes before the branch of its name (gitrevisions)."""
    if (str(repo), ref) in _commits:
        return ref
    args = ["-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}"]
    got = run(args, cwd=repo, check=False)
    said = got.err.decode("utf-8", "replace").strip()
    if got.code:
        unknown = "fatal: Needed a single revision" in said
        raise GitError(args[2:], got.code, f"there is no commit {ref!r} in this repository" if unknown else said)
    # Full names and HEAD have one meaning, whatever else is called so.
    if "is ambiguous" in said and not re.match(r"refs/|HEAD(?![^~^@])", ref):
        why = f"{ref} is the name of a branch and of a tag, or of two of them: write it in full, such as refs/heads/{ref}"
        raise GitError(args[2:], 128, why)
    found = got.out.decode("ascii").strip()
    _commits.add((str(repo), found))
    return found


def find(repo: Path | str, name: str) -> str | None:
    """The id of what a name stands for, None where it is unknown: a commit, or the tree or blob of ``COMMIT:path``.

    Raises `GitError` where the repository can't be read.
    """
    # No name of a reference holds a colon.
    spec = name if ":" in name else f"{name}^{{commit}}"
    got = run(["rev-parse", "--verify", "--quiet", "--end-of-options", spec], cwd=repo, check=False)
    if got.code > 1 or (got.code and got.err.strip()):
        raise GitError(["rev-parse", name], got.code, got.err.decode("utf-8", "replace"))
    return got.out.decode("ascii").strip() or None


def empty_blob(repo: Path | str) -> str:
    """The id of an empty file, by which an empty repository tells how long its ids are."""
    return run(["hash-object", "--stdin"], cwd=repo, stdin=b"").out.decode("ascii").strip()


def ancestor_args(older: str, newer: str) -> list[str]:
    """What `is_ancestor` asks."""
    return ["merge-base", "--is-ancestor", older, newer]


def is_ancestor(repo: Path | str, older: str, newer: str) -> bool:
    """Whether `newer` descends from `older` or is it. Raises `GitError` for unknown commits."""
    args = ancestor_args(older, newer)
    got = run(args, cwd=repo, check=False)
    if got.code > 1:
        raise GitError(args, got.code, got.err.decode("utf-8", "replace"))
    return got.code == 0


def is_shallow(repo: Path | str) -> bool:
    """Whether history was cut off (``fetch-depth: 1`` in CI): then descent can't be proved."""
    return run(["rev-parse", "--is-shallow-repository"], cwd=repo).out.strip() == b"true"


def ls_tree(repo: Path | str, commit: str, prefix: str = "", only: Sequence[str] = ()) -> dict[str, Entry]:
    """All files of a commit below `prefix`, by path relative to it, in git's order; with `only`, those and those below them. A prefix that
    the commit lacks has no files."""
    treeish = f"{commit}:{prefix.strip('/')}"
    args = ["ls-tree", "-r", "-z", "--full-tree", treeish, *only]
    got = run(args, cwd=repo, check=False)
    if got.code:
        resolve(repo, commit)
        if b"Not a valid object name" not in got.err and b"not a tree object" not in got.err:
            raise GitError(args, got.code, got.err.decode("utf-8", "replace"))
        return {}
    entries = {}
    for record in got.out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        meta, _, path = record.partition("\t")
        mode, _, blob = meta.split(" ")
        entries[path] = Entry(mode, blob)
    return entries


def diff_args(old: str, new: str, paths: Sequence[str] = ()) -> list[str]:
    """What `diff_names` asks."""
    return ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--name-status", old, new, "--", *paths]


def diff_names(repo: Path | str, old: str, new: str, paths: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What differs between two commits: (``A``, ``D``, ``M`` or ``T``, path from the top), renames as a deletion and an addition."""
    fields = run(diff_args(old, new, paths), cwd=repo).out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return list(zip(fields[::2], fields[1::2], strict=True))


@lru_cache(maxsize=64)
def commit_info(repo: Path | str, sha: str) -> CommitInfo:
    """Read the commit object with this id itself: no setting of log or show takes part. It is the same for ever."""
    raw = run(["cat-file", "commit", sha], cwd=repo).out.decode("utf-8", "replace")
    head, _, message = raw.partition("\n\n")
    fields: dict[str, str] = {}
    parents = []
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "parent":
            parents.append(value)
        elif key:
            fields.setdefault(key, value)
    author, committer = _person(fields["author"]), _person(fields["committer"])
    return CommitInfo(sha, fields["tree"], tuple(parents), *author, *committer, message)


def _person(line: str) -> tuple[str, str, str]:
    name, _, rest = line.rpartition(" <")
    mail, _, date = rest.partition("> ")
    return name, mail, date
