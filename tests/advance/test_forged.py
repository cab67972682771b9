"""Forged ends, one for each way that is known to try it: `advance` ends no run by them, `publish` brings none back as ended, `verify` finds
each. The forger may push to the evidence branch and holds the key of another cluster.
"""

import subprocess

import pytest

from tests.advance.kit import LOST, STARTED, Story, failed, retried
from tests.advance.test_rebuild import lose
from tests.advance.test_trust import ANT, DOC, keys, with_keys  # noqa: F401
from tests.evidence.test_odd import raw, with_folder, written
from tests.publish.kit import Fleet, job

# ruff: noqa: F811
CAT, OTHER = "protein/cat", "workspaces/protein/d2/tau.yaml"
FATAL = failed(exitCodes={"main": 42})
"""Where it stands instead of the loss of a node, the run is over."""


@pytest.fixture(scope="module")
def base(tmp_path_factory, keys):
    """ant has begun; cat, on the same cluster, has succeeded; all that is signed."""
    fleet = Fleet.make(tmp_path_factory.mktemp("forged") / "repo", {DOC: retried("ant"), OTHER: job("cat")})
    with_keys(fleet, keys)
    assert fleet.publish().code == 0
    story = Story(fleet)
    for run in fleet.live().values():
        story.intent(run, sign=keys / run.cluster)
        story.tell(run, *STARTED, sign=keys / run.cluster)
    story.tell(story.run(CAT), ("succeeded", 30), sign=keys / "mesa")
    story.record(story.run(CAT), sign=keys / "mesa")
    return fleet


@pytest.fixture
def story(base, tmp_path):
    return Story(base.copy(tmp_path / "repo"))


class Forger:
    """Writes what nobody signed whose word counts."""

    def __init__(self, story, keys):
        self.story, self.keys, self.repo = story, keys, story.fleet.path
        self.ant = story.run(ANT)
        self.folder = story.key(self.ant).folder

    def tip(self):
        return self.story.fleet.git("rev-parse", "evidence")

    def blob(self, content):
        return written(self.repo, "blob", content)

    def push(self, tree, *parents):
        """A commit with a tree, signed with the other cluster's key."""
        config = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={self.keys / 'fjord'}")
        given = [word for parent in parents or (self.tip(),) for word in ("-p", parent)]
        made = self.story.fleet.git(*config, "commit-tree", "-S", "-m", "evidence", *given, tree)
        self.story.fleet.git("update-ref", "refs/heads/evidence", made)

    def stolen(self, tail=b""):
        """A commit that says that ant succeeded, with the signature of the newest commit that the cluster signed."""
        signed = subprocess.run(["git", "cat-file", "commit", self.tip()], cwd=self.repo, capture_output=True, check=True).stdout
        start = signed.index(b"gpgsig ")
        signature = signed[start : signed.index(b"-----END SSH SIGNATURE-----\n") + 28]
        old = self.tip()
        mine = self.story.tell(self.ant, ("succeeded", 30))
        body = subprocess.run(["git", "cat-file", "commit", mine], cwd=self.repo, capture_output=True, check=True).stdout
        head, _, message = body.partition(b"\n\n")
        made = written(self.repo, "commit", head + b"\n" + signature + b"\n" + message + tail)
        self.story.fleet.git("update-ref", "refs/heads/evidence", made, mine)
        assert old in head.decode()

    def entries(self, folder, name, content, *, first):
        """A second file under a name in a folder, before or behind the one that is signed."""
        old = raw(self.repo, folder)
        mine = b"100644 " + name.encode() + b"\0"
        at = old.index(mine)
        end = at + len(mine) + 20
        entry = mine + bytes.fromhex(self.blob(content))
        self.push(with_folder(self.repo, folder, old[:at] + entry + old[at:] if first else old[:end] + entry + old[end:]))

    def failure(self):
        """ant lost its node, and the cluster says so. Returns the name of the pod's end, and its content as the forger would have it."""
        mesa = self.keys / "mesa"
        self.story.tell(self.ant, *failed(**LOST), sign=mesa)
        self.story.record(self.ant, sign=mesa)
        path = next(p for p in self.story.fleet.tree("evidence") if p.startswith(self.folder) and "-pod-ended-" in p)
        told = self.story.fleet.show(path, "evidence")
        forged = told.replace('"exitCodes":{}', '"exitCodes":{"main":42}')
        assert forged != told
        return path.rpartition("/")[2], forged.encode()


def another_clusters_key(forger):
    forger.story.tell(forger.ant, ("succeeded", 30), sign=forger.keys / "fjord")
    forger.story.record(forger.ant, sign=forger.keys / "fjord")


def nobodys_key(forger):
    forger.story.tell(forger.ant, ("succeeded", 30))
    forger.story.record(forger.ant)


def a_stolen_signature(forger):
    forger.stolen()


def a_stolen_signature_and_a_nul(forger):
    forger.stolen(b"\0tree behind the end\n")


def a_nul(forger):
    forger.story.tell(forger.ant, ("succeeded", 30))
    body = subprocess.run(["git", "cat-file", "commit", forger.tip()], cwd=forger.repo, capture_output=True, check=True).stdout
    made = written(forger.repo, "commit", body + b"\0Tau-Run: none\n")
    forger.story.fleet.git("update-ref", "refs/heads/evidence", made)


