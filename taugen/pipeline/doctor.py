"""Looks at the machine and the repository: what taugen needs, what it would like, what is missing and how to get it.

In: a folder, perhaps a cluster. Out: `Line` values, in the order in which they are shown. Nothing here raises for what is missing, changes
anything, or dials: only `cluster` talks to
an API server, and only when somebody asked for it.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from taugen import __version__
from taugen.diag import Refused, Severity
from taugen.load import git
from taugen.words.counts import counted

GIT = (2, 30)
"""The first release whose `git rev-parse` takes --end-of-options, which keeps a branch name from being read as an option."""
PYTHON = (3, 11)


class Line(Struct, frozen=True):
    """One thing looked at. `needed`: taugen can't do its work without it."""

    group: str
    name: str
    state: Literal["ok", "missing", "look"]
    said: str
    hint: str = ""
    needed: bool = False


def machine() -> Iterator[Line]:
    """Python, git and the libraries that have a compiled half."""
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < PYTHON
    yield Line(
        "machine",
        "python",
        "missing" if old else "ok",
        f"{version} ({sys.executable})",
        "taugen needs Python 3.11 or newer" if old else "",
        needed=True,
    )
    yield Line("machine", "taugen", "ok", f"{__version__} ({Path(__file__).resolve().parent.parent})", needed=True)
    yield _git()
    yield _libyaml()
    yield _module("jsonschema-rs", "jsonschema_rs", "the slower reference validator is used instead: pip install jsonschema-rs")
    yield _kubectl()


def _git() -> Line:
    try:
        said = git.run(["--version"], cwd=Path.cwd()).out.decode("utf-8", "replace").strip()
    except git.GitError as error:
        return Line("machine", "git", "missing", str(error), "install git 2.30 or newer: https://git-scm.com/downloads", needed=True)
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < GIT:
        return Line("machine", "git", "missing", said, "install git 2.30 or newer: https://git-scm.com/downloads", needed=True)
    return Line("machine", "git", "ok", said.removeprefix("git version "), needed=True)


def _libyaml() -> Line:
    import yaml

    if yaml.__with_libyaml__:
        return Line("machine", "libyaml", "ok", f"PyYAML {yaml.__version__} with libyaml")
    hint = "files are read about ten times slower: pip install --force-reinstall PyYAML takes a wheel that has libyaml"
    return Line("machine", "libyaml", "missing", f"PyYAML {yaml.__version__} without libyaml", hint)


def _module(name: str, module: str, hint: str) -> Line:
    if importlib.util.find_spec(module) is None:
        return Line("machine", name, "missing", "not installed", hint)
    from importlib.metadata import version

    return Line("machine", name, "ok", version(name))


