"""The whole loop with the real commands: publish, a cluster that runs what the deploy branch holds, collect, advance, and what readers see.

The cluster is a stand-in that serves the objects of the deploy branch with the status that a test gives them; everything else is real.
"""

import json

import pytest
import yaml

from tests.collect import fakeapi, objects
from tests.collect.objects import at, condition, over, running
from tests.gitkit import git
from tests.publish.kit import PROTEIN, Fleet

RUN = """\
name: fold
run: {entrypoint: [python, -m, fold.report], workload_kind: job}
code: {delivery: image}
runtime: {image: "registry.tern.example/protein/fold@sha256:2222222222222222222222222222222222222222222222222222222222222222"}
compute: {gpus: 0, cpus: 4, memory: 16Gi}
policy: {profile: cpu, cluster: mesa}
storage: {data: checkpoints}
checkpoint: {path: /checkpoints/fold, every: 10m, resume: auto}
resilience: {max_retries: 2, retry_on: [NodeFailure], fatal_exit_codes: [42]}
"""


class World:
    """A repository, a cluster that serves what its deploy branch holds, a shared volume."""

    def __init__(self, folder, store, address, taugen):
        self.fleet = Fleet.make(folder / "repo", {PROTEIN: RUN})
        self.store, self.taugen, self.volume = store, taugen, folder / "volume"
        self.kubeconfig = fakeapi.kubeconfig(folder / "kubeconfig", address)
        self.state = folder / "collector"
        self.volume.mkdir()

    def run(self, *args, code=0):
        done = self.taugen(*args, cwd=self.fleet.path)
        assert done.code == code, done.err
        return done

    def collect(self):
        claim = f"checkpoints={self.volume}"
        where = ("--cluster", "mesa", "--kubeconfig", str(self.kubeconfig), "--folder", str(self.state), "--mount", claim)
        return self.run("collect", "--once", *where)

    def manifests(self):
        """The objects of the run that the deploy branch holds, by kind."""
        listed = self.fleet.git("ls-tree", "-r", "--name-only", "deploy", "clusters/mesa/runs/protein/").splitlines()
        found = [yaml.safe_load(self.fleet.git("show", f"deploy:{path}")) for path in listed]
        return {obj["kind"]: obj for obj in found if obj["metadata"]["name"] != "taugen-workspace"}

    def apply(self, uid, minute, **status):
        """What the reconciler does: the Job of the deploy branch is there, and no other."""
        wanted = self.manifests().get("Job")
        for kind, namespace, name in [key for key in self.store.current if key[0] in ("Job", "Workload", "Pod")]:
            if wanted is None or not name.startswith(wanted["metadata"]["name"]):
                self.store.delete(kind, namespace, name)
        if wanted is None:
            return ""
        meta = wanted["metadata"] | {"uid": uid, "creationTimestamp": at(minute), "generation": 1}
        self.store.put({**wanted, "metadata": meta, "status": status})
        return meta["name"]

    def work(self, name, uid, minute, container, **status):
        """Kueue admits it, and its pod runs or ran."""
        made = self.manifests()["Job"]
        namespace, labels = made["metadata"]["namespace"], made["spec"]["template"]["metadata"]["labels"]
        admitted = [condition("QuotaReserved", "True", minute + 1), condition("Admitted", "True", minute + 1)]
        self.store.put(
            objects.workload(
                f"{name}-w", f"w-{uid}", name, uid, minute, namespace=namespace, conditions=admitted, admission=objects.ADMISSION
            )
        )
        pod = objects.pod(f"{name}-0-abcde", f"p-{uid}", minute + 2, namespace=namespace, containerStatuses=[container], **status)
        pod["metadata"]["labels"] |= labels
        self.store.put(pod)

    def checkpoint(self, step):
        """A complete checkpoint of the run, as the program writes it."""
        told = yaml.safe_load(self.fleet.git("show", f"deploy:{self.state_file()}"))
        folder = self.volume / "fold" / f"step-{step}"
        folder.mkdir(parents=True)
        (folder / "weights").write_bytes(b"x" * step)
        (folder / "_TAU_COMPLETE.json").write_text(json.dumps({"run": told["run"], "step": step, "files": {"weights": step}}))

    def state_file(self):
        return self.fleet.git("ls-tree", "-r", "--name-only", "deploy", ".taugen/state/protein/").splitlines()[0]

    def phase(self):
        told = yaml.safe_load(self.fleet.git("show", f"deploy:{self.state_file()}"))
        return told["phase"], told["attempt"], told["resumeFrom"]

    def lose(self):
        """The deploy branch is gone, and nothing here remembers it."""
        git(self.fleet.path, "branch", "-D", "deploy")
        for ref in self.fleet.git("for-each-ref", "--format=%(refname)", "refs/taugen/seen").splitlines():
            self.fleet.git("update-ref", "-d", ref)

    def commits(self, branch):
        return int(self.fleet.git("rev-list", "--count", branch))


@pytest.fixture
def world(tmp_path, taugen):
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        world = World(tmp_path, store, address, taugen)
        world.run("publish")
        yield world


LOST = [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "lastTransitionTime": at(30)}]
FAILED = condition("Failed", "True", 31, "BackoffLimitExceeded", "a pod failed")


