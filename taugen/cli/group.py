"""A group of commands that are modules, each imported when it runs.

In: names and a line about each. Out: a click group that lists them, completes them and says what an unknown one might have meant, without
importing any.
"""

from importlib import import_module
from typing import Any

import click


class Group(click.Group):
    """`about` is by name, in the order in which people meet them; a command is `command` of the module `taugen.cli.<prefix><name>`."""

    def __init__(self, *args: Any, about: dict[str, str], prefix: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.about, self.prefix = about, prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which people meet them."""
        return list(self.about)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; for help texts of the group a light stand-in is enough."""
        if cmd_name not in self.about:
            return None
        if ctx.resilient_parsing and not ctx.protected_args:
            return click.Command(cmd_name, short_help=self.about[cmd_name])
        command = import_module(f"taugen.cli.{self.prefix}{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.about.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Say what an unknown command might have meant."""
        from taugen.words.suggest import closest

        if args and args[0] not in self.about and not args[0].startswith("-"):
            near = closest(args[0], self.about)
            ctx.fail(f"no command {args[0]!r}" + (f"; did you mean {near}?" if near else f"; there are {', '.join(self.about)}"))
        return super().resolve_command(ctx, args)
