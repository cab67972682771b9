"""What is gathered for a run, and what is said of it at the place in the document."""

from collections.abc import Mapping, Sequence

import pytest

from taugen.diag import Severity
from taugen.pipeline.code import gather
from taugen.resolve.code import CodeInput, plan
from taugen.spec.read import read_file
from tests.resolve.kit import MATCHER, PYTHON, Files, job

BASE = "workspaces/speech/case"
RUN = "run: {entrypoint: train.py, workload_kind: job}"


def gathered(
    text: str,
    files: Mapping[str, str | bytes],
    *,
    links: Mapping[str, str] | None = None,
    loose: Mapping[str, str | bytes] | None = None,
    large: Sequence[str] = (),
) -> CodeInput:
    """Files are relative to the repository; the document stands in workspaces/speech/case."""
    docs, _ = read_file(f"{BASE}/tau.yaml", text.encode(), "speech")
    tree = Files({f"{BASE}/tau.yaml": text, **files}, links=links, loose=loose, large=large)
    return gather(tree, docs[0], plan(docs[0]), MATCHER)


def names(code: CodeInput) -> list[str]:
    assert code.tree is not None
    return [f.path for f in code.tree.files]


def rules(code: CodeInput) -> list[str]:
    return [d.rule for d in code.findings if d.severity is Severity.ERROR]


def with_run(run: str) -> str:
    return job().replace(RUN, f"run: {run}")


def test_the_files_beside_the_document_without_documents() -> None:
    files = {f"{BASE}/train.py": PYTHON, f"{BASE}/lib/x.py": "", f"{BASE}/other/tau.yaml": job(), "workspaces/speech/y.py": ""}
    code = gathered(job(), files)
    assert (names(code), code.findings) == (["lib/x.py", "train.py"], ())


def test_a_sibling_folder_comes_along_at_its_place() -> None:
    files = {
        "workspaces/speech/lib/train.py": PYTHON,
        "workspaces/speech/lib/util.py": "",
        f"{BASE}/conf.json": "{}",
        "workspaces/speech/z/z.py": "",
    }
    code = gathered(with_run("{entrypoint: ../lib/train.py}"), files)
    assert names(code) == ["case/conf.json", "lib/train.py", "lib/util.py"]
    assert (code.plan.root, code.plan.base, code.plan.file) == ("workspaces/speech", "case", "../lib/train.py")


def test_a_folder_above_comes_along_whole() -> None:
    code = gathered(with_run("{entrypoint: ../train.py}"), {"workspaces/speech/train.py": PYTHON, f"{BASE}/conf.json": "{}"})
    assert names(code) == ["case/conf.json", "train.py"]
    assert (code.plan.base, code.plan.file) == ("case", "../train.py")


def test_code_path_is_where_the_program_starts() -> None:
    files = {f"{BASE}/src/train.py": PYTHON, f"{BASE}/src/x.py": "", f"{BASE}/notes.md": ""}
    code = gathered(with_run("{entrypoint: src/train.py}") + "code: {path: src}\n", files)
    assert (names(code), code.plan.base, code.plan.file) == (["train.py", "x.py"], "", "train.py")
    missing = gathered(job("code: {path: scr}"), {**files, f"{BASE}/train.py": PYTHON})
    assert "code-path-missing" in rules(missing)
    assert missing.findings[0].hint == f"did you mean {BASE}/src?"


def test_include_exclude_and_patterns_that_are_none() -> None:
    files = {f"{BASE}/{name}": PYTHON for name in ("train.py", "a.py", "data/b.csv")}
    assert names(gathered(job("code: {exclude: [data/]}"), files)) == ["a.py", "train.py"]
    assert names(gathered(job("code: {include: ['train.py']}"), files)) == ["train.py"]
    bad = gathered(job(f"code: {{exclude: [data/, '{'x' * 300}']}}"), files)
    assert (names(bad), bad.findings[0].path, bad.findings[0].rule) == (["a.py", "train.py"], "code.exclude[1]", "code-pattern")


