"""What Argo CD and Flux sync."""

import pytest

from taugen.render.gitops import argocd, names
from taugen.render.gitops.flux import _only, _url
from taugen.render.platform import render_platform
from tests.render.test_platform import by_path, policy_with

HEAD = "apiVersion: taugen.dev/v1alpha1\nkind: Cluster\nmetadata: {name: mesa}\nspec:\n  gitops: "
KINDS = {("", "ConfigMap"), ("", "Service"), ("batch", "Job"), ("jobset.x-k8s.io", "JobSet"), ("ray.io", "RayJob")}


@pytest.fixture(scope="module")
def paths():
    return by_path(render_platform(policy_with()))


def gitops(settings):
    return {p: o for p, o in by_path(render_platform(policy_with(HEAD + settings + "\n"))).items() if p.startswith("mesa/gitops/")}


def wave(obj):
    return int(obj["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])


def applications(paths):
    return {p.rpartition("-fjord-")[2].removesuffix(".yaml"): o for p, o in paths.items() if p.startswith("fjord/gitops/application")}


# --------------------------------------------------------------------------------------------------------------------- Argo CD


def test_applications_in_their_order(paths):
    apps = applications(paths)
    assert sorted(apps, key=lambda n: (wave(apps[n]), n)) == [
        "platform",
        "workspace-protein",
        "workspace-speech",
        "runs-protein",
        "runs-speech",
    ]
    projects = [o for p, o in paths.items() if p.startswith("fjord/gitops/appproject")]
    assert max(map(wave, projects)) < min(map(wave, apps.values()))


def test_every_application_syncs_its_folder_by_server_side_apply(paths):
    folders = {"platform": "platform", "workspace-speech": "workspaces/speech", "runs-speech": "runs/speech"}
    for name, folder in folders.items():
        spec = applications(paths)[name]["spec"]
        assert spec["source"] == {
            "repoURL": "https://git.tern.example/platform/fleet.git",
            "targetRevision": "deploy",
            "path": f"clusters/fjord/{folder}",
            "directory": {"recurse": True},
        }
        assert spec["syncPolicy"]["automated"] == {"prune": True, "selfHeal": True}
        assert spec["syncPolicy"]["syncOptions"] == ["ServerSideApply=true", "ApplyOutOfSyncOnly=true", "RespectIgnoreDifferences=true"]
        retry = spec["syncPolicy"]["retry"]
        assert 0 < retry["limit"] <= 20
        assert retry["refresh"] is True


def test_a_bad_run_holds_its_workspace_for_a_minute_at_most(paths):
    retry = applications(paths)["runs-speech"]["spec"]["syncPolicy"]["retry"]
    waits = [10 * retry["backoff"]["factor"] ** n for n in range(retry["limit"])]
    assert sum(min(w, 60) for w in waits) <= 90


def test_only_what_an_apply_would_take_back_is_ignored(paths):
    """What is ignored is copied from an older state into what is applied: `suspend` must not be."""
    ignored = applications(paths)["runs-speech"]["spec"]["ignoreDifferences"]
    assert ignored == [{"group": "ray.io", "kind": "RayJob", "jsonPointers": ["/spec/rayClusterSpec/workerGroupSpecs"]}]
    assert "ignoreDifferences" not in applications(paths)["platform"]["spec"]


def test_a_workspaces_runs_are_held_to_its_namespace_and_the_run_kinds(paths):
    project = paths["fjord/gitops/appproject-taugen-fjord-runs-speech.yaml"]
    assert project["spec"]["destinations"] == [{"server": "https://kubernetes.default.svc", "namespace": "lab-speech"}]
    assert {(k["group"], k["kind"]) for k in project["spec"]["namespaceResourceWhitelist"]} == KINDS
    assert "clusterResourceWhitelist" not in project["spec"]
    app = applications(paths)["runs-speech"]["spec"]
    assert app["project"] == project["metadata"]["name"]
    assert app["destination"]["namespace"] == "lab-speech"


@pytest.mark.parametrize(("app", "folder"), [("platform", "platform"), ("workspace-speech", "workspaces/speech")])
def test_a_project_permits_what_its_application_holds(paths, app, folder):
    name = applications(paths)[app]["spec"]["project"]
    project = paths[f"fjord/gitops/appproject-{name}.yaml"]["spec"]
    cluster = {(k["group"], k["kind"]) for k in project["clusterResourceWhitelist"]}
    namespaced = {(k["group"], k["kind"]) for k in project["namespaceResourceWhitelist"]}
    spaces = {d["namespace"] for d in project["destinations"]}
    for path, obj in paths.items():
        if path.startswith(f"fjord/{folder}/"):
            kind = (obj["apiVersion"].rpartition("/")[0], obj["kind"])
            namespace = obj["metadata"].get("namespace")
            assert kind in (namespaced if namespace else cluster)
            assert namespace is None or namespace in spaces


def test_what_projects_permit_does_not_shrink_with_policy(paths):
    """What a project ceases to permit Argo CD never prunes: node health and workspaces would stay in the cluster for ever."""
    with_less = gitops("{engine: argocd, url: https://git.example/fleet.git}")
    project = with_less["mesa/gitops/appproject-taugen.yaml"]["spec"]
    assert project["namespaceResourceWhitelist"] == paths["fjord/gitops/appproject-platform.yaml"]["spec"]["namespaceResourceWhitelist"]
    assert project["destinations"] == paths["fjord/gitops/appproject-platform.yaml"]["spec"]["destinations"]
    for app in applications(paths).values():
        if "finalizers" in app["metadata"]:
            own = paths[f"fjord/gitops/appproject-{app['spec']['project']}.yaml"]["metadata"]
            waves = [int(meta["annotations"]["argocd.argoproj.io/sync-wave"]) for meta in (own, app["metadata"])]
            assert waves[0] < waves[1], "pruning goes by falling waves: the Application first"


def test_only_a_workspaces_application_takes_its_objects_with_it(paths):
    cascading = {name for name, app in applications(paths).items() if "finalizers" in app["metadata"]}
    assert cascading == {"workspace-protein", "workspace-speech"}


def test_defaults_of_argocd():
    out = gitops("{engine: argocd, url: https://git.example/fleet.git}")
    assert out["mesa/gitops/appproject-taugen.yaml"]["metadata"]["namespace"] == "argocd"
    assert out["mesa/gitops/application-taugen-mesa-platform.yaml"]["spec"]["source"]["path"] == "clusters/mesa/platform"


# ------------------------------------------------------------------------------------------------------------------------ Flux


def kustomizations(paths):
    return {
        p.rpartition("-mesa-")[2].removesuffix(".yaml"): o["spec"] for p, o in paths.items() if p.startswith("mesa/gitops/kustomization")
    }


def test_kustomizations(paths):
    found = kustomizations(paths)
    assert sorted(found) == ["platform", "runs-climate", "runs-protein", "workspace-climate", "workspace-protein"]
    assert found["platform"]["wait"] is True
    assert found["workspace-climate"]["dependsOn"] == [{"name": "taugen-mesa-platform"}]
    runs = found["runs-climate"]
    assert runs["path"] == "./clusters/mesa/runs/climate"
    assert (runs["wait"], runs["prune"], runs["deletionPolicy"]) == (False, True, "Orphan")
    assert runs["serviceAccountName"] == "taugen-runs-climate"
    assert runs["dependsOn"] == [{"name": "taugen-mesa-workspace-climate"}]
    assert runs["sourceRef"] == {"kind": "GitRepository", "name": "taugen"}
    assert "mesa/gitops/serviceaccount-taugen-runs-climate.yaml" in paths
    for spec in found.values():
        assert not {"force", "targetNamespace", "namePrefix", "postBuild", "commonMetadata"} & set(spec)
        assert {"timeout", "retryInterval", "interval", "deletionPolicy"} <= set(spec)


def test_the_platform_waits_for_queues_but_not_for_those_on_hold(paths):
    rule, daemons, collector = kustomizations(paths)["platform"]["healthCheckExprs"]
    assert (rule["apiVersion"], rule["kind"]) == ("kueue.x-k8s.io/v1beta2", "ClusterQueue")
    assert daemons == {"apiVersion": "apps/v1", "kind": "DaemonSet", "current": "has(metadata.name)"}, "a node away holds up nothing"
    assert collector == {**daemons, "kind": "Deployment"}, "nor does a key that is not there yet"


def test_the_repository(paths):
    spec = paths["mesa/gitops/gitrepository-taugen.yaml"]["spec"]
    assert spec["ref"] == {"branch": "deploy"}
    assert spec["ignore"] == "/*\n!/clusters\n/clusters/*\n!/clusters/mesa\n"


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://git.example/a.git", "https://git.example/a.git"),
        ("ssh://git@git.example/a.git", "ssh://git@git.example/a.git"),
        ("git@git.example:org/a.git", "ssh://git@git.example/org/a.git"),
        ("git.example:a.git", "ssh://git.example/a.git"),
        ("git@git.example:/srv/a.git", "ssh://git@git.example/srv/a.git"),
        ("http://127.0.0.1:8080/a.git", "http://127.0.0.1:8080/a.git"),
    ],
)
def test_urls(url, wanted):
    assert _url(url) == wanted


