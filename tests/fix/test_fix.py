"""`taugen fix`: another spelling, and nothing else."""

import errno
import os
import random
from pathlib import Path

import pytest

from taugen.pipeline import fix
from taugen.spec.read import read_file
from taugen.spec.spellings import RENAMES, VALUES
from tests.homekit import ada, fleet, home, published_once, taugen

__all__ = ["ada", "fleet", "home", "published_once", "taugen"]
CASES = sorted((Path(__file__).parent / "cases").iterdir())
PLACE = "workspaces/protein/old/tau.yaml"
IMAGE = f"registry.tern.example/x@sha256:{3:064d}"


def docs(text):
    found, findings = read_file(PLACE, text.encode(), "protein")
    assert not findings
    return found


def older(text):
    return [one for doc in docs(text) for one in doc.findings if one.rule in fix.RULES]


def checked(before, after):
    """The same runs without an error, every comment, no older spelling."""
    assert not [one for doc in docs(after) for one in doc.findings if one.severity == "error"]
    assert [doc.digest for doc in docs(after)] == [doc.digest for doc in docs(before)]
    assert not older(after), after
    assert not fix._comments(before) - fix._comments(after)


def fixed(text):
    """What becomes of a text that has older spellings."""
    raw = text.encode()
    found, _ = read_file(PLACE, raw, "protein")
    return fix._fixed(PLACE, raw, found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_command_writes_what_stands_in_the_folder(case, fleet, taugen):
    before, after = (case / "before.yaml").read_text(), (case / "after.yaml").read_text()
    fleet.commit({PLACE: before})
    target = fleet.root / PLACE
    target.chmod(0o664)
    tried = taugen("fix", "--check", PLACE, cwd=fleet.path)
    assert (tried.code, target.read_text()) == (1, before)
    assert tried.out.startswith(f"--- a/{PLACE}\n+++ b/{PLACE}\n@@ ")
    done = taugen("fix", cwd=fleet.path)
    assert (done.code, done.out) == (0, "")
    assert "every run stays the same" in done.err
    assert target.read_text() == after
    assert target.stat().st_mode & 0o777 == 0o664
    checked(before, after)
    again = taugen("fix", "--check", cwd=fleet.path)
    assert (again.code, again.out, again.err) == (0, "", "nothing to change\n")
    assert fleet.git("status", "--short") == f" M {PLACE}"


def nested(path, value):
    """A document with one more field, commented all around."""
    lines = [f"{'  ' * depth}{key}:" for depth, key in enumerate(path)]
    inside = "  " * (len(path) - 1)
    more = f"{lines[-1]} {value}  # of it\n{inside}# below it\n"
    return "".join(f"{line}\n" for line in lines[:-1]) + f"{inside}# above it\n{more}"


SAMPLES = {
    "run.name": "x", "run.script": "a.py", "run.main_script": "a.py", "entrypoint": "a.py", "script": "a.py", "run.image": IMAGE,
    "image": IMAGE, "run.engine": "job", "compute.workload_kind": "job", "run.working_dir": "src", "run.working_dir_excludes": "[b]",
    "runtime.rdma.enabled": "true", "runtime.rdma.resource_name": "rdma/ib", "policy.workspace": "protein", "policy.gpu_class": "h100-80gb",
    "policy.priority_tier": "normal", "resilience.checkpoint_path": "/c", "storage.checkpoint": "/c", "artifacts.checkpoint": "/c",
    "research.experiment": "e",
}  # fmt: skip


@pytest.mark.parametrize("rename", RENAMES, ids=lambda rename: ".".join(rename.old))
def test_every_older_name(rename):
    name = ".".join(map(str, rename.old))
    value = SAMPLES.get(name, "64Gi" if "memory" in name or "shm" in name else "2")
    rest = "# head\nname: x\n" if name != "run.name" else "# head\ngeneration: 2\n"
    for text in (rest + nested(rename.old, value), nested(rename.old, value) + rest):
        found = fixed(text)
        if any(finding.severity == "error" for doc in docs(text) for finding in doc.findings):
            pytest.fail(f"{[one.message for doc in docs(text) for one in doc.findings]}")
        assert not found.left, found.left
        checked(text, found.after)


@pytest.mark.parametrize(("path", "word"), [(path, word) for path, words in VALUES.items() for word in words])
def test_every_older_word(path, word):
    for typed in (word, f'"{word}"'):
        text = "name: x\n" + nested(path, typed)
        found = fixed(text)
        assert not found.left
        checked(text, found.after)
        assert found.after.count("\n") == text.count("\n")


def test_names_of_every_kind_in_any_order_and_layout():
    """Documents of several older spellings at once, in blocks and on one line, with comments and empty lines."""
    changed = 0
    for seed in range(1000):
        text = shuffled(random.Random(seed))
        if any(finding.severity == "error" for doc in docs(text) for finding in doc.findings):
            continue
        found = fixed(text)
        assert not found.left, (seed, text, found.left)
        checked(text, found.after)
        assert fixed(found.after).after == found.after
        changed += found.changed
    assert changed > 200


SECTIONS = {
    "run": ["script: a.py", "engine: ray", "working_dir: src", "args: [--a, 1e-4]", "smoke_pairs: 2", f"image: {IMAGE}"],
    "compute": ["worker_cpus: 4", "worker_memory: 8Gi", "gpus_per_worker: 1", "head_cpu_request: 2", "gpu_class: h100-80gb"],
    "policy": ["mode: fixed", "priority_tier: normal", "node_selector: {zone: a}", "clear_node_selector: false"],
    "resilience": ["checkpoint_path: /c", "max_retries: 2"],
    "experiment": ["title: A b", "tags: [x]"],
    "runtime": ["env: [{name: A, value: b}, {name: K, valueFrom: {secretKeyRef: {name: s, key: k}}}]", "setup: ['true']"],
    "resource_naming": ["prefix: team"],
    "storage": ["mounts: ['scratch:/scratch']"],
}


def shuffled(chance):
    parts = ["name: x\n", *(part for name in SECTIONS if (part := section(chance, name)))]
    chance.shuffle(parts)
    noise = ["", "", "", "\n", "# between\n", "\n# after a gap\n"]
    return "".join(chance.choice(noise) + part for part in parts) + chance.choice(["", "# end\n"])


def section(chance, name):
    fields = chance.sample(SECTIONS[name], chance.randrange(len(SECTIONS[name]) + 1))
    if not fields:
        return ""
    if chance.random() < 0.3:
        return f"{name}: {{{', '.join(fields)}}}{chance.choice(['', ' # all'])}\n"
    lines = []
    for field in fields:
        lines += chance.choice([[], [], ["# above"], ["", "# far above", ""]])
        lines.append(field + chance.choice(["", " # right", "    # far right"]))
    return f"{name}:{chance.choice(['', ' # of it'])}\n" + "".join(f"  {line}\n" if line else "\n" for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeffname: x\r\nentrypoint: a.py # old\r\n", "\ufeffname: x\r\nrun:\r\n  entrypoint: a.py # old\r\n"),
        ("name: x\nentrypoint: a.py", "name: x\nrun:\n  entrypoint: a.py"),
        ("name:   x   # wide\nrun: {script:   a.py}\n", "name:   x   # wide\nrun: {entrypoint: a.py}\n"),
    ],
)  # fmt: skip
def test_ends_of_lines_and_of_files_stay(before, after):
    assert fixed(before).after == after


