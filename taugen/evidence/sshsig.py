"""Signatures of commits by SSH keys, judged in this process.

In: the bytes of a commit, and public keys. Out: True where one of them surely signed it, False where surely nobody did, None where git and
ssh-keygen have to be asked. The format is OpenSSH's (PROTOCOL.sshsig), the payload git's (the commit without its `gpgsig` header). What
must never happen: a yes to what ssh-keygen refuses. So the forms that git and ssh-keygen write are known here, letter by letter, and all
others are left to them: keys in hardware, certificates, RSA keys of less than 2048 bits, two signatures, a header in another place.
"""

import binascii
import contextlib
import hashlib
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_HEADER = b"\ngpgsig "
_ARMORED = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n((?:[A-Za-z0-9+/]{70}\n)*[A-Za-z0-9+/]{1,70}={0,2}\n)-----END SSH SIGNATURE-----")
_MAGIC = b"SSHSIG"
_NAMESPACE = b"git"
_HASHES = (b"sha256", b"sha512")
_LEAST_RSA = 2048
"""Bits; ssh-keygen has a limit of its own, which a user may raise."""
Verify = Callable[[bytes, bytes, bytes], None]
"""(algorithm, signature in its own form, signed bytes): raises where it is not right, or not surely."""


class Keys:
    """Public keys, ready to judge. Raises ImportError where the library `cryptography` is not installed."""

    def __init__(self, keys: Iterable[tuple[str, str]]) -> None:
        import cryptography.hazmat.primitives.asymmetric  # noqa: F401 - it is there, or nothing here is of use
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

        # A kind of key that the library may not use, as by the rules of FIPS, is no reason to say no either.
        self._unsure = (InvalidSignature, UnsupportedAlgorithm, ValueError, struct.error)
        self._keys: dict[bytes, Verify] = {}
        for kind, text in keys:
            with contextlib.suppress(*self._unsure):
                blob = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
                if (make := _KINDS.get(kind)) is not None:
                    self._keys[blob] = make(kind, blob)

    def signed(self, commit: bytes) -> bool | None:
        """Whether one of the keys signed a commit, given as git stores it."""
        head = commit[: commit.find(b"\n\n") + 1]
        if not head:
            return None
        if b"\ngpgsig" not in head:
            return False
        at = head.find(_HEADER)
        end = at + 1
        while (end := head.find(b"\n", end) + 1) and head[end : end + 1] == b" ":
            pass
        if at < 0 or not end or b"\ngpgsig" in head[:at] or b"\ngpgsig" in head[end - 1 :] or b"\0" in commit:
            return None
        armored = head[at + len(_HEADER) : end - 1].replace(b"\n ", b"\n")
        return self._good(armored.removesuffix(b"\n"), commit[: at + 1] + commit[end:]) or None

    def _good(self, armored: bytes, payload: bytes) -> bool:
        found = _ARMORED.fullmatch(armored)
        if found is None:
            return False
        try:
            blob = binascii.a2b_base64(found[1].replace(b"\n", b""), strict_mode=True)
            if blob[: len(_MAGIC)] != _MAGIC or blob[len(_MAGIC) : len(_MAGIC) + 4] != b"\0\0\0\1":
                return False
            key, namespace, reserved, digest, signature = _strings(blob[len(_MAGIC) + 4 :], 5)
            verify = self._keys.get(key)
            if verify is None or namespace != _NAMESPACE or reserved or digest not in _HASHES:
                return False
            hashed = hashlib.new(digest.decode("ascii"), payload).digest()
            name, value = _strings(signature, 2)
            verify(name, value, _MAGIC + b"".join(map(_string, (namespace, reserved, digest, hashed))))
        except self._unsure:
            return False
        return True


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _strings(data: bytes, number: int) -> list[bytes]:
    """So many strings of SSH's wire form (RFC 4251, section 5), and nothing after them. Raises ValueError, struct.error."""
    out = []
    for _ in range(number):
        (size,) = struct.unpack_from(">I", data)
        if len(data) < 4 + size:
            raise ValueError("it ends early")
        out.append(data[4 : 4 + size])
        data = data[4 + size :]
    if data:
        raise ValueError("more follows")
    return out


def _public(kind: str, blob: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    return load_ssh_public_key(kind.encode("ascii") + b" " + binascii.b2a_base64(blob, newline=False))


def _ed25519(kind: str, blob: bytes) -> Verify:
    key = _public(kind, blob)

    def verify(name: bytes, value: bytes, signed: bytes) -> None:
        _sure(name == b"ssh-ed25519" and len(value) == 64)
        key.verify(value, signed)

    return verify


def _rsa(kind: str, blob: bytes) -> Verify:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

    key = _public(kind, blob)
    _sure(key.key_size >= _LEAST_RSA)
    known: Mapping[bytes, hashes.HashAlgorithm] = {b"rsa-sha2-256": hashes.SHA256(), b"rsa-sha2-512": hashes.SHA512()}

    def verify(name: bytes, value: bytes, signed: bytes) -> None:
        _sure(name in known and len(value) * 8 == (key.key_size + 7) // 8 * 8)
        key.verify(value, signed, PKCS1v15(), known[name])

    return verify


def _ecdsa(kind: str, blob: bytes) -> Verify:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    key = _public(kind, blob)
    # RFC 5656, section 6.2.1: the hash goes with the size of the curve.
    chosen = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}[key.curve.key_size]

    def verify(name: bytes, value: bytes, signed: bytes) -> None:
        r, s = _strings(value, 2)
        _sure(name == kind.encode("ascii") and _positive(r) and _positive(s))
        key.verify(encode_dss_signature(int.from_bytes(r), int.from_bytes(s)), signed, ECDSA(chosen))

    return verify


def _sure(form: bool) -> None:  # noqa: FBT001 - it is a statement
    """Raises ValueError for what has not the form that ssh-keygen writes."""
    if not form:
        raise ValueError("ssh-keygen may not take it")


def _positive(number: bytes) -> bool:
    """Whether an mpint is above zero and written as short as it can be (RFC 4251, section 5)."""
    return bool(number) and number[0] < 0x80 and (number[0] > 0 or (len(number) > 1 and number[1] >= 0x80))


_KINDS: dict[str, Callable[[str, bytes], Verify]] = {
    "ssh-ed25519": _ed25519,
    "ssh-rsa": _rsa,
    "ecdsa-sha2-nistp256": _ecdsa,
    "ecdsa-sha2-nistp384": _ecdsa,
    "ecdsa-sha2-nistp521": _ecdsa,
}