def test_another_folder_namespace_and_branch():
    out = gitops("{engine: flux, url: https://git.example/f.git, branch: main, path: ./fleet//mesa/, namespace: gitops}")
    spec = out["mesa/gitops/kustomization-taugen-mesa-runs-climate.yaml"]
    assert spec["metadata"]["namespace"] == "gitops"
    assert spec["spec"]["path"] == "./fleet/mesa/runs/climate"
    assert out["mesa/gitops/gitrepository-taugen.yaml"]["spec"]["ref"] == {"branch": "main"}
    root = gitops("{engine: flux, url: https://git.example/f.git, path: .}")
    assert root["mesa/gitops/kustomization-taugen-mesa-platform.yaml"]["spec"]["path"] == "./platform"
    assert _only("") == "# everything\n"


# ----------------------------------------------------------------------------------------------------------------------- names


def test_names_fit_and_differ():
    long = "a" * 63
    others = [long, "a" * 62, "a" * 62 + "b"]
    made = {f(c, w) for f in (names.workspace, names.runs) for c in others for w in others} | {names.platform(c) for c in others}
    assert len(made) == 2 * 9 + 3
    assert all(len(name) <= 63 for name in made)
    assert len({names.applier(w) for w in others}) == 3


# ---------------------------------------------------------------------------------------------------------------------- health


