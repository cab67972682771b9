"""A later attempt that is not over, with the bytes that it had.

In: the objects of a run's first attempt, what evidence says of a later one. Out: where that one resumed, why it was retried, its objects.
Evidence names the resume point; the reason stands in none of its files, but the digest of all variables that the object was made with does,
and only one reason gives that digest. What must never happen: objects of which evidence does not prove every variable.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from taugen.advance.decide import visible
from taugen.advance.seen import Seen
from taugen.collect.derive import job, jobset, rayjob
from taugen.evidence.event import Event, EventType
from taugen.evidence.history import Cause
from taugen.render.attempt import next_attempt
from taugen.render.expand import expand
from taugen.render.types import Object
from taugen.words import Json

_TELLERS = {"Job": job.derive, "JobSet": jobset.derive, "RayJob": rayjob.derive}
_REASONS = ("", *(cause.value for cause in Cause))
"""What `advance` writes into TAU_RETRY_REASON: nothing where it followed a branch that was set back."""
Attempt = tuple[str, list[Object]]
"""Where an attempt resumed (empty for nowhere), and its objects."""


def proven(first: Sequence[Object], about: Seen, number: int) -> Attempt | str:
    """The attempt `number`, from 2, as it was published; or why evidence does not prove it, as half a sentence."""
    told = [event for event in about.events.get(about.run.attempt(number), ()) if event.type is EventType.SUBMITTED]
    told = [event for event in told if isinstance(_runtime(event).get("envDigest"), str)]
    if not told:
        return "evidence does not hold what its object was started with"
    found = [_one(first, about, number, event) for event in told]
    lost = next((one for one in found if isinstance(one, str)), None)
    if lost is not None:
        return lost
    if any(one != found[0] for one in found):
        return "evidence holds two objects of it that were started in different ways"
    return found[0]


def _one(first: Sequence[Object], about: Seen, number: int, event: Event) -> Attempt | str:
    """What one object was started with."""
    resume = expand(str(_runtime(event).get("resumeFrom") or ""), {})
    if resume and not visible(about.settings, resume):
        return "it resumed from what is no checkpoint of this run"
    for reason in _REASONS:
        made = attempt(first, number, resume, reason)
        if made is None:
            return "how its variables were ordered can't be told"
        if _same(event, made):
            return resume, made
    return "no reason for a retry gives the variables, command and image that its object was started with"


def attempt(first: Sequence[Object], number: int, resume: str, reason: str) -> list[Object] | None:
    """The objects of attempt `number`, made of those of the first; None where they depend on the reasons of the attempts between, which an
    overlay's order of variables can bring about. Raises ValueError as `next_attempt` does."""
    made = next_attempt(first, number, resume, reason)
    between = next_attempt(next_attempt(first, number - 1, ""), number, resume, reason) if number > 2 else made
    return made if between == made else None


def _same(event: Event, made: Sequence[Object]) -> bool:
    """Whether the object of an attempt is the one that was submitted: image, variables, command."""
    runtime = _runtime(event)
    for mine in submitted(made):
        ours = _runtime(mine)
        return mine.data["image"] == event.data.get("image") and all(runtime.get(name) == value for name, value in ours.items())
    return False


def submitted(objects: Iterable[Object]) -> Iterator[Event]:
    """What a collector says of the objects of an attempt when they are made: one event, without the times and ids that a cluster gives."""
    for obj in objects:
        tell = _TELLERS.get(str(obj["kind"]))
        if tell is not None:
            yield next(iter(tell(obj)))


def _runtime(event: Event) -> Mapping[str, Json]:
    found = event.data.get("runtime")
    return found if isinstance(found, dict) else {}
