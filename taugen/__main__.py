"""The one way in: turns what a command returns or raises into an exit code.

0 no error, 1 errors, 2 usage, 3 a bug of taugen, 4 refused, 130 interrupted. The only `except Exception` and the only `sys.exit` stand here.
"""

import os
import sys


def main() -> None:
    """Run the command line."""
    sys.exit(_run(sys.argv[1:]))


def _run(args: list[str]) -> int:
    import click

    from taugen.cli import commands
    from taugen.diag import Refused

    try:
        code = commands.main(args=args, prog_name="taugen", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Refused as refused:
        from taugen.outputs.text import refusal

        click.echo(refusal(refused), err=True)
        return refused.code
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except Exception as error:
        return _bug(error)
    return code if isinstance(code, int) else 0


def _bug(error: Exception) -> int:
    """A fault of taugen itself: say so, keep the traceback in a file, never show it as if the user had done wrong."""
    import platform
    import tempfile
    import traceback

    from taugen import __version__

    with tempfile.NamedTemporaryFile("w", prefix="taugen-bug-", suffix=".txt", delete=False, encoding="utf-8") as report:
        report.write(f"taugen {__version__}, Python {platform.python_version()}, {platform.platform()}\n{' '.join(sys.argv)}\n\n")
        traceback.print_exception(error, file=report)
    summary = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    sys.stderr.write(f"taugen: this is a bug of taugen, not of your files ({summary})\n  please report it with {report.name}\n")
    if os.environ.get("TAUGEN_TRACEBACK"):
        traceback.print_exception(error)
    return 3


if __name__ == "__main__":
    main()
