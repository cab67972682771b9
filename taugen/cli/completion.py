"""`taugen completion`: what makes a shell complete commands, options, runs and findings."""

import click

_SHELLS = ("bash", "zsh", "fish")
_HOW = {
    "bash": 'eval "$(taugen completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(taugen completion zsh)"   in ~/.zshrc, after compinit',
    "fish": "taugen completion fish > ~/.config/fish/completions/taugen.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(f"{shell}: {how}" for shell, how in _HOW.items()))
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> int:
    """Print the script that makes SHELL complete commands, options, runs and findings."""
    from click.shell_completion import get_completion_class

    from taugen.cli import commands

    made = get_completion_class(shell)
    assert made is not None
    # Its source only: click would also start bash to ask for its version.
    template = made.source_template
    found = made(commands, {}, "taugen", "_TAUGEN_COMPLETE")
    click.echo(template % found.source_vars())
    return 0
