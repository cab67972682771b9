"""What a commit of the deploy branch says about itself.

In: facts of a publish. Out: the commit message, and back. The message derives from the source commit and the change alone (law 2): no
clock, no host. `Tau-Tree` names the commit's own tree: where it holds, nobody has touched the commit since. What must never happen: a
trailer that somebody's file name or run name puts there.
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from msgspec import Struct, field

from taugen import __version__
from taugen.load import messages
from taugen.words.names import printable

COMPILER = __version__
_LISTED = 20
"""Runs that the body of a message names; the tree holds all."""


class Memory(Struct, frozen=True):
    """What the next publish must know.

    `source` is the commit that was compiled; `pending` are documents to read again whatever changes (held, waiting, or without a published
    run); `adrift` live runs (`<workspace>/<run>`) whose document is gone or can't be read; `moved` maps a published run to the path where
    its document stands now, if not where its state says; `unsettled` that something of the platform was held back: the next pass is a full
    one.
    """

    project: str
    source: str
    policy: str
    compiler: str = COMPILER
    sources: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    adrift: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    unsettled: bool = False

    def lines(self) -> list[str]:
        """The trailers, without the tree's."""
        out = [
            f"Tau-Project: {self.project}",
            f"Tau-Source-Commit: {self.source}",
            f"Tau-Policy-Digest: {self.policy}",
            f"Tau-Compiler: {self.compiler}",
        ]
        out += [f"Tau-Policy-Commit: {commit} {quote(url)}" for url, commit in sorted(self.sources.items())]
        out += [f"Tau-Pending: {quote(path)}" for path in sorted(self.pending)]
        out += [f"Tau-Adrift: {run}" for run in sorted(self.adrift)]
        out += [f"Tau-Moved: {run} {quote(path)}" for run, path in sorted(self.moved.items())]
        return [*out, "Tau-Unsettled: platform"] if self.unsettled else out


def quote(path: str) -> str:
    """A path on one line in printable ASCII, whatever its bytes; `%` escapes the rest."""
    return "".join(c if "!" <= c <= "~" and c != "%" else "".join(f"%{b:02X}" for b in c.encode("utf-8", "surrogateescape")) for c in path)


def message(
    subject: str, changes: Sequence[tuple[str, str]], memory: Memory, tree: str, records: Iterable[tuple[str, str]] = ()
) -> bytes:
    """The whole message; `changes` are (verb, run), `records` (path, sha256) of the evidence that the commit follows from."""
    shown = [f"- {verb} {printable(run)}" for verb, run in changes[:_LISTED]]
    if len(changes) > _LISTED:
        shown.append(f"- and {len(changes) - _LISTED} more")
    follows = [f"Tau-Record: {quote(path)} {digest}" for path, digest in records]
    paragraphs = [subject, "\n".join(shown), "\n".join([*memory.lines(), *follows, f"Tau-Tree: {tree}"])]
    return ("\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n").encode()


def read(text: str) -> tuple[Memory, str] | None:
    """(memory, tree id) of a commit message, or None if taugen did not write it."""
    found = messages.trailers(text)
    one = {key: values[0] for key, values in found.items() if values}
    if not {"Tau-Project", "Tau-Source-Commit", "Tau-Policy-Digest", "Tau-Tree"} <= one.keys():
        return None
    memory = Memory(
        project=one["Tau-Project"],
        source=one["Tau-Source-Commit"],
        policy=one["Tau-Policy-Digest"],
        compiler=one.get("Tau-Compiler", ""),
        sources={unquote(url): commit for commit, url in _pairs(found.get("Tau-Policy-Commit", ()))},
        pending=tuple(_path(path) for path in found.get("Tau-Pending", ())),
        adrift=tuple(found.get("Tau-Adrift", ())),
        moved={run: _path(path) for run, path in _pairs(found.get("Tau-Moved", ()))},
        unsettled="Tau-Unsettled" in one,
    )
    return memory, one["Tau-Tree"]


def _path(text: str) -> str:
    return unquote(text, errors="surrogateescape")


def _pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(first, second) for line in lines for first, space, second in [line.partition(" ")] if space]
