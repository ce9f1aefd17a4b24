"""POST /v1/handoffs: an envelope is handed to an agent, with and without waiting for the ack."""

import json

import time

import pytest
from api import check_problem, wait_until
from delivery import Background, at

HANDOFF_MEMBERS = [
    "id", "envelope_id", "state", "from", "to", "target", "channel", "priority", "attempt", "leases", "max_attempts",
    "fallbacks",
    "receiver", "progress", "reason", "created_at", "changed_at", "acked_at", "due_at",
    "held_until", "not_before", "queue_timeout_s", "queue_timeout_at", "auto_redriven", "work_lease",
]


@pytest.fixture
def ask(desk, beside):
    """A sender that waits for the ack."""

    def begin(envelope, wait_s=30, headers=None, **fields):
        return beside("POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": wait_s, **fields}, headers)

    return begin


# --- Without waiting -------------------------------------------------------------------------------


def test_a_delivery_that_does_not_wait_is_accepted_and_queued(desk):
    desk.ok("PUT", "/v1/agents/coder", {})
    envelope = desk.pack("coder")
    answer = desk.deliver(envelope, 202)
    handoff = answer.json
    assert list(handoff) == [*HANDOFF_MEMBERS, "task"]
    assert answer.headers["Location"] == f"/v1/handoffs/{handoff['id']}"
    assert (handoff["state"], handoff["to"], handoff["target"], handoff["from"]) == ("queued", "coder", "coder", "sender")
    assert (handoff["envelope_id"], handoff["priority"], handoff["attempt"]) == (envelope, 5, 1)
    assert (handoff["max_attempts"], handoff["fallbacks"], handoff["acked_at"]) == (3, [], None)
    seen = desk.look(handoff)
    assert [event["event"] for event in seen.pop("events")] == ["handoff.queued"]
    assert seen.pop("event_count") == 1
    assert [seen.pop(name) for name in ("summary", "lease", "attempts")] == ["do the work", None, []]
    assert seen == handoff


def test_the_answer_names_the_task_of_what_was_sent(desk, ask):
    """Of an envelope that was there, of one that is packed with the call, and of one whose ack is waited for."""
    assert desk.deliver(desk.pack(task="t"), 202).json["task"] == "t"
    packed = {"target_agent": "coder", "task_summary": "Go."}
    new = desk.ok("POST", "/v1/handoffs", {"envelope": packed}, status=202)
    assert new["task"] == desk.look(new)["task"] and new["task"].startswith("task-")
    waits = ask(desk.pack("tester", task="u"))
    desk.settle("complete", desk.take("tester"))
    assert waits.result(200).json["task"] == "u"


def test_the_agent_that_is_named_gets_it_and_not_the_one_of_the_envelope(desk):
    handoff = desk.deliver(desk.pack("coder"), 202, to="reviewer").json
    assert handoff["to"] == "reviewer"
    assert desk.receive("coder") == []
    assert desk.take("reviewer")["id"] == handoff["id"]


def test_the_sender_is_the_caller_or_else_who_packed_it(desk):
    envelope = desk.pack()
    assert desk.deliver(envelope, 202, to="a").json["from"] == "sender"
    assert desk.deliver(envelope, 202, {"Spine-Agent": "somebody"}, to="b").json["from"] == "somebody"


def test_one_envelope_goes_to_many_agents_as_handoffs_of_their_own(desk):
    envelope = desk.pack()
    ids = [desk.deliver(envelope, 202, to=name).json["id"] for name in ("a", "b", "c")]
    assert len(set(ids)) == 3
    listed = desk.ok("GET", f"/v1/handoffs?envelope_id={envelope}")["handoffs"]
    assert sorted(handoff["id"] for handoff in listed) == sorted(ids)


def test_sending_again_while_it_is_under_way_is_the_same_handoff(desk):
    envelope = desk.pack()
    first = desk.deliver(envelope, 202).json
    again = desk.deliver(envelope, 202).json
    assert (again["id"], again["attempt"]) == (first["id"], 1)
    taken = desk.take()
    leased = desk.deliver(envelope, 202).json
    assert (leased["id"], leased["state"], leased["attempt"]) == (first["id"], "leased", 1)
    desk.settle("ack", taken)
    assert desk.receive() == [], "it was there twice"


