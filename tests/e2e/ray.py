"""What the small server that stands in for Ray's dashboards is told."""

import http.client

from tests.e2e import nodes, runs
from tests.e2e.kube import Kube, Object
from tests.e2e.plane import Plane


def outcome(plane: Plane, name: str, state: str) -> None:
    """Jobs of RayJobs whose name begins with `name` are in `state` from now on."""
    connection = http.client.HTTPConnection("127.0.0.1", plane.site.port("dashboard"), timeout=10)
    try:
        connection.request("PUT", f"/outcome/{name}-", state)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
    finally:
        connection.close()


def release(plane: Plane, kube: Kube, item: Object, state: str = "SUCCEEDED") -> None:
    """A RayJob that was held comes to its end: its dashboard says so, and its submitter ends. Other kinds end by themselves."""
    if item["kind"] != "RayJob":
        return
    outcome(plane, item["metadata"]["labels"]["taugen.dev/name"], state)
    for pod in runs.pods(kube, item):
        if pod["spec"]["containers"][0]["name"] == nodes.SUBMITTER:
            change = {"metadata": {"annotations": {nodes.RELEASE: "true"}}}
            kube.patch("v1/Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], change)
