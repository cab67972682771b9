"""Writes evidence in another form into a folder.

In: a `View`, a run or all, a form. Out: files. What must never happen: a file outside of the folder that was named.
"""

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from taugen.diag import Refused
from taugen.evidence import export as forms
from taugen.evidence.export import source
from taugen.evidence.paths import AttemptKey
from taugen.pipeline import runs, which
from taugen.pipeline.view import View
from taugen.words.counts import counted


def chosen(view: View, run: str | None, workspace: str, directory: Path) -> list[AttemptKey]:
    """The attempts of a run; without one, of a workspace; without both, all. Raises `Refused` (exit 2) for a name that means nothing."""
    keys = which.named(view, run, directory).runs if run is not None else runs.placed(view, view.evidence.runs(workspace=workspace))
    return source.attempts(view.evidence, keys)


def export(view: View, attempts: Sequence[AttemptKey], form: str, folder: Path, progress: Callable[[str], None]) -> int:
    """Write those of the attempts that have a record; returns how many. Raises `Refused` (exit 2)."""
    progress(f"reading {counted(len(attempts), 'attempt')}")
    found = list(source.sources(view.evidence, attempts))
    if not found:
        hint = "taugen show RUN tells where a run stands"
        raise Refused("nothing to export: no attempt has ended and been recorded yet", hint=hint, code=2)
    progress(f"writing {counted(len(found), 'attempt')}")
    try:
        _write(folder, forms.files(form, found))
    except OSError as error:
        raise Refused(f"{error.filename or folder} can't be written: {error.strerror}", code=2) from None
    return len(found)


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts
        assert parts, path
        assert not {"..", "/"} & set(parts), path
        target = folder.joinpath(*parts)
        (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            target.write_bytes(content)
