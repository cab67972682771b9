"""What the small server that stands in for Ray's dashboards is told."""

import http.client

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
