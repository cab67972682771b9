"""States and commit messages: written and read back, whatever is in them; nothing that a file name or a run could smuggle in."""

from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from taugen.load.nodes import parse
from taugen.publish import state, trailers
from taugen.publish.state import RunState
from taugen.publish.trailers import Memory
from taugen.render import file
from tests.publish.kit import DOWNSCALE, WHISPER, job

OTHER = "workspaces/protein/other/tau.yaml"

HEX = st.text("0123456789abcdef", min_size=40, max_size=64)
WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20)
TEXT = st.text(min_size=1, max_size=40).filter(lambda t: "\0" not in t and not any("\ud800" <= c <= "\udfff" for c in t))


def test_a_published_state_holds_what_later_stages_need(fleet):
    run = fleet.live()[DOWNSCALE]
    assert (run.name, run.workspace, run.cluster, run.phase, run.attempt) == ("downscale", "climate", "mesa", "live", 1)
    assert run.commit == fleet.git("rev-parse", "HEAD")
    assert run.policy == fleet.memory().policy
    assert run.digest.startswith(run.run[-8:])
    assert set(run.refs) == {
        ("Namespace", "", "lab-climate"),
        ("LocalQueue", "lab-climate", "gpu"),
        ("ClusterQueue", "", "research"),
        ("WorkloadPriorityClass", "", "urgent"),
        ("ServiceAccount", "lab-climate", "climate-runs"),
        ("PersistentVolumeClaim", "lab-climate", "checkpoints"),
        ("PersistentVolumeClaim", "lab-climate", "climate-grids"),
        ("Secret", "lab-climate", "tracker"),
    }
    text = fleet.show(run.path)
    for part in ("checkpoint:", "every: 20m", "request:", "nodes: 2", "gpuClass: h200-141gb", "needs:"):
        assert part in text


def intent(fleet, run):
    documents, _ = parse("state", fleet.show(run.path).encode())
    return documents[0].data["intent"]


def test_it_says_who_brought_the_document_and_what_was_rendered(fleet):
    run = fleet.live()[DOWNSCALE]
    said = intent(fleet, run)
    assert (said["author"], said.get("approver"), said.get("pullRequest")) == ("Ada", None, None)
    files = {path: fleet.show(path) for path in fleet.manifests(run)}
    lines = "".join(f"{sha256(text.encode()).hexdigest()}  {path.rpartition('/')[2]}\n" for path, text in sorted(files.items()))
    assert said["rendered"] == sha256(lines.encode()).hexdigest()


def test_a_pull_request_that_was_merged_is_named(fleet):
    fleet.commit({OTHER: job("other")}, "Add a run (#12)\n\nReviewed-by: Grace Hopper <grace@example.org>")
    fleet.publish()
    said = intent(fleet, fleet.live()["protein/other"])
    assert (said["author"], said["approver"], said["pullRequest"]) == ("Ada", "Grace Hopper", "#12")
    # A later pass over everything says the same of a run that was never published.
    fleet.commit({"README.md": "x\n"}, "Merge pull request #13 from somebody")
    again = fleet.copy(fleet.path.parent / "again")
    for ref in again.git("for-each-ref", "--format=%(refname)", "refs/taugen", "refs/heads/deploy").splitlines():
        again.git("update-ref", "-d", ref)
    again.publish()
    assert intent(again, again.live()["protein/other"]) == {**said, "commit": again.git("rev-parse", "HEAD")}


def test_the_short_way_to_read_a_state_reads_the_same(fleet, monkeypatch):
    texts = [fleet.show(run.path).encode() for run in fleet.live().values()]
    quick = [state.read(text, "tern") for text in texts]
    monkeypatch.setattr(state, "_USUAL", state.re.compile(rb"(?!)"))
    assert [state.read(text, "tern") for text in texts] == quick
    assert len(quick) == 3


