"""What is published already, as far as this repository knows: for commands that look at the sources.

In: a project. Out: which runs the deploy branch holds, from the local branch, a remote's as it was fetched last, or the tip that `publish`
saw. What must never happen: a connection; a finding of reading made harmless.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from taugen.diag import Diagnostic, Severity, has_errors, ordered
from taugen.load import git
from taugen.pipeline.check import Report
from taugen.pipeline.compile import Compiled
from taugen.pipeline.project import Project
from taugen.publish import state
from taugen.publish.state import Key


def lenient(project: Project, report: Report) -> Report:
    """The report as `check` gives it, where this repository knows a deploy branch."""
    judged = [(one.doc.workspace, one.doc.run) for one in report.compiled if any(True for _ in _later(one))]
    return softened(report, published(project, judged))


def softened(report: Report, published: set[Key]) -> Report:
    """The report, in which a published document is not judged by later policy (law 3): errors and warnings become notes, but for those of
    reading."""
    soft = {d for one in report.compiled if (one.doc.workspace, one.doc.run) in published for d in _later(one)}
    if soft:
        # One finding at a patch may be of several runs: it stays while one of them is new.
        soft -= {d for one in report.compiled if (one.doc.workspace, one.doc.run) not in published for d in one.findings}
    if not soft:
        return report
    why = "the run is published, and stays as it is"
    return replace(report, findings=tuple(ordered(d.softened(why) if d in soft else d for d in report.findings)))


def _later(one: Compiled) -> Iterable[Diagnostic]:
    """Errors and warnings that are not of reading the document itself; none where its identity is in doubt."""
    if has_errors(one.doc.findings) or not one.doc.name:
        return ()
    own = set(one.doc.findings)
    return (finding for finding in one.findings if finding not in own and finding.severity is not Severity.NOTE)


def published(project: Project, runs: Iterable[Key]) -> set[Key]:
    """Those of `runs` that are live on a deploy branch that is known here."""
    wanted = list(dict.fromkeys(runs))
    if not wanted:
        return set()
    try:
        tips = _tips(project)
        with git.CatFile(project.root) as objects:
            specs = [f"{tip}:{state.state_path(*key)}" for tip in tips for key in wanted]
            states = [state.read(body, project.name) if isinstance(body, bytes) else None for body in objects.read_many(specs)]
    except git.GitError:
        return set()  # no repository, so nothing was published from here
    return {one.key for one in states if one is not None and one.live}


def _tips(project: Project) -> list[str]:
    name = project.policy.project.spec.output.branch
    places = [f"refs/heads/{name}", f"refs/remotes/*/{name}", "refs/taugen/seen/*"]
    return list(dict.fromkeys(git.run(["for-each-ref", "--format=%(objectname)", *places], cwd=project.root).out.decode("ascii").split()))
