"""Rules of policy: what can be known of clusters, queues and workspaces before any run is looked at."""

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
