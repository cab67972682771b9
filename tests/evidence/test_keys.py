"""Signatures, by real keys."""

import shutil
import subprocess

import pytest

from taugen.diag import Refused
from taugen.evidence.keys import signed_by
from tests import gitkit


def make_key(folder, name, kind="ed25519"):
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", f"{name}@example.org", "-f", str(path)], check=True)
    return path


def public(key):
    return key.with_suffix(".pub").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def keys(folder):
    return {name: make_key(folder, name) for name in ("fjord", "alps")} | {"old": make_key(folder, "old", "ecdsa")}


@pytest.fixture(scope="module")
def commits(folder, keys):
    """A repository, and a commit signed by each key and one by none."""
    repo = gitkit.make_repo(folder / "repo", {"a": "b"})
    made = {"none": gitkit.git(repo, "rev-parse", "HEAD")}
    for name, key in keys.items():
        settings = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key}")
        gitkit.git(repo, *settings, "commit", "-q", "-S", "--allow-empty", "-m", name)
        made[name] = gitkit.git(repo, "rev-parse", "HEAD")
    return repo, made


def who(commits, *listed):
    repo, made = commits
    found = signed_by(repo, made.values(), listed)
    return {name for name, sha in made.items() if found[sha]}


def test_only_listed_keys_count(commits, keys):
    assert who(commits, public(keys["fjord"])) == {"fjord"}
    assert who(commits, public(keys["alps"]), public(keys["old"])) == {"alps", "old"}
    assert who(commits) == set()


def test_a_key_may_stand_with_or_without_its_comment(commits, keys):
    kind, body, _ = public(keys["fjord"]).split(" ", 2)
    assert who(commits, f"{kind} {body}") == {"fjord"}


def test_a_text_that_is_no_key_lets_nobody_in(commits, keys):
    fjord = public(keys["fjord"]).strip()
    for text in ("", "*", f"* {fjord}", f"cert-authority {fjord}", f"ssh-ed25519 AAAA\n{fjord}", f"{fjord}\n* {public(keys['alps'])}"):
        assert who(commits, text) == set(), text


def test_a_signature_for_another_purpose_or_text_does_not_count(commits, keys, tmp_path):
    repo, made = commits
    raw = gitkit.git(repo, "cat-file", "commit", made["fjord"])
    other = gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw.replace("\n\nfjord", "\n\nforged").encode() + b"\n")
    assert signed_by(repo, [other], [public(keys["fjord"])]) == {other: False}
    unsigned = gitkit.git(repo, "cat-file", "commit", made["none"]) + "\n"
    payload = tmp_path / "payload"
    payload.write_text(unsigned)
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(keys["fjord"]), str(payload)], check=True, capture_output=True
    )
    signature = payload.with_suffix(".sig").read_text().strip().replace("\n", "\n ")
    head, _, message = unsigned.partition("\n\n")
    forged = gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\ngpgsig {signature}\n\n{message}".encode())
    assert signed_by(repo, [forged], [public(keys["fjord"])]) == {forged: False}


def test_without_ssh_keygen_it_says_so(commits, keys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Refused, match="ssh-keygen is not installed"):
        who(commits, public(keys["fjord"]))


def test_a_signature_that_nobody_can_read_ends_no_proof(commits, keys):
    """Signatures taken from other commits, commits changed after they were signed, headers that no Git writes."""
    repo, made = commits
    raw = {name: gitkit.git(repo, "cat-file", "commit", sha).encode() + b"\n" for name, sha in made.items()}
    start, end = (raw["fjord"].index(mark) for mark in (b"gpgsig ", b"\n\n"))
    body = raw["fjord"]
    other = raw["alps"]
    forged = [
        body[:start] + other[other.index(b"gpgsig ") : other.index(b"\n\n")] + body[end:],
        body + b"more\n",
        body.replace(b"-----BEGIN SSH", b"-----BEGIN  SSH"),
        body.replace(b"gpgsig ", b"gpgsig-sha256 "),
        body[:start] + b"encoding latin-1\n" + body[start:],
        body[:end] + b"\nencoding latin-1" + body[end:],
        body[:end] + b"\n" + other[other.index(b"gpgsig ") : other.index(b"\n\n")] + body[end:],
        body.replace(b"\n -----END", b"\n AAAA\n -----END"),
        body.replace(b"author a", b"author b").replace(b"author A", b"author B"),
        body[:start] + body[end + 1 :],
    ]
    ids = [gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text) for text in forged]
    found = signed_by(repo, [*made.values(), *ids], [public(keys["fjord"])])
    assert found[made["fjord"]]
    assert not any(found[sha] for sha in ids[:3])
    assert {name for name, sha in made.items() if found[sha]} == {"fjord"}
