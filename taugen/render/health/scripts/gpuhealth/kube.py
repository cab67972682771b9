"""The API server, from within a pod.

In: address, the authority's certificate, a file with the account's token (it is read for each request: kubelets renew it). Out: parsed
answers. Raises `Refused` for what the server refuses or does not answer.
"""

import http.client
import json
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

Body = Mapping[str, Any]
TIMEOUT = 10.0
CONFLICT, MISSING = 409, 404
LEASE_SECONDS = 60
"""A lease that was not given back is taken over after this."""
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"


class Refused(Exception):  # noqa: N818
    """The server said no, or nothing: `code` is 0 then."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}" if code else message)
        self.code = code


class Api:
    """An account's way to the API server."""

    def __init__(self, host: str, port: int, authority: Path, token: Path) -> None:
        self.host, self.port, self.authority, self.token = host, port, authority, token

    def node(self, name: str) -> Any:
        """A node."""
        return self.request("GET", f"/api/v1/nodes/{quote(name, safe='')}")

    def nodes(self, labels: Mapping[str, str]) -> list[Any]:
        """The nodes with all of the labels."""
        selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        found: list[Any] = self.request("GET", f"/api/v1/nodes?{urlencode({'labelSelector': selector})}")["items"]
        return found

    def patch_node(self, name: str, body: Body) -> Any:
        """Change the node itself."""
        return self.request("PATCH", f"/api/v1/nodes/{quote(name, safe='')}", body, MERGE)

    def patch_status(self, name: str, body: Body) -> Any:
        """Change the node's conditions: the list is merged by type."""
        return self.request("PATCH", f"/api/v1/nodes/{quote(name, safe='')}/status", body, STRATEGIC)

    def tell(self, event: Body) -> None:
        """Create an event."""
        self.request("POST", "/api/v1/namespaces/default/events", event)

    def take(self, lease: str, namespace: str, me: str, now: datetime) -> Any:
        """Take a lease; None where somebody else has it."""
        base = f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace)}/leases"
        try:
            found = self.request("GET", f"{base}/{quote(lease)}")
        except Refused as refused:
            if refused.code != MISSING:
                raise
            found = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": lease, "namespace": namespace}}
        spec = found.get("spec") or {}
        holder = spec.get("holderIdentity")
        if holder and holder != me and not expired(str(spec.get("renewTime") or ""), now):
            return None
        found["spec"] = {"holderIdentity": me, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": stamp(now, micro=True)}
        return self._put(base, found)

    def give_back(self, lease: Body) -> None:
        """Give a lease back."""
        metadata = lease["metadata"]
        base = f"/apis/coordination.k8s.io/v1/namespaces/{quote(metadata['namespace'])}/leases"
        self._put(base, {**lease, "spec": {**lease["spec"], "holderIdentity": ""}})

    def _put(self, base: str, lease: Body) -> Any:
        try:
            if "resourceVersion" not in lease["metadata"]:
                return self.request("POST", base, lease)
            return self.request("PUT", f"{base}/{quote(lease['metadata']['name'])}", lease)
        except Refused as refused:
            if refused.code == CONFLICT:
                return None
            raise

    def request(self, method: str, path: str, body: Body | None = None, kind: str = "application/json") -> Any:
        """The parsed answer to a request. Raises Refused."""
        try:
            context = ssl.create_default_context(cafile=str(self.authority))
            headers = {
                "Authorization": f"Bearer {self.token.read_text('ascii').strip()}",
                "Content-Type": kind,
                "Accept": "application/json",
            }
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=TIMEOUT, context=context)
            try:
                connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
                answer = connection.getresponse()
                text = answer.read()
            finally:
                connection.close()
            data = json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Refused(0, f"{method} {path}: {error}") from error
        if answer.status >= 400:
            raise Refused(answer.status, f"{method} {path}: {data.get('message') if isinstance(data, dict) else text[:200]!r}")
        return data


def stamp(now: datetime, *, micro: bool = False) -> str:
    """A time as Kubernetes writes it."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")


def expired(renewed: str, now: datetime) -> bool:
    """Whether a lease of that time is over; one without a readable time is."""
    try:
        at = datetime.fromisoformat(renewed.replace("Z", "+00:00"))
    except ValueError:
        return True
    return now - at > timedelta(seconds=LEASE_SECONDS)
