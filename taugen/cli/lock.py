"""`taugen lock`: pins the policy repositories of taugen.yaml by commit."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from taugen.cli import params

if TYPE_CHECKING:
    from taugen.pipeline.lock import Pin


@click.command("lock")
@click.option("--update", is_flag=True, help="Move every pin to what its ref names now; without it only missing ones are added.")
@params.directory
def command(directory: Path, update: bool) -> int:
    """Pin the Git repositories that taugen.yaml takes policy from, in taugen.lock. Commit the file: a policy change is then a pull request
    like any other."""
    from taugen.cli.output import say
    from taugen.pipeline.lock import pin

    pins = pin(directory, update=update)
    for one in pins:
        click.echo("\n".join(lines(one)))
    moved = sum(one.moved for one in pins)
    if not pins:
        say("taugen.yaml takes policy from no other repository: nothing to pin")
    elif moved:
        say(f"taugen.lock: {moved} of {len(pins)} changed; look at it with `taugen check`, then commit it")
    else:
        say(f"taugen.lock: {len(pins)} unchanged" + ("" if update else "; --update moves them to what their refs name now"))
    return 0


def lines(one: "Pin") -> list[str]:
    """What happened to one pin."""
    from taugen.policy.lock import plain_url
    from taugen.words.names import printable

    where = f"{plain_url(one.url)} {one.ref}" + (f" {one.path}" if one.path not in {"", "."} else "")
    word = "added" if one.old is None else "removed" if one.new is None else "moved" if one.moved else "kept"
    out = [f"{word:<8} {where}"]
    if one.old is not None and one.moved:
        out.append(f"  - {one.old[:12]} {one.old_subject}".rstrip())
    if one.new is not None:
        out.append(f"  {'+' if one.moved else ' '} {one.new[:12]} {one.new_subject}".rstrip())
    return [printable(line) for line in out]
