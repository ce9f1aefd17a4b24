"""What the clients promise when the peer or the network misbehaves. Each test holds for both clients."""

import threading
import time

import pytest
from peer import MEMORY, Peer, answering

from memory_spine import (
    CircuitOpenError,
    ConnectionError,
    MemorySpine,
    NotFound,
    OutcomeUnknown,
    PreconditionFailed,
    ProtocolError,
    TimeoutError,
    Unavailable,
    ValidationError,
)

OVERLOADED = {"status": 503, "code": "overloaded", "detail": "too many", "retryable": True, "retry_after_ms": 1}


def hang_up(channel):
    channel.read()


def reset(channel):
    channel.read()
    channel.reset()


def cut_short(channel):
    channel.read()
    channel.reply(200, MEMORY, length=5000)


def overloaded(channel):
    while channel.read():
        channel.reply(503, OVERLOADED)


def overloaded_once(channel):
    channel.read()
    channel.reply(503, OVERLOADED)
    answering(channel)


# --- Connections ---------------------------------------------------------------------------------


def test_one_connection_serves_many_calls(connect):
    with Peer(answering) as peer:
        spine = connect(peer.url)
        for _ in range(5):
            spine.get("ms-1")
    assert peer.connections == 1
    assert len(peer.requests) == 5


def test_a_connection_closed_while_idle_is_noticed_before_a_request_that_must_not_be_repeated(connect):
    answered, closed = threading.Event(), threading.Event()

    def one_answer(channel):
        channel.read()
        channel.reply(200, MEMORY)
        answered.wait(10)
        channel.close()
        closed.set()

    with Peer(one_answer, answering) as peer:
        spine = connect(peer.url, retries=0)
        spine.get("ms-1")
        answered.set()
        assert closed.wait(10)
        assert spine.update("ms-1", content="new").id == "ms-1"
    assert peer.connections == 2


def test_unasked_bytes_on_an_idle_connection_are_not_taken_for_an_answer(connect):
    sent = threading.Event()

    def talkative(channel):
        channel.read()
        channel.reply(200, MEMORY)
        channel.reply(404, {"code": "memory_not_found", "detail": "nobody asked"})
        sent.set()
        channel.read()

    with Peer(talkative, answering) as peer:
        spine = connect(peer.url)
        spine.get("ms-1")
        assert sent.wait(10)
        assert spine.get("ms-1").id == "ms-1"


def test_connection_close_is_obeyed(connect):
    def closing(channel):
        channel.read()
        channel.reply(200, MEMORY, "Connection: close")

    with Peer(closing) as peer:
        spine = connect(peer.url, retries=0)
        spine.get("ms-1")
        spine.get("ms-1")
    assert peer.connections == 2


def test_an_answer_without_length_ends_with_the_connection(connect):
    def unbounded(channel):
        channel.read()
        channel.send(b'HTTP/1.1 200 OK\r\n\r\n{"tokens":')
        channel.send(b"7}")

    with Peer(unbounded) as peer:
        spine = connect(peer.url, retries=0)
        assert spine.tokens("x") == 7
        assert spine.tokens("x") == 7
    assert peer.connections == 2


def test_a_chunked_answer_is_read_and_the_connection_kept(connect):
    def chunked(channel):
        while channel.read():
            channel.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            channel.send(b'a;x=y\r\n{"tokens":\r\n2\r\n7}\r\n0\r\nTrailer: 1\r\n\r\n')

    with Peer(chunked) as peer:
        spine = connect(peer.url)
        assert spine.tokens("x") == 7
        assert spine.tokens("x") == 7
    assert peer.connections == 1


def test_interim_answers_are_skipped(connect):
    def interim(channel):
        while channel.read():
            channel.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            channel.reply(200, MEMORY)

    with Peer(interim) as peer:
        spine = connect(peer.url)
        assert spine.get("ms-1").id == "ms-1"
        assert spine.get("ms-1").id == "ms-1"


def test_a_closed_client_refuses_calls(connect):
    with Peer(answering) as peer:
        spine = connect(peer.url)
        spine.get("ms-1")
        spine.close()
        with pytest.raises(RuntimeError, match="closed"):
            spine.get("ms-1")


def test_an_early_refusal_of_a_large_body_is_read(connect):
    """A server that will not read 32 MB answers before it has; the client must not report a broken pipe instead."""

    def refuse(channel):
        channel.read_head()
        channel.reply(413, {"code": "body_too_large", "detail": "too large"}, "Connection: close")
        channel.drain()

    with Peer(refuse) as peer:
        with pytest.raises(ValidationError) as caught:
            connect(peer.url).tokens("x" * (32 << 20))
    assert caught.value.code == "body_too_large"