@pytest.mark.parametrize(
    ("run", "files", "rule", "hint"),
    [
        ("{entrypoint: trian.py}", ["train.py"], "entrypoint-missing", "did you mean train.py?"),
        ("{entrypoint: train.py}", ["src/train.py"], "entrypoint-missing", "did you mean src/train.py?"),
        ("{entrypoint: run.sh}", ["a.py", "b.py"], "entrypoint-missing", "the scripts here are a.py, b.py"),
        ("{entrypoint: train.py}", [], "entrypoint-missing", "add the file and `git add` it"),
        ("{entrypoint: src}", ["src/train.py"], "entrypoint-folder", "write the file that is to run, such as train.py"),
        ("{entrypoint: job}", ["job"], "entrypoint-kind", "end its name in .py, or begin it with a line such as #!/bin/bash"),
    ],
)
def test_an_entrypoint_that_is_not_there(run: str, files: list[str], rule: str, hint: str) -> None:
    code = gathered(with_run(run), {f"{BASE}/{name}": PYTHON for name in files})
    assert rules(code) == [rule]
    assert (code.findings[0].path, code.findings[0].hint) == ("run.entrypoint", hint)


def test_an_entrypoint_that_is_left_out() -> None:
    code = gathered(job("code: {exclude: ['*.py']}"), {f"{BASE}/train.py": PYTHON})
    assert rules(code) == ["entrypoint-left-out"]


def test_untracked_files_are_named() -> None:
    code = gathered(job(), {f"{BASE}/train.py": PYTHON}, loose={f"{BASE}/notes.txt": ""})
    assert [(d.rule, d.severity.value) for d in code.findings] == [("code-untracked", "warning")]
    missing = gathered(job(), {}, loose={f"{BASE}/train.py": PYTHON})
    assert rules(missing) == ["entrypoint-untracked"]
    assert f"git add {BASE}/train.py" in [d.hint for d in missing.findings]


@pytest.mark.parametrize(
    ("lines", "content", "rule", "path"),
    [
        ("", "#!\nx", "entrypoint-shebang", "run.entrypoint"),
        ("execution: {launcher: torchrun}", "#!/bin/sh\n", "launcher-needs-python", "execution.launcher"),
        ("execution: {launcher: python}", "#!/bin/bash\n", "launcher-needs-python", "execution.launcher"),
    ],
)
def test_launcher_and_script(lines: str, content: str, rule: str, path: str) -> None:
    code = gathered(with_run("{entrypoint: go, workload_kind: job}") + lines + "\n", {f"{BASE}/go": content})
    assert [(d.rule, d.path) for d in code.findings] == [(rule, path)]


@pytest.mark.parametrize("content", ["#!/usr/bin/env python3\n", "#!/usr/bin/python\n", "#! /opt/conda/bin/python3.12 -u\n"])
def test_the_python_launcher_takes_python_by_its_first_line(content: str) -> None:
    code = gathered(with_run("{entrypoint: go}") + "execution: {launcher: python}\n", {f"{BASE}/go": content})
    assert code.findings == ()


def test_an_import_that_stays_behind_names_both() -> None:
    files = {f"{BASE}/src/train.py": "import helpers\nimport os\nimport torch\n", f"{BASE}/helpers/__init__.py": ""}
    text = with_run("{entrypoint: src/train.py}") + "code: {path: src}\n"
    code = gathered(text, files)
    assert rules(code) == ["import-not-delivered"]
    assert "train.py imports helpers" in code.findings[0].message
    assert f"{BASE}/helpers" in code.findings[0].message
    own = text.replace("runtime: {", "runtime: {env: {PYTHONPATH: /opt/lib}, ")
    assert [d.severity.value for d in gathered(own, files).findings] == ["warning"]
    assert gathered(with_run("{entrypoint: src/train.py}"), files).findings == ()


