"""Keys of a collector are SSH public keys, each of one cluster alone.

A key that can't be read signs nothing, so that no evidence of the cluster would ever count. Two clusters with one key could each end the
other's runs: evidence is believed by who signed it.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      collector:
        image: registry.tern.example/base/taugen@sha256:1111111111111111111111111111111111111111111111111111111111111111
        keys: [AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RxzPV2QrBqfHrDq]

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      collector:
        image: registry.tern.example/base/taugen@sha256:1111111111111111111111111111111111111111111111111111111111111111
        keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RxzPV2QrBqfHrDq]

Source: OpenSSH sshd(8), AUTHORIZED_KEYS FILE FORMAT; RFC 4253 section 6.6
"""

import base64
import binascii
from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.set import Item, Policy

ID = "collector-key"

_TYPES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    first: dict[str, tuple[Item[model.Cluster], int]] = {}
    for item in policy.each("Cluster"):
        for at, key in enumerate(item.spec.collector.keys if item.spec.collector is not None else ()):
            path = ("collector", "keys", at)
            material = _material(key)
            if material is None:
                message = "this is no SSH public key"
                yield item.finding(ID, path, message, hint=f"write type and key as in a .pub file; the type is one of {', '.join(_TYPES)}")
            elif material in first and first[material][0].name != item.name:
                other, position = first[material]
                message = f"this key is also that of cluster {other.name}: each could write the other's history"
                origin = other.span(("collector", "keys", position))
                yield item.finding(ID, path, message, hint="make a key for each cluster: ssh-keygen -t ed25519", origin=origin)
            else:
                first.setdefault(material, (item, at))


def _material(key: str) -> str | None:
    """The part that two equal keys share, None where it is no key: the blob begins with the length and the name of its type."""
    kind, _, rest = key.partition(" ")
    blob = rest.split(" ")[0]
    try:
        raw = base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return None
    named = kind.encode()
    return blob if kind in _TYPES and len(raw) > len(named) + 8 and raw.startswith(len(named).to_bytes(4, "big") + named) else None
