"""Code from an image has one plain place in it, and an entrypoint inside that place.

The folder is copied before the program starts; a path with `..`, or an entrypoint outside, would start something that was not copied.

Breaks:

    run:
      entrypoint: ../train.py
      source: {image: "…@sha256:…", path: /src}

Mends:

    run:
      entrypoint: train.py
      source: {image: "…@sha256:…", path: /src}

Source: TauGrid's rules for run.source (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _paths as paths

ID = "source-path"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`run.source.path`, and `run.entrypoint` beside it."""
    del policy
    run = doc.spec.run
    if run is None or run.source is None:
        return
    if (fault := paths.in_image(run.source.path)) is not None:
        yield doc.finding(ID, ("run", "source", "path"), fault, hint="write the folder's absolute path in the image, such as /src")
    if isinstance(run.entrypoint, str) and (fault := paths.relative(run.entrypoint)) is not None:
        text = f"{fault}, but the entrypoint is a file inside run.source.path"
        yield doc.finding(ID, ("run", "entrypoint"), text, hint="write its path inside that folder, such as train.py")