def test_sending_again_after_the_ack_returns_that_ack(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202)
    acked = desk.settle("ack", desk.take())
    for fields in ({}, {"wait_s": 30}, {"max_attempts": 9, "ack_timeout_s": 1}):
        assert desk.deliver(envelope, 200, **fields).json == {**acked, "task": "task-1"}
    assert desk.receive() == []
    assert desk.events(acked) == ["queued", "leased", "acked"]


def test_agents_settings_are_the_defaults_and_the_request_has_the_last_word(desk):
    desk.ok("PUT", "/v1/agents/worker", {"ack_timeout_s": 7.5, "max_attempts": 2, "fallbacks": ["x", "y"]})
    plain = desk.send()
    assert (plain["max_attempts"], plain["fallbacks"]) == (2, ["x", "y"])
    own = desk.send(max_attempts=5, fallbacks=["z"], ack_timeout_s=60)
    assert (own["max_attempts"], own["fallbacks"]) == (5, ["z"])
    assert desk.send(fallbacks=[])["fallbacks"] == [], "an empty list is an answer, too"
    assert own["due_at"] > plain["due_at"]


def test_an_idempotency_key_makes_one_handoff(desk):
    envelope, key = desk.pack(), {"Idempotency-Key": "once"}
    first = desk.deliver(envelope, 202, key)
    desk.settle("ack", desk.take())
    again = desk.deliver(envelope, 202, key)
    assert again.data == first.data and again.headers["Idempotent-Replayed"] == "true"
    check_problem(desk.deliver(envelope, None, key, priority=3), 422, "idempotency_conflict", "Idempotency-Key")


def test_unknown_fields_are_listed_and_ignored(desk):
    assert desk.send(urgency="high")["warnings"]


# --- Waiting for the ack ---------------------------------------------------------------------------


def test_a_sender_that_waits_gets_the_ack(desk, ask, poll):
    receiver = poll()
    sender = ask(desk.pack())
    (taken,) = receiver.handoffs
    assert sender.answer is None, "answered before the ack"
    acked = desk.settle("ack", taken)
    answer = sender.result(200)
    assert answer.json == {**acked, "task": "task-1"} and answer.json["state"] == "acked"
    assert answer.json["acked_at"] is not None


def test_completing_without_an_ack_is_an_ack_for_the_sender(desk, ask):
    sender = ask(desk.pack())
    desk.settle("complete", desk.take(), result={"n": 1})
    assert sender.result(200).json["state"] == "completed"


def test_an_ack_with_a_work_lease_is_an_ack_for_the_sender(desk, ask):
    sender = ask(desk.pack())
    desk.settle("ack", desk.take(), work_lease_s=60)
    answer = sender.result(200).json
    assert (answer["state"], answer["work_lease"]) == ("acked", True)


def test_several_senders_of_the_same_envelope_get_the_same_ack(desk, ask):
    envelope = desk.pack()
    senders = [ask(envelope) for _ in range(5)]
    desk.wait_for_waiters(5)
    desk.settle("ack", desk.take())
    assert len({sender.result(200).json["id"] for sender in senders}) == 1
    assert desk.receive() == []


def test_a_sender_whose_wait_ends_is_told_and_the_handoff_is_withdrawn(desk):
    envelope = desk.pack()
    answer = desk.deliver(envelope, wait_s=0.05)
    problem = check_problem(answer, 504, "ack_timeout")
    assert "worker" in problem["detail"]
    handoff = desk.look(problem["handoff"])
    assert (handoff["state"], handoff["attempt"], handoff["due_at"]) == ("expired", 1, None)
    assert desk.receive() == [], "what was withdrawn is handed out no more"


def test_delivering_again_after_the_timeout_is_the_next_attempt_of_the_same_handoff(desk):
    envelope = desk.pack()
    first = desk.deliver(envelope, 504, wait_s=0.02).json["handoff"]
    second = desk.deliver(envelope, 504, wait_s=0.02).json["handoff"]
    again = desk.deliver(envelope, 202).json
    assert first == second == again["id"]
    assert again["attempt"] == 3
    taken = desk.take()
    assert (taken["attempt"], taken["redelivered"]) == (3, False)
    desk.settle("ack", taken)
    assert desk.deliver(envelope, 200, wait_s=5).json["state"] == "acked"


