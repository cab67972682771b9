"""A small Kubernetes API server for tests: lists with pages, watches with bookmarks, pod logs, and the faults of a real one, on demand.

It keeps each object's every state by resourceVersion, as etcd does, until it is told to compact. A fault is a function of the request:
what it returns happens instead of the answer, or to it.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
PLURALS = {
    "Job": ("batch/v1", "jobs"),
    "JobSet": ("jobset.x-k8s.io/v1alpha2", "jobsets"),
    "RayJob": ("ray.io/v1", "rayjobs"),
    "RayCluster": ("ray.io/v1", "rayclusters"),
    "Workload": ("kueue.x-k8s.io/v1beta2", "workloads"),
    "Pod": ("v1", "pods"),
    "Event": ("v1", "events"),
    "Node": ("v1", "nodes"),
    "ClusterQueue": ("kueue.x-k8s.io/v1beta2", "clusterqueues"),
}


@dataclass
class Written:
    """One write: what a watch delivers."""

    version: int
    kind: str
    namespace: str
    type: str
    obj: dict
    selected: bool
    text: bytes


@dataclass
class Request:
    """What a fault may look at. `what` is list, watch or log."""

    what: str
    kind: str
    namespace: str
    query: dict
    number: int


@dataclass
class Store:
    """All states of all objects, and the logs."""

    bookmark: float = 0.2
    absent: frozenset = frozenset()
    history: list = field(default_factory=list)
    current: dict = field(default_factory=dict)
    logs: dict = field(default_factory=dict)
    oldest: int = 0
    fault: Callable[[Request], str | None] = lambda request: None
    requests: list = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    closed: bool = False
    pages: dict = field(default_factory=dict)
    """What stood at a version at which a list began."""
    release: str = "v1.36.3"
    date: str = "2026-05-04T10:00:00Z"
    """The server's own clock: it stands at the newest time in what was written, unless a test lets it go on."""

    @property
    def version(self) -> int:
        return self.history[-1].version if self.history else 1

    def put(self, obj: dict) -> dict:
        """Write an object; returns it as stored."""
        meta = obj["metadata"]
        key = (obj["kind"], meta.get("namespace", ""), meta["name"])
        with self.changed:
            stored = deepcopy(obj)
            self._add(key, "MODIFIED" if key in self.current else "ADDED", stored)
            self.current[key] = stored
        return stored

    def delete(self, kind: str, namespace: str, name: str) -> None:
        with self.changed:
            self._add((kind, namespace, name), "DELETED", deepcopy(self.current.pop((kind, namespace, name))))

    def _add(self, key, type_, stored) -> None:
        version = self.version + 1
        stored["metadata"]["resourceVersion"] = str(version)
        text = json.dumps({"type": type_, "object": stored}).encode()
        self.date = max(self.date, *_TIME.findall(text.decode()), "")
        self.history.append(Written(version, key[0], key[1], type_, stored, "taugen.dev/run" in stored["metadata"].get("labels", {}), text))
        self.changed.notify_all()

    def compact(self) -> None:
        """Forget every state but the newest: a watch from before gets 410."""
        with self.changed:
            self.oldest = self.version

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    store: Store

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return format_datetime(datetime.fromisoformat(self.store.date), usegmt=True)

    def do_GET(self):
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        if parts == ["version"]:
            fault = self.store.fault(Request("version", "", "", query, 0))
            if fault is not None and self._refused(fault):
                return None
            return self._send(200, json.dumps({"major": "1", "minor": "36", "gitVersion": self.store.release}).encode())
        api = parts[1] if parts[0] == "api" else "/".join(parts[1:3])
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = rest[1] if rest[0] == "namespaces" else ""
        rest = rest[2:] if rest[0] == "namespaces" else rest
        kind = next((kind for kind, known in PLURALS.items() if known == (api, rest[0])), "")
        what = "log" if rest[-1] == "log" else "watch" if query.get("watch") else "list"
        with self.store.changed:
            self.store.requests.append((what, kind, namespace))
            number = len(self.store.requests)
        fault = self.store.fault(Request(what, kind, namespace, query, number))
        if not kind or kind in self.store.absent:
            return self._status(404, "the server could not find the requested resource")
        if fault is not None and self._refused(fault):
            return None
        try:
            if what == "log":
                return self._log(namespace, rest[1], query)
            return self._watch(kind, namespace, query, fault) if what == "watch" else self._list(kind, namespace, query, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            return None

    def _refused(self, fault: str) -> bool:
        """Faults that take the place of an answer."""
        if fault.isdecimal():
            self._status(int(fault), "as asked for", {"Retry-After": "0"} if fault == "429" else {})
        elif fault == "drop":
            self.close_connection = True
        elif fault == "garbage" and "/log" not in self.path:
            self._send(200, b'{"items": [')
        else:
            return False
        return True

    def _status(self, code: int, message: str, headers=()) -> None:
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
        self._send(code, json.dumps(body).encode(), headers)

    def _send(self, code: int, body: bytes, headers=()) -> None:
        self.send_response(code)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _list(self, kind, namespace, query, fault):
        selector, limit = query.get("labelSelector", ""), int(query.get("limit", "500"))
        version, _, at = query.get("continue", "").partition(":")
        start = int(at or 0)
        if start and fault == "expired":
            return self._status(410, "The provided continue parameter is too old")
        with self.store.changed:
            # All pages are of one moment, that of the first, whatever is written meanwhile.
            if not start:
                found = [obj for (k, ns, _), obj in sorted(self.store.current.items()) if k == kind and namespace in ("", ns)]
                items = [obj for obj in found if not selector or selector in obj["metadata"].get("labels", {})]
                version = str(self.store.version)
                self.store.pages[kind, namespace, version] = items
            items = self.store.pages[kind, namespace, version]
        meta = {"resourceVersion": version} | ({"continue": f"{version}:{start + limit}"} if start + limit < len(items) else {})
        bare = [{key: value for key, value in obj.items() if key not in ("kind", "apiVersion")} for obj in items[start : start + limit]]
        return self._send(200, json.dumps({"metadata": meta, "items": bare}).encode())

    def _watch(self, kind, namespace, query, fault):
        since = int(query["resourceVersion"])
        with self.store.changed:
            old = since < self.store.oldest
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if old:
            error = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}
            self._chunk(json.dumps(error).encode() + b"\n")
            return self._end()
        for sent, message in enumerate(self._messages(kind, namespace, query, since, fault), 1):
            self._chunk(message + b"\n")
            if fault == "truncate" and sent == 2:
                self._chunk(b'{"type": "MODIFIED", "object": {"metadata": {"na')
                return self._end()
            if fault == "cut" and sent == 3:
                self.close_connection = True  # without the last chunk
                return None
        return self._end()

    def _messages(self, kind, namespace, query, since, fault) -> Iterator[bytes]:
        end = time.monotonic() + float(query["timeoutSeconds"])
        marked = time.monotonic()
        at = _after(self.store.history, since)
        while not self.store.closed and time.monotonic() < end:
            with self.store.changed:
                news = self.store.history[at:]
                at += len(news)
                reached = self.store.version
            mine = [w for w in news if w.kind == kind and namespace in ("", w.namespace) and (w.selected or "labelSelector" not in query)]
            if fault == "reorder":
                for n in range(0, len(mine) - 1, 2):
                    mine[n], mine[n + 1] = mine[n + 1], mine[n]
            for w in mine:
                for _ in range(2 if fault == "duplicate" else 1):
                    yield w.text
            if time.monotonic() - marked >= self.store.bookmark:
                marked = time.monotonic()
                yield json.dumps({"type": "BOOKMARK", "object": {"kind": kind, "metadata": {"resourceVersion": str(reached)}}}).encode()
            with self.store.changed:
                if len(self.store.history) == at and not self.store.closed:
                    self.store.changed.wait(self.store.bookmark)

    def _log(self, namespace, pod, query):
        text = self.store.logs.get((namespace, pod, query.get("container", "")))
        if text is None:
            return self._status(404, f'pods "{pod}" not found')
        since = query.get("sinceTime", "")
        # What a container says later it has not said yet.
        now = self.store.date
        lines = [line for line in text.splitlines(keepends=True) if since[:19] <= line[:19] <= now[:19] or not line[:4].isdecimal()]
        return self._send(200, "".join(lines).encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")


def _after(history, since) -> int:
    """The place of the first write after a version; versions only grow."""
    low, high = 0, len(history)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if history[middle].version <= since else (low, middle)
    return low


@contextmanager
def serving(store: Store) -> Iterator[str]:
    """Serve a store on loopback; the address."""
    handler = type("Bound", (Handler,), {"store": store})

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

        def handle_error(self, request, client_address):
            pass  # a client that was killed

    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            store.close()
            server.shutdown()


def kubeconfig(path: Path, address: str) -> Path:
    """A kubeconfig that leads to the server."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "fake",
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
        "clusters": [{"name": "fake", "cluster": {"server": address}}],
        "users": [{"name": "fake", "user": {"token": "t0"}}],
    }
    path.write_text(json.dumps(config))
    return path
