"""The environment of a run's containers: what the user asked for and what taugen tells the program.

In: a `Frame`. Out: the `env` list, sorted by name, each text written so that it arrives as typed. A variable that would say nothing is left
out, except `TAU_RESUME_FROM`, which every program may read.

A JobSet drops ``value: ""`` when it is stored, and a re-apply would then differ: there an empty variable is written without a value, which
means the same."""

import posixpath

from taugen.render.expand import escape
from taugen.render.frame import MASTER_PORT, Frame
from taugen.resolve import trials
from taugen.resolve.run import EnvVar, ResolvedRun
from taugen.words import Json, quantity
from taugen.words.canonical import jcs

ATTEMPT_ENV = ("TAU_ATTEMPT", "TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_REASON")
"""What differs between the attempts of a run, beside names."""
MASTER_ENV = ("MASTER_ADDR", "PET_MASTER_ADDR")
RDZV_ENV = ("PET_RDZV_ID",)
HOT_DIR = "/mnt"
LAUNCH_DIR = "/tau/launch"


def environment(f: Frame) -> list[Json]:
    """The variables of the program's container (on Ray: of the head and of every worker)."""
    values = _common(f.run)
    _attempt(f, values)
    _declared(f.run, values)
    if f.run.kind == "rayjob":
        _ray(f.run, values)
    elif f.gang or f.run.program.launcher == "torchrun":
        _distributed(f, values)
    if f.run.restricted:
        values.update(HOME="/tmp", USER="tau")  # noqa: S108 - the image's home belongs to another user
    bare = f.run.kind == "jobset"
    entries = {name: _literal(name, value, bare=bare) for name, value in values.items()}
    for var in f.run.env:
        entries[var.name] = _user(var, bare=bare)
    return [entries[name] for name in sorted(entries)]


def _literal(name: str, value: str, *, bare: bool) -> Json:
    return {"name": name} if bare and not value else {"name": name, "value": escape(value)}


def _user(var: EnvVar, *, bare: bool) -> Json:
    if var.secret is None:
        return _literal(var.name, var.value, bare=bare)
    return {"name": var.name, "valueFrom": {"secretKeyRef": {"name": var.secret, "key": var.key}}}


def _common(run: ResolvedRun) -> dict[str, str]:
    doc = run.doc
    values = {
        "TAU_RUN_ID": doc.run_id,
        "TAU_RUN_NAME": doc.name,
        "TAU_WORKSPACE": doc.workspace,
        "TAU_HOT_DIR": HOT_DIR,
        "TAU_NUM_WORKERS": str(run.nodes),
        "TAU_WORLD_SIZE": str(run.world_size),
    }
    if run.profile is not None:
        values["TAU_PROFILE"] = run.profile
    if run.output is not None:
        values["TAU_OUTPUT_DIR"] = run.output
    for mount in run.mounts:
        if mount.path != run.data_dir:
            values["TAU_DATA_" + mount.name.upper().replace("-", "_")] = mount.path
    if run.data_dir is not None:
        values["TAU_DATA_DIR"] = run.data_dir
    return values


def _attempt(f: Frame, values: dict[str, str]) -> None:
    """`ATTEMPT_ENV`: `attempt.next_attempt` replaces exactly these."""
    values["TAU_ATTEMPT"] = str(f.number)
    values["TAU_RESUME_FROM"] = f.resume_from
    values["TAU_RETRY_ATTEMPT"] = str(f.number - 1)
    if f.reason:
        values["TAU_RETRY_REASON"] = f.reason


def _declared(run: ResolvedRun, values: dict[str, str]) -> None:
    """Checkpoint, resilience, metrics and experiment, for programs that act on them."""
    checkpoint = run.checkpoint
    if checkpoint is not None:
        values["TAU_CHECKPOINT_DIR"] = checkpoint.path
        if checkpoint.every is not None:
            values["TAU_CHECKPOINT_EVERY"] = checkpoint.every
        if checkpoint.keep is not None:
            values["TAU_CHECKPOINT_KEEP"] = str(checkpoint.keep)
    for section, keys in _SECTIONS:
        given = getattr(run, section)
        if given:
            for key, name in keys:
                if (value := given.get(key)) is not None:
                    values[name] = _text(value)


_SECTIONS = (
    ("resilience", (("max_retries", "TAU_RETRY_MAX"), ("retry_on", "TAU_RETRY_ON"), ("fatal_exit_codes", "TAU_FATAL_EXIT_CODES"))),
    ("metrics", (("history", "TAU_METRICS_HISTORY"),)),
    (
        "experiment",
        (
            ("project", "TAU_EXPERIMENT_PROJECT"),
            ("name", "TAU_EXPERIMENT_NAME"),
            ("group", "TAU_EXPERIMENT_GROUP"),
            ("hyperparameters", "TAU_HYPERPARAMETERS"),
            ("seed", "TAU_SEED"),
        ),
    ),
)


