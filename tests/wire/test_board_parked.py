"""Parked work, all of it reachable, and decided about one at a time or many by a filter, with a preview and an undo."""

import pytest
from delivery import at


def park(desk, to="worker", reason="cannot", **fields):
    handoff = desk.deliver(desk.pack(to, **fields), 202).json
    desk.settle("reject", desk.take(to), reason=reason)
    return handoff["id"]


def parked(desk, query=""):
    return desk.ok("GET", "/v1/parked?page_size=1000" + query)


def ids(desk, query=""):
    return [one["id"] for one in parked(desk, query)["parked"]]


def many(desk, action, **body):
    return desk.ok("POST", f"/v1/parked/{action}", body)


def done(answer):
    return [one["id"] for one in answer["done"]]


# --- The list --------------------------------------------------------------------------------------


def test_what_is_parked_says_its_task_and_what_it_is_about_and_how_much_there_is(desk):
    for number in range(3):
        park(desk, task=f"t{number}", summary=f"work {number}")
    page = desk.ok("GET", "/v1/parked?page_size=2")
    assert page["total"] == 3
    assert [(one["task"], one["summary"]) for one in page["parked"]] == [("t0", "work 0"), ("t1", "work 1")]
    assert ids(desk, "&order=newest") == list(reversed(ids(desk)))


def test_the_list_is_filtered_by_agent_reason_age_and_task(desk):
    a = park(desk, "ann", "HTTP 529: overloaded", task="t1")
    b = park(desk, "bob", "ValueError: no such table", task="t1")
    c = park(desk, "bob", "overloaded again", task="t2")
    assert ids(desk, "&to=bob") == [b, c]
    assert ids(desk, "&reason=OVERLOADED") == [a, c]
    assert ids(desk, "&reason=overloaded&to=ann") == [a]
    assert ids(desk, "&task=t1") == [a, b]
    assert ids(desk, "&task=none") == ids(desk, "&to=nobody") == []
    when = desk.look(c)["changed_at"]
    assert c in ids(desk, f"&since={when}") and c not in ids(desk, f"&before={when}")
    assert parked(desk, "&to=bob")["total"] == 2 and parked(desk, "&task=none")["total"] == 0
    assert ids(desk, "&before=2000-01-01T00:00:00Z") == []


# --- Many at once ----------------------------------------------------------------------------------


def test_a_preview_says_what_would_be_done_and_changes_nothing(desk):
    one, other = park(desk, task="t", summary="the work"), park(desk, "other")
    before = desk.everything()
    answer = many(desk, "redrive", to="worker", dry_run=True)
    assert (answer["action"], answer["dry_run"], answer["matched"], done(answer)) == ("redrive", True, 1, [one])
    seen = answer["done"][0]
    assert (seen["task"], seen["summary"], seen["to"], seen["reason"], seen["state"]) == ("t", "the work", "worker", "cannot", "parked")
    assert done(many(desk, "discard", all=True, dry_run=True, why="x")) == [one, other]
    assert desk.everything() == before


def test_all_that_fit_are_redriven(desk):
    busy = [park(desk, reason="HTTP 529") for _ in range(3)]
    broken = park(desk, reason="ValueError")
    answer = many(desk, "redrive", reason="529", by="maria", why="the model is back")
    assert (done(answer), answer["refused"], answer["matched"], answer["next_after"]) == (busy, [], 3, None)
    assert ids(desk) == [broken] and [desk.state(one) for one in busy] == ["queued"] * 3
    event = desk.look(busy[0])["events"][-1]
    assert (event["event"], event["actor"], event["note"]) == ("handoff.redriven", "maria", "the model is back")
    again = many(desk, "redrive", reason="529")
    assert (done(again), again["matched"]) == ([], 0)


def test_a_call_does_a_bounded_part_and_says_where_to_go_on(desk):
    all_of_them = [park(desk) for _ in range(5)]
    answer = many(desk, "redrive", all=True, limit=2)
    assert (done(answer), answer["matched"], answer["next_after"]) == (all_of_them[:2], 5, all_of_them[1])
    answer = many(desk, "redrive", all=True, limit=2, after=answer["next_after"])
    assert (done(answer), answer["matched"], answer["next_after"]) == (all_of_them[2:4], 3, all_of_them[3])
    answer = many(desk, "redrive", all=True, limit=2, after=answer["next_after"])
    assert (done(answer), answer["next_after"]) == (all_of_them[4:], None)


def test_what_cannot_be_rerouted_is_refused_by_itself(desk):
    envelope = desk.pack("worker")
    desk.deliver(envelope, 202, to="other")
    first = desk.deliver(envelope, 202, to="worker").json["id"]
    desk.settle("reject", desk.take("worker"), reason="no")
    second = park(desk)
    for dry_run in (True, False):
        answer = many(desk, "reroute", to="worker", reroute_to="other", dry_run=dry_run)
        assert done(answer) == [second] and [(one["id"], one["code"]) for one in answer["refused"]] == [(first, "already_sent")]
    assert desk.look(second)["to"] == "other" and desk.state(first) == "parked"


def test_handoffs_can_be_named(desk):
    one, two, three = (park(desk) for _ in range(3))
    answer = many(desk, "discard", ids=[three, one, one, "ho-999"], why="over")
    assert done(answer) == [one, three] and answer["matched"] == 3
    assert [(refused["id"], refused["code"]) for refused in answer["refused"]] == [("ho-999", "handoff_not_found")]
    answer = many(desk, "discard", ids=[one], why="again")
    assert done(answer) == [] and answer["refused"][0]["code"] == "not_parked"
    assert ids(desk) == [two]


