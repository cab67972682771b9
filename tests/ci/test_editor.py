"""The schemas in an editor: the real yaml-language-server completes, explains and underlines tau.yaml and policy."""

import shutil

import pytest

from tests import outside
from tests.ci.kit import ROOT
from tests.ci.lsp import Client

RUN = "# yaml-language-server: $schema=../../../schemas/Run.json\n"
POLICY = "# yaml-language-server: $schema=../schemas/Policy.json\n"
PLACE = "workspaces/speech/new/tau.yaml"


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    server = outside.node_file("yaml-language-server/bin/yaml-language-server")
    outside.program("node")
    folder = tmp_path_factory.mktemp("editor")
    shutil.copytree(ROOT / "schemas", folder / "schemas")
    client = Client(server, folder)
    yield client
    client.close()


def test_completion_in_a_run(editor):
    uri = editor.open(PLACE, RUN + "name: x\nrun:\n  \n")
    assert {"entrypoint", "args", "workload_kind", "max_duration"} <= set(editor.complete(uri, 3, 2))
    uri = editor.open("workspaces/speech/b/tau.yaml", RUN + "name: x\n\n")
    assert {"run", "compute", "runtime", "policy", "storage"} <= set(editor.complete(uri, 2, 0))


def test_values_are_offered(editor):
    uri = editor.open("workspaces/speech/c/tau.yaml", RUN + "name: x\nrun:\n  workload_kind: \n")
    assert {"job", "rayjob", "jobset"} <= {label.strip("\"'") for label in editor.complete(uri, 3, 17)}


def test_hover_says_what_a_field_is_for(editor):
    uri = editor.open("workspaces/speech/d/tau.yaml", RUN + "name: x\ncompute:\n  gpus: 1\n")
    assert "GPU" in editor.hover(uri, 3, 4)


def test_mistakes_are_underlined(editor):
    uri = editor.open("workspaces/speech/e/tau.yaml", RUN + "name: x\nrun:\n  entrypont: a.py\ncompute:\n  workers: {}\n")
    said = " ".join(editor.faults(uri))
    assert "entrypont" in said
    assert len(editor.faults(uri)) >= 2


@pytest.mark.parametrize("path", sorted(p.relative_to(ROOT / "examples").as_posix() for p in (ROOT / "examples").rglob("*.yaml")))
def test_the_examples_have_no_mistake(editor, path):
    text = (ROOT / "examples" / path).read_text()
    if "yaml-language-server" not in text:
        pytest.skip("no schema of ours")
    assert editor.faults(editor.open(path, text)) == []


def test_policy_completes_by_its_kind(editor):
    head = POLICY + "apiVersion: taugen.dev/v1alpha1\nkind: Profile\nmetadata:\n  name: x\nspec:\n  "
    uri = editor.open("policy/a.yaml", head + "\n")
    offered = set(editor.complete(uri, 6, 2))
    assert {"gpus", "gpuClass", "override"} <= offered


def test_policy_is_explained_and_underlined(editor):
    head = POLICY + "apiVersion: taugen.dev/v1alpha1\nkind: Profile\nmetadata:\n  name: x\nspec:\n"
    uri = editor.open("policy/b.yaml", head + "  gpus: 1\n  nonsense: 1\n")
    assert "GPU" in editor.hover(uri, 6, 3)
    assert any("nonsense" in message for message in editor.faults(uri))


def test_a_kind_that_there_is_not(editor):
    uri = editor.open("policy/c.yaml", POLICY + "apiVersion: taugen.dev/v1alpha1\nkind: Profil\nmetadata:\n  name: x\nspec: {}\n")
    assert editor.faults(uri)
