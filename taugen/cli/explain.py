"""`taugen explain`: where the values of a run come from; what a finding means."""

from pathlib import Path

import click

from taugen.cli import complete, params


@click.command("explain")
@click.argument("subject", metavar="RUN|FINDING", shell_complete=complete.subjects)
@click.argument("field", required=False, metavar="[FIELD]")
@params.directory
@params.ref
@params.trusted
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How the answer is written to stdout."
)
@params.no_color
def command(subject: str, field: str | None, directory: Path, ref: str | None, trusted: str | None, form: str, color: bool | None) -> int:
    """Explain a run: each value, the document and line that set it, what it overrode. Or explain a finding by its id, the word in brackets
    at the end of its message.

    RUN is workspace/name, workspace/name/digest8, an object's name, or a path. FIELD is a field such as compute.gpus, or a section.
    """
    from taugen.pipeline import catalog

    entry = catalog.entries().get(subject)
    if entry is not None and field is None:
        from taugen.outputs import explained as out

        click.echo(out.finding(entry, form), nl=False)
        return 0
    return _run(subject, field, directory, ref, trusted, form, color)


def _run(subject: str, field: str | None, directory: Path, ref: str | None, trusted: str | None, form: str, color: bool | None) -> int:
    import sys

    from taugen.cli.output import colored, say, source_lines
    from taugen.diag import has_errors
    from taugen.outputs import explained as out
    from taugen.outputs import text
    from taugen.pipeline.explain import explained, not_a_finding
    from taugen.pipeline.project import open_project

    not_a_finding(directory, subject)
    project = open_project(directory, ref, trusted)
    found = explained(project, subject, field)
    shown = out.runs(found, form, color=colored(color), whole=field is not None)
    click.echo(shown, nl=False, color=colored(color))
    findings = [d for one in found for d in one.findings]
    if has_errors(findings):
        say(text.findings(findings, source_lines(project.tree), color=colored(color, sys.stderr)))
        say("the run has errors, so not every value could be decided")
        return 1
    return 0