def test_problems_of_files_stand_at_the_field_that_brings_them() -> None:
    files = {f"{BASE}/train.py": PYTHON, f"{BASE}/model.bin": b"x", "workspaces/climate/x.py": ""}
    lfs = gathered(job(), files, large=[f"{BASE}/model.bin"])
    assert [(d.rule, d.path) for d in lfs.findings] == [("code-lfs", "run.entrypoint")]
    link = gathered(job("code: {path: .}"), files, links={f"{BASE}/x.py": "../../climate/x.py"})
    assert [(d.rule, d.path) for d in link.findings] == [("code-link-outside", "code.path")]
    assert names(link) == ["model.bin", "train.py"]


def test_extra_scripts_lie_beside_the_entrypoint() -> None:
    files = {f"{BASE}/src/train.py": PYTHON, "workspaces/speech/tools/prep.py": "p", f"{BASE}/a.py": ""}
    run = with_run("{entrypoint: src/train.py}")
    code = gathered(run + "workflow: {extra_scripts: ['../tools/prep.py', 'a.py:b.py']}\n", files)
    assert (names(code), code.findings) == (["a.py", "src/b.py", "src/prep.py", "src/train.py"], ())


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("nope.py", "code-extra-missing"),
        ("tau.yaml", "code-extra-missing"),
        ("a.py:train.py", "code-extra-twice"),
        ("a.py:x/y.py", "code-extra-name"),
        ("../../climate/a.py", "code-outside-workspace"),
        ("/etc/passwd", "code-path-absolute"),
    ],
)
def test_extra_scripts_that_are_refused(entry: str, rule: str) -> None:
    code = gathered(job(f"workflow: {{extra_scripts: ['{entry}']}}"), {f"{BASE}/train.py": PYTHON, f"{BASE}/a.py": ""})
    assert [(d.rule, d.path) for d in code.findings] == [(rule, "workflow.extra_scripts[0]")]


def test_an_extra_script_through_a_link() -> None:
    files = {f"{BASE}/train.py": PYTHON, "workspaces/speech/tools/prep.py": "p"}
    code = gathered(job("workflow: {extra_scripts: ['../tools/link.py']}"), files, links={"workspaces/speech/tools/link.py": "prep.py"})
    assert (names(code), code.findings) == (["link.py", "train.py"], ())


def test_nothing_is_gathered_of_an_image_or_a_checkout() -> None:
    assert gathered(job("code: {delivery: image}"), {}).tree is None
    git = "code: {git: {url: 'https://git.tern.example/research/x.git', ref: " + "a" * 40 + "}}"
    elsewhere = gathered(job(git), {})
    assert (elsewhere.tree, elsewhere.here, elsewhere.findings) == (None, False, ())
    assert gathered(job(git), {f"{BASE}/train.py": PYTHON}).here


@pytest.mark.parametrize("entry", ["../../climate/a.py", "../../../x.py", "../../../../../x", "/abs.py", "a\\\\b.py"])
def test_an_entrypoint_never_leaves_the_workspace(entry: str) -> None:
    code = gathered(with_run(f'{{entrypoint: "{entry}"}}'), {"workspaces/climate/a.py": PYTHON})
    assert code.tree is None
    assert [d.path for d in code.findings] == ["run.entrypoint"]


def test_a_path_that_leaves_and_comes_back_stays_inside() -> None:
    code = gathered(with_run("{entrypoint: ../case/./train.py}"), {f"{BASE}/train.py": PYTHON})
    assert (names(code), code.plan.file, code.findings) == (["train.py"], "train.py", ())


def test_patterns_belong_to_the_code_path_also_below_the_entrypoint() -> None:
    files = {f"{BASE}/{name}": PYTHON for name in ("train.py", "beside.py", "src/a.py", "src/b.py")}
    code = gathered(job("code: {path: src, include: [a.py]}"), files)
    assert (names(code), code.plan.base, code.plan.file) == (["beside.py", "src/a.py", "train.py"], "src", "../train.py")


def test_the_workspaces_folder_is_no_entrypoint() -> None:
    assert rules(gathered(with_run("{entrypoint: ..}"), {})) == ["entrypoint-folder"]
