"""What happens to runs: added, edited, moved, deleted, cancelled. A published run never changes, and never starts again."""

import pytest

from tests.publish.kit import CLIMATE, DOWNSCALE, FOLD, PROTEIN, SPEECH, WHISPER, added, ended, job, messages, rules

OTHER = "workspaces/protein/other/tau.yaml"
THIRD = "workspaces/protein/third/tau.yaml"
AUDIO = ("gpus: 2", "gpus: 1")
"""An edit of the speech run."""


def test_everything_is_published_at_first(new):
    outcome = new.publish()
    assert (outcome.code, outcome.commit) == (0, new.tip)
    assert sorted(added(outcome)) == [DOWNSCALE, FOLD, WHISPER]
    assert outcome.live == 3
    live = new.live()
    assert {run.cluster for run in live.values()} == {"fjord", "mesa"}
    assert all(new.manifests(run) for run in live.values())
    assert new.git("log", "-1", "--format=%an %ae %cd %ad", "--date=iso", "deploy") == new.git(
        "log", "-1", "--format=%an %ae %cd %ad", "--date=iso"
    )
    new.fsck()


def test_nothing_changed_makes_no_commit(fleet):
    tip = fleet.tip
    for asked in ({}, {"full": True}, {"ref": fleet.git("rev-parse", "HEAD")}):
        outcome = fleet.publish(**asked)
        assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)


def test_other_files_make_no_commit(fleet):
    tip = fleet.tip
    fleet.commit({"README.md": "hello\n", "workspaces/README.md": "people\n"})
    assert fleet.publish().commit is None
    fleet.edit(SPEECH, ("schema_version: 1", "# a comment\nschema_version:   1\ndescription: other words"))
    assert fleet.publish().commit is None
    assert fleet.tip == tip


def test_an_edited_run_waits_for_the_older_one(fleet):
    before = fleet.tree()
    fleet.edit(SPEECH, AUDIO)
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit) == (0, None)
    assert [(wish.run_id[:-9], older.run_id) for wish, older in outcome.plan.waiting] == [(WHISPER, fleet.live()[WHISPER].run_id)]
    fleet.commit({OTHER: job("other")})
    assert added(fleet.publish()) == ["protein/other"]
    assert fleet.memory().pending == (SPEECH,)
    assert before.items() <= fleet.tree().items()


def test_a_waiting_run_takes_over_when_the_older_one_is_let_go(fleet):
    fleet.edit(SPEECH, AUDIO)
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    older = fleet.live()[WHISPER]
    outcome = fleet.publish(allow=frozenset({WHISPER}))
    assert (outcome.code, added(outcome), ended(outcome)) == (0, [WHISPER], [(WHISPER, "cancelled")])
    assert fleet.live()[WHISPER].run != older.run
    assert not fleet.manifests(older)
    assert fleet.memory().pending == ()


def test_on_edit_replace_ends_the_older_run(fleet):
    older = fleet.live()[WHISPER]
    fleet.edit(SPEECH, AUDIO, ("schema_version: 1", "schema_version: 1\non_edit: replace"))
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), ended(outcome)) == (0, [WHISPER], [(WHISPER, "replaced")])
    assert not fleet.manifests(older)
    assert fleet.states()[older.run_id].phase == "replaced"


def test_the_workspace_says_what_an_edit_does(fleet):
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 8"))
    assert ended(fleet.publish()) == [(FOLD, "replaced")]


def test_the_document_wins_over_its_workspace(fleet):
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 8"), ("name: fold-report", "name: fold-report\non_edit: wait"))
    outcome = fleet.publish()
    assert (outcome.commit, len(outcome.plan.waiting)) == (None, 1)


def test_on_edit_beside_keeps_both(fleet):
    older = fleet.live()[WHISPER]
    files = fleet.manifests(older)
    fleet.edit(SPEECH, AUDIO, ("schema_version: 1", "schema_version: 1\non_edit: beside"))
    outcome = fleet.publish()
    assert (added(outcome), ended(outcome)) == ([WHISPER], [])
    assert sum(run.live for run in fleet.states().values() if run.name == "whisper-finetune") == 2
    assert fleet.manifests(older) == files
    assert fleet.publish().commit is None


def test_cancelling_ends_all_live_runs_of_the_name(fleet):
    fleet.edit(SPEECH, AUDIO, ("schema_version: 1", "schema_version: 1\non_edit: beside"))
    fleet.publish()
    fleet.edit(SPEECH, ("schema_version: 1", "schema_version: 1\ncancelled: true"))
    assert ended(fleet.publish()) == [(WHISPER, "cancelled")] * 2
    assert WHISPER not in fleet.live()


