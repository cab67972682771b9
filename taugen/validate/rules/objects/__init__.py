"""Rules of stage `objects`, in alphabetical order; each is one module with `ID` and `check`."""

from taugen.validate.rules.objects import (
    argocd_project,
    argocd_sync,
    flavor_tolerations,
    flux_depends_on,
    flux_kustomization,
    object_twice,
    prune_protection,
    quantity_canonical,
    queue_groups,
    queue_limits,
    queue_written_out,
    substitute_disabled,
    synced_path,
)

RULES = (
    argocd_project,
    argocd_sync,
    flavor_tolerations,
    flux_depends_on,
    flux_kustomization,
    object_twice,
    prune_protection,
    quantity_canonical,
    queue_groups,
    queue_limits,
    queue_written_out,
    substitute_disabled,
    synced_path,
)
