"""Which image a run has, and which Ray it holds.

In: the layers' images. Out: a reference, and for a RayJob the version of Ray as the image's tag says it. Nothing is built in and nothing
is dialled.
"""

from functools import lru_cache

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.words import Path
from taugen.words.regex import regex

IMAGE: Path = ("runtime", "image")
_RAY_IN_TAG = regex(r"(?:^|[-_.])ray-?([0-9]+\.[0-9]+\.[0-9]+)")
_VERSION_FIRST = regex(r"v?([0-9]+\.[0-9]+\.[0-9]+)(?:$|[-_.])")


def image(case: Case, profile: Item[Profile] | None, *, profile_decided: bool) -> str:
    """The run's image: its own, else the profile's, the workspace's or the platform's for its kind. Empty where there is none."""
    if case.runtime.image is not None:
        return case.runtime.image
    if profile is not None and profile.spec.image is not None:
        return profile.spec.image
    found = case.workspace.image(case.kind)
    if found is not None:
        return found
    case.report.refused = True
    if case.kind_known and (profile_decided or not case.workspace.images_matter):
        looked = [f"profile {profile.name}"] if profile is not None else []
        looked += [f"{layer.name} {layer.item.name}" for layer in case.workspace.layers]
        text = f"the run has no image, and {_none_of(looked)} has a default for a {case.kind}"
        case.report.error("missing-image", IMAGE, text, hint="write runtime: {image: REGISTRY/NAME@sha256:DIGEST}")
    return ""


def _none_of(names: list[str]) -> str:
    return f"neither {', '.join(names[:-1])} nor {names[-1]}" if len(names) > 1 else f"not even {names[0]}"


@lru_cache(maxsize=1024)
def ray_version(reference: str) -> str | None:
    """The version of Ray in an image, by its tag: `...-ray2.56.0-...` of any image, `2.56.0-py312` of one whose name starts with `ray`;
    else None.
    """
    name, _, tag = reference.partition("@")[0].rpartition("/")[2].partition(":")
    if (found := _RAY_IN_TAG.search(tag)) is not None:
        return found[1]
    if name.startswith("ray") and (found := _VERSION_FIRST.match(tag)) is not None:
        return found[1]
    return None


def checked_ray_version(case: Case, reference: str) -> str | None:
    """As `ray_version`, with a warning where the tag does not say it."""
    version = ray_version(reference)
    if version is None and reference:
        text = f"the image {reference} does not say which Ray it holds, so rayVersion is left out and KubeRay has to guess"
        hint = "write tag and digest, the version in the tag: NAME:ray2.56.0@sha256:DIGEST"
        case.report.warn("ray-version-unknown", IMAGE, text, hint=hint)
    return version
