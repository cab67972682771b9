"""The platform's files against those of the branch: what is written, what leaves, what must stay.

In: what policy wants, the branch, live runs. Out: `PlatformChange`. Objects that a live run refers to are never removed or renamed (law 5);
files of a cluster that left the fleet stay (law 6); what policy errors make doubtful stays as it is; a file of somebody else is left alone
(law 4).
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from taugen.diag import Diagnostic, Span
from taugen.load.nodes import parse
from taugen.policy.set import Policy
from taugen.publish import inplace, needs, state
from taugen.publish.branch import Deployed
from taugen.publish.needs import Doubt, Needs, On
from taugen.publish.place import Held, Place, parts_of, place_of, reference
from taugen.publish.state import RunState
from taugen.render import file
from taugen.render.types import Rendered


class Wanted(Struct, frozen=True):
    """What policy wants: the platform's objects; what its errors hold back, and what they leave open."""

    policy: Policy
    rendered: Sequence[Rendered]
    held: Held = field(default_factory=Held)
    doubt: Doubt = lambda _run, _ref: False


class PlatformChange(Struct):
    """`writes` path -> text and `deletes`, both on the branch; `refused` and `notes` for people; `blocked` says why a workspace gets no new
    runs; `unsettled`: something stays that will have to be looked at again."""

    writes: dict[str, str] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    refused: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    unsettled: bool = False


def change(branch: Deployed, wanted: Wanted, live: Sequence[RunState]) -> PlatformChange:
    """Compare the platform's files with the branch."""
    old = _owned(branch)
    places = {path: place_of(branch.folder, path, text) for path, text in old.items()}
    new = {f"{branch.folder}/{item.path}": file.text(item, branch.project) for item in wanted.rendered}
    need = _needs(wanted, live, old, places)
    compare = _Compare(branch, wanted, need, _standing(need, old, places))
    for path, text in new.items():
        if old.get(path) != text:
            compare.write(path, places.get(path) or place_of(branch.folder, path, text), old.get(path), text)
    for path in sorted(old.keys() - new.keys()):
        compare.delete(path, places[path])
    _foreign(branch, old, compare.out)
    compare.out.unsettled |= bool(compare.out.refused)
    return compare.out


class _Compare:
    """Takes differences one by one, unless something speaks against them. `standing` are objects that kept ones refer to."""

    def __init__(self, branch: Deployed, wanted: Wanted, need: Needs, standing: set[On]) -> None:
        self.branch, self.wanted, self.need, self.standing = branch, wanted, need, standing
        self.out = PlatformChange(refused=[*need.refused], blocked={**need.blocked})

    def write(self, path: str, place: Place, old: str | None, new: str) -> None:
        """A text that is new or another one."""
        if self.wanted.held.covers(place):
            self.out.unsettled = True
        elif _whole_stays(self.need, place) or _must_stay(self.need, place, old, new):
            return
        elif old is not None and (found := inplace.refused(place.ref, old, new)) is not None:
            self.out.refused.append(found)
            if place.ref[0] == "LocalQueue":
                self.out.blocked[place.workspace] = found.message
        else:
            self.out.writes[path] = new

    def delete(self, path: str, place: Place) -> None:
        """A file that nobody wants any more."""
        if self.wanted.held.covers(place):
            self.out.unsettled = True
        elif not path.startswith(self.branch.folder + "/"):
            self.out.deletes.append(path)
        elif place.cluster not in self.wanted.policy.clusters:
            _left(self.out, self.branch, place.cluster)
        elif not _whole_stays(self.need, place) and place.on not in self.standing:
            self.out.deletes.append(path)


def _owned(branch: Deployed) -> dict[str, str]:
    """The platform's files on the branch that are ours: path -> text."""
    if branch.tip is None:
        return {}
    entries = branch.tree.paths()
    paths = [path for path in entries if _is_platform(path, branch.folder) and entries[path].mode.startswith("100")]
    branch.tree.prefetch(paths)
    out = {}
    for path in paths:
        text = branch.tree.read(path).decode("utf-8", "replace")
        header = file.parse_header(text)
        if header is not None and header.project == branch.project:
            out[path] = text
    return out


def _is_platform(path: str, folder: str) -> bool:
    """Whether a path can be the platform's: below the deploy tree, but not a run's; or, as a leftover of an older output.path,
    elsewhere."""
    if not path.endswith(".yaml") or path.startswith(state.FOLDER + "/"):
        return False
    if not path.startswith(folder + "/"):
        return True
    parts = parts_of(path, folder)
    return len(parts) > 2 and (parts[1] != "runs" or len(parts) == 4)


def _needs(wanted: Wanted, live: Sequence[RunState], old: Mapping[str, str], places: Mapping[str, Place]) -> Needs:
    there = needs.provided(wanted.policy, wanted.rendered)
    sources = {place.on: header.source for path, place in places.items() if (header := file.parse_header(old[path])) is not None}
    return needs.judge(live, wanted.policy, there, wanted.doubt, sources)


def _whole_stays(need: Needs, place: Place) -> bool:
    """Whether a file belongs to a workspace that stays whole on its cluster, or syncs it."""
    if (place.cluster, place.workspace) in need.workspaces:
        return True
    return place.shared and place.section != "platform" and any(cluster == place.cluster for cluster, _ in need.workspaces)


def _must_stay(need: Needs, place: Place, old: str | None, new: str) -> bool:
    """Whether a live run needs the object of a file, and its new text would take it away: another object, or a queue that shuts the run's
    namespace out."""
    if old is None:
        return False
    if place.ref[0] == "ClusterQueue":
        kept = (f"- {name}\n" for cluster, name in need.namespaces if cluster == place.cluster)
        if any(line in old and line not in new for line in kept):
            return True
    return place.on in need.objects and reference(new) != place.ref


def _standing(need: Needs, old: Mapping[str, str], places: Mapping[str, Place]) -> set[On]:
    """What the kept objects stand on: a queue without its flavors would admit nothing."""
    texts = {place.on: old[path] for path, place in places.items()}
    found: set[On] = set()
    waiting = list(need.objects)
    while waiting:
        on = waiting.pop()
        if on not in found and on in texts:
            found.add(on)
            documents, _ = parse("", texts[on].encode())
            waiting += [(on[0], ref) for document in documents for ref in needs.stands_on(document.data)]
    return found


def _left(out: PlatformChange, branch: Deployed, cluster: str) -> None:
    place = f"{branch.folder}/{cluster}/"
    note = f"cluster {cluster} left the fleet: its files stay, so that nothing is pruned there; delete {place} by hand when it is gone"
    if note not in out.notes:
        out.notes.append(note)


def _foreign(branch: Deployed, old: Mapping[str, str], out: PlatformChange) -> None:
    """A file of somebody else where one of ours would go: it is left alone, and ours is refused."""
    if branch.tip is None:
        return
    there = branch.tree.paths()
    for path in [p for p in out.writes if p not in old and (p in there or p in branch.tree.folders())]:
        hint = f"rename it or remove it from the branch: taugen never touches a file without the header of project {branch.project}"
        out.refused.append(Diagnostic("deploy-foreign", f"{path} stands on the deploy branch and is not taugen's", Span(path), hint=hint))
        del out.writes[path]
