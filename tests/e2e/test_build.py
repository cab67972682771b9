"""Where the control plane cannot be built `make e2e` says so and succeeds; a wrong component fails with the compiler's words."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT

OFFLINE = 'go: k8s.io/kubernetes@v1.36.3: Get "https://proxy.example/@v/v1.36.3.mod": dial tcp: lookup proxy.example: no such host'
WRONG = "cmd/kube-apiserver/apiserver.go:31:2: undefined: nothing"


def play(tmp_path: Path, *args: str, go: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m tests.e2e` with an empty cache and a `go` of this script, none without one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("kubectl", "openssl", "unshare", "nice", "sh", "sleep", *(["go"] if go else [])):
        file = programs / name
        if name == "go":
            file.write_text(f"#!/bin/sh\n{go}\n")
            file.chmod(0o755)
        else:
            file.symlink_to(next(path for folder in os.environ["PATH"].split(":") if (path := Path(folder, name)).exists()))
    env = os.environ | {"PATH": str(programs), "TAUGEN_E2E_CACHE": str(tmp_path / "cache")}
    argv = [sys.executable, "-m", "tests.e2e", *args]
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "words", [OFFLINE, "go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)", "write: no space left on device"]
)
def test_what_cannot_be_fetched_is_skipped(tmp_path: Path, words: str):
    done = play(tmp_path, go=f"echo '{words}' >&2; exit 1")
    assert done.returncode == 0
    assert "The end-to-end tests are skipped: etcd: go build failed" in done.stderr
    assert words in done.stderr


def test_what_does_not_compile_fails(tmp_path: Path):
    done = play(tmp_path, go=f"echo '{WRONG}' >&2; exit 1")
    assert done.returncode == 1
    assert WRONG in done.stderr
    assert "skipped" not in done.stderr


def test_what_takes_too_long_is_given_up(tmp_path: Path):
    began = time.monotonic()
    done = play(tmp_path, "--within", "0", go="sleep 300")
    assert done.returncode == 0
    assert "no time was left to build etcd" in done.stderr
    assert time.monotonic() - began < 30


def test_without_go_a_sentence_says_what_is_needed(tmp_path: Path):
    done = play(tmp_path)
    assert done.returncode == 0
    assert "need Go 1.26" in done.stderr
