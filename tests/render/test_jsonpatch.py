"""JSON patch: RFC 6902's operations, its examples, and what is refused."""

import copy
import json
import shutil
import subprocess

import pytest

from taugen.render.jsonpatch import PatchError, apply, read

OBJ = {"a": {"b": [1, 2, 3], "x/y": 1, "m~n": 2}, "c": "text"}


def patched(*operations, obj=OBJ):
    before = copy.deepcopy(obj)
    out = apply(obj, read(list(operations)))
    assert obj == before, "the object stays as it was"
    return out


def op(name, path, **more):
    return {"op": name, "path": path, **more}


@pytest.mark.parametrize(
    ("operation", "where", "value"),
    [
        (op("add", "/a/new", value=1), ("a", "new"), 1),
        (op("add", "/a/b/0", value=0), ("a", "b"), [0, 1, 2, 3]),
        (op("add", "/a/b/3", value=4), ("a", "b"), [1, 2, 3, 4]),
        (op("add", "/a/b/-", value=4), ("a", "b"), [1, 2, 3, 4]),
        (op("add", "/c", value=[]), ("c",), []),
        (op("replace", "/a/b/1", value="two"), ("a", "b"), [1, "two", 3]),
        (op("replace", "/a/x~1y", value=None), ("a", "x/y"), None),
        (op("replace", "/a/m~0n", value=3), ("a", "m~n"), 3),
        (op("remove", "/a/b/1"), ("a", "b"), [1, 3]),
        (op("copy", "/d", **{"from": "/a/b"}), ("d",), [1, 2, 3]),
        (op("move", "/a/b/0", **{"from": "/c"}), ("a", "b"), ["text", 1, 2, 3]),
        (op("move", "/a/b/2", **{"from": "/a/b/0"}), ("a", "b"), [2, 3, 1]),
        (op("test", "/a/b", value=[1.0, 2, 3]), ("a", "b"), [1, 2, 3]),
    ],
)
def test_operations(operation, where, value):
    out = patched(operation)
    for key in where:
        out = out[key]
    assert out == value


def test_values_are_copied():
    out = patched(op("copy", "/d", **{"from": "/a"}), op("add", "/d/b/-", value=9))
    assert out["a"]["b"] == [1, 2, 3]
    shared = op("add", "/e", value=[])
    operations = read([shared])
    first, second = apply(OBJ, operations), apply(OBJ, operations)
    first["e"].append(1)
    assert second["e"] == []


@pytest.mark.parametrize(
    ("operation", "path", "words"),
    [
        ("add", (0,), "is a mapping"),
        ({"path": "/a"}, (0,), "op is missing"),
        (op("put", "/a"), (0, "op"), "unknown"),
        (op("add", "/a"), (0,), "add needs value"),
        (op("move", "/a"), (0,), "move needs from"),
        (op("remove", "/a", value=1), (0, "value"), "remove has no value"),
        (op("add", "a", value=1), (0, "path"), "no JSON pointer"),
        ({"op": "remove"}, (0,), "no JSON pointer"),
        (op("add", "/a~2", value=1), (0, "path"), "not escaped"),
        (op("move", "/a/b/0", **{"from": "/a"}), (0, "path"), "into itself"),
    ],
)
def test_malformed(operation, path, words):
    with pytest.raises(PatchError, match=words) as error:
        read([operation])
    assert error.value.path == path


@pytest.mark.parametrize(
    ("operation", "path", "words", "hint"),
    [
        (op("remove", "/a/z"), (0, "path"), "no /a/z", "the keys there are b, x/y, m~n"),
        (op("replace", "/z", value=1), (0, "path"), "no /z", "a, c"),
        (op("add", "/z/y", value=1), (0, "path"), "no /z", "a, c"),
        (op("add", "/a/b/4", value=1), (0, "path"), "no place at /a/b/4", "0 to 2"),
        (op("add", "/a/b/01", value=1), (0, "path"), "no place at /a/b/01", "0 to 2"),
        (op("remove", "/a/b/-"), (0, "path"), "no /a/b/-", "0 to 2"),
        (op("replace", "/a/b/3", value=1), (0, "path"), "no /a/b/3", "0 to 2"),
        (op("add", "/c/d", value=1), (0, "path"), "no place at /c/d", "add what holds d first"),
        (op("copy", "/d", **{"from": "/q"}), (0, "from"), "no /q", "a, c"),
        (op("test", "/a/b", value=[1, 2]), (0, "value"), "another one", ""),
        (op("test", "/a/b/0", value=True), (0, "value"), "another one", ""),
        (op("replace", "", value=1), (0, "path"), "leaves no object", ""),
    ],
)
def test_what_does_not_fit(operation, path, words, hint):
    with pytest.raises(PatchError, match=words) as error:
        patched(operation)
    assert error.value.path == path
    assert hint in error.value.hint


def test_the_first_fault_is_told_with_its_place():
    with pytest.raises(PatchError) as error:
        patched(op("add", "/d", value=1), op("remove", "/e"))
    assert error.value.path == (1, "path")


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed, so JSON patches are not compared with it")
def test_like_kubectl(tmp_path):
    obj = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "finalizers": ["x.example/a", "x.example/b"]},
        "data": {"k/1": "v", "k2": "w"},
    }
    operations = [
        op("add", "/data/k~13", value="x"),
        op("move", "/data/k4", **{"from": "/data/k~11"}),
        op("copy", "/data/k5", **{"from": "/data/k2"}),
        op("add", "/metadata/finalizers/1", value="x.example/c"),
        op("remove", "/metadata/finalizers/0"),
        op("test", "/data/k5", value="w"),
        op("replace", "/data/k2", value="z"),
    ]
    file = tmp_path / "c.json"
    file.write_text(json.dumps(obj))
    args = ["kubectl", "patch", "-f", str(file), "--local", "--type=json", "-p", json.dumps(operations), "-o", "json"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    ours = patched(*operations, obj=obj)
    assert ours["data"] == theirs["data"]
    assert ours["metadata"]["finalizers"] == theirs["metadata"]["finalizers"]
