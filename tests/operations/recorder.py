"""A proxy in front of a server that remembers what was asked: (method, path) of each request."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Answers without an end; that they were asked for is enough.
STREAMS = ("/v1/events", "/stream")
NOT_FOUND = b'{"status":404,"code":"not_found","detail":"This is a recorder.","retryable":false}'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_one(self) -> None:
        recorder = self.server.recorder  # type: ignore[attr-defined]
        path = self.path.split("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        recorder.asked.append((self.command, path))
        if path.endswith(STREAMS):
            self.reply(404, {"Content-Type": "application/problem+json"}, NOT_FOUND)
            return
        onward = http.client.HTTPConnection(*recorder.address, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        onward.request(self.command, self.path, body or None, headers)
        answer = onward.getresponse()
        self.reply(answer.status, dict(answer.getheaders()), answer.read())
        onward.close()

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

    def log_message(self, *_: object) -> None:
        pass


class Recorder:
    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.asked: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.recorder = self  # type: ignore[attr-defined]
        self.url = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
