"""How long `taugen runs` and `taugen show` take on a branch of 100,000 attempts, with nothing kept from before and with it, in a clone and
from a URL, with and without the summaries that collectors write.

`python -m benchmarks.readers [ATTEMPTS]` makes the branch in a temporary folder, runs the commands, and prints their times. Making it takes
longer: over a million files.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from benchmarks.rows import TAUGEN
from taugen.evidence import index, summarize, summary
from taugen.evidence.event import API_VERSION
from taugen.evidence.paths import AttemptKey, RunKey
from taugen.load import fastimport, git
from taugen.load.partial import Objects

KINDS = ("submitted", "queued", "reserved", "admitted", "pod-started", "ready", "pod-ended", "succeeded")
RUNS = "run: {workspace}/train-{number}/{digest}\nphase: live\nintent:\n  source: workspaces/{workspace}/{number}/tau.yaml\nobject: {run}\n"
PROJECT = "apiVersion: taugen.dev/v1alpha1\nkind: Project\nmetadata: {name: many}\nspec: {}\n"


def attempt(number: int) -> AttemptKey:
    """One of many: on 2 clusters, in 10 workspaces."""
    digest = sha256(b"%d" % number).hexdigest()[:8]
    return RunKey(("fjord", "mesa")[number % 2], f"workspace-{number % 10}", f"train-{number}-{digest}").attempt(1)


def files(number: int) -> Iterator[tuple[str, str]]:
    """What stands on the branch of one attempt: 11 files."""
    one = attempt(number)
    run = one.of
    yield run.intent, RUNS.format(workspace=run.workspace, number=number, digest=run.run[-8:], run=run.run)
    ended = number % 7 != 0
    for at, kind in enumerate(KINDS if ended else KINDS[:6]):
        key = sha256(f"{number} {kind}".encode()).hexdigest()[:16]
        kind_ = "failed" if kind == "succeeded" and number % 11 == 0 else kind
        time_ = f"2026-{1 + number % 9:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:{at:02}Z"
        name = time_.replace("-", "").replace(":", "")
        body = f'{{"apiVersion":"{API_VERSION}","data":{{}},"time":"{time_}","type":"{kind_}","uid":"{key}"}}\n'
        yield f"{one.folder}/events/{name}-{kind_}-{key}.json", body
    yield one.log("p-0", "main", 0), f"log of {run.run}\n"
    if ended:
        yield one.record, f'{{"id":"{run.run}"}}\n'


def make(folder: Path, attempts: int) -> None:
    """A project whose evidence branch holds so many attempts."""
    (folder / "taugen.yaml").write_text(PROJECT)
    own = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.compression=1"]
    for args in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "project"]):
        subprocess.run([*own, *args], cwd=folder, check=True)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run([*own, "config", key, "true"], cwd=folder, check=True)
    process = subprocess.Popen([*own, "fast-import", "--quiet", "--done"], cwd=folder, stdin=subprocess.PIPE)
    assert process.stdin is not None
    who = b"taugen collector fjord <c@example.org> 1788220800 +0000"
    process.stdin.write(b"commit refs/heads/evidence\ncommitter %b\ndata 9\nevidence\n\n" % who)
    for number in range(attempts):
        for path, content in files(number):
            process.stdin.write(f"M 100644 inline {path}\ndata {len(content)}\n{content}\n".encode())
    process.stdin.write(b"done\n")
    process.stdin.close()
    assert process.wait() == 0


def summarize_all(folder: Path) -> None:
    """Write the summaries of both clusters, as their collectors would."""
    tip = git.resolve(folder, "refs/heads/evidence")
    who = b"taugen collector <c@example.org> 1788220800 +0000"
    with Objects(folder) as objects:
        for cluster in ("fjord", "mesa"):
            runs = summarize.runs_in(objects, index.buckets(objects, tip, [cluster]))
            changes = list(summarize.changed(objects, runs, None))
            made = fastimport.commit_tree(folder, parents=[], message=b"summary\n", author=who, committer=who, changes=changes)
            fastimport.update_ref(folder, f"refs/heads/{summary.branch_of('evidence', cluster)}", made, None)


def timed(what: str, args: list[str], cwd: Path, env: dict[str, str]) -> None:
    """Run a command; print its time, and that of processors."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run([*TAUGEN, *args], cwd=cwd, env=env, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, os.times()
    assert done.returncode == 0, done.stderr.decode()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{what:<45} {wall:6.2f} s, {busy:6.2f} s of processors", flush=True)


def main() -> None:
    """Make, read, print."""
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "many"
        project.mkdir()
        make(project, attempts)
        env = {**os.environ, "TAUGEN_CACHE": f"{folder}/cache", "PYTHONPATH": str(Path.cwd())}
        name = attempt(attempts // 2).of.run
        url = project.as_uri()
        print(f"{attempts:,} attempts")
        timed("clone without summaries, runs, first", ["runs"], project, env)
        shutil.rmtree(project / ".git" / "taugen")
        timed("URL without summaries, runs, first", ["runs", "--from", url], project, env)
        shutil.rmtree(Path(folder) / "cache")
        summarize_all(project)
        timed("clone, runs, first", ["runs"], project, env)
        timed("clone, runs", ["runs"], project, env)
        timed("clone, runs --workspace --state", ["runs", "--workspace", "workspace-3", "--state", "failed"], project, env)
        timed("clone, show", ["show", name], project, env)
        timed("URL, runs, first", ["runs", "--from", url], project, env)
        timed("URL, runs", ["runs", "--from", url], project, env)
        timed("URL, show", ["show", name, "--from", url], project, env)


if __name__ == "__main__":
    main()