def test_an_ack_after_the_sender_stopped_waiting_is_stale(desk, ask):
    sender = ask(desk.pack(), wait_s=0.3)
    taken = desk.take(lease_s=60)
    assert taken["lease_expires_at"] <= desk.look(taken)["due_at"]
    sender.result(504)
    before = desk.everything()
    assert desk.settle("ack", taken, 409)["code"] == "stale_lease"
    assert desk.everything() == before


def test_a_sender_that_waits_is_told_when_the_handoff_is_parked_with_what_can_be_done(desk, ask):
    sender = ask(desk.pack())
    desk.settle("reject", desk.take(), reason="not my trade")
    problem = check_problem(sender.result(), 409, "handoff_parked")
    assert "not my trade" in problem["detail"]
    assert problem["remedies"] == ["redrive", "reroute", "shrink", "discard"]
    assert desk.state(problem["handoff"]) == "parked"


def test_a_sender_that_waits_goes_on_waiting_through_failed_attempts(desk, ask):
    sender = ask(desk.pack())
    desk.settle("nack", desk.take(), reason="not now", delay_s=0)
    desk.settle("nack", desk.take(), reason="not yet", delay_s=0.01)
    taken = desk.take()
    assert (taken["attempt"], taken["redelivered"]) == (3, True)
    desk.settle("ack", taken)
    assert sender.result(200).json["attempt"] == 3


def test_a_sender_that_waits_is_answered_when_a_fallback_acks(desk, ask):
    sender = ask(desk.pack(), fallbacks=["deputy"])
    desk.settle("reject", desk.take(), reason="no")
    desk.settle("ack", desk.take("deputy"))
    answer = sender.result(200).json
    assert (answer["to"], answer["target"]) == ("deputy", "worker")


def test_attempts_and_fallbacks_that_a_sender_gives_with_its_wait_happen_within_it(desk, ask, poll):
    receiver = poll("alive")
    sender = ask(desk.pack("dead"), wait_s=20, ack_timeout_s=0.05, max_attempts=2, fallbacks=["alive"])
    (got,) = receiver.handoffs
    assert (got["to"], got["target"], got["attempt"]) == ("alive", "dead", 1)
    assert desk.events(got).count("ack_timeout") == 2
    desk.settle("ack", got)
    answer = sender.result(200).json
    assert (answer["state"], answer["to"], answer["target"]) == ("acked", "alive", "dead")


def test_a_sender_that_waits_hears_that_its_attempts_were_used_up_before_its_time(desk):
    answer = desk.deliver(desk.pack("dead"), wait_s=20, ack_timeout_s=0.02, max_attempts=2)
    problem = check_problem(answer, 409, "handoff_parked")
    assert "nobody took it" in problem["detail"]
    assert problem["remedies"] == ["redrive", "reroute", "shrink", "discard"]
    assert [parked["id"] for parked in desk.parked()] == [problem["handoff"]]


def test_a_wait_that_ends_between_the_attempts_withdraws_the_handoff_from_the_fallback(desk):
    answer = desk.deliver(desk.pack("dead"), wait_s=0.3, ack_timeout_s=0.2, max_attempts=1, fallbacks=["deputy"])
    problem = check_problem(answer, 504, "ack_timeout")
    handoff = desk.look(problem["handoff"])
    assert (handoff["state"], handoff["to"]) == ("expired", "deputy")
    assert desk.receive("deputy") == []


@pytest.mark.parametrize("fields", [{}, {"max_attempts": 2}, {"fallbacks": []}])
def test_a_sender_that_gives_neither_a_timeout_nor_fallbacks_counts_its_attempts_itself(desk, fields):
    desk.ok("PUT", "/v1/agents/dead", {"ack_timeout_s": 0.02, "max_attempts": 1, "fallbacks": ["deputy"]})
    problem = check_problem(desk.deliver(desk.pack("dead"), wait_s=0.3, **fields), 504, "ack_timeout")
    handoff = desk.look(problem["handoff"])
    assert (handoff["state"], handoff["to"], handoff["attempt"]) == ("expired", "dead", 1)


