"""Real Git repositories for tests: the same files, author and date give the same commit id on every machine."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

DATE = "2026-01-02T03:04:05+00:00"


def git(repo: Path, *args: str, stdin: bytes | None = None, date: str = DATE) -> str:
    """Run plain git, as a user would, without the machine's configuration; returns its output without the last line break."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_COMMITTER_DATE": date,
        "LC_ALL": "C",
        "TZ": "UTC",
    }
    config = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false")
    done = subprocess.run(["git", *config, *args], cwd=repo, env=env, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, f"git {args}: {done.stderr.decode()}"
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Write files below `root`; None removes one."""
    for name, content in files.items():
        target = root / name
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(repo: Path, files: Mapping[str, str | bytes | None] | None = None, message: str = "change", date: str = DATE) -> str:
    """Write `files`, commit everything that changed, return the commit's id."""
    write(repo, files or {})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", message, date=date)
    return git(repo, "rev-parse", "HEAD")


def make_repo(path: Path, files: Mapping[str, str | bytes | None] | None = None, *, object_format: str = "sha1") -> Path:
    """A new repository on branch main; with `files`, they are its first commit."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", f"--object-format={object_format}")
    if files is not None:
        commit(path, files, "first")
    return path


def make_bare(path: Path) -> Path:
    """A new bare repository, as a server would hold it."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "--bare")
    return path
