"""The disk fails, is slow, is full: what the server then says, and what is there afterwards.

strace makes system calls of the real binary fail or wait; where it cannot be used, those tests are skipped and say why.
"""

import os
import shutil
import signal
import socket
import subprocess
import threading

import pytest
from api import TIMEOUT_S, Api, parse_raw, read_all, wait_until
from database import connect as open_database
from delivery import Background, Desk
from server import Server, binary, check_store
from stores import needs_embedded_store
from trigger import ABORT, IGNORE, trigger

DAMAGED = 6  # of `spine --help`: the store failed


def why_no_strace():
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-D", "-qq", "-o", os.devnull, "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"strace does not work here: {tried.stderr.strip()[:200]}"


@pytest.fixture(scope="module")
def strace():
    if reason := why_no_strace():
        print(f"skipped: {reason}")
        pytest.skip(reason)


@pytest.fixture
def start_with(strace, tmp_path, monkeypatch):
    """start_with("fdatasync:error=EIO:when=5"): a server on data that exists, with that done to its system calls."""
    running = []
    data = tmp_path / "data"

    def run(injection):
        real = binary()
        if not data.exists():
            assert Server(data).wait_until_ready().terminate() == 0
        wrapper = tmp_path / "wrapper"
        # The tracer is a grandchild, so that the server has the process number that the test knows. The leak check would
        # need to trace, too.
        wrapper.write_text(f"#!/bin/sh\nexport ASAN_OPTIONS=detect_leaks=0\n"
                           f"exec strace -D -f -qq -o /dev/null -e trace=fdatasync -e inject={injection} {real} \"$@\"\n")
        wrapper.chmod(0o755)
        monkeypatch.setenv("SPINE_BIN", str(wrapper))
        running.append(Server(data).wait_until_ready())
        monkeypatch.setenv("SPINE_BIN", str(real))
        return running[-1]

    yield run
    for server in running:
        server.discard()


def verify(data, acknowledged):
    """Everything that was acknowledged is there, and the store is sound."""
    server = Server(data).wait_until_ready()
    api = Api(server.address)
    assert api.ok("GET", "/readyz") == {"status": "ready"}
    for memory_id, content in acknowledged.items():
        assert api.get(memory_id)["content"] == content
    api.store("it goes on")
    assert server.terminate() == 0
    check_store(data)


@needs_embedded_store("the server itself syncs nothing")
def test_after_a_failed_fsync_no_write_is_acknowledged_and_the_server_says_so(start_with):
    """One single fdatasync fails. It would succeed the next time: nobody may believe that."""
    server = start_with("fdatasync:error=EIO:when=5")
    api = Api(server.address)
    acknowledged, failed = {}, None
    for number in range(20):
        answer = api.call("POST", "/v1/memories", {"content": f"memory {number}"})
        if answer.status != 201:
            failed = answer
            break
        acknowledged[answer.json["id"]] = f"memory {number}"
    assert len(acknowledged) >= 1 and failed is not None
    # It may be there after the restart, and the answer says so. What comes later is not, and says that.
    assert (failed.status, failed.json["code"], failed.json["retryable"]) == (500, "outcome_unknown", False)
    assert "before it is sent again" in failed.json["detail"]

    # Nothing is acknowledged any more.
    for method, path, body in [("POST", "/v1/memories", {"content": "later"}), ("POST", "/v1/memories/batch",
        {"memories": [{"content": "x"}]}),
                               ("PATCH", "/v1/memories/ms-1", {"content": "x"}), ("DELETE", "/v1/memories/ms-1",
                                   None), ("POST", "/v1/memories/ms-1/pin", None)]:
        for _ in range(3):
            api.refused(503, "store_failed", method, path, body)
    # It says so.
    answer = api.call("GET", "/readyz")
    assert answer.status == 503 and answer.json["reason"] == "store_failed"
    assert api.ok("GET", "/v1/status")["status"] == "store_failed"
    assert api.ok("GET", "/healthz") == {"status": "ok"}
    # Reading goes on.
    for memory_id, content in acknowledged.items():
        assert api.get(memory_id)["content"] == content
    assert set(api.ids()) >= set(acknowledged)
    assert set(api.ids("query=memory")) >= set(acknowledged)

    assert server.terminate() == DAMAGED
    assert "the store failed" in server.log.read_text()
    verify(server.data, acknowledged)


