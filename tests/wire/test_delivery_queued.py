"""What a person, or a sender, does with what is queued: it is cancelled, or given to another agent."""

from api import check_problem


def test_what_is_queued_is_cancelled_and_nobody_gets_it(desk):
    handoff = desk.send()
    gone = desk.ok("POST", f"/v1/handoffs/{handoff['id']}/cancel", {"by": "eve", "why": "asked for by mistake"})
    assert (gone["state"], gone["reason"], gone["due_at"]) == ("discarded", "asked for by mistake", None)
    assert desk.receive() == []
    told = desk.look(handoff)["events"][-1]
    assert (told["event"], told["actor"], told["note"]) == ("handoff.cancelled", "eve", "asked for by mistake")
    problem = check_problem(desk.deliver(handoff["envelope_id"]), 409, "handoff_parked")
    assert "discarded" in problem["detail"]


def test_it_is_cancelled_without_a_word_too(desk):
    handoff = desk.send(not_before="2026-12-31T00:00:00Z")
    assert desk.ok("POST", f"/v1/handoffs/{handoff['id']}/cancel")["state"] == "discarded"


def test_a_sender_that_waits_is_told_that_it_was_cancelled(desk, beside):
    sender = beside("POST", "/v1/handoffs", {"envelope_id": desk.pack(), "wait_s": 30})
    desk.wait_for_waiters(1)
    (handoff,) = desk.ok("GET", "/v1/handoffs?state=queued")["handoffs"]
    desk.ok("POST", f"/v1/handoffs/{handoff['id']}/cancel", {"why": "too late"})
    assert "too late" in check_problem(sender.result(), 409, "handoff_parked")["detail"]


def test_what_somebody_has_is_not_cancelled_and_the_answer_says_what_to_do(desk):
    for verb, word in ((None, "leased"), ("ack", "acked"), ("complete", "completed"), ("reject", "parked")):
        handoff = desk.send()
        got = desk.take()
        if verb:
            desk.settle(verb, got, **({"reason": "no"} if verb == "reject" else {}))
        before = desk.everything()
        for path, body in (("cancel", {}), ("move", {"to": "other"})):
            problem = desk.refused(409, "not_queued", "POST", f"/v1/handoffs/{handoff['id']}/{path}", body, field="id")
            assert word in problem["detail"] and problem["handoff"] == handoff["id"]
        assert desk.everything() == before
    assert problem["remedies"] == ["redrive", "reroute", "shrink", "discard"]
    desk.refused(404, "handoff_not_found", "POST", "/v1/handoffs/ho-999/cancel", {}, field="id")


def test_what_is_queued_is_given_to_another_agent_without_parking_it(desk):
    handoff = desk.send("ill", fallbacks=["third"])
    moved = desk.ok("POST", f"/v1/handoffs/{handoff['id']}/move", {"to": "well", "by": "eve", "why": "ill is ill"})
    assert (moved["state"], moved["to"], moved["target"], moved["attempt"]) == ("queued", "well", "well", 1)
    assert desk.receive("ill") == []
    assert desk.take("well")["id"] == handoff["id"]
    told = next(event for event in desk.look(handoff)["events"] if event["event"] == "handoff.moved")
    assert (told["agent"], told["actor"], told["note"]) == ("well", "eve", "ill is ill")
    assert "parked" not in desk.events(handoff)


def test_a_receiver_that_waits_gets_what_is_moved_to_its_agent(desk, poll):
    handoff = desk.send("ill")
    receiver = poll("well")
    desk.ok("POST", f"/v1/handoffs/{handoff['id']}/move", {"to": "well"})
    assert receiver.handoffs[0]["id"] == handoff["id"]


def test_nobody_gets_an_envelope_twice_by_a_move(desk):
    envelope = desk.pack("a")
    first, second = desk.deliver(envelope, 202).json, desk.deliver(envelope, 202, to="b").json
    problem = desk.refused(409, "already_sent", "POST", f"/v1/handoffs/{first['id']}/move", {"to": "b"}, field="to")
    assert second["id"] in problem["detail"]
    desk.refused(422, "missing_field", "POST", f"/v1/handoffs/{first['id']}/move", {}, field="to")