def test_an_early_refusal_is_read_even_if_the_server_then_resets():
    """Blocking client only: asyncio gives up what it has received when a write fails."""

    def refuse(channel):
        channel.read_head()
        channel.reply(413, {"code": "body_too_large", "detail": "too large"}, "Connection: close")

    with Peer(refuse) as peer, MemorySpine(peer.url) as spine:
        with pytest.raises(ValidationError) as caught:
            spine.tokens("x" * (32 << 20))
    assert caught.value.code == "body_too_large"


# --- Retries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [hang_up, reset, cut_short])
def test_a_read_is_repeated_after_a_lost_connection(connect, failure):
    with Peer(failure, answering) as peer:
        assert connect(peer.url).get("ms-1").content == "text"
    assert len(peer.requests) == 2


@pytest.mark.parametrize("failure", [hang_up, reset, cut_short])
def test_a_store_is_repeated_with_the_same_key_and_body(connect, failure):
    with Peer(failure, answering) as peer:
        connect(peer.url).store("text")
    first, second = peer.requests
    assert first == second
    assert first[2]["idempotency-key"]


def test_each_store_has_its_own_key(connect):
    with Peer(answering) as peer:
        spine = connect(peer.url)
        spine.store("text")
        spine.store("text")
        spine.store("text", idempotency_key="mine")
    keys = [headers["idempotency-key"] for _, _, headers, _ in peer.requests]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


@pytest.mark.parametrize(
    "change",
    [
        lambda spine: spine.update("ms-1", content="new"),
        lambda spine: spine.revert("ms-1", 1),
        lambda spine: spine.pin("ms-1"),
        lambda spine: spine.unpin("ms-1"),
        lambda spine: spine.forget("ms-1"),
    ],
)
def test_a_change_that_says_what_is_to_be_is_repeated_after_a_lost_connection(connect, change):
    with Peer(hang_up, answering) as peer:
        assert change(connect(peer.url)).id == "ms-1"
    first, second = peer.requests
    assert first == second


def test_a_change_that_must_not_be_done_twice_is_not_repeated(connect):
    with Peer(hang_up, answering) as peer:
        with pytest.raises(ConnectionError) as caught:
            connect(peer.url).revert("ms-1", 1, if_version=2)
    assert caught.value.code == "connection_lost"
    assert caught.value.retryable is False
    assert len(peer.requests) == 1


STALE = {"status": 412, "code": "precondition_failed", "detail": "it has moved on", "current_version": 2}


@pytest.mark.parametrize("content, is_ours", [("new", True), ("somebody else's", False)])
def test_a_repeated_change_with_a_condition_that_was_carried_out_is_known_by_what_the_memory_says(
    connect, content, is_ours
):
    def moved_on(channel):
        channel.read()
        channel.reply(412, STALE)
        channel.read()
        channel.reply(200, {**MEMORY, "version": 2, "content": content})

    with Peer(hang_up, moved_on) as peer:
        spine = connect(peer.url)
        if is_ours:
            assert spine.update("ms-1", content="new", if_version=1).version == 2
        else:
            with pytest.raises(PreconditionFailed):
                spine.update("ms-1", content="new", if_version=1)


def test_a_condition_that_fails_the_first_time_is_told(connect):
    def moved_on(channel):
        channel.read()
        channel.reply(412, STALE)

    with Peer(moved_on) as peer:
        with pytest.raises(PreconditionFailed):
            connect(peer.url).update("ms-1", content="new", if_version=1)
    assert len(peer.requests) == 1


def test_attempts_are_bounded(connect):
    with Peer(hang_up) as peer:
        with pytest.raises(ConnectionError):
            connect(peer.url, retries=2).get("ms-1")
    assert len(peer.requests) == 3


def test_without_a_bound_a_call_is_tried_until_its_time_is_over(connect):
    start = time.monotonic()
    with Peer(hang_up) as peer:
        with pytest.raises(ConnectionError):
            connect(peer.url, timeout=1).get("ms-1")
    assert len(peer.requests) > 3
    assert time.monotonic() - start < 5


