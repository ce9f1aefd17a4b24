"""What the tests of the event stream share: a reader by the rules of server-sent events, and everything that can be written."""

import json
import socket

from api import TIMEOUT_S, parse_raw
from certificates import over_tls

PREFIX = "com.memoryspine."


class Ended(Exception):
    """The server has ended the stream, or the connection."""


class Events:
    """An open stream of events. `last_id` is what a client would send to resume."""

    def __init__(self, address, space="default", query="", headers=None, receive_bytes=None):
        self.socket = socket.socket()
        self.socket.settimeout(TIMEOUT_S)
        if receive_bytes:  # otherwise the system takes megabytes for a reader that does not read
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.connect(address)
        self.socket = over_tls(self.socket)
        lines = [f"GET /v1/events{query} HTTP/1.1", "Host: localhost", f"Spine-Space: {space}", "Accept: text/event-stream"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.raw = self.text = b""
        self.last_id = None
        head = self._until(b"\r\n\r\n")
        self.answer = parse_raw(head + b"\r\n\r\n")

    def _more(self):
        try:
            chunk = self.socket.recv(65536)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise Ended
        self.raw += chunk

    def _until(self, mark):
        while mark not in self.raw:
            self._more()
        part, _, self.raw = self.raw.partition(mark)
        return part

    def _chunk(self):
        size = int(self._until(b"\r\n"), 16)
        if size == 0:
            raise Ended
        while len(self.raw) < size + 2:
            self._more()
        self.text += self.raw[:size]
        self.raw = self.raw[size + 2:]

    def begin(self):
        """Reads the first block: the stream stands, and its position is known."""
        assert self.answer.status == 200, self.answer
        while b"\n\n" not in self.text:
            self._chunk()
        block, _, self.text = self.text.partition(b"\n\n")
        assert self._take(block) is None
        return self

    def _take(self, block):
        data = None
        for line in block.decode().split("\n"):
            name, _, value = line.partition(": ")
            if name == "id":
                self.last_id = value
            elif name == "data":
                assert data is None
                data = json.loads(value)
            else:
                assert line.startswith(":") or name == "retry", line
        return data

    def block(self):
        """The next block as it is, a heartbeat, too."""
        while b"\n\n" not in self.text:
            self._chunk()
        block, _, self.text = self.text.partition(b"\n\n")
        return block.decode()

    def next(self):
        """The next event; comments and heartbeats are passed over."""
        while True:
            while b"\n\n" not in self.text:
                self._chunk()
            block, _, self.text = self.text.partition(b"\n\n")
            event = self._take(block)
            if event is not None:
                assert event["id"] == self.last_id
                return event

    def take(self, count):
        return [self.next() for _ in range(count)]

    def until(self, name):
        """Everything up to the first event of that type, short types."""
        seen = []
        while not seen or seen[-1] != name:
            seen.append(kind(self.next()))
        return seen

    def close(self):
        self.socket.close()


def kind(event):
    assert event["type"].startswith(PREFIX), event
    return event["type"].removeprefix(PREFIX)


def write_everything(desk):
    """Every write that there is, once at least; returns the actions that must be found in the audit trail."""
    me = {"Spine-Agent": "auditor"}
    first = desk.store("one", me)
    desk.store("two", me, supersedes=first["id"])
    desk.ok("POST", "/v1/memories/batch", {"memories": [{"content": str(n)} for n in range(5)]}, me, 201)
    desk.patch("ms-2", me, content="changed")
    desk.ok("POST", "/v1/memories/ms-2/pin", None, me)
    desk.ok("POST", "/v1/memories/ms-2/unpin", None, me)
    desk.ok("POST", "/v1/memories/ms-2/revert", {"version": 1}, me)
    desk.ok("PUT", "/v1/space", {"guard": "off"}, me)
    desk.ok("PUT", "/v1/agents/worker", {"max_attempts": 1}, me)
    desk.ok("PUT", "/v1/routes/next", {"from": "sender", "to": "worker"}, me)
    assert desk.call("DELETE", "/v1/routes/next", None, me).status == 204
    envelope = desk.pack(refs=["ms-3", "ms-99"], strategy="lazy")
    desk.ok("POST", f"/v1/envelopes/{envelope}/resolve", {"ids": ["ms-3"]}, me)
    handoff = desk.deliver(envelope, 202).json
    taken = desk.take()
    desk.settle("progress", taken, note="halfway")
    desk.settle("need", taken, refs=["ms-4"])
    desk.settle("complete", taken, result=1)
    desk.ok("PUT", "/v1/channels/news", {"description": "d"}, me)
    desk.ok("PUT", "/v1/channels/news/subscribers/reader", None, me)
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": desk.pack("reader")}, me)
    desk.ok("DELETE", "/v1/channels/news/subscribers/reader", None, me)
    desk.settle("ack", desk.take("reader"))
    desk.send("worker")
    desk.settle("nack", desk.take(), reason="no")  # its only attempt: parked
    parked = desk.parked()[0]["id"]
    desk.ok("POST", f"/v1/parked/{parked}/redrive", {"by": "auditor"})
    desk.settle("reject", desk.take(), reason="never")
    desk.ok("POST", f"/v1/parked/{parked}/reroute", {"to": "other", "by": "auditor"})
    desk.settle("reject", desk.take("other"), reason="neither")
    desk.ok("POST", f"/v1/parked/{parked}/discard", {"why": "enough", "by": "auditor"})
    desk.ok("POST", "/v1/agents/worker/reset", None, me)
    desk.ok("DELETE", "/v1/memories/ms-2", None, me)
    assert handoff["id"] == taken["id"]
    return {
        "memory.store", "memory.supersede", "memory.update", "memory.pin", "memory.unpin", "memory.revert", "memory.forget", "space.set",
        "agent.set", "route.set", "route.delete", "envelope.pack", "envelope.resolve", "handoff.send", "handoff.receive",
        "handoff.progress", "handoff.ack", "handoff.complete", "handoff.nack", "handoff.reject", "handoff.park", "handoff.redrive",
        "handoff.reroute", "handoff.discard", "channel.set", "channel.subscribe", "channel.publish", "channel.unsubscribe", "breaker.reset",
    }
