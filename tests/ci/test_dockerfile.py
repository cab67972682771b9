"""The container image's recipe: linted, and its steps played: what it copies is enough to build the package and to run it."""

import re
import shutil
import subprocess
import venv
from pathlib import Path

import pydantic

from taugen.pipeline.init import PYTHON_IMAGE
from tests import outside
from tests.ci.kit import ROOT

TEXT = (ROOT / "Dockerfile").read_text()


def test_hadolint():
    done = subprocess.run([outside.program("hadolint"), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_images_are_pinned_and_the_same():
    assert set(re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)) == {PYTHON_IMAGE}


def test_it_runs_as_nobody():
    assert re.findall(r"^USER (.*)", TEXT, re.MULTILINE) == ["65532:65532"]


def test_what_is_left_in_the_context_is_what_the_package_needs():
    """Everything that pyproject.toml names stands in the context: the list of .dockerignore lets it through."""
    import tomllib

    let = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    made = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = made["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], made["project"]["readme"], "pyproject.toml", "LICENSE", "schemas"}
    assert needed <= let
    assert all((ROOT / name).exists() for name in let)


def context(folder: Path) -> Path:
    """The files that a build sees: those that .dockerignore lets through."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[0] == "*"
    left_out = shutil.ignore_patterns(*(line.removeprefix("**/") for line in lines[1:] if not line.startswith("!")))
    for name in (line[1:] for line in lines if line.startswith("!")):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=left_out)
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def steps() -> list[str]:
    """The commands of the RUN lines, without their mounts."""
    found = re.findall(r"^RUN ((?:.*\\\n)*.*)$", TEXT, re.MULTILINE)
    return [re.sub(r"--mount=\S+", "", text.replace("\\\n", " ")).strip() for text in found]


def test_its_steps_give_a_command_that_works(tmp_path):
    """As they stand, but for what comes from a package index: what the package needs is that of these tests."""
    wheel, install = [step for step in steps() if step.startswith("pip ")]
    # What else is run changes the image's system.
    assert all(step.startswith(("pip ", "apt-get ", "useradd ")) for step in steps())
    venv.create(tmp_path / "image", symlinks=True, with_pip=True)
    site = Path(pydantic.__file__).parent.parent
    env = {"HOME": str(tmp_path), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": str(site), "LANG": "C.UTF-8"}

    def play(command, path):
        done = subprocess.run(
            ["sh", "-ec", command.replace("/wheels", str(tmp_path / "wheels"))],
            cwd=path,
            env=env | {"PATH": f"{tmp_path}/image/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    play(wheel, context(tmp_path / "src"))
    play(install, tmp_path)
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]', TEXT, re.MULTILINE)
    (argument,) = re.findall(r'^CMD \["(.*)"\]', TEXT, re.MULTILINE)
    assert (tmp_path / "image/bin" / entry).is_file()
    assert "Usage: taugen" in play(f"{entry} {argument}", tmp_path)
    play(f"{entry} init new && {entry} -C new check", tmp_path)
    where = play("python -c 'import taugen; print(taugen.__file__)'", tmp_path)
    assert where.startswith(str(tmp_path / "image"))
