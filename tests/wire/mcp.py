"""Speaking MCP to the server as a stranger would: both generations, with the standard library."""

import http.client
import itertools
import json
import socket
import threading

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
TIMEOUT_S = 60
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "tasks/get": "taskId",
            "tasks/cancel": "taskId", "tasks/update": "taskId"}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.type = (response.headers["Content-Type"] or "").split(";")[0]
        self.data = response.read()

    @property
    def messages(self):
        """All messages of the reply, the answer last."""
        if self.type == "text/event-stream":
            return [json.loads(line[6:]) for line in self.data.decode().split("\n") if line.startswith("data: ")]
        return [json.loads(self.data)]

    @property
    def json(self):
        return self.messages[-1]

    def __repr__(self):
        return f"{self.status} {dict(self.headers)} {self.data[:2000]!r}"


class Mcp:
    """A client of either generation, in a space of its own. agent: what its connection says who it is."""

    def __init__(self, address, space, agent=None, version=MODERN, capabilities=None):
        self.address = address
        self.space = space
        self.agent = agent
        self.version = version
        self.capabilities = capabilities or {}
        self.session = None
        self.ids = itertools.count(1)

    @property
    def is_modern(self):
        return self.version == MODERN

    def headers(self, method, params):
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                "Spine-Space": self.space, "MCP-Protocol-Version": self.version}
        if self.agent:
            sent["Spine-Agent"] = self.agent
        if self.session:
            sent["Mcp-Session-Id"] = self.session
        if self.is_modern:
            sent["Mcp-Method"] = method
            if NAMED_BY.get(method) in params:
                sent["Mcp-Name"] = params[NAMED_BY[method]]
        return sent

    def message(self, method, params, meta=None, **more):
        params = dict(params)
        if self.is_modern:
            params["_meta"] = {VERSION_KEY: self.version, CAPABILITIES_KEY: self.capabilities, **(meta or {})}
        elif meta:
            params["_meta"] = meta
        return {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params, **more}

    def send(self, body, headers, method="POST"):
        """body: what json.dumps takes, or bytes as they are. Headers with None are left out."""
        connection = http.client.HTTPConnection(*self.address, timeout=TIMEOUT_S)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, "/mcp", data, {k: v for k, v in headers.items() if v is not None})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def call(self, method, params=None, meta=None, headers=None):
        params = params or {}
        return self.send(self.message(method, params, meta), {**self.headers(method, params), **(headers or {})})

    def ok(self, method, params=None, meta=None, headers=None):
        answer = self.call(method, params, meta, headers)
        assert answer.status == 200 and "result" in answer.json, answer
        result = answer.json["result"]
        assert ("resultType" in result) == self.is_modern, answer
        return result

    def refused(self, code, method, params=None, status=200, meta=None, headers=None):
        answer = self.call(method, params, meta, headers)
        assert answer.status == status and answer.json["error"]["code"] == code, answer
        return answer.json["error"]

    def initialize(self):
        answer = self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": self.version, "capabilities": self.capabilities,
            "clientInfo": {"name": "test", "version": "1"}}}, {**self.headers("initialize", {}),
                                                              "MCP-Protocol-Version": None})
        assert answer.status == 200, answer
        self.session = answer.headers["Mcp-Session-Id"]
        return answer.json["result"]

    def tool(self, tool_name, /, **arguments):
        """The structured answer of a tool that succeeds."""
        result = self.ok("tools/call", {"name": tool_name, "arguments": arguments})
        assert not result.get("isError"), result
        return result["structuredContent"]

    def tool_error(self, tool_name, /, **arguments):
        """The text that a model reads of a tool that fails."""
        result = self.ok("tools/call", {"name": tool_name, "arguments": arguments})
        assert result["isError"] is True and "structuredContent" not in result, result
        return result["content"][0]["text"]


class Stream:
    """A reply that is a stream, read by a thread; next() waits for the next message."""

    def __init__(self, client, method, params=None, http_method="POST", meta=None):
        self.connection = http.client.HTTPConnection(*client.address, timeout=TIMEOUT_S)
        params = params or {}
        body = json.dumps(client.message(method, params, meta)).encode() if http_method == "POST" else None
        headers = client.headers(method, params).items()
        self.connection.request(http_method, "/mcp", body, {name: value for name, value in headers if value is not None})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.messages = []
        self.changed = threading.Condition()
        self.is_over = False
        self.taken = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for line in self.response:
                if line.startswith(b"data: "):
                    with self.changed:
                        self.messages.append(json.loads(line[6:]))
                        self.changed.notify_all()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def next(self, timeout_s=30):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.messages) > self.taken or self.is_over, timeout_s), "nothing came"
            assert len(self.messages) > self.taken, "the stream has ended"
            self.taken += 1
            return self.messages[self.taken - 1]

    def close(self):
        try:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass
        self.connection.close()
