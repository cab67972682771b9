"""What the collector of a cluster is told.

In: a JSON file, as it is rendered into the cluster. Out: `Settings`. A file that is wrong is refused with everything that is wrong in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from taugen.collect.derive import shape
from taugen.diag import Refused
from taugen.words import Json

INTERVAL = 10.0
"""Seconds between two pushes: six a minute."""
LOG_EVERY = 300


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are, in the collector's own view.

    `namespaces` maps each namespace that is read to its workspace. Without `deploy_url` or `evidence_url` the branch is one of `repo`.
    `log_every` are the seconds of a log that one file covers; `log_store` takes whole logs; `mounts` maps ``<namespace>/<claim>`` to a
    folder on this machine that holds the claim's files. `versions` are those of the platform's parts by policy. `signing_key` is the file
    of an SSH key.
    """

    cluster: str
    project: str
    namespaces: Mapping[str, str]
    evidence_url: str | None = None
    evidence_branch: str = "evidence"
    deploy_url: str | None = None
    deploy_branch: str = "deploy"
    repo: Path | None = None
    prometheus: str | None = None
    queries: Mapping[str, str] = field(default_factory=dict)
    log_every: int = LOG_EVERY
    log_store: str | None = None
    mounts: Mapping[str, Path] = field(default_factory=dict)
    prices: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    signing_key: Path | None = None
    interval: float = INTERVAL
    watch: float | None = None


def read(path: Path, cluster: str) -> Settings:
    """The settings in a file. Raises `Refused` (exit 2)."""
    try:
        body = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"{path} can't be read: {error}", code=2) from None
    wrong = list(_wrong(body, cluster)) if isinstance(body, dict) else ["it is no JSON object"]
    if wrong:
        hint = "taugen renders this file from Cluster.spec.collector: docs/architecture/collect.md shows it"
        raise Refused(f"{path} is no configuration of the collector of {cluster}: {'; '.join(wrong)}", hint=hint, code=2)
    return _settings(body)


def _wrong(body: Mapping[str, Json], cluster: str) -> list[str]:
    wrong = [f"{key} is not a text" for key in ("cluster", "project") if not shape.text(body, key)]
    if shape.text(body, "cluster") not in ("", cluster):
        wrong.append(f"it is that of cluster {shape.text(body, 'cluster')}")
    for key in ("evidence", "deploy"):
        wrong += [f"{key}.{part} is not a text" for part in ("url", "branch") if not shape.text(body, key, part)]
    namespaces = shape.at(body, "namespaces")
    if not isinstance(namespaces, dict) or not all(isinstance(workspace, str) for workspace in namespaces.values()) or not namespaces:
        wrong.append("namespaces is not {NAMESPACE: WORKSPACE}")
    for key in ("queries", "mounts", "prices", "versions"):
        if shape.at(body, key) is not None and not isinstance(shape.at(body, key), dict):
            wrong.append(f"{key} is not an object")
    for key in ("interval", "watch"):
        value = shape.at(body, key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
            wrong.append(f"{key} is not a number of seconds")
    every = shape.at(body, "logs", "every")
    if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
        wrong.append("logs.every is not a whole number of seconds")
    return wrong


def _settings(body: Mapping[str, Json]) -> Settings:
    prices = {name: price for name, price in shape.mapping(body, "prices").items() if isinstance(price, int | float)}
    interval, watch = shape.at(body, "interval"), shape.at(body, "watch")
    signing = shape.text(body, "signingKey")
    return Settings(
        cluster=shape.text(body, "cluster"),
        project=shape.text(body, "project"),
        namespaces={name: str(workspace) for name, workspace in shape.mapping(body, "namespaces").items()},
        evidence_url=shape.text(body, "evidence", "url"),
        evidence_branch=shape.text(body, "evidence", "branch"),
        deploy_url=shape.text(body, "deploy", "url"),
        deploy_branch=shape.text(body, "deploy", "branch"),
        prometheus=shape.text(body, "prometheus") or None,
        queries={name: str(query) for name, query in shape.mapping(body, "queries").items()},
        log_every=shape.whole(body, "logs", "every") or LOG_EVERY,
        log_store=shape.text(body, "logs", "store") or None,
        mounts={name: Path(str(folder)) for name, folder in shape.mapping(body, "mounts").items()},
        prices={name: float(price) for name, price in prices.items()},
        versions={name: str(version) for name, version in shape.mapping(body, "versions").items()},
        signing_key=Path(signing) if signing else None,
        interval=float(interval) if isinstance(interval, int | float) else INTERVAL,
        watch=float(watch) if isinstance(watch, int | float) else None,
    )
