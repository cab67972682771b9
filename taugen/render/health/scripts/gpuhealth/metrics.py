"""Metrics for Prometheus, and whether the runner is alive.

In: the state after a round. Out: text in Prometheus' format, served with /healthz on one port.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .judge import OK, PROBLEM, UNKNOWN, Result
from .settle import FALSE, OPEN, TRUE, Track
from .share import Grant

STATES = (OK, PROBLEM, UNKNOWN)
STATUSES = (TRUE, FALSE, OPEN)


@dataclass
class State:
    """What was seen last."""

    gpu_class: str = ""
    results: Mapping[str, Result] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    tracks: Mapping[str, Track] = field(default_factory=dict)
    taints: Iterable[str] = ()
    withheld: bool = False
    grant: Grant | None = None
    rounds: int = 0
    refusals: int = 0


def text(state: State) -> str:
    """All metrics."""
    out: list[str] = []
    _family(out, "check_state", "gauge", "1 for the state that a check is in.")
    for name, result in sorted(state.results.items()):
        for known in STATES:
            _line(out, "check_state", int(result.state == known), check=name, state=known)
    _family(out, "check_value", "gauge", "The worst value of a check.")
    for name, result in sorted(state.results.items()):
        if result.value is not None:
            _line(out, "check_value", result.value, check=name)
    _family(out, "check_seconds", "gauge", "How long a check took.")
    for name, seconds in sorted(state.seconds.items()):
        _line(out, "check_seconds", seconds, check=name)
    _family(out, "condition", "gauge", "1 for the status that a node condition has.")
    for name, track in sorted(state.tracks.items()):
        for status in STATUSES:
            _line(out, "condition", int(track.status == status), condition=name, status=status)
    _family(out, "tainted", "gauge", "1 for each taint of health that the node has.")
    for key in sorted(state.taints):
        _line(out, "tainted", 1, key=key)
    _numbers(out, state)
    return "\n".join(out) + "\n"


def _numbers(out: list[str], state: State) -> None:
    _family(out, "taint_withheld", "gauge", "1 if a node at fault stays in work because the share of its class is used up.")
    _line(out, "taint_withheld", int(state.withheld), gpu_class=state.gpu_class)
    if state.grant is not None:
        for name, value, what in (
            ("class_nodes", state.grant.nodes, "Nodes of the class when a taint was last asked for."),
            ("class_tainted", state.grant.tainted, "How many of them were tainted."),
            ("class_allowed", state.grant.most, "How many of them may be."),
        ):
            _family(out, name, "gauge", what)
            _line(out, name, value, gpu_class=state.gpu_class)
    _family(out, "rounds_total", "counter", "Rounds of checks.")
    _line(out, "rounds_total", state.rounds)
    _family(out, "api_refusals_total", "counter", "Requests that the API server refused or did not answer.")
    _line(out, "api_refusals_total", state.refusals)


def _family(out: list[str], name: str, kind: str, what: str) -> None:
    out += [f"# HELP taugen_health_{name} {what}", f"# TYPE taugen_health_{name} {kind}"]


def _line(out: list[str], name: str, value: float, **labels: str) -> None:
    shown = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
    out.append(f"taugen_health_{name}{{{shown}}} {value:g}" if shown else f"taugen_health_{name} {value:g}")


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def serve(port: int, metrics: Callable[[], str], alive: Callable[[], bool], address: str = "") -> ThreadingHTTPServer:
    """Serve /metrics and /healthz on a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._answer(200, metrics())
            elif self.path == "/healthz":
                self._answer(*((200, "ok\n") if alive() else (503, "no round of checks has ended for long\n")))
            else:
                self._answer(404, "see /metrics and /healthz\n")

        def _answer(self, code: int, body: str) -> None:
            data = body.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Scrapes are not logged."""

    server = ThreadingHTTPServer((address, port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
