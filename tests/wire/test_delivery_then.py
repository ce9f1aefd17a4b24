"""One step, one call, one commit: settling, handing on and taking the next together, done or not done as a whole."""

import pytest

LEASE_GONE = "ho-1.99"


def envelope(to="reviewer", summary="look at it", **fields):
    return {"envelope": {"target_agent": to, "task_summary": summary, "include_recent": 0, **fields}}


@pytest.fixture
def work(desk):
    """A handoff that the worker holds, of a task with an intent and a constraint."""
    desk.deliver(desk.pack(intent="Ship the parser.", constraints={"max_files": 3}), 202)
    return desk.take()


def finish(desk, work, result="Retry-After is honoured.", then=None, **fields):
    return desk.settle("complete", work, result=result, then=then or envelope(), **fields)


def step(desk, agent="worker", status=200, **fields):
    answer = desk.call("POST", f"/v1/agents/{agent}/receive", {"format": "none", **fields})
    assert answer.status == status, answer
    return answer.json


def item(work, verb="complete", **fields):
    return {"id": work["id"], "verb": verb, "lease": work["lease"], **fields}


def counts(desk):
    return {
        "handoffs": len(desk.ok("GET", "/v1/handoffs?page_size=1000")["handoffs"]),
        "memories": len(desk.ids("kind=output")),
        "tasks": [task["envelopes"] for task in desk.ok("GET", "/v1/tasks")["tasks"]],
    }


# --- then -------------------------------------------------------------------------------------------


def test_a_completion_hands_on_and_the_next_has_result_intent_and_constraints(desk, work):
    done = finish(desk, work)
    assert (done["state"], done["then"]["state"], done["then"]["to"], done["then"]["from"]) == ("completed", "queued", "reviewer", "worker")
    assert done["then"]["envelope_id"] != work["envelope_id"]
    got = desk.take("reviewer", format="both")
    assert got["id"] == done["then"]["id"] == desk.look(work)["handed_on"]
    sealed = got["envelope"]
    assert (sealed["lineage"]["parent"], sealed["lineage"]["hop"]) == (work["envelope_id"], 2)
    assert (sealed["task"]["intent"], sealed["constraints"]["max_files"]) == ("Ship the parser.", 3)
    assert [(ref["id"], ref["why"], ref["text"]) for ref in sealed["memory"]["refs"]] == [
        (done["result_memory"], "cited", "Retry-After is honoured.")]
    assert sealed["history"][-1]["memory_id"] == done["result_memory"]
    assert got["prompt"].count("Retry-After is honoured.") == 1, "it is told once"
    assert "since" not in got
    assert desk.ok("GET", f"/v1/envelopes/{sealed['id']}/verify")["verdict"] == "intact"
    assert desk.ids("query=Retry-After") == [done["result_memory"]], "the index knows it"


def test_what_happened_is_told_in_its_order(desk, work):
    finish(desk, work)
    assert desk.events(work) == ["queued", "leased", "acked", "completed"]
    assert desk.events(desk.take("reviewer")) == ["queued", "leased"]


def test_an_ack_hands_on_too_and_the_result_follows_as_news(desk, work):
    acked = desk.settle("ack", work, work_lease_s=60, then=envelope())
    assert (acked["state"], acked["then"]["state"]) == ("acked", "queued")
    done = desk.settle("complete", work, result="later")
    got = desk.take("reviewer", format="both")
    assert got["id"] == acked["then"]["id"]
    assert [news["id"] for news in got["since"]] == [done["result_memory"]]


def test_a_stored_envelope_can_be_handed_on(desk, work):
    other = desk.pack(to="auditor", summary="audit it")
    done = finish(desk, work, then={"envelope_id": other})
    assert (done["then"]["to"], done["then"]["envelope_id"]) == ("auditor", other)
    assert desk.take("auditor")["id"] == done["then"]["id"]


def test_other_settings_of_a_send_hold(desk, work):
    done = finish(desk, work, then={**envelope(), "to": "other", "priority": 9, "max_attempts": 1, "fallbacks": ["third"]})
    sent = done["then"]
    assert (sent["to"], sent["priority"], sent["max_attempts"], sent["fallbacks"]) == ("other", 9, 1, ["third"])


def test_another_parent_may_be_named(desk, work):
    root = desk.pack(to="x", summary="another task")
    done = finish(desk, work, then=envelope(parent=root))
    sealed = desk.ok("GET", f"/v1/envelopes/{done['then']['envelope_id']}")
    assert sealed["lineage"]["parent"] == root
    assert done["result_memory"] not in [ref["id"] for ref in sealed["memory"]["refs"]], "it is the result of another chain"