def test_sent_again_with_fallbacks_a_withdrawn_handoff_gets_to_them(desk, poll):
    envelope = desk.pack("dead")
    first = desk.deliver(envelope, 504, wait_s=0.02).json["handoff"]
    receiver = poll("alive")
    desk.deliver(envelope, 202, ack_timeout_s=0.05, max_attempts=1, fallbacks=["alive"])
    assert receiver.handoffs[0]["id"] == first


def test_what_is_parked_is_not_sent_again(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202)
    desk.settle("reject", desk.take(), reason="never")
    before = desk.everything()
    for fields in ({}, {"wait_s": 5}):
        problem = check_problem(desk.deliver(envelope, **fields), 409, "handoff_parked")
        assert problem["remedies"] and "never" in problem["detail"]
    assert desk.everything() == before


def test_what_was_discarded_is_refused_with_remedies_that_work(desk):
    envelope = desk.pack()
    handoff = desk.deliver(envelope, 202).json
    desk.settle("reject", desk.take(), reason="never")
    desk.ok("POST", f"/v1/parked/{handoff['id']}/discard", {"why": "not needed"})
    before = desk.everything()
    for fields in ({}, {"wait_s": 5}):
        problem = check_problem(desk.deliver(envelope, **fields), 409, "handoff_parked")
        assert problem["remedies"] == ["restore", "send_to_other", "pack_again"] and "discarded" in problem["detail"]
        assert problem["handoff"] == handoff["id"]
    assert desk.everything() == before
    assert desk.deliver(envelope, 202, to="other").json["state"] == "queued"
    assert desk.deliver(desk.pack(), 202).json["state"] == "queued"


def test_a_sender_that_goes_away_leaves_the_handoff_where_it_is(desk):
    gone = Background(desk.address, desk.space, "POST", "/v1/handoffs", {"envelope_id": desk.pack(), "wait_s": 30})
    desk.wait_for_waiters(1)
    gone.api.connection.sock.shutdown(2)
    gone.join()
    taken = desk.take()
    assert desk.settle("ack", taken)["state"] == "acked"


def test_sending_again_what_is_under_way_changes_nothing_and_pushes_no_deadline_back(desk, ask):
    envelope = desk.pack()
    first = desk.deliver(envelope, 202, ack_timeout_s=30).json
    before = desk.everything()
    for fields in ({}, {"ack_timeout_s": 60, "max_attempts": 9}, {"priority": 9}, {"fallbacks": ["deputy"], "queue_timeout_s": 5}):
        again = desk.deliver(envelope, 202, **fields).json
        kept = [warning["field"] for warning in again.pop("warnings") if warning["code"] == "order_kept"]
        assert set(kept) == set(fields) and again == {key: value for key, value in first.items() if key != "warnings"}
    problem = check_problem(desk.deliver(envelope, wait_s=0.05), 504, "ack_timeout")
    assert problem["handoff"] == first["id"] and "goes on" in problem["detail"]
    assert desk.look(first) == json.loads(before[4]), "the one who waited has changed it"
    taken = desk.take(lease_s=20)
    leased = desk.look(taken)
    assert desk.deliver(envelope, 202, ack_timeout_s=60).json["due_at"] == leased["due_at"]
    sender = ask(envelope)
    desk.wait_for_waiters(1)
    assert desk.look(taken) == leased
    desk.settle("ack", taken)
    assert sender.result(200).json["state"] == "acked"


