"""What writes evidence from a cluster: the collector, and where it reads metrics.

In: plain data of `collector` and `metrics` of a Cluster. Out: frozen models.
"""

from typing import Annotated

from pydantic import Field

from taugen.policy.types import DnsName, ObjectName, Spec, no_entries, no_items
from taugen.spec.types import Duration, ImageRef, Text

NAMESPACE = "taugen-collector"
"""Where the collector runs: outside of what Kueue manages."""


class CollectorLogs(Spec):
    """How logs are kept."""

    every: Duration = Field("5m", description="How much of a container's log one file of evidence covers; its last 256 KiB are kept.")
    store: Text | None = Field(
        None, description="Where whole logs go, e.g. s3://bucket/logs, gs://bucket or file:///storage/NAME; left out: nowhere."
    )


class Collector(Spec):
    """The collector of a cluster."""

    image: ImageRef = Field(description="Image of taugen: what the repository's Dockerfile builds.")
    url: Text | None = Field(
        None, description="Repository of the evidence as the cluster reaches it; default: evidence.url, else gitops.url."
    )
    secret: ObjectName = Field(
        "taugen-collector",
        description="Secret in namespace taugen-collector, made by hand: identity and known_hosts for ssh; signing, a key that signs.",
    )
    keys: list[Text] = Field(
        default_factory=no_items,
        description="SSH public keys, ssh-ed25519 AAAA…; with any listed, evidence of the cluster counts only if one of them signed it.",
    )
    logs: CollectorLogs = Field(CollectorLogs.model_construct(), description="How logs are kept.")
    storages: dict[DnsName, DnsName] = Field(
        default_factory=no_entries,
        description="Storage: a claim in namespace taugen-collector with the same volume, from which checkpoints and metrics are read.",
    )


class ClusterMetrics(Spec):
    """Where numbers about a cluster's work come from."""

    prometheus: Text = Field(description="URL of a Prometheus of the cluster, e.g. http://prometheus.monitoring:9090.")
    queries: dict[DnsName, Annotated[Text, Field(min_length=1)]] = Field(
        default_factory=no_entries,
        description="NAME: PromQL, recorded at each attempt's end; $NAMESPACE, $PODS and $RANGE are its namespace, pods and duration.",
    )
