"""GET /v1/events: what happens, as it happens, and again from where a client was."""

import json
import threading
import time

import pytest
from api import Api, check_problem, wait_until
from delivery import Desk
from events import PREFIX, Ended, Events, kind, write_everything
from server import binary

HOSTILE = "\n\ndata: {\"forged\": true}\n\nid: 999\r\n\u2028\u2029 \"quoted\" \\ </script> \u202e \x01\x1f\x7f \U0001f600"


@pytest.fixture
def listen(desk):
    """Opens streams in the desk's space, and waits until they stand: listen(query, **headers)."""
    opened = []

    def begin(query="", headers=None, space=None):
        opened.append(Events(desk.address, space or desk.space, query, headers).begin())
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def page(api, query=""):
    return api.ok("GET", f"/v1/events{query}", headers={"Accept": "application/json"})


def all_pages(api, query="", limit=1000):
    """Everything from the beginning, page by page."""
    found, after, more = [], 0, True
    while more:
        got = page(api, f"?after={after}&limit={limit}{query}")
        found += got["events"]
        assert got["next"] >= after
        after, more = got["next"], got["has_more"]
    return found


# --- What an event is ---


def test_events_are_cloudevents_with_the_id_as_the_position(desk, listen):
    events = listen()
    assert events.answer.headers["Content-Type"] == "text/event-stream" and events.answer.headers["Cache-Control"] == "no-store"
    desk.store("hello", {"Spine-Agent": "ann"})
    event = events.next()
    assert event == {
        "specversion": "1.0", "id": events.last_id, "source": f"/spaces/{desk.space}", "type": PREFIX + "memory.stored",
        "time": event["time"], "subject": "ms-1", "datacontenttype": "application/json",
        "data": {"memory": "ms-1", "agent": None, "actor": "ann", "note": None},
    }


def test_a_handoff_is_told_step_by_step(desk, listen):
    events = listen("?types=handoff.,envelope.")
    sent = desk.send()
    desk.settle("ack", desk.take())
    assert events.until("handoff.acked") == ["envelope.packed", "handoff.queued", "handoff.leased", "handoff.acked"]
    packed, _, _, acked = all_pages(desk)
    assert packed["data"]["hop"] == 1 and packed["data"]["completeness"] == 1 and 0 < packed["data"]["utilization"] < 1
    assert packed["data"]["waivers"] == 0 and packed["subject"] == sent["envelope_id"]
    assert acked["subject"] == acked["data"]["handoff"] == sent["id"] and acked["data"]["latency_ms"] >= 0
    assert acked["data"]["envelope_id"] == sent["envelope_id"] and acked["data"]["attempt"] == 1


def test_every_write_leaves_an_event_and_the_stream_tells_them_in_order(desk, listen):
    events = listen()
    write_everything(desk)
    kept = all_pages(desk)
    told = events.take(len(kept))
    # Who wrote what is forgotten was told then, and is not kept.
    forgotten = {event["subject"] for event in kept if event["type"].endswith("memory.forgotten")}
    writing = ("memory.stored", "memory.updated", "memory.reverted")
    for event in told:
        if event["subject"] in forgotten and event["type"].endswith(writing):
            assert event["data"]["actor"] is not None
            event["data"]["actor"] = None
    assert forgotten and told == kept
    ids = [int(event["id"]) for event in kept]
    assert ids == sorted(set(ids))


def test_what_changes_nothing_is_not_told(desk):
    desk.store("one")
    for method, path, body in [("PATCH", "/v1/memories/ms-1", {"content": "one"}), ("POST", "/v1/memories/ms-1/unpin", None)]:
        desk.ok(method, path, body)
    desk.refused(404, "memory_not_found", "DELETE", "/v1/memories/ms-9")
    assert [kind(event) for event in all_pages(desk)] == ["memory.stored"]


def test_a_batch_is_one_event(desk):
    desk.ok("POST", "/v1/memories/batch", {"memories": [{"content": str(n)} for n in range(100)]}, status=201)
    [event] = all_pages(desk)
    assert kind(event) == "memory.stored" and event["data"]["note"] == "100 memories, ms-1 to ms-100"


def test_text_from_outside_stays_within_its_event(desk, listen):
    events = listen("?types=handoff.nacked")
    desk.send()
    desk.settle("nack", desk.take(), reason=HOSTILE, delay_s=60)
    desk.send()
    desk.settle("nack", desk.take(), reason="plain", delay_s=60)
    first, second = events.take(2)
    assert first["data"]["note"] == HOSTILE and second["data"]["note"] == "plain"
    entry = desk.ok("GET", "/v1/audit?action=handoff.nack")["entries"][0]
    assert entry["note"] == HOSTILE


# --- Which ones ---


def test_types_are_prefixes(desk, listen):
    events = listen("?types=memory.,handoff.acked")
    desk.store("one")
    desk.send()
    desk.settle("ack", desk.take())
    assert [kind(event) for event in events.take(2)] == ["memory.stored", "handoff.acked"]
    assert [kind(event) for event in all_pages(desk, "&types=handoff.le")] == ["handoff.leased"]


