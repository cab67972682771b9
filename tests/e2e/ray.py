"""What the small server that stands in for Ray's dashboards is told."""

import http.client
import json
import time

from tests.e2e import nodes, runs
from tests.e2e.kube import Kube, Object
from tests.e2e.plane import Plane


def outcome(plane: Plane, name: str, state: str) -> None:
    """Jobs of RayJobs whose name begins with `name` are in `state` from now on."""
    _ask(plane, "PUT", f"/outcome/{name}-", state)


def real(plane: Plane, name: str, port: int) -> None:
    """For jobs of RayJobs whose name begins with `name` a real dashboard at a port answers from now on."""
    _ask(plane, "PUT", f"/real/{name}-", str(port))


def ended(plane: Plane, job: str, seconds: float = 60) -> str:
    """How a job ended, as KubeRay is told, once it has."""
    end = time.monotonic() + seconds
    while (told := json.loads(_ask(plane, "GET", f"/api/jobs/{job}"))["status"]) in {"PENDING", "RUNNING"}:
        assert time.monotonic() < end, f"job {job} is {told} after {seconds:.0f} s"
        time.sleep(0.5)
    return str(told)


def refused(plane: Plane, name: str, times: int, seconds: float = 90) -> None:
    """Wait until KubeRay was told so often that the dashboards of these RayJobs can't be reached."""
    end = time.monotonic() + seconds
    while int(_ask(plane, "GET", f"/refused/{name}-")) < times:
        assert time.monotonic() < end, f"KubeRay asked fewer than {times} times in {seconds:.0f} s"
        time.sleep(0.5)


def _ask(plane: Plane, method: str, path: str, body: str = "") -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", plane.site.port("dashboard"), timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200
        return text
    finally:
        connection.close()


def ends(plane: Plane, kube: Kube, item: Object) -> None:
    """A run of any kind that goes on comes to its end, and Kueue knows."""
    if item["kind"] == "RayJob":
        release(plane, kube, item)
        runs.finished(kube, item, 120)
    else:
        runs.finish(kube, item)


def release(plane: Plane, kube: Kube, item: Object, state: str = "SUCCEEDED") -> None:
    """A RayJob that was held comes to its end: its dashboard says so, and its submitter ends. Other kinds end by themselves."""
    if item["kind"] != "RayJob":
        return
    outcome(plane, item["metadata"]["labels"]["taugen.dev/name"], state)
    for pod in runs.pods(kube, item):
        if pod["spec"]["containers"][0]["name"] == nodes.SUBMITTER:
            change = {"metadata": {"annotations": {nodes.RELEASE: "true"}}}
            kube.patch("v1/Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], change)
