"""Git's content filters, switched off.

In: a repository. Out: variables for git processes. Comparing a file with the index can make git run the `clean` filter that attributes name
for it: the program stands in the user's configuration, but which files go through it says .gitattributes, which a pull request writes.
"""

import os
from pathlib import Path

from taugen.load import git

LISTED = ("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
"""The question to git that `switched_off` wants answered."""
_OFF = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


def disarmed(repo: Path | str) -> dict[str, str]:
    """Variables under which git runs no filter that its configuration defines."""
    return switched_off(git.run(LISTED, cwd=repo, check=False))


def switched_off(listed: git.GitResult) -> dict[str, str]:
    """The same, from git's answer to `LISTED`: it has none where there are no filters."""
    keys = listed.out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    drivers = sorted({key.removeprefix("filter.").rpartition(".")[0] for key in keys})
    pairs = [(f"filter.{driver}.{word}", value) for driver in drivers for word, value in _OFF]
    # Pairs that are there already stay: credentials may come that way.
    given = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(given) if given.isdigit() else 0
    env = {"GIT_CONFIG_COUNT": str(first + len(pairs))} if pairs else {}
    for number, (key, value) in enumerate(pairs, first):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env
