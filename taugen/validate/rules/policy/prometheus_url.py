"""The address of a Prometheus is a plain http or https URL.

The collector asks it at the end of each attempt. A password in the URL would stand in Git and in a ConfigMap for everybody.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      metrics: {prometheus: 'prometheus.monitoring:9090'}

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      metrics: {prometheus: 'http://prometheus.monitoring:9090'}

Source: Prometheus docs, HTTP API
"""

import re
from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "prometheus-url"

_URL = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]*)?")
_USER = re.compile(r"\w+://[^/]*@")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Cluster"):
        metrics = item.spec.metrics
        if metrics is None or _URL.fullmatch(metrics.prometheus):
            continue
        path = ("metrics", "prometheus")
        if _USER.match(metrics.prometheus):
            yield item.finding(ID, path, "this URL carries a user name or a password", hint="leave them out: it is asked from inside")
        else:
            yield item.finding(ID, path, "this is no URL of a Prometheus", hint="write http://HOST:PORT, with a path where it has a prefix")
