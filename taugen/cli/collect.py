"""`taugen collect`: writes what happens in a cluster to the evidence branch."""

from pathlib import Path

import click

from taugen.cli import params


def _mounts(_context: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """CLAIM=PATH, each."""
    out = {}
    for value in values:
        claim, equals, path = value.partition("=")
        if not claim or not equals or not path:
            raise click.BadParameter(f"{value!r} is not CLAIM=PATH")
        out[claim] = Path(path)
    return out


@click.command("collect")
@params.directory
@click.option("--cluster", metavar="NAME", required=True, help="The cluster, as policy names it.")
@click.option("--once", is_flag=True, help="Look once and end. Exits 0 without a commit where there is no news.")
@click.option(
    "--kubeconfig", metavar="FILE", type=click.Path(path_type=Path), help="Access to the cluster; default: the pod's own, or the user's."
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option("--folder", metavar="DIR", type=click.Path(path_type=Path), help="Where the collector keeps its clone of the branch.")
@click.option(
    "--evidence", metavar="URL", help="Repository of the evidence; default: spec.evidence.url of taugen.yaml, else this repository."
)
@click.option("--deploy", metavar="URL", help="Repository of the deploy branch; default: spec.output.url, else this repository.")
@click.option("--config", metavar="FILE", type=click.Path(path_type=Path), help="All settings, as taugen renders them into a cluster.")
@click.option(
    "--mount", "mounts", metavar="CLAIM=DIR", multiple=True, callback=_mounts,
    help="Where a claim's files are here: checkpoints and metrics are read there. NAMESPACE/CLAIM=DIR tells claims of one name apart.",
)  # fmt: skip
def command(
    directory: Path,
    cluster: str,
    once: bool,
    kubeconfig: Path | None,
    context: str | None,
    folder: Path | None,
    evidence: str | None,
    deploy: str | None,
    config: Path | None,
    mounts: dict[str, Path],
) -> int:
    """Write what happens in a cluster to the evidence branch, until stopped."""
    import signal

    from taugen.cli.output import say
    from taugen.collect.clock import Clock
    from taugen.pipeline.collect import Request, collect

    clock = Clock()
    request = Request(directory, cluster, config, folder, kubeconfig, context, evidence, deploy, mounts)
    # What came so far is committed before the process ends.
    before = {number: signal.signal(number, lambda *_: clock.stopped.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        commit = collect(request, once=once, clock=clock, say=say)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if commit:
        click.echo(commit)
    elif once:
        say("no news")
    return 0
