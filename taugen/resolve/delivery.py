"""How the code reaches the container.

In: the plan, the gathered code, the document's wishes. Out: `Code` with the reason for the choice. A ConfigMap holds at most 900 KiB of
it (Kubernetes allows 1 MiB of data in one, apimachinery's MaxSecretSize); a checkout needs a commit; an image needs nothing.
"""

import posixpath

from taugen.resolve.case import Case
from taugen.resolve.code import CODE_PATH, ENTRYPOINT
from taugen.resolve.run import Code, ImageCopy
from taugen.words import Path

MOST_BYTES = 900 * 1024
LAUNCH_BYTES = 24 * 1024
"""Room for the launch script and the helpers for checkpoints and searches, which travel in the same ConfigMap."""
SOURCE = "source"
DELIVERY: Path = ("code", "delivery")
_BY_CHOICE = "code.delivery says so"


def deliver(case: Case) -> tuple[Code, tuple[ImageCopy, ...]]:
    """Choose the delivery; a copy out of an image comes with `run.source`."""
    section, source = case.code, case.run.source
    wish = section.delivery or "auto"
    if source is not None:
        if wish not in {"auto", "image"}:
            text = f"run.source takes the code from an image, so delivery can't be {wish}"
            case.report.error("code-delivery", DELIVERY, text, hint="leave code.delivery out, or remove run.source")
        _no_extra(case, "run.source takes the code from an image")
        return Code("image", "run.source names an image that holds the code"), (ImageCopy(SOURCE, source.image, source.path, "/tau/code"),)
    if wish == "image":
        _no_extra(case, "the code is in the image")
        return Code("image", _BY_CHOICE, root=""), ()
    if section.git is not None and wish != "configmap":
        _no_extra(case, "the code is a checkout")
        return _git(case), ()
    if wish == "git":
        if not case.doc.lost(("code", "git")):
            hint = "write code: {git: {url: https://..., ref: FULL_COMMIT_SHA}}"
            case.report.error("code-git-missing", DELIVERY, "delivery by git needs the repository and the commit", hint=hint)
        case.report.refused = True
        return Code("git", _BY_CHOICE), ()
    return _configmap(case, wish), ()


def _no_extra(case: Case, why: str) -> None:
    """Extra scripts travel in the ConfigMap only."""
    workflow = case.doc.spec.workflow
    if workflow is not None and workflow.extra_scripts:
        text = f"{why}, so extra scripts can't be put beside the entrypoint"
        case.report.error("code-extra-unused", ("workflow", "extra_scripts"), text, hint="remove them, or leave code.delivery out")


def _git(case: Case) -> Code:
    """A checkout. Where the entrypoint stands here too, the checkout is taken to have this repository's folders; else paths start at its
    root.
    """
    section, code = case.code, case.code_input
    git = section.git
    assert git is not None
    name, _, key = (git.secret or "").partition(":")
    reason = _BY_CHOICE if section.delivery == "git" else "code.git names a repository"
    start = code.plan.start if code.here else posixpath.normpath(section.path or ".")
    base = "" if start == "." else start
    return Code("git", reason, base=base, url=git.url, commit=git.ref, secret=(name, key) if git.secret else None, path=base)


def _configmap(case: Case, wish: str) -> Code:
    code = case.code_input
    if wish == "auto" and code.empty and isinstance(case.run.entrypoint, list):
        return Code("image", "the entrypoint is a command, and there is no file to deliver", root="")
    size = code.tree.size if code.tree is not None else 0
    if size + LAUNCH_BYTES > MOST_BYTES:
        where = next((p for p in (DELIVERY, CODE_PATH) if case.doc.has(p)), ENTRYPOINT)
        text = f"the code has {_kib(size)}, and a ConfigMap holds {_kib(MOST_BYTES - LAUNCH_BYTES)} of it"
        hint = "leave files out (code.exclude, code.include), or name a checkout: code: {git: {url: https://..., ref: FULL_COMMIT_SHA}}"
        case.report.error("code-too-large", where, text, hint=hint)
    reason = _BY_CHOICE if wish == "configmap" else f"{_kib(size)} fit into a ConfigMap"
    return Code("configmap", reason, base=code.plan.base, tree=code.tree, path=code.plan.root)


def _kib(size: int) -> str:
    return f"{size} bytes" if size < 1024 else f"{-(-size // 1024)} KiB"
