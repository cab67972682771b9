"""Reports made by hand, with everything that a format could trip over."""

from taugen.diag import Diagnostic, Severity, Span
from taugen.pipeline.check import Report

NASTY = "50% done: a,b ::error file=x::y ##[add-mask]z \x1b[31m\r\n\u202e<b>|`@team #1 https://evil.example ]]>\udcff"


def report(*findings: Diagnostic) -> Report:
    return Report(tuple(findings), documents=3, runs=1)


def finding(number: int = 1, severity: Severity = Severity.ERROR, **more: object) -> Diagnostic:
    values = {
        "rule": "profile-limit",
        "message": f"finding {number}",
        "span": Span("workspaces/a/tau.yaml", number, 3, number, 9),
        "path": "compute.gpus",
    }
    return Diagnostic(**{**values, "severity": severity, **more})  # type: ignore[arg-type]


def nasty() -> Diagnostic:
    return finding(
        7,
        message=NASTY,
        hint=NASTY,
        path=f"env.{NASTY}",
        span=Span(f"workspaces/{NASTY}/tau.yaml", 7, 3, 7, 9),
        origin=Span(f"policy/{NASTY}", 4, 2),
    )
