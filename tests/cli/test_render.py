"""`taugen render`: the tree in a folder, and one run on stdout."""

import pytest
import yaml


@pytest.fixture
def acme(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    return tmp_path / "acme"


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_it_writes_once_and_check_agrees(taugen, acme, tmp_path):
    assert taugen("render", "-o", "../out", "--check", cwd=acme).code == 1
    assert not (tmp_path / "out").exists()
    assert taugen("render", "-o", "../out", cwd=acme).code == 0
    assert taugen("render", "-o", "../out", "--check", cwd=acme).code == 0
    assert " 0 files written" in taugen("render", "-o", "../out", cwd=acme).err


def test_a_change_is_a_line_of_check_and_a_gone_run_leaves_the_folder(taugen, acme, tmp_path):
    taugen("render", "-o", "../out", cwd=acme)
    document = acme / "workspaces/research/first-run/tau.yaml"
    before = files(tmp_path / "out")
    document.write_text(document.read_text().replace("cpus: 1", "cpus: 2"))
    said = taugen("render", "-o", "../out", "--check", cwd=acme).out.splitlines()
    assert {line[0] for line in said} == {"A", "D"}
    taugen("render", "-o", "../out", cwd=acme)
    document.unlink()
    taugen("render", "-o", "../out", cwd=acme)
    assert files(tmp_path / "out") == {path for path in before if "first-run" not in path}


def test_files_of_others_and_edited_ones_are_named_and_left_alone(taugen, acme, tmp_path):
    taugen("render", "-o", "../out", cwd=acme)
    namespace = tmp_path / "out/clusters/main/workspaces/research/namespace-research.yaml"
    namespace.write_text(namespace.read_text() + "# mine\n")
    note = tmp_path / "out/clusters/main/note.yaml"
    note.write_text("a: b\n")
    ran = taugen("render", "-o", "../out", cwd=acme)
    assert ran.code == 4
    assert "namespace-research.yaml" in ran.err
    assert "deploy-edited" in ran.err
    assert namespace.read_text().endswith("# mine\n")
    assert note.read_text() == "a: b\n"


def test_an_edited_file_whose_source_is_gone_is_not_deleted(taugen, acme, tmp_path):
    taugen("render", "-o", "../out", cwd=acme)
    (job,) = (tmp_path / "out").rglob("job.yaml")
    job.write_text(job.read_text() + "# mine\n")
    (acme / "workspaces/research/first-run/tau.yaml").unlink()
    assert taugen("render", "-o", "../out", cwd=acme).code == 4
    assert job.exists()


def test_one_run(taugen, acme):
    ran = taugen("render", "-o", "-", "research/first-run", cwd=acme)
    assert [doc["kind"] for doc in yaml.safe_load_all(ran.out)] == ["ConfigMap", "Job"]
    assert taugen("render", "-o", "-", cwd=acme).code == 2


def test_one_run_is_shown_beside_a_broken_one(taugen, acme):
    other = acme / "workspaces/research/broken/tau.yaml"
    other.parent.mkdir()
    for text in ("name: broken\n", "name: [\n"):
        other.write_text(text)
        ran = taugen("render", "-o", "-", "research/first-run", cwd=acme)
        assert (ran.code, [doc["kind"] for doc in yaml.safe_load_all(ran.out)]) == (0, ["ConfigMap", "Job"])
        ran = taugen("render", "-o", "-", str(other), cwd=acme)
        assert (ran.code, ran.out, "broken/tau.yaml:1" in ran.err) == (1, "", True)


def test_nothing_is_written_if_there_is_an_error(taugen, acme, tmp_path):
    document = acme / "workspaces/research/first-run/tau.yaml"
    document.write_text(document.read_text().replace("cpus: 1", "cpus: 99"))
    ran = taugen("render", "-o", "../out", cwd=acme)
    assert ran.code == 1
    assert "nothing is rendered" in ran.err
    assert not (tmp_path / "out").exists()
