"""The deploy tree as a publish on top of a branch would leave it.

In: a checked project and a deploy branch. Out: `Tree`: every file that taugen would own there, published runs as they were published.
Nothing of the repository is written.
"""

from msgspec import Struct

from taugen.diag import Diagnostic, Refused
from taugen.load import git
from taugen.pipeline.check import Report
from taugen.pipeline.compile import Compiled
from taugen.pipeline.decide import decide, refuse_edits
from taugen.pipeline.pool import wish_of
from taugen.pipeline.project import Project
from taugen.pipeline.source import Wishes
from taugen.publish.branch import Deployed, deployed
from taugen.publish.commit import Made
from taugen.publish.platform import Wanted
from taugen.publish.state import Key
from taugen.render import file


class Tree(Struct, frozen=True):
    """`texts` of all files by path, without the states; what is `refused` and stays as it is; `waiting` runs, each with what it waits
    for."""

    texts: dict[str, str]
    refused: tuple[Diagnostic, ...]
    waiting: tuple[tuple[str, str], ...]


def known(project: Project, ref: str) -> Deployed:
    """The deploy branch that `ref` names. Raises `Refused` for an unknown one, and for one that was edited by hand."""
    folder = "/".join(part for part in project.policy.project.spec.output.path.split("/") if part not in ("", "."))
    try:
        branch = deployed(project.root, git.resolve(project.root, ref), folder, project.name)
    except git.GitError as error:
        raise Refused(str(error), hint="name the deploy branch as this repository has it, for example origin/deploy", code=2) from None
    refuse_edits(branch, project.policy.clusters, ref)
    return branch


def against(project: Project, report: Report, branch: Deployed) -> Tree:
    """The tree. `report` is of the whole project, without errors but for published documents. Raises `Refused`."""
    new = {(one.doc.workspace, one.doc.run): one for one in report.compiled}
    wishes = Wishes(
        wishes=[wish_of(one.doc, project.policy) for one in report.compiled],
        touched={(state.workspace, state.name) for state in branch.states() if state.live},
        compiled={key: _made(one) for key, one in new.items() if one.ok and key not in branch.runs},
        platform=Wanted(project.policy, report.platform),
    )
    decision = decide(branch, wishes, allow_all=project.policy.project.spec.safety.cancel == "allow")
    texts = _owned(branch)
    for path in (*decision.change.deletes, *branch.files_below(run.folder for run, _ in decision.plan.end)):
        texts.pop(path, None)
    texts |= decision.change.writes
    for wish in decision.plan.add:
        texts |= {f"{branch.folder}/{item.path}": file.text(item, project.name) for item in new[wish.key].rendered}
    waiting = tuple((wish.run_id, older.run_id) for wish, older in decision.plan.waiting)
    return Tree(texts, (*decision.plan.findings, *decision.refusals()), waiting)


def live(branch: Deployed) -> set[Key]:
    """The runs that the branch holds."""
    return {state.key for state in branch.states() if state.live}


def _made(one: Compiled) -> Made:
    assert one.run is not None
    folder = one.rendered[0].path.rpartition("/")[0]
    return Made(folder, {}, "", 0)


def _owned(branch: Deployed) -> dict[str, str]:
    """The files of the deploy tree that are taugen's."""
    tree = branch.tree
    paths = [path for path in tree.paths() if path.startswith(branch.folder + "/") and tree.paths()[path].mode.startswith("100")]
    tree.prefetch(paths)
    texts = {path: tree.read(path).decode("utf-8", "replace") for path in paths}
    return {path: text for path, text in texts.items() if file.verify(text, branch.project) == "ok"}