def test_an_edit_taken_back_starts_nothing(fleet):
    tip = fleet.tip
    fleet.edit(SPEECH, AUDIO)
    fleet.publish()
    fleet.edit(SPEECH, AUDIO[::-1])
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, outcome.plan.waiting, fleet.tip) == (0, None, [], tip)


def test_a_replaced_run_never_starts_again(fleet):
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 8"))
    fleet.publish()
    second = fleet.live()[FOLD]
    fleet.edit(PROTEIN, ("cpus: 8", "cpus: 4"))
    outcome = fleet.publish()
    assert (outcome.commit, len(outcome.plan.ended_before)) == (None, 1)
    assert fleet.live()[FOLD] == second


def test_cancel_and_uncancel(fleet):
    run = fleet.live()[DOWNSCALE]
    fleet.edit(CLIMATE, ("name: downscale", "name: downscale\ncancelled: true"))
    outcome = fleet.publish()
    assert (outcome.code, ended(outcome)) == (0, [(DOWNSCALE, "cancelled")])
    assert not fleet.manifests(run)
    assert fleet.states()[run.run_id].phase == "cancelled"
    tip = fleet.tip
    assert fleet.publish().commit is None
    fleet.edit(CLIMATE, ("\ncancelled: true", ""))
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)
    assert [wish.name for wish in outcome.plan.ended_before] == ["downscale"]


def test_a_bumped_generation_is_a_new_run(fleet):
    fleet.edit(CLIMATE, ("name: downscale", "name: downscale\ncancelled: true"))
    fleet.publish()
    fleet.edit(CLIMATE, ("cancelled: true", "generation: 2"))
    assert added(fleet.publish()) == [DOWNSCALE]
    fleet.edit(CLIMATE, ("generation: 2", "generation: 3"))
    assert len(fleet.publish().plan.waiting) == 1


def test_a_cancelled_document_that_never_ran_does_nothing(fleet):
    tip = fleet.tip
    fleet.commit({OTHER: job("other", cancelled="true")})
    assert (fleet.publish().commit, fleet.tip) == (None, tip)
    fleet.commit({THIRD: job("third")})
    fleet.publish()
    fleet.commit({OTHER: job("other")})
    assert added(fleet.publish()) == ["protein/other"]


def test_a_moved_document_changes_nothing(fleet):
    tip, moved = fleet.tip, "workspaces/speech/elsewhere/tau.yaml"
    fleet.commit(
        {SPEECH: None, moved: fleet.read(SPEECH), "workspaces/speech/elsewhere/train.py": fleet.read("workspaces/speech/finetune/train.py")}
    )
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)
    fleet.commit({OTHER: job("other")})
    assert fleet.publish().commit
    assert fleet.memory().moved == {"speech/" + fleet.live()[WHISPER].run: moved}
    # From there it can be edited, and deleted.
    fleet.edit(moved, AUDIO)
    assert len(fleet.publish().plan.waiting) == 1
    fleet.commit({moved: None})
    assert [run.name for run in fleet.publish().plan.vanished] == ["whisper-finetune"]


def test_where_a_replaced_run_was_moved_to_is_forgotten(fleet):
    """Of a run that has ended and that no document asks for any more, a full pass would remember nothing."""
    moved = "workspaces/protein/elsewhere/tau.yaml"
    fleet.commit({PROTEIN: None, moved: fleet.read(PROTEIN), OTHER: job("other")})
    fleet.publish()
    assert list(fleet.memory().moved.values()) == [moved]
    fleet.edit(moved, ("cpus: 4", "cpus: 8"))
    assert ended(fleet.publish()) == [(FOLD, "replaced")]
    assert fleet.memory().moved == {}
    fleet.edit(moved, ("name: fold-report", "name: fold-report\ncancelled: true"))
    fleet.publish()
    assert fleet.memory().moved == {}


def test_where_a_run_was_moved_to_is_forgotten_when_it_is_let_go(fleet):
    moved = "workspaces/protein/elsewhere/tau.yaml"
    fleet.commit({PROTEIN: None, moved: fleet.read(PROTEIN), OTHER: job("other")})
    fleet.publish()
    fleet.commit({moved: None, THIRD: job("third")})
    assert fleet.publish().code == 4
    assert list(fleet.memory().moved.values()) == [moved]
    assert ended(fleet.publish(allow=frozenset({FOLD}))) == [(FOLD, "cancelled")]
    assert fleet.memory().moved == {}


def test_a_moved_document_that_breaks_has_not_vanished(fleet):
    moved = "workspaces/speech/elsewhere/tau.yaml"
    fleet.commit({SPEECH: None, moved: fleet.read(SPEECH), OTHER: job("other")})
    fleet.publish()
    fleet.commit({moved: "name: [\n"})
    outcome = fleet.publish()
    assert (outcome.code, outcome.plan.vanished) == (1, [])
    assert [run.name for run in outcome.plan.unread] == ["whisper-finetune"]


