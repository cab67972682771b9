"""The runner against an API server in memory: whole classes of nodes, faults that come and go, refusals."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from taugen.render.health.scripts.gpuhealth import config as configs
from taugen.render.health.scripts.gpuhealth import kube, metrics, rounds
from taugen.render.health.scripts.gpuhealth.judge import Answer, Result
from taugen.render.health.scripts.gpuhealth.kube import Refused
from taugen.render.health.scripts.gpuhealth.rounds import Runner

OK, BAD, OPEN, HUNG = Answer(0, "x 0\n"), Answer(0, "x 5 broken\n"), Answer(2, "no tool\n"), Answer(None, "no answer within 20 s")
DATA: dict[str, Any] = {
    "gpu_class": "h100-80gb",
    "policy": "h100",
    "lease": "gpu-health-h100-80gb",
    "interval": 60,
    "share": "25%",
    "gates": False,
    "prefix": "taugen.dev/",
    "taint_prefix": "taugen.dev/gpu-health",
    "targets": [{"labels": {"pool": "h100"}, "gpus": 8}, {"labels": {"pool": "h100b"}, "gpus": 8}],
    "checks": [
        {
            "name": name,
            "script": "x.sh",
            "arguments": [],
            "measure": "level",
            "unit": "faults",
            "threshold": 0,
            "window": 0,
            "timeout": 20,
            "condition": condition,
        }
        for name, condition in (("xid", "GpuXid"), ("hot", "GpuHot"))
    ],
    "conditions": {
        "GpuXid": {"after": 60, "clear_after": 120, "event": "Warning", "taint": {"key": "taugen.dev/gpu-health", "effect": "NoSchedule"}},
        "GpuHot": {"after": 0, "clear_after": 0, "event": "Normal"},
    },
}


class Clock:
    """Time that the test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1e9) + 1


class Scripts:
    """Answers that the test chooses."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {"xid": OK, "hot": OK}
        self.env: list[Mapping[str, str]] = []

    def run(self, name: str, script: str, arguments: object, env: Mapping[str, str], timeout: float) -> Answer:
        self.env.append(env)
        return self.answers[name]


class Server:
    """Nodes, events and leases; refuses what the test wants, and stale versions."""

    def __init__(self, nodes: int) -> None:
        self.all = {f"n{at}": self._new(f"n{at}", "h100" if at % 2 else "h100b") for at in range(nodes)}
        self.events: list[Any] = []
        self.lease: dict[str, Any] | None = None
        self.refuse: dict[str, int] = {}
        self.requests: list[str] = []
        self.most = 0

    @staticmethod
    def _new(name: str, pool: str) -> dict[str, Any]:
        return {
            "metadata": {"name": name, "resourceVersion": "1", "labels": {"pool": pool}},
            "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }

    def _do(self, what: str) -> None:
        self.requests.append(what)
        if what in self.refuse:
            raise Refused(self.refuse[what], what)

    def node(self, name: str) -> Any:
        self._do("node")
        return deepcopy(self.all[name])

    def nodes(self, labels: Mapping[str, str]) -> list[Any]:
        self._do("nodes")
        return [deepcopy(n) for n in self.all.values() if labels.items() <= n["metadata"]["labels"].items()]

    def patch_node(self, name: str, body: Any) -> None:
        self._do("patch_node")
        node = self.all[name]
        if body["metadata"]["resourceVersion"] != node["metadata"]["resourceVersion"]:
            raise Refused(409, "stale")
        node["spec"]["taints"] = body["spec"]["taints"]
        self._touch(node)
        self.most = max(self.most, len(self.tainted()))

    def patch_status(self, name: str, body: Any) -> None:
        self._do("patch_status")
        node = self.all[name]
        merged = {c["type"]: c for c in node["status"]["conditions"]} | {c["type"]: c for c in body["status"]["conditions"]}
        node["status"]["conditions"] = list(merged.values())
        self._touch(node)

    def _touch(self, node: Any) -> None:
        node["metadata"]["resourceVersion"] = str(int(node["metadata"]["resourceVersion"]) + 1)

    def tell(self, event: Any) -> None:
        self._do("tell")
        self.events.append(event)

    def take(self, lease: str, namespace: str, me: str, now: datetime) -> Any:
        self._do("take")
        if self.lease is not None:
            return None
        self.lease = {"metadata": {"name": lease, "namespace": namespace}, "spec": {"holderIdentity": me}}
        return self.lease

    def give_back(self, lease: Any) -> None:
        self._do("give_back")
        self.lease = None

    def tainted(self) -> list[str]:
        return [n for n, node in self.all.items() if any(t["key"].startswith("taugen.dev/") for t in node["spec"]["taints"])]

    def condition(self, name: str, kind: str) -> str:
        return next((c["status"] for c in self.all[name]["status"]["conditions"] if c["type"] == f"taugen.dev/{kind}"), "absent")


class Fleet:
    """Runners of all nodes, in one clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nodes: int = 8, **changes: Any) -> None:
        self.clock = Clock()
        monkeypatch.setattr(rounds, "time", self.clock)
        self.server = Server(nodes)
        self.scripts = {name: Scripts() for name in self.server.all}
        self.config = configs.read(json.dumps({**DATA, **changes}))
        self.runners = {name: self.runner(name) for name in self.server.all}

    def runner(self, name: str) -> Runner:
        return Runner(self.config, self.scripts[name], self.server, name, "taugen-health")  # type: ignore[arg-type]

    def rounds(self, number: int = 1, *names: str) -> None:
        for _ in range(number):
            for name in names or self.server.all:
                self.runners[name].round()
                self.clock.now += 0.01
            self.clock.now += 60

    def set(self, answer: Answer, *names: str, check: str = "xid") -> None:
        for name in names or self.server.all:
            self.scripts[name].answers[check] = answer


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    return Fleet(monkeypatch)


