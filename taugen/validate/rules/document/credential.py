"""A literal that looks like a credential must not stand in Git.

A document is reviewed, copied and kept for ever: a token in it is a token published. The value belongs into a Secret of the workspace; the
document names it. The finding never repeats the text.

Breaks:

    runtime:
      env:
        REPORT_URL: https://robot:pass1234@host.example/report

Mends:

    runtime:
      env_secret:
        REPORT_URL: report:url

Source: GitHub secret scanning patterns (public token formats); OWASP Secrets Management.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Span
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _texts as texts
from taugen.words import Path, credentials, dotted

ID = "credential"

_HINT = (
    'put the value into a Secret of the workspace and write runtime.env_secret: {NAME: "SECRET:KEY"}; then change it, since Git remembers'
)


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Known shapes anywhere in the document; telling names in env, args, configs and setup."""
    del policy
    seen: set[Path] = set()
    setup = doc.as_typed(("run", "setup")) if doc.spec.run is not None and doc.spec.run.setup is not None else None
    if credentials.may_hold(doc.document.source) or not texts.plain(doc.document):
        for path, text in texts.of(doc.document.data):
            if (what := credentials.shape(text)) is not None and path != setup:
                seen.add(path)
                yield _finding(doc, path, what)
    if setup is not None:
        yield from _setup(doc, setup)
    for path, what in _named(doc):
        if path not in seen:
            seen.add(path)
            yield _finding(doc, path, what)


def _setup(doc: RunDoc, typed: Path) -> Iterator[Diagnostic]:
    """Lines of a script, each by itself: at its own place where the document has them as they are, else once for each kind."""
    assert doc.spec.run is not None
    text = doc.spec.run.setup or ""
    told: set[str] = set()
    for at, line in enumerate(text.split("\n")):
        what = credentials.shape(line) or credentials.in_shell(line)
        if what is None:
            continue
        span = doc.document.line_span(typed, at)
        if span is not None or what not in told:
            yield _finding(doc, typed, what, span)
        told.add(what)
    if not told and (what := credentials.shape(text)) is not None:
        yield _finding(doc, typed, what)


def _finding(doc: RunDoc, typed: Path, what: str, span: Span | None = None) -> Diagnostic:
    name = dotted(typed)
    if typed[:1] == ("code",) or typed[:2] == ("runtime", "pip"):
        hint = "remove it from the URL; " + (
            "write code.git.secret: SECRET:KEY" if typed[:1] == ("code",) else "pip reads runtime.env_secret: PIP_INDEX_URL"
        )
    else:
        hint = _HINT
    return Diagnostic(ID, f"{name} looks like {what}", span or doc.document.span(typed), name, hint)


def _named(doc: RunDoc) -> Iterator[tuple[Path, str]]:
    """(typed path, what it is) of values under telling names."""
    spec = doc.spec
    for name, value in ((spec.runtime.env if spec.runtime is not None else None) or {}).items():
        if (what := credentials.named(name, value)) is not None:
            yield doc.as_typed(("runtime", "env", name)), what
    for name, setting in ((spec.execution.configs if spec.execution is not None else None) or {}).items():
        if isinstance(setting, str) and (what := credentials.named(name, setting)) is not None:
            yield doc.as_typed(("execution", "configs", name)), what
    if spec.run is None:
        return
    for field in ("entrypoint", "args"):
        words = getattr(spec.run, field)
        if isinstance(words, list):
            yield from ((doc.as_typed(("run", field, at)), what) for at, what in _in_words(words))


def _in_words(words: list[str]) -> Iterator[tuple[int, str]]:
    """`--token VALUE`, `--token=VALUE`, `TOKEN=VALUE`."""
    for at, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if equals:
            found = credentials.named(name, value)
        else:
            before = words[at - 1] if at else ""
            found = (
                credentials.named(before.lstrip("-"), word)
                if before.startswith("--") and "=" not in before and not word.startswith("-")
                else None
            )
        if found is not None:
            yield at, found
