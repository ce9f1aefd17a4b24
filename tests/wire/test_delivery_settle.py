"""What a receiver answers, once, twice, too late, and with the wrong lease."""

import pytest

VERBS = {"ack": {}, "nack": {"reason": "no"}, "reject": {"reason": "no"}, "progress": {"note": "half"}, "complete": {"result": 1},
         "need": {"refs": []}, "release": {"reason": "deploy"}}


def test_an_ack_is_acceptance(desk):
    desk.send()
    got = desk.take()
    acked = desk.settle("ack", got, gaps=["the schema"], input_tokens=812)
    assert (acked["state"], acked["work_lease"], acked["due_at"], acked["receiver"]) == ("acked", False, None, got["receiver"])
    seen = desk.look(got)
    assert (seen["gaps"], seen["input_tokens"], seen["result"]) == (["the schema"], 812, None)
    assert desk.events(got) == ["queued", "leased", "acked"]


def test_complete_ends_it_with_a_result_whatever_its_kind(desk):
    for result in ({"files": ["a.py"], "n": 1.5}, [1, None], "text", 7, True, None):
        desk.send()
        got = desk.take()
        desk.settle("ack", got)
        done = desk.settle("complete", got, result=result, gaps=[{"what": "tests"}], input_tokens=5)
        assert done["state"] == "completed"
        seen = desk.look(got)
        assert (seen["result"], seen["gaps"], seen["input_tokens"]) == (result, [{"what": "tests"}], 5)


def test_complete_without_an_ack_is_both(desk):
    desk.send()
    got = desk.take()
    done = desk.settle("complete", got, result="x")
    assert done["state"] == "completed" and done["acked_at"] is not None
    assert desk.events(got) == ["queued", "leased", "acked", "completed"]


def test_a_nack_brings_it_back_as_the_next_attempt(desk):
    desk.send()
    got = desk.take()
    back = desk.settle("nack", got, reason="the tool is down", delay_s=0)
    assert (back["state"], back["attempt"], back["reason"], back["receiver"]) == ("queued", 2, "the tool is down", None)
    again = desk.take()
    assert (again["id"], again["attempt"], again["redelivered"]) == (got["id"], 2, True)


def test_a_nack_with_a_delay_keeps_it_back_that_long(desk):
    desk.send()
    desk.settle("nack", desk.take(), reason="later", delay_s=3600)
    assert desk.receive() == []
    seen = desk.ok("GET", "/v1/handoffs?state=queued")["handoffs"][0]
    assert seen["due_at"] > seen["changed_at"]


def test_a_reject_is_final_and_parks_it_with_the_reason(desk):
    desk.send(max_attempts=9)
    got = desk.take()
    parked = desk.settle("reject", got, reason="this is not code")
    assert (parked["state"], parked["reason"], parked["attempt"]) == ("parked", "this is not code", 1)
    assert desk.receive() == []


def test_a_reject_after_the_ack_parks_it_too(desk):
    desk.send()
    got = desk.take()
    desk.settle("ack", got)
    assert desk.settle("reject", got, reason="I was wrong")["state"] == "parked"


def test_reasons_may_be_left_out(desk):
    desk.send()
    assert desk.settle("nack", desk.take(), delay_s=0)["reason"]
    assert desk.settle("reject", desk.take())["reason"]


def test_progress_renews_the_lease_and_leaves_a_note(desk):
    desk.send()
    got = desk.take(lease_s=60)
    seen = desk.settle("progress", got, note="reading", work_lease_s=3600)
    assert (seen["state"], seen["progress"]) == ("leased", "reading")
    assert seen["due_at"] > got["lease_expires_at"]
    acked = desk.settle("ack", got, work_lease_s=60)
    later = desk.settle("progress", got, note="writing", work_lease_s=3600)
    assert (later["state"], later["work_lease"], later["progress"]) == ("acked", True, "writing")
    assert later["due_at"] > acked["due_at"]
    notes = [event["note"] for event in desk.look(got)["events"] if event["event"] == "handoff.progress"]
    assert notes == ["reading", "writing"]


