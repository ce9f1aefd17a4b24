"""What time brings: leases that run out, backoff, fallbacks, the circuit breaker. A long poll is the clock."""

import time

import pytest
from api import check_problem
from delivery import at

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


def test_what_nobody_takes_is_parked_after_its_attempts(desk):
    handoff = desk.send("nobody", ack_timeout_s=0.05, max_attempts=3)
    desk.receive(wait_s=1)
    seen = desk.look(handoff)
    assert (seen["state"], seen["attempt"]) == ("parked", 3)
    assert "nobody took it" in seen["reason"]
    assert desk.events(handoff).count("ack_timeout") == 3


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
        back = desk.settle("nack", got, reason="x")
        delays.append(at(back["due_at"]) - at(back["changed_at"]))
        assert 2**attempt / 2 <= delays[-1] <= 2**attempt
        if attempt == 1:
            began = time.monotonic()
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


# --- The circuit breaker ---------------------------------------------------------------------------


def test_three_failures_in_a_row_open_the_breaker_and_the_fourth_is_refused_at_once(desk):
    for count in range(3):
        breaker = desk.ok("GET", "/v1/agents/dead")["breaker"] if count else {"state": "closed", "failures": 0}
        assert (breaker["state"], breaker["failures"]) == ("closed", count)
        fail(desk)
    breaker = desk.agent("dead")["breaker"]
    assert (breaker["state"], breaker["failures"]) == ("open", 3) and breaker["reset_at"]
    before = desk.everything()
    envelope = desk.pack("dead")
    for fields in ({}, {"wait_s": 30}):
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
    desk.deliver(envelope, 503)
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


def test_where_the_fallbacks_breaker_is_open_too_it_is_refused(desk):
    open_breaker(desk, "dead")
    open_breaker(desk, "deputy")
    check_problem(desk.deliver(desk.pack("dead"), fallbacks=["deputy"]), 503, "circuit_open")


def test_a_broadcast_is_made_even_while_a_breaker_is_open(desk):
    open_breaker(desk)
    made = desk.ok("POST", "/v1/channels/all/publish", {"envelope_id": desk.pack(), "receivers": ["dead", "alive"]})
    assert [handoff["state"] for handoff in made["handoffs"]] == ["queued", "queued"]


def test_senders_that_wait_and_use_up_their_attempts_open_the_breaker_too(desk):
    for _ in range(3):
        envelope = desk.pack("dead")
        desk.deliver(envelope, 504, wait_s=0.02, max_attempts=2)
        desk.deliver(envelope, 504, wait_s=0.02)
    check_problem(desk.deliver(desk.pack("dead"), wait_s=5), 503, "circuit_open")


@pytest.mark.parametrize("name", ["x" * 129, "a%0Ab"])
def test_a_name_that_is_none_is_refused(desk, name):
    assert desk.call("POST", f"/v1/agents/{name}/reset").status == 422
