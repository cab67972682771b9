"""All objects of one run.

In: a `ResolvedRun` and a reader of its code. Out: the ConfigMap, the Service of a gang, and the Job, JobSet or RayJob, each with its file.
Pure: the same run gives the same objects, whatever the time, the machine or the order of anything."""

from collections.abc import Callable

from taugen.render.configmap import configmap
from taugen.render.frame import frame
from taugen.render.job import job
from taugen.render.jobset import jobset
from taugen.render.rayjob import rayjob
from taugen.render.service import service
from taugen.render.types import Object, Rendered
from taugen.resolve.run import ResolvedRun

_KINDS = {"job": job, "jobset": jobset, "rayjob": rayjob}


def run_folder(run: ResolvedRun) -> str:
    """Where the run's files go: `<cluster>/runs/<workspace>/<digest8[:2]>/<run>`."""
    doc = run.doc
    return f"{run.cluster}/runs/{doc.workspace}/{doc.digest[:2]}/{doc.run}"


def render_run(run: ResolvedRun, read: Callable[[str], bytes]) -> list[Rendered]:
    """The objects of a run's first attempt. `read` gives the bytes of a file of the repository."""
    return render_attempt(run, read, 1)


def render_attempt(
    run: ResolvedRun, read: Callable[[str], bytes], attempt: int, *, resume_from: str = "", reason: str = ""
) -> list[Rendered]:
    """The objects of any attempt, as if resolved for it; a later attempt of a published run comes from `attempt.next_attempt` instead."""
    f = frame(run, attempt, resume_from, reason)
    delivered = configmap(f, read)
    objects: list[Object] = [delivered.obj]
    if f.gang and run.kind == "job":
        objects.append(service(f))
    objects.append(_KINDS[run.kind](f, delivered))
    folder, span = run_folder(run), run.doc.span(("name",))
    return [Rendered(f"{folder}/{str(obj['kind']).lower()}.yaml", obj, run.doc.file, span) for obj in objects]
