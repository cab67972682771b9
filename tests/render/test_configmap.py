"""The ConfigMap of a run unpacks to the same bytes, under keys that people can read."""

import base64
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taugen.render.configmap import configmap
from taugen.render.frame import frame
from taugen.render.run import render_run
from taugen.words.emit import emit
from tests.render import build
from tests.render.kubelet import Node

FILES = {
    "train.py": b"print(1)\n",
    "crlf.txt": b"a\r\nb\r\n",
    "no-end.txt": b"no newline",
    "empty.txt": b"",
    "newlines.txt": b"\n\n\n",
    "bom.txt": b"\xef\xbb\xbfbom\n",
    "latin1.txt": b"caf\xe9\n",
    "nul.bin": b"\0\1\2",
    "tabs.txt": b"\tx\t\n  y  \n",
    "esc.txt": b"\x1b[0m\x07\n",
    "uni.txt": "zero\u200bwidth \u2028 line\n".encode(),
    "run.sh": b"#!/bin/sh\necho ${X:-1} $5\n",
    "launch.sh": b"the user's own\n",
    ".hidden": b"h\n",
    "..odd/x": b"o\n",
    "src/a/b.py": b"1\n",
    "src__a/b.py": b"2\n",
    "src/a__b.py": b"3\n",
    "sp ace/\u00fc.txt": b"4\n",
}


def objects(files: dict[str, bytes], **changes: object) -> tuple[dict, list, list]:
    run = build.run(files=files, **changes)
    found = configmap(frame(run, 1, "", ""), build.reader(files))
    return found.obj, found.code, found.launch


def test_the_mounted_tree_is_the_source_tree(tmp_path: Path) -> None:
    files = {k: v for k, v in FILES.items() if not k.startswith("..")}
    rendered = render_run(build.run(files=files, code=build.code(files, executable=("run.sh",))), build.reader(files))
    again = [type(r)(r.path, yaml.safe_load(emit(r.obj)), r.source, r.span) for r in rendered]
    Node(tmp_path, again).mount()
    root = tmp_path / "tau/code"
    seen = {str(p.relative_to(root / "..data")): p.read_bytes() for p in (root / "..data").rglob("*") if p.is_file()}
    assert seen == files
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (root / "train.py").stat().st_mode & 0o777 == 0o644


def test_keys_are_readable_and_never_shared() -> None:
    obj, code, launch = objects(FILES)
    keys = {item["path"]: item["key"] for item in code}
    assert keys["src/a/b.py"] == "src__a__b.py"
    assert keys["run.sh"] == "run.sh"
    taken = [*keys.values(), *(item["key"] for item in launch)]
    assert len(set(taken)) == len(taken)
    assert keys["launch.sh"].startswith("launch-")
    assert set(taken) == set(obj["data"]) | set(obj["binaryData"])


def test_text_is_text_and_the_rest_is_binary() -> None:
    obj, _, _ = objects(FILES)
    assert set(obj["binaryData"]) == {"latin1.txt", "nul.bin"}
    assert base64.b64decode(obj["binaryData"]["nul.bin"]) == b"\0\1\2"
    assert obj["immutable"] is True
    assert "binaryData" not in objects(build.TRAIN)[0]


def test_a_shell_entrypoint_is_executable_whatever_git_says() -> None:
    files = {"bin/run.sh": b"#!/bin/sh\n", "b.sh": b""}
    _, code, _ = objects(files, program={"launcher": "shell", "file": "bin/run.sh"})
    assert [item.get("mode") for item in code] == [None, 0o755]


NAMES = st.text(st.sampled_from("ab_./ -\u00fc"), min_size=1, max_size=8).filter(
    lambda p: all(part not in {"", ".", ".."} for part in p.split("/"))
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, st.binary(max_size=8), max_size=8), st.booleans())
def test_every_file_is_kept_under_a_legal_key(files: dict[str, bytes], long: bool) -> None:
    if long:
        files = {f"{'d' * 130}/{'e' * 130}/{path}": content for path, content in files.items()}
    obj, code, _ = objects(files)
    import re

    stored = {k: v.encode() for k, v in obj["data"].items()} | {k: base64.b64decode(v) for k, v in obj.get("binaryData", {}).items()}
    assert {item["path"]: stored[item["key"]] for item in code} == files
    assert len({item["key"] for item in code}) == len(files)
    for key in stored:
        assert re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key)
        assert key != "."
        assert not key.startswith("..")
