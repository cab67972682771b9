"""Writes an evidence branch.

In: files, the newest time among them. Out: one commit a batch on a remote branch. The sink's own repository holds the newest commit's
folders and what it wrote itself, and can be thrown away at any time: the remote branch is the only state. What must never happen: a file
that is changed or written twice, a force-push, a branch that was rewritten taken for the one before, half a batch.
"""

import contextlib
import errno
import hashlib
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from taugen.evidence import trailers
from taugen.evidence.budget import Budget
from taugen.evidence.store import Branch
from taugen.evidence.summarize import AUTHOR, LEAST, Summarizer
from taugen.load import fastimport, git, messages, partial
from taugen.load.fastimport import Move, Pushed

_TRIES = 10
"""Times that somebody else may be quicker before a push is given up for now."""
_SEEN, _TIP = "refs/taugen/seen", "refs/taugen/tip"
_LOOSE = 3000
"""Files of a repository from which on git packs them."""
_MANY = 50
"""Commits after which the size of the repository is looked at."""
_ROOM = 64 << 20
BEAT = 600
"""Seconds of its cluster's clock after which a collector that wrote nothing says that it lives: readers hold it for dead after 900."""
_STEP, _FARTHEST = 200, 5000
"""Commits of others that are looked through, at once and in all, for the newest of one's own."""
_FULL = ("No space left on device", "Out of diskspace", "Disk quota exceeded", "File too large")


class SinkError(Exception):
    """Nothing was written."""


class Unreachable(SinkError):  # noqa: N818 - it names what happens
    """The remote can't be read or written now: to be tried again later."""


class Rewritten(SinkError):  # noqa: N818 - it names what happens
    """The branch is not what it was: it was force-pushed or deleted. Nothing is ever written over it."""


class Full(SinkError):  # noqa: N818 - it names what happens
    """The sink's own disk is full."""


class Conflict(SinkError):  # noqa: N818 - it names what happens
    """A file of the branch has another content than the one that was to be written."""


