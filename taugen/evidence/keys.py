"""Who signed a commit.

In: commits and SSH public keys. Out: which commits one of those keys signed. Where the library `cryptography` is installed, what it can
prove is settled in this process, fifty times as fast; git and ssh-keygen judge all the rest, and here is only said whom they may believe.
What must never happen: a signature by another kind of key, of another tool's keyring, or for another purpose taken for one; a
key's text that lets in a second one; a proof that ends at a signature which nobody can read.
"""

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from taugen.diag import Refused
from taugen.evidence.sshsig import Keys
from taugen.load import git
from taugen.load.share import processors

_KEY = re.compile(r"\s*((?:ssh-|ecdsa-sha2-|sk-)[A-Za-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,3})(?:[ \t].*)?\s*")
# Nobody's keyring takes part: a key of whoever runs taugen would be as good as one of policy.
_SETTINGS = (
    "gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=ssh-keygen", "gpg.ssh.revocationFile=",
    "gpg.minTrustLevel=undefined", "log.showSignature=false",
)  # fmt: skip
_FEW = 20
"""Commits for which no further process is worth starting."""
_LARGEST = 1 << 20
"""Bytes of a commit that is read into memory."""


def signed_by(repo: Path, commits: Iterable[str], keys: Sequence[str]) -> dict[str, bool]:
    """For each commit (full id) whether one of `keys` (SSH public keys as OpenSSH writes them, ``ssh-ed25519 AAAA…``) signed it.

    Raises `Refused` where ssh-keygen is missing and has to be asked.
    """
    wanted = list(dict.fromkeys(commits))
    plain = [(found[1], found[2]) for key in keys if (found := _KEY.fullmatch(key)) is not None]
    if not wanted or not plain:
        return dict.fromkeys(wanted, False)
    sure = _sure(repo, wanted, plain)
    left = [sha for sha in wanted if sha not in sure]
    good = _asked(repo, left, "".join(f'collector namespaces="git" {kind} {body}\n' for kind, body in plain)) if left else set()
    return {sha: sure.get(sha, sha in good) for sha in wanted}


def _sure(repo: Path, commits: Sequence[str], keys: Sequence[tuple[str, str]]) -> dict[str, bool]:
    """Of which commits it is sure here whether one of the keys signed them."""
    try:
        ready = Keys(keys)
    except ImportError:
        return {}
    sure: dict[str, bool] = {}
    with git.CatFile(repo) as reader:
        for sha, raw in zip(commits, reader.read_many(commits, _LARGEST), strict=True):
            found = ready.signed(raw) if isinstance(raw, bytes) else None
            if found is not None:
                sure[sha] = found
    return sure


def _asked(repo: Path, commits: Sequence[str], allowed: str) -> set[str]:
    """Those that git calls signed by an allowed signer."""
    if shutil.which("ssh-keygen") is None:
        raise Refused("signatures can't be checked: ssh-keygen is not installed", hint="install the OpenSSH client", code=2)
    with tempfile.TemporaryDirectory(prefix="taugen-keys-") as folder:
        signers = Path(folder) / "allowed"
        signers.write_text(allowed, encoding="ascii")
        options = [word for setting in (*_SETTINGS, f"gpg.ssh.allowedSignersFile={signers}") for word in ("-c", setting)]
        # Two processes of ssh-keygen for each commit: as many at a time as there are processors.
        count = min(processors(), -(-len(commits) // _FEW))
        with ThreadPoolExecutor(count) as pool:
            return set().union(*pool.map(lambda part: _good(repo, options, part), (commits[start::count] for start in range(count))))


def _good(repo: Path, options: Sequence[str], commits: Sequence[str]) -> set[str]:
    args = [*options, "log", "--no-walk=unsorted", "-z", "--format=%H %G? %GF", "--stdin"]
    done = git.run(args, cwd=repo, stdin="".join(f"{sha}\n" for sha in commits).encode("ascii"), check=False)
    if done.code:
        # One signature that git can't read at all ends it for all of them: that one is as good as none.
        half = len(commits) // 2
        return _good(repo, options, commits[:half]) | _good(repo, options, commits[half:]) if half else set()
    lines = (line.split(" ") for line in done.out.decode("utf-8", "replace").split("\0"))
    return {words[0] for words in lines if len(words) == 3 and words[1] == "G" and words[2].startswith("SHA256:")}
