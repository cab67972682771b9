"""Versions are product versions.

Schemas and rules are chosen by them: major and minor, a patch if you like, without a product name or a range.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      versions: {kubernetes: "1.36+"}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      versions: {kubernetes: "1.36"}

Source: Semantic Versioning
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "version-form"

_VERSION = regex(r"v?[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,3})?")
_PRODUCTS = ("kubernetes", "kueue", "kuberay", "jobset", "nodeReadinessController")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for platform in policy.each("Platform"):
        for product in _PRODUCTS:
            version = getattr(platform.spec.versions, product)
            if version is not None and not _VERSION.fullmatch(version):
                message = f"{shown(version)} is no version of {product}"
                yield platform.finding(ID, ("versions", product), message, hint='write major and minor, such as "1.36"')