def later(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def test_what_is_queued_is_put_off_and_let_go_by_sending_it_again(desk):
    envelope = desk.pack()
    sent = desk.deliver(envelope, 202).json
    when = later(3600)
    put_off = desk.deliver(envelope, 202, not_before=when).json
    assert (put_off["id"], put_off["state"], put_off["attempt"]) == (sent["id"], "queued", 1)
    assert put_off["not_before"].startswith(when[:-1]) and put_off["queue_timeout_at"] > sent["queue_timeout_at"]
    assert desk.receive() == []
    assert desk.deliver(envelope, 202, not_before=when).json["changed_at"] == put_off["changed_at"], "the same again changes nothing"
    assert desk.deliver(envelope, 202).json["not_before"] == put_off["not_before"], "what is not said stays"
    desk.deliver(envelope, 202, not_before=later(-5))
    taken = desk.take()
    assert desk.events(taken) == ["queued", "rescheduled", "rescheduled", "leased"]


def test_what_somebody_has_cannot_be_put_off(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202)
    taken = desk.take()
    for settle in (None, "ack", "complete"):
        if settle:
            desk.settle(settle, taken)
        before = desk.everything()
        problem = check_problem(desk.deliver(envelope, not_before=later(60)), 409, "already_sent")
        assert (problem["field"], problem["handoff"]) == ("not_before", taken["id"])
        assert desk.everything() == before
        desk.deliver(envelope, 202 if settle is None else 200, not_before=later(-60))


def test_what_was_withdrawn_is_sent_again_for_later(desk):
    envelope = desk.pack()
    check_problem(desk.deliver(envelope, wait_s=0.05), 504, "ack_timeout")
    again = desk.deliver(envelope, 202, not_before=later(3600), priority=8).json
    assert (again["state"], again["attempt"], again["priority"]) == ("queued", 2, 8) and again["not_before"]
    assert not [warning for warning in again.get("warnings", []) if warning["code"] == "order_kept"]
    assert desk.receive() == []


def test_a_sender_that_repeats_itself_gets_to_the_fallback_all_the_same(desk, poll):
    receiver = poll("deputy")
    envelope = desk.pack("dead")
    desk.deliver(envelope, 202, ack_timeout_s=0.3, max_attempts=1, fallbacks=["deputy"])
    while receiver.is_alive():
        assert desk.deliver(envelope).status in (200, 202)
    assert receiver.handoffs[0]["target"] == "dead"


def test_publishing_again_pushes_no_deadline_back(desk):
    body = {"envelope_id": desk.pack(), "receivers": ["a", "b"], "ack_timeout_s": 30}
    first = desk.ok("POST", "/v1/channels/all/publish", body)
    assert desk.ok("POST", "/v1/channels/all/publish", {**body, "ack_timeout_s": 60}) == first


def test_what_was_accepted_is_not_withdrawn_with_the_patience_of_somebody_else(desk, ask):
    envelope = desk.pack()
    sender = ask(envelope, wait_s=0.1)
    desk.wait_for_waiters(1)
    desk.deliver(envelope, 202)
    again = desk.deliver(envelope, 202).json
    problem = check_problem(sender.result(), 504, "ack_timeout")
    assert desk.state(problem["handoff"]) == "queued"
    assert desk.look(problem["handoff"])["due_at"] == again["due_at"], "who repeats itself pushes nothing back"
    desk.settle("ack", desk.take())


def test_an_idempotency_key_of_a_delivery_that_waits_replays_the_ack_and_not_the_timeout(desk, ask):
    envelope, key = desk.pack(), {"Idempotency-Key": "waits"}
    sender = ask(envelope, wait_s=0.05, headers=key)
    sender.result(504)
    again = ask(envelope, wait_s=0.05, headers=key)
    again.result(504)
    assert desk.look(again.answer.json["handoff"])["attempt"] == 2, "an answer that may be tried again was kept"
    last = ask(envelope, wait_s=20, headers={"Idempotency-Key": "acked"})
    desk.settle("ack", desk.take())
    acked = last.result(200)
    assert desk.deliver(envelope, 200, {"Idempotency-Key": "acked"}, wait_s=20).data == acked.data


# --- The envelope in the request -------------------------------------------------------------------


def test_an_envelope_is_packed_and_sent_with_one_call(desk):
    desk.store("evidence", id="ms-7")
    draft = {"from": "a", "target_agent": "worker", "task_summary": "look at ms-7", "constraints": {"language": "python"}}
    handoff = desk.ok("POST", "/v1/handoffs", {"envelope": draft, "priority": 7}, status=202)
    assert (handoff["from"], handoff["to"], handoff["priority"]) == ("a", "worker", 7)
    taken = desk.take(format="both")
    assert taken["envelope"]["id"] == handoff["envelope_id"]
    assert taken["envelope"]["constraints"]["language"] == "python"
    assert [ref["id"] for ref in taken["envelope"]["memory"]["refs"]] == ["ms-7"]
    assert "evidence" in taken["prompt"]


def test_an_envelope_of_version_1_is_taken_too(desk):
    desk.ok("POST", "/v1/handoffs", {"envelope": {"version": 1, "target": "old", "summary": "as ever"}}, status=202)
    assert desk.take("old", format="envelope")["envelope"]["task"]["summary"] == "as ever"


def test_an_envelope_in_the_request_whose_delivery_is_refused_is_not_kept(desk):
    for _ in range(3):
        desk.send("dead", max_attempts=1)
        desk.settle("nack", desk.take("dead"), reason="broken")
    tasks = desk.call("GET", "/v1/tasks").data
    draft = {"target_agent": "dead", "task_summary": "x", "task": "never-made"}
    desk.refused(503, "circuit_open", "POST", "/v1/handoffs", {"envelope": draft, "wait_s": 5}, field="to")
    assert desk.call("GET", "/v1/tasks").data == tasks


def test_an_idempotency_key_makes_one_envelope_and_one_handoff(desk):
    body = {"envelope": {"target_agent": "worker", "task_summary": "x"}}
    first = desk.call("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"})
    again = desk.call("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"})
    assert first.status == again.status == 202 and first.data == again.data
    assert len(desk.ok("GET", "/v1/handoffs")["handoffs"]) == 1


