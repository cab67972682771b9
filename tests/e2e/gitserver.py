"""Git repositories over smart HTTP on loopback.

In: a folder of bare repositories and a port. Out: each is served, for reading and pushing, at http://127.0.0.1:PORT/<name>.git by Git's
own http-backend.
"""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


class Backend(BaseHTTPRequestHandler):
    """One request, handed to git http-backend as a CGI program."""

    protocol_version = "HTTP/1.1"
    root = ""

    def do_GET(self) -> None:
        """Advertisement of references, objects."""
        self._run()

    def do_POST(self) -> None:
        """upload-pack and receive-pack."""
        self._run()

    def _run(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/healthz":
            return self._say(200, [], b"ok")
        done = subprocess.run(
            ["git", "http-backend"], env=self._environment(parts.path, parts.query), input=self._body(), capture_output=True, check=False
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        return self._say(status, [(name, value) for name, value in headers if name != "Status"], body)

    def _environment(self, path: str, query: str) -> dict[str, str]:
        git = {
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH": os.environ["PATH"],
        }
        http = {
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "e2e",
            "REMOTE_ADDR": "127.0.0.1",
        }
        return git | http

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _say(self, status: int, headers: list[tuple[str, ...]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def create(root: Path, name: str) -> Path:
    """A new bare repository that the server shows as <name>.git and that may be pushed to."""
    path = root / f"{name}.git"
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(path)], check=True)
    subprocess.run(["git", "-C", str(path), "config", "http.receivepack", "true"], check=True)
    return path


if __name__ == "__main__":
    Backend.root = sys.argv[1]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Backend).serve_forever()