def test_a_second_chain_may_be_begun(desk, work):
    task = desk.ok("GET", f"/v1/envelopes/{work['envelope_id']}")["task"]["id"]
    done = finish(desk, work, then=envelope(task=task, new_root=True))
    sealed = desk.ok("GET", f"/v1/envelopes/{done['then']['envelope_id']}")
    assert (sealed["task"]["id"], sealed["lineage"]["parent"], sealed["lineage"]["hop"]) == (task, None, 1)
    assert done["result_memory"] not in [ref["id"] for ref in sealed["memory"]["refs"] if ref["why"] == "cited"]


def test_a_waiting_receiver_of_the_next_agent_is_served_with_the_same_commit(desk, work, poll):
    waiting = poll("reviewer")
    done = finish(desk, work)
    assert [got["id"] for got in waiting.handoffs] == [done["then"]["id"]]


@pytest.mark.parametrize("result", [None, "", {"a": 1}, "x" * (300 * 1024)], ids=["none", "empty", "json", "large"])
def test_whatever_the_result_is_the_work_is_handed_on(desk, work, result):
    done = finish(desk, work, result=result)
    got = desk.take("reviewer", format="both")
    steps = got["envelope"]["history"]
    if result in (None, ""):
        assert done["result_memory"] is None and steps == []
    elif result == {"a": 1}:
        assert steps[-1]["memory_id"] == done["result_memory"] and '{"a":1}' in got["prompt"]
    else:
        assert steps[-1]["action"].endswith(f"(result of {work['id']})")


# --- Again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["ack", "complete"])
def test_the_same_settling_again_answers_the_same_ids(desk, work, verb):
    fields = {"result": "r"} if verb == "complete" else {}
    first = desk.settle(verb, work, then=envelope(), **fields)
    before = counts(desk)
    again = desk.settle(verb, work, then=envelope(), **fields)
    assert (again["then"]["id"], again["then"]["envelope_id"]) == (first["then"]["id"], first["then"]["envelope_id"])
    assert counts(desk) == before
    plain = desk.settle(verb, work, **fields)
    assert plain["then"]["id"] == first["then"]["id"], "who does not say it again is told, too"


@pytest.mark.parametrize("then", [envelope(summary="another"), envelope(to="other"), {"envelope_id": "env-1"}])
def test_another_then_is_refused_and_the_first_stays(desk, work, then):
    first = finish(desk, work)
    before = desk.everything()
    refused = desk.settle("complete", work, status=409, result="Retry-After is honoured.", then=then)
    assert (refused["code"], refused["field"], refused["handoff"]) == ("already_settled", "then", work["id"])
    assert desk.everything() == before
    assert finish(desk, work)["then"]["id"] == first["then"]["id"]


def test_a_then_after_a_settling_without_one_is_refused(desk, work):
    desk.settle("complete", work, result="r")
    refused = desk.settle("complete", work, status=409, result="r", then=envelope())
    assert refused["code"] == "already_settled" and "without then" in refused["detail"]
    assert desk.receive("reviewer") == []