def test_an_open_breaker_is_told_and_never_tried_again(connect):
    def open_(channel):
        while channel.read():
            problem = {"code": "circuit_open", "detail": "open", "retryable": True, "retry_after_ms": 1}
            channel.reply(503, problem, "Retry-After: 1")

    with Peer(open_) as peer:
        spine = connect(peer.url)
        for call in (lambda: spine.send("env-1"), lambda: spine.deliver_handoff("env-1", timeout=5)):
            with pytest.raises(CircuitOpenError):
                call()
    assert len(peer.requests) == 2


def test_a_server_that_is_about_to_stop_is_asked_again(connect):
    def draining(channel):
        channel.read()
        channel.reply(503, {"code": "draining", "detail": "shutting down", "retryable": True})

    with Peer(draining, answering) as peer:
        assert connect(peer.url).store("text").id == "ms-1"
    first, second = peer.requests
    assert first == second


def test_no_retries_means_one_attempt(connect):
    with Peer(hang_up) as peer:
        with pytest.raises(ConnectionError):
            connect(peer.url, retries=0).get("ms-1")
    assert len(peer.requests) == 1


@pytest.mark.parametrize(
    "call", [lambda s: s.get("ms-1"), lambda s: s.store("x"), lambda s: s.update("ms-1", content="x")]
)
def test_what_was_refused_for_overload_is_sent_again(connect, call):
    with Peer(overloaded_once) as peer:
        assert call(connect(peer.url)).id == "ms-1"
    assert len(peer.requests) == 2


def test_overload_that_lasts_is_an_error_with_the_time_to_wait(connect):
    with Peer(overloaded) as peer:
        with pytest.raises(Unavailable) as caught:
            connect(peer.url, retries=1).get("ms-1")
    assert len(peer.requests) == 2
    assert caught.value.retryable
    assert caught.value.retry_after == 0.001


def test_a_wait_that_is_refused_halfway_may_wait_as_long_again(connect):
    def halfway(channel):
        channel.read()
        time.sleep(1.5)  # it lets it wait so long
        channel.reply(503, {**OVERLOADED, "code": "no_owner"})
        channel.read()
        time.sleep(2)
        channel.reply(200, {"handoffs": []})

    with Peer(halfway) as peer:
        assert connect(peer.url, timeout=1).agent("worker").receive(wait_s=2) == []
    assert len(peer.requests) == 2


def test_who_does_not_wait_for_work_waits_for_a_space_that_moves(connect):
    def moves(channel):
        channel.read()
        channel.reply(503, {"code": "no_owner", "detail": "moves", "retryable": True, "retry_after_ms": 6000})
        channel.read()
        channel.reply(200, {"handoffs": []})

    with Peer(moves) as peer:
        assert connect(peer.url).agent("worker").receive() == []
    assert len(peer.requests) == 2


def test_nobody_waits_longer_for_a_retry_than_the_call_may_take(connect):
    def later(channel):
        while channel.read():
            channel.reply(503, {**OVERLOADED, "retry_after_ms": 3_600_000})

    start = time.monotonic()
    with Peer(later) as peer:
        with pytest.raises(Unavailable) as caught:
            connect(peer.url, timeout=30).get("ms-1")
    assert caught.value.retry_after == 3600
    assert len(peer.requests) == 1
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("problem", [{"retryable": True}, {"retryable": False, "retry_after_ms": 1}])
def test_unavailable_for_an_unknown_time_is_not_repeated(connect, problem):
    def failed(channel):
        while channel.read():
            channel.reply(503, {"code": "store_failed", **problem})

    with Peer(failed) as peer:
        with pytest.raises(Unavailable):
            connect(peer.url).get("ms-1")
    assert len(peer.requests) == 1


@pytest.mark.parametrize("retryable", [True, False])
@pytest.mark.parametrize("call", ["store", "update", "pin"])
def test_what_may_have_happened_is_never_sent_again_by_itself(connect, call, retryable):
    def failing(channel):
        while channel.read():
            channel.reply(500, {"code": "outcome_unknown", "detail": "who knows", "retryable": retryable})

    with Peer(failing) as peer:
        spine = connect(peer.url)
        with pytest.raises(OutcomeUnknown) as caught:
            {"store": lambda: spine.store("x"), "update": lambda: spine.update("ms-1", content="x"),
             "pin": lambda: spine.pin("ms-1")}[call]()
    assert (caught.value.code, caught.value.retryable) == ("outcome_unknown", retryable)
    assert not isinstance(caught.value, Unavailable), "who tries again when the server is unavailable does not here"
    assert len(peer.requests) == 1


