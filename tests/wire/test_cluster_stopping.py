"""A node that stops: what it had passed on to another gets the answer that is true, and what moves away from it is found."""

import contextlib
import http.client
import json
import os
import signal
import socket
import threading
import time

import pytest
from api import wait_until
from cluster import NEEDS_POSTGRES, Waiting, contents, log_of, pack, receiver, space_of, wait_for_each_other, waiting_at
from mcp import LEGACY, Mcp

pytestmark = NEEDS_POSTGRES


@pytest.fixture
def two(join):
    """The owner of a space, the node that passes requests for it on, and the name of the space."""
    owner, entry = join(), join("--drain-timeout", "4s")
    wait_for_each_other([owner, entry])
    return owner, entry, space_of(owner, [owner, entry])


class Stopping(threading.Thread):
    """Ends a node. `code` when it has ended."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node = node
        self.start()
        wait_until(lambda: not self.listens(), "it takes no connections any more")

    def listens(self):
        with contextlib.suppress(OSError), socket.create_connection(self.node.address, 1):
            return True
        return False

    def run(self):
        self.code = self.node.server.terminate()

    def result(self):
        self.join(60)
        return self.code


class Asking(threading.Thread):
    """Writes and reads, one after the other, until it is told to stop."""

    def __init__(self, node, space, number):
        super().__init__(daemon=True)
        self.node, self.space, self.number = node, space, number
        self.answers, self.is_over = [], False
        self.start()

    def run(self):
        while not self.is_over:
            text = f"{self.number}-{len(self.answers)}"
            self.answers.append(self.node.ask("POST", "/v1/memories", {"content": text}, space=self.space,
                                              headers={"Idempotency-Key": text}))
            self.answers.append(self.node.ask("GET", "/v1/memories?page_size=1", space=self.space))

    def result(self):
        self.is_over = True
        self.join(60)
        return self.answers


@contextlib.contextmanager
def paused(node):
    os.kill(node.server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(node.server.process.pid, signal.SIGCONT)


def failures(node):
    return [line["msg"] for line in log_of(node) if "passed on" in line["msg"]]


def test_what_waits_through_a_node_that_stops_ends_as_on_a_server_that_stops(two):
    owner, entry, space = two
    owner.insist("PUT", "/v1/channels/news/subscribers/reader", space=space)
    envelope = pack(owner, space)
    owner.insist("POST", "/v1/channels/news/publish", {"envelope_id": envelope}, space=space)
    receiving = receiver(entry, space, 60)
    joining = Waiting(entry, "POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 60}, space)
    sending = Waiting(entry, "POST", "/v1/handoffs", {"envelope_id": pack(owner, space, "other"), "wait_s": 60}, space,
                      headers={"Idempotency-Key": "its-key"})
    wait_until(lambda: waiting_at(owner) == 3, "all of them wait at the owner")
    began = time.monotonic()
    assert entry.server.terminate() == 0
    assert time.monotonic() - began < 3, "nothing was waited for in vain"
    received, joined, sent = receiving.result(), joining.result(), sending.result()
    assert (received.status, received.json["handoffs"]) == (200, []), received
    assert (joined.status, joined.json["state"]) == (200, "waiting"), joined
    assert (sent.status, sent.json["code"], sent.json["retryable"]) == (503, "draining", True), sent
    assert sent.json["detail"] == ("the server that was asked is stopping; the handoff is kept: deliver it again through "
                                   "another one, with the same Idempotency-Key, and it goes on")
    assert owner.insist("GET", f"/v1/handoffs/{sent.json['handoff']}", space=space).json["state"] == "queued"
    assert failures(entry) == []


def test_streams_through_a_node_that_stops_end(two):
    owner, entry, space = two
    streams = []
    for path in ("/v1/events", "/v1/agents/worker/stream"):
        connection = http.client.HTTPConnection(*entry.address, timeout=60)
        connection.request("GET", path, headers={"Spine-Space": space})
        streams.append(connection.getresponse())
        assert streams[-1].status == 200 and streams[-1].readline()
    began = time.monotonic()
    assert entry.server.terminate() == 0
    for stream in streams:
        stream.read()  # raises where it does not end as it should
    assert time.monotonic() - began < 3


def test_a_tool_that_waits_through_a_node_that_stops_answers(two):
    owner, entry, space = two
    client = Mcp(entry.address, space, "worker", LEGACY)
    client.initialize()
    told = []
    call = threading.Thread(target=lambda: told.append(client.tool("handoff_receive", wait_s=50)), daemon=True)
    call.start()
    wait_until(lambda: waiting_at(owner) == 1, "it waits at the owner")
    assert entry.server.terminate() == 0
    call.join(30)
    assert told and told[0]["handoffs"] == [], told


def test_a_write_that_takes_long_is_answered_by_a_node_that_stops(two):
    owner, entry, space = two
    with paused(owner):
        writing = Waiting(entry, "POST", "/v1/memories", {"content": "slow"}, space)
        wait_until(lambda: "established" in sockets(entry, owner), "it is on its way to the owner")
        stopping = Stopping(entry)
        time.sleep(1.5)  # longer than what is short for it
        assert writing.answer is None
    assert writing.result().status == 201
    assert stopping.result() == 0
    assert contents(owner, space) == ["slow"]


def sockets(entry, owner):
    """The states of the connections that a node has to another."""
    port, states = f"{owner.address[1]:04X}", {"01": "established"}
    lines = open(f"/proc/{entry.server.process.pid}/net/tcp").read().splitlines()[1:]
    inodes = set()
    for name in os.listdir(f"/proc/{entry.server.process.pid}/fd"):
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(f"/proc/{entry.server.process.pid}/fd/{name}").removeprefix("socket:[").rstrip("]"))
    fields = [line.split() for line in lines]
    return {states.get(field[3]) for field in fields if field[2].endswith(":" + port) and field[9] in inodes}


def test_what_a_node_that_stops_has_to_cut_is_told_so(join):
    owner, entry = join(), join("--drain-timeout", "500ms")
    wait_for_each_other([owner, entry])
    space = space_of(owner, [owner, entry])
    with paused(owner):
        calls = [Waiting(entry, "POST", "/v1/memories", {"content": "slow"}, space),
                 Waiting(entry, "POST", "/v1/memories", {"content": "slow"}, space, headers={"Idempotency-Key": "its-key"}),
                 Waiting(entry, "GET", "/v1/memories", None, space)]
        wait_until(lambda: "established" in sockets(entry, owner), "they are on their way to the owner")
        stopping = Stopping(entry)
        unknown, known, read = [call.result() for call in calls]
    assert stopping.result() == 0
    assert (unknown.status, unknown.json["code"], unknown.json["retryable"]) == (500, "outcome_unknown", False), unknown
    assert (known.status, known.json["code"], known.json["retryable"]) == (503, "draining", True), known
    assert (read.status, read.json["code"]) == (503, "draining"), read
    for answer in (unknown, known, read):
        assert answer.json["detail"].startswith("this server is stopping, and the node that owns the space has not answered"), answer
    assert set(failures(entry)) == {"a request that was passed on had no answer yet"}


def test_requests_through_other_nodes_do_not_notice_that_the_owner_stops(join):
    nodes = [join() for _ in range(3)]
    wait_for_each_other(nodes)
    owner, *others = nodes
    space = space_of(owner, nodes)
    asking = [Asking(others[number % 2], space, number) for number in range(6)]
    wait_until(lambda: all(one.answers for one in asking), "all of them ask")
    assert owner.server.terminate() == 0
    before = [len(one.answers) for one in asking]
    wait_until(lambda: all(len(one.answers) > count + 2 for one, count in zip(asking, before, strict=True)), "and go on")
    answers = [answer for one in asking for answer in one.result()]
    assert [answer for answer in answers if answer.status not in (200, 201)] == []
    assert not any("Spine-Undone" in answer.headers for answer in answers)
    assert {answer.headers["Spine-Owner"] for answer in answers[-2:]} <= {node.url for node in others}
    assert len(contents(others[0], space)) == sum(answer.status == 201 for answer in answers)


def test_a_node_that_takes_no_connections_is_soon_told(join):
    """One that has just stopped is looked for a moment; one that is dead is not waited for."""
    owner, entry = join(), join()
    wait_for_each_other([owner, entry])
    space = space_of(owner, [owner, entry])
    owner.server.process.kill()
    owner.server.process.wait()
    began = time.monotonic()
    refused = entry.ask("POST", "/v1/memories", {"content": "x"}, space=space)
    assert (refused.status, refused.json["code"]) == (503, "no_owner"), refused
    assert refused.json["detail"] == ("the node that owns the space cannot be reached; nothing was done: "
                                      "ask again in a moment")
    assert time.monotonic() - began < 2