@needs_embedded_store("the server itself syncs nothing")
def test_a_write_whose_outcome_is_not_known_is_settled_by_its_key(start_with):
    """Its log is on the disk though its sync failed: after the restart the same key brings the same memory, once."""
    server = start_with("fdatasync:error=EIO:when=5")
    api = Api(server.address)
    for number in range(20):
        key = {"Idempotency-Key": f"key-{number}"}
        answer = api.call("POST", "/v1/memories", {"content": f"memory {number}"}, key)
        if answer.status != 201:
            break
    assert (answer.status, answer.json["code"], answer.json["retryable"]) == (500, "outcome_unknown", True)
    assert f"(key-{number})" in answer.json["detail"] and "retry_after_ms" not in answer.json
    refused = api.call("POST", "/v1/memories", {"content": f"memory {number}"}, key)
    assert (refused.status, refused.json["code"]) == (503, "store_failed")
    assert server.terminate() == DAMAGED

    server = Server(server.data).wait_until_ready()
    api = Api(server.address)
    settled = api.call("POST", "/v1/memories", {"content": f"memory {number}"}, key)
    assert settled.status == 201
    assert [one["content"] for one in api.ok("GET", "/v1/memories")["memories"]].count(f"memory {number}") == 1
    assert server.terminate() == 0


@needs_embedded_store("the server itself syncs nothing")
def test_under_load_everything_acknowledged_before_a_failed_fsync_is_there_after_a_restart(start_with):
    server = start_with("fdatasync:error=EIO:when=25+")
    acknowledged, lock = {}, threading.Lock()
    statuses = []

    def write(number):
        api, seen_failure = Api(server.address), False
        for count in range(400):
            content = f"{number}/{count}"
            answer = api.call("POST", "/v1/memories", {"content": content})
            with lock:
                statuses.append(answer.status)
                if answer.status == 201:
                    assert not seen_failure, "acknowledged after a failure"
                    acknowledged[answer.json["id"]] = content
            if answer.status == 500:
                assert answer.json["code"] == "outcome_unknown" and not seen_failure
            if answer.status in (500, 503):
                seen_failure = True
                if count > 20 and statuses.count(503) > 40:
                    break

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert acknowledged and set(statuses) == {201, 500, 503}
    assert server.terminate() == DAMAGED
    verify(server.data, acknowledged)


@needs_embedded_store("the server itself syncs nothing")
def test_what_is_being_committed_when_the_signal_comes_is_answered(start_with):
    """Each commit takes a third of a second; the signal comes in the middle of it."""
    server = start_with("fdatasync:delay_enter=300000")
    peers = [socket.create_connection(server.address, timeout=TIMEOUT_S) for _ in range(8)]
    for number, peer in enumerate(peers):
        body = b'{"content":"memory %d"}' % number
        peer.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body),
            body))
    api = Api(server.address)
    wait_until(lambda: api.ok("GET", "/v1/status")["writer"]["writes"] >= 1, "the first is being committed")
    assert api.ok("GET", "/v1/status")["writer"]["commits"] == 0
    server.process.send_signal(signal.SIGTERM)
    acknowledged = {}
    for number, peer in enumerate(peers):
        answer = parse_raw(read_all(peer))
        assert answer.status == 201, answer
        acknowledged[answer.json["id"]] = f"memory {number}"
        peer.close()
    assert server.process.wait(TIMEOUT_S) == 0
    assert len(acknowledged) == 8
    verify(server.data, acknowledged)


@needs_embedded_store("the server itself syncs nothing")
def test_readers_do_not_wait_for_a_slow_disk(start_with):
    server = start_with("fdatasync:delay_enter=600000")
    writer, api = Api(server.address), Api(server.address)
    thread = threading.Thread(target=writer.store, args=("slow",))
    thread.start()
    wait_until(lambda: api.ok("GET", "/v1/status")["writer"]["writes"] >= 1, "the write is under way")
    for _ in range(8):
        assert api.ok("GET", "/v1/memories")["memories"] == []
        assert api.ok("GET", "/v1/status")["writer"]["commits"] == 0, "the readers were too slow to tell"
    thread.join()
    assert api.count() == 1
    assert server.terminate() == 0


# --- Somebody else writes ---------------------------------------------------------------------------


