"""A stand-in for the server's /mcp that does as each test tells it, and a host that talks to `spine mcp`."""

import http.server
import json
import os
import queue
import select
import socket
import subprocess
import threading
import time

from server import binary

MODERN = "2026-07-28"
PATIENCE_S = 20


class StandIn(http.server.ThreadingHTTPServer):
    """`handle[method]` answers a message of that method; otherwise requests are answered with {} and the rest with 202."""

    daemon_threads = True

    def __init__(self, port=0, **handle):
        self.handle = {name.replace("__", "/"): what for name, what in handle.items()}
        self.seen = []
        self.gone = queue.Queue()
        self.session = None
        self.connections = set()
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __exit__(self, *args):
        self.stop()

    def stop(self):
        """As a server that is killed: what is under way breaks."""
        self.shutdown()
        self.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def methods(self):
        return [message.get("method") for _, _, message in self.seen]

    def wait_for(self, method, count=1):
        wait_until(lambda: self.methods().count(method) >= count, f"{count} times {method}, got {self.methods()}")
        return [(headers, message) for _, headers, message in self.seen if message.get("method") == method]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self):
        self.server.connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message = json.loads(body)
        self.take(message if isinstance(message, dict) else {"method": "batch", "items": message})

    def do_GET(self):
        self.take({"method": "GET"})

    def do_DELETE(self):
        self.take({"method": "DELETE"})

    def take(self, message):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, headers, message))
        handle = self.server.handle.get(message.get("method"))
        try:
            if handle:
                handle(self, message)
            elif message["method"] == "GET":
                self.plain(405)
            elif "id" in message and "method" in message:
                self.result(message, {})
            else:
                self.plain(202)
        except OSError:
            self.close_connection = True

    def plain(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def json(self, status, document, **headers):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.plain(status, body, Content_Type="application/json", **headers)

    def result(self, message, result, **headers):
        self.json(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, **headers)

    def stream(self):
        """The head of a stream of events, which ends when the connection does."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, document, end="\n\n", **fields):
        for name, value in fields.items():
            self.wfile.write(f"{name}: {value}\n".encode())
        data = document if isinstance(document, str) else json.dumps(document)
        self.wfile.write(f"data: {data}{end}".encode())
        self.wfile.flush()

    def wait_until_gone(self):
        """Until the client has closed the connection."""
        ready, _, _ = select.select([self.connection], [], [], PATIENCE_S)
        assert ready and self.connection.recv(1, socket.MSG_PEEK) == b"", "the connection stays open"
        self.close_connection = True

    def log_message(self, *args):
        pass


def initialize(session=None, version="2025-11-25"):
    def handle(handler, message):
        headers = {"Mcp_Session_Id": session} if session else {}
        handler.result(message, {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}, **headers)

    return handle


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def modern(id, method, **params):
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    return request(id, method, **params, _meta=meta)


def wait_until(is_so, what):
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.002)


class Host:
    """A program that has started `spine mcp`."""

    def __init__(self, cli, *options, is_unread=False):
        self.process = subprocess.Popen(
            [str(binary()), "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=cli.env(), cwd=cli.home,
        )
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self.read, args=(self.process.stderr, self.errors.append), daemon=True).start()
        if not is_unread:
            self.begin_to_read()

    def begin_to_read(self):
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines.put), daemon=True).start()

    @staticmethod
    def read(stream, take):
        for line in stream:
            take(line)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        assert b"Sanitizer" not in b"".join(self.errors), b"".join(self.errors).decode()

    def write(self, data):
        os.write(self.process.stdin.fileno(), data) if len(data) < 4096 else self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages):
        for message in messages:
            self.write(json.dumps(message).encode() + b"\n")

    def next(self):
        line = self.lines.get(timeout=PATIENCE_S)
        assert line.endswith(b"\n")
        return json.loads(line)

    def ask(self, message):
        self.send(message)
        answer = self.next()
        assert answer["id"] == message["id"], answer
        return answer

    def is_silent(self):
        return self.lines.empty()

    def initialize(self, version="2025-11-25"):
        answer = self.ask(request("init", "initialize", protocolVersion=version, capabilities={}, clientInfo={}))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def end(self):
        """Closes its input, and waits for its end. Returns the exit code and how long that took."""
        begin = time.monotonic()
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S), time.monotonic() - begin

    def stderr(self):
        return b"".join(self.errors).decode()
