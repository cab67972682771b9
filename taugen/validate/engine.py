"""Runs the rules of a stage, in their registered order.

In: a document, a resolved run, a policy or objects. Out: findings. A rule never sees the findings of another. The rules on policy are
loaded when policy is judged: they are half of all, and the check of a pull request that changes runs does without them.
"""

from collections.abc import Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.resolve.run import ResolvedRun
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules import document, objects, run


def check_document(doc: RunDoc, policies: Policy) -> list[Diagnostic]:
    """Findings of the rules that need the document and policy only."""
    return [found for rule in document.RULES for found in rule.check(doc, policies)]


def check_run(resolved: ResolvedRun, policies: Policy) -> list[Diagnostic]:
    """Findings of the rules on decided values."""
    return [found for rule in run.RULES for found in rule.check(resolved, policies)]


def check_policy(policies: Policy) -> list[Diagnostic]:
    """Findings of the rules on policy documents."""
    from taugen.validate.rules import policy

    return [found for rule in policy.RULES for found in rule.check(policies)]


def check_objects(rendered: Sequence[Rendered], policies: Policy) -> list[Diagnostic]:
    """Findings of the rules on final objects, after overlays."""
    return [found for rule in objects.RULES for found in rule.check(rendered, policies)]
