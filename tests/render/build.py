"""Resolved runs made by hand, so that rendering is tested apart from what resolves them."""

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from taugen.load.code import CodeFile, CodeTree
from taugen.load.nodes import parse
from taugen.resolve.run import Code, Placement, Program, ResolvedRun, Resources
from taugen.spec.model import RunSpec
from taugen.spec.rundoc import RunDoc

IMAGE = "registry.acme.example/vision/torch:2.9.1"
GPU = Resources(cpu="12", memory="200Gi", cpu_limit=None, memory_limit="200Gi", extended={"nvidia.com/gpu": 1})
CPU = Resources(cpu="1", memory="1Gi", cpu_limit=None, memory_limit="1Gi")
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
GPU_PLACE = Placement("training", "training", "default", ("a100-80gb",), (TOLERATION,), None, None)
CPU_PLACE = Placement("cpu", "shared", "batch", ("cpu",), (), None, None)
TRAIN = {"train.py": b"print('train')\n"}

Files = dict[str, bytes]


def doc(name: str = "segment-cells", **spec: Any) -> RunDoc:
    """A document of workspace vision that says `name` and what `spec` adds."""
    file = f"workspaces/vision/{name}/tau.yaml"
    documents, findings = parse(file, f"name: {name}\n".encode())
    assert not findings
    return RunDoc(documents[0], "vision", RunSpec.model_validate({"name": name, **spec}), hashlib.sha256(name.encode()).hexdigest())


def tree(files: Files, executable: tuple[str, ...] = (), root: str = "code") -> CodeTree:
    """A code tree whose sources lie below `root`."""
    return CodeTree(
        root,
        tuple(
            CodeFile(path, "100755" if path in executable else "100644", hashlib.sha1(content).hexdigest(), len(content), f"{root}/{path}")
            for path, content in sorted(files.items())
        ),
    )


def reader(files: Files, root: str = "code") -> Callable[[str], bytes]:
    """What `render_run` reads the code with."""
    stored = {f"{root}/{path}": content for path, content in files.items()}
    return stored.__getitem__


def code(files: Files, base: str = "", executable: tuple[str, ...] = ()) -> Code:
    """Code in a ConfigMap."""
    return Code("configmap", "fits", base=base, tree=tree(files, executable))


def run(name: str = "segment-cells", files: Files | None = None, **changes: Any) -> ResolvedRun:
    """A Job with one GPU that runs train.py, with `changes` to the fields of ResolvedRun; keys of Program as `program={...}`."""
    program = changes.pop("program", {})
    if not isinstance(program, Program):
        program = Program(**{"launcher": "python", "file": "train.py", **program})
    spec = changes.pop("spec", {})
    base = ResolvedRun(
        doc=doc(name, **spec),
        cluster="west",
        engine="argocd",
        namespace="team-vision",
        kind="job",
        image=IMAGE,
        program=program,
        code=code(TRAIN if files is None else files),
        worker=GPU,
        nodes=1,
        processes=1,
        placement=GPU_PLACE,
        env=(),
        service_account="vision-runner",
        shm="32Gi",
        profile="a100-single",
        gpu_class="a100-80gb",
    )
    return replace(base, **changes)
