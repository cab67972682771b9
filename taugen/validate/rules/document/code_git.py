"""A checkout comes from an allowed repository, over https or ssh, at a full commit.

git itself would follow `ext::` URLs into a shell and file URLs into the node; a branch is another program tomorrow. URLs are matched by
whole path components.

Breaks:

    code:
      git: {url: "https://git.acme.example/vision/train.git", ref: main}

Mends:

    code:
      git: {url: "https://git.acme.example/vision/train.git", ref: 0123456789abcdef0123456789abcdef01234567}

Source: Platform.spec.code.allow; git-remote-ext(1), gitprotocol security notes.
"""

import re
from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import code_unused
from taugen.words import credentials
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "code-git"

_SHA = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]{1,5})?"
_PATH = r"/?[A-Za-z0-9._~+-]+(?:/[A-Za-z0-9._~+-]+)*/?"
_URL = regex(rf"(https|ssh)://(?:[A-Za-z0-9._-]+@)?({_HOST})({_PATH})")
_SCP = regex(rf"[A-Za-z0-9._-]+@({_HOST}):({_PATH})")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`code.git.url` and `code.git.ref`."""
    git = doc.spec.code.git if doc.spec.code is not None else None
    if git is None or code_unused.git(doc) is not None:
        return
    yield from _url(doc, policy, git.url)
    if not _SHA.fullmatch(git.ref):
        short = re.fullmatch(r"[0-9a-fA-F]{7,64}", git.ref) is not None
        what = "an abbreviated or upper-case commit" if short else "a branch or tag, which can move"
        hint = "write the full lower-case commit SHA; `taugen lock` prints it for a branch"
        yield doc.finding(ID, ("code", "git", "ref"), f"{shown(git.ref)} is {what}", hint=hint)


def parts(url: str) -> tuple[str, ...] | None:
    """(scheme, host, path components) of an https or ssh URL; None for anything else. ``git@host:path`` is ssh."""
    if (found := _URL.fullmatch(url)) is not None:
        scheme, host, path = found.groups()
    elif (scp := _SCP.fullmatch(url)) is not None:
        scheme, host, path = "ssh", scp[1], scp[2]
    else:
        return None
    steps = path.strip("/").removesuffix(".git").split("/")
    return None if {".", "..", ""} & set(steps) else (scheme, host.lower(), *steps)


def _url(doc: RunDoc, policy: Policy, url: str) -> Iterator[Diagnostic]:
    wanted = parts(url)
    if wanted is None and credentials.shape(url) is not None:
        return  # the password in it is the mistake: rule credential says so
    if wanted is None:
        text = "code.git.url is no plain https or ssh URL"  # it may hold a password: never repeated
        yield doc.finding(ID, ("code", "git", "url"), text, hint="write https://HOST/PATH.git or ssh://git@HOST/PATH.git")
        return
    platform = policy.platform
    if platform is None and policy.lost("Platform"):
        return
    allow = platform.spec.code.allow if platform is not None else []
    for allowed in allow:
        prefix = _prefix(allowed)
        if prefix is not None and wanted[: len(prefix)] == prefix:
            return
    known = ", ".join(allow) or "it allows none"
    text = f"{'/'.join(wanted[1:])} ({wanted[0]}) is not among the repositories that the platform allows: {known}"
    origin = platform.span(("code", "allow"), key=True) if platform is not None else None
    hint = "keep the code beside tau.yaml, or have the platform team add the repository to Platform.spec.code.allow"
    yield doc.finding(ID, ("code", "git", "url"), text, hint=hint, origin=origin)


def _prefix(allowed: str) -> tuple[str, ...] | None:
    """An entry of the list: a host, a folder of repositories or a repository."""
    scheme, _, host = allowed.rstrip("/").partition("://")
    if "/" not in host and re.fullmatch(_HOST, host) and scheme in {"https", "ssh"}:
        return scheme, host.lower()
    return parts(allowed)
