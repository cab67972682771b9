"""Makes the GitOps repository that is measured.

In: a number of runs. Out: a packed repository with a work tree, cached by its contents' digest in a temporary folder. The same number
always gives the same commit: no clock, no randomness. Ten shapes of runs as in `examples/` stand in `shapes/`, their code in `code/`,
policy in `fleet/`; twenty workspaces share them evenly. Every file of every run is its own blob, so that no cache of equal contents makes
the measurement kinder than a real repository.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
WORKSPACES = 20
WHEN = "1700000000 +0000"

# Shape -> files of its code tree: name in the run's folder -> template in code/.
PACKAGE = {
    "src/train.py": "tune.py",
    "src/space.py": "space.py",
    "src/planner/__init__.py": "__init__.py",
    "src/planner/costs.py": "losses.py",
    "src/planner/model.py": "model.py",
    "NOTES.md": "NOTES.md",
}
CODE: dict[str, dict[str, str]] = {
    "ray-small": {"train.py": "train.py", "data.py": "data.py"},
    "job-small": {"train.py": "train.py", "data.py": "data.py", "model.py": "model.py"},
    "gang": {"train.py": "train.py", "data.py": "data.py", "model.py": "model.py", "losses.py": "losses.py", "model.json": "model.json"},
    "gang-jobset": {"train.py": "train.py", "data.py": "data.py"},
    "cpu": {"align.sh": "align.sh", "count.py": "count.py", "README.md": "NOTES.md"},
    "ray-train": {"train.py": "train.py", "data.py": "data.py", "model.py": "model.py", "model.json": "model.json"},
    "ray-tune": {"train.py": "tune.py", "space.py": "space.py"},
    "image": {},
    "direct": {"train.py": "train.py", "data.py": "data.py"},
    "package": PACKAGE,
}
# Ten in a row: what most people run stands twice.
MIX = ("ray-small", "job-small", "gang", "cpu", "ray-train", "package", "ray-tune", "direct", "gang-jobset", "image")


def cache() -> Path:
    """The folder that generated repositories are kept in: outside of every repository, readable by its owner only."""
    folder = Path(tempfile.gettempdir()) / f"taugen-bench-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise SystemExit(f"{folder} belongs to another user: set TMPDIR to a folder of yours")
    return folder


def workspace(number: int) -> str:
    """The name of a run's workspace."""
    return f"team-{number % WORKSPACES:02d}"


def folder(number: int) -> str:
    """The folder of a run. The shapes go round within each workspace."""
    shape = shape_of(number)
    return f"workspaces/{workspace(number)}/{shape}/{number:06d}"


def shape_of(number: int) -> str:
    """The shape of a run."""
    return MIX[number // WORKSPACES % len(MIX)]


def _texts() -> dict[str, str]:
    """Every template by its path."""
    found = sorted(p for part in ("fleet", "shapes", "code") for p in (HERE / part).rglob("*.*"))
    return {p.relative_to(HERE).as_posix(): p.read_text() for p in found if p.suffix != ".pyc"}


def _filled(text: str, number: int) -> bytes:
    shown = text.replace("@run@", f"{shape_of(number)}-{number:06d}").replace("@workspace@", workspace(number))
    return shown.replace("@number@", str(1000 + number * 7)).encode()


def files(runs: int) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of the repository."""
    texts = _texts()
    for path, text in texts.items():
        if path.startswith("fleet/") and "/workspace/" not in path:
            yield path.removeprefix("fleet/"), text.encode()
    for number in range(WORKSPACES):
        yield f"policy/workspaces/{workspace(number)}.yaml", _filled(texts["fleet/workspace/workspace.yaml"], number)
    for number in range(runs):
        shape = shape_of(number)
        yield f"{folder(number)}/tau.yaml", _filled(texts[f"shapes/{shape}/tau.yaml"], number)
        for name, template in CODE[shape].items():
            yield f"{folder(number)}/{name}", _filled(texts[f"code/{template}"], number)


def git(repo: Path, *args: str, stdin: bytes | None = None) -> str:
    """Run git and return what it says."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"], "HOME": str(repo)}
    return subprocess.run(["git", *args], cwd=repo, env=quiet, input=stdin, check=True, capture_output=True).stdout.decode().strip()


def repository(runs: int, *, checkout: bool = True) -> Path:
    """The repository with that many runs on branch main, made if it is not in the cache. One that was worked in is reset."""
    texts = _texts()
    stamp = hashlib.sha256("\0".join([Path(__file__).read_text(), *(f"{k}\0{v}" for k, v in texts.items())]).encode()).hexdigest()[:12]
    target = cache() / f"{stamp}-{runs}{'' if checkout else '-bare'}"
    if target.is_dir():
        reset(target)
        return target
    making = Path(tempfile.mkdtemp(prefix="making-", dir=cache()))
    git(making, "init", "--quiet", "--initial-branch=main", *([] if checkout else ["--bare"]))
    _import(making, runs)
    git(making, "repack", "-adq")
    git(making, "pack-refs", "--all")
    if checkout:
        git(making, "config", "user.name", "Bench")
        git(making, "config", "user.email", "bench@bench.example")
        git(making, "reset", "--quiet", "--hard", "main")
    _remember(making / ".git" if checkout else making)
    making.rename(target)
    return target


def _import(repo: Path, runs: int) -> None:
    with subprocess.Popen(["git", "fast-import", "--quiet", "--date-format=raw"], cwd=repo, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        pipe = process.stdin
        pipe.write(f"commit refs/heads/main\ncommitter Bench <bench@bench.example> {WHEN}\ndata 5\nRuns\n\n".encode())
        for path, content in files(runs):
            mode = "100755" if path.endswith(".sh") else "100644"
            pipe.write(f"M {mode} inline {path}\ndata {len(content)}\n".encode() + content + b"\n")
    if process.returncode:
        raise SystemExit("git fast-import failed: the repository could not be made")


def reset(repo: Path) -> None:
    """Take a generated repository back to what it was when it was made: branches, work tree and objects."""
    made = (repo / "made.txt") if (repo / "HEAD").is_file() else repo / ".git" / "made.txt"
    commit, *packs = made.read_text().split()
    for ref in git(repo, "for-each-ref", "--format=%(refname)").split():
        if ref != "refs/heads/main":
            git(repo, "update-ref", "-d", ref)
    git(repo, "update-ref", "refs/heads/main", commit)
    if made.parent != repo:
        git(repo, "reset", "--quiet", "--hard")
        git(repo, "clean", "-dfxq")
    objects = made.parent / "objects"
    for path in objects.iterdir():
        if path.name == "pack":
            for file in path.iterdir():
                if file.stem not in packs:
                    file.unlink()
        elif path.name != "info":
            shutil.rmtree(path)


def _remember(folder: Path) -> None:
    """Note the commit and the packs, for `reset`."""
    packs = sorted({file.stem for file in (folder / "objects" / "pack").iterdir()})
    commit = git(folder, "rev-parse", "main")
    (folder / "made.txt").write_text("\n".join([commit, *packs]) + "\n")
