"""What `kubectl kustomize` takes for as many Jobs: an overlay a run over one base.

In: how many overlays to render. Out: seconds a Job, or why there is no number. The overlay does a part of what taugen does for a run: a
name, a namespace, labels, an image, arguments, resources by a patch, a ConfigMap of two files. Nothing is validated and nothing is
committed. Rendering is measured both ways and the quicker one counts: one process for all overlays through a kustomization that lists
them, and one process an overlay, as Argo CD does it. The one process takes longer for each the more there are.
"""

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import repository

JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: runs
      containers:
        - name: main
          image: registry.bench.example/ml/torch
          command: [/bin/sh, /tau/launch/launch.sh]
          env: [{name: OMP_NUM_THREADS, value: "4"}]
          resources: {requests: {cpu: "20", memory: 160Gi}, limits: {memory: 160Gi, nvidia.com/gpu: "1"}}
          volumeMounts: [{name: code, mountPath: /tau/code}, {name: shm, mountPath: /dev/shm}]
      volumes:
        - {name: code, configMap: {name: code}}
        - {name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}
"""
OVERLAY = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]
namePrefix: run-@n@-
namespace: lab-@w@
labels: [{pairs: {taugen.dev/run: "run-@n@", kueue.x-k8s.io/queue-name: gpu}, includeTemplates: true}]
images: [{name: registry.bench.example/ml/torch, newTag: "2.9.1"}]
configMapGenerator: [{name: code, files: [train.py, data.py]}]
patches:
  - target: {kind: Job}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/args, value: ["--steps", "@n@"]}
      - {op: replace, path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu, value: "2"}
"""


@dataclass(frozen=True, slots=True)
class Result:
    """`per_run` seconds a Job; None with the reason in `text`."""

    per_run: float | None
    text: str


def measure(overlays: int) -> Result:
    """Render that many overlays both ways."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return Result(None, "skipped: kubectl is not installed")
    with tempfile.TemporaryDirectory(prefix="kustomize-", dir=repository.cache()) as folder:
        root = Path(folder)
        _write(root, overlays)
        some = max(overlays // 10, 1)
        try:
            together = _seconds([kubectl, "kustomize", "all"], root)
            single = sum(_seconds([kubectl, "kustomize", f"run-{n}"], root) for n in range(some)) / some * overlays
        except subprocess.CalledProcessError as error:
            return Result(None, f"skipped: kubectl kustomize failed: {error.stderr.decode()[:200]}")
    quick, how = min((together, "one process for all"), (single, "one process an overlay"))
    other = max(together, single) / overlays * 1000
    return Result(quick / overlays, f"{overlays:,} overlays rendered, {how} (the other way: {other:.1f} ms), scaled linearly")


def _write(root: Path, overlays: int) -> None:
    base = root / "base"
    base.mkdir()
    (base / "job.yaml").write_text(JOB)
    (base / "kustomization.yaml").write_text("resources: [job.yaml]\n")
    code = {name: (repository.HERE / "code" / name).read_text() for name in ("train.py", "data.py")}
    for n in range(overlays):
        folder = root / f"run-{n}"
        folder.mkdir()
        (folder / "kustomization.yaml").write_text(OVERLAY.replace("@n@", str(n)).replace("@w@", str(n % 20)))
        for name, text in code.items():
            (folder / name).write_text(text.replace("@run@", f"run-{n}").replace("@number@", str(n)))
    (root / "all").mkdir()
    lines = "".join(f"- ../run-{n}\n" for n in range(overlays))
    (root / "all" / "kustomization.yaml").write_text(f"resources:\n{lines}")


def _seconds(command: list[str], cwd: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=cwd, capture_output=True, check=True)
    return time.perf_counter() - begin
