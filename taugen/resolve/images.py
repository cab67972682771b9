"""Which image a run has, and which Ray it holds.

In: the layers' images. Out: a reference, and for a RayJob the version of Ray as the image's tag says it. Nothing is built in and nothing is dialled.
"""

import re
from functools import lru_cache

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.words import Path

IMAGE: Path = ("runtime", "image")
_RAY_IN_TAG = re.compile(r"(?:^|[-_.])ray-?([0-9]+\.[0-9]+\.[0-9]+)")
_VERSION_FIRST = re.compile(r"(?:nightly-)?v?([0-9]+\.[0-9]+\.[0-9]+)(?:$|[-_.])")


def image(report: Report, workspace: WorkspaceContext, profile: Item[Profile] | None, kind: str, *, profile_decided: bool) -> str:
    """The run's image: its own, else the profile's, the workspace's or the platform's for its kind. Empty where there is none."""
    runtime = report.doc.spec.runtime
    if runtime is not None and runtime.image is not None:
        return runtime.image
    if profile is not None and profile.spec.image is not None:
        return profile.spec.image
    found = workspace.image(kind)
    if found is not None:
        return found
    report.refused = True
    if profile_decided or not workspace.profiles:
        looked = [f"profile {profile.name}"] if profile is not None else []
        looked += [layer.item.label[0].lower() + layer.item.label[1:] for layer in workspace.layers]
        text = f"the run has no image, and {_either(looked)} has a default for a {kind}"
        report.error("missing-image", IMAGE, text, hint="write runtime.image, pinned by digest: runtime: {image: REGISTRY/NAME@sha256:...}")
    return ""


def _either(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} neither"
    return f"neither {', '.join(names[:-1])} nor {names[-1]}"


@lru_cache(maxsize=1024)
def ray_version(reference: str) -> str | None:
    """The version of Ray in an image, by its tag: `...-ray2.56.0-...` of any image, `2.56.0-py312` of one whose name starts with `ray`; None: unknown."""
    path = reference.partition("@")[0]
    name, _, tag = path.rpartition("/")[2].partition(":")
    if (found := _RAY_IN_TAG.search(tag)) is not None:
        return found[1]
    if name.startswith("ray") and (found := _VERSION_FIRST.match(tag)) is not None:
        return found[1]
    return None


def checked_ray_version(report: Report, reference: str) -> str | None:
    """As `ray_version`, with a warning where the tag does not say it."""
    version = ray_version(reference)
    if version is None and reference:
        text = (
            f"the image {reference} does not say which Ray it holds, so rayVersion is left out: KubeRay then guesses which features it has"
        )
        report.warn("ray-version-unknown", IMAGE, text, hint="write tag and digest, the version in the tag: NAME:ray2.56.0@sha256:...")
    return version