def test_retry_after_is_read_from_the_header_where_the_problem_does_not_say(connect):
    def busy(channel):
        channel.read()
        channel.reply(503, {"code": "overloaded", "retryable": True}, "Retry-After: 7")

    with Peer(busy) as peer:
        with pytest.raises(Unavailable) as caught:
            connect(peer.url, retries=0).get("ms-1")
    assert caught.value.retry_after == 7


def test_nobody_there_is_a_connection_error(connect):
    with Peer(answering) as peer:
        pass
    spine = connect(peer.url, timeout=0.3)
    with pytest.raises(ConnectionError) as caught:
        spine.update("ms-1", content="x")
    assert caught.value.code == "connect_failed"
    assert caught.value.retryable
    assert peer.url in str(caught.value)
    assert spine.healthy() is False
    assert spine.ready() is False


def test_health_is_asked_once(connect):
    with Peer(hang_up) as peer:
        assert connect(peer.url).healthy() is False
    assert len(peer.requests) == 1


# --- Time and size -------------------------------------------------------------------------------


def test_silence_ends_in_a_timeout(connect):
    release = threading.Event()

    def silent(channel):
        channel.read()
        release.wait(30)

    with Peer(silent) as peer:
        with pytest.raises(TimeoutError) as caught:
            connect(peer.url, timeout=0.1).get("ms-1")
        release.set()
    assert caught.value.code == "timeout"
    assert len(peer.requests) == 1


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"])
def test_a_byte_now_and_then_does_not_put_the_timeout_off(connect, head):
    stop = threading.Event()

    def drip(channel):
        channel.read()
        channel.send(head)
        while not stop.wait(0.01):
            channel.send(b"X")

    start = time.monotonic()
    with Peer(drip) as peer:
        with pytest.raises(TimeoutError):
            connect(peer.url, timeout=0.3).get("ms-1")
        stop.set()
    assert time.monotonic() - start < 10


def test_a_connection_that_timed_out_is_not_used_again(connect):
    """Its late answer would be taken for that of the next call."""
    release = threading.Event()

    def late(channel):
        channel.read()
        release.wait(30)
        channel.reply(200, {**MEMORY, "id": "ms-666"})

    with Peer(late, answering) as peer:
        spine = connect(peer.url, timeout=0.2)
        with pytest.raises(TimeoutError):
            spine.get("ms-666")
        assert spine.get("ms-1").id == "ms-1"
        release.set()
    assert peer.connections == 2


def test_an_answer_larger_than_allowed_is_refused(connect):
    def announced(channel):
        channel.read()
        channel.reply(200, b"", length=1001)

    def chunked(channel):
        channel.read()
        channel.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"64\r\n" + b"x" * 100 + b"\r\n")
        channel.send(b"3e8\r\n" + b"x" * 1000 + b"\r\n0\r\n\r\n")

    def endless(channel):
        channel.read()
        channel.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            channel.send(b"x" * 1000)

    for script in (announced, chunked, endless):
        with Peer(script) as peer:
            with pytest.raises(ProtocolError) as caught:
                connect(peer.url, max_response_bytes=1000).get("ms-1")
        assert caught.value.code == "response_too_large"
        assert len(peer.requests) == 1


def test_an_endless_head_is_refused(connect):
    def endless(channel):
        channel.read()
        channel.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            channel.send(b"X-Filler: " + b"x" * 1000 + b"\r\n")

    with Peer(endless) as peer:
        with pytest.raises(ProtocolError):
            connect(peer.url).get("ms-1")


@pytest.mark.parametrize(
    "bytes_",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff",
    ],
)
def test_what_is_no_answer_of_the_protocol_is_said_to_be_none(connect, bytes_):
    def garbage(channel):
        channel.read()
        channel.send(bytes_)

    with Peer(garbage) as peer:
        with pytest.raises(ProtocolError) as caught:
            connect(peer.url).get("ms-1")
    assert caught.value.code == "invalid_response"


def test_an_error_without_a_problem_still_has_its_class(connect):
    def plain(channel):
        channel.read()
        channel.reply(404, b"<html>not here</html>")

    with Peer(plain) as peer:
        with pytest.raises(NotFound) as caught:
            connect(peer.url).get("ms-1")
    assert caught.value.code == "http_404"
    assert caught.value.problem == {}


def test_a_list_that_never_ends_is_noticed(connect):
    def circling(channel):
        while channel.read():
            channel.reply(200, {"memories": [MEMORY], "next_page_token": "again"})

    with Peer(circling) as peer:
        with pytest.raises(ProtocolError):
            connect(peer.url).list().all()
