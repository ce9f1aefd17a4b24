"""What time brings: leases that run out, backoff, fallbacks, the circuit breaker. A long poll is the clock."""

import time
from datetime import datetime, timezone

import pytest
from api import check_problem, wait_until
from delivery import Desk, at

BACKOFF_S = (1.0, 2.0)  # after the first failed attempt: 2 s, of them half by chance


def fail(desk, agent="dead", **fields):
    """A handoff that uses up its attempts."""
    handoff = desk.send(agent, max_attempts=1, **fields)
    desk.settle("nack", desk.take(agent), reason="broken")
    return handoff


def open_breaker(desk, agent="dead"):
    for _ in range(3):
        fail(desk, agent)


# --- Leases ----------------------------------------------------------------------------------------


def test_a_lease_that_runs_out_brings_the_handoff_back_after_a_backoff(desk):
    handoff = desk.send()
    got = desk.take(lease_s=0.05)
    began = time.monotonic()
    again = desk.take()
    assert BACKOFF_S[0] <= time.monotonic() - began < BACKOFF_S[1] + 5
    assert (again["id"], again["attempt"], again["redelivered"]) == (handoff["id"], 2, True)
    assert desk.events(handoff) == ["queued", "leased", "lease_lost", "leased"]
    before = desk.everything()
    assert desk.settle("ack", got, 409)["code"] == "stale_lease", "the one who was too late"
    assert desk.everything() == before
    assert desk.settle("ack", again)["state"] == "acked"


def test_progress_keeps_a_lease_alive_beyond_its_end(desk):
    desk.send()
    got = desk.take(lease_s=0.5)
    for _ in range(6):
        assert desk.receive(wait_s=0.2) == []
        desk.settle("progress", got)
    assert desk.settle("ack", got)["attempt"] == 1


def test_a_work_lease_that_runs_out_brings_the_work_back(desk):
    handoff = desk.send()
    got = desk.take()
    assert desk.settle("ack", got, work_lease_s=0.05)["work_lease"] is True
    again = desk.take()
    assert (again["id"], again["attempt"], again["redelivered"]) == (handoff["id"], 2, True)
    assert "work_lost" in desk.events(handoff)
    assert desk.settle("complete", got, 409, result=1)["code"] == "stale_lease"
    assert desk.settle("complete", again, result=2)["state"] == "completed"
    assert desk.look(handoff)["result"] == 2


def test_progress_keeps_a_work_lease_alive(desk):
    desk.send()
    got = desk.take()
    desk.settle("ack", got, work_lease_s=0.5)
    for _ in range(6):
        assert desk.receive(wait_s=0.2) == []
        desk.settle("progress", got, note="still at it")
    assert desk.settle("complete", got, result="done")["state"] == "completed"


def test_an_ack_without_a_work_lease_never_comes_back(desk):
    desk.send(ack_timeout_s=0.1)
    desk.settle("ack", desk.take(lease_s=0.2))
    assert desk.receive(wait_s=1) == []


def test_the_last_lease_that_runs_out_parks_it_with_the_reason(desk):
    handoff = desk.send(max_attempts=1)
    desk.take(lease_s=0.05)
    assert desk.receive(wait_s=0.5) == []
    (parked,) = desk.parked()
    assert (parked["id"], parked["attempts"], parked["to"]) == (handoff["id"], 1, "worker")
    assert "lease ran out" in parked["reason"]
    assert parked["remedies"] == ["redrive", "reroute", "shrink", "discard"]


def test_what_nobody_takes_waits_and_uses_no_attempt(desk):
    handoff = desk.send("nobody", ack_timeout_s=0.05, max_attempts=3)
    assert at(handoff["queue_timeout_at"]) - at(handoff["created_at"]) == handoff["queue_timeout_s"] == 86400
    desk.receive(wait_s=1)
    seen = desk.look(handoff)
    assert (seen["state"], seen["attempt"], seen["reason"]) == ("queued", 1, None)
    assert desk.events(handoff) == ["queued"]
    got = desk.take("nobody")
    assert (got["attempt"], got["redelivered"]) == (1, False)
    assert desk.ok("GET", "/v1/agents/nobody")["breaker"] == {"state": "closed", "failures": 0, "reset_at": None}


def test_what_nobody_takes_is_parked_after_its_queue_timeout(desk):
    handoff = desk.send("nobody", queue_timeout_s=0.2)
    wait_until(lambda: desk.state(handoff) == "parked", "its time in the queue is over")
    (parked,) = desk.parked()
    assert parked["reason"] == "queue_timeout: nobody took it within 200 milliseconds"
    assert desk.events(handoff) == ["queued", "parked"]
    again = desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive", {"why": "they are back"})
    assert (again["state"], again["queue_timeout_s"]) == ("queued", 0.2)


