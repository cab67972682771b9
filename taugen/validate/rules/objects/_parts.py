"""Looking into rendered objects: typed access that never raises, and findings about them.

In: rendered objects. Out: their parts, empty where they are missing or of another type (the schema says so then).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render import kueue
from taugen.render.types import Object, Rendered
from taugen.words import Json, at

OVERLAY = "an overlay changed it: look for a patch of this kind in the overlays of its cluster"


def finding(rule: str, item: Rendered, message: str, hint: str = OVERLAY) -> Diagnostic:
    """A finding about an object, at the document that it comes from."""
    return Diagnostic(rule, f"{item.kind} {item.name}: {message}", item.span, hint=hint)


def mapping(value: Json) -> Object:
    """The value if it is a mapping."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """The value if it is a list."""
    return value if isinstance(value, list) else []


def annotations(item: Rendered) -> Object:
    """The annotations of an object."""
    return mapping(at(item.obj, "metadata", "annotations"))


def cluster(item: Rendered) -> str:
    """The cluster whose folder an object is in."""
    return item.path.partition("/")[0]


def changed(item: Rendered, policy: Policy) -> bool:
    """Whether an overlay changed one of Kueue's objects. What policy itself says is judged by the rules on policy, at its own line."""
    made = kueue.cluster_objects(policy, cluster(item)) if cluster(item) in policy.clusters else ()
    return all(other.path != item.path or other.obj != item.obj for other in made)


def is_run(item: Rendered) -> bool:
    """Whether an object belongs to a run: `<cluster>/runs/<workspace>/<d2>/<run>/<file>`."""
    return item.path.count("/") >= 5


def named(value: Json) -> Iterator[tuple[str, Object]]:
    """The elements of a list that have a name."""
    for element in items(value):
        name = mapping(element).get("name")
        if isinstance(name, str):
            yield name, mapping(element)