@needs_embedded_store("it is about the lock of its file")
def test_while_another_program_holds_the_lock_writes_are_refused_for_now(start):
    server = start().wait_until_ready()
    api = Api(server.address)
    acknowledged = {api.store("before")["id"]: "before"}
    other = open_database(server.data / "spine.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = api.call("POST", "/v1/memories", {"content": "meanwhile"})
    assert (answer.status, answer.json["code"], answer.json["retryable"]) == (503, "store_busy", True)
    assert answer.json["retry_after_ms"] > 0 and "Retry-After" in answer.headers
    assert api.ok("GET", "/readyz") == {"status": "ready"}
    assert api.get("ms-1")["content"] == "before"
    other.execute("ROLLBACK")
    other.close()
    acknowledged[api.store("after")["id"]] = "after"
    assert api.count() == 2
    assert server.log.read_text().count("holds the store's lock for writing") == 1
    assert server.terminate() == 0
    verify(server.data, acknowledged)


# --- Answers that nobody expected -------------------------------------------------------------------


def assert_goes_on(server, desk):
    assert desk.ok("GET", "/readyz") == {"status": "ready"}
    assert desk.send("somebody")["state"] == "queued"
    assert server.terminate() == 0
    verify(server.data, {})


@pytest.mark.parametrize("what", [IGNORE, ABORT], ids=["taken", "rule"])
def test_a_key_that_is_taken_fails_its_request_alone(start, what):
    """Neither those that are committed together with it, nor those that come later."""
    server = start().wait_until_ready()
    desk = Desk(server.address)
    envelopes = [desk.pack() for _ in range(40)]
    with trigger(server.data, "INSERT ON handoff WHEN new.priority = 7", what):
        calls = [
            Background(server.address, "default", "POST", "/v1/handoffs",
                       {"envelope_id": envelope, "priority": 7 if number % 10 == 3 else 5})
            for number, envelope in enumerate(envelopes)
        ]
        answers = [call.result() for call in calls]
        for number, answer in enumerate(answers):
            expected = (500, "internal") if number % 10 == 3 else (202, None)
            assert (answer.status, answer.json.get("code")) == expected, answer
    assert len(desk.ok("GET", "/v1/handoffs?page_size=100")["handoffs"]) == 36
    assert desk.deliver(envelopes[3], 202, priority=7).json["state"] == "queued"
    assert_goes_on(server, desk)


def test_a_row_that_is_gone_fails_its_request_alone(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    desk.send()
    with trigger(server.data, "UPDATE ON handoff WHEN new.receiver = 'gone'"):
        desk.refused(500, "internal", "POST", "/v1/agents/worker/receive", {"instance": "gone"})
        assert desk.take(instance="here")["envelope_id"] == "env-1"
    assert_goes_on(server, desk)


@needs_embedded_store("on PostgreSQL what is new in a transaction is written once, as it is at its end: there is no row to be gone")
def test_who_waits_and_finds_a_row_gone_is_answered_alone(start):
    """The receiver is served in the sender's transaction: the sender is not to blame."""
    server = start().wait_until_ready()
    desk = Desk(server.address)
    waiting = []
    for name in ("gone", "gone", "here"):
        waiting.append(Background(server.address, "default", "POST", "/v1/agents/worker/receive",
                                  {"wait_s": 30, "format": "none", "instance": name}))
        desk.wait_for_waiters(len(waiting))
    with trigger(server.data, "UPDATE ON handoff WHEN new.receiver = 'gone'"):
        sent = desk.send()
        assert [call.result().status for call in waiting] == [500, 500, 200]
    assert waiting[2].handoffs[0]["id"] == sent["id"]
    assert desk.waiting() == 0
    assert_goes_on(server, desk)


def test_what_is_due_and_cannot_be_done_does_not_hold_up_others(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    with trigger(server.data, "UPDATE ON handoff WHEN new.reason LIKE 'queue_timeout%'"):
        late = desk.send("dead", queue_timeout_s=1)
        wait_until(lambda: "could not be carried out" in server.log.read_text(), "it was due")
        for number in range(20):
            assert desk.send(f"alive {number}")["state"] == "queued"
        assert desk.state(late) == "queued"
    wait_until(lambda: desk.state(late) == "parked", "it is carried out as soon as that is possible")
    assert_goes_on(server, desk)


# --- A full disk -----------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 6 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)], capture_output=True,
                             text=True)
    if mounted.returncode != 0:
        why = (mounted.stderr.strip().splitlines() or ["mount failed"])[0]
        reason = f"a small file system cannot be mounted here: {why}"
        print(f"skipped: {reason}")
        pytest.skip(reason)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place, leave):
    """Takes all room but some bytes, in a file that can be removed again."""
    room = shutil.disk_usage(place).free - leave
    (place / "filler").write_bytes(b"x" * max(room, 0))


@needs_embedded_store("it is about the disk of the server")
def test_a_full_disk_is_507_nothing_is_half_applied_and_it_works_again_with_room(small_disk):
    server = Server(small_disk / "data").wait_until_ready()
    api = Api(server.address)
    acknowledged = {api.store("the first")["id"]: "the first"}
    fill(small_disk, 400_000)
    content, refused = "x" * 20_000, 0
    for number in range(200):
        batch = {"memories": [{"content": f"{number} {part} {content}"} for part in range(2)]}
        answer = api.call("POST", "/v1/memories/batch", batch, {"Idempotency-Key": f"key-{number}"})
        if answer.status == 201:
            assert refused == 0 or number < 199
            for memory in answer.json["memories"]:
                acknowledged[memory["id"]] = memory["content"]
            continue
        assert (answer.status, answer.json["code"], answer.json["retryable"]) == (507, "store_full", True), answer
        refused += 1
        if refused > 5:
            break
    assert refused > 5
    # Nothing is half there, and what is there can be read, searched and counted.
    assert api.count() == len(acknowledged)
    assert api.ok("GET", "/readyz") == {"status": "ready"}
    assert len(api.ids("page_size=1000")) == len(acknowledged)
    for memory_id, text in acknowledged.items():
        assert api.get(memory_id)["content"] == text
    assert server.log.read_text().count("writes are refused") == 1
    # A refused request is not remembered as done.
    (small_disk / "filler").unlink()
    again = api.call("POST", "/v1/memories/batch", batch, {"Idempotency-Key": f"key-{number}"})
    assert again.status == 201 and "Idempotent-Replayed" not in again.headers
    for memory in again.json["memories"]:
        acknowledged[memory["id"]] = memory["content"]
    assert api.count() == len(acknowledged)
    assert server.terminate() == 0, server.log_tail()
    verify(server.data, acknowledged)


@needs_embedded_store("it is about the disk of the server")
def test_on_a_full_disk_forgetting_is_refused_or_done_but_never_half(small_disk):
    server = Server(small_disk / "data").wait_until_ready()
    api = Api(server.address)
    for number in range(40):
        api.store(f"memory {number} " + "x" * 10_000)
    fill(small_disk, 0)
    forgotten = set()
    for number in range(1, 41):
        answer = api.call("DELETE", f"/v1/memories/ms-{number}")
        assert answer.status in (200, 507), answer
        if answer.status == 200:
            forgotten.add(number)
    for number in range(1, 41):
        assert (api.get(f"ms-{number}")["state"] == "forgotten") is (number in forgotten)
    assert api.count() == 40 - len(forgotten)
    (small_disk / "filler").unlink()
    for number in range(1, 41):
        api.forget(f"ms-{number}")
    assert api.count() == 0
    assert server.terminate() == 0
    verify(server.data, {})


@needs_embedded_store("it is about the disk of the server")
def test_the_limit_on_the_size_of_a_file_is_a_full_disk(start, tmp_path, monkeypatch):
    """The system would end the process with a signal."""
    real, wrapper = binary(), tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\nulimit -f 12000\nexec {real} \"$@\"\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("SPINE_BIN", str(wrapper))
    server = start().wait_until_ready()
    monkeypatch.setenv("SPINE_BIN", str(real))
    api = Api(server.address)
    acknowledged, refused = {}, 0
    for number in range(1000):
        content = f"{number} " + "x" * 40_000
        answer = api.call("POST", "/v1/memories", {"content": content})
        if answer.status == 201:
            acknowledged[answer.json["id"]] = content
            continue
        assert (answer.status, answer.json["code"], answer.json["retryable"]) == (507, "store_full", True), answer
        refused += 1
        if refused > 5:
            break
    assert acknowledged and refused > 5
    assert api.ok("GET", "/readyz") == {"status": "ready"}
    assert server.log.read_text().count("writes are refused") == 1
    assert server.terminate() == 0, server.log_tail()
    verify(server.data, acknowledged)