def reasons(fleet: Fleet) -> list[str]:
    return [e["reason"] for e in fleet.server.events]


def test_a_fault_leads_to_condition_event_and_taint_and_its_end_to_none(fleet: Fleet) -> None:
    fleet.rounds()
    assert fleet.server.condition("n3", "GpuXid") == "False"
    fleet.set(BAD, "n3")
    fleet.rounds()
    assert (fleet.server.condition("n3", "GpuXid"), fleet.server.tainted()) == ("False", [])
    fleet.rounds()
    assert (fleet.server.condition("n3", "GpuXid"), fleet.server.tainted()) == ("True", ["n3"])
    assert fleet.server.all["n3"]["spec"]["taints"][0] == {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
    assert reasons(fleet) == ["GpuXid"]
    fleet.set(OK, "n3")
    fleet.rounds(2)
    assert fleet.server.tainted() == ["n3"]
    fleet.rounds(2)
    assert (fleet.server.condition("n3", "GpuXid"), fleet.server.tainted()) == ("False", [])
    assert reasons(fleet) == ["GpuXid", "GpuXidCleared"]


@pytest.mark.parametrize("answer", [OPEN, HUNG, Answer(0, "\x1b[2J"), Answer(127, "")])
def test_what_can_t_be_told_never_taints(fleet: Fleet, answer: Answer) -> None:
    fleet.set(answer)
    fleet.rounds(50)
    assert fleet.server.tainted() == []
    assert {fleet.server.condition(n, "GpuXid") for n in fleet.server.all} == {"Unknown"}


def test_no_more_than_the_share_is_ever_tainted_and_the_rest_alarms(fleet: Fleet) -> None:
    fleet.set(BAD)
    fleet.rounds(10)
    assert len(fleet.server.tainted()) == 2
    assert fleet.server.most == 2
    assert {fleet.server.condition(n, "GpuXid") for n in fleet.server.all} == {"True"}
    withheld = [e for e in fleet.server.events if e["reason"] == "TaintWithheld"]
    assert len(withheld) == 6
    assert "2 of 8 nodes of h100-80gb are tainted, and maxTainted 25% allows 2" in withheld[0]["message"]
    shown = [metrics.text(r.state) for r in fleet.runners.values()]
    assert sum('taugen_health_taint_withheld{gpu_class="h100-80gb"} 1' in text for text in shown) == 6


def test_who_gets_well_makes_room_for_the_next(fleet: Fleet) -> None:
    fleet.set(BAD)
    fleet.rounds(3)
    first = fleet.server.tainted()
    fleet.set(OK, *first)
    fleet.rounds(6)
    assert len(fleet.server.tainted()) == 2
    assert not set(fleet.server.tainted()) & set(first)
    assert fleet.server.most == 2


def test_a_withheld_taint_is_told_again_after_an_hour(fleet: Fleet) -> None:
    fleet.set(BAD, "n0", "n1", "n2")
    fleet.rounds(70)
    assert reasons(fleet).count("TaintWithheld") == 2


def test_without_the_lease_nobody_taints(fleet: Fleet) -> None:
    fleet.server.lease = {"metadata": {}, "spec": {"holderIdentity": "somebody"}}
    fleet.set(BAD, "n0")
    fleet.rounds(5)
    assert fleet.server.tainted() == []
    assert fleet.server.condition("n0", "GpuXid") == "True"
    fleet.server.lease = None
    fleet.rounds()
    assert fleet.server.tainted() == ["n0"]


def test_clearing_needs_no_lease(fleet: Fleet) -> None:
    fleet.set(BAD, "n0")
    fleet.rounds(3)
    fleet.server.lease = {"metadata": {}, "spec": {"holderIdentity": "somebody"}}
    fleet.set(OK)
    fleet.rounds(5)
    assert fleet.server.tainted() == []


def test_the_lease_is_given_back_whatever_happens(fleet: Fleet) -> None:
    fleet.set(BAD, "n0")
    fleet.rounds()
    fleet.server.refuse = {"patch_node": 403}
    fleet.rounds(3)
    assert fleet.server.lease is None
    assert fleet.runners["n0"].state.refusals == 3


def test_a_restart_keeps_what_the_node_says(fleet: Fleet) -> None:
    fleet.set(BAD, "n0")
    fleet.rounds(3)
    fleet.runners["n0"] = fleet.runner("n0")
    fleet.set(OPEN, "n0")
    fleet.rounds(5)
    assert (fleet.server.tainted(), fleet.server.condition("n0", "GpuXid")) == (["n0"], "True")
    fleet.set(OK, "n0")
    fleet.rounds(4)
    assert fleet.server.tainted() == []


def test_an_api_server_that_is_away_costs_nothing_but_time(fleet: Fleet) -> None:
    fleet.rounds()
    fleet.server.refuse = dict.fromkeys(("node", "take", "tell"), 0)
    fleet.set(BAD, "n0")
    fleet.rounds(5)
    assert fleet.runners["n0"].state.results["xid"].state == "problem"
    fleet.server.refuse = {}
    fleet.rounds()
    assert fleet.server.tainted() == ["n0"]
    assert reasons(fleet) == ["GpuXid"]


def test_a_start_without_the_api_server_begins_nothing(fleet: Fleet) -> None:
    fleet.server.refuse = {"node": 0}
    fleet.set(BAD)
    fleet.rounds(3)
    assert fleet.runners["n0"].tracks is None
    fleet.server.refuse = {}
    fleet.rounds()
    assert fleet.server.tainted() == []


def test_a_change_of_the_node_in_between_is_met(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.set(BAD, "n0")
    fleet.rounds()
    original = fleet.server.patch_node
    stale = iter([True, True, False])

    def sometimes(name: str, body: Any) -> None:
        if next(stale, False):
            raise Refused(409, "stale")
        original(name, body)

    monkeypatch.setattr(fleet.server, "patch_node", sometimes)
    fleet.rounds()
    assert fleet.server.tainted() == ["n0"]


def test_a_well_node_writes_once_in_five_minutes(fleet: Fleet) -> None:
    fleet.rounds(1, "n0")
    fleet.server.requests.clear()
    fleet.rounds(10, "n0")
    assert fleet.server.requests.count("patch_status") == 2
    assert "nodes" not in fleet.server.requests
    assert "take" not in fleet.server.requests


def test_with_the_readiness_controller_the_runner_changes_no_taint(monkeypatch: pytest.MonkeyPatch) -> None:
    taint = {"key": "readiness.k8s.io/taugen-gpu-health", "effect": "NoSchedule"}
    fleet = Fleet(monkeypatch, gates=True, conditions={**DATA["conditions"], "GpuXid": {**DATA["conditions"]["GpuXid"], "taint": taint}})
    fleet.set(BAD)
    fleet.rounds(5)
    assert "patch_node" not in fleet.server.requests
    unfit = [n for n in fleet.server.all if fleet.server.condition(n, "Unfit-taugen-gpu-health-NoSchedule") == "True"]
    assert len(unfit) == 2
    fleet.set(OK)
    fleet.rounds(5)
    assert {fleet.server.condition(n, "Unfit-taugen-gpu-health-NoSchedule") for n in fleet.server.all} == {"False"}


def test_checks_know_their_node(fleet: Fleet) -> None:
    fleet.rounds(1, "n1")
    assert fleet.scripts["n1"].env[0] == {"GPUHEALTH_GPUS": "8", "GPUHEALTH_WINDOW": "0"}


# ---------------------------------------------------------------------------------------------------- leases and metrics


class Wire(kube.Api):
    """The real client's lease logic over a lease in memory."""

    def __init__(self, lease: dict[str, Any] | None) -> None:
        super().__init__("localhost", 1, Path("/none"), Path("/none"))
        self.stored, self.version = lease, 1

    def request(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if method == "GET":
            if self.stored is None:
                raise Refused(404, "none")
            return deepcopy(self.stored)
        if (method == "POST") is not (self.stored is None) or (
            method == "PUT" and body["metadata"]["resourceVersion"] != str(self.version)
        ):
            raise Refused(409, "conflict")
        self.version += 1
        self.stored = {**deepcopy(body), "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        return deepcopy(self.stored)


NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def test_a_lease_has_one_holder() -> None:
    wire = Wire(None)
    mine = wire.take("l", "ns", "n0", NOW)
    assert mine["spec"]["holderIdentity"] == "n0"
    assert wire.take("l", "ns", "n1", NOW) is None
    assert wire.take("l", "ns", "n0", NOW) is not None
    wire.give_back(wire.stored or {})
    assert wire.take("l", "ns", "n1", NOW) is not None


def test_a_lease_that_was_not_given_back_is_taken_over() -> None:
    wire = Wire(None)
    wire.take("l", "ns", "n0", NOW)
    assert wire.take("l", "ns", "n1", NOW + timedelta(seconds=59)) is None
    assert wire.take("l", "ns", "n1", NOW + timedelta(seconds=61)) is not None


def test_two_that_take_a_lease_at_once() -> None:
    wire = Wire(None)
    first = Wire.take(wire, "l", "ns", "n0", NOW)
    wire.give_back(first)
    original = wire.request

    def overtaken(method: str, path: str, body: Any = None, kind: str = "") -> Any:
        found = original(method, path, body, kind)
        if method == "GET":
            wire.version += 1  # somebody else wrote it meanwhile
        return found

    wire.request = overtaken  # type: ignore[method-assign]
    assert wire.take("l", "ns", "n1", NOW) is None


def test_an_api_server_that_does_not_answer_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    with pytest.raises(Refused):
        kube.Api("127.0.0.1", 1, tmp_path / "no-authority", tmp_path / "token").node("n")


def test_metrics_are_served(fleet: Fleet) -> None:
    fleet.set(BAD, "n0")
    fleet.rounds(3)
    runner = fleet.runners["n0"]
    runner.state.results = {**runner.state.results, 'odd"\n\\': Result("ok", "", 1)}
    alive = [True]
    server = metrics.serve(0, lambda: metrics.text(runner.state), lambda: alive[0], "127.0.0.1")
    try:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        with urllib.request.urlopen(f"{base}/metrics") as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert 'taugen_health_check_state{check="xid",state="problem"} 1' in text
        assert 'taugen_health_check_state{check="odd\\"\\n\\\\",state="ok"} 1' in text
        assert 'taugen_health_condition{condition="GpuXid",status="True"} 1' in text
        assert 'taugen_health_tainted{key="taugen.dev/gpu-health"} 1' in text
        assert 'taugen_health_class_allowed{gpu_class="h100-80gb"} 2' in text
        for line in text.splitlines():
            assert line.startswith(("# HELP taugen_health_", "# TYPE taugen_health_", "taugen_health_"))
        with urllib.request.urlopen(f"{base}/healthz") as answer:
            assert answer.status == 200
        alive[0] = False
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{base}/healthz")
        assert refused.value.code == 503
        refused.value.close()
    finally:
        server.shutdown()
        server.server_close()
        assert threading.active_count() < 10


def test_a_runner_that_stands_still_is_not_alive(fleet: Fleet) -> None:
    fleet.rounds(1, "n0")
    runner = fleet.runners["n0"]
    assert runner.alive()
    fleet.clock.now += 5 * 60 + 200
    assert not runner.alive()
