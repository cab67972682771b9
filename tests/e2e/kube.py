"""A small client of a Kubernetes API server: server-side apply, get, list, delete, watch until something holds.

In: an address, the authority's certificate, a client certificate. Out: objects as the server tells them. A refusal is a `Refused` with
the server's own words. Nothing polls: `until` watches, since a list every third of a second halves the rate at which Kueue admits.
"""

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.e2e.processes import say

Object = dict[str, Any]
MANAGER = "taugen-e2e"


class Refused(Exception):
    """The API server said no: status code and its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class TimedOut(Exception):
    """What was waited for did not come; the text says what was, and how the object stood at the end."""


class Kube:
    """One user's connection to one API server. Not for use by several threads at once."""

    def __init__(self, port: int, authority: Path, certificate: Path | None = None, key: Path | None = None, token: str = "") -> None:
        self.port = port
        self.tls = ssl.create_default_context(cafile=str(authority))
        if certificate:
            self.tls.load_cert_chain(certificate, key)
        self._token = token
        self._connection: http.client.HTTPSConnection | None = None
        self._paths: dict[tuple[str, str], tuple[str, bool]] = {}

    def __enter__(self) -> "Kube":
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def request(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Any:
        """The JSON answer to a request. Raises Refused."""
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body, ensure_ascii=False).encode()
        for attempt in (1, 2):  # the server may have closed a connection that was kept
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=60)
                self._connection.request(method, path, data, self._headers(kind))
                answer = self._connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, ConnectionError, ssl.SSLEOFError):
                self.__exit__()
                if attempt == 2:
                    raise
        if answer.status >= 400:
            raise Refused(answer.status, _message(text))
        return json.loads(text) if text[:1] in (b"{", b"[") else text.decode()

    def apply(self, item: Object, *, manager: str = MANAGER, dry: bool = False, text: str = "") -> Object:
        """Server-side apply, as Argo CD and Flux do it; with `text`, of the file as it is. Raises Refused."""
        query = {"fieldManager": manager, "force": "true", "fieldValidation": "Strict"} | ({"dryRun": "All"} if dry else {})
        answer: Object = self.request("PATCH", f"{self.path(item)}?{urlencode(query)}", text or item, "application/apply-patch+yaml")
        return answer

    def create(self, item: Object) -> Object:
        """POST of a new object. Raises Refused."""
        answer: Object = self.request("POST", self.path(item).rpartition("/")[0], item)
        return answer

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """An object by `group/version/Kind` (or `v1/Kind`), None if there is none."""
        try:
            answer: Object = self.request("GET", self._path(kind, namespace, name))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise
        return answer

    def list(self, kind: str, namespace: str = "", labels: Mapping[str, str] | None = None) -> list[Object]:
        """All objects of a kind, of one namespace or of all."""
        query = f"?labelSelector={quote(','.join(f'{k}={v}' for k, v in labels.items()))}" if labels else ""
        items: list[Object] = self.request("GET", self._path(kind, namespace) + query)["items"]
        return items

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete in the background; a missing object is no error."""
        try:
            self.request("DELETE", self._path(kind, namespace, name), {"propagationPolicy": "Background"})
        except Refused as refused:
            if refused.code != 404:
                raise

    def patch(self, kind: str, name: str, namespace: str, change: object, part: str = "", *, dry: bool = False) -> Object:
        """JSON merge patch of an object, or of a part such as `status`; `dry`: judged, not stored."""
        path = self._path(kind, namespace, name) + (f"/{part}" if part else "") + ("?dryRun=All" if dry else "")
        answer: Object = self.request("PATCH", path, change, "application/merge-patch+json")
        return answer

    def note(self, kind: str, name: str, namespace: str, key: str, value: str) -> None:
        """Write an annotation; an object that has gone meanwhile is no error."""
        try:
            self.patch(kind, name, namespace, {"metadata": {"annotations": {key: value}}})
        except Refused as refused:
            if refused.code != 404:
                raise

    def until(
        self, kind: str, name: str, namespace: str, holds: Callable[[Object | None], object], what: str, seconds: float = 60
    ) -> Object | None:
        """Watch one object until `holds` of it (None: it is not there). Raises TimedOut with its last state."""
        end = time.monotonic() + seconds
        item = self.get(kind, name, namespace)
        if not holds(item):
            say(f"waiting for {kind.rpartition('/')[2]} {namespace}/{name}: {what} (at most {seconds:.0f} s)")
        while not holds(item):
            left = end - time.monotonic()
            if left <= 0:
                raise TimedOut(f"waited {seconds:.0f} s for {kind} {namespace}/{name}: {what}\nit stands at {_state(item)}")
            version = item["metadata"]["resourceVersion"] if item else ""
            for change, state in self.changes(kind, namespace, name, version, left):
                item = None if change == "DELETED" else state
                if holds(item):
                    break
            else:
                item = self.get(kind, name, namespace)
        return item

    def until_refused(self, action: Callable[[], object], by: str = "", seconds: float = 30) -> None:
        """Repeat a request until it is refused, in words that hold `by`: an admission policy counts a moment after it was made. Raises
        TimedOut."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                action()
            except Refused as refused:
                if by in refused.message:
                    return
            time.sleep(0.2)
        raise TimedOut(f"after {seconds:.0f} s the request is not refused{f' by {by}' if by else ''}")

    def path(self, item: Object) -> str:
        """URL path of an object."""
        meta = item["metadata"]
        return self._path(f"{item['apiVersion']}/{item['kind']}", meta.get("namespace", ""), meta["name"])

    def changes(
        self, kind: str, namespace: str = "", name: str = "", version: str = "", seconds: float = 60
    ) -> Iterator[tuple[str, Object]]:
        """(ADDED, MODIFIED or DELETED, object) from a resource version on, until the server ends the watch. Raises Refused."""
        query = {"watch": "1", "timeoutSeconds": str(max(1, min(int(seconds), 300)))}
        if name:
            query["fieldSelector"] = f"metadata.name={name}"
        if version:
            query["resourceVersion"] = version
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=seconds + 10)
        try:
            connection.request("GET", f"{self._path(kind, namespace)}?{urlencode(query)}", headers=self._headers())
            answer = connection.getresponse()
            if answer.status >= 400:
                raise Refused(answer.status, _message(answer.read()))
            while line := answer.readline():
                event = json.loads(line)
                if event["type"] in {"ERROR", "BOOKMARK"}:
                    return
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _headers(self, kind: str = "application/json") -> dict[str, str]:
        return {"Content-Type": kind} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})

    def _path(self, kind: str, namespace: str = "", name: str = "") -> str:
        version, _, word = kind.rpartition("/")
        plural, namespaced = self._resource(version, word)
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        middle = f"/namespaces/{namespace}" if namespaced and namespace else ""
        return f"{base}{middle}/{plural}" + (f"/{quote(name, safe='')}" if name else "")

    def _resource(self, version: str, kind: str) -> tuple[str, bool]:
        """(plural, namespaced) of a kind, asked of the server once for each version."""
        if (version, kind) not in self._paths:
            found = self.request("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            for item in found["resources"]:
                if "/" not in item["name"]:
                    self._paths[version, item["kind"]] = (item["name"], item["namespaced"])
        if (version, kind) not in self._paths:
            raise Refused(404, f"the server knows no {kind} in {version}")
        return self._paths[version, kind]


def condition(item: Object | None, kind: str) -> Object:
    """The condition of a type, empty if the object has none."""
    found = (entry for entry in ((item or {}).get("status") or {}).get("conditions") or () if entry["type"] == kind)
    return next(found, {})


def holds(item: Object | None, kind: str, status: str = "True") -> bool:
    """Whether a condition has a status."""
    return condition(item, kind).get("status") == status


def _state(item: Object | None) -> str:
    if item is None:
        return "nothing: it does not exist"
    status = item.get("status") or {}
    lines = [f"{c['type']}={c.get('status', '')} {c.get('reason', '')}: {c.get('message', '')}" for c in status.get("conditions") or ()]
    rest = {key: value for key, value in status.items() if key != "conditions"}
    return "\n  ".join([json.dumps(rest)[:1500], *lines])


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text).get("message"))
    except ValueError:
        return text.decode("utf-8", "replace")[:500]
