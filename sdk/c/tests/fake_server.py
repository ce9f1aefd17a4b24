"""A server that sends what it is told to, byte by byte, whatever it is asked."""

import socket
import threading


class FakeServer:
    """Runs `answer(connection, number)` for each request that came; number counts from 1. `sent` counts bytes."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.sent = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                request = _read_request(connection)
                if request:
                    self.requests.append(request)
                    self.answer(_Counted(self, connection), len(self.requests))
            except OSError:
                pass  # the client has had enough


class _Counted:
    """The connection, with what was sent on it counted."""

    def __init__(self, server, connection):
        self._server = server
        self._connection = connection

    def send(self, data):
        self._connection.sendall(data)
        self._server.sent += len(data)


def _read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def reply(body, status="200 OK", *headers):
    """A whole answer that ends the connection."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/json", "Connection: close"]
    return "\r\n".join([*lines, *headers]).encode() + b"\r\n\r\n" + body
