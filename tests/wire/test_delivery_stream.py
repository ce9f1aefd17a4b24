"""GET /v1/agents/{agent}/stream: server-sent events, one handoff after the other."""

import json
import socket

import pytest
from api import TIMEOUT_S, wait_until
from delivery import Desk


class Stream:
    """A reader of the stream: events(…) as they come."""

    def __init__(self, desk, agent="worker", query="format=none"):
        self.socket = socket.create_connection(desk.address, timeout=TIMEOUT_S)
        self.socket.sendall(f"GET /v1/agents/{agent}/stream?{query} HTTP/1.1\r\nHost: localhost\r\nSpine-Space: {desk.space}\r\n\r\n".encode())
        self.raw = b""
        self.text = b""
        head = self._until(b"\r\n\r\n")
        self.status = int(head.split(b" ")[1])
        self.head = head.decode().lower()

    def _until(self, mark):
        while mark not in self.raw:
            self._more()
        part, _, self.raw = self.raw.partition(mark)
        return part

    def _more(self):
        chunk = self.socket.recv(65536)
        assert chunk, "the stream has ended"
        self.raw += chunk

    def _chunk(self):
        size = int(self._until(b"\r\n"), 16)
        while len(self.raw) < size + 2:
            self._more()
        self.text += self.raw[:size]
        self.raw = self.raw[size + 2:]
        return size

    def event(self):
        """The next event: its name, id and data. Comments are passed over."""
        while True:
            while b"\n\n" not in self.text:
                assert self._chunk() > 0, "the stream has ended"
            block, _, self.text = self.text.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if not line.startswith(":"))
            if fields:
                return fields["event"], fields.get("id"), json.loads(fields["data"])

    def handoff(self):
        name, lease, data = self.event()
        assert name == "handoff" and lease == data["lease"]
        return data

    def close(self):
        self.socket.close()


@pytest.fixture
def stream(desk):
    opened = []

    def begin(agent="worker", query="format=none"):
        opened.append(Stream(desk, agent, query))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def test_handoffs_come_as_events_with_their_lease_as_the_id(desk, stream):
    events = stream(query="")
    assert events.status == 200 and "text/event-stream" in events.head
    sent = desk.send()
    got = events.handoff()
    assert (got["id"], got["state"], got["lease"]) == (sent["id"], "leased", f"{sent['id']}.1")
    assert got["envelope"]["id"] == sent["envelope_id"] and got["prompt"]
    desk.settle("ack", got)


def test_what_was_there_before_comes_too_in_order(desk, stream):
    sent = [desk.send()["id"] for _ in range(3)]
    events = stream()
    for expected in sent:
        got = events.handoff()
        assert got["id"] == expected
        desk.settle("ack", got)


@pytest.mark.parametrize("verb, fields", [("ack", {}), ("complete", {"result": 1}), ("nack", {"delay_s": 3600}), ("reject", {})])
def test_the_next_one_comes_when_the_last_is_settled_whichever_way(desk, stream, verb, fields):
    first, second = desk.send(), desk.send()
    events = stream()
    got = events.handoff()
    assert got["id"] == first["id"]
    assert desk.state(second) == "queued", "the next one was given before the first was settled"
    desk.settle(verb, got, **fields)
    assert events.handoff()["id"] == second["id"]


def test_what_is_nacked_comes_again(desk, stream):
    desk.send()
    events = stream()
    got = events.handoff()
    desk.settle("nack", got, reason="x", delay_s=0)
    again = events.handoff()
    assert (again["id"], again["attempt"], again["redelivered"]) == (got["id"], 2, True)
    desk.settle("nack", again, reason="x", delay_s=0.05)
    assert events.handoff()["attempt"] == 3


def test_a_lease_that_runs_out_sets_the_stream_free(desk, stream):
    desk.send(max_attempts=1)
    events = stream(query="format=none&lease_s=0.05")
    events.handoff()
    second = desk.send()
    assert events.handoff()["id"] == second["id"]


def test_streams_and_receivers_share_the_queue(desk, stream, poll):
    events = stream()
    desk.wait_for_waiters(1)
    receiver = poll()
    first, second = desk.send(), desk.send()
    assert events.handoff()["id"] == first["id"]
    assert receiver.handoffs[0]["id"] == second["id"]


def test_the_instance_is_told(desk, stream):
    events = stream(query="format=none&instance=laptop-7")
    desk.send()
    assert events.handoff()["receiver"] == "laptop-7"


def test_a_stream_that_goes_away_while_it_waits_is_given_nothing(desk, stream):
    events = stream()
    desk.wait_for_waiters(1)
    events.close()
    wait_until(lambda: desk.waiting() == 0, "the server has seen that it has gone")
    handoff = desk.send()
    assert desk.events(handoff) == ["queued"]


def test_what_a_stream_had_when_it_went_away_stays_its_own_until_the_lease_ends(desk, stream):
    """It may have begun the work: it can still settle it over another connection."""
    handoff = desk.send()
    events = stream()
    got = events.handoff()
    events.close()
    wait_until(desk.is_alone, "the server has seen that it has gone")
    assert desk.receive() == []
    assert desk.settle("ack", got)["id"] == handoff["id"]


@pytest.mark.parametrize("query, field", [("format=xml", "format"), ("lease_s=0", "lease_s"), ("lease_s=x", "lease_s"), ("lease_s=86401", "lease_s"),
                                          ("instance=", "instance"), ("instance=" + "x" * 129, "instance"), ("lease_s=", "lease_s")])
def test_bad_input_is_refused_before_the_stream_begins(desk, query, field):
    answer = desk.call("GET", f"/v1/agents/worker/stream?{query}")
    assert answer.status == 422 and answer.json["field"] == field, answer


def test_head_of_the_stream_takes_nothing(desk):
    handoff = desk.send()
    answer = desk.call("HEAD", "/v1/agents/worker/stream")
    assert answer.status == 405
    assert desk.state(handoff) == "queued"


def test_an_idle_stream_says_that_it_is_there_and_still_hands_out(start):
    server = start("--heartbeat", "50ms").wait_until_ready()
    desk = Desk(server.address, "default")
    events = Stream(desk)
    while b": still here\n\n" not in events.text:
        events._chunk()
    handoff = desk.send()
    assert events.handoff()["id"] == handoff["id"]
    events.close()
    desk.close()
