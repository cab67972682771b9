"""Answers as the dashboards of all Ray clusters do, since no Ray runs in simulated pods.

In: KubeRay's requests, which reach it as an HTTP proxy, so with the whole URL. Out: a job runs three seconds and succeeds, unless a
test said else beforehand: `PUT /outcome/<start of the job's id>` with RUNNING, SUCCEEDED, FAILED, STOPPED or UNREACHABLE. `GET
/refused/<start of the job's id>` counts what UNREACHABLE was said to, `GET /healthz` says that it is up. After `PUT /real/<start of the
job's id>` with a port, a real dashboard there answers for those jobs.
"""

import http.client
import json
import sys
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

RUNS = 3.0  # seconds
seen: dict[str, float] = {}
outcomes: dict[str, str] = {}
entrypoints: dict[str, str] = {}
refused: Counter[str] = Counter()
real: dict[str, int] = {}
final: dict[str, tuple[int, object]] = {}


def status(job: str) -> str:
    """How a job stands now."""
    chosen = [outcomes[prefix] for prefix in sorted(outcomes, key=len) if job.startswith(prefix)]
    if chosen:
        return chosen[-1]
    began = seen.setdefault(job, time.monotonic())
    return "SUCCEEDED" if time.monotonic() - began > RUNS else "RUNNING"


def judged(port: int, path: str) -> tuple[int, object]:
    """What a real dashboard answers of a job. An end is kept: KubeRay waits two seconds for an answer, Ray may take longer."""
    if path not in final:
        code, told = fetched(port, path)
        if not (code == 200 and isinstance(told, dict) and told.get("status") in {"SUCCEEDED", "FAILED", "STOPPED"}):
            return code, told
        final[path] = code, told
    return final[path]


def fetched(port: int, path: str) -> tuple[int, object]:
    """What a real dashboard answers: status and JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers={"User-Agent": "e2e"})  # Ray's dashboard fails on a request without one
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else {"error": text.decode("utf-8", "replace")}


class Dashboard(BaseHTTPRequestHandler):
    """One request of KubeRay or of a test."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A job's state, its log, all jobs."""
        path = urlsplit(self.path).path.rstrip("/")
        if path == "/healthz":
            return self._say(200, {"ok": True})
        if path.startswith("/refused/"):
            start = path.removeprefix("/refused/")
            return self._say(200, sum(number for job, number in refused.items() if job.startswith(start)))
        if not path.startswith("/api/jobs"):
            return self._say(200, {"result": True, "msg": "", "data": {}})
        job = path.removeprefix("/api/jobs").strip("/")
        if port := next((port for start, port in real.items() if job.startswith(start)), 0):
            return self._say(*judged(port, path))
        if job.endswith("/logs"):
            return self._say(200, {"logs": "as if it had run\n"})
        if not job:
            return self._say(200, [self._job(name) for name in seen])
        if status(job) == "UNREACHABLE":
            refused[job] += 1
            return self._say(502, {"error": "no route to the head"})
        return self._say(200, self._job(job))

    def do_PUT(self) -> None:
        """What a test wants to happen to jobs."""
        _, what, start = urlsplit(self.path).path.split("/")
        if what == "real":
            real[start] = int(self._body())
        else:
            outcomes[start] = self._body().decode()
        self._say(200, {})

    def do_POST(self) -> None:
        """Submission (HTTPMode) and stop."""
        path = urlsplit(self.path).path.rstrip("/")
        body = self._body()
        if path.endswith("/stop"):
            job = path.split("/")[-2]
            outcomes[job] = "STOPPED"
            return self._say(200, {"stopped": True})
        asked = json.loads(body)
        job = asked.get("submission_id") or "job"
        seen.setdefault(job, time.monotonic())
        entrypoints[job] = asked.get("entrypoint", "")
        return self._say(200, {"job_id": job, "submission_id": job})

    def do_DELETE(self) -> None:
        """A job that KubeRay no longer wants to know."""
        self._say(200, {"deleted": True})

    def _job(self, job: str) -> dict[str, object]:
        now = int(time.time() * 1000)
        state = status(job)
        began = {
            "job_id": "01000000",
            "submission_id": job,
            "type": "SUBMISSION",
            "entrypoint": entrypoints.get(job, ""),
            "start_time": now - 1000,
        }
        end = {} if state in {"RUNNING", "PENDING"} else {"end_time": now}
        return began | end | {"status": state, "message": f"as if it had run: {state}"}

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _say(self, code: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Dashboard).serve_forever()
