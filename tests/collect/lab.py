"""A collector in a test: a fake API server, real repositories for deploy and evidence branch."""

import json
import threading
from contextlib import contextmanager
from pathlib import Path

from taugen.collect import api
from taugen.collect.clock import Clock
from taugen.collect.config import Settings
from taugen.collect.deploy import Deploy
from taugen.collect.loop import Collector
from taugen.evidence import event
from taugen.evidence.paths import RunKey, parse
from taugen.evidence.sink import Sink
from taugen.evidence.store import Branch
from taugen.publish import state
from taugen.render import file
from tests import gitkit
from tests.collect import fakeapi, objects

PROJECT, CLUSTER = "meridian", "fjord"
RUN = RunKey(CLUSTER, objects.WORKSPACE, objects.RUN)


def body(run: str = objects.RUN, workspace: str = objects.WORKSPACE, phase="live", attempt=1, cluster=CLUSTER, more="") -> str:
    """A state file's body."""
    return (
        f"run: {workspace}/{run[:-9]}/{run[-8:]}\nphase: {phase}\nintent:\n  source: workspaces/{workspace}/x/tau.yaml\n"
        f"  commit: {'c' * 40}\n  digest: {run[-8:] + 'd' * 56}\n  code: {'e' * 40}\n  policy: {'f' * 64}\n  compiler: 0.1.0\n"
        f'object: {run}\ncluster: {cluster}\nattempt: {attempt}\nresumeFrom: ""\nneeds:\n- Namespace {objects.NAMESPACE}\n{more}'
    )


class Lab:
    """One cluster's surroundings below a folder."""

    def __init__(self, folder: Path, store: fakeapi.Store, address: str, *, fresh: bool = True) -> None:
        self.folder, self.store, self.address = folder, store, address
        self.deploy, self.evidence = folder / "deploy", folder / "evidence.git"
        self.kubeconfig = folder / "kubeconfig"
        self.said: list[str] = []
        self.failed: list[BaseException] = []
        self.states: dict[str, dict] = {}
        if fresh:
            gitkit.make_repo(self.deploy)
            gitkit.git(self.deploy, "checkout", "-q", "--orphan", "deploy")
            gitkit.commit(self.deploy, {"README": "x"})
            gitkit.make_bare(self.evidence)
            fakeapi.kubeconfig(self.kubeconfig, address)

    @classmethod
    def existing(cls, folder: Path, address: str) -> "Lab":
        """What another process made."""
        return cls(folder, fakeapi.Store(), address, fresh=False)

    def publish(self) -> None:
        """Commit all of `states` at once."""
        source = f"workspaces/{objects.WORKSPACE}/x/tau.yaml"
        files = {
            state.state_path(objects.WORKSPACE, run): file.encoded(body(run, **more), source, PROJECT) for run, more in self.states.items()
        }
        gitkit.commit(self.deploy, files)

    def state(self, run: str = objects.RUN, workspace: str = objects.WORKSPACE, **more) -> None:
        """Commit a run's state to the deploy branch."""
        content = file.encoded(body(run, workspace, **more), f"workspaces/{workspace}/x/tau.yaml", PROJECT)
        gitkit.commit(self.deploy, {state.state_path(workspace, run): content})

    def settings(self, **more) -> Settings:
        return Settings(
            **{
                "cluster": CLUSTER,
                "project": PROJECT,
                "namespaces": {objects.NAMESPACE: objects.WORKSPACE},
                "interval": 0.2,
                "watch": 0.5,
                **more,
            }
        )

    def collector(self, name: str = "a", clock: Clock | None = None, **more) -> Collector:
        own = clock or Clock()
        sink = Sink(self.folder / f"state-{name}", str(self.evidence), "evidence", f"taugen collector {CLUSTER}")
        deploy = Deploy(self.deploy, "deploy", PROJECT, CLUSTER)
        return Collector(self.settings(**more), api.connect(self.kubeconfig), sink, deploy, own, self.said.append)

    @contextmanager
    def running(self, name: str = "a", **more):
        """A collector at work, in a thread."""
        clock = Clock()
        collector = self.collector(name, clock, **more)
        failed = self.failed

        def work() -> None:
            try:
                collector.run()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            clock.stopped.set()
            thread.join(20)
        if failed:
            raise failed[0]
        assert not thread.is_alive()

    def branch(self) -> Branch:
        tips = gitkit.git(self.evidence, "for-each-ref", "--format=%(objectname)", "refs/heads/evidence")
        return Branch(self.evidence, tips or None)

    def tree(self) -> str:
        """The tree id of the evidence."""
        return gitkit.git(self.evidence, "rev-parse", "evidence^{tree}")

    def commits(self) -> int:
        return int(gitkit.git(self.evidence, "rev-list", "--count", "evidence")) if self.branch().tip else 0

    def events(self, attempt: int = 1, run: RunKey = RUN) -> list[str]:
        return [str(one.type) for one in self.branch().events(run.attempt(attempt))]

    def until(self, holds, seconds: float = 20):
        """Wait until something holds."""
        until(holds, seconds)


def until(holds, seconds: float = 20) -> None:
    waited = threading.Event()
    for _ in range(int(seconds * 50)):
        if holds():
            return
        waited.wait(0.02)
    raise AssertionError(f"after {seconds} s: {holds}")


__all__ = ["Lab", "event", "json", "parse", "until"]
