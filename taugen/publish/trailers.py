"""What a commit of the deploy branch says about itself.

In: facts of a publish. Out: the commit message, and back. The message derives from the source commit and the change alone (law 2): no clock, no host. `Tau-Tree` names the
commit's own tree: if it holds, nobody has touched the branch since.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from taugen import __version__
from taugen.load import git
from taugen.words.names import printable

COMPILER = __version__
_LISTED = 20
"""Runs that the body of a message names; the tree names all."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What the next publish must know.

    `source` is the commit that was compiled; `pending` are documents to read again (held or waiting); `vanished` live runs without a document; `moved` maps a
    published run to the path where its document stands now.
    """

    project: str
    source: str
    policy: str
    compiler: str = COMPILER
    sources: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The trailers, without the tree's."""
        out = [f"Tau-Project: {self.project}", f"Tau-Source-Commit: {self.source}", f"Tau-Policy-Digest: {self.policy}", f"Tau-Compiler: {self.compiler}"]
        out += [f"Tau-Policy-Commit: {commit} {url}" for url, commit in sorted(self.sources.items())]
        out += [f"Tau-Pending: {quote(path)}" for path in sorted(self.pending)]
        out += [f"Tau-Vanished: {run}" for run in sorted(self.vanished)]
        out += [f"Tau-Moved: {run} {quote(path)}" for run, path in sorted(self.moved.items())]
        return out


def quote(path: str) -> str:
    """A path on one line, whatever its bytes."""
    return path if path.isprintable() and path.isascii() and "%" not in path else "".join(
        c if c.isascii() and c.isprintable() and c != "%" else "".join(f"%{b:02X}" for b in c.encode("utf-8", "surrogateescape")) for c in path
    )


def unquote(text: str) -> str:
    """The path that `quote` wrote."""
    from urllib.parse import unquote as percent

    return percent(text, errors="surrogateescape") if "%" in text else text


def message(subject: str, changes: Sequence[tuple[str, str]], memory: Memory, tree: str) -> bytes:
    """The whole message; `changes` are (verb, run)."""
    shown = [f"- {verb} {printable(run)}" for verb, run in changes[:_LISTED]]
    if len(changes) > _LISTED:
        shown.append(f"- and {len(changes) - _LISTED} more")
    body = "\n".join(shown)
    trailers = "\n".join([*memory.lines(), f"Tau-Tree: {tree}"])
    return f"{subject}\n\n{body}\n\n{trailers}\n".replace("\n\n\n\n", "\n\n").encode()


def read(text: str) -> tuple[Memory, str] | None:
    """(memory, tree id) of a commit message, or None if taugen did not write it."""
    found = git.trailers(text)
    one = {key: values[0] for key, values in found.items() if values}
    if not {"Tau-Project", "Tau-Source-Commit", "Tau-Policy-Digest", "Tau-Tree"} <= one.keys():
        return None
    memory = Memory(
        one["Tau-Project"],
        one["Tau-Source-Commit"],
        one["Tau-Policy-Digest"],
        one.get("Tau-Compiler", ""),
        _pairs(found.get("Tau-Policy-Commit", ()), first_is_value=True),
        tuple(unquote(p) for p in found.get("Tau-Pending", ())),
        tuple(found.get("Tau-Vanished", ())),
        {run: unquote(path) for run, path in _pairs(found.get("Tau-Moved", ())).items()},
    )
    return memory, one["Tau-Tree"]


def _pairs(lines: Iterable[str], *, first_is_value: bool = False) -> dict[str, str]:
    pairs = [line.split(" ", 1) for line in lines if " " in line]
    return {b: a for a, b in pairs} if first_is_value else dict(pairs)  # type: ignore[misc]
