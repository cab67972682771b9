"""The one door to Kubernetes: lists, watches and logs, as plain JSON.

In: a kubeconfig, or what a pod finds in a cluster. Out: objects, changes, log lines. The package `kubernetes` finds the server and keeps
the credentials fresh (exec plugins, rotated tokens); objects are never decoded into its models, which refuse fields that are newer than
they (kubernetes-client/python #1867, #2284). What must never happen: a request that changes anything, a connection that waits for ever, an
answer that was cut off taken for a whole one.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import quote, urlencode

from taugen.words import Json

if TYPE_CHECKING:
    import urllib3

Object = dict[str, Json]
PAGE = 500
_CONNECT, _READ, _SLACK = 10.0, 60.0, 15.0
"""Seconds for a connection, for an answer, and beyond the time after which the server ends a watch."""
_LONGEST_LINE = 1 << 26


class ApiError(Exception):
    """The API server did not do what was asked. `str()` is one sentence."""


class Gone(ApiError):  # noqa: N818 - it names what happened
    """The resourceVersion or the list's place is too old: list anew (410)."""


class Throttled(ApiError):  # noqa: N818
    """Too many requests (429), or the server asks to come back later. `seconds` is how long it wants."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unreachable(ApiError):  # noqa: N818
    """No answer, half an answer, or a fault of the server (5xx): worth another try."""


class Denied(ApiError):  # noqa: N818
    """The account may not do this (401, 403), or the request is wrong (other 4xx)."""


class Missing(ApiError):  # noqa: N818
    """There is no such object, or no such kind of object in this cluster (404)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of objects; `name` is its plural in URLs, `selector` chooses by label. One that is `optional` need not be installed."""

    kind: str
    name: str
    group: str
    version: str
    selector: str = ""
    namespaced: bool = True
    optional: bool = False

    def path(self, namespace: str) -> str:
        """The URL path of its objects in a namespace."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{base}/namespaces/{quote(namespace, safe='')}/{self.name}" if self.namespaced else f"{base}/{self.name}"


@dataclass(frozen=True, slots=True)
class Change:
    """One message of a watch. For a bookmark the object holds no more than its resourceVersion."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Object

    @property
    def version(self) -> str:
        """The object's resourceVersion."""
        return version(self.object)


class Api(Protocol):
    """What the collector asks of a cluster."""

    @property
    def date(self) -> str:
        """The API server's own time (RFC 3339, UTC) at its newest answer that was none of an error; empty before the first."""

    def version(self) -> str:
        """The version of the API server, as it is released (``v1.36.3``). Raises ApiError."""

    def list(self, resource: Resource, namespace: str) -> Iterator[tuple[list[Object], str]]:
        """Pages of objects, each with the resourceVersion that the whole list stands for. Raises ApiError."""

    def watch(self, resource: Resource, namespace: str, since: str, seconds: float) -> Iterator[Change]:
        """What changes after the resourceVersion `since`, until the server ends it after about `seconds`. Raises ApiError."""

    def log(self, namespace: str, pod: str, container: str, since: str = "") -> Iterator[bytes]:
        """The lines of a container's log, each with its time in front, from the time `since` on. Raises ApiError."""


def version(obj: Mapping[str, Json]) -> str:
    """metadata.resourceVersion."""
    metadata = obj.get("metadata")
    found = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) else ""


class Server:
    """An API server."""

    def __init__(self, host: str, pool: "urllib3.PoolManager", auth: Callable[[], Mapping[str, str]]) -> None:
        self._host, self._pool, self._auth = host.rstrip("/"), pool, auth
        self._date = ""

    @property
    def date(self) -> str:
        """As `Api.date`."""
        return self._date

    def version(self) -> str:
        """As `Api.version`."""
        with self._get("/version", {}, _READ) as answer:
            said = _body(answer).get("gitVersion")
        return said if isinstance(said, str) else ""

    def list(self, resource: Resource, namespace: str) -> Iterator[tuple[list[Object], str]]:
        """As `Api.list`."""
        more = ""
        while True:
            query = {"limit": str(PAGE)} | ({"labelSelector": resource.selector} if resource.selector else {})
            with self._get(resource.path(namespace), query | ({"continue": more} if more else {}), _READ) as answer:
                body = _body(answer)
            items, metadata = body.get("items"), body.get("metadata")
            # The items of a list say neither their kind nor its version.
            named: Object = {"kind": resource.kind, "apiVersion": "/".join(part for part in (resource.group, resource.version) if part)}
            yield [{**named, **item} for item in items if isinstance(item, dict)] if isinstance(items, list) else [], version(body)
            more = str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
            if not more:
                return

    def watch(self, resource: Resource, namespace: str, since: str, seconds: float) -> Iterator[Change]:
        """As `Api.watch`."""
        query = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": since, "timeoutSeconds": str(max(1, round(seconds)))}
        query |= {"labelSelector": resource.selector} if resource.selector else {}
        with self._get(resource.path(namespace), query, seconds + _SLACK) as answer:
            for line in _lines(answer, whole=True):
                yield _change(line)

    def log(self, namespace: str, pod: str, container: str, since: str = "") -> Iterator[bytes]:
        """As `Api.log`."""
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
        query = {"container": container, "timestamps": "true"} | ({"sinceTime": since} if since else {})
        with self._get(path, query, _READ) as answer:
            yield from _lines(answer, whole=False)

    @contextmanager
    def _get(self, path: str, query: Mapping[str, str], patience: float) -> Iterator["urllib3.BaseHTTPResponse"]:
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        try:
            answer = self._pool.request(
                "GET",
                f"{self._host}{path}?{urlencode(query)}",
                headers={"Accept": "application/json", **self._auth()},
                preload_content=False,
                retries=False,
                redirect=False,
                timeout=Timeout(connect=_CONNECT, read=patience),
            )
            try:
                if answer.status >= 300:
                    raise _fault(answer.status, answer.headers.get("Retry-After", ""), answer.read(1 << 16))
                # Several servers may answer, whose clocks differ a little.
                self._date = max(self._date, dated(answer.headers.get("Date", "")))
                yield answer
            finally:
                # A stream that nobody reads to its end can't be used again.
                answer.close()
        except (HTTPError, OSError) as error:
            raise Unreachable(f"{path}: {type(error).__name__}: {error}") from None