@pytest.mark.parametrize("query, field", [("types=nothing.", "types"), ("types=memory.,,handoff.", "types"), ("types=", "types"),
                                          ("after=x", "after"), ("after=-1", "after"), ("limit=0", "limit"), ("limit=1001", "limit")])
def test_bad_parameters_are_refused(desk, query, field):
    check_problem(desk.call("GET", f"/v1/events?{query}"), 422, "invalid_field", field)
    check_problem(desk.call("GET", f"/v1/events?{query}", headers={"Accept": "application/json"}), 422, "invalid_field", field)


def test_a_bad_last_event_id_is_refused(desk):
    check_problem(desk.call("GET", "/v1/events", headers={"Last-Event-ID": "zz"}), 422, "invalid_field", "Last-Event-ID")


def test_a_space_is_told_only_its_own(desk, connect, listen):
    other = connect()
    events = listen()
    other.store("elsewhere")
    desk.store("here")
    assert events.next()["source"] == f"/spaces/{desk.space}"
    assert len(all_pages(desk)) == len(all_pages(other)) == 1


def test_a_space_may_be_watched_before_there_is_one(desk, listen):
    events = listen()
    assert all_pages(desk) == []
    desk.store("the first")
    assert kind(events.next()) == "memory.stored"


def test_only_what_happens_from_now_on_comes_where_nothing_else_is_asked_for(desk, listen):
    desk.store("before")
    events = listen()
    desk.store("after")
    assert events.next()["subject"] == "ms-2"


# --- Pages ---


def test_pages_hold_each_event_once(desk):
    for n in range(25):
        desk.store(str(n))
    assert [event["subject"] for event in all_pages(desk, limit=4)] == [f"ms-{n + 1}" for n in range(25)]
    end = page(desk, "?after=0&limit=1000")["next"]
    assert page(desk, f"?after={end}") == {"events": [], "next": end, "has_more": False}
    assert page(desk, f"?after={end + 10**9}")["next"] == end


def test_a_client_that_does_not_say_what_it_accepts_gets_the_stream(server):
    events = Events(server.address, query="?after=0", headers={"Accept": "*/*"})
    assert events.answer.headers["Content-Type"] == "text/event-stream"
    events.close()


def test_head_is_answered_at_once(desk):
    answer = desk.call("HEAD", "/v1/events")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream" and answer.data == b""


# --- Resuming ---


def test_a_stream_is_resumed_behind_the_last_event_that_was_seen(desk, listen):
    for n in range(10):
        desk.store(str(n))
    events = listen("?after=0")
    seen = events.take(4)
    resumed = listen("?after=0", {"Last-Event-ID": events.last_id})  # the header is newer than the address
    seen += resumed.take(6)
    assert [event["subject"] for event in seen] == [f"ms-{n + 1}" for n in range(10)]


def test_a_long_history_is_caught_up_with(desk, listen):
    """More than a batch, and more than a window of other spaces' events between."""
    other = Api(desk.address, desk.space + "-other")
    desk.store("first")
    for _ in range(3):
        other.ok("POST", "/v1/memories/batch", {"memories": [{"content": str(n)} for n in range(3)]}, status=201)
    for n in range(1500):
        (desk if n % 3 else other).store(str(n))
    desk.store("last")
    other.close()
    events = listen("?after=0")
    assert [event["subject"] for event in events.take(1002)] == [f"ms-{n + 1}" for n in range(1002)]


def test_nothing_is_lost_or_doubled_over_restarts(start, tmp_path):
    """A writer never stops, the server is killed and started again, and a reader goes on with the last id it has."""
    data = tmp_path / "data"
    server = start(data=data).wait_until_ready()
    address, stored, stop = [server.address], [], threading.Event()

    def write():
        api = None
        while not stop.is_set():
            try:
                api = api or Api(address[0])
                stored.append(api.store("x")["id"])
            except (OSError, ValueError, AssertionError, EOFError):
                api = None
            except Exception:  # http.client's own: the server was killed in the middle of an answer
                api = None

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    seen, last_id = [], "0"
    for round_ in range(4):
        events = Events(address[0], headers={"Last-Event-ID": last_id}).begin()
        try:
            while len(seen) < 150 * (round_ + 1):
                seen.append(events.next())
                last_id = events.last_id
            if round_ < 3:
                server.kill()
            while True:  # what was on its way
                if round_ == 3:
                    break
                seen.append(events.next())
                last_id = events.last_id
        except Ended:
            pass
        events.close()
        if round_ < 3:
            server = start(data=data).wait_until_ready()
            address[0] = server.address
    stop.set()
    writer.join(30)
    api = Api(address[0])
    kept = all_pages(api)
    assert [event["id"] for event in seen] == [str(int(seen[0]["id"]) + n) for n in range(len(seen))]
    assert seen == kept[: len(seen)]
    assert set(stored) <= {event["subject"] for event in kept}, "what was acknowledged is told"
    api.close()
    assert server.terminate() == 0


