"""Policy from other repositories: pinned, cached, read without a connection."""

from pathlib import Path

import pytest

from taugen.diag import Diagnostic, Refused, Severity
from taugen.load.cache import cache_folder
from taugen.policy import lock
from taugen.policy.load import load_policy
from taugen.policy.model import GitSource
from tests.gitkit import commit, git, make_repo, write
from tests.policykit import MemoryTree

HEAD = "apiVersion: taugen.dev/v1alpha1\n"
TIER = HEAD + "kind: PriorityTier\nmetadata: {name: low}\nspec: {value: 5}\n"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    repo = make_repo(tmp_path / "remote")
    write(repo, {"tiers/low.yaml": TIER, "README.md": "x"})
    commit(repo)
    return repo


@pytest.fixture
def cache(tmp_path: Path) -> lock.Cache:
    return lock.Cache(tmp_path / "cache")


def tree(url: str, locked: str | None, path: str = "tiers", ref: str = "main") -> MemoryTree:
    spec = f"spec: {{policy: [{{git: {{url: '{url}', ref: {ref}, path: {path}}}}}]}}\n"
    files = {"taugen.yaml": HEAD + "kind: Project\nmetadata: {name: x}\n" + spec}
    return MemoryTree(files if locked is None else {**files, lock.FILE: locked})


def found(files: MemoryTree, cache: lock.Cache) -> list[Diagnostic]:
    policy, findings = load_policy(files, repositories=cache)
    assert policy is not None
    return findings


def pinned(remote: Path, cache: lock.Cache, *, update: bool = False, before: str = "", path: str = "tiers") -> str:
    old = lock.read(MemoryTree({lock.FILE: before})) if before else lock.Lock()
    return lock.write(lock.refresh([GitSource(url=str(remote), ref="main", path=path)], old, update=update, cache=cache))


def test_pin_then_read(remote: Path, cache: lock.Cache) -> None:
    text = pinned(remote, cache)
    sha = git(remote, "rev-parse", "HEAD")
    assert f"commit: {sha}" in text
    git(remote, "update-ref", "-d", "refs/heads/main")  # whatever happens to the remote: nothing is dialled
    policy, findings = load_policy(tree(str(remote), text), repositories=cache)
    assert policy is not None
    assert findings == []
    assert policy.tiers["low"].spec.value == 5
    assert policy.tiers["low"].span().file == f"{str(remote).strip('/')}//tiers/low.yaml"
    assert policy.sources == {str(remote): sha}


def test_it_is_written_and_read_alike(remote: Path, cache: lock.Cache) -> None:
    text = pinned(remote, cache)
    read = lock.read(MemoryTree({lock.FILE: text}))
    assert read.readable
    assert read.findings == []
    assert lock.write(read.entries) == text
    assert lock.write(reversed(read.entries)) == text


def test_a_pin_stays_until_it_is_updated(remote: Path, cache: lock.Cache) -> None:
    first = pinned(remote, cache)
    write(remote, {"tiers/low.yaml": TIER.replace("5", "6")})
    commit(remote)
    assert pinned(remote, cache, before=first) == first
    second = pinned(remote, cache, before=first, update=True)
    assert second != first
    for text, value in ((first, 5), (second, 6)):
        policy, _ = load_policy(tree(str(remote), text), repositories=cache)
        assert policy is not None
        assert policy.tiers["low"].spec.value == value


def test_a_fresh_machine_fetches_the_pinned_commit(remote: Path, cache: lock.Cache, tmp_path: Path) -> None:
    text = pinned(remote, cache)
    write(remote, {"tiers/low.yaml": TIER.replace("5", "6")})
    commit(remote)
    other = lock.Cache(tmp_path / "other")
    message = found(tree(str(remote), text), other)
    assert [(d.rule, d.path) for d in message] == [("policy-source", "spec.policy[0].git.url")]
    assert "taugen lock" in message[0].hint
    assert pinned(remote, other, before=text) == text
    assert found(tree(str(remote), text), other) == []


def test_a_server_that_gives_out_tips_only(remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "0")
    text = pinned(remote, lock.Cache(tmp_path / "one"))
    write(remote, {"tiers/low.yaml": TIER.replace("5", "6")})
    commit(remote)
    for name in ("one", "two"):
        other = lock.Cache(tmp_path / name)
        if name == "one":
            pinned(remote, other, update=True)
        assert pinned(remote, other, before=text) == text
        assert found(tree(str(remote), text), other) == []


