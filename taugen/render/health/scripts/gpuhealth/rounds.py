"""One round after the other: run the checks, settle the conditions, write the node.

In: configuration, scripts, API server, clocks. Out: requests to the API server, metrics. What must never happen: an exception that ends the
runner, a taint without the lease of its class.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from . import config as configs
from . import decide, judge, patches, settle, share
from .config import Check, Config, Taint
from .kube import CONFLICT, Api, Refused, stamp
from .metrics import State
from .processes import Scripts

AT_ONCE = 3
"""Checks that run at the same time."""
MOST_EVENTS = 50
"""Events that wait for the API server to come back; older ones are dropped."""
REPEAT = 3600.0
"""Seconds after which a withheld taint is told again."""


@dataclass
class Runner:
    """A node's runner. `namespace` is where the lease is."""

    config: Config
    scripts: Scripts
    api: Api
    node: str
    namespace: str
    state: State = field(default_factory=State)
    tracks: dict[str, settle.Track] | None = None
    samples: dict[str, judge.Samples] = field(default_factory=dict)
    gpus: int = 0
    beat_at: float | None = None
    told_at: float | None = None
    ended_at: float = field(default_factory=time.monotonic)
    pending: list[decide.Event] = field(default_factory=list)

    def round(self) -> None:
        """Everything once. The API server may be away: the next round says it all again."""
        now = time.monotonic()
        try:
            if self.tracks is None:
                self._begin()
            self._check(now)
            self._write(now)
        except Refused as refused:
            self.state.refusals += 1
            log(f"the API server: {refused}")
        self.state.rounds += 1
        self.ended_at = time.monotonic()

    def alive(self) -> bool:
        """Whether rounds come to an end."""
        return time.monotonic() - self.ended_at < 5 * self.config.interval + 120

    def _begin(self) -> None:
        """What the node says of itself goes on to hold: without it a restart would clear a node, so nothing begins before it is known."""
        node = self.api.node(self.node)
        self.gpus = configs.gpus(self.config, node["metadata"].get("labels") or {})
        self.tracks = decide.resumed(self.config, node)
        self.state.gpu_class = self.config.gpu_class

    def _check(self, now: float) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = dict(zip((c.name for c in self.config.checks), pool.map(self._ask, self.config.checks), strict=True))
        results = {}
        for check in self.config.checks:
            answer, _ = answers[check.name]
            results[check.name], self.samples[check.name] = judge.judge(check, answer, self.samples.get(check.name, {}), now)
        self.state.results = results
        self.state.seconds = {name: seconds for name, (_, seconds) in answers.items()}
        tracks = self.tracks or {}
        self.tracks = {name: self._step(name, tracks[name], results, now) for name in self.config.rules}
        self.pending = [*self.pending, *decide.transitions(self.config, tracks, self.tracks)][-MOST_EVENTS:]
        self.state.tracks = self.tracks

    def _step(self, name: str, track: settle.Track, results: Mapping[str, judge.Result], now: float) -> settle.Track:
        result = judge.worst([results[check.name] for check in self.config.checks if check.condition == name])
        if result.state != track.last:
            log(f"{name}: {result.state}: {result.message}")
        return settle.step(track, result.state, result.message, now, self.config.rules[name])

    def _ask(self, check: Check) -> tuple[judge.Answer, float]:
        env = {"GPUHEALTH_GPUS": str(self.gpus), "GPUHEALTH_WINDOW": str(check.window)}
        began = time.monotonic()
        answer = self.scripts.run(check.name, check.script, check.arguments, env, check.timeout)
        return answer, time.monotonic() - began

    def _write(self, now: float) -> None:
        tracks = self.tracks or {}
        node = self.api.node(self.node)
        wanted = decide.wanted_taints(self.config, tracks)
        has = decide.present(self.config, node)
        if all(taint in has for taint in wanted):
            self.state.withheld, self.told_at = False, None
            self._apply(node, wanted, now)
        else:
            self._ask_to_taint(node, wanted, now)
        self._tell()

    def _ask_to_taint(self, node: Any, wanted: Sequence[Taint], now: float) -> None:
        """New taints need the class's lease: whoever has it counts the class and taints, nobody else meanwhile."""
        lease = self.api.take(self.config.lease, self.namespace, self.node, datetime.now(UTC))
        if lease is None:
            self._apply(node, decide.granted(self.config, node, wanted, None), now)
            return
        try:
            allowed = share.grant(
                self._class(), self.node, self.config.share, decide.all_taints(self.config), decide.all_gates(self.config)
            )
            self.state.grant, self.state.withheld = allowed, not allowed.ok
            if not allowed.ok and (self.told_at is None or now - self.told_at > REPEAT):
                self.told_at = now
                self.pending.append(decide.withheld(self.config, allowed))
            self._apply(node, decide.granted(self.config, node, wanted, allowed), now)
        finally:
            self.api.give_back(lease)

    def _class(self) -> list[Any]:
        found = {}
        for target in self.config.targets:
            found.update({share.name(node): node for node in self.api.nodes(dict(target.labels))})
        return list(found.values())

    def _apply(self, node: Any, taints: Sequence[Taint], now: float) -> None:
        tracks = self.tracks or {}
        beat = self.beat_at is None or now - self.beat_at >= patches.HEARTBEAT
        stamped = stamp(datetime.now(UTC))
        body = patches.conditions(node, decide.conditions(self.config, tracks, taints), stamped, beat=beat)
        if body is not None:
            self.api.patch_status(self.node, body)
            self.beat_at = now
        if not self.config.gates:
            self._taint(node, taints)
        self.state.taints = [taint.key for taint in taints]

    def _taint(self, node: Any, taints: Sequence[Taint]) -> None:
        body = patches.taints(node, taints, self.config.taint_prefix)
        if body is None:
            return
        for _ in range(3):
            try:
                # The node may have changed since: its conditions were just written.
                node = self.api.node(self.node)
                body = patches.taints(node, taints, self.config.taint_prefix)
                if body is not None:
                    self.api.patch_node(self.node, body)
                    log(f"taints: {', '.join(f'{t.key}:{t.effect}' for t in taints) or 'none'}")
                return
            except Refused as refused:
                if refused.code != CONFLICT:
                    raise

    def _tell(self) -> None:
        while self.pending:
            event = self.pending[0]
            stamped = stamp(datetime.now(UTC))
            body = patches.event(self.node, event.kind, event.reason, event.message, stamped, unique=f"{time.time_ns():x}")
            self.api.tell(body)
            log(f"event {event.reason}: {event.message}")
            self.pending.pop(0)


def log(text: str) -> None:
    """A line of the log."""
    sys.stderr.write(f"gpuhealth: {text}\n")
    sys.stderr.flush()
