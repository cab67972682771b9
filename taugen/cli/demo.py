"""`taugen demo`: the main job on the shipped examples, in a folder."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from taugen.pipeline.demo import Cluster, Shown

_ENGINES = {"argocd": "Argo CD", "flux": "Flux"}


@click.command("demo")
@click.argument("folder", metavar="[DIR]", required=False, default="taugen-demo", type=click.Path(path_type=Path))
def command(folder: Path) -> int:
    """Make a GitOps repository from the examples in DIR (default: taugen-demo), check it, publish it to a bare repository, and show what
    was made.

    Nothing leaves this machine and no cluster is needed.
    """
    from taugen.pipeline.demo import demo

    click.echo(text(demo(folder)))
    return 0


def text(shown: "Shown") -> str:
    """What people see."""
    from taugen.outputs.text import summary

    where = os.path.relpath(shown.folder)
    runs = sum(len(cluster.runs) for cluster in shown.clusters)
    out = [
        f"{where}: the repository of {shown.project}, {shown.report.runs} runs for {len(shown.clusters)} clusters",
        "",
        "$ taugen check",
        summary(shown.report),
        "",
        "$ taugen publish --to fleet",
        f"{shown.files} files for {runs} runs, commit {shown.commit[:12]} on branch {shown.branch} of {where}/fleet.git",
        "",
        "clusters/",
    ]
    for cluster in shown.clusters:
        out += tree(cluster)
    out += ["", *counts(shown.clusters), "", "The commit says where it comes from:", ""]
    out += [f"    {line}".rstrip() for line in shown.message.rstrip().splitlines()]
    return "\n".join([*out, "", *further(shown, where)])


def tree(cluster: "Cluster") -> list[str]:
    """A cluster's folders with how many files each has, and its runs with what they are made of."""
    out = [f"  {cluster.name}/  ({_ENGINES[cluster.engine]})"]
    rows = [(f"{folder}/", f"{count} file{'s' * (count != 1)}") for folder, count in cluster.folders.items()]
    rows += [(f"{run.path}/", ", ".join(run.kinds)) for run in cluster.runs]
    width = max(len(path) for path, _ in rows)
    return out + [f"    {path:<{width}}  {said}" for path, said in sorted(rows)]


def counts(clusters: "tuple[Cluster, ...]") -> list[str]:
    """A table: objects by kind and cluster."""
    kinds = sorted({kind for cluster in clusters for kind in cluster.kinds})
    width = max(map(len, kinds))
    head = f"{'objects':<{width}}" + "".join(f"  {cluster.name:>6}" for cluster in clusters)
    return [head, *(f"{kind:<{width}}" + "".join(f"  {cluster.kinds[kind] or '-':>6}" for cluster in clusters) for kind in kinds)]


def further(shown: "Shown", where: str) -> list[str]:
    """Commands to type next."""
    first = next(run for cluster in shown.clusters for run in cluster.runs if "RayJob" in run.kinds)
    cluster = next(cluster.name for cluster in shown.clusters if first in cluster.runs)
    rayjob = f"clusters/{cluster}/{first.path}/rayjob.yaml"
    return [
        "Look around:",
        f"  cd {where}",
        f"  git -C fleet.git show {shown.branch}:{rayjob}",
        "  taugen explain speech/quickstart            # who decided each value",
        "  taugen render -o - protein/fold-large       # a gang of four nodes",
        "  taugen explain image-tag                    # what a finding means",
        "Change something in workspaces/, commit it, and publish again:",
        "  taugen publish --to fleet",
    ]