def test_a_deleted_document_cancels_nothing(fleet):
    files = fleet.tree()
    fleet.commit({SPEECH: None})
    for _ in range(2):
        outcome = fleet.publish()
        assert (outcome.code, outcome.commit, rules(outcome)) == (4, None, ["run-vanished"])
        assert fleet.live()[WHISPER].run_id in messages(outcome)
    assert fleet.tree() == files
    # It is said again as long as it is not settled, and others go on.
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (4, ["protein/other"])
    fleet.commit({THIRD: job("third")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), rules(outcome)) == (4, ["protein/third"], ["run-vanished"])


def test_a_document_that_comes_back_is_the_same_run(fleet):
    text = fleet.read(SPEECH)
    fleet.commit({SPEECH: None, OTHER: job("other")})
    assert fleet.publish().code == 4
    fleet.commit({SPEECH: text})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit) == (0, None)


@pytest.mark.parametrize("how", ["id", "name", "object", "attempt"])
def test_allow_cancel_lets_a_vanished_run_go(fleet, how):
    run = fleet.live()[WHISPER]
    name = {"id": run.run_id, "name": WHISPER, "object": run.run, "attempt": f"{run.run}-1"}[how]
    fleet.commit({SPEECH: None})
    outcome = fleet.publish(allow=frozenset({name}))
    assert (outcome.code, ended(outcome)) == (0, [(WHISPER, "cancelled")])
    assert not fleet.manifests(run)
    assert fleet.publish().code == 0


def test_allow_cancel_lets_nothing_else_go(fleet):
    tip = fleet.tip
    outcome = fleet.publish(allow=frozenset({WHISPER, "nobody/knows"}))
    assert (outcome.code, outcome.commit, fleet.tip) == (4, None, tip)
    assert rules(outcome) == ["cancel-unknown"] * 2


def test_safety_cancel_allow(fleet):
    fleet.edit("taugen.yaml", ("  evidence:", "  safety: {cancel: allow}\n  evidence:"))
    fleet.commit({SPEECH: None})
    outcome = fleet.publish()
    assert (outcome.code, ended(outcome)) == (0, [(WHISPER, "cancelled")])


def test_safety_cancel_allow_spares_what_may_stand_in_a_broken_file(fleet):
    fleet.edit("taugen.yaml", ("  evidence:", "  safety: {cancel: allow}\n  evidence:"))
    fleet.publish()
    fleet.commit({SPEECH: None, "workspaces/speech/moved/tau.yaml": "name: [whisper-finetune\n"})
    outcome = fleet.publish()
    assert (outcome.code, ended(outcome), [run.name for run in outcome.plan.vanished]) == (4, [], ["whisper-finetune"])


def test_changed_code_is_a_note_and_nothing_else(fleet):
    tip, code = fleet.tip, "workspaces/climate/downscale/grid.py"
    fleet.commit({code: "def load():\n    return 'other'\n"})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)
    assert rules(outcome) == ["code-changed"]
    assert "bump `generation`" in messages(outcome)
    # Code that is put back, and files that are no code of a run, say nothing.
    fleet.commit({code: 'def load():\n    return "grid"\n', "workspaces/climate/README.md": "words\n"})
    assert rules(fleet.publish()) == []


def test_two_runs_in_one_file(fleet):
    both = job("first") + "---\n" + job("second", 2)
    fleet.commit({OTHER: both})
    assert sorted(added(fleet.publish())) == ["protein/first", "protein/second"]
    fleet.commit({OTHER: job("second", 2)})
    assert [run.name for run in fleet.publish().plan.vanished] == ["first"]


def test_a_folder_that_is_called_like_a_document(fleet):
    fleet.commit({"workspaces/protein/odd/tau.yaml/file.txt": "x\n", THIRD: job("third")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/third"])
    assert fleet.memory().pending == ("workspaces/protein/odd/tau.yaml",)
    fleet.commit({"workspaces/protein/odd/tau.yaml/file.txt": None})
    assert fleet.publish().code == 0


def test_the_quick_answer_knows_the_defaults_of_the_model():
    from taugen.pipeline.opening import DEFAULT_BRANCH
    from taugen.policy.model import Project

    assert Project.model_validate({}).output.branch == DEFAULT_BRANCH
    assert Project.model_validate({}).output.url is None


def test_what_is_published_is_told_without_loading_policy(fleet):
    """In a process of its own: nothing that takes long to import was imported."""
    import os
    import subprocess
    import sys
    from pathlib import Path

    code = """
import sys
from pathlib import Path
from taugen.pipeline.publish import Request, publish
outcome = publish(Request(Path(sys.argv[1])))
print(outcome.code, outcome.commit, 'pydantic' in sys.modules, 'taugen.policy.set' in sys.modules)
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code, str(fleet.root)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "None", "False", "False"]