def test_the_queue_timeout_of_an_agent_holds_where_the_sender_says_nothing(desk):
    desk.ok("PUT", "/v1/agents/nobody", {"queue_timeout_s": 7})
    assert desk.agent("nobody")["queue_timeout_s"] == 7
    assert [desk.send("nobody")["queue_timeout_s"], desk.send("nobody", queue_timeout_s=9)["queue_timeout_s"]] == [7, 9]
    desk.refused(422, "invalid_field", "PUT", "/v1/agents/nobody", {"queue_timeout_s": 0}, field="queue_timeout_s")
    desk.refused(422, "invalid_field", "POST", "/v1/handoffs", {"envelope_id": "env-1", "queue_timeout_s": 4e7},
                 field="queue_timeout_s")


def test_the_queue_timeout_of_the_server_holds_where_nobody_says_anything(start):
    server = start("--queue-timeout", "11s").wait_until_ready()
    desk = Desk(server.address)
    assert desk.send("nobody")["queue_timeout_s"] == 11
    assert server.terminate() == 0


def test_what_is_deferred_is_given_to_nobody_before_its_time(desk, poll):
    receiver = poll("worker")
    when = datetime.fromtimestamp(time.time() + 1.5, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    handoff = desk.send("worker", not_before=when)
    assert (handoff["state"], handoff["not_before"], handoff["due_at"]) == ("queued", when, when)
    assert at(handoff["queue_timeout_at"]) - at(when) == 86400
    assert desk.receive("worker") == []
    (got,) = receiver.handoffs
    assert got["id"] == handoff["id"] and time.time() >= at(when)
    assert desk.deliver(handoff["envelope_id"], 202, not_before="2020-01-01T00:00:00Z").json["id"] == handoff["id"]
    assert desk.send("other", not_before="2020-01-01T00:00:00Z")["not_before"] is None
    for fields in ({"not_before": when, "wait_s": 5}, {"not_before": "tomorrow"}, {"not_before": "2999-01-01T00:00:00Z"}):
        check_problem(desk.deliver(handoff["envelope_id"], to="third", **fields), 422, "invalid_field", "not_before")


def test_a_publish_may_be_deferred_too(desk):
    when = datetime.fromtimestamp(time.time() + 3600, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {"envelope_id": desk.pack(), "receivers": ["a", "b"], "not_before": when, "queue_timeout_s": 60}
    made = desk.ok("POST", "/v1/channels/all/publish", body)["handoffs"]
    assert {(one["not_before"], one["queue_timeout_s"]) for one in made} == {(when, 60)}
    assert desk.receive("a") == desk.receive("b") == []


def test_what_waits_behind_a_busy_agent_loses_no_attempt(desk):
    first, second = desk.send(ack_timeout_s=0.1), desk.send(ack_timeout_s=0.1)
    got = desk.take(lease_s=60)
    assert got["id"] == first["id"]
    desk.receive("other", wait_s=0.5)
    seen = desk.look(second)
    assert (seen["state"], seen["attempt"]) == ("queued", 1)
    desk.settle("ack", got)
    assert desk.take()["attempt"] == 1


# --- Backoff ---------------------------------------------------------------------------------------


def test_a_nack_without_a_delay_backs_off_longer_each_time(desk):
    desk.send(max_attempts=9)
    got = desk.take()
    delays = []
    for attempt in range(1, 3):
        began = time.monotonic()
        back = desk.settle("nack", got, reason="x")
        delays.append(at(back["due_at"]) - at(back["changed_at"]))
        assert 2**attempt / 2 <= delays[-1] <= 2**attempt
        if attempt == 1:
            got = desk.take()
            assert delays[-1] - 0.1 <= time.monotonic() - began <= delays[-1] + 5


def test_backoffs_are_spread_by_chance(desk):
    for _ in range(20):
        desk.send("many")
    backs = [desk.settle("nack", got, reason="x") for got in desk.receive("many", max=100)]
    delays = {at(back["due_at"]) - at(back["changed_at"]) for back in backs}
    assert len(delays) > 5, "all come back together"
    assert all(BACKOFF_S[0] <= delay <= BACKOFF_S[1] for delay in delays)


# --- Fallbacks -------------------------------------------------------------------------------------


def test_fallbacks_follow_in_order_each_with_attempts_of_its_own_and_then_it_is_parked(desk):
    handoff = desk.send(max_attempts=2, fallbacks=["second", "third"])
    for name in ("worker", "second", "third"):
        for attempt in (1, 2):
            got = desk.take(name)
            assert (got["id"], got["to"], got["target"], got["attempt"]) == (handoff["id"], name, "worker", attempt)
            desk.settle("nack", got, reason=f"{name} cannot", delay_s=0)
    (parked,) = desk.parked()
    assert (parked["id"], parked["reason"], parked["fallbacks"]) == (handoff["id"], "third cannot", [])
    assert desk.events(handoff).count("fallback") == 2


def test_a_reject_goes_to_the_fallback_at_once(desk):
    desk.send(fallbacks=["second"])
    got = desk.take()
    moved = desk.settle("reject", got, reason="not mine")
    assert (moved["state"], moved["to"], moved["attempt"]) == ("queued", "second", 1)
    assert desk.settle("ack", got, 409)["code"] == "stale_lease"
    assert desk.settle("ack", desk.take("second"))["state"] == "acked"


def test_a_fallback_that_has_the_envelope_already_is_passed_over(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202, to="second")
    desk.deliver(envelope, 202, fallbacks=["worker", "second", "third"])
    assert desk.settle("reject", desk.take(), reason="no")["to"] == "third"


def test_a_fallback_gets_an_envelope_once_however_many_name_it(desk):
    envelope = desk.pack()
    for name in ("a", "b"):
        desk.deliver(envelope, 202, to=name, fallbacks=["deputy"])
    first = desk.settle("reject", desk.take("a"), reason="no")
    assert (first["state"], first["to"]) == ("queued", "deputy")
    second = desk.settle("reject", desk.take("b"), reason="no")
    assert (second["state"], second["to"]) == ("parked", "b")
    problem = desk.refused(409, "already_sent", "POST", f"/v1/parked/{second['id']}/reroute", {"to": "deputy"}, field="to")
    assert first["id"] in problem["detail"]
    assert [got["id"] for got in desk.receive("deputy", max=10)] == [first["id"]]


def test_what_nobody_takes_goes_to_the_fallback(desk, poll):
    receiver = poll("second")
    desk.send("nobody", ack_timeout_s=0.05, max_attempts=1, fallbacks=["second"])
    (got,) = receiver.handoffs
    assert (got["to"], got["target"]) == ("second", "nobody")


def test_where_the_last_fallback_is_not_there_either_it_goes_back_to_the_target_and_waits(desk):
    handoff = desk.send("nobody", ack_timeout_s=0.05, max_attempts=1, fallbacks=["second", "third"])
    wait_until(lambda: desk.events(handoff).count("fallback") == 3, "it was passed on, and came back")
    seen = desk.look(handoff)
    assert (seen["state"], seen["to"], seen["attempt"], seen["fallbacks"], seen["reason"]) == ("queued", "nobody", 1, [], None)
    assert [event["agent"] for event in seen["events"]] == ["nobody", "second", "third", "nobody"]
    assert desk.take("nobody")["id"] == handoff["id"]


def test_the_reason_is_the_last_real_failure_and_never_an_empty_chair(desk):
    handoff = desk.send(max_attempts=1, ack_timeout_s=0.05, fallbacks=["empty"])
    desk.settle("nack", desk.take(), reason="ValueError: no such file")
    wait_until(lambda: desk.look(handoff)["to"] == "worker", "the fallback is not there")
    assert desk.look(handoff)["reason"] == "ValueError: no such file"
    desk.settle("nack", desk.take(), reason="TimeoutError: the model")
    (parked,) = desk.parked()
    assert parked["reason"] == "TimeoutError: the model"
    notes = [event["note"] for event in desk.look(handoff)["events"] if event["event"] == "handoff.nacked"]
    assert notes == ["ValueError: no such file", "TimeoutError: the model"]


# --- The circuit breaker ---------------------------------------------------------------------------


def test_three_failures_in_a_row_open_the_breaker_and_who_waits_is_refused_at_once(desk):
    for count in range(3):
        breaker = desk.ok("GET", "/v1/agents/dead")["breaker"] if count else {"state": "closed", "failures": 0}
        assert (breaker["state"], breaker["failures"]) == ("closed", count)
        fail(desk)
    breaker = desk.agent("dead")["breaker"]
    assert (breaker["state"], breaker["failures"]) == ("open", 3) and breaker["reset_at"]
    before = desk.everything()
    envelope = desk.pack("dead")
    for fields in ({"wait_s": 1}, {"wait_s": 30}):
        began = time.monotonic()
        answer = desk.deliver(envelope, **fields)
        problem = check_problem(answer, 503, "circuit_open", "to")
        assert time.monotonic() - began < 5
        assert 0 < problem["retry_after_ms"] <= 60000
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        assert "dead" in problem["detail"]
    assert desk.everything() == before, "a refusal left something behind"
    assert desk.send("somebody-else")["state"] == "queued"


def test_an_ack_in_between_begins_the_count_anew(desk):
    fail(desk)
    fail(desk)
    desk.send("dead")
    desk.settle("ack", desk.take("dead"))
    assert desk.agent("dead")["breaker"] == {"state": "closed", "failures": 0, "reset_at": None}
    fail(desk)
    fail(desk)
    assert desk.agent("dead")["breaker"]["state"] == "closed"


def test_rejects_are_no_failures(desk):
    for _ in range(4):
        desk.send()
        desk.settle("reject", desk.take(), reason="wrong door")
    assert desk.agent()["breaker"] == {"state": "closed", "failures": 0, "reset_at": None}


def test_a_person_closes_the_breaker(desk):
    open_breaker(desk)
    envelope = desk.pack("dead")
    desk.deliver(envelope, 503, wait_s=1)
    assert desk.ok("POST", "/v1/agents/dead/reset") == {"name": "dead", "breaker": "closed"}
    assert desk.agent("dead")["breaker"] == {"state": "closed", "failures": 0, "reset_at": None}
    assert desk.deliver(envelope, 202).json["state"] == "queued"
    desk.refused(404, "agent_not_found", "POST", "/v1/agents/nobody/reset", field="name")


def test_an_ack_of_what_was_under_way_closes_the_breaker(desk):
    under_way = desk.send("dead")
    got = desk.take("dead")
    assert got["id"] == under_way["id"]
    open_breaker(desk)
    desk.settle("ack", got)
    assert desk.agent("dead")["breaker"]["state"] == "closed"


def test_behind_an_open_breaker_the_fallback_takes_over_at_once(desk):
    open_breaker(desk)
    handoff = desk.send("dead", fallbacks=["deputy"])
    assert (handoff["to"], handoff["target"]) == ("deputy", "dead")
    assert desk.take("deputy")["id"] == handoff["id"]


def test_where_the_fallbacks_breaker_is_open_too_it_is_held_for_the_target(desk):
    open_breaker(desk, "dead")
    open_breaker(desk, "deputy")
    envelope = desk.pack("dead")
    check_problem(desk.deliver(envelope, fallbacks=["deputy"], wait_s=5), 503, "circuit_open")
    held = desk.deliver(envelope, 202, fallbacks=["deputy"]).json
    assert (held["to"], held["fallbacks"], held["held_until"]) == ("dead", ["deputy"], desk.agent("dead")["breaker"]["reset_at"])


def test_behind_an_open_breaker_work_is_held_whenever_it_came(desk):
    waits = desk.send("dead", priority=0)
    open_breaker(desk)
    held = desk.send("dead")
    reset_at = desk.agent("dead")["breaker"]["reset_at"]
    assert (held["state"], held["attempt"], held["held_until"]) == ("queued", 1, reset_at)
    assert desk.look(waits)["held_until"] == reset_at
    listed = desk.ok("GET", "/v1/handoffs?to=dead&state=queued")["handoffs"]
    assert [one["held_until"] for one in listed] == [reset_at, reset_at]
    assert desk.receive("dead") == [], "what is held is given to nobody"
    assert desk.deliver(held["envelope_id"], 202).json["id"] == held["id"], "the same envelope is the same handoff"
    assert desk.send("alive")["held_until"] is None
    desk.ok("POST", "/v1/agents/dead/reset")
    assert desk.look(held)["held_until"] is None
    assert [got["id"] for got in desk.receive("dead", max=9)] == [held["id"], waits["id"]]


def test_a_broadcast_passes_an_open_breaker(desk):
    open_breaker(desk)
    held = desk.send("dead")
    made = desk.ok("POST", "/v1/channels/all/publish", {"envelope_id": desk.pack(), "receivers": ["dead", "alive"]})
    assert [handoff["state"] for handoff in made["handoffs"]] == ["queued", "queued"]
    assert [got["id"] for got in desk.receive("dead", max=9)] == [made["handoffs"][0]["id"]]
    assert desk.state(held) == "queued"


def test_a_redrive_passes_an_open_breaker(desk):
    open_breaker(desk)
    first = desk.parked()[0]
    assert desk.ok("POST", f"/v1/parked/{first['id']}/redrive", {"why": "try it"})["held_until"] is None
    assert desk.take("dead")["id"] == first["id"]


def test_senders_that_wait_and_use_up_their_attempts_open_the_breaker_too(desk):
    for _ in range(3):
        envelope = desk.pack("dead")
        desk.deliver(envelope, 504, wait_s=0.02, max_attempts=2)
        desk.deliver(envelope, 504, wait_s=0.02)
    check_problem(desk.deliver(desk.pack("dead"), wait_s=5), 503, "circuit_open")


@pytest.mark.parametrize("name", ["x" * 129, "a%0Ab"])
def test_a_name_that_is_none_is_refused(desk, name):
    assert desk.call("POST", f"/v1/agents/{name}/reset").status == 422
