"""Where a run resumes: the newest complete checkpoint of its own, one answer for a whole gang."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from taugen.render.launch import script
from taugen.render.run import render_attempt
from taugen.resolve.run import Checkpoint
from tests.render import build
from tests.render.kubelet import Node

AUTO = Checkpoint("/ckpt", "30m", 3, "auto")
OWN, OTHER = "vision/segment-cells/8258c35f", "vision/other/00000000"
PRINT = {"train.py": b"import os\nprint(os.environ['TAU_RESUME_FROM'])\n"}


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("tau_checkpoint")
    exec(compile(script("tau_checkpoint.py"), "tau_checkpoint.py", "exec"), module.__dict__)
    monkeypatch.setenv("TAU_RUN_ID", OWN)
    monkeypatch.setenv("TAU_WORLD_SIZE", "4")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    return module


def checkpoint(folder: Path, step: int, run: str = OWN, *, files: Any = None, marker: bool = True, size: int = 10) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.pt").write_bytes(b"x" * size)
    if marker:
        listed = {"model.pt": {"size": 10, "sha256": "0" * 64}} if files is None else files
        (folder / "_TAU_COMPLETE.json").write_text(json.dumps({"run": run, "step": step, "world_size": 1, "files": listed}))
    return folder


def node(root: Path, *, resume_from: str = "", **changes: Any) -> Node:
    run = build.run(files=PRINT, checkpoint=changes.pop("checkpoint", AUTO), **changes)
    found = Node(root, render_attempt(run, build.reader(PRINT), 2, resume_from=resume_from))
    found.mount()
    (root / "ckpt").mkdir()
    return found


def test_the_newest_complete_checkpoint_is_chosen(tmp_path: Path) -> None:
    found = node(tmp_path, resume_from="/ckpt/manifest")
    ckpt = tmp_path / "ckpt"
    checkpoint(ckpt / "step-9", 9)
    best = checkpoint(ckpt / "step-10", 10)
    checkpoint(ckpt / "step-11", 11, marker=False)
    checkpoint(ckpt / "step-12", 12, size=9)
    checkpoint(ckpt / "step-13", 13, run=OTHER)
    checkpoint(ckpt / "step-14", 14, files={"model.pt": {"size": 10}, "optim.pt": {"size": 1}})
    (checkpoint(ckpt / "step-15", 15, marker=False) / "_TAU_COMPLETE.json").write_text('{"run": "vision/seg')
    (checkpoint(ckpt / "step-16", 16, marker=False) / "_TAU_COMPLETE.json.part").write_text("{}")
    assert found.out() == f"{best}\n"


@pytest.mark.parametrize("files", [{"model.pt": 10}, [{"path": "model.pt", "size": 10}], [{"name": "model.pt", "size": 10}]])
def test_other_ways_to_list_files(helper: ModuleType, tmp_path: Path, files: Any) -> None:
    checkpoint(tmp_path / "ckpt/a", 1, files=files)
    assert helper.newest(str(tmp_path / "ckpt"), OWN) == str(tmp_path / "ckpt/a")


@pytest.mark.parametrize("files", [None, "model.pt", 3, {"model.pt": None}, {"model.pt": {}}, [{"path": "model.pt"}]])
def test_a_marker_that_says_nothing_counts_for_nothing(helper: ModuleType, tmp_path: Path, files: Any) -> None:
    folder = checkpoint(tmp_path / "ckpt/a", 1, marker=False)
    (folder / "_TAU_COMPLETE.json").write_text(json.dumps({"run": OWN, "step": 1, "files": files}))
    assert helper.newest(str(tmp_path / "ckpt"), OWN) == ""


def test_the_manifest_is_the_fallback(tmp_path: Path) -> None:
    assert node(tmp_path / "a", resume_from="/elsewhere/7").out() == "/elsewhere/7\n"
    assert node(tmp_path / "b").out() == "\n"
    gone = node(tmp_path / "c", resume_from="/elsewhere/7")
    (tmp_path / "c/ckpt").rmdir()
    assert gone.out() == "/elsewhere/7\n"


def test_never_takes_the_manifests_word(tmp_path: Path) -> None:
    found = node(tmp_path, checkpoint=Checkpoint("/ckpt", None, None, "never"))
    checkpoint(tmp_path / "ckpt/a", 1)
    assert found.out() == "\n"


def test_another_run_is_continued_until_there_is_progress_of_its_own(tmp_path: Path) -> None:
    found = node(tmp_path, checkpoint=Checkpoint("/ckpt", None, None, OTHER))
    theirs = checkpoint(tmp_path / "ckpt/theirs", 100, run=OTHER)
    assert found.out() == f"{theirs}\n"
    own = checkpoint(tmp_path / "ckpt/own", 5)
    assert found.out() == f"{own}\n"


def test_without_python_the_program_starts(tmp_path: Path) -> None:
    files = {"run.sh": b'#!/bin/sh\necho "$TAU_RESUME_FROM" "$@"\n'}
    run = build.run(files=files, checkpoint=AUTO, program={"launcher": "shell", "file": "run.sh", "args": ("a b", "--", "c")})
    found = Node(tmp_path, render_attempt(run, build.reader(files), 2, resume_from="/x"), path="/nowhere")
    found.mount()
    assert found.out() == "/x a b -- c\n"


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    process = node(tmp_path, program={"launcher": "command", "file": None, "argv": ("nosuch",)}).start()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 127
    assert "can't start nosuch" in err
    assert "Traceback" not in err


def test_modules_of_the_user_do_not_reach_the_helper(tmp_path: Path) -> None:
    files = {**PRINT, "json.py": b"raise SystemExit(9)\n", "socket.py": b"raise SystemExit(9)\n"}
    found = Node(tmp_path, render_attempt(build.run(files=files, checkpoint=AUTO), build.reader(files), 2))
    found.mount()
    best = checkpoint(tmp_path / "ckpt/a", 1)
    assert found.out() == f"{best}\n"


def test_complete_writes_what_newest_reads(helper: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "ckpt/run/step-3"
    (folder / "rank0").mkdir(parents=True)
    (folder / "rank0/w.bin").write_bytes(b"abc")
    path = helper.complete(str(folder), 3)
    marker = json.loads(Path(path).read_text())
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert marker == {"run": OWN, "step": 3, "world_size": 4, "files": {"rank0/w.bin": {"size": 3, "sha256": digest}}}
    assert helper.newest(str(tmp_path / "ckpt"), OWN) == str(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["_TAU_COMPLETE.json", "rank0"]


def test_the_folder_itself_may_be_the_checkpoint(helper: ModuleType, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "ckpt", 4)
    assert helper.newest(str(folder), OWN) == str(folder)
    newer = checkpoint(folder / "step-5", 5)
    assert helper.newest(str(folder), OWN) == str(newer)


def test_prune_keeps_the_newest_and_other_runs(helper: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (1, 2, 3, 4):
        checkpoint(tmp_path / f"s{step}", step)
    checkpoint(tmp_path / "theirs", 0, run=OTHER)
    monkeypatch.setenv("TAU_CHECKPOINT_DIR", str(tmp_path))
    assert helper.prune() == []
    monkeypatch.setenv("TAU_CHECKPOINT_KEEP", "3")
    assert helper.prune() == [str(tmp_path / "s1")]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s2", "s3", "s4", "theirs"]


def test_commands_of_the_helper(tmp_path: Path) -> None:
    tool = tmp_path / "tau_checkpoint.py"
    tool.write_text(script("tau_checkpoint.py"))
    folder = checkpoint(tmp_path / "ckpt/a", 1, marker=False)
    env = {**os.environ, "TAU_RUN_ID": OWN, "TAU_CHECKPOINT_DIR": str(tmp_path / "ckpt")}

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(tool), *args], env=env, capture_output=True, text=True, check=False)

    assert call("complete", str(folder), "7").stdout == f"{folder}/_TAU_COMPLETE.json\n"
    assert call("newest").stdout == f"{folder}\n"
    assert call("prune").stdout == ""
    assert call("complete").returncode == 2


# ----------------------------------------------------------------------------------------------------------------- gangs


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def gang(tmp_path: Path, count: int = 3) -> tuple[list[Node], dict[str, str]]:
    nodes = [node(tmp_path / str(rank), kind="job", nodes=count, resume_from="/x") for rank in range(count)]
    return nodes, {"MASTER_ADDR": "127.0.0.1", "TAU_RESUME_PORT": free_port(), "TAU_RESUME_PATIENCE": "20"}


def test_a_gang_resumes_where_rank_0_says(tmp_path: Path) -> None:
    nodes, env = gang(tmp_path)
    best = checkpoint(tmp_path / "0/ckpt/new", 8)
    checkpoint(tmp_path / "1/ckpt/old", 3)  # what a slow file system shows rank 1
    started = [nodes[rank].start(JOB_COMPLETION_INDEX=str(rank), **env) for rank in (1, 2)]
    time.sleep(0.3)
    started.append(nodes[0].start(JOB_COMPLETION_INDEX="0", **env))
    assert [process.communicate(timeout=40)[0] for process in started] == [f"{best}\n"] * 3


def test_a_gang_that_stays_incomplete_ends(tmp_path: Path) -> None:
    nodes, env = gang(tmp_path)
    env["TAU_RESUME_PATIENCE"] = "4"
    started = [nodes[rank].start(JOB_COMPLETION_INDEX=str(rank), **env) for rank in (0, 1)]
    results = [process.communicate(timeout=40) for process in started]
    assert started[0].returncode == 1
    assert "ranks [2] did not ask where to resume" in results[0][1]
    assert not results[0][0]


def test_ranks_of_another_attempt_are_not_answered(tmp_path: Path) -> None:
    nodes, env = gang(tmp_path, 2)
    env["TAU_RESUME_PATIENCE"] = "2"
    started = [nodes[0].start(JOB_COMPLETION_INDEX="0", **env), nodes[1].start(JOB_COMPLETION_INDEX="1", TAU_ATTEMPT="1", **env)]
    out = [process.communicate(timeout=40) for process in started]
    assert [process.returncode for process in started] == [1, 1]
    assert "rank 0 (127.0.0.1) did not say" in out[1][1]


def test_noise_at_the_port_does_not_disturb(tmp_path: Path) -> None:
    nodes, env = gang(tmp_path, 2)
    best = checkpoint(tmp_path / "0/ckpt/new", 8)
    first = nodes[0].start(JOB_COMPLETION_INDEX="0", **env)
    for noise in (b"GET / HTTP/1.0\r\n\r\n", b"\xff\xfe\n", b'{"name": 3}\n', b"[]\n", b""):
        until = time.monotonic() + 10
        while True:
            try:
                with socket.create_connection(("127.0.0.1", int(env["TAU_RESUME_PORT"])), timeout=1) as probe:
                    probe.sendall(noise)
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
    second = nodes[1].start(JOB_COMPLETION_INDEX="1", **env)
    assert [p.communicate(timeout=40)[0] for p in (first, second)] == [f"{best}\n"] * 2


def test_ray_workers_are_told_too(tmp_path: Path) -> None:
    files = {"train.py": b"import os\nprint(os.environ['RAY_JOB_CONFIG_JSON_ENV_VAR'])\n"}
    run = build.run(kind="rayjob", files=files, checkpoint=AUTO, program={"launcher": "ray", "python": sys.executable})
    found = Node(tmp_path, render_attempt(run, build.reader(files), 1))
    found.mount()
    best = checkpoint(tmp_path / "ckpt/a", 1)
    told = json.loads(found.out(RAY_JOB_CONFIG_JSON_ENV_VAR='{"runtime_env": {"pip": ["x"]}, "metadata": {}}'))
    assert told == {"runtime_env": {"pip": ["x"], "env_vars": {"TAU_RESUME_FROM": str(best)}}, "metadata": {}}
