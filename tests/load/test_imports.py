import pytest

from taugen.load.code import collect
from taugen.load.imports import missing_imports, python_imports
from taugen.load.tree import GitTree, WorkTree
from tests.gitkit import commit, make_repo, write

ROOT = "workspaces/nlp/train"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a, b.c as d\nfrom e.f import g\n", {"a", "b", "e"}),
        ("from . import a\nfrom .b import c\nfrom .. import d\n", set()),
        ("def f():\n    import a\nclass C:\n    import b\nif x:\n    import c\nelse:\n    import d\nwith x:\n    import e\n", set("abcde")),
        ("for x in y:\n    import a\nwhile x:\n    import b\nmatch x:\n    case 1:\n        import c\n", set("abc")),
        ("async def f():\n    import a\n    async with b:\n        import c\n", set("ac")),
        ("try:\n    import a\nexcept ImportError:\n    import b\nelse:\n    import c\nfinally:\n    import d\n", set("cd")),
        ("try:\n    import a\nexcept (KeyError, ModuleNotFoundError):\n    pass\n", set()),
        ("try:\n    import a\nexcept:\n    pass\n", set()),
        ("try:\n    import a\nexcept KeyError:\n    import b\n", set("ab")),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n", {"typing"}),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b\n", {"typing", "b"}),
        ("from a import *\n", {"a"}),
        ("import a\nthis isn't python\n", set()),
        ("import a\0\n", set()),
        ("x = " + "(" * 5000 + "\nimport a", set()),
        ("", set()),
        ("# -*- coding: latin-1 -*-\nimport a  # \xe9\n", {"a"}),
    ],
)
def test_imports_of_a_source(source, expected):
    assert python_imports(source.encode("latin-1")) == expected


def test_bytes_that_are_no_text():
    assert python_imports(b"\xff\xfe import a") == set()


def missing(tmp_path, files, entrypoint="train.py", root=ROOT, kind="commit", **options):
    repo = make_repo(tmp_path / "r", {f"{ROOT}/tau.yaml": "name: x\n"} | files)
    tree = GitTree(repo, "HEAD") if kind == "commit" else WorkTree(repo)
    code, problems = collect(tree, root, exclude_documents=lambda p: p.endswith("tau.yaml"), workspace="workspaces/nlp", **options)
    assert problems == []
    return missing_imports(tree, code, entrypoint, "workspaces/nlp")


@pytest.mark.parametrize("kind", ["commit", "work"])
def test_a_package_beside_the_code_is_missing(tmp_path, kind):
    files = {
        f"{ROOT}/train.py": "import torch, os, common, helpers, deep.down, plain\n",
        "workspaces/nlp/common/__init__.py": "",
        "workspaces/nlp/lib/helpers.py": "",
        "workspaces/nlp/deep/down.py": "",
        "workspaces/nlp/plain/notes.txt": "",
        "workspaces/vision/torch.py": "",
    }
    assert missing(tmp_path, files, kind=kind) == [
        ("common", "workspaces/nlp/common/__init__.py"),
        ("deep", "workspaces/nlp/deep"),
        ("helpers", "workspaces/nlp/lib/helpers.py"),
    ]


def test_what_is_delivered_is_not_missing(tmp_path):
    files = {
        f"{ROOT}/train.py": "import model, pkg.inner, space\n",
        f"{ROOT}/model.py": "",
        f"{ROOT}/pkg/inner.py": "",
        f"{ROOT}/space/deep/er.py": "",
        "workspaces/nlp/model.py": "",
        "workspaces/nlp/pkg/__init__.py": "",
        "workspaces/nlp/lib/space.py": "",
    }
    assert missing(tmp_path, files) == []


def test_imports_are_followed_through_delivered_modules_only(tmp_path):
    files = {
        f"{ROOT}/train.py": "from pkg import one\nimport loop\n",
        f"{ROOT}/loop.py": "import train, loop\n",
        f"{ROOT}/pkg/__init__.py": "",
        f"{ROOT}/pkg/one.py": "from .sub.two import x\nfrom . import three\n",
        f"{ROOT}/pkg/sub/two.py": "import far\n",
        f"{ROOT}/pkg/three.py": "import near\n",
        f"{ROOT}/unused.py": "import never\n",
        "workspaces/nlp/far.py": "import further\n",
        "workspaces/nlp/near.py": "",
        "workspaces/nlp/never.py": "",
        "workspaces/nlp/further.py": "",
    }
    assert missing(tmp_path, files) == [("far", "workspaces/nlp/far.py"), ("near", "workspaces/nlp/near.py")]


def test_an_entrypoint_in_a_folder_sees_its_own_folder_and_the_root(tmp_path):
    files = {f"{ROOT}/src/train.py": "import near, rooted\n", f"{ROOT}/src/near.py": "", f"{ROOT}/rooted.py": ""}
    assert missing(tmp_path, files, "src/train.py") == []


def test_an_excluded_module_is_missing(tmp_path):
    files = {f"{ROOT}/train.py": "import model\n", f"{ROOT}/model.py": ""}
    assert missing(tmp_path, files, exclude=["model.py"]) == [("model", f"{ROOT}/model.py")]


def test_an_untracked_module_is_missing(tmp_path):
    repo = make_repo(tmp_path / "r", {f"{ROOT}/train.py": "import model\n"})
    write(repo, {f"{ROOT}/model.py": ""})
    tree = WorkTree(repo)
    code, _ = collect(tree, ROOT, exclude_documents=lambda _: False, workspace="workspaces/nlp")
    assert missing_imports(tree, code, "train.py", "workspaces/nlp") == [("model", f"{ROOT}/model.py")]


def test_another_run_with_a_file_named_like_a_library_is_no_concern(tmp_path):
    files = {f"{ROOT}/train.py": "import evaluate\n", "workspaces/nlp/eval/tau.yaml": "", "workspaces/nlp/eval/evaluate.py": ""}
    assert missing(tmp_path, files) == []


def test_a_linked_package_is_delivered(tmp_path):
    repo = make_repo(tmp_path / "r", {"workspaces/nlp/lib/common.py": "", f"{ROOT}/train.py": "import lib.common\n"})
    (repo / ROOT / "lib").symlink_to("../lib")
    commit(repo)
    tree = GitTree(repo, "HEAD")
    code, _ = collect(tree, ROOT, exclude_documents=lambda _: False, workspace="workspaces/nlp")
    assert missing_imports(tree, code, "train.py", "workspaces/nlp") == []


def test_an_entrypoint_that_is_no_python(tmp_path):
    assert missing(tmp_path, {f"{ROOT}/run.sh": "import common\n", "workspaces/nlp/common.py": ""}, "run.sh") == []
    assert missing(tmp_path / "2", {f"{ROOT}/train.py": ""}, "nothing.py") == []
