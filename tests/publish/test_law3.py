"""A published document is not judged by later policy: `check`, and `render --against`, where what a branch holds stays as it is."""

import json

import pytest

from tests.gitkit import git, make_bare, write
from tests.publish.kit import FOLD, PROTEIN, QUEUES, SPEECH, WHISPER, Fleet, job

OTHER = "workspaces/protein/other/tau.yaml"
NARROWER = ("registry.tern.example/, docker.io/rayproject/", "nowhere.example/")
PLATFORM = "policy/platform.yaml"


def findings(taugen, fleet, *args):
    ran = taugen("check", "--format", "json", *args, cwd=fleet.root)
    return ran.code, [(f["severity"], f["rule"], f["file"]) for f in json.loads(ran.out)["findings"] if f["rule"] != "image-tag"]


def test_policy_that_changed_is_a_note_on_published_runs(taugen, fleet):
    write(fleet.root, {PLATFORM: fleet.read(PLATFORM).replace(*NARROWER), OTHER: job("other")})
    code, found = findings(taugen, fleet)
    assert code == 1
    assert [f for f in found if f[0] == "error"] == [("error", "image-registry", OTHER)]
    assert {f[2] for f in found if f[0] == "note"} == {PROTEIN, SPEECH, "workspaces/climate/downscale/tau.yaml"}
    # Each file by itself, too.
    assert findings(taugen, fleet, PROTEIN) == (0, [("note", "image-registry", PROTEIN)])
    assert "the run is published" in taugen("check", PROTEIN, cwd=fleet.root).out


def test_warnings_of_published_runs_are_notes(taugen, fleet):
    assert taugen("check", "--strict", SPEECH, cwd=fleet.root).code == 0
    fleet.git("update-ref", "-d", "refs/heads/deploy")
    assert taugen("check", "--strict", SPEECH, cwd=fleet.root).code == 0, "the tip that publish saw is known"
    fleet.git("for-each-ref", "--format=delete %(refname)", "refs/taugen")
    for ref in fleet.git("for-each-ref", "--format=%(refname)", "refs/taugen").splitlines():
        fleet.git("update-ref", "-d", ref)
    assert taugen("check", "--strict", SPEECH, cwd=fleet.root).code == 1


def test_a_patch_that_breaks_a_new_run_is_an_error_beside_published_ones(taugen, fleet):
    slip = "overlays/mesa/slip.yaml"
    write(fleet.root, {slip: "target: {kind: Job}\npatch: {spec: {suspend: true}}\n"})
    assert findings(taugen, fleet) == (0, [("note", "managed-field", slip)])
    write(fleet.root, {OTHER: job("other")})
    assert findings(taugen, fleet) == (1, [("error", "managed-field", slip)])


def test_findings_of_reading_stay_errors(taugen, fleet):
    write(fleet.root, {PROTEIN: fleet.read(PROTEIN) + "nonsense: 1\n"})
    code, found = findings(taugen, fleet)
    assert (code, found) == (1, [("error", "unknown-key", PROTEIN)])


def test_an_edited_document_is_judged(taugen, fleet):
    write(fleet.root, {PLATFORM: fleet.read(PLATFORM).replace(*NARROWER), PROTEIN: fleet.read(PROTEIN).replace("cpus: 4", "cpus: 8")})
    assert ("error", "image-registry", PROTEIN) in findings(taugen, fleet)[1]


def test_a_cancelled_run_is_judged_like_any_other(taugen, fleet):
    fleet.edit(PROTEIN, ("name: fold-report", "name: fold-report\ncancelled: true"))
    fleet.publish()
    write(fleet.root, {PLATFORM: fleet.read(PLATFORM).replace(*NARROWER), PROTEIN: fleet.read(PROTEIN).replace("\ncancelled: true", "")})
    assert ("error", "image-registry", PROTEIN) in findings(taugen, fleet)[1]


def test_a_clone_knows_what_its_remote_holds(taugen, fleet, tmp_path):
    git(tmp_path, "clone", "-q", str(fleet.path), "clone")
    clone = Fleet(tmp_path / "clone")
    write(clone.root, {PLATFORM: clone.read(PLATFORM).replace(*NARROWER)})
    assert findings(taugen, clone)[0] == 0


