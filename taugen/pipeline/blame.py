"""Which patch of an overlay broke an object.

In: what was found at patched objects, and the objects as they were rendered. Out: the same findings, those that a patch caused at its place
and without the name of the object, so that one slip is one finding however many runs it reaches. What must never happen: a patch is blamed
for what stands in a run or in policy. So the patches are applied one after the other, and the one behind which a finding first appears has
caused it. That is done only where something was found.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from taugen.diag import Diagnostic, Span
from taugen.render import overlay
from taugen.render.overlay import Overlays
from taugen.render.patches import Patch
from taugen.render.types import Rendered
from taugen.words import Json, Path, dotted
from taugen.words.regex import regex

_STEP = regex(r"\[([0-9]{1,6})\]|\.?([^.\[]+)")
_TEMPLATES = frozenset(("template", "submitterPodTemplate"))
_NAMES = ("name", "groupName", "mountPath", "key")
"""By what an element of a list is known in a patch and in the object alike."""
_HINT = "remove it from the patch"


def blamed(
    findings: Sequence[Diagnostic],
    overlays: Overlays,
    cluster: str,
    before: Sequence[Rendered],
    judge: Callable[[Sequence[Rendered]], Iterable[Diagnostic]],
) -> list[Diagnostic]:
    """`findings`, which `judge` gave for the patched objects of a cluster; `before` are these objects without any patch."""
    patches = overlays.by_cluster.get(cluster, ())
    if not patches or not findings:
        return list(findings)
    seen = set(judge(before))
    suspects = set(findings) - seen
    cause: dict[Diagnostic, Patch] = {}
    current = list(before)
    for patch in patches:
        if not suspects:
            break
        patched, _ = overlay.apply(Overlays({cluster: (patch,)}), cluster, current)
        if all(new is old for new, old in zip(patched, current, strict=True)):
            continue
        current, now = patched, set(judge(patched))
        cause |= dict.fromkeys((now - seen) & suspects, patch)
        seen = now
    moved = [_moved(one, cause[one], current) if one in cause and not cause[one].shipped else one for one in findings]
    told = {(one.span, one.path) for one in moved if one.rule != "schema"}
    return list(dict.fromkeys(one for one in moved if not _again(one, told)))


def _again(finding: Diagnostic, told: set[tuple[Span, str]]) -> bool:
    """Whether a schema says of a field what a rule has said of it."""
    field = finding.path.rpartition(".")[2]
    return finding.rule == "schema" and f"`{field}`" in finding.message and (finding.span, finding.path) in told


def _moved(finding: Diagnostic, patch: Patch, objects: Sequence[Rendered]) -> Diagnostic:
    item = next((one for one in objects if finding.message.startswith(f"{one.kind} {one.name}: ")), None)
    if item is None:
        return finding
    message = finding.message.removeprefix(f"{item.kind} {item.name}: ")
    written = finding.path
    if not written and " " not in (head := message.partition(": ")[0]):
        # The schemas' findings say the field in their message only.
        written, message = head, message.partition(": ")[2]
    place = _in_patch(patch, item.obj, _steps(item.obj, written), message)
    hint = _HINT if "overlay" in finding.hint else finding.hint
    return replace(patch.finding(finding.rule, message, place, hint), severity=finding.severity, origin=finding.origin)


def _steps(node: Json, text: str) -> Path:
    """The path that `dotted` wrote of an object: its keys may hold dots."""
    steps: list[str | int] = []
    while text:
        text = text.removeprefix(".")
        fitting = [k for k in node if text == k or text.startswith((f"{k}.", f"{k}["))] if isinstance(node, dict) else []
        if fitting:
            key = max(fitting, key=len)
            steps.append(key)
            text, node = text[len(key) :], _below(node, key)
            continue
        found = _STEP.match(text)
        if found is None:
            break
        step: str | int = int(found[1]) if found[1] else found[2]
        steps.append(step)
        text = text[found.end() :]
        node = _below(node, step)
    return tuple(steps)


def _in_patch(patch: Patch, obj: Json, path: Path, message: str) -> Path:
    if patch.pods:
        last = max((at for at, step in enumerate(path) if step in _TEMPLATES), default=-1)
        for step in path[: last + 1]:
            obj = _below(obj, step)
        path = path[last + 1 :]
    if patch.merge is None:
        return _operation(patch, path)
    if not path:
        return _said(patch.merge, message)
    return _written(patch.merge, obj, path)


def _below(node: Json, step: str | int) -> Json:
    if isinstance(node, dict):
        return node.get(str(step))
    return node[step] if isinstance(node, list) and isinstance(step, int) and step < len(node) else None


def _operation(patch: Patch, path: Path) -> Path:
    """The last operation that reaches the path, else the one that comes nearest."""
    best, reach = 0, -1
    for at, operation in enumerate(patch.operations):
        for pointer in operation.changes:
            shared = 0
            for one, other in zip(pointer, path, strict=False):
                if one != "-" and one != str(other):
                    break
                shared += 1
            if shared >= reach:
                best, reach = at, shared
    return (best, "path")


def _written(merge: Json, obj: Json, path: Path) -> Path:
    """How far a merge writes a path. An element of a list is that of the same name, or the only one."""
    done: list[str | int] = []
    for step in path:
        obj = _below(obj, step)
        at = _element(merge, obj) if isinstance(merge, list) else step
        below = _below(merge, at) if at is not None else None
        if at is None or (below is None and not (isinstance(merge, dict) and at in merge)):
            break
        done.append(at)
        merge = below
    return tuple(done)


def _element(merge: list[Json], wanted: Json) -> int | None:
    for at, one in enumerate(merge):
        if isinstance(one, dict) and isinstance(wanted, dict) and any(k in one and one[k] == wanted.get(k) for k in _NAMES):
            return at
    return 0 if len(merge) == 1 else None


def _said(merge: Json, message: str) -> Path:
    """The field of a merge that a message names, where there is no path; else the only one there is."""
    words = set(regex(r"[A-Za-z][\w./-]*").findall(message))
    named = [path for path in _leaves(merge, ()) if {str(path[-1]), dotted(path)} & words]
    if named:
        return named[0]
    every = list(_leaves(merge, ()))
    return every[0] if len(every) == 1 else ()


def _leaves(node: Json, path: Path) -> Iterator[Path]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, (*path, key))
    elif path:
        yield path