def anothers_folder(forger):
    forger.story.intent(forger.ant, cluster="fjord", sign=forger.keys / "fjord")
    forger.story.tell(forger.ant, *STARTED, ("succeeded", 30), cluster="fjord", sign=forger.keys / "fjord")


def another_runs_end_again(forger):
    """Signed files, byte for byte, at another place."""
    cat = forger.story.key(forger.story.run(CAT)).folder
    tree = forger.story.fleet.tree("evidence")
    old = [path for path in tree if path.startswith(cat) and ("-succeeded-" in path or path.endswith("record.json"))]
    assert len(old) == 2
    files = {path.replace(cat, forger.folder): forger.story.fleet.show(path, "evidence").encode() for path in old}
    forger.story.commit(files, sign=forger.keys / "fjord")


def an_old_commit_again(forger):
    """A commit that the cluster signed for cat, cherry-picked onto ant by a merge that has it as its parent."""
    cat, old = forger.story.key(forger.story.run(CAT)).folder, forger.tip()
    end = next(path for path in forger.story.fleet.tree("evidence") if path.startswith(cat) and "-succeeded-" in path)
    content = forger.story.fleet.show(end, "evidence").encode()
    forger.story.commit({end.replace(cat, forger.folder): content})
    forger.push(f"{forger.tip()}^{{tree}}", old, forger.story.fleet.git("rev-parse", f"{old}~1"))


def a_second_end_in_front(forger):
    name, content = forger.failure()
    forger.entries(f"{forger.folder}/events", name, content, first=True)


def a_second_end_behind(forger):
    name, content = forger.failure()
    forger.entries(f"{forger.folder}/events", name, content, first=False)


def a_second_record(forger):
    forger.failure()
    forger.entries(forger.folder, "record.json", b'{"id":{"forged":true}}\n', first=True)


def zeros_before_modes(forger):
    nobodys_key(forger)
    top = raw(forger.repo, "").replace(b"40000 ", b"040000 ")
    forger.push(written(forger.repo, "tree", top))


def anothers_name(forger):
    """What stands there names a file that is signed; where it stands is another."""
    name, content = forger.failure()
    forger.story.commit({f"{forger.folder}/events/{name[:-6]}0.json": content, f"{forger.folder}/events/z.json": content})


def an_edit(forger):
    name, content = forger.failure()
    forger.story.commit({f"{forger.folder}/events/{name}": content}, sign=forger.keys / "fjord")


def a_merge_of_two_histories(forger):
    """One parent has the cluster's file, the other the forger's; the merge takes the forger's, and something of each."""
    before = forger.tip()
    name, content = forger.failure()
    signed, path = forger.tip(), f"{forger.folder}/events/{name}"
    forger.story.fleet.git("update-ref", "refs/heads/evidence", before)
    forger.story.commit({path: content, f"{forger.folder}/checkpoints.7.jsonl": b"{}\n"})
    mine = forger.tip()
    forger.story.fleet.git("update-ref", "refs/heads/evidence", signed)
    forger.story.commit({path: content, f"{forger.folder}/checkpoints.7.jsonl": b"{}\n"})
    forger.push(f"{forger.tip()}^{{tree}}", signed, mine)


def the_same_the_other_way(forger):
    a_merge_of_two_histories(forger)
    forger.push(f"{forger.tip()}^{{tree}}", *reversed(forger.story.fleet.git("log", "-1", "--format=%P", "evidence").split()))


ATTACKS = [
    another_clusters_key, nobodys_key, a_stolen_signature, a_stolen_signature_and_a_nul, a_nul, anothers_folder, another_runs_end_again,
    an_old_commit_again, a_second_end_in_front, a_second_end_behind, a_second_record, zeros_before_modes, anothers_name, an_edit,
    a_merge_of_two_histories, the_same_the_other_way,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_forged_end_counts(story, keys, attack, taugen):
    attack(Forger(story, keys))
    back = Story(story.fleet.copy(story.fleet.path.parent / "back"))
    said = taugen("evidence", "verify", cwd=story.fleet.root)
    assert (said.code, "evidence-" in said.err + said.out) == (1, True), said.err
    story.advance()
    assert story.run(ANT).phase == "live"
    assert story.run(CAT).phase == "succeeded", "what is true of others goes on"
    lose(back)
    said = taugen("publish", cwd=back.fleet.root)
    if said.code == 4 and not back.fleet.git("for-each-ref", "refs/heads/deploy"):
        assert f"protein/{story.run(ANT).run}" in said.err, "what stands in the way is named"
    else:
        assert (back.run(ANT).phase, back.run(CAT).phase) == ("live", "succeeded")


def test_the_same_end_signed_by_the_cluster_counts(story, keys):
    """Else the others would prove nothing."""
    ant = story.run(ANT)
    story.tell(ant, *FATAL, sign=keys / "mesa")
    story.record(ant, sign=keys / "mesa")
    back = Story(story.fleet.copy(story.fleet.path.parent / "back"))
    assert story.advance().code == 0
    lose(back)
    assert back.fleet.publish().code == 0
    assert (story.run(ANT).phase, back.run(ANT).phase) == ("failed", "failed")