@pytest.mark.parametrize(("action", "body", "field", "code"), [
    ("redrive", {}, "all", "missing_field"), ("redrive", {"all": False}, "all", "missing_field"),
    ("redrive", {"dry_run": True}, "all", "missing_field"),
    ("redrive", {"to": ""}, "to", "invalid_field"), ("redrive", {"all": True, "limit": 1001}, "limit", "invalid_field"),
    ("redrive", {"all": True, "limit": 0}, "limit", "invalid_field"),
    ("redrive", {"ids": ["ho-1"], "to": "x"}, "ids", "invalid_field"), ("redrive", {"ids": ["env-1"]}, "ids[0]", "invalid_field"),
    ("reroute", {"all": True}, "reroute_to", "missing_field"), ("reroute", {"all": True, "reroute_to": "next"}, "reroute_to", "invalid_field"),
    ("discard", {"all": True}, "why", "missing_field"), ("restore", {}, "ids", "missing_field"),
    ("restore", {"ids": []}, "ids", "missing_field"), ("redrive", {"since": "yesterday"}, "since", "invalid_field"),
])
def test_what_is_not_said_clearly_changes_nothing(desk, action, body, field, code):
    park(desk)
    before = desk.everything()
    desk.refused(422, code, "POST", f"/v1/parked/{action}", body, field=field)
    assert desk.everything() == before


def test_filters_hold_together(desk):
    old = park(desk, "ann", "HTTP 529")
    when = desk.look(old)["changed_at"]
    new = park(desk, "ann", "HTTP 529", task="t")
    assert at(desk.look(new)["changed_at"]) >= at(when)
    assert done(many(desk, "redrive", reason="529", task="t", since=when, to="ann")) == [new]


# --- Undo ------------------------------------------------------------------------------------------


def test_what_was_discarded_can_be_brought_back(desk):
    all_of_them = [park(desk, reason=f"reason {number}") for number in range(3)]
    many(desk, "discard", all=True, why="too much")
    assert ids(desk) == []
    back = desk.ok("POST", f"/v1/parked/{all_of_them[0]}/restore", {"by": "maria", "why": "a slip"})
    assert (back["state"], back["reason"]) == ("parked", "reason 0")
    event = desk.look(all_of_them[0])["events"][-1]
    assert (event["event"], event["actor"], event["note"]) == ("handoff.restored", "maria", "a slip")
    assert done(many(desk, "restore", ids=all_of_them[1:], dry_run=True)) == all_of_them[1:]
    assert done(many(desk, "restore", ids=all_of_them)) == all_of_them[1:]
    assert ids(desk) == all_of_them


def test_a_redrive_that_nobody_has_taken_can_be_undone(desk):
    one, two = park(desk), park(desk)
    many(desk, "redrive", all=True)
    desk.take()
    answer = many(desk, "restore", ids=[one, two])
    assert done(answer) == [two] and [(x["id"], x["code"]) for x in answer["refused"]] == [(one, "not_restorable")]
    assert ids(desk) == [two] and desk.look(two)["reason"] == "cannot"


def test_what_was_replaced_by_a_smaller_envelope_does_not_come_back(desk):
    one = park(desk, summary="a long summary " * 20)
    desk.ok("POST", f"/v1/parked/{one}/shrink", {"max_tokens": 300}, status=201)
    problem = desk.refused(409, "not_restorable", "POST", f"/v1/parked/{one}/restore", {})
    assert "smaller" in problem["detail"]
    queued = desk.send("elsewhere")["id"]
    desk.refused(409, "not_restorable", "POST", f"/v1/parked/{queued}/restore", {})
    desk.refused(404, "handoff_not_found", "POST", "/v1/parked/ho-9999/restore", {})


# --- What is queued --------------------------------------------------------------------------------


def test_what_is_queued_is_cancelled_by_a_filter_and_comes_back_parked(desk):
    first, other = desk.send("ann")["id"], desk.send("bob")["id"]
    assert done(desk.ok("POST", "/v1/queued/cancel", {"to": "ann", "dry_run": True})) == [first]
    assert desk.state(first) == "queued"
    answer = desk.ok("POST", "/v1/queued/cancel", {"to": "ann", "why": "not needed", "by": "maria"})
    assert (answer["action"], done(answer), answer["matched"]) == ("cancel", [first], 1)
    assert (desk.state(first), desk.state(other)) == ("discarded", "queued")
    assert done(many(desk, "restore", ids=[first])) == [first] and desk.state(first) == "parked"
    desk.refused(422, "missing_field", "POST", "/v1/queued/cancel", {}, field="all")


def test_what_is_queued_is_moved_by_a_filter_and_what_is_taken_stays(desk):
    taken, first, second = (desk.send("ann")["id"] for _ in range(3))
    assert desk.take("ann")["id"] == taken
    answer = desk.ok("POST", "/v1/queued/move", {"to": "ann", "move_to": "bob"})
    assert (done(answer), answer["matched"], [one["to"] for one in answer["done"]]) == ([first, second], 2, ["bob", "bob"])
    assert [one["id"] for one in desk.receive("bob", max=5)] == [first, second]
    answer = desk.ok("POST", "/v1/queued/move", {"ids": [taken], "move_to": "bob"})
    assert [(one["id"], one["code"]) for one in answer["refused"]] == [(taken, "not_queued")]
    desk.refused(422, "missing_field", "POST", "/v1/queued/move", {"to": "ann"}, field="move_to")
