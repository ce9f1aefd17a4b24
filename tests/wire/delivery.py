"""What the tests of delivery share: sending, receiving and settling in one line each, and calls that wait in the
background. Nothing here sleeps: where a test needs time to pass, it long-polls for what time brings."""

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from datetime import datetime

from api import TIMEOUT_S, Answer, Api, parse_raw, wait_until


def at(text):
    """A time of the wire in seconds."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def waiting_calls(metrics):
    """How many calls wait, by the text of /metrics. A node has a line for each of its shards."""
    return sum(map(int, re.findall(r"^spine_waiting_calls(?:{.*})? (\d+)$", metrics, re.MULTILINE)))


class Desk(Api):
    """A connection that hands work over and takes it."""

    def pack(self, to="worker", summary="do the work", **fields):
        body = {"from": "sender", "target_agent": to, "task_summary": summary, "include_recent": 0, **fields}
        return self.ok("POST", "/v1/envelopes", body, status=201)["id"]

    def deliver(self, envelope, status=None, headers=None, **fields):
        answer = self.call("POST", "/v1/handoffs", {"envelope_id": envelope, **fields}, headers)
        assert status is None or answer.status == status, answer
        return answer

    def send(self, to="worker", **fields):
        """Packs and delivers; the handoff."""
        return self.deliver(self.pack(to), 202, **fields).json

    def receive(self, agent="worker", **fields):
        return self.ok("POST", f"/v1/agents/{agent}/receive", {"format": "none", **fields})["handoffs"]

    def take(self, agent="worker", wait_s=10, **fields):
        """The next one, which must come."""
        got = self.receive(agent, wait_s=wait_s, **fields)
        assert len(got) == 1, f"nothing came within {wait_s} s"
        return got[0]

    def settle(self, verb, handoff, status=200, lease=None, **fields):
        body = {"lease": lease or handoff["lease"], **fields}
        answer = self.call("POST", f"/v1/handoffs/{handoff['id']}/{verb}", body)
        assert answer.status == status, answer
        return answer.json

    def look(self, handoff):
        return self.ok("GET", f"/v1/handoffs/{handoff['id'] if isinstance(handoff, dict) else handoff}")

    def state(self, handoff):
        return self.look(handoff)["state"]

    def events(self, handoff):
        return [event["event"].removeprefix("handoff.") for event in self.look(handoff)["events"]]

    def agent(self, name="worker"):
        return self.ok("GET", f"/v1/agents/{name}")

    def parked(self):
        return self.ok("GET", "/v1/parked")["parked"]

    def waiting(self):
        """How many calls of all spaces wait; each is counted from the commit of its waiting on."""
        return waiting_calls(self.call("GET", "/metrics").data.decode())

    def is_alone(self):
        """No other request is being served, waiting or not."""
        return self.ok("GET", "/v1/status")["http"]["requests_active"] == 1

    def wait_for_waiters(self, count):
        wait_until(lambda: self.waiting() >= count, f"{count} calls wait")

    def everything(self):
        """All that can be read about handoffs, to see that nothing has changed."""
        pages = [self.call("GET", path).data for path in ("/v1/handoffs", "/v1/parked", "/v1/channels", "/v1/routes")]
        for handoff in json.loads(pages[0])["handoffs"]:
            pages.append(self.call("GET", f"/v1/handoffs/{handoff['id']}").data)
        return pages


class Background(threading.Thread):
    """A call on a connection of its own, which may wait."""

    def __init__(self, address, space, method, path, body, headers=None):
        super().__init__(daemon=True)
        self.api = Api(address, space)
        self.request = (method, path, body, headers)
        self.answer = self.error = None
        self.seconds = 0.0
        self.ended_at = 0.0
        self.start()

    def run(self):
        began = time.monotonic()
        try:
            self.answer = self.api.call(*self.request)
        except (OSError, http.client.HTTPException) as error:
            self.error = error
        finally:
            self.ended_at = time.monotonic()
            self.seconds = self.ended_at - began
            self.api.close()

    def abandon(self):
        """The client vanishes, if it is not answered yet."""
        open_socket = self.api.connection.sock
        if self.is_alive() and open_socket:
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)

    def result(self, status=None):
        self.join(TIMEOUT_S)
        assert self.answer is not None, f"no answer: {self.error}"
        assert status is None or self.answer.status == status, self.answer
        return self.answer

    @property
    def handoffs(self):
        return self.result(200).json["handoffs"]


class RawCall:
    """A request whose client may vanish before it reads the answer."""

    def __init__(self, address, space, path, body):
        data = json.dumps(body).encode()
        self.socket = socket.create_connection(address, timeout=TIMEOUT_S)
        self.socket.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nSpine-Space: %s\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (path.encode(), space.encode(), len(data), data))

    def vanish(self):
        self.socket.close()

    def answer(self) -> Answer:
        received = b""
        while b"\r\n\r\n" not in received or len(parse_raw(received).data) < int(parse_raw(received).headers["Content-Length"]):
            chunk = self.socket.recv(65536)
            assert chunk, "the connection was closed"
            received += chunk
        return parse_raw(received)