def _kubectl() -> Line:
    path = shutil.which("kubectl")
    if path is None:
        hint = "optional: to look at a cluster by hand, https://kubernetes.io/docs/tasks/tools"
        return Line("machine", "kubectl", "missing", "not found", hint)
    try:
        done = subprocess.run([path, "version", "--client"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Line("machine", "kubectl", "look", f"{path} does not answer: {error}")
    found = re.search(r"v(\d+\.\d+\.\d+)", done.stdout)
    return Line("machine", "kubectl", "ok", f"{found[1] if found else 'unknown version'} ({path})")


def repository(directory: Path) -> Iterator[Line]:
    """taugen.yaml, policy, its pins, the versions of what runs in the clusters, the deploy branch."""
    from taugen.pipeline.project import find_root, open_project

    try:
        root = find_root(directory)
    except Refused as refused:
        yield Line("repository", "taugen.yaml", "missing", refused.message, refused.hint)
        return
    yield Line("repository", "taugen.yaml", "ok", str(root / "taugen.yaml"))
    try:
        project = open_project(directory)
    except Refused as refused:
        yield Line("repository", "policy", "missing", refused.message, "taugen check shows what is wrong")
        return
    errors = sum(d.severity is Severity.ERROR for d in project.findings)
    policy = project.policy
    sizes = {"clusters": policy.clusters, "queues": policy.queues, "workspaces": policy.workspaces, "runs": project.documents()}
    counts = ", ".join(f"{len(found)} {what}" for what, found in sizes.items())
    yield Line("repository", "policy", "look" if errors else "ok", counts, f"{errors} errors: taugen check shows them" if errors else "")
    yield from _pins(root)
    yield from _versions(policy.platform.spec.versions.model_dump() if policy.platform else {})
    yield from _branch(root, policy.project.spec.output.url, policy.project.spec.output.branch)


def _pins(root: Path) -> Iterator[Line]:
    from taugen.load.tree import WorkTree
    from taugen.policy import lock
    from taugen.policy.load import load_project_file

    tree = WorkTree(root)
    project, _ = load_project_file(tree)
    sources = [source.git for source in project.spec.policy if source.git is not None] if project is not None else []
    locked, cache = lock.read(tree), lock.Cache()
    for source in sources:
        entry = locked.entry(source)
        name = f"policy of {lock.plain_url(source.url)}"
        if entry is None:
            yield Line("repository", name, "missing", "not pinned", "taugen lock")
        elif not cache.has(source.url, entry.commit):
            yield Line("repository", name, "missing", f"{entry.commit[:12]} is not on this machine", "taugen lock fetches it")
        else:
            yield Line("repository", name, "ok", f"{source.ref} at {entry.commit[:12]}")


def _versions(pinned: dict[str, str | None]) -> Iterator[Line]:
    from taugen.validate import bundles

    for product in ("kubernetes", "kueue", "kuberay", "jobset"):
        shipped = sorted(bundles.index()[product], key=bundles.order)
        title, version = bundles.TITLES[product], pinned.get(product)
        if version is None:
            yield Line(
                "repository",
                title,
                "look",
                f"no version in Platform.spec.versions; {shipped[-1]} is taken",
                f'write {product}: "{shipped[-1]}"',
            )
        elif bundles.short(version) in shipped:
            yield Line("repository", title, "ok", f"{version}, its schemas are shipped")
        else:
            hint = "taugen schema import FILE adds the CustomResourceDefinitions of that release"
            yield Line("repository", title, "look", f"{version}; schemas are shipped for {', '.join(shipped)}", hint)


def _branch(root: Path, url: str | None, branch: str) -> Iterator[Line]:
    from taugen.load import history
    from taugen.publish import trailers

    try:
        top = git.toplevel(root)
    except git.GitError as error:
        yield Line("repository", "git", "look", str(error))
        return
    if top is None:
        yield Line(
            "repository", "git", "missing", f"{root} is not in a Git repository", "publish reads commits: git init, git add, git commit"
        )
        return
    for name, where in history.remotes(top).items():
        yield Line("repository", f"remote {name}", "ok", where)
    if url is not None:
        yield Line(
            "repository",
            f"branch {branch}",
            "look",
            f"published to {history.without_user(url)}; doctor does not dial",
            "taugen publish --dry-run looks there",
        )
        return
    ref = f"refs/heads/{branch}"
    shown = history.commits(top, ref)
    if not shown:
        yield Line("repository", f"branch {branch}", "look", "nothing is published yet", "taugen publish")
        return
    memory = trailers.read(git.commit_info(top, shown[0].sha).message)
    if memory is None:
        yield Line(
            "repository",
            f"branch {branch}",
            "look",
            f"{shown[0].sha[:12]} is not a commit of taugen",
            "taugen publish says whether anything was edited by hand",
        )
    else:
        yield Line("repository", f"branch {branch}", "ok", f"published from {memory[0].source[:12]}{_behind(top, memory[0].source)}")
    for commit in shown:
        yield Line("repository", "", "ok", f"{commit.sha[:12]} {commit.date} {commit.subject}")


def _behind(top: Path, source: str) -> str:
    done = git.run(["rev-list", "--count", f"{source}..HEAD"], cwd=top, check=False)
    count = done.out.decode().strip()
    return f", {counted(int(count), 'commit')} behind HEAD" if done.code == 0 and count != "0" else ""


GROUPS = {"kueue": "kueue.x-k8s.io", "kuberay": "ray.io", "jobset": "jobset.x-k8s.io"}
"""API groups that show that a controller's CustomResourceDefinitions are there."""


def cluster(context: str, dial: Callable[[str], tuple[str, set[str]]] | None = None) -> Iterator[Line]:
    """Ask an API server for its version and its API groups. `dial` stands in for it in tests."""
    from taugen.validate import bundles

    try:
        version, groups = (dial or _dial)(context)
    except ConnectionError as error:
        yield Line(
            "cluster", context, "missing", str(error), "kubectl config get-contexts lists the contexts; check access and VPN", needed=True
        )
        return
    yield Line("cluster", context, "ok", f"Kubernetes {version}", needed=True)
    for product, group in GROUPS.items():
        there = group in groups
        hint = "" if there else f"install {bundles.TITLES[product]} in the cluster"
        yield Line(
            "cluster",
            bundles.TITLES[product],
            "ok" if there else "missing",
            group if there else f"no {group} in the cluster",
            hint,
            needed=product == "kueue",
        )


def _dial(context: str) -> tuple[str, set[str]]:
    """(version, API groups) of the server that a context of the kubeconfig names. Raises ConnectionError."""
    from kubernetes import client, config
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    try:
        api = config.new_client_from_config(context=context)  # type: ignore[no-untyped-call]
        version = client.VersionApi(api).get_code(_request_timeout=15).git_version
        groups = client.ApisApi(api).get_api_versions(_request_timeout=15).groups
    except config.ConfigException as error:
        raise ConnectionError(f"no access: {error}") from None
    except ApiException as error:
        raise ConnectionError(f"the API server answers {error.status} {error.reason}") from None
    except (HTTPError, OSError) as error:
        raise ConnectionError(f"the API server can't be reached: {error}") from None
    return str(version), {str(group.name) for group in groups}
