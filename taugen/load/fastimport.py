"""Writes commits, references and remotes.

In: a base, changes and who signs. Out: a commit id. What must never happen: a branch moved by `commit_tree`, a force-push, half a commit:
until `update_ref` or `push` succeeds, whatever was written is unreachable and git's own garbage collection takes it.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from taugen.load import git

Change = tuple[str, bytes | None]
_CHUNK = 1 << 20


class Pushed(StrEnum):
    """How a push ended: `RACED` means somebody else moved the branch, to be answered by fetch, re-plan, retry."""

    OK = "ok"
    RACED = "raced"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PushResult:
    """`message` is what the server or git said, for people."""

    outcome: Pushed
    message: str = ""


def commit_tree(
    repo: Path | str,
    *,
    parents: Sequence[str],
    message: bytes,
    author: bytes,
    committer: bytes,
    changes: Iterable[Change],
    base: str | None = None,
) -> str:
    """Make a commit and return its id; no reference moves.

    The tree is that of the commit `base` (empty for None) with `changes`: a path and its new content, or None to delete it. A sequence of
    changes may have any order; of an iterator the deletions come first. `parents` and `base` are full ids, `author` and `committer` are
    ``Name <mail> 1700000000 +0000``. The id depends on nothing else. Raises `GitError`, and `ValueError` for a path that Git can't hold.
    """
    zero = "0" * len(parents[0] if parents else base or git.empty_blob(repo))
    ordered: Iterable[Change] = sorted(changes, key=lambda c: c[1] is not None) if isinstance(changes, Sequence) else changes
    # The reference that fast-import insists on is deleted in the same stream, before fast-import writes references: it never exists.
    ref = f"refs/taugen/tmp-{os.getpid()}"
    head = [f"commit {ref}\nmark :1\n".encode(), b"author ", author, b"\ncommitter ", committer, b"\n", _data(message)]
    if parents:
        head.append(f"from {parents[0]}\n".encode())
        head.extend(f"merge {parent}\n".encode() for parent in parents[1:])
    if base is None:
        head.append(b"deleteall\n")
    elif [base] != list(parents[:1]):
        tree = git.run(["rev-parse", "--verify", "--end-of-options", f"{base}^{{tree}}"], cwd=repo).out.strip()
        head.append(b'M 040000 %s ""\n' % tree)
    tail = f"\nreset {ref}\nfrom {zero}\n\nget-mark :1\ndone\n".encode()
    answer = _fast_import(repo, _chunked(head, ordered, tail))
    return answer.decode("ascii").strip()


def commit_object(repo: Path | str, tree: str, *, parents: Sequence[str], message: bytes, author: bytes, committer: bytes) -> str:
    """Make a commit of a tree that is there already, as `commit_tree` makes one of changes. Raises `GitError`."""
    head = [f"tree {tree}\n".encode(), *(f"parent {parent}\n".encode() for parent in parents)]
    content = b"".join([*head, b"author ", author, b"\ncommitter ", committer, b"\n\n", message])
    return git.run(["hash-object", "-t", "commit", "-w", "--stdin"], cwd=repo, stdin=content).out.decode("ascii").strip()


def _fast_import(repo: Path | str, stream: Iterable[bytes]) -> bytes:
    # No deltas: they take a third of the time and save a tenth of the space, until `git gc` makes better ones.
    args = ["fast-import", "--quiet", "--done", "--date-format=raw", "--depth=0"]
    got = git.run(args, cwd=repo, stdin=stream, check=False)
    if got.code == 0:
        return got.out
    said = got.err.decode("utf-8", "surrogateescape")
    if report := _CRASH_REPORT.search(said):
        # Its first lines are in our error; nobody would look for it in the repository.
        (Path(repo) / report[1]).unlink(missing_ok=True)
    raise git.GitError(args, got.code, said)


_CRASH_REPORT = re.compile(r"^fast-import: dumping crash report to (.*fast_import_crash_\d+)$", re.MULTILINE)


def _chunked(head: Iterable[bytes], changes: Iterable[Change], tail: bytes) -> Iterator[bytes]:
    buffer = bytearray(b"".join(head))
    written = False
    for path, content in changes:
        if content is None:
            if written:
                raise ValueError(f"{path!r} is deleted after a file was written: deletions come first")
            buffer += b"D " + quoted(path) + b"\n"
        else:
            written = True
            buffer += b"M 100644 inline " + quoted(path) + b"\n" + _data(content)
        if len(buffer) > _CHUNK:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer + tail)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def quoted(path: str) -> bytes:
    """A path as fast-import reads it, any byte but NUL allowed. Raises `ValueError` for what is no path inside a tree."""
    if any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/")) or "\0" in path:
        raise ValueError(f"{path!r} is no path that Git can hold")
    raw = path.encode("utf-8", "surrogateescape")
    if raw.isascii() and raw.isalnum():
        return raw
    return b'"' + b"".join(_ESCAPES[byte] for byte in raw) + b'"'


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


def push(repo: Path | str, remote: str, new: str, ref: str, expect_old: str | None) -> PushResult:
    """Push the commit `new` to `ref` (full name) of `remote` (a URL, a path or a configured name).

    Succeeds only if the branch still is at `expect_old` (None: absent). Never rewrites: `new` must descend from `expect_old`. Errors of the
    network or the server are `FAILED` with their message.
    """
    if expect_old is not None and not git.is_ancestor(repo, expect_old, new):
        return PushResult(Pushed.FAILED, f"{new[:12]} does not descend from {expect_old[:12]}: this would rewrite the branch")
    # The lease only adds "is still there" to what was proved above: it also catches a branch that was set back.
    lease = f"--force-with-lease={ref}:{expect_old or ''}"
    args = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed", lease]
    try:
        got = git.run(
            [*args, "--", _safe(remote), f"{new}:{ref}"], cwd=repo, check=False, allow=git.protocols_for(remote), timeout=git.REMOTE_TIMEOUT
        )
    except git.GitError as error:
        return PushResult(Pushed.FAILED, str(error))
    if got.code == 0:
        return PushResult(Pushed.OK)
    said = got.err.decode("utf-8", "replace")
    verdicts = [line for line in got.out.decode("utf-8", "replace").splitlines() if line.startswith("!")]
    raced = any(sign in verdict for verdict in verdicts for sign in _RACE_SIGNS)
    detail = "; ".join(v.split("\t")[-1] for v in verdicts)
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
        [*args, _safe(remote), f"+{ref}:{kept}"], cwd=repo, check=False, allow=git.protocols_for(remote), timeout=git.REMOTE_TIMEOUT
    )
    if got.code == 0:
        return git.resolve(repo, kept)
    said = got.err.decode("utf-8", "replace")
    if "couldn't find remote ref" in said:
        return None
    raise git.GitError(args, got.code, said)


def _safe(remote: str) -> str:
    if remote.startswith("-") or "::" in remote.split("/", 1)[0]:
        raise git.GitError(["remote"], 128, f"{remote!r} is no https, ssh or file address")
    return remote
