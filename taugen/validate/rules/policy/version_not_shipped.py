"""The schemas of the platform's versions are at hand.

What is rendered is checked against the schemas of the versions that run in the clusters. For a version that does not ship with taugen,
its CustomResourceDefinitions can be imported; without them the newest that ships is used, which may take fields that the older product
does not know.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      versions: {kueue: "0.17"}
      queueing: {fairSharing: {enable: true}}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      versions: {kueue: "0.19"}
      queueing: {fairSharing: {enable: true}}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.validate.schemas import shipped_versions

ID = "version-not-shipped"

_PRODUCTS = ("kubernetes", "kueue", "kuberay", "jobset", "nodeReadinessController")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule. Whether schemas were imported is not policy, so this is a note only."""
    for platform in policy.each("Platform"):
        for product in _PRODUCTS:
            version = getattr(platform.spec.versions, product)
            if version is None:
                continue
            minor = ".".join(version.removeprefix("v").split(".")[:2])
            shipped = shipped_versions(product)
            if minor not in shipped and minor.replace(".", "").isdigit():  # else version-form speaks
                message = f"schemas of {product} {version} don't ship with taugen, only of {', '.join(shipped)}"
                hint = "import its CustomResourceDefinitions with taugen schema import, if they aren't yet"
                yield platform.finding(ID, ("versions", product), message, hint=hint, severity=Severity.NOTE)
