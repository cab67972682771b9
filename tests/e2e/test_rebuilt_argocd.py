"""A cluster whose state is thrown away and rebuilt from Git by Argo CD: the queue comes back, what is over does not start again."""

from pathlib import Path

from tests.e2e import lab, runs
from tests.e2e.collected import Evidence, bind, names, rebuilt
from tests.e2e.kube import Kube, holds
from tests.e2e.loop import ArgoLoop
from tests.e2e.plane import Plane

WITH = ("kueue", "argocd")


def test_a_cluster_that_is_rebuilt_from_git_starts_no_finished_run_again(plane: Plane, kube: Kube, tmp_path: Path):
    loop = ArgoLoop(tmp_path / "argo", plane, kube, lab.ARGO)
    evidence = Evidence(tmp_path / "collected", loop)
    loop.bootstrap()
    bind(kube)
    for name, more in (("over", {}), ("failed", {"exits": 1}), ("alive", {"seconds": 3600})):
        loop.write(name, **more)
    loop.publish()
    loop.sync()
    over, failed, alive = map(loop.object, ("over", "failed", "alive"))
    for item in (over, failed):
        runs.finished(kube, item)
    runs.running(kube, alive, 1)
    evidence.collect()
    evidence.advance()
    for item in (over, failed):
        kube.until(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda old: old is None, "pruned")
    before = loop.head()
    with rebuilt(loop, WITH, tmp_path / "rebuilt") as fresh:
        assert loop.head() == before
        assert runs.running(fresh, alive, 1)
        assert names(fresh) == {"alive"}
        queues = fresh.list("kueue.x-k8s.io/v1beta2/ClusterQueue")
        assert queues
        assert all(holds(queue, "Active") for queue in queues)