def test_an_idempotency_key_holds_while_the_call_waits(desk, beside):
    body, key = {"envelope": {"target_agent": "worker", "task_summary": "x"}, "wait_s": 30}, {"Idempotency-Key": "k"}
    calls = []
    for count in range(1, 4):
        calls.append(beside("POST", "/v1/handoffs", body, key))
        desk.wait_for_waiters(count)
    other = {**body, "priority": 9}
    check_problem(desk.call("POST", "/v1/handoffs", other, key), 422, "idempotency_conflict", "Idempotency-Key")
    assert len(desk.ok("GET", "/v1/handoffs")["handoffs"]) == 1
    desk.settle("ack", desk.take())
    answers = [call.result(200).data for call in calls]
    assert answers[0] == answers[1] == answers[2]
    again = desk.call("POST", "/v1/handoffs", body, key)
    assert again.data == answers[0] and again.headers["Idempotent-Replayed"] == "true"
    assert len(desk.ok("GET", "/v1/tasks")["tasks"]) == 1 and desk.receive() == []


def test_a_sender_that_lost_its_connection_goes_on_with_its_key(desk, beside):
    body, key = {"envelope": {"target_agent": "worker", "task_summary": "x"}, "wait_s": 30}, {"Idempotency-Key": "k"}
    gone = beside("POST", "/v1/handoffs", body, key)
    desk.wait_for_waiters(1)
    gone.abandon()
    wait_until(lambda: desk.waiting() == 0, "the call has gone")
    again = beside("POST", "/v1/handoffs", body, key)
    desk.wait_for_waiters(1)
    taken = desk.take()
    desk.settle("ack", taken)
    assert again.result(200).json["id"] == taken["id"]
    assert len(desk.ok("GET", "/v1/handoffs")["handoffs"]) == 1


def test_a_key_that_two_calls_use_at_once_is_the_first_ones(desk, beside):
    bodies = [{"envelope": {"target_agent": "worker", "task_summary": f"number {number}"}, "wait_s": 30} for number in range(6)]
    calls = [beside("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"}) for body in bodies]
    desk.settle("ack", desk.take())
    statuses = sorted(call.result().status for call in calls)
    assert statuses == [200] + [422] * 5
    assert len(desk.ok("GET", "/v1/handoffs")["handoffs"]) == 1


# --- Order -----------------------------------------------------------------------------------------


def test_urgent_ones_come_first_and_within_a_priority_the_oldest(desk):
    sent = [desk.send(priority=priority) for priority in (5, 0, 9, 5, 9, 0)]
    got = [handoff["id"] for handoff in desk.receive(max=100)]
    order = sorted(sent, key=lambda handoff: (-handoff["priority"], int(handoff["id"][3:])))
    assert got == [handoff["id"] for handoff in order]


def test_what_comes_back_keeps_its_place(desk):
    first, second = desk.send(), desk.send()
    desk.settle("nack", desk.take(), reason="later", delay_s=0)
    assert [desk.take()["id"], desk.take()["id"]] == [first["id"], second["id"]]


# --- Lists -----------------------------------------------------------------------------------------


