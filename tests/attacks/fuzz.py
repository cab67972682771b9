"""Documents by the hundred thousand that no person would write: each gives findings or a run, in time, never a traceback.

    python -m tests.attacks.fuzz --count 100000 --seed 1

Grammar-aware: it starts from the documents of the examples, the fixtures and the rules' own cases, and changes them as data (values of
every kind in every field, fields from other documents, sections moved) and as text (lines, characters, indentation). What fails is printed
with the seed that makes it again; the exit code says whether anything did.
"""

import argparse
import copy
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from taugen.pipeline.compile import Compiler
from taugen.pipeline.project import open_project
from taugen.spec.read import read_file
from tests.gitkit import commit, make_repo
from tests.policykit import FIXTURE

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("workspaces/climate/downscale", "workspaces/speech/finetune", "workspaces/protein/fold", "workspaces/nobody/x")
SECONDS = 2.0
"""Of processors, for one file."""
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    8,
    10**30,
    -(10**400),
    0.5,
    1e308,
    float("inf"),
    float("nan"),
    "",
    " ",
    "x",
    "0",
    "8",
    "-1",
    "1e9",
    "0x1F",
    "64Gi",
    "64G b",
    "500m",
    "1e-999999999",
    "9" * 5000,
    "999999999999999Ei",
    "60s",
    "72h",
    "-1h",
    "1h30m",
    "auto",
    "never",
    "yes",
    "~",
    "null",
    "../../..",
    "/etc/passwd",
    "a/../b",
    "./",
    "train.py",
    "a\0b",
    "\x1b[31m",
    "\u202e",
    "\ud800",
    "рrofile",
    "x" * 70,
    "A_b.C",
    "::error::",
    "##[group]",
    "${X}",
    "$(X)",
    "{{ x }}",
    "a=b",
    "a:b",
    "a:b:c",
    "[",
    "*",
    "**/*",
    "[!a",
    "!x",
    "registry.tern.example/a:latest",
    "registry.tern.example/a@sha256:" + "1" * 64,
    "docker.io/rayproject/ray:2.51.0-py312-gpu",
    "https://git.tern.example/research/x",
    "torch>=2.4",
    "8xa100-80gb",
    "2026-01-05",
    "22:22",
    [],
    [None],
    [[]],
    ["a", 1],
    ["a"] * 300,
    {},
    {"a": None},
    {"a": {"b": []}},
    {"": ""},
    {"x" * 300: "y"},
    {f"K{n}": n for n in range(200)},
    b"bytes",
)
_NOISE = (
    "\t",
    "\0",
    "\x1b",
    "\u202e",
    "\ufeff",
    ":",
    "- ",
    "# ",
    "&a ",
    "*a",
    "!!x ",
    "<<: ",
    "---\n",
    "...\n",
    "%TAG\n",
    "'",
    '"',
    "[",
    "{",
    "|",
    ">",
    "\r",
    "é",
)


def seeds() -> list[str]:
    """Texts of documents of every shape, those of the policy that judges them more often: later stages see what earlier ones accept."""
    places = [*(ROOT / "examples").rglob("tau.yaml"), *[*FIXTURE.rglob("tau.yaml")] * 15]
    places += (ROOT / "tests/validate/rules/document").rglob("*.yaml")
    places += (ROOT / "tests/validate/rules/run").rglob("*.yaml")
    return [path.read_text(encoding="utf-8") for path in sorted(places)]