def test_an_ended_state_differs_in_its_phase_alone(fleet):
    run = fleet.live()[WHISPER]
    ended = run.ended("cancelled")
    assert ended.body == run.body.replace("phase: live", "phase: cancelled")
    again = state.read(ended.content("tern"), "tern")
    assert again == ended
    assert file.verify(ended.content("tern").decode(), "tern") == "ok"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=TEXT, source=TEXT, code=st.one_of(st.just(""), HEX), digest=HEX)
def test_any_name_survives(name, source, code, digest):
    document = {
        "run": f"w/{name}/{digest[:8]}", "phase": "live",
        "intent": {"source": source, "commit": digest, "digest": digest, "code": code, "policy": digest, "compiler": "1.0"},
        "object": "x-12345678", "cluster": "c", "attempt": 1, "resumeFrom": "", "needs": ["Namespace n", "LocalQueue n q"],
    }  # fmt: skip
    body = state.emit(document)
    run = state.read(file.with_header(body, source, "p").encode(), "p")
    assert isinstance(run, RunState)
    assert (run.workspace, run.name, run.source, run.code, run.digest, run.phase) == ("w", name, source, code, digest, "live")
    assert run.refs == (("Namespace", "", "n"), ("LocalQueue", "n", "q"))
    assert run.ended("replaced").body.count("phase: replaced") >= 1
    assert state.read(run.ended("replaced").content("p"), "p") == run.ended("replaced")


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"x: [", b"run: 5\n", b"[]", b"run: a/b/c\nphase: odd\nintent: {}\nobject: o\ncluster: c\nneeds: []\n"]
)
def test_what_is_no_state(content):
    assert state.read(content, "p") is None
    assert state.read(file.with_header(content.decode("latin-1"), "s", "p").encode(), "p") is None


def test_a_state_of_another_project_is_not_ours(fleet):
    text = fleet.show(fleet.live()[WHISPER].path).encode()
    assert state.read(text, "gull") is None


# ------------------------------------------------------------------------------------------------------------------ messages

MEMORY = Memory("tern", "a" * 40, "b" * 64, "0.1.0")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    pending=st.lists(TEXT, unique=True, max_size=3),
    moved=st.dictionaries(WORD, TEXT, max_size=3),
    sources=st.dictionaries(TEXT, HEX, max_size=2),
    adrift=st.lists(WORD, unique=True, max_size=3),
    unsettled=st.booleans(),
)
def test_a_memory_survives_its_message(pending, moved, sources, adrift, unsettled):
    memory = replace(
        MEMORY, pending=tuple(sorted(pending)), moved={f"w/{run}": path for run, path in moved.items()}, sources=sources,
        adrift=tuple(sorted(f"w/{run}" for run in adrift)), unsettled=unsettled,
    )  # fmt: skip
    text = trailers.message("Publish: x", [("add", "w/n/1")], memory, "c" * 40).decode()
    assert trailers.read(text) == (memory, "c" * 40)
    assert text.isascii()


def test_bytes_that_are_no_text_survive():
    path = b"workspaces/\xff\n%/tau.yaml".decode("utf-8", "surrogateescape")
    text = trailers.message("s", [], replace(MEMORY, pending=(path,)), "c" * 40).decode()
    assert trailers.read(text)[0].pending == (path,)


def test_a_run_can_not_write_a_trailer():
    evil = "w/x\n\nTau-Project: other\nTau-Source-Commit: 1\nTau-Policy-Digest: 1\nTau-Tree: 1/12345678"
    text = trailers.message("s", [("add", evil)], MEMORY, "c" * 40).decode()
    assert trailers.read(text) == (MEMORY, "c" * 40)


def test_a_long_list_is_cut():
    text = trailers.message("s", [("add", f"w/n{i}/1") for i in range(50)], MEMORY, "c" * 40).decode()
    assert "- and 30 more" in text
    assert text.count("- add") == 20


@pytest.mark.parametrize(
    "text", ["", "x\n", "Publish: x\n\nTau-Project: p\n", "Publish: x\n\n- add\n\nTau-Project: p\nTau-Tree: t\nno trailer\n"]
)
def test_what_is_no_message_of_ours(text):
    assert trailers.read(text) is None