# --- Many, slow, gone, drained ---


def test_many_streams_get_everything(desk, listen):
    streams = [listen() for _ in range(40)]
    wait_until(lambda: desk.ok("GET", "/v1/status")["events"]["streams"] >= 40, "all are served")
    for n in range(30):
        desk.store(str(n))
    expected = [f"ms-{n + 1}" for n in range(30)]
    assert all([event["subject"] for event in stream.take(30)] == expected for stream in streams)


def test_a_stream_that_goes_away_is_forgotten(desk, listen):
    before = desk.ok("GET", "/v1/status")["events"]["streams"]
    streams = [listen() for _ in range(10)]
    for stream in streams[:9]:
        stream.close()
    wait_until(lambda: desk.ok("GET", "/v1/status")["events"]["streams"] == before + 1, "the closed ones are forgotten")
    desk.store("one")
    assert kind(streams[9].next()) == "memory.stored"


def test_the_others_go_on_when_one_goes_away_just_when_something_happens(desk, listen):
    for n in range(40):
        streams = [listen() for _ in range(6)]
        desk.store(str(n))
        for stream in streams[:4]:
            stream.close()
        assert [stream.next()["subject"] for stream in streams[4:]] == [f"ms-{n + 1}"] * 2
        for stream in streams[4:]:
            stream.close()


def peak_kb(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def test_a_slow_reader_does_not_make_the_server_grow_and_is_closed_and_resumes(start):
    server = start("--write-timeout", "3s").wait_until_ready()
    desk = Desk(server.address)
    slow = [Events(server.address, receive_bytes=4096) for _ in range(20)]  # they never read
    wait_until(lambda: desk.ok("GET", "/v1/status")["events"]["streams"] == 20, "all are open")
    desk.send()
    taken = desk.take(lease_s=600)
    note = "x" * 1000
    for _ in range(200):
        desk.settle("progress", taken, note=note)
    before_kb = peak_kb(server)
    for _ in range(7000):  # 9 MB of events, for each of them
        desk.settle("progress", taken, note=note)
    if "san" not in binary().parts[-2]:  # sanitizers keep what was freed
        assert peak_kb(server) - before_kb < 40_000, "20 readers that take nothing hold more than a batch each"
    wait_until(lambda: desk.ok("GET", "/v1/status")["events"]["streams"] == 0, "they are closed")
    seen = []
    try:
        while True:
            seen.append(slow[0].next())
    except Ended:
        pass
    resumed = Events(server.address, headers={"Last-Event-ID": slow[0].last_id})
    seen += resumed.take(7203 - len(seen))
    assert [event["id"] for event in seen] == [str(int(seen[0]["id"]) + n) for n in range(7203)]
    for one in [*slow, resumed]:
        one.close()
    desk.close()
    assert server.terminate() == 0


def test_a_server_that_drains_ends_its_streams(start):
    server = start("--drain-timeout", "20s").wait_until_ready()
    streams = [Events(server.address).begin() for _ in range(5)]
    ended = []

    def read(stream):
        try:
            stream.next()
        except Ended:
            ended.append(stream)

    readers = [threading.Thread(target=read, args=(stream,)) for stream in streams]
    for reader in readers:
        reader.start()
    assert server.terminate() == 0
    for reader in readers:
        reader.join(30)
    assert len(ended) == 5
    assert "cut" not in server.log.read_text()
    for stream in streams:
        stream.close()


def test_the_last_events_before_a_drain_are_in_the_history(start, tmp_path):
    server = start(data=tmp_path / "data").wait_until_ready()
    api = Api(server.address)
    api.store("last")
    api.close()
    assert server.terminate() == 0
    server = start(data=tmp_path / "data").wait_until_ready()
    events = Events(server.address, query="?after=0").begin()
    assert json.dumps(events.next()).count("memory.stored") == 1
    events.close()
    assert server.terminate() == 0


# --- Heartbeats ---


def test_an_idle_stream_says_that_it_is_there_and_where_it_stands(start):
    server = start("--heartbeat", "50ms").wait_until_ready()
    api = Api(server.address)
    every, few = Events(server.address).begin(), Events(server.address, query="?types=handoff.").begin()
    began = time.monotonic()
    assert [every.block() for _ in range(3)] == [": still here\nid: 0"] * 3
    assert 0.1 < time.monotonic() - began < 10
    api.store("something happens")
    while (block := every.block()).startswith(":"):
        assert block == ": still here\nid: 0"
    assert '"com.memoryspine.memory.stored"' in block
    last = block.split("\n")[0]
    # Who wants none of it moves on nevertheless, and resumes behind it.
    for stream in (every, few):
        wait_until(lambda stream=stream: stream.block() == f": still here\n{last}", "a heartbeat with the new position")
    api.close()
    for stream in (every, few):
        stream.close()
    assert server.terminate() == 0


def test_a_heartbeat_too_short_to_be_meant_is_refused(start):
    server = start("--heartbeat", "1ms")
    assert server.process.wait(30) == 2
    assert "--heartbeat" in server.log.read_text()
