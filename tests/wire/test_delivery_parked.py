"""Parked: what could not go on by itself, and the four ways out, each with who and why."""

import time

import pytest
from api import check_problem, wait_until
from delivery import at
from trigger import trigger

WAYS = {"redrive": {}, "reroute": {"to": "other"}, "shrink": {"max_tokens": 300}, "discard": {"why": "too late"}}


def park(desk, to="worker", reason="cannot", **fields):
    """A handoff that its receiver has rejected."""
    handoff = desk.deliver(desk.pack(to, **fields), 202).json
    desk.settle("reject", desk.take(to), reason=reason)
    return handoff


def last_event(desk, handoff):
    return desk.look(handoff)["events"][-1]


def test_what_is_parked_is_listed_with_its_reason_attempts_and_remedies(desk):
    sent = [park(desk, reason=f"reason {number}") for number in range(5)]
    seen, token = [], ""
    while token is not None:
        page = desk.ok("GET", "/v1/parked?page_size=2" + (f"&page_token={token}" if token else ""))
        seen += page["parked"]
        token = page["next_page_token"]
    assert sorted(parked["id"] for parked in seen) == sorted(handoff["id"] for handoff in sent)
    assert {parked["reason"] for parked in seen} == {f"reason {number}" for number in range(5)}
    for parked in seen:
        assert (parked["to"], parked["attempts"], parked["state"]) == ("worker", 1, "parked")
        assert parked["remedies"] == ["redrive", "reroute", "shrink", "discard"]
    assert desk.agent()["queue"]["parked"] == 5
    assert len(desk.ok("GET", "/v1/handoffs?state=parked")["handoffs"]) == 5


# --- Ways out --------------------------------------------------------------------------------------


def test_redrive_gives_it_to_the_same_agent_with_new_attempts(desk):
    handoff = park(desk)
    back = desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive", {"why": "it is repaired", "by": "maria"})
    assert (back["id"], back["state"], back["attempt"], back["to"]) == (handoff["id"], "queued", 1, "worker")
    event = last_event(desk, handoff)
    assert (event["event"], event["actor"], event["note"]) == ("handoff.redriven", "maria", "it is repaired")
    assert desk.parked() == []
    got = desk.take()
    assert (got["id"], got["redelivered"]) == (handoff["id"], True)
    desk.settle("ack", got)


def test_redrive_needs_no_body(desk):
    handoff = park(desk)
    assert desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive")["state"] == "queued"


def test_reroute_gives_it_to_another_agent(desk):
    handoff = park(desk)
    moved = desk.ok("POST", f"/v1/parked/{handoff['id']}/reroute", {"to": "expert", "why": "knows more", "by": "maria"})
    assert (moved["id"], moved["to"], moved["target"], moved["attempt"]) == (handoff["id"], "expert", "expert", 1)
    event = last_event(desk, handoff)
    assert (event["event"], event["actor"], event["note"], event["agent"]) == ("handoff.rerouted", "maria", "knows more", "expert")
    assert desk.receive() == []
    assert desk.take("expert")["id"] == handoff["id"]


def test_reroute_to_one_who_has_the_envelope_already_is_refused(desk):
    envelope = desk.pack()
    other = desk.deliver(envelope, 202, to="expert").json
    desk.deliver(envelope, 202)
    desk.settle("reject", desk.take(), reason="no")
    (parked,) = desk.parked()
    before = desk.everything()
    problem = desk.refused(409, "already_sent", "POST", f"/v1/parked/{parked['id']}/reroute", {"to": "expert"}, field="to")
    assert other["id"] in problem["detail"]
    assert desk.everything() == before


def test_discard_is_the_end_and_says_who_and_why(desk):
    handoff = park(desk)
    gone = desk.ok("POST", f"/v1/parked/{handoff['id']}/discard", {"why": "the customer has left", "by": "maria"})
    assert gone["state"] == "discarded"
    event = last_event(desk, handoff)
    assert (event["event"], event["actor"], event["note"]) == ("handoff.discarded", "maria", "the customer has left")
    assert desk.parked() == [] and desk.receive() == []
    check_problem(desk.deliver(handoff["envelope_id"]), 409, "handoff_parked")


