"""Image references: their parts, and which of them a list allows."""

import pytest

from taugen.validate.rules.document import _images as images
from tests.policykit import fixture_with
from tests.validate.rules.document.test_rules import findings, load_policy

DIGEST = "@sha256:" + "1" * 64


@pytest.mark.parametrize(
    ("reference", "parts", "tag"),
    [
        ("python", "docker.io/library/python", None),
        ("python:3.12", "docker.io/library/python", "3.12"),
        ("rayproject/ray:2.56.0-py312", "docker.io/rayproject/ray", "2.56.0-py312"),
        ("docker.io/library/python", "docker.io/library/python", None),
        ("index.docker.io/rayproject/ray", "docker.io/rayproject/ray", None),
        ("localhost/x", "localhost/x", None),
        ("localhost:5000/x:1", "localhost:5000/x", "1"),
        ("Registry.Example.org/a/b_c/d-e:V1", "registry.example.org/a/b_c/d-e", "V1"),
        (
            "mcr.microsoft.com/aks/ai-runtime/ray:py3.12-ray2.56.0-cuda13.0",
            "mcr.microsoft.com/aks/ai-runtime/ray",
            "py3.12-ray2.56.0-cuda13.0",
        ),
        ("a.b/c:1" + DIGEST, "a.b/c", "1"),
        ("[::1]:5000/x", "[::1]:5000/x", None),
    ],
)
def test_parts(reference: str, parts: str, tag: str | None) -> None:
    image = images.read(reference)
    assert image is not None
    assert ("/".join(image.parts), image.tag, image.digest is not None) == (parts, tag, "@" in reference)


@pytest.mark.parametrize(
    "reference",
    ["", " ", "Python", "a b", "a:b:c", "a@sha256:12", "a@md5:" + "1" * 32, "a/../b", "a//b", "/a", "a/", "docker:x/y", "https://a.b/c", "a.b/c:", "x\n", "a:" + "t" * 129, "-a", "$(id)", "a.b/c@sha256:" + "A" * 64],  # noqa: E501
)  # fmt: skip
def test_what_is_none(reference: str) -> None:
    assert images.read(reference) is None


@pytest.mark.parametrize(
    ("allowed", "reference", "yes"),
    [
        ("registry.example/", "registry.example/a/b", True),
        ("registry.example", "registry.example/a/b", True),
        ("registry.example/a", "registry.example/a/b", True),
        ("registry.example/a", "registry.example/a", True),
        ("registry.example/a", "registry.example/ab", False),
        ("registry.example/", "registry.example.evil.test/a", False),
        ("registry.example/", "evil.test/registry.example/a", False),
        ("registry.example/", "registry.example:5000/a", False),
        ("rayproject/", "rayproject/ray", True),
        ("rayproject/", "docker.io/rayproject/ray", True),
        ("rayproject/", "quay.io/rayproject/ray", False),
        ("docker.io/library/", "python:3.12", True),
        ("docker.io/", "rayproject/ray", True),
        ("python", "python:3.12", True),
        ("python", "pythons", False),
        ("nvcr.io/nvidia/", "nvcr.io/nvidia/pytorch:25.09-py3", True),
    ],
)
def test_a_list_is_matched_by_whole_components(allowed: str, reference: str, yes: bool) -> None:
    image = images.read(reference)
    assert image is not None
    assert (image.parts[: len(images.prefix(allowed))] == images.prefix(allowed)) is yes


def document(image: str) -> str:
    return f"name: asr\nrun: {{entrypoint: train.py, workload_kind: job}}\ncompute: {{gpus: 1}}\nruntime: {{image: '{image}'}}\n"


def test_a_forbidden_registry_is_one_finding_with_the_place_of_the_list() -> None:
    found = findings(document("evil.example/miner:latest"))
    assert [d.rule for d in found] == ["image-registry"]
    assert found[0].origin is not None
    assert found[0].origin.file.startswith("policy/platform")
    assert "registry.tern.example/" in found[0].message


@pytest.mark.parametrize(
    ("image", "hint"),
    [
        ("docker:python:3", "write python:3"),
        ("https://registry.tern.example/x:1", "write registry.tern.example/x:1"),
        ("registry.tern.example/Torch:1", "write registry.tern.example/torch:1"),
        ("registry.tern.example/torch@sha256:12", "64 hex digits"),
        ("registry.tern.example/a b", "REGISTRY/NAME"),
    ],
)
def test_a_reference_that_is_none_says_what_to_write(image: str, hint: str) -> None:
    found = findings(document(image))
    assert [d.rule for d in found] == ["image-syntax"]
    assert hint in found[0].hint


def test_digests_can_be_demanded() -> None:
    platform = "apiVersion: taugen.dev/v1alpha1\nkind: Platform\nmetadata:\n  name: tern\nspec:\n  images: {digests: required}\n"
    policy, _ = load_policy(fixture_with(platform))
    found = findings(document("registry.tern.example/x:1"), policy)
    assert [(d.rule, d.severity.value) for d in found] == [("image-tag", "error")]
    assert found[0].origin is not None
    assert found[0].origin.line == 6


def test_no_list_allows_every_registry() -> None:
    platform = "apiVersion: taugen.dev/v1alpha1\nkind: Platform\nmetadata:\n  name: tern\nspec: {}\n"
    policy, _ = load_policy(fixture_with(platform))
    assert [d.rule for d in findings(document("anywhere.example/x" + DIGEST), policy)] == []


def test_the_warning_waits_until_the_document_can_be_read() -> None:
    assert [d.rule for d in findings(document("registry.tern.example/x:1") + "foo: 1\n")] == ["unknown-key"]
    assert [d.rule for d in findings(document("registry.tern.example/x:1"))] == ["image-tag"]
