"""Writes a file whole or not at all.

In: a place, its content and permissions. Out: the file. What must never happen: half a file, a draft that stays, a link by the file's name
followed.
"""

import os
from pathlib import Path


def write(target: Path, content: bytes, mode: int) -> None:
    """Put the content in the file's place, with the permissions `mode`. Raises `OSError`; then the file is as it was."""
    import tempfile  # which loads archives and their compressors

    handle, draft = tempfile.mkstemp(prefix=".taugen-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.chmod(draft, mode)
        os.replace(draft, target)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