def test_need_answers_with_the_memories_and_names_what_is_not_there(desk):
    desk.store("one", id="ms-1")
    desk.store("two", id="ms-2")
    desk.patch("ms-2", content="two, corrected")
    desk.store("secret", id="ms-3")
    desk.forget("ms-3")
    envelope = desk.pack()
    desk.deliver(envelope, 202)
    got = desk.take()
    answer = desk.settle("need", got, refs=["ms-1", "ms-2@1", "ms-3", "ms-99", "ms-1", "ms-99"])
    assert [(memory["id"], memory["version"], memory["content"]) for memory in answer["memories"]] == [("ms-1", 1, "one"), ("ms-2", 1, "two")]
    assert answer["missing"] == [{"id": "ms-3", "reason": "forgotten"}, {"id": "ms-99", "reason": "unknown"}]
    assert (answer["handoff"]["id"], answer["handoff"]["state"]) == (got["id"], "leased")
    receipts = desk.ok("GET", f"/v1/envelopes/{envelope}/receipts")["receipts"]
    assert {receipt["id"] for receipt in receipts} == {"ms-1", "ms-2"}, receipts


# --- Given back on purpose -------------------------------------------------------------------------


def failures(desk):
    return desk.agent()["breaker"]["failures"]


@pytest.mark.parametrize("before", ["leased", "acked", "working"])
def test_a_release_gives_it_back_and_uses_no_attempt(desk, before):
    sent, other = desk.send(max_attempts=1), desk.send()
    for restart in range(1, 6):
        got = desk.take(lease_s=60)
        assert (got["id"], got["attempt"], got["leases"]) == (sent["id"], 1, restart)
        if before != "leased":
            desk.settle("ack", got, **({"work_lease_s": 60} if before == "working" else {}))
        back = desk.settle("release", got, reason="deploy of version 7")
        assert (back["state"], back["attempt"], back["reason"], back["receiver"]) == ("queued", 1, None, None)
    seen = desk.look(sent)
    assert [(one["outcome"], one["error"]) for one in seen["attempts"]] == [("released", "deploy of version 7")] * 5
    assert (failures(desk), desk.state(other), seen["leases"]) == (0, "queued", 5)
    assert desk.ok("GET", "/v1/stats")["overall"]["retries"] == 0
    assert desk.settle("complete", desk.take(), result=1)["state"] == "completed"


def test_a_release_with_a_delay_keeps_it_back_that_long(desk):
    desk.send()
    back = desk.settle("release", desk.take(), delay_s=3600)
    assert (back["state"], back["attempt"]) == ("queued", 1)
    assert desk.receive() == []


def test_a_release_goes_along_with_a_receive(desk):
    first, second = desk.send(), desk.send()
    got = desk.take()
    answer = desk.ok("POST", "/v1/agents/worker/receive", {
        "format": "none", "settle": [{"id": got["id"], "verb": "release", "lease": got["lease"], "delay_s": 60}]})
    assert [(one["verb"], one["handoff"]["state"]) for one in answer["settled"]] == [("release", "queued")]
    assert [one["id"] for one in answer["handoffs"]] == [second["id"]]
    assert desk.look(first)["attempt"] == 1


def test_a_sender_that_waits_is_answered_by_whoever_takes_it_next(desk, beside):
    waits = beside("POST", "/v1/handoffs", {"envelope_id": desk.pack(), "wait_s": 30})
    desk.settle("release", desk.take())
    desk.settle("ack", desk.take())
    assert waits.result(200).json["state"] == "acked"


def test_who_gives_back_without_end_uses_attempts_after_a_hundred_leases(desk):
    sent = desk.send(max_attempts=1)
    for _ in range(99):
        assert desk.settle("release", desk.take())["state"] == "queued"
    parked = desk.settle("release", desk.take(), reason="again")
    assert (parked["state"], parked["reason"]) == ("parked", "given back after it was taken 100 times: again")
    assert desk.look(sent)["attempts"][-1]["outcome"] == "nacked"


# --- Again, and too late ---------------------------------------------------------------------------


def test_the_same_ack_again_is_answered_as_before_and_changes_nothing(desk):
    desk.send()
    got = desk.take()
    first = desk.settle("ack", got)
    before = desk.everything()
    assert desk.settle("ack", got) == first
    desk_events = desk.events(got)
    assert desk.everything() == before and desk_events == ["queued", "leased", "acked"]


def test_an_ack_after_the_completion_is_answered_with_it(desk):
    desk.send()
    got = desk.take()
    done = desk.settle("complete", got, result=1)
    before = desk.everything()
    assert desk.settle("ack", got) == done
    assert desk.settle("complete", got, result=1) == done
    assert desk.everything() == before


@pytest.mark.parametrize("verb", VERBS)
def test_an_old_lease_is_refused_and_changes_nothing(desk, verb):
    desk.send()
    old = desk.take()
    desk.settle("nack", old, reason="x", delay_s=0)
    new = desk.take()
    before = desk.everything()
    problem = desk.settle(verb, old, 409, **VERBS[verb])
    assert (problem["code"], problem["field"], problem["handoff"]) == ("stale_lease", "lease", old["id"])
    assert new["lease"] in problem["detail"]
    assert desk.everything() == before
    desk.settle("ack", new)
    before = desk.everything()
    assert desk.settle(verb, old, 409, **VERBS[verb])["code"] == "stale_lease"
    assert desk.everything() == before


