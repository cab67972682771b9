"""The variables of a run: workspace and platform defaults, then the profile's NCCL settings, then the document's.

In: layers. Out: `EnvVar` values sorted by name, each name once. What `render` adds (TAU_*, the launcher's) is reserved, so it never meets
these.
"""

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.resolve.context import WorkspaceContext, section_env
from taugen.resolve.run import EnvVar


def variables(case: Case, profile: Item[Profile] | None) -> tuple[EnvVar, ...]:
    """All variables, sorted."""
    workspace, runtime = case.workspace, case.runtime
    base = workspace.env_sorted if profile is None or not profile.spec.nccl else _with_profile(workspace, profile)
    if not runtime.env and not runtime.env_secret:
        return base
    found = {var.name: var for var in base}
    found |= section_env(runtime)
    return tuple(found[name] for name in sorted(found))


def _with_profile(workspace: WorkspaceContext, profile: Item[Profile]) -> tuple[EnvVar, ...]:
    kept = workspace.env_of_profile.get(profile.name)
    if kept is None:
        found = dict(workspace.env)
        found |= {name: EnvVar(name, value) for name, value in profile.spec.nccl.items()}
        kept = workspace.env_of_profile[profile.name] = tuple(found[name] for name in sorted(found))
    return kept