# --- Refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("then", "status", "code"), [
    (envelope(constraints={"max_files": 9}), 409, "constraint_conflict"),
    (envelope(constraints={"max_tokens": 20}), 422, "budget_too_small"),
    (envelope(intent="Something else."), 409, "intent_conflict"),
    ({"envelope_id": "env-9999"}, 404, "envelope_not_found"),
    ({}, 422, "missing_field"),
    ({**envelope(), "wait_s": 1}, 422, "invalid_field"),
    ({"envelope": {"target_agent": "x", "task_summary": "y", "dry_run": True}}, 422, "invalid_field"),
    ("reviewer", 422, "invalid_field"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_where_then_is_refused_so_is_the_whole_and_the_lease_stays(desk, work, then, status, code):
    before = desk.everything(), counts(desk)
    refused = desk.settle("complete", work, status=status, result="r", then=then)
    assert refused["code"] == code
    assert (desk.everything(), counts(desk)) == before
    assert finish(desk, work)["state"] == "completed"


def test_an_envelope_that_was_parked_is_not_handed_on_and_nothing_is_settled(desk, work):
    other = desk.pack(to="auditor")
    desk.ok("POST", f"/v1/envelopes/{other}/park", {"reason": "no"})
    before = desk.everything()
    assert desk.settle("complete", work, status=409, result="r", then={"envelope_id": other})["code"] == "handoff_parked"
    assert desk.everything() == before


def test_a_stale_lease_hands_nothing_on(desk, work):
    before = counts(desk)
    refused = desk.settle("complete", work, status=409, lease=LEASE_GONE, result="r", then=envelope())
    assert refused["code"] == "stale_lease"
    assert counts(desk) == before and desk.receive("reviewer") == []


# --- settle[] ---------------------------------------------------------------------------------------


def test_a_worker_settles_hands_on_and_takes_the_next_with_one_call(desk, work):
    desk.send()
    answer = step(desk, settle=[item(work, result="r", then=envelope())])
    [settled] = answer["settled"]
    assert (settled["id"], settled["verb"], settled["handoff"]["state"]) == (work["id"], "complete", "completed")
    assert settled["handoff"]["then"]["to"] == "reviewer" and settled["handoff"]["result_memory"]
    assert [got["state"] for got in answer["handoffs"]] == ["leased"]
    assert desk.ids("kind=output") == [settled["handoff"]["result_memory"]]


def test_each_is_settled_or_refused_by_itself_and_answered_in_its_order(desk):
    for _ in range(5):
        desk.send()
    held = desk.receive(max=5)
    answer = step(desk, settle=[
        item(held[0], "ack", work_lease_s=60), {**item(held[1], "ack"), "lease": f"{held[1]['id']}.7"}, item(held[2], "nack", reason="busy", delay_s=60),
        {"id": "ho-4711", "verb": "ack", "lease": "ho-4711.1"}, item(held[3], "reject", reason="not mine"),
        item(held[4], "complete", result=1, then=envelope(constraints={"max_tokens": 20})), item(held[4], "progress", note="half"),
    ])
    told = [outcome.get("handoff", outcome.get("problem")) for outcome in answer["settled"]]
    assert [one.get("state") or one["code"] for one in told] == [
        "acked", "stale_lease", "queued", "handoff_not_found", "parked", "budget_too_small", "leased"]
    assert told[2]["reason"] == "busy" and told[6]["progress"] == "half"
    assert answer["handoffs"] == []


def test_settles_are_committed_before_any_waiting(desk, work, poll):
    waiting = poll("worker", settle=[item(work, result="found early", then=envelope())])
    assert desk.state(work) == "completed", "while the call still waits"
    [memory] = desk.ids("query=early")
    assert desk.get(memory)["content"] == "found early", "and the index knows the result"
    assert desk.take("reviewer")["from"] == "worker"
    sent = desk.send()
    answer = waiting.result(200).json
    assert [got["id"] for got in answer["handoffs"]] == [sent["id"]]
    assert [outcome["handoff"]["state"] for outcome in answer["settled"]] == ["completed"]


def test_repeating_the_call_after_a_lost_answer_is_safe(desk, work):
    body = {"settle": [item(work, result="r", then=envelope())]}
    first = step(desk, **body)["settled"][0]["handoff"]
    before = counts(desk)
    again = step(desk, **body)["settled"][0]["handoff"]
    assert again["then"]["id"] == first["then"]["id"] and again["result_memory"] == first["result_memory"]
    assert counts(desk) == before


def test_work_that_an_agent_hands_to_itself_is_there_at_once(desk, work):
    answer = step(desk, settle=[item(work, result="r", then=envelope(to="worker", summary="now the tests"))])
    assert [got["id"] for got in answer["handoffs"]] == [answer["settled"][0]["handoff"]["then"]["id"]]


@pytest.mark.parametrize(("settle", "field"), [
    ([{"id": "ho-1", "verb": "eat", "lease": "ho-1.1"}], "settle[0].verb"),
    ([{"id": "ho-1", "lease": "ho-1.1"}], "settle[0].verb"),
    ([{"id": "ho-1", "verb": "ack"}], "settle[0].lease"),
    ([{"verb": "ack", "lease": "ho-1.1"}], "settle[0].id"),
    ([{"id": "ho-1", "verb": "ack", "lease": "ho-2.1"}], "settle[0].lease"),
    (["ho-1"], "settle[0]"),
    ({}, "settle"),
    ([{"id": "ho-1", "verb": "ack", "lease": "ho-1.1"}] * 101, "settle"),
    ([{"id": "ho-1", "verb": "complete", "lease": "ho-1.1", "then": {"envelope": {"task_summary": "x"}}}], "settle[0].then.target_agent"),
])
def test_what_is_not_well_formed_is_refused_as_a_whole(desk, work, settle, field):
    before = desk.everything()
    refused = step(desk, status=422, settle=settle)
    assert refused["field"] == field, refused
    assert desk.everything() == before


def test_fields_that_a_verb_does_not_take_are_warned_of(desk, work):
    answer = step(desk, settle=[item(work, "nack", reason="busy", delay_s=60, result=3)])
    assert answer["warnings"][0]["field"] == "settle[0].result"