def test_a_vanished_commit_and_a_gone_repository_are_refused(remote: Path, cache: lock.Cache, tmp_path: Path) -> None:
    text = pinned(remote, cache).replace(git(remote, "rev-parse", "HEAD"), "0" * 40)
    with pytest.raises(Refused, match="pinned commit 000000000000 can't be fetched"):
        pinned(remote, cache, before=text)
    remote.rename(tmp_path / "moved")
    with pytest.raises(Refused, match="main can't be fetched") as refused:
        pinned(remote, cache, update=True)
    assert "check the URL" in refused.value.hint
    assert [d.rule for d in found(tree(str(remote), text), cache)] == ["policy-source"]


@pytest.mark.parametrize(
    ("locked", "words"),
    [
        (None, "is not pinned"),
        ("repositories:\n  - {url: URL, ref: v1, path: tiers, commit: SHA}\n", "at ref v1, not main"),
        ("repositories:\n  - {url: URL, ref: main, path: other, commit: SHA}\n", "the folder other, not tiers"),
    ],
)
def test_not_in_the_lock(remote: Path, cache: lock.Cache, locked: str | None, words: str) -> None:
    text = locked.replace("URL", str(remote)).replace("SHA", "a" * 40) if locked is not None else None
    told = [d for d in found(tree(str(remote), text), cache) if d.severity is Severity.ERROR]
    assert [d.rule for d in told] == ["policy-source"]
    assert words in told[0].message
    assert "taugen lock" in told[0].hint


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("nonsense: 1\n", ""),
        ("repositories: {}\n", ""),
        ("repositories:\n  - 5\n", "repositories[0]"),
        ("repositories:\n  - {url: a, ref: b, path: c}\n", "repositories[0]"),
        ("repositories:\n  - {url: a, ref: b, path: c, commit: abc}\n", "repositories[0].commit"),
        ("a: [\n", ""),
    ],
)
def test_a_lock_that_cannot_be_read_is_one_finding(remote: Path, cache: lock.Cache, text: str, path: str) -> None:
    told = found(tree(str(remote), text), cache)
    assert [(d.span.file, d.path) for d in told] == [(lock.FILE, path)]


def test_a_pin_that_nobody_uses_is_a_warning(remote: Path, cache: lock.Cache) -> None:
    text = pinned(remote, cache)
    files = tree(str(remote), text)
    files.files["taugen.yaml"] = (HEAD + "kind: Project\nmetadata: {name: x}\n").encode()
    files.files["policy/a.yaml"] = TIER.encode()
    told = found(files, cache)
    assert [(d.rule, d.severity, d.path) for d in told] == [("policy-lock", Severity.WARNING, "repositories[0]")]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://user:secret@host/x.git", "carries a user name or a token"),
        ("ext::sh -c id", "no URL"),
        ("-u", "no URL"),
        ("../x", "no URL"),
        ("http://host/x", "no URL"),
        ("git://host/x", "no URL"),
    ],
)
def test_urls_that_are_refused(url: str, words: str) -> None:
    why = lock.refuse_url(url)
    assert why is not None
    assert words in why[0]
    assert "secret" not in why[0]
    with pytest.raises(Refused):
        lock.refresh([GitSource(url=url)], lock.Lock())


@pytest.mark.parametrize(
    "url", ["https://h/x.git", "ssh://git@h/x.git", "git@h:team/x.git", "file:///srv/x", "/srv/x", "http://127.0.0.1:8080/x"]
)
def test_urls_that_are_taken(url: str) -> None:
    assert lock.refuse_url(url) is None


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://git.tern.example/platform/policy.git", "git.tern.example/platform/policy//"),
        ("ssh://git@git.tern.example/platform/policy", "git.tern.example/platform/policy//"),
        ("git@git.tern.example:platform/policy.git", "git.tern.example/platform/policy//"),
        ("/srv/policy", "srv/policy//"),
    ],
)
def test_labels(url: str, label: str) -> None:
    assert lock.label(url) == label


def test_the_cache_is_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "taugen"
    monkeypatch.setenv("TAUGEN_CACHE", str(tmp_path / "own"))
    assert lock.Cache().place("x").parent == tmp_path / "own" / "repositories"
