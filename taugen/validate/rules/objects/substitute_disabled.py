"""Every object of the platform says that Flux must not substitute variables in it.

Flux rewrites `${NAME}` in any text of an object, scripts and arguments included, where its Kustomization has `postBuild`; and a name that
it does not know fails the whole Kustomization.

Breaks:

    target: {kind: LocalQueue}
    patch:
      metadata: {annotations: {kustomize.toolkit.fluxcd.io/substitute: null}}

Mends:

    target: {kind: LocalQueue}
    patch:
      metadata: {annotations: {example.com/note: "kept"}}

Source: kustomize-controller docs/spec/v1/kustomizations.md (post build variable substitution)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import annotations, finding, is_run

ID = "substitute-disabled"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule; those of runs have more to say to reconcilers: `reconciler-annotations`."""
    for item in objects:
        if not is_run(item) and annotations(item).get(meta.FLUX_SUBSTITUTE) != "disabled":
            yield finding(ID, item, f"the annotation {meta.FLUX_SUBSTITUTE}: disabled is missing")
