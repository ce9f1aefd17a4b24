"""Figures, the audit, and the events as they happen. Each test holds for both clients where it takes `spine`."""

import asyncio
import itertools
import json
import threading
import time

import pytest
from peer import Peer

import memory_spine
from memory_spine import AsyncMemorySpine, ConnectionError, MemorySpine, ProtocolError, SpineError, ValidationError
from memory_spine.events import Parser

EVENT = (
    'id: {id}\ndata: {{"specversion":"1.0","id":"{id}","source":"/spaces/default",'
    '"type":"com.memoryspine.memory.stored","time":"2026-01-30T00:00:00.000Z","subject":"ms-{id}",'
    '"data":{{"memory":"ms-{id}","agent":null,"actor":null}}}}\n\n'
)


def take(events, count):
    return list(itertools.islice(events, count))


# --- Figures -------------------------------------------------------------------------------------


def test_stats_tell_how_delivery_goes(connect, start_server, space):
    """On a server of its own: the one of all tests has more spaces than get figures of their own."""
    spine = connect(start_server().url, space=space)
    for _ in range(2):
        spine.send(spine.agent_handoff("coder", "go"))
    spine.agent("coder").receive()[0].complete("done")
    stats = spine.stats("1m")
    assert (stats.window, stats.space, stats.step_s) == ("1m", space, 1)
    overall = stats.overall
    assert (overall.handoffs, overall.acked, overall.completed, overall.failed) == (2, 1, 1, 0)
    assert overall.failure_rate == 0 and overall.latency_ms.count == 1 and overall.latency_ms.p99 is not None
    assert (overall.completeness.mean, overall.hops.histogram, overall.utilization.count) == (1, {1: 2}, 2)
    assert (overall.queue.queued, overall.queue.leased) == (1, 0)
    (coder,) = stats.targets
    assert (coder.agent, coder.space, coder.breaker, coder.handoffs) == ("coder", None, "closed", 2)
    assert sum(point.handoffs for point in stats.points) == 2 and stats.points[0].at < stats.now
    assert spine.stats().window == "5m"


def test_stats_of_all_spaces_name_them(connect, start_server, space):
    spine = connect(start_server().url, space=space)
    spine.send(spine.agent_handoff("coder", "go"))
    stats = spine.stats(space="all")
    assert stats.space == "all" and [one.agent for one in stats.targets if one.space == space] == ["coder"]


def test_a_space_where_nothing_happened_has_no_figures(spine):
    stats = spine.stats("24h")
    assert (stats.overall.handoffs, stats.overall.failure_rate, stats.overall.latency_ms.p50) == (0, None, None)
    assert stats.targets == []
    with pytest.raises(ValidationError) as caught:
        spine.stats("2m")
    assert caught.value.field == "window"


# --- The audit -----------------------------------------------------------------------------------


def test_the_audit_tells_who_did_what(connect, server, space):
    spine = connect(server.url, space=space, agent="ada")
    memory = spine.store("one")
    spine.pin(memory.id)
    spine.register_agent("coder")
    entries = spine.audit().all()
    assert [(entry.actor, entry.action, entry.object) for entry in entries] == [
        ("ada", "memory.store", memory.id),
        ("ada", "memory.pin", memory.id),
        ("ada", "agent.set", "coder"),
    ]
    assert {entry.key for entry in entries} == {None}, "the server has no keys"
    assert spine.audit(key="key-1").all() == []
    assert {entry.space for entry in entries} == {space} and entries[0].at.tzinfo is not None
    assert spine.audit(page_size=1).all() == entries
    assert spine.audit(page_size=2, order="newest").all() == entries[::-1]
    assert spine.audit(object=memory.id).all() == entries[:2]
    assert spine.audit(action="memory.pin").all() == entries[1:2]
    assert spine.audit(action=["memory.pin", "agent."]).all() == entries[1:]
    assert spine.audit(after=entries[0].id).all() == entries[1:]
    assert spine.audit(actor="bob").all() == spine.audit(until=entries[0].at, since=entries[0].at).all() == []
    assert spine.audit(since=entries[0].at, until="2999-01-01T00:00:00Z").all() == entries
    with pytest.raises(ValidationError):
        spine.audit(order="best").all()


# --- Events --------------------------------------------------------------------------------------