@pytest.mark.parametrize("verb", ["ack", "nack", "progress", "complete", "need"])
def test_a_lease_of_what_was_parked_is_refused(desk, verb):
    desk.send()
    got = desk.take()
    desk.settle("reject", got, reason="no")
    before = desk.everything()
    assert desk.settle(verb, got, 409, **VERBS[verb])["code"] == "stale_lease"
    assert desk.everything() == before


@pytest.mark.parametrize("verb", ["nack", "reject", "progress", "need"])
def test_what_is_completed_stays_completed(desk, verb):
    desk.send()
    got = desk.take()
    desk.settle("complete", got, result=1)
    before = desk.everything()
    assert desk.settle(verb, got, 409, **VERBS[verb])["code"] == "stale_lease"
    assert desk.everything() == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_lease_that_was_never_given_is_refused(desk, verb):
    handoff = desk.send()
    before = desk.everything()
    assert desk.settle(verb, handoff, 409, lease=f"{handoff['id']}.1", **VERBS[verb])["code"] == "stale_lease"
    assert desk.settle(verb, handoff, 409, lease=f"{handoff['id']}.9", **VERBS[verb])["code"] == "stale_lease"
    assert desk.everything() == before


# --- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("lease, code", [(None, "missing_field"), ("", "invalid_field"), ("x", "invalid_field"), (5, "invalid_field"),
                                         ("ho-999.1", "invalid_field"), ("ho-1", "invalid_field"), ("ho-1.0", "invalid_field"),
                                         ("ho-1.1x", "invalid_field"), ("ho-1.-1", "invalid_field"), ("ho-1." + "9" * 60, "too_large")])
def test_what_is_no_lease_of_it_is_named(desk, verb, lease, code):
    desk.send()
    got = desk.take()
    before = desk.everything()
    problem = desk.refused(422, code, "POST", f"/v1/handoffs/{got['id']}/{verb}", {"lease": lease, **VERBS[verb]}, field="lease")
    assert "lease" in problem["detail"]
    assert desk.everything() == before


@pytest.mark.parametrize("verb, field, value, code", [
    ("ack", "work_lease_s", 0, "invalid_field"), ("ack", "work_lease_s", 86401, "invalid_field"), ("ack", "work_lease_s", "1", "invalid_field"),
    ("ack", "gaps", "x", "invalid_field"), ("ack", "gaps", ["x"] * 1001, "too_large"), ("ack", "input_tokens", -1, "invalid_field"),
    ("ack", "input_tokens", 1.5, "invalid_field"), ("ack", "input_tokens", 2**40, "invalid_field"),
    ("nack", "reason", 5, "invalid_field"), ("nack", "reason", "x" * 4097, "too_large"), ("nack", "delay_s", -1, "invalid_field"),
    ("nack", "delay_s", 86401, "invalid_field"), ("nack", "delay_s", "soon", "invalid_field"),
    ("reject", "reason", [], "invalid_field"), ("reject", "reason", "x" * 4097, "too_large"),
    ("progress", "note", 5, "invalid_field"), ("progress", "note", "x" * 4097, "too_large"), ("progress", "work_lease_s", 0, "invalid_field"),
    ("complete", "gaps", {}, "invalid_field"), ("complete", "input_tokens", "many", "invalid_field"),
    ("complete", "result", "x" * 1048576, "too_large"), ("complete", "result", ["x" * 100] * 12000, "too_large"),
    ("complete", "remember", "no", "invalid_field"),
    ("need", "refs", "ms-1", "invalid_field"), ("need", "refs", None, "missing_field"), ("need", "refs", ["ms-1"] * 1001, "too_large"),
], ids=lambda value: repr(value)[:20])
def test_bad_input_is_named_and_changes_nothing(desk, verb, field, value, code):
    desk.send()
    got = desk.take()
    before = desk.everything()
    desk.refused(422, code, "POST", f"/v1/handoffs/{got['id']}/{verb}", {"lease": got["lease"], field: value}, field=field)
    assert desk.everything() == before


@pytest.mark.parametrize("ref", ["env-1", "", "ms-", 5, None, "ms-1@0"])
def test_a_bad_reference_is_named_by_its_place(desk, ref):
    desk.store("x")
    desk.send()
    got = desk.take()
    desk.refused(422, "invalid_field", "POST", f"/v1/handoffs/{got['id']}/need", {"lease": got["lease"], "refs": ["ms-1", ref]}, field="refs[1]")