class Sink:
    """The writer of one collector. `folder` is its own, `remote` a URL or a path, `author` the name under which it commits, `sign` an SSH
    private key, `clock` seconds that only grow, `least` the number of runs from which on there is a summary.
    Every method raises `Unreachable`, `Rewritten` or `Full`."""

    def __init__(
        self,
        folder: Path,
        remote: str,
        branch: str,
        author: str,
        *,
        sign: Path | None = None,
        clock: Callable[[], float] | None = None,
        room: int = _ROOM,
        least: int = LEAST,
    ) -> None:
        self.repo = folder / "evidence.git"
        self.remote = remote
        self.ref = f"refs/heads/{branch}"
        self.author = author
        self.budget = Budget()
        self.heard = 0
        """The newest date that the collector's own commits are known to have, in seconds since 1970; 0: none is known."""
        self._sign = sign
        self._clock = clock
        self._room = room
        self._written = 0
        self._open: Branch | None = None
        self._summary = Summarizer(self.repo, remote, branch, author, least) if author.startswith(AUTHOR) else None
        self._beside: list[Move] = []
        """Of the summary, for the next push: a push of its own would be one more a minute than evidence has."""
        self._prepare()
        self._size = _weight(self.repo)[0]

    def branch(self) -> Branch:
        """The branch as the remote has it now."""
        return self._branch(self._fetch())

    def wait(self) -> float:
        """Seconds until the branch may be pushed to again: at most 6 times a minute, by all its writers together."""
        return self.budget.wait(self._clock()) if self._clock is not None else 0.0

    def tip_trailers(self, cluster: str) -> dict[str, list[str]]:
        """The trailers of the newest commit by the collector of `cluster`; none where there is none among the newest 5,000."""
        tip = self._fetch()
        return messages.trailers(self._newest(tip, cluster)) if tip is not None else {}

    def append(
        self, files: Mapping[str, bytes], subject: str, extra: Sequence[tuple[str, str]], time: str, *, on: Branch | None = None
    ) -> str:
        """Commit the files that the branch lacks, push, and return the commit; empty, and nothing is written, where it has all of them.

        `time` (RFC 3339) is the commit's date: the newest among the events, else that of the API server, or empty for that of the commit
        before. Trailers about the files are made here; `extra` are the collector's own. `on` is the branch if it was fetched a moment ago.
        Raises `Conflict` if the branch has a file of the same path and another content.
        """

        def made(tip: str | None) -> str:
            fresh = self._fresh(tip, files)
            return self._commit(tip, fresh, subject, extra, time) if fresh else ""

        return self._pushed(made, on)

    def beat(self, cluster: str, extra: Sequence[tuple[str, str]], time: str) -> str:
        """Push a commit without files that says that the collector of `cluster` lived at `time` (RFC 3339, its API server's clock), and
        return it; empty, and nothing is written, where a commit of its own is dated less than `BEAT` seconds before, or there is no
        branch yet."""

        def made(tip: str | None) -> str:
            if tip is None:
                return ""
            self._newest(tip, cluster)
            return self._commit(tip, {}, "nothing new", extra, time) if self.quiet(time) else ""

        return self._pushed(made)

    def flush(self) -> None:
        """Push what waits for another push, where no other will come."""
        beside, self._beside = self._beside, []
        with contextlib.suppress(git.GitError):
            for move in beside:
                fastimport.push(self.repo, self.remote, move.new, move.ref, move.old)

    def quiet(self, time: str) -> bool:
        """Whether at `time` (RFC 3339) nothing was heard of the collector for `BEAT` seconds, as far as is known here."""
        return _seconds(time) - self.heard >= BEAT

    def _pushed(self, made: Callable[[str | None], str], on: Branch | None = None) -> str:
        """Push what is made on top of a tip, again if somebody else is quicker; empty where nothing is made."""
        for tries in range(_TRIES):
            tip = on.tip if on is not None and tries == 0 else self._fetch()
            with self._guarded():
                new = made(tip)
                if not new:
                    return ""
                begun = self._clock() if self._clock is not None else 0.0
                # Whatever becomes of the summary is settled by this: evidence never waits for it again.
                beside, self._beside = self._beside, []
                result = fastimport.push(self.repo, self.remote, new, self.ref, tip, beside=beside)
            # A server may refuse all for the summary's sake: then evidence goes alone.
            if result.outcome is Pushed.FAILED and not beside:
                raise Unreachable(f"the push was refused: {result.message}")
            if result.outcome is Pushed.OK:
                # Counted from its beginning: how long the server takes does not make the next one later.
                self.budget.saw(begun)
                with self._guarded():
                    seconds = int(git.commit_info(self.repo, new).committer_date.split()[0])
                    self.heard = max(self.heard, seconds)
                    self._saw(new)
                    self._tidy()  # which takes what no reference names, as a summary that waits
                    self._summarize(new, seconds)
                return new
        raise Unreachable(f"somebody else was quicker {_TRIES} times: another try later")

    def _summarize(self, tip: str, seconds: int) -> None:
        """Bring the cluster's summary up to date; one that can't be written is missed by nobody but who waits for a listing."""
        if self._summary is None:
            return
        with contextlib.suppress(git.GitError):
            move = self._summary.made(self._branch(tip).objects, tip, seconds)
            if move is not None:
                self._beside = [move]

    # ------------------------------------------------------------------------------------------------------------------------ reading

    def _fetch(self) -> str | None:
        """The remote's tip, known to follow from the last one seen."""
        with self._guarded():
            last = git.find(self.repo, _SEEN)
            tip = partial.fetch(self.repo, self.remote, self.ref, _TIP)
            if tip is None and last is not None:
                raise Rewritten(f"{self.ref} of the remote is gone; it was at {last}")
            if tip is None or last == tip:
                return tip
            if last is not None and not git.is_ancestor(self.repo, last, tip) and not self._rotated(last, tip):
                raise Rewritten(f"{self.ref} of the remote was rewritten: it is at {tip}, which does not follow from {last}")
            self._saw(tip)
            if self._clock is not None:
                self.budget.saw(self._clock(), self._count(tip, last) if last is not None else 1)
            return tip

    def _count(self, tip: str, last: str) -> int:
        """How many commits lead to a tip from the last one seen; 1 where that can't be told."""
        counted = git.run(["rev-list", "--count", "--end-of-options", tip, f"^{last}"], cwd=self.repo, check=False).out.strip()
        return int(counted) if counted.isdigit() else 1

    def _rotated(self, last: str, tip: str) -> bool:
        """Whether the branch was begun anew, by a root that names the old tip."""
        roots = git.run(["rev-list", "--max-parents=0", "--end-of-options", tip], cwd=self.repo).out.decode("ascii").split()
        said = [messages.trailers(git.commit_info(self.repo, root).message) for root in roots]
        return len(roots) == 1 and said[0].get(trailers.PREVIOUS) == [last]

    def _newest(self, tip: str, cluster: str) -> str:
        """The message of the newest commit by the collector of `cluster`, empty where there is none; its date is known from now on."""
        with self._guarded():
            for _ in range(_FARTHEST // _STEP):
                args = [
                    "log",
                    "--fixed-strings",
                    f"--author=taugen collector {cluster} <",
                    "-n1",
                    "--format=%ct %B",
                    "--end-of-options",
                    tip,
                ]
                date, _, said = git.run(args, cwd=self.repo).out.decode("utf-8", "replace").partition(" ")
                self.heard = max(self.heard, int(date) if date.isdecimal() else 0)
                if said.strip() or not git.is_shallow(self.repo):
                    return said
                partial.deepen(self.repo, self.remote, self.ref, _STEP)
        return ""

    def _branch(self, tip: str | None) -> Branch:
        if self._open is None or self._open.tip != tip:
            if self._open is not None:
                self._open.close()
            self._open = Branch(self.repo, tip)
        return self._open

    def _fresh(self, tip: str | None, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files that the branch lacks."""
        level = self._branch(tip).folders(path.rpartition("/")[0] for path in files)
        fresh = {}
        for path, content in files.items():
            folder, _, name = path.rpartition("/")
            child = level[folder].get(name)
            if child is None:
                fresh[path] = content
            elif child.id != _blob(content, len(child.id)):
                raise Conflict(f"{path} is on the branch with another content")
        return fresh

    # ------------------------------------------------------------------------------------------------------------------------ writing

    def _commit(self, tip: str | None, files: Mapping[str, bytes], subject: str, extra: Sequence[tuple[str, str]], time: str) -> str:
        kept = [pair for pair in extra if pair[0] not in trailers.DERIVED]
        message = trailers.message(subject, [*trailers.of(files), *kept])
        when = _seconds(time) if time else int(git.commit_info(self.repo, tip).committer_date.split()[0]) if tip else 0
        who = f"{self.author} <collector@taugen.dev> {when} +0000"
        parents = [tip] if tip else []
        made = fastimport.commit_tree(
            self.repo,
            parents=parents,
            message=message,
            author=who.encode(),
            committer=who.encode(),
            changes=sorted(files.items()),
            base=tip,
        )
        return made if self._sign is None else self._signed(made, parents, message, when)

    def _signed(self, made: str, parents: Sequence[str], message: bytes, when: int) -> str:
        """The same commit with a signature."""
        env = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in self._person(when).items()}
        settings = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={self._sign}", "-c", "gpg.ssh.program=ssh-keygen"]
        args = [*settings, "commit-tree", "-S", *(word for parent in parents for word in ("-p", parent)), "-F", "-", f"{made}^{{tree}}"]
        return git.run(args, cwd=self.repo, stdin=message, env_extra=env).out.decode("ascii").strip()

    def _person(self, when: int) -> dict[str, str]:
        return {"NAME": self.author, "EMAIL": "collector@taugen.dev", "DATE": f"{when} +0000"}

    def _saw(self, tip: str) -> None:
        # In this order: a tip that was not fetched is fetched without what came before it.
        for ref in (_TIP, _SEEN):
            fastimport.update_ref(self.repo, ref, tip, git.find(self.repo, ref))

    # --------------------------------------------------------------------------------------------------------------------------- disk

    def _prepare(self) -> None:
        """A repository that works; one that a crash or a full disk left broken is begun anew: the remote has everything."""
        with self._guarded():
            try:
                partial.make(self.repo)
                git.find(self.repo, _SEEN)
            except git.GitError as error:
                if _full(error):
                    raise
                shutil.rmtree(self.repo, ignore_errors=True)
                partial.make(self.repo)
            self._sweep()

    def _sweep(self) -> None:
        """Remove what git left half written."""
        for pattern in ("objects/pack/tmp_*", "objects/??/tmp_*", "*.lock", "refs/**/*.lock", "fast_import_crash_*"):
            for left in self.repo.glob(pattern):
                left.unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Keep the repository small: pack what lies about; begin anew once it has grown, since the remote has everything."""
        self._written += 1
        if self._written % _MANY:
            return
        size, files = _weight(self.repo)
        if size > 2 * self._size + self._room:
            self._anew()
        elif files > _LOOSE:
            git.run(["gc", "--prune=now", "--quiet"], cwd=self.repo)

    def _anew(self) -> None:
        last = git.find(self.repo, _SEEN)
        draft = self.repo.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        partial.make(draft)
        if partial.fetch(draft, self.remote, self.ref, _SEEN) != last:
            shutil.rmtree(draft)  # somebody pushed meanwhile: another time
            return
        fastimport.update_ref(draft, _TIP, last, None)
        self._branch(None)
        shutil.rmtree(self.repo)
        draft.rename(self.repo)
        self._size = _weight(self.repo)[0]

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """What git and the disk say, in this module's words."""
        try:
            yield
        except git.GitError as error:
            if _full(error):
                self._sweep()
                raise Full(str(error)) from None
            raise Unreachable(str(error)) from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                self._sweep()
                raise Full(str(error)) from None
            raise


def _full(error: git.GitError) -> bool:
    return error.code == -signal.SIGXFSZ or any(sign in error.stderr for sign in _FULL)


def _blob(content: bytes, length: int) -> str:
    """The object id of a file's content."""
    body = b"blob %d\0%b" % (len(content), content)
    return hashlib.sha256(body).hexdigest() if length == 64 else hashlib.sha1(body, usedforsecurity=False).hexdigest()


def _seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).astimezone(UTC).timestamp())


def _weight(folder: Path) -> tuple[int, int]:
    """Bytes and number of the files below a folder."""
    sizes = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file():
                sizes.append(path.stat().st_size)
    return sum(sizes), len(sizes)