def dated(header: str) -> str:
    """The time in an HTTP Date header (RFC 9110, 5.6.7) as RFC 3339 in UTC; empty where there is none."""
    try:
        return parsedate_to_datetime(header).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""


def _body(answer: "urllib3.BaseHTTPResponse") -> Object:
    try:
        body = json.loads(answer.read())
    except (ValueError, RecursionError):
        raise Unreachable("the answer is no JSON: it was cut off, or another server answers") from None
    if not isinstance(body, dict):
        raise Unreachable("the answer is no object")
    return body


def _lines(answer: "urllib3.BaseHTTPResponse", *, whole: bool) -> Iterator[bytes]:
    """The lines of a stream as they come; `whole`: a last line without its end was cut off, which is an error."""
    rest = b""
    for piece in answer.stream(1 << 16):
        parts = (rest + piece).split(b"\n")
        rest = parts.pop()
        if len(rest) > _LONGEST_LINE:
            raise Unreachable("a line of the answer has no end")
        yield from parts
    if rest and whole:
        raise Unreachable("the watch was cut off in the middle of a message")
    if rest:
        yield rest


def _change(line: bytes) -> Change:
    try:
        message = json.loads(line)
        kind, obj = message["type"], message["object"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreachable("a message of the watch can't be read") from None
    if not isinstance(obj, dict):
        raise Unreachable("a message of the watch has no object")
    if kind == "ERROR":
        code = obj.get("code")
        raise _fault(code if isinstance(code, int) else 500, "", json.dumps(obj).encode())
    if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise Unreachable(f"the watch says {kind!r}")
    return Change(kind, obj)


def _fault(code: int, after: str, body: bytes) -> ApiError:
    """The error for a status code: Kubernetes says why in a Status object."""
    try:
        status = json.loads(body)
        message = str(status.get("message") or "")
        details = status.get("details") if isinstance(status.get("details"), dict) else {}
        wanted = details.get("retryAfterSeconds")
    except (ValueError, AttributeError, RecursionError):
        message, wanted = body[:200].decode("utf-8", "replace"), None
    said = f"the API server answers {code}" + (f": {message[:300]}" if message else "")
    seconds = float(after) if after.isdecimal() else float(wanted) if isinstance(wanted, int) else 0.0
    if code == 410:
        return Gone(said)
    if code == 429 or (seconds and code >= 500):
        return Throttled(said, min(seconds or 1.0, 60.0))
    if code == 404:
        return Missing(said)
    return Unreachable(said) if code >= 500 or code == 408 else Denied(said)


def connect(kubeconfig: Path | None = None, context: str | None = None, streams: int = 64) -> Server:
    """The server that a kubeconfig names; without one, that of the cluster this runs in, else that of the user's own kubeconfig.

    `streams` is how many connections may be open at once. Raises Denied, with what is wrong with the configuration.
    """
    from kubernetes import client, config

    settings = client.Configuration()
    try:
        if kubeconfig is None and context is None and Path("/var/run/secrets/kubernetes.io/serviceaccount/token").exists():
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
        else:
            named = str(kubeconfig) if kubeconfig is not None else None
            options = {"config_file": named, "context": context, "persist_config": False}
            config.load_kube_config(client_configuration=settings, **options)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError, ValueError) as error:
        raise Denied(f"no access to a cluster: {error}") from None
    settings.connection_pool_maxsize = streams
    made = client.ApiClient(settings)

    def auth() -> Mapping[str, str]:
        # Asked anew for each request: a token is read again, or an exec plugin called again, before it expires.
        known = dict(settings.auth_settings()).get("BearerToken")
        return {"Authorization": str(known["value"])} if isinstance(known, dict) and known.get("value") else {}

    return Server(settings.host, made.rest_client.pool_manager, auth)
