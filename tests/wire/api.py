"""Speaking HTTP to the server as a stranger would: with the standard library, and by the protocol document alone."""

import http.client
import json
import socket
import time

TIMEOUT_S = 60
PROBLEM_MEMBERS = {"type", "title", "status", "code", "field", "detail", "retryable"}
RETRYABLE = ("overloaded", "draining", "store_full", "request_timeout", "ack_timeout", "circuit_open", "no_owner")
MEMORY_MEMBERS = [
    "id", "version", "state", "content", "summary", "kind", "tags", "importance", "agent", "task", "pinned", "trust",
    "metadata", "origin",
    "expires_at", "supersedes", "superseded_by", "digest", "created_at", "updated_at",
]


class Answer:
    def __init__(self, status, headers, data):
        self.status = status
        self.headers = headers
        self.data = data

    @property
    def json(self):
        return json.loads(self.data)

    def __repr__(self):
        return f"{self.status} {dict(self.headers)} {self.data[:2000]!r}"


class Api:
    """One kept-alive connection, and the space that its requests are about."""

    def __init__(self, address, space="default"):
        self.address = address
        self.space = space
        self.connection = http.client.HTTPConnection(*address, timeout=TIMEOUT_S)

    def close(self):
        self.connection.close()

    def call(self, method, path, body=None, headers=None):
        """body: what json.dumps takes, or bytes as they are. Headers with None are left out."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        sent = {"Spine-Space": self.space}
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        self.connection.request(method, path, data, {name: value for name, value in sent.items() if value is not None})
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())

    def ok(self, method, path, body=None, headers=None, status=200):
        answer = self.call(method, path, body, headers)
        assert answer.status == status, answer
        assert answer.headers["Content-Type"] == "application/json", answer
        return answer.json

    def refused(self, status, code, method, path, body=None, headers=None, field=None):
        """The request is refused with this status and code; returns the problem."""
        return check_problem(self.call(method, path, body, headers), status, code, field)

    def store(self, content="something to remember", headers=None, **fields):
        return self.ok("POST", "/v1/memories", {"content": content, **fields}, headers, 201)

    def get(self, memory_id):
        return self.ok("GET", f"/v1/memories/{memory_id}")

    def patch(self, memory_id, headers=None, **fields):
        return self.ok("PATCH", f"/v1/memories/{memory_id}", fields, headers)

    def forget(self, memory_id):
        return self.ok("DELETE", f"/v1/memories/{memory_id}")

    def list(self, query=""):
        return self.ok("GET", "/v1/memories" + (f"?{query}" if query else ""))

    def ids(self, query=""):
        return [memory["id"] for memory in self.list(query)["memories"]]

    def count(self):
        return self.ok("GET", "/v1/status")["memories"]


def check_problem(answer, status, code, field=None):
    """An RFC 9457 document, with everything that the protocol says about it."""
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json", answer
    problem = answer.json
    assert problem["code"] == code, problem
    assert problem["status"] == status
    assert problem["type"] == "about:blank"
    assert problem["title"] == http.client.responses.get(status, problem["title"]) or status in (413, 414, 422), problem
    assert isinstance(problem["detail"], str) and problem["detail"], problem
    assert problem["retryable"] is (code in RETRYABLE), problem
    if field is not None:
        assert problem.get("field") == field, problem
    return problem


def raw(address, data, until_closed=True):
    """Sends bytes as they are and returns all that comes back."""
    with socket.create_connection(address, timeout=TIMEOUT_S) as peer:
        peer.sendall(data)
        return read_all(peer) if until_closed else peer.recv(65536)


def read_all(peer):
    received = b""
    while chunk := peer.recv(65536):
        received += chunk
    return received


def parse_raw(data):
    """The first answer in these bytes."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = http.client.HTTPMessage()
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name] = value.strip()
    return Answer(int(lines[0].split(" ")[1]), headers, body)


def wait_until(condition, what, seconds=30):
    """Waits for a condition, never for a time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.001)
    raise AssertionError(f"after {seconds} s not yet: {what}")