def lose_the_node(world):
    name = world.apply("j-1", 0, conditions=[FAILED])
    world.work(name, "j-1", 0, over(3, 30, 137), phase="Failed", conditions=LOST)
    world.checkpoint(100)
    world.checkpoint(200)


def test_a_lost_node_then_success(world):
    lose_the_node(world)
    world.collect()
    said = world.run("advance")
    assert world.phase() == ("live", 2, "/checkpoints/fold/step-200")
    assert "node" in said.err
    env = {e["name"]: e.get("value") for e in world.manifests()["Job"]["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert (env["TAU_RESUME_FROM"], env["TAU_RETRY_REASON"], env["TAU_ATTEMPT"]) == ("/checkpoints/fold/step-200", "NodeFailure", "2")
    before = world.commits("deploy"), world.commits("evidence")
    world.run("advance")
    world.run("publish")
    world.collect()
    world.run("advance")
    assert (world.commits("deploy"), world.commits("evidence")) == before, "nothing new, no commit"

    name = world.apply("j-2", 40)
    world.work(name, "j-2", 40, running(43), phase="Running")
    world.collect()
    assert json.loads(world.run("runs", "-o", "json").out)
    world.run("advance")
    assert world.phase()[0] == "live"
    name = world.apply("j-2", 40, conditions=[condition("Complete", "True", 60)], succeeded=1)
    world.work(name, "j-2", 40, over(43, 59), phase="Succeeded")
    world.checkpoint(900)
    world.collect()
    world.run("advance")
    assert world.phase() == ("succeeded", 2, "/checkpoints/fold/step-200")
    assert world.manifests() == {}
    assert world.apply("", 70) == "", "the reconciler prunes it"

    before = world.commits("deploy"), world.commits("evidence")
    for _ in range(2):
        world.collect()
        world.run("advance")
        world.run("publish")
        world.run("publish", "--full")
    assert (world.commits("deploy"), world.commits("evidence")) == before
    assert world.phase()[0] == "succeeded"
    world.run("evidence", "verify")
    shown = world.run("show", "protein/fold").out
    assert "succeeded" in shown
    assert "NodeFailure" in shown or "node" in shown
    assert "step 900" in shown or "900" in shown


def test_a_fatal_exit_code_ends_it(world):
    name = world.apply("j-1", 0, conditions=[FAILED])
    world.work(name, "j-1", 0, over(3, 30, 42), phase="Failed")
    world.collect()
    world.run("advance")
    assert world.phase()[:2] == ("failed", 1)
    assert world.manifests() == {}


def test_preempted_by_kueue_the_same_object_goes_on(world):
    name = world.apply("j-1", 0)
    world.work(name, "j-1", 0, running(3), phase="Running")
    world.collect()
    namespace = world.manifests()["Job"]["metadata"]["namespace"]
    evicted = [
        condition("QuotaReserved", "False", 10, "Pending", "Preempted to accommodate a workload"),
        condition("Admitted", "False", 10),
        condition("Evicted", "True", 10, "Preempted", "Preempted to accommodate a workload (UID: u-9) due to prioritization"),
        condition("Preempted", "True", 10, "InClusterQueue", "Preempted to accommodate a workload (UID: u-9) due to prioritization"),
    ]
    world.store.put(objects.workload(f"{name}-w", "w-j-1", name, "j-1", 0, namespace=namespace, conditions=evicted))
    world.collect()
    world.run("advance")
    assert world.phase() == ("live", 1, "")
    [row] = json.loads(world.run("runs", "--name", "fold", "-o", "json").out)["runs"]
    assert (row["state"], row["last"]) == ("stale", "queued"), "the collector was last heard of months ago"


def test_a_fleet_rebuilt_from_git_does_not_run_again_what_is_over(world):
    lose_the_node(world)
    world.collect()
    world.run("advance")
    name = world.apply("j-2", 40, conditions=[condition("Complete", "True", 60)], succeeded=1)
    world.work(name, "j-2", 40, over(43, 59), phase="Succeeded")
    world.collect()
    world.lose()
    world.run("publish")
    assert world.phase()[:2] == ("succeeded", 2)
    assert world.manifests() == {}


@pytest.mark.parametrize("minute", [None, 43])
def test_a_second_attempt_that_is_not_over_comes_back_byte_for_byte(world, minute):
    """Queued or running, resumed from a checkpoint; and newer checkpoints do not move it."""
    lose_the_node(world)
    world.collect()
    world.run("advance")
    name = world.apply("j-2", 40)
    if minute is not None:
        world.work(name, "j-2", 40, running(minute), phase="Running")
    world.checkpoint(900)
    world.collect()
    before, tree = world.phase(), world.fleet.git("rev-parse", "deploy^{tree}")
    assert before == ("live", 2, "/checkpoints/fold/step-200")
    world.lose()
    said = world.run("publish")
    assert "live, attempt 2" in said.err, said.err
    assert (world.phase(), world.fleet.git("rev-parse", "deploy^{tree}")) == (before, tree)
    world.run("advance")
    world.run("publish", "--full")
    assert world.fleet.git("rev-parse", "deploy^{tree}") == tree, "nothing follows"
    name = world.apply("j-2", 40, conditions=[condition("Complete", "True", 60)], succeeded=1)
    world.work(name, "j-2", 40, over(43, 59), phase="Succeeded")
    world.collect()
    world.run("advance")
    assert world.phase() == ("succeeded", 2, "/checkpoints/fold/step-200")
