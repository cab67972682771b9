"""Assets have names of their own and plain absolute source paths.

Each asset is an init container `tau-asset-<name>` and a volume: two with one name are refused by Kubernetes, and a source path with `..`
copies something else.

Breaks:

    storage:
      image_assets:
        - {name: vocab, image: "…@sha256:…", source_path: ../vocab, mount_path: /assets/vocab}

Mends:

    storage:
      image_assets:
        - {name: vocab, image: "…@sha256:…", source_path: /vocab, mount_path: /assets/vocab}

Source: TauGrid's rules for image_assets (core/runconfig); Kubernetes core validation (ValidateContainers, unique names).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _paths as paths
from taugen.words import Path

ID = "image-assets"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Names and source paths."""
    del policy
    storage = doc.spec.storage
    seen: dict[str, int] = {}
    for at, asset in enumerate((storage.image_assets if storage is not None else None) or ()):
        where: Path = ("storage", "image_assets", at)
        first = seen.setdefault(asset.name, at)
        if first != at:
            origin = doc.span(("storage", "image_assets", first, "name"))
            yield doc.finding(ID, (*where, "name"), f"two assets are named {asset.name}", hint="rename one of them", origin=origin)
        if (fault := paths.in_image(asset.source_path)) is not None:
            yield doc.finding(ID, (*where, "source_path"), fault, hint="write the folder's absolute path in the image, such as /opt/vocab")