def test_without_a_repository_all_is_judged(taugen, fleet, tmp_path):
    (tmp_path / "plain").mkdir()
    fleet.git("archive", "-o", str(tmp_path / "x.tar"), "HEAD")
    git(tmp_path, "init", "-q", "unused")
    import tarfile

    with tarfile.open(tmp_path / "x.tar") as archive:
        archive.extractall(tmp_path / "plain", filter="data")
    plain = Fleet(tmp_path / "plain")
    assert findings(taugen, plain) == (0, [])


# ------------------------------------------------------------------------------------------------------------------ render --against


def rendered(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def deployed(fleet):
    return {path: fleet.show(path) for path in fleet.tree() if path.startswith("clusters/")}


def test_against_the_branch_nothing_differs(taugen, fleet, tmp_path):
    fleet.deploy({"clusters/theirs.yaml": "x\n"})
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", cwd=fleet.root)
    assert ran.code == 0, ran.err
    assert rendered(tmp_path / "out") == {path: text for path, text in deployed(fleet).items() if path != "clusters/theirs.yaml"}
    assert taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", "--check", cwd=fleet.root).code == 0


def test_published_runs_stay_frozen_and_the_rest_follows(taugen, fleet, tmp_path):
    write(fleet.root, {
        PLATFORM: fleet.read(PLATFORM).replace("docker.io/rayproject/", "nowhere.example/"),
        QUEUES: fleet.read(QUEUES).replace("cpu: {nominal: 180}", "cpu: {nominal: 190}"),
        PROTEIN: fleet.read(PROTEIN).replace("cpus: 4", "cpus: 8"),
        OTHER: job("other"),
    })  # fmt: skip
    whisper = fleet.live()[WHISPER]
    frozen = {path: fleet.show(path) for path in fleet.manifests(whisper)}
    # The sources alone can't be rendered any more: policy forbids the image of a published run.
    assert taugen("render", "-o", str(tmp_path / "alone"), cwd=fleet.root).code == 1
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", cwd=fleet.root)
    assert ran.code == 0, ran.err
    fleet.commit()
    assert fleet.publish().code == 0
    out = rendered(tmp_path / "out")
    assert out == deployed(fleet)
    assert frozen.items() <= out.items()


def test_what_publish_refuses_is_refused_here(taugen, fleet, tmp_path):
    write(fleet.root, {PROTEIN: None})
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", cwd=fleet.root)
    assert (ran.code, FOLD in ran.err, rendered(tmp_path / "out")) == (4, True, deployed(fleet))


def test_a_waiting_run_is_named(taugen, fleet, tmp_path):
    write(fleet.root, {SPEECH: fleet.read(SPEECH).replace("gpus: 2", "gpus: 1")})
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", cwd=fleet.root)
    assert (ran.code, "waits for" in ran.err) == (0, True)


@pytest.mark.parametrize("ref", ["nothing", "HEAD"])
def test_against_what_is_no_deploy_branch(taugen, fleet, tmp_path, ref):
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", ref, cwd=fleet.root)
    assert ran.code == (2 if ref == "nothing" else 0)


def test_against_an_edited_branch(taugen, fleet, tmp_path):
    path = "clusters/mesa/platform/clusterqueue-batch.yaml"
    fleet.deploy({path: fleet.show(path) + "# x\n"})
    ran = taugen("render", "-o", str(tmp_path / "out"), "--against", "deploy", cwd=fleet.root)
    assert (ran.code, path in ran.err) == (4, True)


def test_against_needs_a_folder(taugen, fleet):
    assert taugen("render", "-o", "-", "--against", "deploy", FOLD, cwd=fleet.root).code == 2


def test_against_a_branch_of_a_remote(taugen, fleet, tmp_path):
    server = make_bare(tmp_path / "server.git")
    fleet.git("remote", "add", "origin", str(server))
    fleet.git("push", "-q", "origin", "deploy")
    fleet.git("fetch", "-q", "origin")
    fleet.git("update-ref", "-d", "refs/heads/deploy")
    assert taugen("render", "-o", str(tmp_path / "out"), "--against", "origin/deploy", cwd=fleet.root).code == 0
