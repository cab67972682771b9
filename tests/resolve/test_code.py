"""Which folders are a run's code, from the document alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.resolve.code import plan, relative, within, workspace_folder
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc


def doc(path: str, workspace: str, text: str = "name: x\n") -> RunDoc:
    return read_file(path, text.encode(), workspace)[0][0]


@pytest.mark.parametrize(
    ("path", "workspace", "folder"),
    [
        ("workspaces/speech/a/b/tau.yaml", "speech", "workspaces/speech"),
        ("workspaces/workspaces/a/tau.yaml", "workspaces", "workspaces/workspaces"),
        ("teams/speech/speech/tau.yaml", "speech", "teams/speech"),
        ("elsewhere/tau.yaml", "", "elsewhere"),
        ("tau.yaml", "", ""),
    ],
)
def test_where_a_workspace_ends(path: str, workspace: str, folder: str) -> None:
    assert workspace_folder(doc(path, workspace)) == folder


@pytest.mark.parametrize(
    ("path", "start", "expected"),
    [
        ("a/b/c", "a", "b/c"),
        ("a/b", "a/b", "."),
        ("a/b", "a/c", "../b"),
        ("b", "a/c", "../../b"),
        ("a", "", "a"),
        ("", "", "."),
        ("", "a", ".."),
        ("ab", "a", "../ab"),
    ],
)
def test_relative(path: str, start: str, expected: str) -> None:
    assert relative(path, start) == expected


PARTS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map("/".join)


@given(PARTS, PARTS)
def test_relative_leads_back(path: str, start: str) -> None:
    import posixpath

    back = posixpath.normpath(posixpath.join(start, relative(path, start)))
    assert (back if back != "." else "") == path


PIECES = st.lists(st.sampled_from(["..", ".", "a", "b.py", "x..y", "...", ""]), min_size=1, max_size=7)


@given(PIECES, PIECES)
def test_a_plan_never_leaves_the_workspace(entry: list[str], path: list[str]) -> None:
    text = f"name: x\nrun: {{entrypoint: '{'/'.join(entry) or 'a'}'}}\ncode: {{path: '{'/'.join(path) or 'a'}'}}\n"
    found = plan(doc("workspaces/speech/d/e/tau.yaml", "speech", text))
    inside = [found.root, found.start, *found.folders, *([found.entrypoint] if found.entrypoint else [])]
    assert all(within(p, "workspaces/speech") for p in inside)
    assert all(".." not in p.split("/") for p in inside)
    assert found.local or found.findings
