"""Where an attempt stands, as far as the names of its files tell it."""

from typing import Annotated

from msgspec import Meta, Struct

from taugen.evidence.history import State

Time = Annotated[str, Meta(pattern=r"^(\d{8}T\d{6}Z)?$")]


class Standing(Struct, frozen=True, order=True, array_like=True, gc=False):
    """An attempt as the names of its files tell it. Times are as file names have them (`index.spelled` makes RFC 3339 of them), "" if there
    was none; `state` is None where no event sets one; `last` is the type of the event that set it."""

    number: Annotated[int, Meta(ge=1, le=999)]
    state: State | None
    since: Time
    last: str
    submitted: Time
    started: Time
    ended: Time
    interruptions: Annotated[int, Meta(ge=0, le=1_000_000)]
    recorded: bool