def _text(value: Json) -> str:
    """Lists as ``a,b``, maps as JSON, scalars as they are."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return jcs(value).decode() if isinstance(value, dict) else str(value)


def _distributed(f: Frame, values: dict[str, str]) -> None:
    """Where ranks meet. torchrun reads its flags from PET_* (PyTorch torch/distributed/run.py); the node's rank is only known in the
    pod."""
    run = f.run
    values["MASTER_ADDR"] = f.master
    values["MASTER_PORT"] = MASTER_PORT
    if run.program.launcher != "torchrun":
        return
    values["TAU_DIST_BACKEND"] = "nccl" if run.gpus else "gloo"
    values["PET_NNODES"] = str(run.nodes)
    values["PET_NPROC_PER_NODE"] = str(run.processes)
    values["PET_RDZV_ID"] = f.name
    if run.processes > 1:
        values["OMP_NUM_THREADS"] = "1"
    if f.gang:
        values["PET_MASTER_ADDR"] = f.master
        values["PET_MASTER_PORT"] = MASTER_PORT
    else:
        values["PET_STANDALONE"] = "1"


def _ray(run: ResolvedRun, values: dict[str, str]) -> None:
    values["TAU_DIST_BACKEND"] = "nccl" if run.gpus else "gloo"
    own = next((var.value for var in run.env if var.name == "PYTHONPATH" and var.secret is None), "")
    values["PYTHONPATH"] = ":".join(filter(None, (own, *python_path(run))))
    if run.program.launcher == "ray-train":
        values["TAU_RAY_TRAIN_CONFIG_JSON"] = jcs(dict(run.program.configs)).decode()
    elif run.program.launcher == "ray-tune":
        _tune(run, values)


def python_path(run: ResolvedRun) -> tuple[str, ...]:
    """Where a program finds its own modules and taugen's helpers: the folder it starts in, the entrypoint's folder, the launch folder."""
    start = code_dir(run)
    if start is None:
        return (LAUNCH_DIR,)
    folder = posixpath.dirname(program_file(run) or "")
    return (start, folder, LAUNCH_DIR) if folder and folder != start else (start, LAUNCH_DIR)


def code_dir(run: ResolvedRun) -> str | None:
    """The folder that the program's code starts in; None where the image alone knows."""
    code = run.code
    if code.delivery == "image" and not any(copy.mount_path == code.root for copy in run.copies):
        return None
    return posixpath.normpath(posixpath.join(code.root, code.base))


def program_file(run: ResolvedRun) -> str | None:
    """The entrypoint's absolute path (relative only in an image whose folder nobody named), None for a command."""
    if run.program.file is None:
        return None
    start = code_dir(run)
    return run.program.file if start is None else posixpath.normpath(posixpath.join(start, run.program.file))


def _tune(run: ResolvedRun, values: dict[str, str]) -> None:
    """What `tau_tune.py` reads: TauGrid's names, and the share of the workers that a trial gets."""
    program = run.program
    file = program_file(run) or ""
    tune = program.tune
    values["TAU_TUNE_TRAIN_PATH"] = file
    values["TAU_TUNE_TRAIN_MODULE"] = posixpath.basename(file).removesuffix(".py")
    values["TAU_TUNE_METRIC"] = str(tune.get("metric") or "")
    values["TAU_TUNE_MODE"] = str(tune.get("mode") or "min")
    values["TAU_TUNE_NUM_SAMPLES"] = str(tune.get("num_samples") or 1)
    values["TAU_TUNE_MAX_CONCURRENT_TRIALS"] = str(tune.get("max_concurrent_trials") or 1)
    values["TAU_TUNE_PARAM_SPACE"] = jcs(dict(program.configs)).decode()
    values["TAU_TUNE_TRIAL_RESOURCES"] = jcs(_trial(run)).decode()


def _trial(run: ResolvedRun) -> dict[str, Json]:
    """CPUs and GPUs of one trial: as many trials share a worker as run at once, no more."""
    share = max(1, -(-trials.at_once(run.program) // run.nodes))
    cpus = int(quantity.parse(run.worker.cpu_limit or run.worker.cpu))
    out: dict[str, Json] = {"cpu": max(1, cpus // share)}
    if run.gpus:
        out["gpu"] = run.gpus // share if run.gpus >= share else round(run.gpus / share, 4)
    return out
