"""`taugen evidence verify`: proves the evidence branch."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("verify")
@click.option("--branch", metavar="NAME", help="Branch of the evidence; default: spec.evidence.branch of taugen.yaml.")
@click.option("--since", metavar="COMMIT", help="A commit proven before: it must be in the history, and only what came after is looked at.")
@params.directory
@params.source
@params.fetch
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How findings are written.")
@params.no_color
def command(branch: str | None, since: str | None, directory: Path, source: str | None, fetch: bool, form: str, color: bool | None) -> int:
    """Prove that no file of evidence was ever changed, renamed or deleted, that each was written by the collector of its cluster, that
    commits say what is in them, and that the commits which runs were submitted by exist.

    Signatures are checked where Cluster.spec.collector.keys lists keys. With --from URL there is no policy: then everything else is. Exits
    1 if anything is wrong. The tip that was proven is remembered, so that a branch rewritten later is noticed.
    """
    from taugen.cli.output import colored
    from taugen.diag import Severity
    from taugen.outputs import proof as out
    from taugen.pipeline import audit

    opened = audit.opened(directory, source, branch, fetch=fetch)
    found = audit.prove(opened, since)
    if form == "json":
        click.echo(out.proof_json(found, opened.name, opened.branch.tip), nl=False)
    else:
        click.echo(out.proof(found, opened.name, opened.branch.tip, color=colored(color)), nl=False, color=colored(color))
    return int(any(one.severity is Severity.ERROR for one in found.findings))
