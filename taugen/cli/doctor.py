"""`taugen doctor`: what is missing here, and how to get it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from taugen.cli import params

if TYPE_CHECKING:
    from taugen.pipeline.doctor import Line

_MARKS = {"ok": ("ok", "32"), "missing": ("missing", "31"), "look": ("look", "33")}


@click.command("doctor")
@params.directory
@click.option(
    "--cluster", "contexts", metavar="CONTEXT", multiple=True, help="Also ask the API server of this kubeconfig context. Repeatable."
)
@params.no_color
def command(directory: Path, contexts: tuple[str, ...], color: bool | None) -> int:
    """Look at this machine and repository. Exits 1 only if something is missing that taugen can't do without."""
    from taugen.cli.output import colored
    from taugen.pipeline import doctor

    found = [*doctor.machine(), *doctor.repository(directory)]
    for context in contexts:
        found += doctor.cluster(context)
    click.echo(text(found, color=colored(color)), color=colored(color))
    return int(any(line.needed and line.state == "missing" for line in found))


def text(found: "list[Line]", *, color: bool = False) -> str:
    """The lines, by group, each with how to get what is missing."""
    from taugen.words.names import printable

    width = max(len(line.name) for line in found)
    out: list[str] = []
    group = ""
    for line in found:
        if line.group != group:
            out += [""] * bool(out) + [line.group]
            group = line.group
        word, code = _MARKS[line.state]
        mark = f"\x1b[{code}m{word:<7}\x1b[0m" if color else f"{word:<7}"
        out.append(f"  {mark if line.name else ' ' * 7}  {line.name:<{width}}  {printable(line.said)}".rstrip())
        if line.hint:
            out.append(f"  {'':<7}  {'':<{width}}  -> {printable(line.hint)}")
    missing = [line.name for line in found if line.needed and line.state == "missing"]
    out += ["", f"missing and necessary: {', '.join(missing)}" if missing else "Everything necessary is here."]
    return "\n".join(out)
