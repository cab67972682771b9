"""A language client of few words: speaks to yaml-language-server over its standard streams."""

import json
import subprocess
from pathlib import Path
from typing import Any


class Client:
    """One server; `open` a text and ask about places in it. Lines and characters count from 0, as LSP does."""

    def __init__(self, server: Path, folder: Path) -> None:
        self.folder = folder
        command = ["node", str(server), "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.request("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": _CAPABILITIES})
        self.notify("initialized", {})
        settings = {"yaml": {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}}
        self.settings = settings["yaml"]
        self.notify("workspace/didChangeConfiguration", {"settings": settings})

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def open(self, path: str, text: str) -> str:
        """Open a file as an editor does, whether it is on disk or not; returns its name for the server."""
        uri = (self.folder / path).as_uri()
        self.diagnostics.pop(uri, None)
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def faults(self, uri: str) -> list[str]:
        """The messages that the server underlines."""
        while uri not in self.diagnostics:
            self._next()
        return [found["message"] for found in self.diagnostics[uri]]

    def complete(self, uri: str, line: int, character: int) -> list[str]:
        """The labels that are offered at a place."""
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        found = self.request("textDocument/completion", at)
        return [item["label"] for item in (found["items"] if isinstance(found, dict) else found or [])]

    def hover(self, uri: str, line: int, character: int) -> str:
        """The text that is shown at a place."""
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        found = self.request("textDocument/hover", at)
        return str(found["contents"]["value"]) if found else ""

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask, and wait for the answer."""
        self.number += 1
        mine = self.number
        self._send({"jsonrpc": "2.0", "id": mine, "method": method, "params": params})
        while True:
            got = self._next()
            if got.get("id") == mine and "method" not in got:
                assert "error" not in got, got
                return got["result"]

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        """The next message; what the server itself asks is answered on the way."""
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server ended"
        got: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if got.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[got["params"]["uri"]] = got["params"]["diagnostics"]
        elif "id" in got and "method" in got:
            items = got.get("params", {}).get("items", []) if got["method"] == "workspace/configuration" else None
            result = None if items is None else [self.settings if item.get("section") == "yaml" else {} for item in items]
            self._send({"jsonrpc": "2.0", "id": got["id"], "result": result})
        return got


_CAPABILITIES = {
    "workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}},
    "textDocument": {
        "completion": {"completionItem": {"documentationFormat": ["markdown"], "snippetSupport": True}},
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {},
    },
}
