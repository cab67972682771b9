"""Certificates of a plane: one authority, one server certificate, one client certificate for each user.

In: a folder. Out: files in it, made once by openssl. Nothing outside the folder is read or written, nothing is trusted but this
authority.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

SERVER_NAMES = "IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default,DNS:kubernetes.default.svc"


@dataclass(frozen=True)
class Certs:
    """The folder of a plane's certificates."""

    folder: Path

    @property
    def authority(self) -> Path:
        """PEM certificate of the authority."""
        return self.folder / "ca.crt"

    def certificate(self, name: str) -> Path:
        """PEM certificate of `name`."""
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """PEM private key of `name`."""
        return self.folder / f"{name}.key"

    def make(self) -> None:
        """The authority, the server's certificate and the key of service account tokens, unless they exist."""
        if self.key("accounts").exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        _openssl("req", "-x509", *_new_key(self.key("ca")), "-subj", "/CN=taugen e2e", "-days", "30", "-out", str(self.authority))
        self.issue("server", "/CN=127.0.0.1", f"subjectAltName={SERVER_NAMES}")
        _openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(self.key("accounts")))

    def client(self, name: str, user: str, groups: tuple[str, ...] = ()) -> None:
        """A client certificate: the API server takes its common name as the user and its organisations as the groups."""
        if not self.certificate(name).exists():
            self.issue(name, f"/CN={user}" + "".join(f"/O={group}" for group in groups), "extendedKeyUsage=clientAuth")

    def issue(self, name: str, subject: str, extension: str) -> None:
        """A key and a certificate signed by the authority."""
        part = self.folder / f"{name}.part"
        _openssl(
            *("req", "-x509", *_new_key(self.key(name)), "-subj", subject, "-days", "30", "-addext", extension),
            *(
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-CA",
                str(self.authority),
                "-CAkey",
                str(self.key("ca")),
                "-out",
                str(part),
            ),
        )
        part.rename(self.certificate(name))


def _new_key(path: Path) -> tuple[str, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(path))


def _openssl(*args: str) -> None:
    done = subprocess.run(["openssl", *args], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {args[0]}: {done.stderr}")