def test_events_from_the_first_on(connect, server, space):
    spine = connect(server.url, space=space, agent="ada")
    memory = spine.store("one")
    sent = spine.send(spine.agent_handoff("coder", "go"))
    events = spine.events(after=0)
    stored, packed, queued = take(events, 3)
    assert (stored.event, stored.subject, stored.actor) == ("memory.stored", memory.id, "ada")
    assert packed.event == "envelope.packed" and packed.data["hop"] == 1
    assert (queued.event, queued.subject, queued.agent) == ("handoff.queued", sent.id, "coder")
    assert queued.data["attempt"] == 1
    assert queued.at.tzinfo is not None and queued.raw["specversion"] == "1.0"
    assert stored.id < packed.id < queued.id == events.position
    assert take(spine.events(after=0, types=["handoff."]), 1) == [queued]
    assert take(spine.events(after=0, types="envelope.,handoff."), 2) == [packed, queued]
    assert take(spine.events(after=stored.id), 1) == [packed]


def test_a_loop_that_was_left_goes_on_there(spine):
    for n in range(5):
        spine.store(str(n))
    events = spine.events(after=0)
    seen = []
    for event in events:  # all of them have come at once, and two are taken
        seen.append(event)
        if len(seen) == 2:
            break
    seen += take(events, 3)
    assert [event.event for event in seen] == ["memory.stored"] * 5
    assert [event.id for event in seen] == sorted({event.id for event in seen})
    again = spine.events(after=seen[2].id)
    assert take(again, 2) == seen[3:] and again.position == events.position


def test_without_a_position_events_begin_with_what_comes_next(spine, other, in_thread):
    spine.store("before")
    events = spine.events()
    assert events.position is None
    is_over = threading.Event()

    def store():
        while not is_over.wait(0.02):
            other.store("after")

    in_thread(store)
    (event,) = take(events, 1)
    is_over.set()
    assert event.subject != "ms-1" and event.event == "memory.stored"


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_events_go_on_over_a_restart_and_none_is_lost_or_doubled(connect, start_server, end):
    first = start_server()
    spine = connect(first.url)
    ids = [spine.store(str(n)).id for n in range(3)]
    events = iter(spine.events(after=0))
    seen = take(events, 2)
    getattr(first, end)()
    first.process.wait(20)
    again = start_server(first.data, listen=first.url[len("http://") :])
    with MemorySpine(again.url) as writer:
        ids += [writer.store(str(n)).id for n in range(3)]
    seen += take(events, 4)
    assert [event.subject for event in seen] == ids
    events.close()


def chunk(text):
    return f"{len(text.encode()):x}\r\n{text}\r\n".encode()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BEGUN = chunk(": events follow\nretry: 1000\nid: 6\n\n")


def streaming(*parts, stays=False):
    """A server that sends these parts of a stream and, unless it stays, hangs up."""

    def script(channel):
        channel.read()
        channel.send(HEAD + b"".join(parts))
        if stays:
            channel.read_head()

    return script


@pytest.mark.parametrize(
    "lost",
    [
        (b"",),
        (b"5\r\nid:",),
        (chunk("id: 8\nda"), b"ff\r\nta"),
        (chunk(EVENT.format(id=8)[:-1]),),
        (b"0\r\n\r\n",),
    ],
    ids=["nothing", "half a chunk", "half a line", "half an event", "its end"],
)
def test_a_stream_that_is_lost_is_asked_for_again_from_the_last_event_on(connect, lost):
    whole = chunk(EVENT.format(id=7))
    rest = chunk(EVENT.format(id=8)), chunk(EVENT.format(id=9)[:20]), chunk(EVENT.format(id=9)[20:])
    with Peer(streaming(BEGUN, whole, *lost), streaming(*rest, stays=True)) as peer:
        events = connect(peer.url, agent="ada").events(types=["memory."])
        assert [event.id for event in take(events, 3)] == [7, 8, 9]
        first, second = peer.requests
    assert first[1] == second[1] == "/v1/events?types=memory."
    assert first[2]["accept"] == "text/event-stream" and first[2]["spine-agent"] == "ada"
    assert ("last-event-id" in first[2], second[2]["last-event-id"]) == (False, "7")


def test_a_position_alone_moves_on(connect):
    """The server tells it in the beginning and in every sign of life, so that little is gone through again."""
    beat = chunk(": still here\nid: 40\n\n")
    with Peer(streaming(BEGUN, beat), streaming(chunk(EVENT.format(id=41)), stays=True)) as peer:
        assert [event.id for event in take(connect(peer.url).events(), 1)] == [41]
        assert peer.requests[1][2]["last-event-id"] == "40"