def test_handoffs_are_listed_by_state_agent_sender_and_envelope_page_by_page(desk):
    sent = [desk.send(name) for name in ("a", "b", "a", "b", "a")]
    taken = desk.take("a")
    desk.settle("ack", taken)

    def listed(query):
        found, token = [], ""
        while token is not None:
            page = desk.ok("GET", f"/v1/handoffs?page_size=2{query}" + (f"&page_token={token}" if token else ""))
            found += [handoff["id"] for handoff in page["handoffs"]]
            token = page["next_page_token"]
        return sorted(found)

    ids = [handoff["id"] for handoff in sent]
    assert listed("") == sorted(ids)
    assert listed("&state=queued") == sorted(ids[1:])
    assert listed("&state=acked") == [ids[0]]
    assert listed("&to=a") == sorted([ids[0], ids[2], ids[4]])
    assert listed("&to=a&state=queued") == sorted([ids[2], ids[4]])
    assert listed("&to=nobody") == listed("&from=nobody") == []
    assert listed("&from=sender") == sorted(ids)
    assert listed(f"&envelope_id={sent[3]['envelope_id']}") == [ids[3]]


def test_handoffs_are_listed_newest_first_where_that_is_asked_for(desk):
    ids = [desk.send(name)["id"] for name in ("a", "b", "a", "b", "a")]

    def listed(query):
        found, token = [], ""
        while token is not None:
            page = desk.ok("GET", f"/v1/handoffs?page_size=2{query}" + (f"&page_token={token}" if token else ""))
            found += [handoff["id"] for handoff in page["handoffs"]]
            token = page["next_page_token"]
        return found

    assert listed("") == listed("&order=oldest") == ids
    assert listed("&order=newest") == ids[::-1]
    assert listed("&order=newest&to=a&state=queued") == [ids[4], ids[2], ids[0]]
    assert listed("&order=newest&state=parked") == []


@pytest.mark.parametrize("query, field", [("state=strange", "state"), ("state=", "state"), ("envelope_id=ms-1", "envelope_id"),
                                          ("page_size=0", "page_size"), ("order=latest", "order")])
def test_a_list_that_makes_no_sense_is_refused(desk, query, field):
    desk.refused(422, "invalid_field", "GET", f"/v1/handoffs?{query}", field=field)


@pytest.mark.parametrize("name", ["ho-99", "ho-0", "ho-01", "ho-", "env-1", "x", "ho-99999999999999999999"])
def test_a_handoff_that_is_not_there_is_named(desk, name):
    desk.send()
    desk.refused(404, "handoff_not_found", "GET", f"/v1/handoffs/{name}", field="id")


# --- What is refused -------------------------------------------------------------------------------

BAD = [
    ("envelope_id", 5, "invalid_field"), ("envelope_id", "", "invalid_field"), ("envelope_id", "ms-1", "invalid_field"),
    ("envelope_id", "env-0", "invalid_field"), ("envelope_id", "env-1 ", "invalid_field"), ("envelope_id", "x" * 65, "too_large"),
    ("to", "", "invalid_field"), ("to", 7, "invalid_field"), ("to", "a\nb", "invalid_field"), ("to", "x" * 129, "too_large"),
    ("to", "a\u0000b", "invalid_field"), ("to", ["a"], "invalid_field"),
    ("wait_s", -1, "invalid_field"), ("wait_s", 601, "invalid_field"), ("wait_s", "5", "invalid_field"), ("wait_s", 1e300, "invalid_field"),
    ("wait_s", True, "invalid_field"),
    ("ack_timeout_s", 0, "invalid_field"), ("ack_timeout_s", -0.5, "invalid_field"), ("ack_timeout_s", 86401, "invalid_field"),
    ("ack_timeout_s", [], "invalid_field"),
    ("max_attempts", 0, "invalid_field"), ("max_attempts", 101, "invalid_field"), ("max_attempts", 1.5, "invalid_field"),
    ("max_attempts", "3", "invalid_field"),
    ("priority", -1, "invalid_field"), ("priority", 10, "invalid_field"), ("priority", 5.5, "invalid_field"), ("priority", "high", "invalid_field"),
    ("fallbacks", "deputy", "invalid_field"), ("fallbacks", {}, "invalid_field"), ("fallbacks", ["a"] * 17, "too_large"),
    ("envelope", {"target_agent": "x", "task_summary": "y"}, "invalid_field"),
]


