"""Signatures judged here, against git and ssh-keygen: never a yes where they say no, never a no where they say yes."""

import random
import subprocess
import sys

import pytest

from taugen.evidence import keys as module
from taugen.evidence.keys import _asked, signed_by
from taugen.evidence.sshsig import Keys
from tests import gitkit
from tests.evidence.test_keys import public

pytest.importorskip("cryptography", reason='install with: pip install "taugen[audit]"')

KINDS = {"ed25519": (), "ecdsa": ("-b", "256"), "ecdsa384": ("-b", "384"), "ecdsa521": ("-b", "521"), "rsa": ("-b", "3072")}
OTHERS = {"other": (), "rsa1024": ("-b", "1024")}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A repository, the private keys by name, and the raw commit that each signed."""
    folder = tmp_path_factory.mktemp("sshsig")
    repo = gitkit.make_repo(folder / "repo", {"a": "b"})
    made, raw = {}, {"none": gitkit.git(repo, "cat-file", "commit", "HEAD").encode() + b"\n"}
    for name, options in {**KINDS, **OTHERS}.items():
        kind = "ed25519" if name == "other" else name.rstrip("0123456789") if name != "ed25519" else name
        made[name] = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", kind, *options, "-N", "", "-C", "", "-f", str(made[name])], check=True)
        settings = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={made[name]}")
        gitkit.git(repo, *settings, "commit", "-q", "-S", "--allow-empty", "-m", f"{name}\n\nSecond line: gpgsig of nobody")
        raw[name] = gitkit.git(repo, "cat-file", "commit", "HEAD").encode() + b"\n"
    return repo, made, raw


def trusted(made):
    return [tuple(public(made[name]).split()[:2]) for name in (*KINDS, "rsa1024")]


def compared(repo, made, texts):
    """What is said here and what git says, of commits with these contents."""
    listed = trusted(made)
    ready = Keys(listed)
    ids = [gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text) for text in texts]
    good = _asked(repo, list(dict.fromkeys(ids)), "".join(f'collector namespaces="git" {kind} {body}\n' for kind, body in listed))
    return [(ready.signed(text), sha in good) for text, sha in zip(texts, ids, strict=True)]


def test_what_git_signs_is_settled_here(world):
    repo, made, raw = world
    names = [*KINDS, "none", "other", "rsa1024"]
    found = dict(zip(names, compared(repo, made, [raw[name] for name in names]), strict=True))
    assert {name: here for name, (here, _) in found.items()} == dict.fromkeys(KINDS, True) | {"none": False, "other": None, "rsa1024": None}
    assert {name for name, (_, git) in found.items() if git} >= set(KINDS)


def parts(text):
    start, end = text.index(b"gpgsig "), text.index(b"\n\n")
    return text[:start], text[start:end], text[end:]


def variants(raw, name):
    """The commit of a key, written in other ways."""
    before, signature, after = parts(raw[name])
    _, another, _ = parts(raw["ecdsa" if name == "ed25519" else "ed25519"])
    lines = signature.split(b"\n ")
    body = b"".join(lines[1:-1])
    yield before + another + after
    yield before + signature + b"\n" + another + after
    yield before + another + b"\n" + signature + after
    yield before + signature.replace(b"gpgsig ", b"gpgsig-sha256 ") + after
    yield before + signature + b"\ngpgsig-sha256 x" + after
    yield before + b"encoding latin-1\n" + signature + after
    yield before + signature + b"\nencoding latin-1" + after
    yield before + signature + b"\n " + after
    yield before + signature + b"\n more" + after
    yield before.replace(b"author", b"author ") + signature + after
    yield before + signature.replace(b"BEGIN", b"begin") + after
    yield before + b"\n ".join([lines[0], body, lines[-1]]) + after  # one long line
    yield before + b"\n ".join([lines[0], *(body[at : at + 64] for at in range(0, len(body), 64)), lines[-1]]) + after
    yield before + b"\n ".join([lines[0], *lines[1:-1], b"", lines[-1]]) + after
    yield before + b"\n ".join([lines[0], body + b"AAAA", lines[-1]]) + after
    yield before + b"\n ".join([lines[0], body.rstrip(b"="), lines[-1]]) + after
    yield before + b"\n ".join([lines[0], b" " + body, lines[-1]]) + after
    yield before + signature.replace(b"\n ", b"\r\n ") + after
    yield before + signature + after + b"more\n"
    yield before + signature + after.replace(b"\n", b"\r\n")
    yield before + signature + after + b"\0hidden"
    yield signature + b"\n" + before.rstrip(b"\n") + after
    yield before + after[1:].replace(b"\n\n", b"\n\n" + signature + b"\n", 1)
    yield before + signature
    yield before + signature + b"\n"


def spoiled(raw, name, number):
    """The commit of a key with one byte changed, somewhere."""
    chance = random.Random(f"{name} 7")
    for _ in range(number):
        text = bytearray(raw[name])
        at = chance.randrange(len(text))
        text[at] = chance.choice([text[at] ^ 1, text[at] ^ 32, ord("A"), ord("="), 10, 32])
        yield bytes(text)


@pytest.mark.parametrize("name", KINDS)
def test_other_forms_and_broken_ones(world, name):
    repo, made, raw = world
    texts = [*variants(raw, name), *spoiled(raw, name, 40)]
    for text, (here, git) in zip(texts, compared(repo, made, texts), strict=True):
        assert here in {None, git}, (here, git, text)


def resigned(raw, made, namespace, digest, folder):
    """The unsigned commit with a signature by ssh-keygen itself."""
    payload = folder / "payload"
    payload.write_bytes(raw["none"])
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-O", f"hashalg={digest}", "-f", str(made["ed25519"]), str(payload)]
    subprocess.run(command, check=True, capture_output=True)
    sig = payload.with_suffix(".sig")
    signature = sig.read_bytes().strip().replace(b"\n", b"\n ")
    sig.unlink()
    head, _, message = raw["none"].partition(b"\n\n")
    return head + b"\ngpgsig " + signature + b"\n\n" + message


def test_namespaces_and_hashes(world, tmp_path):
    repo, made, raw = world
    texts = [resigned(raw, made, *how, tmp_path) for how in (("git", "sha256"), ("git", "sha512"), ("file", "sha512"), ("git2", "sha256"))]
    assert compared(repo, made, texts) == [(True, True), (True, True), (None, False), (None, False)]


def test_the_verdict_is_the_same_without_the_library(world, monkeypatch):
    repo, made, raw = world
    texts = [*raw.values(), *variants(raw, "ed25519")]
    ids = [gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text) for text in texts]
    listed = [public(made[name]) for name in KINDS]
    with_it = signed_by(repo, ids, listed)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    assert signed_by(repo, ids, listed) == with_it
    assert sum(with_it.values()) >= len(KINDS)


def test_what_is_sure_starts_no_process(world, monkeypatch):
    repo, made, raw = world
    ids = [gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw[name]) for name in (*KINDS, "none")]
    monkeypatch.setattr(module, "_asked", lambda *_: pytest.fail("git was asked"))
    assert list(signed_by(repo, ids, [public(made[name]) for name in KINDS]).values()) == [True] * len(KINDS) + [False]


@pytest.mark.parametrize("where", ["load", "verify"])
def test_a_kind_of_key_that_the_library_may_not_use_is_left_to_git(world, monkeypatch, where):
    """As by the rules of FIPS."""
    from cryptography.exceptions import UnsupportedAlgorithm

    repo, made, raw = world

    def refuse(*_):
        raise UnsupportedAlgorithm("not here")

    class Key:
        verify = staticmethod(refuse)

    monkeypatch.setattr("taugen.evidence.sshsig._public", refuse if where == "load" else lambda *_: Key())
    ids = [gitkit.git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw[name]) for name in ("ed25519", "other")]
    assert list(signed_by(repo, ids, [public(made["ed25519"])]).values()) == [True, False]
