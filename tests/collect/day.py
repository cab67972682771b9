"""A day of a cluster, made up the same way every time: runs that succeed, fail, are preempted, deactivated, cancelled, retried.

In: a seed and a number of runs. Out: what was written to the API in what order, the logs beside it, the states on the deploy branch.
"""

import random
from dataclasses import dataclass, field
from heapq import merge

from tests.collect import objects
from tests.collect.objects import ADMISSION, NAMESPACE, at, changed, condition, note, over, running

FATES = (
    "succeeded",
    "succeeded",
    "succeeded",
    "failed",
    "oom",
    "preempted",
    "evicted",
    "deactivated",
    "cancelled",
    "superseded",
    "waiting",
)
PREEMPTED = "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to prioritization in the ClusterQueue"


@dataclass(frozen=True, order=True)
class Step:
    """Something that happens at a minute of the day: a write, a deletion, a log that has grown."""

    minute: float
    order: int
    what: str = field(compare=False)
    obj: dict = field(compare=False, default_factory=dict)
    text: str = field(compare=False, default="")


@dataclass
class Life:
    """One attempt."""

    run: str
    number: int
    fate: str
    begin: float
    dice: random.Random
    rival: str = ""
    steps: list = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.now = self.begin
        self.uid = f"{self.run}-{self.number}"

    def later(self, minutes: float = 0.0) -> float:
        self.now += minutes + self.dice.uniform(0.05, 0.5)
        return self.now

    def add(self, what: str, obj: dict, text: str = "") -> None:
        self.steps.append(Step(self.now, len(self.steps), what, obj, text))

    def lived(self) -> list[Step]:
        """All of its steps."""
        self.job = objects.job(self.uid, f"j-{self.uid}", self.now, run=self.run, attempt=self.number)
        self.load = objects.workload(f"job-{self.uid}-1a2b3", f"w-{self.uid}", self.uid, f"j-{self.uid}", self.now)
        self.add("put", self.job)
        self.later()
        self.note("Suspended", "Job", self.uid, f"j-{self.uid}")
        self.queued()
        if self.fate == "waiting":
            return self.steps
        if self.fate == "deactivated":
            return self.deactivated()
        self.admitted()
        self.ran(0)
        if self.fate in ("preempted", "evicted"):
            self.taken()
            self.admitted()
            self.ran(1)
        if self.fate in ("cancelled", "superseded"):
            self.later(1)
            self.add("delete", self.job)
            self.ended(0, 143, gone=True)
            self.add("delete", self.load)
            return self.steps
        code = {"failed": 3, "oom": 137}.get(self.fate, 0)
        self.ended(1 if self.fate in ("preempted", "evicted") else 0, code)
        self.later()
        kind = ("Failed", "BackoffLimitExceeded") if code else ("Complete", "CompletionsReached")
        self.add("put", changed(self.job, conditions=[condition(kind[0], "True", self.now, kind[1])]))
        return self.steps

    def note(self, reason: str, kind: str, name: str, uid: str) -> None:
        self.add("put", note(f"{self.uid}.{len(self.steps)}", uid, kind, name, self.now, reason, f"{reason} of {name}"))

    def queued(self) -> None:
        """It waits, and what Kueue says of that changes."""
        waits = self.later()
        for missing in range(self.dice.randint(1, 3), 0, -1):
            message = f"insufficient unused quota for nvidia.com/gpu in flavor h100, {missing} more needed"
            self.add("put", changed(self.load, conditions=[condition("QuotaReserved", "False", waits, "Pending", message)]))
            self.later()

    def admitted(self) -> None:
        at_ = self.later()
        self.conditions = [condition("QuotaReserved", "True", at_), condition("Admitted", "True", at_)]
        self.load = changed(self.load, conditions=self.conditions, admission=ADMISSION)
        self.add("put", self.load)

    def pod(self, n: int) -> dict:
        return objects.pod(f"{self.uid}-0-{n}abcd", f"p-{self.uid}-{n}", self.begin, run=self.run, attempt=self.number)

    def ran(self, n: int) -> None:
        """A pod starts and says something."""
        self.later()
        self.add("put", self.pod(n))
        self.began = self.later()
        self.note("Started", "Pod", f"{self.uid}-0-{n}abcd", f"p-{self.uid}-{n}")
        self.add("put", changed(self.pod(n), phase="Running", containerStatuses=[running(self.began)]))
        self.lines = [f"{at(self.began + step * 0.7)} step {step} of {self.run}\n" for step in range(self.dice.randint(1, 12))]
        self.add("log", self.pod(n), "".join(self.lines))
        self.now += 0.7 * len(self.lines)
        self.add("put", changed(self.load, conditions=[*self.conditions, condition("PodsReady", "True", self.later())]))

    def ended(self, n: int, code: int, *, gone: bool = False) -> None:
        self.later()
        self.add("log", self.pod(n), "".join(self.lines))
        reason = "OOMKilled" if code == 137 else ""
        status = over(self.began, self.now, code, reason, message="boom" if code else "")
        last = changed(self.pod(n), phase="Failed" if code else "Succeeded", containerStatuses=[status])
        self.add("put", last)
        if gone:
            self.later()
            self.add("delete", last)

    def taken(self) -> None:
        """Kueue takes it back: the pod is ended and deleted."""
        time = self.later(1)
        if self.fate == "preempted":
            message = PREEMPTED.format(f"w-{self.rival}-1", f"j-{self.rival}-1" if self.rival else "stranger")
            taken = [
                condition("Evicted", "True", time, "Preempted", message),
                condition("Preempted", "True", time, "InClusterQueue", message),
            ]
        else:
            taken = [condition("Evicted", "True", time, "ClusterQueueStopped", "The ClusterQueue is stopped")]
        self.load = changed(self.load, conditions=[condition("QuotaReserved", "False", time, "Pending", taken[0]["message"]), *taken])
        self.load["status"].pop("admission")
        self.add("put", self.load)
        self.ended(0, 143, gone=True)
        self.later()
        self.load = changed(self.load, conditions=[condition("Requeued", "True", self.now)])
        self.add("put", self.load)

    def deactivated(self) -> list[Step]:
        self.later()
        out = changed(self.load, conditions=[condition("Evicted", "True", self.now, "DeactivatedDueToRequeuingLimitExceeded", "too often")])
        out["spec"]["active"] = False
        self.add("put", out)
        return self.steps


