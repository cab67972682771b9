"""Ray's version and runtime environment are ones that KubeRay can read and pass on.

KubeRay gates features on the version, and hands the runtime environment to `ray job submit` inside double quotes of a shell's command line,
where `$` and a backquote would be taken for variables and commands.

Breaks:

    target: {kind: RayJob}
    patch: {spec: {runtimeEnvYAML: "env_vars: {OUT: $HOME}"}}

Mends:

    target: {kind: RayJob}
    patch: {spec: {runtimeEnvYAML: "env_vars: {OUT: /home}"}}

Source: KubeRay validation.go (UnmarshalRuntimeEnvYAML, RayVersion), common/job.go (BuildJobSubmitCommand)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.load.nodes import parse
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods
from taugen.words.regex import regex

ID = "ray-runtime"
VERSION = regex(r"[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*")
_EXPANDED = regex(r"[$`]")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        if item.kind != "RayJob":
            continue
        spec = _pods.spec_of(item)
        version = _pods.mapping(spec.get("rayClusterSpec")).get("rayVersion")
        if version is not None and not (isinstance(version, str) and VERSION.fullmatch(version)):
            yield _pods.finding(ID, item, ("spec", "rayClusterSpec", "rayVersion"), f"{version} is no version of Ray, such as 2.56.0")
        text = spec.get("runtimeEnvYAML")
        if not isinstance(text, str) or not text:
            continue
        path = ("spec", "runtimeEnvYAML")
        documents, faults = parse("runtimeEnvYAML", text.encode("utf-8", "surrogatepass"))
        if faults or len(documents) != 1:
            why = faults[0].message if faults else "it is not one YAML document"
            yield _pods.finding(ID, item, path, f"the runtime environment can't be read: {why}")
        if found := _EXPANDED.search(text):
            hint = "leave it out, or install with run.setup, which no shell reads twice"
            yield _pods.finding(ID, item, path, f"{found[0]} in the runtime environment would be expanded by a shell", hint)
