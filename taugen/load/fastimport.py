"""Writes commits, references and remotes.

In: a base, changes and who signs. Out: a commit id. What must never happen: a branch moved by `commit_tree`, a force-push, half a commit:
until `update_ref` or `push` succeeds, whatever was written is unreachable and git's own garbage collection takes it.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

from msgspec import Struct

from taugen.load import git
from taugen.words.regex import regex

Change = tuple[str, bytes | int | None]
"""A path, and its content, the mark of one, or None where the path goes."""
_CHUNK = 1 << 20


class Pushed(StrEnum):
    """How a push ended: `RACED` means somebody else moved the branch, to be answered by fetch, re-plan, retry."""

    OK = "ok"
    RACED = "raced"
    FAILED = "failed"


class Move(NamedTuple):
    """A reference (full name) that is to go from the commit `old`, None where there is none, to `new`."""

    ref: str
    new: str
    old: str | None

    @property
    def lease(self) -> str:
        """The option that adds "is still there" to what a push proves by itself: it also catches a branch that was set back."""
        return f"--force-with-lease={self.ref}:{self.old or ''}"

    @property
    def refspec(self) -> str:
        """What is pushed where."""
        return f"{self.new}:{self.ref}"


class PushResult(Struct, frozen=True):
    """`message` is what the server or git said, for people."""

    outcome: Pushed
    message: str = ""


def commit_tree(
    repo: Path | str,
    *,
    parents: Sequence[str],
    message: bytes | Callable[[str], bytes],
    author: bytes,
    committer: bytes,
    changes: Iterable[Change],
    base: str | None = None,
) -> str:
    """Make a commit and return its id, with a `Writer` for it alone."""
    with Writer(repo) as writer:
        return writer.commit(changes, parents=parents, message=message, author=author, committer=committer, base=base)


class Writer:
    """A running ``git fast-import``: contents as they come, then one commit. Nothing refers to any of it.

    Git starts with the first that is written. Leaving it without a commit keeps what was written as objects that nothing refers to. Every
    method raises `GitError` if git ends.
    """

    def __init__(self, repo: Path | str) -> None:
        self.repo = Path(repo)
        self._process: subprocess.Popen[bytes] | None = None
        self._within = False
        self._marks = 0
        # Short chains of deltas: contents come in an order in which each is like the one before, and a quarter is compressed and stored.
        self._args = ["fast-import", "--quiet", "--done", "--date-format=raw", "--depth=10"]
        self._said = git.spool(self._args)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            # In the middle of a commit the temporary references would be kept.
            if not self._within and self._process is not None and self._process.poll() is None:
                self._end(self._process)
        finally:
            if self._process is not None:
                git.stop(self._process)
            self._said.close()

    def reserve(self) -> int:
        """The first of a million marks for `blob`, never given twice."""
        self._marks += 1 << 20
        return self._marks

    def write(self, contents: bytes) -> None:
        """Write contents made by `blob`."""
        if self._process is None:
            self._process = git.start(self._args, cwd=self.repo, stderr=self._said)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(contents)
        except (BrokenPipeError, ValueError):
            raise self._died(self._process) from None

    def commit(
        self,
        changes: Iterable[Change],
        *,
        parents: Sequence[str],
        message: bytes | Callable[[str], bytes],
        author: bytes,
        committer: bytes,
        base: str | None = None,
    ) -> str:
        """Make the commit, which is the last that can be written, and return its id.

        The tree is that of the commit `base` (empty for None) with `changes`: a path and its new content, the mark of a content written
        before, or None to delete it. A sequence of changes may have any order; of an iterator the deletions come first. `parents` and
        `base` are full ids, `author` and `committer` are ``Name <mail> 1700000000 +0000``; `message` may be made from the id of the tree.
        The id depends on nothing else. Raises `ValueError` for a path that Git can't hold.
        """
        if isinstance(changes, Sequence):
            changes = sorted(changes, key=lambda change: change[1] is not None)
        by = b"author %b\ncommitter %b\n" % (author, committer)
        # fast-import insists on references. They are deleted in the same stream, before it writes any: they never exist.
        ref = f"refs/taugen/tmp-{os.getpid()}"
        heirs = "".join(f"{'merge' if at else 'from'} {parent}\n" for at, parent in enumerate(parents))
        head = f"commit {ref}-1\nmark :1\n".encode() + by + _data(message if isinstance(message, bytes) else b"draft") + heirs.encode()
        self._within = True
        for piece in _chunked(head + self._start(parents, base), changes):
            self.write(piece)
        made = self._ask(b"\nget-mark :1\n")
        forget = f"reset {ref}-1\nfrom {'0' * len(made)}\n\n"
        if not isinstance(message, bytes):
            tree = self._ask(b'ls :1 ""\n').split("\t", 1)[0].split(" ")[2]
            text = _data(message(tree))
            self.write(f"commit {ref}-2\nmark :2\n".encode() + by + text + heirs.encode() + f'M 040000 {tree} ""\n\n'.encode())
            made = self._ask(b"get-mark :2\n")
            forget += forget.replace(f"{ref}-1", f"{ref}-2")
        self.write(forget.encode())
        self._within = False
        assert self._process is not None
        self._end(self._process)
        return made

    def _start(self, parents: Sequence[str], base: str | None) -> bytes:
        if base is None:
            return b"deleteall\n"
        if [base] == list(parents[:1]):
            return b""
        tree = git.run(["rev-parse", "--verify", "--end-of-options", f"{base}^{{tree}}"], cwd=self.repo).out.strip()
        return b'M 040000 %s ""\n' % tree

    def _ask(self, command: bytes) -> str:
        self.write(command)
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.flush()
        except BrokenPipeError:
            raise self._died(process) from None
        answer = process.stdout.readline()
        if not answer:
            raise self._died(process)
        return answer.decode("ascii").strip()

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        git.feed(process, [b"done\n"])
        if process.wait():
            raise self._died(process)

    def _died(self, process: "subprocess.Popen[bytes]") -> git.GitError:
        git.feed(process, [])
        code = process.wait()
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "surrogateescape")
        if report := _CRASH_REPORT.search(said):
            # Its first lines are in our error; nobody would look for it in the repository.
            (self.repo / report[1]).unlink(missing_ok=True)
        return git.GitError(self._args, code, said)


_CRASH_REPORT = regex(r"^fast-import: dumping crash report to (.*fast_import_crash_\d+)$", re.MULTILINE)


def blob(mark: int, content: bytes) -> bytes:
    """A content for `Writer.write`. `mark`, one of those reserved, stands for it in the changes of the commit."""
    return b"blob\nmark :%d\n%b" % (mark, _data(content))


def _chunked(head: bytes, changes: Iterable[Change]) -> Iterator[bytes]:
    buffer = bytearray(head)
    written = False
    for path, content in changes:
        if content is None:
            if written:
                raise ValueError(f"{path!r} is deleted after a file was written: deletions come first")
            buffer += b"D %b\n" % quoted(path)
            continue
        written = True
        if isinstance(content, int):
            buffer += b"M 100644 :%d %b\n" % (content, quoted(path))
        else:
            buffer += b"M 100644 inline %b\n%b" % (quoted(path), _data(content))
        if len(buffer) > _CHUNK:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def quoted(path: str) -> bytes:
    """A path as fast-import reads it, any byte but NUL allowed. Raises `ValueError` for what is no path inside a tree."""
    if _PLAIN_PATH.fullmatch(path):
        return path.encode("ascii")
    if any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/")) or "\0" in path:
        raise ValueError(f"{path!r} is no path that Git can hold")
    return b'"' + b"".join(_ESCAPES[byte] for byte in path.encode("utf-8", "surrogateescape")) + b'"'


_PLAIN_PATH = regex(r"(?:\.taugen/)?[A-Za-z0-9_-][A-Za-z0-9_.-]*+(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*+)*")


_ESCAPES = tuple(
    b"\\" + bytes([byte]) if byte in b'"\\' else b"\\%03o" % byte if byte < 32 or byte == 127 else bytes([byte]) for byte in range(256)
)


def update_ref(repo: Path | str, ref: str, new: str | None, old: str | None) -> bool:
    """Move `ref` (full name) from `old` to `new`; None is "does not exist". False if it is not at `old` any more. Raises `GitError`."""
    zero = "0" * len(new or old or "")
    args = ["update-ref", "-d", ref, old or zero] if new is None else ["update-ref", ref, new, old or zero]
    got = git.run(args, cwd=repo, check=False)
    if got.code == 0:
        return True
    if git.find(repo, ref) != old:
        return False
    raise git.GitError(args, got.code, got.err.decode("utf-8", "replace"))


def push(repo: Path | str, remote: str, new: str, ref: str, expect_old: str | None, *, beside: Sequence[Move] = ()) -> PushResult:
    """Push the commit `new` to `ref` (full name) of `remote` (a URL, a path or a configured name).

    Succeeds only if the branch still is at `expect_old` (None: absent). Never rewrites: `new` must descend from `expect_old`. Errors of the
    network or the server are `FAILED` with their message. `beside` are further moves, made if the server lets them be; how `ref` went is
    what is told.
    """
    if expect_old is not None and not git.is_ancestor(repo, expect_old, new):
        return PushResult(Pushed.FAILED, f"{new[:12]} does not descend from {expect_old[:12]}: this would rewrite the branch")
    moves = (Move(ref, new, expect_old), *beside)
    args = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed"]
    args += [move.lease for move in moves]
    try:
        got = git.run(
            [*args, "--", safe(remote), *(move.refspec for move in moves)],
            cwd=repo,
            check=False,
            allow=git.protocols_for(remote),
            timeout=git.REMOTE_TIMEOUT,
        )
    except git.GitError as error:
        return PushResult(Pushed.FAILED, str(error))
    if got.code == 0:
        return PushResult(Pushed.OK)
    told = [line.split("\t") for line in got.out.decode("utf-8", "replace").splitlines() if "\t" in line]
    own = [(flag, verdict) for flag, between, *_, verdict in told if between.rpartition(":")[2] == ref]
    if own and all(flag != "!" for flag, _ in own):
        return PushResult(Pushed.OK)
    said = got.err.decode("utf-8", "replace")
    raced = any(sign in verdict for _, verdict in own for sign in _RACE_SIGNS)
    detail = "; ".join(verdict for _, verdict in own)
    message = f"{detail}: {said.strip()}" if detail else str(git.GitError(args, got.code, said))
    return PushResult(Pushed.RACED if raced else Pushed.FAILED, message)


_RACE_SIGNS = (
    "stale info", "non-fast-forward", "fetch first", "cannot lock ref", "failed to update ref", "incorrect old value",
    "reference already exists", "remote ref updated since checkout", "needs force",
)  # fmt: skip


def fetch(repo: Path | str, remote: str, ref: str) -> str | None:
    """Fetch `ref` (full name, or a full commit id) of `remote` into refs/taugen/fetch/ and return its commit; None if the remote lacks it.

    No branch, tag or tracking branch of the repository moves. Raises `GitError` for everything else that goes wrong.
    """
    kept = "refs/taugen/fetch/" + hashlib.sha256(f"{remote}\0{ref}".encode()).hexdigest()[:16]
    args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--end-of-options"]
    got = git.run(
        [*args, safe(remote), f"+{ref}:{kept}"], cwd=repo, check=False, allow=git.protocols_for(remote), timeout=git.REMOTE_TIMEOUT
    )
    if got.code == 0:
        return git.resolve(repo, kept)
    said = got.err.decode("utf-8", "replace")
    if "couldn't find remote ref" in said:
        return None
    raise git.GitError(args, got.code, said)


def safe(remote: str) -> str:
    """The address, if git takes it for one. Raises `GitError` for an option, and for a transport that is a program."""
    if remote.startswith("-") or "::" in remote.split("/", 1)[0]:
        raise git.GitError(["remote"], 128, f"{remote!r} is no https, ssh or file address")
    return remote
