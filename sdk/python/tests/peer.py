"""A server that misbehaves as told: one script a connection, in the order in which the connections come."""

import json
import socket
import struct
import threading


class Channel:
    """The server's end of one connection."""

    def __init__(self, sock, peer):
        self._sock = sock
        self._file = sock.makefile("rb")
        self.peer = peer

    def read_head(self):
        """The head of one request: (method, target, headers). None where the client has closed."""
        line = self._file.readline()
        if not line:
            return None
        method, target, _ = line.decode().split()
        headers = {}
        while True:
            line = self._file.readline().decode().rstrip("\r\n")
            if not line:
                break
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return method, target, headers

    def read(self):
        """One request: (method, target, headers, body). None where the client has closed."""
        head = self.read_head()
        if head is None:
            return None
        request = (*head, self._file.read(int(head[2].get("content-length", 0))))
        self.peer.requests.append(request)
        return request

    def send(self, data):
        self._sock.sendall(data)

    def reply(self, status, value, *headers, length=None):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
        self.send("\r\n".join(lines).encode() + body)

    def drain(self):
        """Says that nothing more will come, and reads what the client still sends."""
        self._sock.shutdown(socket.SHUT_WR)
        while self._file.read(1 << 20):
            pass

    def reset(self):
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self._file.close()
        self._sock.close()


class Peer:
    """Runs script N on connection N, the last one also on all that follow. A connection ends with its script."""

    def __init__(self, *scripts):
        self.requests = []
        self.connections = 0
        self._scripts = scripts
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            script = self._scripts[min(self.connections, len(self._scripts) - 1)]
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(script, Channel(sock, self)), daemon=True)
            self._threads.append(thread)
            thread.start()

    @staticmethod
    def _serve(script, channel):
        try:
            script(channel)
        except OSError:
            pass
        finally:
            channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


MEMORY = {
    "id": "ms-1",
    "version": 1,
    "state": "active",
    "content": "text",
    "summary": None,
    "kind": "note",
    "tags": ["a"],
    "importance": "medium",
    "agent": None,
    "task": None,
    "pinned": False,
    "trust": "agent",
    "metadata": {},
    "expires_at": None,
    "supersedes": None,
    "superseded_by": None,
    "digest": "sha256:00",
    "created_at": "2026-01-30T00:00:00.000Z",
    "updated_at": "2026-01-30T00:00:00.000Z",
}


def answering(channel):
    """The script of a server that always answers with a memory."""
    while channel.read():
        channel.reply(200, MEMORY)
