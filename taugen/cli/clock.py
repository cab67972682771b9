"""The clock of commands that tell people how long ago something was, or wait for more. Nothing that is written to Git asks it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def wait(seconds: float) -> None:
    """Let time pass."""
    from taugen.collect.clock import Clock

    Clock().wait(seconds)
