"""How the code reaches the container.

In: the plan, the gathered code, the document's wishes. Out: `Code` with the reason for the choice. A ConfigMap holds at most 900 KiB (Kubernetes' own limit is
1 MiB of data, ConfigMap validation); a checkout needs a commit; an image needs nothing.
"""

import posixpath

from taugen.resolve.code import CODE_PATH, ENTRYPOINT, CodeInput
from taugen.resolve.report import Report
from taugen.resolve.run import Code, ImageCopy
from taugen.spec.model import CodeSection

MOST_BYTES = 900 * 1024
LAUNCH_BYTES = 16 * 1024
"""Room for the launch script and the checkpoint helper, which travel in the same ConfigMap."""
SOURCE = "source"
_NO_CODE = CodeSection()


def deliver(report: Report, code: CodeInput) -> tuple[Code, tuple[ImageCopy, ...]]:
    """Choose the delivery; a copy out of an image comes with `run.source`."""
    spec = report.doc.spec
    section, run = spec.code or _NO_CODE, spec.run
    wish = section.delivery or "auto"
    if run is not None and run.source is not None:
        if wish not in {"auto", "image"}:
            text = f"run.source takes the code from an image, so delivery can't be {wish}"
            report.error("code-delivery", ("code", "delivery"), text, hint="leave code.delivery out, or remove run.source")
        return Code("image", "run.source names an image that holds the code"), (
            ImageCopy(SOURCE, run.source.image, run.source.path, "/tau/code"),
        )
    if wish == "image":
        return Code("image", "code.delivery says so", root=""), ()
    if section.git is not None and wish in {"auto", "git"}:
        return _git(section, code), ()
    if wish == "git":
        if not report.unread(("code",)):
            text = "delivery by git needs the repository and the commit"
            hint = "write code: {git: {url: https://..., ref: FULL_COMMIT_SHA}}; `taugen lock` prints it"
            report.error("code-git-missing", ("code", "delivery"), text, hint=hint)
        report.refused = True
        return Code("git", "code.delivery says so"), ()
    return _configmap(report, code, wish), ()


def _git(section: CodeSection, code: CodeInput) -> Code:
    assert section.git is not None
    secret = None
    if section.git.secret is not None:
        name, _, key = section.git.secret.partition(":")
        secret = (name, key)
    reason = "code.delivery says so" if section.delivery == "git" else "code.git names a repository"
    base = posixpath.join(code.plan.root, code.plan.base) if code.here else posixpath.normpath(section.path or ".").removeprefix(".")
    return Code("git", reason, base=base, url=section.git.url, commit=section.git.ref, secret=secret, path=base)


def _configmap(report: Report, code: CodeInput, wish: str) -> Code:
    run = report.doc.spec.run
    tree = code.tree
    if wish == "auto" and code.empty and run is not None and isinstance(run.entrypoint, list):
        return Code("image", "the entrypoint is a command, and there is no file to deliver", root="")
    size = tree.size if tree is not None else 0
    reason = "code.delivery says so" if wish == "configmap" else f"{_kib(size)} fit into a ConfigMap"
    if size + LAUNCH_BYTES > MOST_BYTES:
        where = CODE_PATH if report.doc.has(CODE_PATH) else ("code", "delivery") if report.doc.has(("code", "delivery")) else ENTRYPOINT
        text = f"the code has {_kib(size)}, and a ConfigMap holds at most {_kib(MOST_BYTES - LAUNCH_BYTES)} of it"
        hint = "leave files out (code.exclude, code.include), or name a checkout: code: {git: {url: https://..., ref: FULL_COMMIT_SHA}}"
        report.error("code-too-large", where, text, hint=hint)
    return Code("configmap", reason, base=code.plan.base, tree=tree, path=code.plan.root)


def _kib(size: int) -> str:
    return f"{size} bytes" if size < 1024 else f"{-(-size // 1024)} KiB"
