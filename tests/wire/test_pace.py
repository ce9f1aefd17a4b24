"""Refusals of who asks again at once are held back for a moment: it asks less often, and nobody else waits.

A refusal by a quota takes HELD_MS or longer, whatever asks for it. Without a key that counts it does from the seventeenth in a row on.
"""

import http.client
import signal
import socket
import statistics
import threading
import time

import pytest

import certificates
from api import Api, parse_raw, wait_until
from keys import Keyed, ask
from mcp import LEGACY, MODERN, Mcp

HELD_S = 0.05
FREE = 16  # refusals without a key that are told at once


@pytest.fixture
def full(connect):
    """A connection, in a space that takes no memory any more."""
    api = connect()
    api.store("the only one")
    api.ok("PUT", "/v1/space", {"quota_memories": 1})
    return api


def took(call):
    begin = time.monotonic()
    return call(), time.monotonic() - begin


def refused(api):
    answer, seconds = took(lambda: api.call("POST", "/v1/memories", {"content": "one more"}))
    assert answer.status == 429 and answer.json["code"] == "quota_exceeded", answer
    return seconds


def request_of(space, count=1):
    body = b'{"content":"one more"}'
    return (b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nSpine-Space: %s\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (space.encode(), len(body), body)) * count


def open_raw(api):
    connection = http.client.HTTPConnection(*api.address, timeout=30)
    connection.connect()
    return connection.sock


def test_a_refusal_by_a_quota_comes_a_moment_later(full):
    for _ in range(5):
        assert refused(full) >= HELD_S
    assert full.list()["memories"], "the connection goes on"


def test_what_is_accepted_or_refused_otherwise_is_answered_at_once(full):
    """The quickest of some: on a busy machine one may come late by itself."""
    for call in (lambda: full.get("ms-1"), lambda: full.call("GET", "/v1/memories/ms-99"), lambda: full.call("POST", "/v1/memories", {})):
        assert min(took(call)[1] for _ in range(20)) < HELD_S / 2


def test_other_connections_of_the_space_are_not_held_back(full, connect):
    """While eight are refused all the time."""
    stop = threading.Event()

    def hammer():
        api = Api(full.address, full.space)
        while not stop.is_set():
            refused(api)
        api.close()

    threads = [threading.Thread(target=hammer) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        same, another = connect(full.space), connect()
        for call in (lambda: same.get("ms-1"), lambda: another.list()):
            assert min(took(call)[1] for _ in range(20)) < HELD_S / 2
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_requests_sent_behind_one_another_are_each_held_back(full):
    peer, begin, data = open_raw(full), time.monotonic(), b""
    peer.sendall(request_of(full.space, 5))
    while data.count(b"quota_exceeded") < 5:
        data += peer.recv(65536)
    assert time.monotonic() - begin >= 5 * HELD_S
    peer.close()


def test_who_ends_its_side_after_the_request_is_answered(full):
    peer = open_raw(full)
    if certificates.wanted():
        pytest.skip("TLS has no end of one side")
    peer.sendall(request_of(full.space))
    peer.shutdown(socket.SHUT_WR)
    data = b""
    while chunk := peer.recv(65536):
        data += chunk
    assert parse_raw(data).status == 429
    peer.close()


@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_a_tool_that_a_quota_refuses_is_held_back(full, version):
    client = Mcp(full.address, full.space, "a", version)
    if version == LEGACY:
        client.initialize()
    for _ in range(3):
        text, seconds = took(lambda: client.tool_error("memory_store", content="one more"))
        assert text.startswith("quota_exceeded") and seconds >= HELD_S


def test_a_stream_that_a_quota_refuses_is_held_back(connect):
    api = connect()
    api.ok("PUT", "/v1/space", {"quota_waiting": 1})
    first = http.client.HTTPConnection(*api.address, timeout=30)
    first.request("GET", "/v1/agents/a/stream", headers={"Spine-Space": api.space})
    first.getresponse()
    wait_until(lambda: api.ok("GET", "/v1/space")["quotas"]["waiting"]["used"] == 1, "the first one waits")
    answer, seconds = took(lambda: api.call("GET", "/v1/agents/b/stream"))
    assert answer.status == 429 and answer.json["code"] == "quota_exceeded" and seconds >= HELD_S
    first.close()


def test_the_more_are_held_back_the_longer(full):
    """So that however many connections ask, no more than about a thousand a second are refused."""
    peers = [open_raw(full) for _ in range(300)]
    try:
        for peer in peers:
            peer.sendall(request_of(full.space))
        begin = time.monotonic()
        for peer in peers:
            assert b" 429 " in peer.recv(65536)
        assert time.monotonic() - begin > 0.15, "300 of them take a good part of 0.3 s"
        assert refused(full) < 1.5, "and those after them no longer than before"
    finally:
        for peer in peers:
            peer.close()


def test_a_client_that_goes_leaves_nothing_behind(full):
    def connections():
        return full.ok("GET", "/v1/status")["http"]["connections"]

    before = connections()
    for how in range(200):
        peer = open_raw(full)
        peer.sendall(request_of(full.space, 1 + how % 3))
        if how % 2:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
        peer.close()
    wait_until(lambda: connections() <= before, "their connections are gone")
    assert refused(full) >= HELD_S


def test_a_server_that_stops_answers_what_it_holds_back(start):
    """At once: nobody is told nothing."""
    server = start().wait_until_ready()
    api = Api(server.address, "full")
    api.store("the only one")
    api.ok("PUT", "/v1/space", {"quota_memories": 1})
    peers = [open_raw(api) for _ in range(400)]  # the last of them is held back for 0.4 s
    for peer in peers:
        peer.sendall(request_of("full"))
    wait_until(lambda: api.ok("GET", "/v1/status")["http"]["requests"] >= 400, "all of them have come")
    server.process.send_signal(signal.SIGTERM)
    for peer in peers:
        assert b" 429 " in peer.recv(65536)
        peer.close()
    assert server.process.wait(30) == 0, server.log_tail()


def test_who_has_no_key_is_held_back_when_it_goes_on_asking(tmp_path):
    keyed = Keyed(tmp_path / "data")
    try:
        api, beside = Api(keyed.address), Api(keyed.address)
        times = []
        for _ in range(FREE + 4):
            answer, seconds = took(lambda: api.call("GET", "/v1/memories"))
            assert answer.status == 401
            times.append(seconds)
        assert statistics.median(times[:FREE]) < HELD_S / 2 and min(times[FREE:]) >= HELD_S
        own = {"Authorization": f"Bearer {keyed.root}"}
        assert min(took(lambda: beside.call("GET", "/v1/memories", headers=own))[1] for _ in range(20)) < HELD_S / 2
        # One that is let in begins anew.
        assert api.call("GET", "/v1/memories", headers=own).status == 200
        assert min(took(lambda: api.call("GET", "/v1/memories"))[1] for _ in range(5)) < HELD_S / 2
        assert ask(keyed.address, "GET", "/v1/memories").status == 401
    finally:
        assert keyed.server.terminate() == 0, keyed.server.log_tail()