def test_the_caller_is_who_where_nobody_is_named(desk):
    handoff = park(desk)
    desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive", {}, {"Spine-Agent": "operator"})
    assert last_event(desk, handoff)["actor"] == "operator"


def test_shrink_sends_a_smaller_envelope_instead_and_names_what_it_replaces(desk):
    for number in range(1, 9):
        desk.store(f"finding {number}: " + "retry backoff jitter " * 60, id=f"ms-{number}", importance="low")
    refs = [f"ms-{number}" for number in range(1, 9)]
    old = park(desk, refs=refs, state="half way", constraints={"max_tokens": 4000, "language": "python"}, intent="the user's words")
    before = desk.ok("GET", f"/v1/envelopes/{old['envelope_id']}")
    answer = desk.call("POST", f"/v1/parked/{old['id']}/shrink", {"max_tokens": 800, "why": "too much", "by": "maria"})
    assert answer.status == 201, answer
    new = answer.json
    assert answer.headers["Location"] == f"/v1/handoffs/{new['id']}"
    assert new["replaces"] == old["id"] and new["id"] != old["id"] and new["state"] == "queued"
    assert new["token_count"] <= 800
    got = desk.take(format="envelope")
    envelope = got["envelope"]
    assert got["id"] == new["id"]
    assert envelope["budget"]["max_tokens"] == 800 and envelope["budget"]["token_count"] == new["token_count"]
    assert envelope["task"] == before["task"] and envelope["lineage"]["hop"] == before["lineage"]["hop"]
    assert envelope["constraints"] == {"language": "python", "max_tokens": 800}
    named = {ref["id"] for ref in envelope["memory"]["refs"]} | {trim["id"] for trim in envelope["budget"]["trimmed"]}
    assert set(refs) <= named, "a memory was dropped without a word"
    assert envelope["extensions"]["shrunk_from"] == old["envelope_id"]
    assert desk.state(old) == "discarded"
    event = last_event(desk, old)
    assert (event["event"], event["actor"], event["note"]) == ("handoff.shrunk", "maria", "too much")


def test_shrink_keeps_what_the_hop_waived_and_what_it_decided(desk):
    root = desk.pack("b", constraints={"language": "python", "style": "terse"}, open_decisions=["which db?", "which cloud?"])
    fields = {
        "from": "b", "parent": root, "constraints": {"style": "verbose"}, "open_decisions": ["which queue?"],
        "waive": [{"key": "language", "reason": "the user said so"}, {"key": "style", "reason": "the same"}],
        "resolved_decisions": [{"decision": "which db?", "outcome": "sqlite"}],
        "execution_history": [{"agent": "b", "action": "which cloud?", "decision": "asked", "why": "nobody knew"}],
    }
    old = park(desk, "worker", **fields)
    before = desk.ok("GET", f"/v1/envelopes/{old['envelope_id']}")
    new = desk.ok("POST", f"/v1/parked/{old['id']}/shrink", {"max_tokens": 900}, status=201)
    after = desk.ok("GET", f"/v1/envelopes/{new['envelope_id']}")
    assert after["constraints"] == {"style": "verbose", "max_tokens": 900}
    assert {waiver["key"] for waiver in after["waived"]} == {"language", "style"}
    assert after["waived"] == before["waived"]
    assert after["task"] == before["task"]
    assert after["task"]["open_decisions"] == ["which cloud?", "which queue?"]
    assert after["history"] == before["history"]


