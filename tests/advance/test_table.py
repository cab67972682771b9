"""What becomes of a run when evidence arrives while its document or its cluster goes: every combination has one result."""

import shutil

import pytest
from msgspec.structs import replace

from taugen.advance import change
from taugen.advance.decide import End, Retry
from taugen.diag import Refused
from taugen.publish import branch as deploy
from tests.advance.kit import LOST, STARTED, Story, failed, retried
from tests.publish.kit import Fleet

ANT = "protein/ant"
DOC = "workspaces/protein/d1/tau.yaml"
EVIDENCE = {
    "goes on": STARTED,
    "succeeded": (*STARTED, ("succeeded", 30)),
    "failed": (*STARTED, *failed(30, **LOST)),
    "fatal": (*STARTED, *failed(30, exitCodes={"main": 42})),
    "deactivated": (*STARTED, ("deactivated", 30, {"reason": "MaximumExecutionTimeExceeded"})),
    "invalid": (("submitted", 0), ("validation-failed", 30)),
    "cancelled": (*STARTED, ("cancelled", 30)),
}
PHASES = {
    "succeeded": "succeeded",
    "fatal": "failed",
    "deactivated": "deactivated",
    "invalid": "validation-failed",
    "cancelled": "cancelled",
}
DOCUMENTS = {
    "stays": {},
    "vanished": {DOC: None},
    "cancelled": {DOC: retried("ant", cancelled="true")},
    "replaced": {DOC: retried("ant", generation=2, on_edit="replace")},
    "waiting": {DOC: retried("ant", generation=2, on_edit="wait")},
    "beside": {DOC: retried("ant", generation=2, on_edit="beside")},
    "moved": {DOC: None, "workspaces/protein/d9/tau.yaml": retried("ant")},
    "broken": {DOC: "name: [ant\n"},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    fleet = Fleet.make(tmp_path_factory.mktemp("table") / "repo", {DOC: retried("ant")})
    assert fleet.publish().code == 0
    return fleet


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("evidence", EVIDENCE)
def test_every_combination(base, tmp_path, evidence, document):
    """Both orders: publish before advance, and advance before publish."""
    for order in ("publish first", "advance first"):
        fleet = base.copy(tmp_path / order.replace(" ", "-"))
        story = Story(fleet)
        ant = story.run(ANT)
        files = DOCUMENTS[document]
        if files:
            fleet.commit(files)
        story.tell(ant, *EVIDENCE[evidence])
        if order == "publish first":
            fleet.publish()
        done = story.advance().done
        fleet.publish()
        after = fleet.states()[ant.run_id]
        said = {"cancelled": "cancelled", "replaced": "replaced"}.get(document)
        if order == "publish first" and said:
            assert (after.phase, done) == (said, []), "what the document said came first; evidence changes nothing any more"
        elif evidence in PHASES:
            assert after.phase == PHASES[evidence]
        else:
            assert after.phase == (said or "live")
            assert after.attempt == (2 if evidence == "failed" else 1)
        assert bool(fleet.manifests(after)) == after.live
        newer = {one.run_id: one for one in fleet.states().values() if one.name == "ant"}
        started = document in ("replaced", "beside") or (document == "waiting" and not after.live)
        assert len(newer) == 1 + started
        assert not story.advance().done, "once is enough"
        again = fleet.publish()
        assert again.commit is None
        assert fleet.copy(tmp_path / "full").publish(full=True).commit is None
        assert again.code == (4 if document == "vanished" and after.live else int(document == "broken"))
        shutil.rmtree(tmp_path / "full")


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_a_cluster_that_left_and_whose_folder_was_removed(base, tmp_path, evidence):
    """Policy without the cluster can't say whose word counts; once it has it again, files that somebody removed by hand are missed."""
    fleet = base.copy(tmp_path / "repo")
    story = Story(fleet)
    ant = story.run(ANT)
    story.tell(ant, *EVIDENCE[evidence])
    clusters = fleet.read("policy/clusters.yaml")
    fleet.commit({"policy/clusters.yaml": "---\n".join(part for part in clusters.split("---\n") if "name: mesa\n" not in part)})
    fleet.deploy({path: None for path in fleet.tree() if path.startswith("clusters/mesa/")})
    outcome = story.advance()
    assert ([found.rule for found in outcome.refused], outcome.commit) == ([] if evidence == "goes on" else ["evidence-unjudged"], None)
    fleet.commit({"policy/clusters.yaml": clusters})
    with pytest.raises(Refused) as refused:
        story.advance()
    assert (refused.value.code, {found.rule for found in refused.value.findings}) == (4, {"deploy-edited"})


def test_an_attempt_whose_objects_are_gone(base):
    branch = deploy.deployed(base.path, base.tip, "clusters", "tern")
    ant = Story(base).run(ANT)
    of = (1, None, "")
    retry = Retry(2, "", "Error", "2024-05-04T10:00:00Z", "", of)
    assert isinstance(change.files(branch, ant, retry), dict)
    for state in (replace(ant, cluster="fjord"), replace(ant, body="run: odd\n")):
        found = change.files(branch, state, retry)
        assert (found.rule, ant.run_id in found.message) == ("attempt-lost", True)
    files = change.files(branch, replace(ant, cluster="fjord"), End("failed", 1, "2024-05-04T10:00:00Z", "", of))
    assert list(files) == [ant.path], "an end needs no objects"