def test_lines_without_an_older_spelling_stay_as_they_were_typed():
    text = f"name:    x\nrun:   # wide\n     entrypoint: [python,   a.py]\n     args: ['--a',   1_000]\n\n\nimage: {IMAGE}\n"
    text += "compute:   {gpus:   0,   cpus: 2}\n"
    after = fixed(text).after
    assert after == text.replace(f"image: {IMAGE}\n", "") + f"runtime:\n     image: {IMAGE}\n"


def test_a_long_list_of_one_word_stays_as_it_was_typed():
    items = "          -  a\n" * 3000
    text = f"name: x\nentrypoint: a.py\nexperiment:\n    name: e\n    hyperparameters:\n        xs:\n{items}"
    assert fixed(text).after == text.replace("entrypoint: a.py\n", "") + "run:\n    entrypoint: a.py\n"


@pytest.mark.parametrize(
    "text",
    [
        # A section that another spelling of its name overrides.
        "run: {script: a.py, name: asr}\n# c\nruntime: {rdma: {enabled: true}}\nname:\n  rdma:\n\n    enabled: true\n",
        f"{{name: x, run: {{script: a.py}},\n\n  image: '{IMAGE}',\n  compute: {{\n    workload_kind: job}}}} # end\n",
        "name: x\nentrypoint: a.py\nexperiment: {hyperparameters: {a: .nan}}\n",
    ],
)
def test_what_was_hard_once(text):
    found = fixed(text)
    assert not found.left
    checked(text, found.after)


def test_a_comment_within_a_line_that_is_broken_is_left_to_people():
    text = "name: x\ncompute: {gpus: 0, # none\n  cpu_request: 2}\n"
    found = fixed(text)
    assert (found.after, [one.why for one in found.left]) == (text, ["a comment has no place in the new spelling: spell it by hand"])


def test_a_document_with_errors_is_left_and_the_others_are_mended(fleet, taugen):
    text = f"name: a\nentrypoint: a.py\nimage: {IMAGE}\n---\nname: b\nentrypoint: b.py\nnonsense: 1\n"
    fleet.commit({PLACE: text})
    done = taugen("fix", PLACE, cwd=fleet.path)
    assert done.code == 0
    assert f"{PLACE}:6:1: 1 older spelling left: the document has errors: mend them first" in done.err
    mended = f"name: a\nrun:\n  entrypoint: a.py\nruntime:\n  image: {IMAGE}\n"
    assert (fleet.root / PLACE).read_text() == f"{mended}---\nname: b\nentrypoint: b.py\nnonsense: 1\n"


def test_what_can_not_be_written_is_said_and_stays(fleet, taugen, monkeypatch):
    text = "name: a\nentrypoint: a.py\n"
    fleet.commit({PLACE: text})

    def full(_draft, _target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    done = taugen("fix", cwd=fleet.path)
    assert (done.code, f"{PLACE} can't be written: No space left on device" in done.err) == (4, True)
    assert [path.name for path in (fleet.root / PLACE).parent.iterdir()] == ["tau.yaml"]
    assert (fleet.root / PLACE).read_text() == text


def test_what_holds_no_run_is_refused(fleet, taugen):
    done = taugen("fix", "policy/nowhere.yaml", cwd=fleet.path)
    assert (done.code, "policy/nowhere.yaml does not exist" in done.err) == (2, True)