class Fuzzer:
    """Texts without end, each decided by its number and the seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.texts = seeds()
        self.data = [data for text in self.texts if isinstance(data := _load(text), dict)]
        self.paths = sorted({path for data in self.data for path in _paths(data)}, key=repr)

    def text(self, number: int) -> bytes:
        """The text with a number."""
        dice = random.Random(f"{self.seed}/{number}")
        if dice.random() < 0.6:
            data = copy.deepcopy(dice.choice(self.data))
            for _ in range(dice.choice((1, 1, 2, 3, 8))):
                self._change(dice, data)
            try:
                shown = yaml.dump(data, sort_keys=False, allow_unicode=dice.random() < 0.5, default_flow_style=dice.random() < 0.2)
            except (yaml.YAMLError, ValueError):
                shown = dice.choice(self.texts)
        else:
            shown = dice.choice(self.texts)
        if dice.random() < 0.45:
            for _ in range(dice.choice((1, 1, 2, 5))):
                shown = _scratch(dice, shown)
        if dice.random() < 0.05:
            shown += "\n---\n" + dice.choice(self.texts)
        raw = shown.encode("utf-8", "surrogatepass")
        return raw[: dice.randrange(len(raw) + 1)] if dice.random() < 0.03 else raw

    def _change(self, dice: random.Random, data: dict[str, Any]) -> None:
        """Set, remove, move or rename one field."""
        path = dice.choice(self.paths)
        at: Any = data
        for key in path[:-1]:
            inner = at.get(key) if isinstance(at, dict) else None
            if not isinstance(inner, dict):
                if not isinstance(at, dict):
                    return
                inner = at[key] = {}
            at = inner
        act, key = dice.random(), path[-1]
        if act < 0.65:
            at[key] = copy.deepcopy(dice.choice(VALUES))
        elif act < 0.8:
            at.pop(key, None)
        elif act < 0.9:
            at[f"{key}{dice.choice(('s', '_', 'X', ' '))}"] = at.pop(key, 1)
        else:
            data[dice.choice(self.paths)[0]] = copy.deepcopy(at)


def _load(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return None


def _paths(data: dict[Any, Any], above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in data.items():
        yield (*above, key)
        if isinstance(value, dict) and len(above) < 5:
            yield from _paths(value, (*above, key))


def _scratch(dice: random.Random, text: str) -> str:
    """Damage a text as an editor, a merge or a typing error would."""
    lines = text.split("\n")
    at, act = dice.randrange(len(lines)), dice.randrange(6)
    if act == 0:
        del lines[at]
    elif act == 1:
        lines.insert(at, dice.choice(lines))
    elif act == 2:
        lines[at] = " " * dice.randrange(12) + lines[at]
    elif act == 3:
        lines[at] = lines[at].lstrip()
    else:
        place = dice.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:place] + dice.choice(_NOISE) * dice.choice((1, 1, 1, 50)) + lines[at][place + dice.randrange(3) :]
    return "\n".join(lines) or "\n"


class Judge:
    """Takes texts through all stages, with policy and code of the fixture."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(FIXTURE, folder / "acme")
        commit(make_repo(folder / "acme"))
        self.compiler = Compiler(open_project(folder / "acme"))
        self.rules: Counter[str] = Counter()
        self.good = 0

    def fault(self, number: int, raw: bytes) -> str | None:
        """What is wrong with how a text was taken; None: nothing."""
        place = PLACES[number % len(PLACES)]
        begin = time.process_time()
        try:
            docs, findings = read_file(f"{place}/tau.yaml", raw, place.split("/")[1])
            compiled = [self.compiler.compile(doc) for doc in docs]
        except Exception:
            return traceback.format_exc()
        seconds = time.process_time() - begin
        every = [*findings, *(d for one in compiled for d in one.findings)]
        self.rules.update(d.rule for d in every)
        self.good += sum(one.ok for one in compiled)
        if seconds > SECONDS:
            return f"took {seconds:.1f} s"
        if not every and not any(one.ok for one in compiled):
            return "neither a finding nor a run"
        if bad := [d for d in every if not (d.message + d.hint + d.path).isprintable() or d.span.line < 1 or d.span.column < 1]:
            return f"a finding that can't be shown: {bad[0]!r}"
        return None


def main() -> int:
    """Run, and report."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.fuzz")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first document; with --count 1 it makes one again")
    options = parser.parse_args()
    fuzzer = Fuzzer(options.seed)
    failed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        for number in range(options.first, options.first + options.count):
            raw = fuzzer.text(number)
            if (said := judge.fault(number, raw)) is not None:
                kind = said.strip().splitlines()[-1][:120]
                failed[kind] += 1
                if failed[kind] == 1:
                    sys.stderr.write(f"--first {number} --count 1 --seed {options.seed}\n{raw[:2000]!r}\n{said}\n\n")
    counts = f"{judge.good} runs, {sum(judge.rules.values())} findings of {len(judge.rules)} kinds, {sum(failed.values())} failed"
    sys.stdout.write(f"{options.count} documents: {counts}\n")
    for kind, count in failed.most_common():
        sys.stdout.write(f"  {count} x {kind}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