def test_shrink_to_what_does_not_fit_is_refused_with_the_number_that_would(desk):
    handoff = park(desk)
    before = desk.everything()
    problem = desk.refused(422, "budget_too_small", "POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 5})
    assert problem["minimum"] > 5
    desk.refused(422, "invalid_field", "POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 8000}, field="max_tokens")
    assert desk.everything() == before


def test_shrink_of_what_would_be_a_loop_then_leaves_it_parked(desk):
    """What was new was a memory, and it has no room any more: then there is nothing new, and nothing is lost either."""
    root = desk.pack("b", "go", constraints={"max_tokens": 4000})
    desk.store("news " * 600, id="ms-2")
    child = desk.pack("sender", "back to you", parent=root, refs=["ms-2"], **{"from": "b"})
    handoff = desk.deliver(child, 202).json
    desk.settle("reject", desk.take("sender"), reason="too much")
    before = desk.everything()
    path = f"/v1/parked/{handoff['id']}/shrink"
    least = desk.refused(422, "budget_too_small", "POST", path, {"max_tokens": 5})["minimum"]
    desk.refused(409, "loop", "POST", path, {"max_tokens": least})
    assert desk.everything() == before


@pytest.mark.parametrize("when", ["envelope WHEN new.body LIKE '%shrunk_from%'", "handoff WHEN new.priority = 5"])
def test_shrink_whose_replacement_is_refused_leaves_it_parked(desk, server, when):
    handoff = park(desk)
    before = desk.everything()
    with trigger(server.data, f"INSERT ON {when}"):
        desk.refused(500, "internal", "POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 300})
    assert desk.everything() == before
    new = desk.ok("POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 300}, status=201)
    assert new["replaces"] == handoff["id"]
    assert (last_event(desk, handoff)["actor"], last_event(desk, new)["actor"]) == (None, "sender")


def test_two_who_decide_at_once_decide_once(desk, beside):
    handoff = park(desk)
    calls = [beside("POST", f"/v1/parked/{handoff['id']}/redrive", {}) for _ in range(8)]
    statuses = sorted(call.result().status for call in calls)
    assert statuses == [200] + [409] * 7
    assert desk.events(handoff).count("redriven") == 1


# --- Parking by hand -------------------------------------------------------------------------------


def test_an_envelope_that_was_never_sent_is_parked_for_its_agent(desk):
    envelope = desk.pack("coder")
    parked = desk.ok("POST", f"/v1/envelopes/{envelope}/park", {"reason": "all attempts failed", "by": "client"})
    assert (parked["state"], parked["to"], parked["reason"], parked["envelope_id"]) == ("parked", "coder", "all attempts failed", envelope)
    assert [handoff["id"] for handoff in desk.parked()] == [parked["id"]]
    desk.ok("POST", f"/v1/parked/{parked['id']}/redrive")
    assert desk.take("coder")["envelope_id"] == envelope


def test_an_envelope_that_was_withdrawn_is_parked_as_the_handoff_it_was(desk):
    envelope = desk.pack()
    expired = desk.deliver(envelope, 504, wait_s=0.02).json["handoff"]
    assert desk.ok("POST", f"/v1/envelopes/{envelope}/park", {"reason": "gave up"})["id"] == expired


def test_parking_takes_it_out_of_the_queue_and_from_whoever_has_it(desk):
    envelope = desk.pack()
    for name in ("a", "b"):
        desk.deliver(envelope, 202, to=name)
    got = desk.take("a")
    desk.ok("POST", f"/v1/envelopes/{envelope}/park", {"reason": "stop"})
    assert desk.settle("ack", got, 409)["code"] == "stale_lease"
    assert desk.receive("b") == []
    assert len(desk.parked()) == 2


def test_parking_again_is_the_same_and_what_was_acked_is_left_alone(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202)
    got = desk.take()
    desk.settle("ack", got)
    problem = desk.refused(409, "already_settled", "POST", f"/v1/envelopes/{envelope}/park", {"reason": "too late"})
    assert problem["detail"] and desk.state(got) == "acked"
    other = desk.pack()
    first = desk.ok("POST", f"/v1/envelopes/{other}/park", {"reason": "x"})
    assert desk.ok("POST", f"/v1/envelopes/{other}/park", {"reason": "x"})["id"] == first["id"]
    assert len(desk.parked()) == 1


# --- Telling the sender ----------------------------------------------------------------------------


def test_the_sender_is_told_once_on_its_next_call(desk):
    me = {"Spine-Agent": "boss"}
    handoff = desk.deliver(desk.pack(), 202, me).json
    desk.settle("reject", desk.take(), reason="not a job for me")
    other = desk.deliver(desk.pack(), 202, {"Spine-Agent": "somebody"}).json
    assert "notices" not in other
    answer = desk.deliver(desk.pack("x"), 202, me).json
    assert answer["notices"] == [{"event": "handoff.parked", "handoff": handoff["id"], "envelope_id": handoff["envelope_id"],
                                  "to": "worker", "reason": "not a job for me"}]
    assert "notices" not in desk.deliver(desk.pack("y"), 202, me).json


def test_the_sender_is_told_again_where_it_is_parked_again(desk):
    me = {"Spine-Agent": "boss"}
    handoff = desk.deliver(desk.pack(), 202, me).json
    for reason in ("first", "second"):
        desk.settle("reject", desk.take(), reason=reason)
        told = desk.deliver(desk.pack(f"to-{reason}"), 202, me).json["notices"]
        assert [(notice["handoff"], notice["reason"]) for notice in told] == [(handoff["id"], reason)]
        desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive")


# --- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_only_what_is_parked_can_be_decided_on(desk, way):
    handoff = desk.send()
    before = desk.everything()
    answer = desk.call("POST", f"/v1/parked/{handoff['id']}/{way}", WAYS[way])
    problem = check_problem(answer, 409, "not_parked", "id")
    assert "queued" in problem["detail"]
    assert desk.everything() == before
    desk.refused(404, "handoff_not_found", "POST", f"/v1/parked/ho-99/{way}", WAYS[way], field="id")
    desk.refused(404, "handoff_not_found", "POST", f"/v1/parked/env-1/{way}", WAYS[way], field="id")


@pytest.mark.parametrize("way, body, field, code", [
    ("reroute", {}, "to", "missing_field"), ("reroute", {"to": ""}, "to", "invalid_field"), ("reroute", {"to": "x" * 129}, "to", "too_large"),
    ("reroute", {"to": 5}, "to", "invalid_field"), ("reroute", {"to": "a\nb"}, "to", "invalid_field"),
    ("discard", {}, "why", "missing_field"), ("discard", {"why": ""}, "why", "invalid_field"), ("discard", {"why": "x" * 4097}, "why", "too_large"),
    ("redrive", {"why": 5}, "why", "invalid_field"), ("redrive", {"by": ""}, "by", "invalid_field"), ("redrive", {"by": "x" * 129}, "by", "too_large"),
    ("redrive", {"by": "a\tb"}, "by", "invalid_field"),
    ("shrink", {}, "max_tokens", "missing_field"), ("shrink", {"max_tokens": 0}, "max_tokens", "invalid_field"),
    ("shrink", {"max_tokens": "few"}, "max_tokens", "invalid_field"), ("shrink", {"max_tokens": 100, "why": []}, "why", "invalid_field"),
])
def test_bad_input_is_named_and_changes_nothing(desk, way, body, field, code):
    handoff = park(desk)
    before = desk.everything()
    desk.refused(422, code, "POST", f"/v1/parked/{handoff['id']}/{way}", body, field=field)
    assert desk.everything() == before


@pytest.mark.parametrize("body, field, code", [({}, "reason", "missing_field"), ({"reason": ""}, "reason", "invalid_field"),
                                               ({"reason": 5}, "reason", "invalid_field"), ({"reason": "x" * 4097}, "reason", "too_large")])
def test_parking_wants_a_reason(desk, body, field, code):
    envelope = desk.pack()
    desk.refused(422, code, "POST", f"/v1/envelopes/{envelope}/park", body, field=field)
    desk.refused(404, "envelope_not_found", "POST", "/v1/envelopes/env-99/park", {"reason": "x"}, field="id")
    assert desk.parked() == []


def test_what_waits_behind_is_passed_on_when_the_one_at_work_is_parked(desk):
    first = desk.send("busy")
    desk.take("busy", lease_s=400)
    behind = desk.send("busy", ack_timeout_s=0.1, max_attempts=1, fallbacks=["spare"])
    wait_until(lambda: desk.look(behind)["due_at"] != behind["due_at"], "the agent is at work: it is looked at again")
    assert desk.look(behind)["to"] == "busy"
    desk.ok("POST", f"/v1/envelopes/{first['envelope_id']}/park", {"reason": "enough"})
    assert desk.take("spare")["id"] == behind["id"]