@pytest.mark.parametrize("field, value, code", BAD, ids=lambda value: repr(value)[:24])
def test_bad_input_is_named_and_changes_nothing(desk, field, value, code):
    body = {"envelope_id": desk.pack(), field: value}
    before = desk.everything()
    problem = desk.refused(422, code, "POST", "/v1/handoffs", body, field=field)
    assert field in problem["detail"]
    assert desk.everything() == before


@pytest.mark.parametrize("names, place, code", [([5], 0, "invalid_field"), (["a", ""], 1, "invalid_field"), (["a", "b", "x" * 129], 2, "too_large"),
                                                (["a\tb"], 0, "invalid_field"), ([None], 0, "invalid_field")])
def test_a_bad_fallback_is_named_by_its_place(desk, names, place, code):
    desk.refused(422, code, "POST", "/v1/handoffs", {"envelope_id": desk.pack(), "fallbacks": names}, field=f"fallbacks[{place}]")
    assert desk.ok("GET", "/v1/handoffs")["handoffs"] == []


@pytest.mark.parametrize("envelope, code", [
    (5, "invalid_field"), ([], "invalid_field"), ({}, "missing_field"), ({"target_agent": "x"}, "missing_field"),
    ({"target_agent": "x", "task_summary": "y", "dry_run": True}, "invalid_field"),
    ({"target_agent": "next", "task_summary": "y"}, "no_route"),
    ({"target_agent": "x", "task_summary": "y", "parent": "env-99"}, "envelope_not_found"),
    ({"envelope_version": "3"}, "unsupported_version"),
])
def test_a_bad_envelope_in_the_request_is_refused_and_nothing_is_made(desk, envelope, code):
    desk.pack()
    before = desk.everything() + [desk.call("GET", "/v1/tasks").data]
    answer = desk.call("POST", "/v1/handoffs", {"envelope": envelope})
    assert answer.status in (404, 422) and answer.json["code"] == code, answer
    assert desk.everything() + [desk.call("GET", "/v1/tasks").data] == before


def test_an_envelope_must_be_there(desk):
    desk.refused(422, "missing_field", "POST", "/v1/handoffs", {}, field="envelope_id")
    desk.refused(404, "envelope_not_found", "POST", "/v1/handoffs", {"envelope_id": "env-1"}, field="envelope_id")
    desk.pack()
    desk.refused(404, "envelope_not_found", "POST", "/v1/handoffs", {"envelope_id": "env-2"}, field="envelope_id")
    desk.refused(400, "invalid_request", "POST", "/v1/handoffs", [])
    desk.refused(400, "invalid_json", "POST", "/v1/handoffs", b"{")


def test_a_sender_with_more_patience_gives_the_lease_its_whole_time(desk, beside):
    envelope = desk.pack()
    first = beside("POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": 5, "to": "worker"})
    taken = desk.take(lease_s=60)
    assert at(desk.look(taken)["due_at"]) - at(taken["changed_at"]) < 6
    second = beside("POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": 120, "to": "worker"})
    desk.wait_for_waiters(2)
    before = desk.look(taken)
    assert 59 < at(before["due_at"]) - at(taken["changed_at"]) < 61
    third = beside("POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": 1, "to": "worker"})
    assert third.result(504) and desk.look(taken) == before, "one with less changes nothing"
    desk.settle("ack", taken)
    assert first.result(200).json["state"] == second.result(200).json["state"] == "acked"


def test_a_fallback_within_the_wait_comes_also_behind_an_agent_that_was_busy(desk, beside):
    first = desk.send("busy")
    held = desk.take("busy", lease_s=300)
    sender = beside("POST", "/v1/handoffs", {"envelope_id": desk.pack("busy"), "wait_s": 60, "ack_timeout_s": 0.1,
                                             "max_attempts": 1, "fallbacks": ["spare"]})
    desk.wait_for_waiters(1)
    waiting = next(one for one in desk.ok("GET", "/v1/handoffs?to=busy&state=queued")["handoffs"] if one["id"] != first["id"])
    wait_until(lambda: desk.look(waiting)["due_at"] != waiting["due_at"], "it waits for the agent at work")
    assert desk.look(waiting)["to"] == "busy"
    desk.settle("ack", held)
    desk.settle("ack", desk.take("spare"))
    assert sender.result(200).json["to"] == "spare"
