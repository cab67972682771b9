"""The GitHub Action: its steps as they stand, in the environment that a runner gives them."""

import subprocess

import pytest

from tests import outside
from tests.ci.kit import ROOT, Runner, load, project
from tests.gitkit import commit, git, make_bare

ACTION = load(ROOT / "action.yml")
STEPS = ACTION["runs"]["steps"]
GRID = "workspaces/climate/downscale/tau.yaml"
PROFILES = "policy/profiles.yaml"


def runner(folder, event, **inputs):
    checkout = project(folder)
    values = {name: made["default"] for name, made in ACTION["inputs"].items()} | inputs
    context = {f"inputs.{name}": value for name, value in values.items()}
    pull = event.startswith("pull_request")
    context |= {
        "github.event.pull_request.base.sha": git(checkout, "rev-parse", "main"),
        "startsWith(github.event_name, 'pull_request')": pull,
        "!startsWith(github.event_name, 'pull_request')": not pull,
        "!cancelled() && steps.pull.outputs.policy == 'changed'": lambda r: r.context.get("steps.pull.outputs.policy") == "changed",
        "inputs.publish == 'true' && !startsWith(github.event_name, 'pull_request')": values["publish"] == "true" and not pull,
    }
    return Runner(folder, checkout, context)


def play(made, base="main"):
    return made.play(STEPS, {"GITHUB_BASE_REF": base})


def test_a_good_pull_request(tmp_path):
    made = runner(tmp_path, "pull_request")
    commit(made.workspace, {GRID: (made.workspace / GRID).read_text() + "# x\n"})
    assert play(made) == 0, made.log
    assert made.log.startswith("No problems in 1 run, ")
    assert made.played == ["Check the pull request by the policy of its base"]
    assert made.summary.read_text().startswith("**taugen**")


def test_a_bad_pull_request_gets_annotations_and_a_summary(tmp_path):
    made = runner(tmp_path, "pull_request", sarif="out.sarif", strict="true")
    commit(made.workspace, {GRID: (made.workspace / GRID).read_text() + "nonsense: 1\n"})
    assert play(made) == 1
    assert made.log.startswith(f"::error file={GRID},line=")
    assert "nonsense" in made.summary.read_text()
    assert "nonsense" in (made.workspace / "out.sarif").read_text()


def test_loosened_policy_is_judged_by_itself_too(tmp_path):
    made = runner(tmp_path, "pull_request")
    text = (made.workspace / PROFILES).read_text()
    commit(
        made.workspace,
        {PROFILES: text.replace("max: 240h", "max: 900h"), GRID: (made.workspace / GRID).read_text().replace("120h", "500h")},
    )
    assert play(made) == 1
    assert made.played == ["Check the pull request by the policy of its base", "Check the change of policy"]
    assert "title=profile-limit" in made.log
    assert "title=policy-not-judged" in made.log


def test_a_change_of_policy_alone(tmp_path):
    made = runner(tmp_path, "pull_request", **{"changed-only": "false"})
    commit(made.workspace, {PROFILES: (made.workspace / PROFILES).read_text() + "# x\n"})
    assert play(made) == 0, made.log
    commit(made.workspace, {PROFILES: "kind: Nonsense\n"})
    assert play(made) == 1
    assert "policy-kind" in made.log or "policy-api-version" in made.log


def test_without_the_branch_the_commit_of_the_event_judges(tmp_path):
    made = runner(tmp_path, "pull_request")
    git(made.workspace, "update-ref", "-d", "refs/remotes/origin/main")
    commit(made.workspace, {GRID: (made.workspace / GRID).read_text() + "nonsense: 1\n"})
    assert play(made) == 1


def test_a_shallow_checkout_says_what_to_do(tmp_path):
    made = runner(tmp_path, "pull_request")
    made.context["github.event.pull_request.base.sha"] = "1" * 40
    git(made.workspace, "update-ref", "-d", "refs/remotes/origin/main")
    assert play(made) == 2
    assert "fetch-depth: 0" in made.log


def test_a_pull_request_is_never_published(tmp_path):
    made = runner(tmp_path, "pull_request_target", publish="true")
    play(made)
    assert "Publish" not in made.played


def test_a_push_is_checked_and_published(tmp_path):
    made = runner(tmp_path, "push", publish="true")
    made.context["inputs.publish-to"] = str(make_bare(tmp_path / "deploy.git"))
    assert play(made) == 0, made.log
    assert made.played == ["Check", "Publish"]
    published = git(tmp_path / "deploy.git", "rev-parse", "deploy")
    assert made.context["steps.publish.outputs.commit"] == published


def test_a_push_with_errors_is_not_published(tmp_path):
    made = runner(tmp_path, "push", publish="true")
    commit(made.workspace, {GRID: "nonsense: 1\n"})
    assert play(made) == 1
    assert made.played == ["Check"]


def test_inputs_never_become_code():
    """Expressions stand in `env` and `working-directory` only: a branch's name in a script would be run."""
    for step in STEPS:
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("step", [s for s in STEPS if "run" in s], ids=lambda s: s["name"])
def test_shellcheck(step, tmp_path):
    (tmp_path / "step.sh").write_text("#!/bin/bash\n" + step["run"])
    done = subprocess.run([outside.program("shellcheck"), str(tmp_path / "step.sh")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_install_step_looks_for_nothing_in_the_checkout():
    (install,) = [step for step in STEPS if step.get("name") == "Install"]
    assert install["working-directory"] == "${{ runner.temp }}"


def test_actions_are_pinned_by_commit():
    for step in STEPS:
        if "uses" in step:
            assert len(step["uses"].partition("@")[2]) == 40
