"""Serves repositories over http on the loopback interface, as a real server does."""

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.gitkit import git


class Backend(http.server.BaseHTTPRequestHandler):
    """Serves the repositories of a folder over http as a real server does, with git's own CGI program."""

    folder: Path
    password = ""

    def log_message(self, *args):
        pass

    def do_GET(self):
        if self.password and self.headers.get("Authorization", "") != self.password:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = os.environ | {
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": "ada",
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        out = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=True).stdout
        head, _, content = out.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815


def can_serve(repo: Path) -> bool:
    """Whether this git brings its server program."""
    return (Path(git(repo, "--exec-path")) / "git-http-backend").exists()


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, type[Backend]]]:
    """Serve the repositories of `folder`: the address, and the handler, whose `password` may be set."""
    handler = type("Handler", (Backend,), {"folder": folder})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", handler
        running.shutdown()
