"""The container image's recipe: linted, and what it copies is enough to build the package."""

import re
import subprocess

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
