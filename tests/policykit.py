"""The fixture's policy with some documents added or replaced, read by the real functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from taugen.load.git import Entry
from taugen.load.tree import Unreadable

FIXTURE = Path(__file__).parent / "fixtures" / "acme"


class MemoryTree:
    """A source tree that stands in memory."""

    root_label = "memory"
    commit: str | None = None
    hash_name = "sha1"
    lfs: frozenset[str] = frozenset()

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def paths(self) -> Mapping[str, Entry]:
        return {path: Entry("100644", None) for path in self.files}

    def below(self, folder: str) -> Sequence[str]:
        return sorted(p for p in self.files if not folder or p.startswith(folder + "/"))

    def folders(self) -> frozenset[str]:
        return frozenset({""} | {"/".join(p.split("/")[:n]) for p in self.files for n in range(1, p.count("/") + 1)})

    def untracked(self) -> Sequence[str]:
        return ()

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        return sorted(p for p in self.files if matches(p))

    def read(self, path: str, limit: int | None = None) -> bytes:
        if path not in self.files:
            raise Unreadable(path, "does not exist")
        raw = self.files[path]
        if limit is not None and len(raw) > limit:
            raise Unreadable(path, f"has {len(raw)} bytes, more than the {limit} that are read")
        return raw

    def readlink(self, path: str) -> str:
        raise Unreadable(path, "is no symbolic link")

    def prefetch(self, paths: Iterable[str]) -> None:
        pass


def split(text: str) -> list[str]:
    """The documents of a file."""
    return [part for part in text.split("---\n") if part.strip()]


def identity(document: str) -> tuple[str, str]:
    """Kind and name of a document, by its first lines."""
    lines = document.splitlines()
    kind = next(line.removeprefix("kind: ") for line in lines if line.startswith("kind: "))
    name = next(line.partition("name: ")[2].rstrip("}") for line in lines if "name: " in line)
    return kind, name


def fixture_with(changed: str = "") -> MemoryTree:
    """The fixture; a document of `changed` takes the place of that of its kind and name, or is added; Project and Platform are one each."""
    documents = {}
    for path in [FIXTURE / "taugen.yaml", *sorted((FIXTURE / "policy").rglob("*.y*ml"))]:
        documents.update({_key(d): d for d in split(path.read_text())})
    documents.update({_key(d): d for d in split(changed)})
    return MemoryTree(
        {("taugen.yaml" if kind == "Project" else f"policy/{kind}-{name}.yaml".lower()): d for (kind, name), d in documents.items()}
    )


def _key(document: str) -> tuple[str, str]:
    kind, name = identity(document)
    return (kind, "") if kind in {"Project", "Platform"} else (kind, name)