def test_health_rules_are_outside_of_every_synced_path(paths):
    config = paths["fjord/bootstrap/configmap-argocd-cm.yaml"]
    assert config["metadata"]["name"] == "argocd-cm"
    assert "labels" not in config["metadata"], "the ConfigMap stays the platform team's"
    assert sorted(config["data"]) == [f"resource.customizations.health.{group}_{kind}" for group, kind in argocd.HEALTH]
    assert "--server-side --field-manager=taugen-health" in config["metadata"]["annotations"]["taugen.dev/apply"]
    sources = {a["spec"]["source"]["path"] for a in applications(paths).values()}
    assert not any(path.startswith("clusters/fjord/bootstrap") for path in sources)
    assert not any(path.startswith("mesa/bootstrap") for path in paths)


@pytest.mark.parametrize("engine", ["argocd, url: https://git.tern.example/a.git", "flux, url: https://git.tern.example/a.git"])
def test_the_clusters_labels_stand_on_what_syncs_it(engine):
    labelled = HEAD.replace("spec:\n", "spec:\n  labels: {region: fjord, app.kubernetes.io/managed-by: me}\n")
    objects = by_path(render_platform(policy_with(f"{labelled}{{engine: {engine}}}\n")))
    mine = [o["metadata"]["labels"] for p, o in objects.items() if p.startswith("mesa/gitops/")]
    assert mine
    assert all(labels["region"] == "fjord" and labels["app.kubernetes.io/managed-by"] == "taugen" for labels in mine)
