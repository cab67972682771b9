"""The README shows what really happens: its console blocks are played, one after the other, and compared.

A line that starts with `$ ` is a command, what follows is its output; `...` stands for output that is left out.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)")


def steps():
    """(command, expected lines) of all blocks."""
    found = []
    for line in "\n".join(match[1] for match in BLOCK.finditer((ROOT / "README.md").read_text())).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() or (found and found[-1][1]):
            found[-1][1].append(line)
    return found


def shaped(text):
    """Without what differs from day to day: abbreviated commit ids."""
    return [re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", line.rstrip()) for line in text.strip().splitlines()]


def test_the_readme_shows_what_happens(tmp_path):
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    command = bin_ / "taugen"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m taugen "$@"\n')
    command.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
    }
    cwd = tmp_path
    played = steps()
    assert len(played) >= 5
    for words, expected in played:
        if words.startswith("cd "):
            cwd /= words[3:]
            continue
        done = subprocess.run(["sh", "-c", words], cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), f"{words}\n{done.stdout}{done.stderr}"
        if expected[:1] != ["..."]:
            assert shaped(done.stdout + done.stderr) == shaped("\n".join(expected)), words


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md"), ROOT / "examples" / "README.md"]:
        for target in LINK.findall(page.read_text()):
            if not target.startswith(("http", "mailto:")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_examples_in_the_guides_are_documents():
    """Each YAML block of the researcher's guide fits the schema of a run, or is a part of one; each of the platform's fits a policy
    document's spec."""
    import jsonschema
    import yaml

    from taugen.pipeline import schemas

    run = schemas.schema("Run")
    for page in ("researcher.md", "migration-skypilot.md"):
        blocks = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)
        assert blocks
        for block in blocks:
            if "num_nodes" not in block:
                jsonschema.validate(yaml.safe_load(block), run)
