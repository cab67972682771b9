"""Who signed a commit.

In: commits and SSH public keys. Out: which commits one of those keys signed. Git and ssh-keygen judge; here is only said whom they may
believe. What must never happen: a signature by another kind of key, of another tool's keyring, or for another purpose taken for one; a
key's text that lets in a second one; a proof that ends at a signature which nobody can read.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from taugen.diag import Refused
from taugen.load import git

_KEY = re.compile(r"\s*((?:ssh-|ecdsa-sha2-|sk-)[A-Za-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,3})(?:[ \t].*)?\s*")
# Nobody's keyring takes part: a key of whoever runs taugen would be as good as one of policy.
_SETTINGS = (
    "gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=ssh-keygen", "gpg.ssh.revocationFile=",
    "gpg.minTrustLevel=undefined", "log.showSignature=false",
)  # fmt: skip
_FEW = 20
"""Commits for which no further process is worth starting."""


def signed_by(repo: Path, commits: Iterable[str], keys: Sequence[str]) -> dict[str, bool]:
    """For each commit (full id) whether one of `keys` (SSH public keys as OpenSSH writes them, ``ssh-ed25519 AAAA…``) signed it.

    Raises `Refused` where ssh-keygen is missing.
    """
    wanted = list(dict.fromkeys(commits))
    allowed = "".join(f'collector namespaces="git" {found[1]} {found[2]}\n' for key in keys if (found := _KEY.fullmatch(key)) is not None)
    if not wanted or not allowed:
        return dict.fromkeys(wanted, False)
    if shutil.which("ssh-keygen") is None:
        raise Refused("signatures can't be checked: ssh-keygen is not installed", hint="install the OpenSSH client", code=2)
    with tempfile.TemporaryDirectory(prefix="taugen-keys-") as folder:
        signers = Path(folder) / "allowed"
        signers.write_text(allowed, encoding="ascii")
        options = [word for setting in (*_SETTINGS, f"gpg.ssh.allowedSignersFile={signers}") for word in ("-c", setting)]
        # Two processes of ssh-keygen for each commit: as many at a time as there are processors.
        count = min(os.cpu_count() or 1, -(-len(wanted) // _FEW))
        with ThreadPoolExecutor(count) as pool:
            good = set().union(*pool.map(lambda part: _good(repo, options, part), (wanted[start::count] for start in range(count))))
    return {sha: sha in good for sha in wanted}


def _good(repo: Path, options: Sequence[str], commits: Sequence[str]) -> set[str]:
    args = [*options, "log", "--no-walk=unsorted", "-z", "--format=%H %G? %GF", "--stdin"]
    done = git.run(args, cwd=repo, stdin="".join(f"{sha}\n" for sha in commits).encode("ascii"), check=False)
    if done.code:
        # One signature that git can't read at all ends it for all of them: that one is as good as none.
        half = len(commits) // 2
        return _good(repo, options, commits[:half]) | _good(repo, options, commits[half:]) if half else set()
    lines = (line.split(" ") for line in done.out.decode("utf-8", "replace").split("\0"))
    return {words[0] for words in lines if len(words) == 3 and words[1] == "G" and words[2].startswith("SHA256:")}
