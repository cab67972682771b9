"""Rendered pods run: the delivered tree, the launch script, the program, on a real shell."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from taugen.render.run import render_run
from taugen.resolve.run import Checkpoint, Code, EnvVar, ImageCopy
from tests.render import build
from tests.render.kubelet import Node, fake_python, pod_spec

SHOW = b"""import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}))
"""
SHELLS = [s for s in ("dash", "bash", "busybox") if shutil.which(s)]


def node(tmp_path: Path, files: dict[str, bytes] | None = None, **changes: Any) -> Node:
    files = {"train.py": SHOW} if files is None else files
    found = Node(tmp_path, render_run(build.run(files=files, **changes), build.reader(files)))
    found.mount()
    return found


def test_program_finds_its_package_and_its_folder(tmp_path: Path) -> None:
    show = b"print(sum(rows()), os.path.basename(os.getcwd()), common.X)\n"
    files = {
        "src/train.py": b"import os\nfrom helpers.data import rows\nimport common\n" + show,
        "src/helpers/__init__.py": b"",
        "src/helpers/data.py": b"def rows():\n    return [1, 2, 3]\n",
        "common.py": b"X = 7\n",
    }
    out = node(tmp_path, files, program={"file": "src/train.py"}).out()
    number, folder, common = out.split()
    assert (number, common) == ("6", "7")
    assert folder in {"code", "..2025_11_30_12_00_00.1234"}


def test_a_sibling_folder_keeps_its_place(tmp_path: Path) -> None:
    files = {
        "exp/a.txt": b"here",
        "lib/train.py": b"import util\nprint(open('a.txt').read(), util.NAME)\n",
        "lib/util.py": b"NAME = 'lib'\n",
    }
    changes = {"code": build.code(files, base="exp"), "program": {"file": "../lib/train.py"}}
    assert node(tmp_path, files, **changes).out() == "here lib\n"


ODD = (
    "--out",
    "${OUT:-/x}/y",
    "$5",
    "$$",
    "$(HOME)",
    "$$(A)",
    "a b",
    "it's",
    'say "hi"',
    "*",
    "~",
    "",
    "-n",
    "\\",
    "`id`",
    "a\nb",
    "ünï",
    ";",
    "$",
)


@pytest.mark.parametrize("kind", ["job", "rayjob"])
def test_arguments_and_variables_arrive_as_typed(tmp_path: Path, kind: str) -> None:
    variables = tuple(EnvVar(f"V{at}", text) for at, text in enumerate(ODD))
    changes: dict[str, Any] = {"launcher": "ray" if kind == "rayjob" else "python", "args": ODD, "python": sys.executable}
    seen = json.loads(node(tmp_path, kind=kind, program=changes, env=variables, engine="flux").out())
    assert tuple(seen["argv"]) == ODD
    assert tuple(seen["env"][f"V{at}"] for at in range(len(ODD))) == ODD


def test_a_shell_entrypoint_gets_its_arguments(tmp_path: Path) -> None:
    loop = b'for f in "${@:-none}"; do\n  printf "%s|" "${f%.txt}" "${#f}" "$((1 + 1))"\ndone\n'
    files = {"run.sh": b"#!/usr/bin/env bash\nset -euo pipefail\n" + loop}
    out = node(tmp_path, files, program={"launcher": "shell", "file": "run.sh", "args": ("a b.txt", "$HOME", "*")}).out()
    assert out == "a b|7|2|$HOME|5|2|*|1|2|"


def test_a_command_is_run_as_it_is(tmp_path: Path) -> None:
    program = {"launcher": "command", "file": None, "argv": ("printf", "%s|", "a $b"), "args": ("c'd",)}
    assert node(tmp_path, program=program, code=Code("image", "says so", root="")).out() == "a $b|c'd|"


def test_config_flags_follow_the_arguments(tmp_path: Path) -> None:
    seen = json.loads(node(tmp_path, program={"args": ("--fold", "3"), "flags": ("--epochs=3", "--lr=7e-2")}).out())
    assert seen["argv"] == ["--fold", "3", "--epochs=3", "--lr=7e-2"]


def test_working_dir_of_the_container(tmp_path: Path) -> None:
    found = node(tmp_path, working_dir="/data/work")
    (tmp_path / "data/work").mkdir(parents=True)
    assert json.loads(found.out())["cwd"] == str(tmp_path / "data/work")


def test_code_from_an_image_is_entered(tmp_path: Path) -> None:
    found = node(tmp_path, code=Code("image", "source"), copies=(ImageCopy("source", build.IMAGE, "/app", "/tau/code"),))
    (tmp_path / "tau/code/train.py").write_bytes(SHOW)
    assert json.loads(found.out())["cwd"] == str(tmp_path / "tau/code")


def test_python_path_keeps_the_images_own(tmp_path: Path) -> None:
    found = node(tmp_path)
    path = json.loads(found.out(PYTHONPATH="/opt/own"))["env"]["PYTHONPATH"]
    assert path == f"/opt/own:{tmp_path}/tau/code:{tmp_path}/tau/launch"


def test_setup_lines_reach_the_program_and_have_bash(tmp_path: Path) -> None:
    setup = "names=(a b)\nexport FROM_SETUP=${names[1]}$UNSET\n"
    assert json.loads(node(tmp_path, program={"setup": setup}).out())["env"]["FROM_SETUP"] == "b"


def test_failing_setup_stops_the_start(tmp_path: Path) -> None:
    process = node(tmp_path, program={"setup": "false\necho on"}).start()
    out, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    assert not out


def test_setup_on_ray_runs_before_ray_in_its_shell(tmp_path: Path) -> None:
    found = node(tmp_path, kind="rayjob", program={"launcher": "ray", "setup": "export FROM_SETUP=1"})
    container = found.run["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    (tmp_path / "tmp").mkdir()
    joined = "".join(f" {word} " for word in container["command"])  # KubeRay common/pod.go convertCmdToString
    shell = found.moved(f"{joined} && ulimit -n 1024; echo $FROM_SETUP")
    assert subprocess.run(["bash", "-lc", "--", shell], capture_output=True, text=True, check=True).stdout == "1\n"


def test_failing_setup_on_ray_fails_the_job(tmp_path: Path) -> None:
    found = node(tmp_path, kind="rayjob", program={"launcher": "ray", "python": sys.executable, "setup": "false\necho on"})
    (tmp_path / "tmp").mkdir()
    for group, ended in (("head", 0), ("workers", 1)):
        container = pod_spec(found.run, group)["containers"][0]
        shell = found.moved("".join(f" {word} " for word in container["command"]) + "&& ulimit -n 1024; echo ray start")
        done = subprocess.run(["bash", "-c", "--", shell], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (ended, "ray start\n" if group == "head" else "")
    process = found.start()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert "the setup lines failed" in err


def test_pip_falls_back_to_the_user(tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = fake_python(tmp_path / "bin", f'if [ "$2" = pip ]; then echo "$*" >>{log}; case $* in *--user) exit 0;; *) exit 1;; esac; fi')
    found = node(tmp_path, program={"pip": ("torch>=2.4.0", "a[b]==1; python_version<'4'")})
    found.path = path
    env = json.loads(found.out())["env"]
    first, second = log.read_text().splitlines()
    assert first == "-m pip install --disable-pip-version-check --no-input torch>=2.4.0 a[b]==1; python_version<'4'"
    assert second == first + " --user"
    assert env["PATH"].startswith(env["PYTHONUSERBASE"] + "/bin:")


def test_pip_that_fails_stops_the_start(tmp_path: Path) -> None:
    found = node(tmp_path, program={"pip": ("nothing",)})
    found.path = fake_python(tmp_path / "bin", 'if [ "$2" = pip ]; then exit 3; fi')
    process = found.start()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 3
    assert not out


def test_ray_leaves_pip_to_the_runtime_environment(tmp_path: Path) -> None:
    found = node(tmp_path, kind="rayjob", program={"launcher": "ray", "pip": ("torch>=2.4.0",)})
    assert found.run["spec"]["runtimeEnvYAML"] == "pip:\n- torch>=2.4.0\n"
    assert "pip install" not in found.configmap["data"]["launch.sh"]


TERM = b"""import os, signal, sys, time
def stop(*_):
    os.write(1, b"saved\\n")
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
os.write(1, b"ready\\n")
time.sleep(60)
"""


@pytest.mark.parametrize("changes", [{}, {"checkpoint": Checkpoint("/ckpt", None, None, "auto")}, {"program": {"setup": "true"}}])
def test_sigterm_reaches_the_program(tmp_path: Path, changes: dict[str, Any]) -> None:
    process = node(tmp_path, {"train.py": TERM}, **changes).start()
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (3, "saved\n")


def test_sigterm_ends_an_installation(tmp_path: Path) -> None:
    started = tmp_path / "started"
    found = node(tmp_path, program={"pip": ("x",)})
    found.path = fake_python(tmp_path / "bin", f'if [ "$2" = pip ]; then touch {started}; exec sleep 60; fi')
    process = found.start()
    until = time.monotonic() + 20
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 143


# ------------------------------------------------------------------------------------------------------------- torchrun

STUB = Path(__file__).parent / "stub"
RANK = b"""import json, os, sys
keys = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TAU_WORLD_SIZE")
line = json.dumps({**{k: os.environ[k] for k in keys}, "argv": sys.argv[1:], "flags": os.environ["STUB_FLAGS"]})
os.write(1, line.encode() + b"\\n")
"""


def ranks(out: str) -> list[dict[str, Any]]:
    return sorted((json.loads(line) for line in out.splitlines()), key=lambda r: int(r["RANK"]))


def test_torchrun_starts_every_process_of_a_node(tmp_path: Path) -> None:
    program = {"launcher": "torchrun", "args": ("--fold", "$3 x"), "flags": ("--max-restarts=0",)}
    found = node(tmp_path, {"train.py": RANK}, processes=2, program=program)
    seen = ranks(found.out(PYTHONPATH=str(STUB)))
    assert [(r["RANK"], r["WORLD_SIZE"], r["TAU_WORLD_SIZE"]) for r in seen] == [("0", "2", "2"), ("1", "2", "2")]
    assert all(r["argv"] == ["--fold", "$3 x"] and r["flags"] == "--max-restarts=0 standalone" for r in seen)


@pytest.mark.parametrize("kind", ["job", "jobset"])
def test_torchrun_gang_knows_its_rank_and_master(tmp_path: Path, kind: str) -> None:
    found = node(tmp_path, {"train.py": RANK}, kind=kind, nodes=2, processes=2, program={"launcher": "torchrun"})
    seen = ranks(found.out(PYTHONPATH=str(STUB), JOB_COMPLETION_INDEX="1"))
    name = found.run["metadata"]["name"]
    assert [r["RANK"] for r in seen] == ["2", "3"]
    master = f"{name}-0.{name}" if kind == "job" else f"{name}-node-0-0.{name}"
    assert {(r["WORLD_SIZE"], r["TAU_WORLD_SIZE"], r["MASTER_ADDR"], r["MASTER_PORT"]) for r in seen} == {("4", "4", master, "29500")}


def test_torchrun_runs_a_command(tmp_path: Path) -> None:
    program = {"launcher": "torchrun", "file": None, "argv": ("sh", "-c", 'echo "$RANK $1"', "x"), "args": ("a b",)}
    assert sorted(node(tmp_path, processes=2, program=program).out(PYTHONPATH=str(STUB)).splitlines()) == ["0 a b", "1 a b"]


GLOO = b"""import torch, torch.distributed as dist
dist.init_process_group("gloo")
t = torch.ones(1) * (dist.get_rank() + 1)
dist.all_reduce(t)
print(int(t.item()), dist.get_world_size(), flush=True)
"""


def test_torchrun_for_real(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="pip install torch")
    found = node(tmp_path, {"train.py": GLOO}, processes=2, program={"launcher": "torchrun", "python": sys.executable})
    assert found.out().splitlines() == ["3 2", "3 2"]


# --------------------------------------------------------------------------------------------------------------- checkout


def git(*args: str, cwd: Path) -> str:
    env = {**os.environ, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@e", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@e"}
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True, env=env).stdout.strip()


def checkout(found: Node, **changes: str) -> subprocess.CompletedProcess[str]:
    spec = found.run["spec"]["template"]["spec"]
    init = spec["initContainers"][0]
    found.mount(container=init)
    env = found.environment(init) | changes
    return subprocess.run([found.moved(word) for word in init["command"]], env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    (folder / "exp").mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=folder)
    (folder / "exp/run.sh").write_text("#!/bin/sh\necho first\n")
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "one", cwd=folder)
    return folder


def test_checkout_of_a_commit(tmp_path: Path, origin: Path) -> None:
    commit = git("rev-parse", "HEAD", cwd=origin)
    (origin / "exp/run.sh").write_text("#!/bin/sh\necho second\n")
    git("commit", "-qam", "two", cwd=origin)
    root = tmp_path / "node"
    code = Code("git", "says so", base="exp", url=f"file://{origin}", commit=commit)
    found = Node(root, render_run(build.run(code=code, program={"launcher": "shell", "file": "run.sh"}), build.reader({})))
    assert checkout(found).returncode == 0
    assert found.out() == "first\n"


def test_checkout_goes_through_the_runs_proxy() -> None:
    code = Code("git", "says so", url="https://git.example/x.git", commit="0" * 40)
    env = (EnvVar("HTTPS_PROXY", "http://proxy:3128"), EnvVar("LR", "1"), EnvVar("no_proxy", secret="a", key="b"))
    job: Any = render_run(build.run(code=code, env=env), build.reader({}))[-1].obj
    checkout = job["spec"]["template"]["spec"]["initContainers"][0]
    assert [e["name"] for e in checkout["env"]] == ["HTTPS_PROXY", "TAU_GIT_COMMIT", "TAU_GIT_ROOT", "TAU_GIT_URL"]


def test_checkout_says_what_is_missing(tmp_path: Path, origin: Path) -> None:
    code = Code("git", "says so", url=f"file://{origin}", commit="0" * 40)
    found = Node(tmp_path / "a", render_run(build.run(code=code), build.reader({})))
    assert checkout(found).returncode != 0
    bare = tmp_path / "bin"
    bare.mkdir()
    found = Node(tmp_path / "b", render_run(build.run(code=code), build.reader({})), path=str(bare))
    done = checkout(found)
    assert done.returncode == 1
    assert "this image has no git" in done.stderr


@pytest.mark.parametrize(("stored", "user", "password"), [("tok:en", "tok", "en"), ("s3cret\n", "x-access-token", "s3cret")])
def test_checkout_gives_the_token_to_git_alone(tmp_path: Path, stored: str, user: str, password: str) -> None:
    code = Code("git", "says so", url="https://git.example/x.git", commit="0" * 40, secret=("deploy", "token"))
    found = Node(tmp_path / "n", render_run(build.run(code=code), build.reader({})))
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/git"
    real = shutil.which("git")
    asked = tmp_path / "asked"
    ask = f'printf "protocol=https\\nhost=git.example\\n\\n" | {real} credential fill >{asked}'
    fake.write_text(f'#!/bin/sh\nif [ "$1" = fetch ]; then {ask}; exit 1; fi\nexec {real} "$@"\n')
    fake.chmod(0o755)
    found.path = f"{tmp_path}/bin:{found.path}"
    key = tmp_path / "key"
    key.write_text(stored)
    done = checkout(found, TAU_GIT_KEY=str(key))
    assert done.returncode != 0
    assert f"username={user}\npassword={password}\n" in asked.read_text()
    assert password not in done.stdout + done.stderr


# ----------------------------------------------------------------------------------------------------------- the script itself


def scripts() -> dict[str, str]:
    gang = {"kind": "job", "nodes": 2, "processes": 2, "checkpoint": Checkpoint("/ckpt", None, None, "vision/other/00000000")}
    torch = {"launcher": "torchrun", "setup": "true", "pip": ("a",)}
    shapes: dict[str, dict[str, Any]] = {
        "plain": {},
        "gang": {**gang, "program": torch},
        "ray": {"kind": "rayjob", "program": {"launcher": "ray", "args": ("it's",), "setup": "true"}},
        "git": {"code": Code("git", "x", url="https://x/y", commit="0" * 40)},
    }
    found = {}
    for shape, changes in shapes.items():
        data = render_run(build.run(**changes), build.reader(build.TRAIN))[0].obj["data"]
        found |= {f"{shape}-{name}": text for name, text in data.items() if name.endswith(".sh")}
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_posix(shell: str) -> None:
    for name, text in scripts().items():
        command = [shell, "-n"] if shell != "busybox" else ["busybox", "sh", "-n"]
        assert subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr == "", name


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="apt-get install shellcheck")
def test_scripts_pass_shellcheck() -> None:
    for name, text in scripts().items():
        done = subprocess.run(
            ["shellcheck", "--shell=sh", "--exclude=SC1091", "-"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{name}\n{done.stdout}"
