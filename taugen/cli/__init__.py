"""Commands: one module each, imported when the command runs, so that `--help` and completion load nothing else."""

from importlib import import_module
from pathlib import Path

import click

from taugen import __version__

COMMANDS = {
    "init": "Make a working GitOps repository in a folder.",
    "check": "Find every problem in runs and policy.",
    "render": "Write the deploy tree into a folder, or print one run.",
    "publish": "Commit the deploy tree.",
    "collect": "Write what happens in a cluster to the evidence branch.",
    "advance": "Retry, resume and retire runs, as evidence says.",
    "runs": "List runs and where each stands.",
    "show": "Show everything that is known of a run.",
    "logs": "Print what a run printed.",
    "evidence": "Prove and export evidence.",
    "explain": "Say where each value of a run comes from, or what a finding means.",
    "lock": "Pin policy repositories by commit.",
    "schema": "Print JSON Schemas; import CRDs for validation.",
    "completion": "Make a shell complete commands, runs and findings.",
    "doctor": "Look for what is missing here, and say how to get it.",
    "demo": "Do the main job on the shipped examples, in a folder.",
}


class Commands(click.Group):
    """A group whose commands are modules of this package, named as they are."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; for help texts of the group a light stand-in is enough."""
        if cmd_name not in COMMANDS:
            return None
        if ctx.resilient_parsing and not ctx.protected_args:
            return click.Command(cmd_name, short_help=COMMANDS[cmd_name])
        command = import_module(f"taugen.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Say what an unknown command might have meant."""
        from taugen.words.suggest import closest

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = closest(args[0], COMMANDS)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {near}?" if near else f"; there are {', '.join(COMMANDS)}"))
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="taugen", message="%(prog)s %(version)s")
@click.option("-C", "start", metavar="DIR", type=click.Path(path_type=Path), help="Start looking for taugen.yaml in DIR (and upwards).")
def commands(start: Path | None) -> None:
    """Compile tau.yaml and platform policy into Kubernetes manifests, as Git commits."""