@dataclass
class Day:
    """Steps in their order, and states for the deploy branch: run -> (phase, attempt)."""

    steps: list
    states: dict
    ended: list


def make(runs: int, seed: int, minutes: float = 1440.0) -> Day:
    """A day. `ended` are the (run, attempt) that must have a record at its end."""
    dice = random.Random(seed)
    lives, states, ended = [], {}, []
    begins = sorted(dice.uniform(0, minutes - 60) for _ in range(runs))
    names = [f"run{n}-{dice.randrange(1 << 32):08x}" for n in range(runs)]
    for n, name in enumerate(names):
        fate = FATES[n % len(FATES)]
        own = random.Random(f"{seed} {name}")
        # Who takes another's place is there when it does.
        stand = [name for m, name in enumerate(names[:n]) if FATES[m % len(FATES)] not in ("cancelled", "superseded")]
        rival = dice.choice(stand) if n % 2 else ""
        life = Life(name, 1, fate, begins[n], own, rival).lived()
        lives.append(life)
        states[name] = ("cancelled", 1) if fate == "cancelled" else ("live", 2 if fate == "superseded" else 1)
        if fate != "waiting":
            ended.append((name, 1))
        if fate == "superseded":
            lives.append(Life(name, 2, "succeeded", life[-1].minute + 1, own).lived())
            ended.append((name, 2))
    return Day(list(merge(*lives)), states, ended)


def play(store, step: Step) -> None:
    """Let one step happen."""
    meta = step.obj["metadata"]
    store.date = max(store.date, at(step.minute))
    if step.what == "put":
        store.put(step.obj)
    elif step.what == "delete":
        store.delete(step.obj["kind"], NAMESPACE, meta["name"])
    else:
        store.logs[NAMESPACE, meta["name"], "main"] = step.text


def fields(day: Day) -> str:
    """What a day holds, for people."""
    return f"{len(day.states)} runs, {len(day.ended)} attempts that end, {len(day.steps)} steps"
