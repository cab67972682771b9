"""A pull request from a fork, and the machine that judges it.

The machine is set up the way CI images are: git knows LFS, a credential helper, filters, a text converter. Each program that a repository
could make git or taugen start leaves a mark when it runs, and a file outside of the repository holds a word that must never be printed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.gitkit import commit, git, make_repo, write
from tests.policykit import FIXTURE

ROOT = Path(__file__).resolve().parents[2]
PROBE = "workspaces/climate/probe"
RUN = """\
name: probe
run:
  entrypoint: train.py
  workload_kind: job
runtime:
  image: registry.tern.example/climate/torch@sha256:1111111111111111111111111111111111111111111111111111111111111111
compute: {cpus: 1, memory: 1Gi}
policy: {profile: cpu}
"""
SECRET = "k3ep-0ut-0f-reach"
TOKEN = "ghp_" + "k3ep0ut0freach" * 2 + "12345678"
SECONDS, MEBIBYTES = 2.0, 300
"""What a whole process may use, by the clock and of processors, and of memory."""
FORMATS = ("json", "github", "gitlab", "sarif", "junit", "markdown")
_PROGRAMS = ("git-lfs", "git-remote-evil", "git-credential-evil", "ssh", "curl", "evil")


@dataclass
class Fork:
    """A repository with the commit that a fork proposes still to be made, on branch topic; `outside` is the machine's own folder.

    `args` are more arguments of the command; `later` is what happens to the checkout after the commit.
    """

    repo: Path
    outside: Path
    links: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    later: list[Callable[[], object]] = field(default_factory=list)

    def put(self, files: dict[str, str | bytes | None]) -> None:
        """Write files, a name without a folder beside the run."""
        write(self.repo, {path if "/" in path else f"{PROBE}/{path}": text for path, text in files.items()})

    def run(self, *changes: tuple[str, str], more: str = "") -> None:
        """Write the run, with texts replaced and lines added."""
        text = RUN
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.put({"tau.yaml": text + more})

    def link(self, name: str, target: str) -> None:
        """Make a symbolic link."""
        path = self.repo / (name if "/" in name else f"{PROBE}/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    def entry(self, mode: str, path: str, blob: str) -> None:
        """Put an entry into the index that no file system could hold."""
        git(self.repo, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")


@dataclass(frozen=True)
class Verdict:
    """What `check` did: its exit code, what it printed in each format, seconds (of processors, and by the clock) and MiB."""

    code: int
    text: str
    err: str
    printed: dict[str, str]
    seconds: float
    wall: float
    memory: float


def fork(folder: Path) -> Fork:
    """The fixture on main, and a branch with one run more."""
    repo, outside = folder / "repo", folder / "machine"
    shutil.copytree(FIXTURE, repo)
    make_repo(repo)
    commit(repo, {f"{PROBE}/tau.yaml": RUN, f"{PROBE}/train.py": "print()\n"})
    git(repo, "checkout", "-q", "-b", "topic")
    for made in ("bin", "home", "marks", "reports"):
        (outside / made).mkdir(parents=True)
    (outside / "secret").write_text(SECRET + "\n")
    taugen = outside / "bin" / "taugen"
    taugen.write_text(
        f"#!{sys.executable}\nfrom taugen.__main__ import main\nmain()\n"
    )  # as pip makes it: the current folder is not on the path
    taugen.chmod(0o755)
    for name in _PROGRAMS:
        program = outside / "bin" / name
        program.write_text(f'#!/bin/sh\ntouch "{outside}/marks/{name}"\n')
        program.chmod(0o755)
    (outside / "home" / ".gitconfig").write_text(_CONFIG)
    return Fork(repo, outside)


_CONFIG = f"""\
[filter "lfs"]
  clean = git-lfs clean -- %f
  smudge = git-lfs smudge -- %f
  process = git-lfs filter-process
  required = true
[filter "evil"]
  clean = evil
  smudge = evil
[diff "evil"]
  textconv = evil
  command = evil
[merge "evil"]
  driver = evil
[core]
  hooksPath = .githooks
  fsmonitor = .githooks/fsmonitor
  sshCommand = evil
[credential]
  helper = evil
[alias]
  ls-files = !evil
  diff-index = !evil
[http]
  extraHeader = "Authorization: {SECRET}"
"""


def propose(made: Fork, change: Callable[[Fork], None]) -> None:
    """Make the fork's commit."""
    change(made)
    git(made.repo, "add", "-A", "--sparse", ".") if not made.links else None
    git(made.repo, "commit", "-q", "--allow-empty", "-m", "proposal")
    for act in made.later:
        act()
    for mark in (made.outside / "marks").iterdir():
        mark.unlink()  # of the git that made the commit


def judge(made: Fork, *args: str) -> Verdict:
    """Run `taugen check` as the shipped workflow does, in every format at once."""
    reports = {form: made.outside / "reports" / form for form in FORMATS}
    outputs = [word for form, path in reports.items() for word in ("--output", f"{form}:{path}")]
    env = {
        "PATH": f"{made.outside}/bin:{os.environ['PATH']}",
        "HOME": str(made.outside / "home"),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TAUGEN_CACHE": str(made.outside / "cache"),
    }
    out, err, used = made.outside / "out", made.outside / "err", made.outside / "used"
    command = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(used), str(made.outside / "bin" / "taugen"), "check", "--trusted", "main"]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        subprocess.run(
            [*command, *outputs, *args],
            cwd=made.repo,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=True,
            timeout=60,
        )
    printed = {form: path.read_text(encoding="utf-8") if path.exists() else "" for form, path in reports.items()}
    code, seconds, wall, kibibytes = used.read_text().split()
    return Verdict(int(code), out.read_text(), err.read_text(), printed, float(seconds), float(wall), int(kibibytes) / 1024)


def allowed() -> float:
    """Seconds by the clock that a whole process may take here: `SECONDS`, and more by as much as others keep the machine busy."""
    return SECONDS * max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


# Between the tests and the command, since a process counts as its own what the one held that it was forked from.
_LAUNCH = """
import os, resource, subprocess, sys, time
began = time.monotonic()
code = subprocess.run(sys.argv[2:]).returncode
wall = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{code} {used.ru_utime + used.ru_stime} {wall} {used.ru_maxrss}")
"""
