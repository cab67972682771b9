"""The one way in: turns what a command returns or raises into an exit code.

0 no error, 1 errors, 2 usage, 3 a bug of taugen, 4 refused, 130 interrupted. The only `except Exception` and the only exit stand here.
"""

import gc
import io
import os
import sys


def main() -> None:
    """Run the command line."""
    # A command makes many objects that stay, 100,000 of them until it begins its work; by default a fifth of its time would go into looking
    # among them for garbage.
    gc.set_threshold(200_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows few characters gets the others escaped; a name that is no text must not end a command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = _run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            code = 141
        except OSError:
            code = code or 1
    # Not `sys.exit`: taking thousands of modules, classes and documents apart one by one costs 40 ms, and the system does it at once.
    os._exit(code)


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
        from taugen.load.git import GitError

        if isinstance(error, GitError):
            # Git says why it can't go on: a repository of another user, one that is damaged, no git at all.
            click.echo(f"taugen: {error}", err=True)
            return 2
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
