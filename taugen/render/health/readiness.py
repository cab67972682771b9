"""Rules for the Node Readiness Controller, where the platform has it.

In: a policy and a GPU class. Out: NodeReadinessRules. The runner then sets no taint: it sets a condition that says whether a node has to
be tainted (it has settled that, and the share of the class), and the controller does it. A rule can't be changed, so its name carries its
hash. A node without the condition counts as fit. Source: NodeReadinessRule CRD v1alpha1 (immutable fields, prefix of the key).
"""

import hashlib
import json
from collections.abc import Iterator

from taugen.policy.health import CONDITION_PREFIX
from taugen.policy.health_nodes import Watched, by_readiness, taint_key
from taugen.policy.set import Policy
from taugen.render.health import names
from taugen.render.types import Object
from taugen.words.names import slug

API_VERSION = "readiness.node.x-k8s.io/v1alpha1"


def gate(key: str, effect: str) -> str:
    """The condition behind a taint, as the runner writes it (`scripts/gpuhealth/patches.py`)."""
    return f"{CONDITION_PREFIX}Unfit-{key.rpartition('/')[2]}-{effect}"


def rules(policy: Policy, watched: Watched) -> Iterator[Object]:
    """One rule for each taint and each kind of node of the class."""
    if not by_readiness(policy):
        return
    taints = {(taint_key(policy, a.taint), a.taint.effect) for a in watched.item.spec.actions if a.taint is not None}
    for key, effect in sorted(taints):
        for target in watched.targets:
            spec: Object = {
                "conditions": [{"type": gate(key, effect), "requiredStatus": "False", "defaultStatus": "False"}],
                "enforcementMode": "continuous",
                "nodeSelector": {"matchLabels": {name: target.labels[name] for name in sorted(target.labels)}},
                "taint": {"key": key, "effect": effect},
            }
            digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:10]
            name = f"{slug(f'gpu-health-{watched.gpu_class}', 52)}-{digest}"
            yield {"apiVersion": API_VERSION, "kind": "NodeReadinessRule", "metadata": names.metadata(name, inside=False), "spec": spec}