@pytest.mark.parametrize("verb", VERBS)
def test_a_handoff_that_is_not_there_is_named(desk, verb):
    desk.refused(404, "handoff_not_found", "POST", f"/v1/handoffs/ho-1/{verb}", {"lease": "ho-1.1", **VERBS[verb]}, field="id")
    desk.send()
    desk.refused(404, "handoff_not_found", "POST", f"/v1/handoffs/ho-99/{verb}", {"lease": "ho-99.1", **VERBS[verb]}, field="id")
    desk.refused(404, "handoff_not_found", "POST", f"/v1/handoffs/env-1/{verb}", {"lease": "ho-1.1", **VERBS[verb]}, field="id")


def test_a_result_of_the_greatest_size_is_taken_whole(desk):
    desk.send()
    got = desk.take()
    text = "x" * (256 * 1024 - 2)
    desk.settle("complete", got, result=text)
    assert desk.look(got)["result"] == text


def test_a_completion_keeps_what_the_ack_told(desk):
    desk.send()
    taken = desk.take()
    desk.settle("ack", taken, input_tokens=812, gaps=["no access to ms-7"])
    desk.settle("complete", taken, result="done")
    seen = desk.look(taken)
    assert (seen["result"], seen["gaps"], seen["input_tokens"]) == ("done", ["no access to ms-7"], 812)


def test_no_gaps_are_added_to_as_well(desk):
    desk.send()
    taken = desk.take()
    desk.settle("ack", taken, gaps=[])
    desk.settle("complete", taken, gaps=["late", "late"])
    assert desk.look(taken)["gaps"] == ["late", "late"]


def test_a_completion_may_correct_what_the_ack_told_and_adds_to_its_gaps(desk):
    desk.send()
    taken = desk.take()
    desk.settle("ack", taken, input_tokens=812, gaps=["no access to ms-7"])
    gaps = [{"what": "tests"}, "no access to ms-7", ["deep", {"a": [1]}]]
    desk.settle("complete", taken, result="done", input_tokens=900, gaps=gaps)
    seen = desk.look(taken)
    assert (seen["gaps"], seen["input_tokens"]) == (["no access to ms-7", {"what": "tests"}, ["deep", {"a": [1]}]], 900)


def test_a_completion_with_another_result_is_refused_and_the_first_stays(desk):
    desk.send()
    taken = desk.take()
    done = desk.settle("complete", taken, result={"b": 1, "a": [2]})
    before = desk.everything()
    for fields in ({"result": {"a": [2], "b": 1}}, {}, {"gaps": []}):
        assert desk.settle("complete", taken, **fields) == done
    for result in ({"b": 1}, None, "other"):
        problem = desk.settle("complete", taken, 200 if result is None else 409, result=result)
        assert result is None or (problem["code"], problem["field"], problem["handoff"]) == ("already_settled", "result", taken["id"])
    assert desk.everything() == before


def test_gaps_that_were_not_told_before_are_refused_and_not_dropped(desk):
    desk.send()
    taken = desk.take()
    acked = desk.settle("ack", taken, gaps=["a", {"b": 1}], work_lease_s=60)
    assert desk.settle("ack", taken, gaps=[{"b": 1}], work_lease_s=60) == acked
    problem = desk.settle("ack", taken, 409, gaps=["a", "c"], work_lease_s=60)
    assert (problem["code"], problem["field"]) == ("already_settled", "gaps")
    assert "Give the new ones when you complete it" in problem["detail"]
    done = desk.settle("complete", taken, gaps=["c"])
    assert desk.settle("complete", taken, gaps=["c", "a"]) == done
    problem = desk.settle("complete", taken, 409, gaps=["d"])
    assert (problem["code"], problem["field"], problem["handoff"]) == ("already_settled", "gaps", taken["id"])
    assert desk.look(taken)["gaps"] == ["a", {"b": 1}, "c"]


def test_a_completion_without_a_result_takes_none_later(desk):
    desk.send()
    taken = desk.take()
    desk.settle("complete", taken)
    assert desk.settle("complete", taken, 409, result=1)["code"] == "already_settled"
    assert desk.settle("complete", taken)["state"] == "completed"


def test_an_ack_is_not_taken_back(desk):
    desk.send()
    got = desk.take()
    desk.settle("ack", got)
    problem = desk.settle("nack", got, 409)
    assert problem["code"] == "stale_lease" and "an ack is not taken back: complete or reject it" in problem["detail"]
    assert desk.state(got) == "acked"
    desk.settle("reject", got, reason="after all")
