"""`taugen check`: every problem in runs and policy."""

from pathlib import Path

import click

from taugen.cli import params
from taugen.cli.reports import FORMATS


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@params.directory
@params.ref
@params.trusted
@click.option(
    "--changed-since",
    "since",
    metavar="REF",
    help="Only what changed since the branch left REF: changed runs, runs whose code changed, all of them if policy changed.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, "auto"]),
    help="How findings are written to stdout; auto is github within GitHub Actions, else text.  [default: text]",
)
@click.option(
    "--output",
    "outputs",
    metavar="[FORMAT:]FILE",
    multiple=True,
    help="Write them to a file too; the format is that of the extension (.json, .sarif, .xml, .md, .txt, gl-code-quality*). Repeatable.",
)
@params.strict
@params.no_color
def command(
    paths: tuple[Path, ...],
    directory: Path,
    ref: str | None,
    trusted: str | None,
    since: str | None,
    form: str | None,
    outputs: tuple[str, ...],
    strict: bool,
    color: bool | None,
) -> int:
    """Check runs and policy; with PATHS, only the runs in them. Exits 1 if there is an error."""
    from taugen.cli import reports

    wanted = reports.targets(form, outputs)
    from taugen.load.ahead import Ahead
    from taugen.load.root import find_place
    from taugen.load.since import Since

    place = find_place(directory, trusted)
    # Asked before the rest is loaded: git answers meanwhile.
    changes = Since(place.root, (place.trusted if since == trusted else None) or since, ref) if since is not None else None
    ahead = Ahead(place.root) if paths and since is None and ref is None and trusted is None else None
    from taugen.cli.output import colored
    from taugen.diag import Refused
    from taugen.pipeline.project import begin, near_paths

    checked: reports.Checked
    near = near_paths(place, paths) if ahead is not None else None
    begun = begin(place, near, ahead) if ahead is not None and near is not None else None
    from taugen.pipeline.check import judge, unopened

    try:
        checked, report = judge(place, ref, paths, changes, begun)
    except Refused as refused:
        checked, report = unopened(place, ref, refused)
    reports.emit(wanted, report, checked, color=colored(color))
    return int(report.failed(strict=strict))
