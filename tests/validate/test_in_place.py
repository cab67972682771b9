"""Changes that the cluster refuses, and those that it takes."""

import pytest

from taugen.validate.in_place import frozen


def obj(kind, **spec):
    return {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def claim(size, **more):
    return obj("PersistentVolumeClaim", accessModes=["ReadWriteMany"], resources={"requests": {"storage": size}}, **more)


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        (obj("LocalQueue", clusterQueue="a"), obj("LocalQueue", clusterQueue="b"), ("spec", "clusterQueue")),
        (obj("Topology", levels=[{"nodeLabel": "a"}]), obj("Topology", levels=[{"nodeLabel": "b"}]), ("spec", "levels")),
        (
            obj("ResourceFlavor", topologyName="t", nodeLabels={"a": "1"}),
            obj("ResourceFlavor", topologyName="t", nodeLabels={"a": "2"}),
            ("spec", "nodeLabels"),
        ),
        (obj("ResourceFlavor", topologyName="t"), obj("ResourceFlavor"), ("spec", "topologyName")),
        (claim("2Ti"), claim("1Ti"), ("spec", "resources", "requests", "storage")),
        (claim("2Ti"), claim("2Ti", storageClassName="x"), ("spec", "storageClassName")),
        ({**obj("RoleBinding"), "roleRef": {"name": "a"}}, {**obj("RoleBinding"), "roleRef": {"name": "b"}}, ("roleRef",)),
    ],
)  # fmt: skip
def test_refused(before, after, path):
    found = list(frozen(before, after))
    assert [f.path for f in found] == [path]
    assert found[0].message
    assert found[0].hint
    assert list(frozen(before, before)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (obj("LocalQueue", clusterQueue="a", stopPolicy="None"), obj("LocalQueue", clusterQueue="a", stopPolicy="Hold")),
        (obj("ResourceFlavor", nodeLabels={"a": "1"}), obj("ResourceFlavor", nodeLabels={"a": "2"}, topologyName="t")),
        (obj("ResourceFlavor", topologyName="t", nodeTaints=[]), obj("ResourceFlavor", topologyName="t", nodeTaints=[{"key": "a"}])),
        (claim("1Ti"), claim("1024Gi")),
        (claim("1Ti"), claim("2Ti")),
        (obj("ClusterQueue", cohortName="a"), obj("ClusterQueue")),
        (obj("WorkloadPriorityClass", value=1), obj("WorkloadPriorityClass", value=2)),
    ],
)
def test_taken(before, after):
    assert list(frozen(before, after)) == []
