"""Events go when their time is over, but nobody who follows them misses one without being told."""

import json
import socket
import subprocess

import pytest
from api import wait_until
from collector import Collector
from delivery import Desk
from events import Ended, Events, kind
from server import binary

JSON = {"Accept": "application/json"}
NOTE = "x" * 1000


def keep_events(desk, seconds):
    desk.ok("PUT", "/v1/space", {"keep_events_s": seconds})


def told(desk, count, agent="worker"):
    """So many events of a kilobyte each, of a handoff that has ended."""
    desk.send(agent)
    taken = desk.take(agent, lease_s=600)
    for _ in range(count):
        desk.settle("progress", taken, note=NOTE)
    desk.settle("complete", taken)


def pruned_to(desk):
    answer = desk.call("GET", "/v1/events?after=1", headers=JSON)
    return answer.json["pruned_to"] if answer.status == 410 else 0


def last_id(desk):
    return desk.ok("GET", f"/v1/events?after={2**62}", headers=JSON)["next"]


class Lagging(Events):
    """A reader that does not read for a while."""

    def rest(self):
        """Every event up to the end of the stream, and its last block where that is no event."""
        seen, problem = [], None
        try:
            while True:
                block = self.block()
                lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
                if lines.get("event"):
                    assert "id" not in lines, "the position is that of the last event"
                    problem = (lines["event"], json.loads(lines["data"]))
                elif "data" in lines:
                    assert problem is None, "nothing comes behind the problem"
                    seen.append(json.loads(lines["data"]))
        except Ended:
            return seen, problem


@pytest.fixture
def lag(start):
    server = start("--write-timeout", "300s").wait_until_ready()
    desk = Desk(server.address)
    opened = []

    def begin(query="?after=0"):
        desk.store("the first")
        opened.append(Lagging(server.address, query=query, receive_bytes=4096))
        wait_until(lambda: desk.ok("GET", "/v1/status")["events"]["streams"] == len(opened), "it is open")
        return opened[-1]

    begin.desk, begin.server = desk, server
    yield begin
    for one in opened:
        one.close()
    desk.close()


def test_a_stream_that_lags_behind_pruning_ends_and_says_so(lag):
    desk = lag.desk
    stream = lag()
    told(desk, 7000)    # more than the two systems take for a reader that does not read
    last = last_id(desk)
    keep_events(desk, 1)
    wait_until(lambda: pruned_to(desk) >= last, "all of them are pruned")
    seen, problem = stream.rest()
    ids = [int(event["id"]) for event in seen]
    assert ids == list(range(ids[0], ids[0] + len(ids))) and ids[-1] < last, "it was given all up to where it ended"
    name, problem = problem
    assert (name, problem["code"], problem["status"]) == ("problem", "events_pruned", 410)
    assert problem["pruned_to"] >= last and str(ids[-1]) in problem["detail"]
    # Who goes on is told the same, and where nothing is missing.
    again = desk.refused(410, "events_pruned", "GET", "/v1/events", headers={"Last-Event-ID": str(ids[-1])})
    resumed = Events(lag.server.address, headers={"Last-Event-ID": str(again["pruned_to"])}).begin()
    desk.store("and now")
    while kind(resumed.next()) != "memory.stored":
        pass
    resumed.close()


def test_a_stream_that_keeps_up_is_not_ended_by_pruning(lag):
    desk = lag.desk
    stream = lag()
    keep_events(desk, 1)
    first = last_id(desk)
    wait_until(lambda: pruned_to(desk) >= first, "what it has read is pruned")
    stored = desk.store("behind it")["id"]
    seen = []
    while not seen or seen[-1].get("subject") != stored:
        seen.append(stream.next())
    assert [int(e["id"]) for e in seen] == sorted(int(e["id"]) for e in seen)


def test_a_stream_of_all_that_is_kept_begins_with_the_first_that_is(lag):
    desk = lag.desk
    lag()
    desk.send("refuser")
    desk.settle("reject", desk.take("refuser"), reason="no")
    told(desk, 3000)    # more than a stream is given at a time
    last = last_id(desk)
    keep_events(desk, 1)
    wait_until(lambda: pruned_to(desk) >= last, "they are pruned")
    stream = Events(lag.server.address, query="?after=0").begin()
    # The history of what is parked is whole, though what came behind it is gone.
    assert [kind(event) for event in stream.take(4)] == ["handoff.queued", "handoff.leased", "handoff.rejected", "handoff.parked"]
    stored = desk.store("the newest")["id"]
    while stream.next().get("subject") != stored:
        pass
    stream.close()


def test_tail_says_that_events_are_gone(lag):
    desk = lag.desk
    lag()
    told(desk, 5)
    last = last_id(desk)
    keep_events(desk, 1)
    wait_until(lambda: pruned_to(desk) >= last, "they are pruned")
    done = subprocess.run([str(binary()), "tail", "--after", "1", "--url", lag.server.url], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "not kept any more" in done.stderr and "--after" in done.stderr, done


# --- Whoever sends spans ---


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_no_event_is_pruned_before_its_span_is_sent(start):
    """The collector is away; what it has not got stays, however old. When it is there, all of it comes, and then it goes."""
    port = free_port()
    server = start("--otlp-endpoint", f"http://127.0.0.1:{port}", "--otlp-interval", "1ms", "--keep-events", "1s").wait_until_ready()
    desk, other = Desk(server.address), Desk(server.address, "other")
    told(desk, 20)
    count = len(desk.ok("GET", "/v1/events?after=0&limit=1000", headers=JSON)["events"])
    # A whole sweep has come by, and says so: handoffs that are old went.
    other.ok("PUT", "/v1/space", {"keep_handoffs_s": 1})
    other.send("w")
    taken = other.take("w")
    other.settle("complete", taken)
    wait_until(lambda: "space.pruned" in [kind(e) for e in other.ok("GET", "/v1/events?after=0", headers=JSON)["events"]], "a sweep is over")
    assert len(desk.ok("GET", "/v1/events?after=0&limit=1000", headers=JSON)["events"]) >= count
    collector = Collector(port)
    collector.wait(5)
    wait_until(lambda: len(desk.ok("GET", "/v1/events?after=0&limit=1000", headers=JSON)["events"]) < count, "now they go")
    collector.close()
    desk.close()
    other.close()
