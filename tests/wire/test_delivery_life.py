"""Delivery and the server's life: draining, restarting, idling."""

import os
import signal
import time

import pytest
from api import TIMEOUT_S, Api, check_problem, wait_until
from delivery import Background, Desk, RawCall, at

CLOCK_HZ = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_HZ


def stop(server):
    server.process.send_signal(signal.SIGTERM)
    return time.monotonic()


def again(start, server, end="terminate"):
    """The same data, a new server."""
    getattr(server, end)()
    began = time.monotonic()
    server = start(data=server.data).wait_until_ready()
    return server, Desk(server.address), began


# --- Draining --------------------------------------------------------------------------------------


def test_a_drain_ends_waiting_receivers_empty_and_waiting_senders_with_draining(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    receivers = [Background(server.address, "default", "POST", "/v1/agents/idle/receive", {"wait_s": 60}) for _ in range(20)]
    envelopes = [desk.pack("absent") for _ in range(20)]
    senders = [Background(server.address, "default", "POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": 600}) for envelope in envelopes]
    published = desk.pack()
    desk.ok("POST", "/v1/channels/c/publish", {"envelope_id": published, "receivers": ["x"]})
    joiner = Background(server.address, "default", "POST", "/v1/channels/c/join", {"envelope_id": published, "wait_s": 60})
    desk.wait_for_waiters(41)
    began = stop(server)
    assert server.process.wait(TIMEOUT_S) == 0, server.log_tail()
    assert time.monotonic() - began < 10
    for receiver in receivers:
        assert receiver.handoffs == []
    numbers = set()
    for sender in senders:
        numbers.add(check_problem(sender.result(), 503, "draining")["handoff"])
    assert len(numbers) == 20
    assert joiner.result(200).json["state"] == "waiting"
    server, desk, _ = again(start, server, "kill")
    assert {handoff["id"] for handoff in desk.receive("absent", max=100)} == numbers, "what was kept is there"
    assert server.terminate() == 0


