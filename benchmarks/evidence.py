"""How long `taugen evidence verify` takes: a branch of 100,000 records, each with its events, in commits of 50 attempts.

`python -m benchmarks.evidence [RECORDS]` makes the branch in a temporary folder, proves it, and prints the time. Making it takes longer.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from taugen.evidence import record, trailers
from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import RunKey
from taugen.evidence.record import Extras
from taugen.evidence.store import Branch
from taugen.evidence.verify import verify
from taugen.load import fastimport, git

A_COMMIT = 50
KINDS = ("submitted", "queued", "admitted", "succeeded")


def batches(records: int) -> Iterator[dict[str, bytes]]:
    """The files of each commit."""
    for start in range(0, records, A_COMMIT):
        files: dict[str, bytes] = {}
        for number in range(start, min(start + A_COMMIT, records)):
            attempt = RunKey("fjord", f"workspace-{number % 40}", f"run-{number * 2654435761 % 2**32:08x}").attempt(1)
            events = [Event(EventType(kind), f"2026-05-04T10:{minute:02}:00Z", f"{number:x}") for minute, kind in enumerate(KINDS)]
            files |= {event.path(attempt): event.content() for event in events}
            files[attempt.record] = record.content(record.build(attempt, {}, events, Extras(collector="0.1")))
        yield files


def made(folder: Path, records: int) -> Branch:
    """The branch."""
    git.run(["init", "--quiet", "--bare", "."], cwd=folder)
    who = "taugen collector fjord <collector@taugen.dev> 1777888920 +0000"
    process = git.start(["fast-import", "--quiet", "--done"], cwd=folder)
    assert process.stdin is not None
    for files in batches(records):
        text = trailers.message("evidence", trailers.of(files))
        process.stdin.write(f"commit refs/heads/evidence\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text)
        for path, content in files.items():
            process.stdin.write(b"M 100644 inline %b\ndata %d\n%b\n" % (fastimport.quoted(path), len(content), content))
    git.feed(process, [b"done\n"])
    process.wait()
    return Branch(folder, git.resolve(folder, "refs/heads/evidence"))


def main() -> None:
    """Make, prove, print."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        branch = made(Path(folder), records)
        start, before = time.perf_counter(), os.times()
        proof = verify(branch)
        branch.close()
        seconds, after = time.perf_counter() - start, os.times()
        busy = sum(after[:4]) - sum(before[:4])
    assert not proof.findings
    assert proof.records == records
    print(f"verify: {records:,} records, {proof.files:,} files, {proof.commits:,} commits: {seconds:.1f} s, {busy:.1f} s of processors")


if __name__ == "__main__":
    main()