def test_events_that_were_pruned_before_they_came_are_an_error_that_says_where_to_go_on(connect):
    problem = {"type": "about:blank", "status": 410, "code": "events_pruned", "detail": "gone", "pruned_to": 90}

    def refusing(channel):
        channel.read()
        channel.reply(410, problem, "Content-Type: application/problem+json")

    end = chunk(f"event: problem\ndata: {json.dumps(problem)}\n\n"), b"0\r\n\r\n"
    with Peer(streaming(BEGUN, chunk(EVENT.format(id=7)), *end), refusing) as peer:
        events = iter(connect(peer.url).events())
        assert next(events).id == 7
        with pytest.raises(SpineError) as caught:
            next(events)
        assert peer.requests[1][2]["last-event-id"] == "7"
    assert caught.value.code == "events_pruned" and caught.value.problem["pruned_to"] == 90


def test_a_server_that_says_nothing_any_more_is_asked_again(connect, monkeypatch):
    monkeypatch.setattr(memory_spine.events, "_SILENCE_S", 0.05)
    with Peer(streaming(BEGUN, stays=True), streaming(chunk(EVENT.format(id=7)), stays=True)) as peer:
        assert [event.id for event in take(connect(peer.url).events(), 1)] == [7]
        assert peer.connections == 2


def test_an_answer_that_is_no_stream_of_events_is_an_error(connect):
    with Peer(streaming(chunk("id: seven\n\n"), stays=True)) as peer:
        with pytest.raises(ProtocolError):
            take(connect(peer.url).events(), 1)
    with Peer(streaming(chunk("id: 7\ndata: {}\n\n"), stays=True)) as peer:
        with pytest.raises(ProtocolError):
            take(connect(peer.url).events(), 1)


def test_what_is_refused_the_first_time_is_an_error(connect, spine):
    with pytest.raises(ValidationError) as caught:
        take(spine.events(types=["nothing."]), 1)
    assert caught.value.field == "types"
    with pytest.raises(ConnectionError):
        take(connect("http://127.0.0.1:9").events(), 1)
    with pytest.raises(TypeError):
        spine.events(after="7")


def test_streams_take_no_connection_from_the_calls(connect, server, space):
    spine = connect(server.url, space=space, max_connections=1)
    first = spine.store("one").id
    loops = [iter(spine.events(after=0)) for _ in range(3)]
    assert {next(loop).subject for loop in loops} == {first}
    second = spine.store("two").id
    assert {next(loop).subject for loop in loops} == {second}
    for loop in loops:
        loop.close()


def test_another_thread_stops_the_loop(other, in_thread):
    events = other.events(after=0)
    other.store("one")
    seen = []

    def watch():
        for event in events:
            seen.append(event)

    thread = in_thread(watch)
    deadline = time.monotonic() + 30
    while not seen and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    events.stop()
    thread.join(20)
    assert not thread.is_alive() and time.monotonic() - began < 10 and len(seen) == 1
    assert list(events) == [], "it stays stopped"


def test_an_asynchronous_loop_is_stopped_and_cancelled(server, space):
    async def main():
        async with AsyncMemorySpine(server.url, space=space) as spine:
            await spine.store("one")
            events, seen = spine.events(after=0), []

            async def watch():
                async for event in events:
                    seen.append(event)

            for end in ("cancel", "stop"):
                task = asyncio.ensure_future(watch())
                deadline = time.monotonic() + 30
                while len(seen) < (1 if end == "cancel" else 2) and time.monotonic() < deadline:
                    await asyncio.sleep(0.01)
                assert len(seen) >= (1 if end == "cancel" else 2)
                if end == "cancel":
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                    await spine.store("two")
                else:
                    events.stop()
                    await asyncio.wait_for(task, 20)
            return seen

    first, second = asyncio.run(main())
    assert first.id < second.id


def test_a_loop_that_is_left_closes_its_connection(connect):
    closed = threading.Event()

    def script(channel):
        channel.read()
        channel.send(HEAD + chunk(EVENT.format(id=7)))
        try:
            if channel.read_head() is None:
                closed.set()
        except ConnectionResetError:  # as good
            closed.set()

    with Peer(script) as peer:
        for _ in connect(peer.url).events():
            break
        assert closed.wait(20)


def test_the_parser_takes_any_cut():
    text = (": hello\r\nretry: 5\nid: 3\n\n" + EVENT.format(id=4) + "id: 5\n\n").encode()
    whole = Parser().feed(text)
    assert [(block.id, block.event is None) for block in whole] == [(3, True), (4, False), (5, True)]
    parser = Parser()
    assert [block for one in text for block in parser.feed(bytes([one]))] == whole
