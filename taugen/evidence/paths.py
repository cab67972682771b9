"""Where each file of evidence stands.

In: the names of a cluster, a run, an attempt. Out: paths on the evidence branch, and back. What must never happen: two writers with one
path, a path that some pod's name or label could lead elsewhere.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["run", "event", "record", "log", "metrics", "checkpoints"]

_PART = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_EVENT = r"(?P<time>\d{8}T\d{6}Z)-(?P<type>[a-z]+(?:-[a-z]+)*)-(?P<key>[0-9a-f]{16})\.json"
_LOG = rf"(?P<pod>{_PART})\+(?P<container>{_PART})\.(?P<chunk>\d+)\.txt"
_FOLDER = rf"(?P<cluster>{_PART})/runs/(?P<workspace>{_PART})/(?P<two>[0-9a-f]{{2}})/(?P<run>[a-z][a-z0-9-]*-(?P=two)[0-9a-f]{{6}})"
_RUN = re.compile(_FOLDER)
_FILE = re.compile(
    rf"{_FOLDER}/(?:(?P<intent>run\.yaml)|attempts/(?P<attempt>[1-9]\d{{0,2}})/"
    rf"(?:(?P<record>record\.json)|events/{_EVENT}|logs/{_LOG}|(?P<series>metrics|checkpoints)\.(?P<number>\d+)\.jsonl))"
)


_NODE = re.compile(rf"(?P<cluster>{_PART})/nodes/(?P<day>\d{{4}}/\d{{2}}/\d{{2}})/{_EVENT}")


class RunKey(NamedTuple):
    """A run on a cluster. `run` is `<slug>-<digest8>`."""

    cluster: str
    workspace: str
    run: str

    @property
    def folder(self) -> str:
        """The folder of the run's evidence."""
        return f"{self.cluster}/runs/{self.workspace}/{self.run[-8:-6]}/{self.run}"

    @property
    def intent(self) -> str:
        """What the run was meant to be, copied from the deploy branch."""
        return f"{self.folder}/run.yaml"

    def attempt(self, number: int) -> "AttemptKey":
        """One try of the run, from 1."""
        return AttemptKey(self, number)


class AttemptKey(NamedTuple):
    """One try of a run, from 1."""

    of: RunKey
    number: int

    @property
    def object(self) -> str:
        """The name of its Job, JobSet or RayJob."""
        return f"{self.of.run}-{self.number}"

    @property
    def folder(self) -> str:
        """The folder of the attempt's evidence."""
        return f"{self.of.folder}/attempts/{self.number}"

    @property
    def record(self) -> str:
        """The record that is written at the end."""
        return f"{self.folder}/record.json"

    def log(self, pod: str, container: str, chunk: int) -> str:
        """A piece of a container's log. The names are those of Kubernetes objects, so that ``+`` is in neither."""
        return f"{self.folder}/logs/{pod}+{container}.{chunk}.txt"

    def series(self, what: Literal["metrics", "checkpoints"], number: int) -> str:
        """A piece of the metrics' history, or of the list of checkpoints."""
        return f"{self.folder}/{what}.{number}.jsonl"


class Place(NamedTuple):
    """What a path on the branch is. `attempt` is None for the intent of the run; `time` and `type` are those of an event."""

    run: RunKey
    attempt: AttemptKey | None
    kind: Kind
    time: str = ""
    type: str = ""


def is_run(folder: str) -> bool:
    """Whether a folder is one where the evidence of a run stands."""
    return _RUN.fullmatch(folder) is not None


@lru_cache(maxsize=1 << 14)
def parse(path: str) -> Place | None:
    """What stands at a path; None if it is no evidence of a run."""
    found = _FILE.fullmatch(path)
    if found is None:
        return None
    run = RunKey(found["cluster"], found["workspace"], found["run"])
    if found["intent"]:
        return Place(run, None, "run")
    attempt = run.attempt(int(found["attempt"]))
    if found["time"]:
        return Place(run, attempt, "event", _spelled(found["time"]), found["type"])
    kind: Kind = "record" if found["record"] else "log" if found["pod"] else "metrics" if found["series"] == "metrics" else "checkpoints"
    return Place(run, attempt, kind)


def node_event(path: str) -> tuple[str, str] | None:
    """(cluster, time) of an event of a node's health, ``<cluster>/nodes/<yyyy>/<mm>/<dd>/…``; None for any other path."""
    found = _NODE.fullmatch(path)
    if found is None or found["type"] != "node" or found["day"].replace("/", "") != found["time"][:8]:
        return None
    return found["cluster"], _spelled(found["time"])


def stamp(time: str) -> str:
    """RFC 3339 as file names have it: ``2026-05-04T10:00:00.123Z`` is ``20260504T100000Z``."""
    return re.sub(r"[-:]", "", time[:19]) + "Z"


def _spelled(stamped: str) -> str:
    date, time = stamped[:8], stamped[9:15]
    return f"{date[:4]}-{date[4:6]}-{date[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z"