def test_a_drain_ends_streams(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    streams = [Background(server.address, "default", "GET", "/v1/agents/idle/stream", None) for _ in range(10)]
    busy = Background(server.address, "default", "GET", "/v1/agents/worker/stream?format=none", None)
    desk.wait_for_waiters(11)
    handoff = desk.send()
    wait_until(lambda: desk.state(handoff) == "leased", "the stream has it")
    began = stop(server)
    assert server.process.wait(TIMEOUT_S) == 0, server.log_tail()
    assert time.monotonic() - began < 10
    for stream in streams:
        assert b"event:" not in stream.result(200).data
    assert handoff["id"].encode() in busy.result(200).data


def test_a_drain_while_handoffs_flow_loses_none(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    total = 200
    for _ in range(total):
        desk.send(ack_timeout_s=3600)
    calls = [RawCall(server.address, "default", "/v1/agents/worker/receive", {"wait_s": 60, "lease_s": 3600, "format": "none", "max": 3}) for _ in range(100)]
    stop(server)
    given = {}
    for call in calls:
        try:
            answer = call.answer()
        except (AssertionError, OSError):
            continue  # not accepted any more
        if answer.status == 200:
            for handoff in answer.json["handoffs"]:
                assert handoff["id"] not in given, "given to two"
                given[handoff["id"]] = handoff
    assert server.process.wait(TIMEOUT_S) == 0
    server, desk, _ = again(start, server, "kill")
    for handoff in given.values():
        desk.settle("ack", handoff)
    rest = [handoff for _ in range(4) for handoff in desk.receive(max=100)]
    assert len(given) + len(rest) == total
    assert server.terminate() == 0


# --- Restart ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_leases_work_leases_backoffs_and_breakers_go_on_after_a_restart(start, end):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    for name in ("leased", "working", "delayed", "waits"):
        desk.send(name)
    for _ in range(3):
        desk.send("dead", max_attempts=1)
        desk.settle("nack", desk.take("dead"), reason="broken")
    leased = desk.take("leased", lease_s=3600)
    working = desk.take("working")
    desk.settle("ack", working, work_lease_s=3600)
    desk.settle("nack", desk.take("delayed"), reason="later", delay_s=3600)
    before = desk.everything() + [desk.call("GET", "/v1/agents").data]
    server, desk, _ = again(start, server, end)
    assert desk.everything() + [desk.call("GET", "/v1/agents").data] == before
    assert desk.receive("leased") == desk.receive("working") == desk.receive("delayed") == []
    assert desk.settle("complete", working, result=1)["state"] == "completed"
    assert desk.settle("ack", leased)["state"] == "acked"
    assert desk.take("waits")["attempt"] == 1
    check_problem(desk.deliver(desk.pack("dead"), wait_s=5), 503, "circuit_open")
    assert desk.send("dead")["held_until"] == desk.agent("dead")["breaker"]["reset_at"]
    assert server.terminate() == 0


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_what_fell_due_while_the_server_was_down_is_done_within_a_second(start, end):
    """By the times that the server itself writes down: a test that looks may be slow."""
    server = start().wait_until_ready()
    desk = Desk(server.address)
    handoffs = {name: desk.send(name, max_attempts=1 if name == "lost" else 3) for name in ("lost", "worked", "delayed")}
    sender = Background(server.address, "default", "POST", "/v1/handoffs", {"envelope_id": desk.pack("absent"), "wait_s": 0.3})
    (handoffs["absent"],) = wait_until(lambda: desk.ok("GET", "/v1/handoffs?to=absent")["handoffs"], "the sender waits")
    desk.take("lost", lease_s=0.3)
    desk.settle("ack", desk.take("worked"), work_lease_s=0.3)
    desk.settle("nack", desk.take("delayed"), reason="x", delay_s=0.3)
    due = {name: at(desk.look(handoff)["due_at"] or handoff["due_at"]) for name, handoff in handoffs.items()}
    server, desk, _ = again(start, server, end)
    ready = time.time()
    sender.join()
    ends = {"lost": "lease_lost", "worked": "work_lost", "absent": "expired"}
    for name, event in ends.items():
        wait_until(lambda: event in desk.events(handoffs[name]), f"{name}: {event}")
        happened = next(at(one["at"]) for one in desk.look(handoffs[name])["events"] if one["event"] == f"handoff.{event}")
        assert happened <= max(due[name], ready) + 1, name
    assert desk.state(handoffs["lost"]) == "parked" and desk.state(handoffs["absent"]) == "expired"
    wait_until(lambda: desk.look(handoffs["delayed"])["due_at"] > handoffs["delayed"]["due_at"], "the delay has ended")
    assert desk.take("delayed")["id"] == handoffs["delayed"]["id"]
    assert server.terminate() == 0


# --- Idling ----------------------------------------------------------------------------------------


def test_a_server_with_waiting_receivers_and_deadlines_far_away_uses_no_cpu(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    for number in range(50):
        desk.send(f"busy-{number}", ack_timeout_s=3600)
        desk.take(f"busy-{number}", lease_s=3600)
    calls = [RawCall(server.address, "default", f"/v1/agents/agent-{number % 10}/receive", {"wait_s": 60}) for number in range(100)]
    desk.wait_for_waiters(100)
    before, began = cpu_seconds(server.process), time.monotonic()
    assert desk.receive("clock", wait_s=2) == []
    used, passed = cpu_seconds(server.process) - before, time.monotonic() - began
    assert passed >= 2
    assert used <= 0.03, f"{used:.2f} s of CPU in {passed:.1f} s"
    for call in calls:
        call.vanish()
    wait_until(lambda: desk.waiting() == 0, "all have gone")
    assert server.terminate() == 0


def test_what_waits_does_not_keep_others_from_being_served(start):
    server = start("--threads", "1").wait_until_ready()
    desk = Desk(server.address)
    calls = [RawCall(server.address, "default", "/v1/agents/idle/receive", {"wait_s": 60}) for _ in range(300)]
    desk.wait_for_waiters(300)
    other = Api(server.address)
    for _ in range(20):
        other.store("meanwhile")
    assert other.count() == 20
    for call in calls:
        call.vanish()
    wait_until(lambda: desk.waiting() == 0, "all have gone")
    assert server.terminate() == 0
