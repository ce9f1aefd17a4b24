"""Choreography: routes, loops, the hop limit; and what can be seen of a task and of an agent."""

import base64
import hashlib

import pytest


def route(desk, name, to, status=200, **fields):
    return desk.ok("PUT", f"/v1/routes/{name}", {"to": to, **fields}, status=status)


def next_of(desk, sender="a", **fields):
    body = {"from": sender, "target_agent": "next", "task_summary": "go on", "include_recent": 0, **fields}
    return desk.ok("POST", "/v1/envelopes", body, status=201)["to"]


# --- Routes ----------------------------------------------------------------------------------------


def test_routes_are_put_read_listed_and_deleted(desk):
    body = {"from": "a", "to": "b", "when": {"state": "drafted"}, "order": 7, "description": "the usual way"}
    made = desk.ok("PUT", "/v1/routes/first", body)
    assert list(made) == ["name", "from", "to", "when", "order", "description", "created_at", "updated_at"]
    assert {key: made[key] for key in body} == body and made["name"] == "first"
    assert desk.ok("GET", "/v1/routes/first") == made
    changed = desk.ok("PUT", "/v1/routes/first", {"to": "c"})
    assert (changed["to"], changed["from"], changed["when"], changed["order"]) == ("c", None, None, 100)
    assert changed["created_at"] == made["created_at"]
    for number in range(5):
        route(desk, f"r{number}", "x")
    seen, token = [], ""
    while token is not None:
        page = desk.ok("GET", "/v1/routes?page_size=2" + (f"&page_token={token}" if token else ""))
        seen += [entry["name"] for entry in page["routes"]]
        token = page["next_page_token"]
    assert sorted(seen) == ["first", "r0", "r1", "r2", "r3", "r4"]
    answer = desk.call("DELETE", "/v1/routes/first")
    assert (answer.status, answer.data) == (204, b"")
    for method in ("GET", "DELETE"):
        desk.refused(404, "route_not_found", method, "/v1/routes/first", field="name")


def test_the_first_route_that_fits_by_order_and_then_by_name_says_who_comes_next(desk):
    desk.refused(422, "no_route", "POST", "/v1/envelopes", {"from": "a", "target_agent": "next", "task_summary": "x"}, field="target_agent")
    route(desk, "m", "late", order=200)
    assert next_of(desk) == "late"
    route(desk, "z", "by-default")
    assert next_of(desk) == "by-default"
    route(desk, "y", "by-name")
    assert next_of(desk) == "by-name"
    route(desk, "zz", "early", order=0)
    assert next_of(desk) == "early"
    desk.call("DELETE", "/v1/routes/zz")
    assert next_of(desk) == "by-name"


def test_a_route_of_an_agent_is_for_that_agent(desk):
    route(desk, "a", "b", **{"from": "a"})
    assert next_of(desk, "a") == "b"
    answer = desk.call("POST", "/v1/envelopes", {"from": "x", "target_agent": "next", "task_summary": "x"})
    assert answer.json["code"] == "no_route"
    route(desk, "any", "c", order=500)
    assert (next_of(desk, "a"), next_of(desk, "x")) == ("b", "c")


@pytest.mark.parametrize("when, fits, fits_not", [
    ({"constraint": {"language": "python"}}, {"constraints": {"language": "python", "x": 1}}, {"constraints": {"language": "c"}}),
    ({"constraint": {"n": 1, "deep": {"a": [1, None]}}}, {"constraints": {"n": 1, "deep": {"a": [1, None]}}}, {"constraints": {"n": 1}}),
    ({"state": "reviewed"}, {"state": "reviewed"}, {"state": "drafted"}),
    ({"state": "reviewed"}, {"state": "reviewed"}, {}),
    ({"tag": "urgent"}, {"refs": ["ms-1"]}, {"refs": ["ms-2"]}),
    ({"tag": "urgent"}, {"task_summary": "see ms-1"}, {"task_summary": "see ms-2 and ms-99"}),
    ({"hop": {"max": 1}}, {}, None), ({"hop": {"min": 2}}, None, {}),
    ({"state": "reviewed", "constraint": {"n": 1}}, {"state": "reviewed", "constraints": {"n": 1}}, {"state": "reviewed"}),
])
def test_conditions_hold_all_together(desk, when, fits, fits_not):
    desk.store("an alarm", id="ms-1", tags=["urgent", "x"])
    desk.store("a note", id="ms-2", tags=["calm"])
    route(desk, "special", "special", when=when, order=1)
    route(desk, "otherwise", "otherwise", order=2)
    if fits is not None:
        assert next_of(desk, **fits) == "special"
    if fits_not is not None:
        assert next_of(desk, **fits_not) == "otherwise"


def test_conditions_look_at_what_is_inherited_too(desk):
    desk.store("an alarm", id="ms-1", tags=["urgent"])
    root = desk.pack("b", constraints={"language": "python"}, state="drafted", refs=["ms-1"], **{"from": "a"})
    route(desk, "language", "coder", when={"constraint": {"language": "python"}, "hop": {"min": 2, "max": 2}}, order=1)
    assert next_of(desk, "b", parent=root, state="checked") == "coder"
    route(desk, "state", "editor", when={"state": "drafted"}, order=0)
    assert next_of(desk, "b", parent=root, execution_history=[{"agent": "b", "action": "looked"}]) == "editor"
    desk.call("DELETE", "/v1/routes/state")
    route(desk, "tag", "fireman", when={"tag": "urgent"}, order=0)
    assert next_of(desk, "b", parent=root, state="burning") == "fireman"


def test_conditions_do_not_look_at_what_the_hop_waives_nor_at_the_budget_of_the_one_before(desk):
    root = desk.pack("b", constraints={"language": "python", "max_tokens": 900}, **{"from": "a"})
    route(desk, "language", "coder", when={"constraint": {"language": "python"}}, order=1)
    route(desk, "small", "small", when={"constraint": {"max_tokens": 900}}, order=2)
    route(desk, "otherwise", "otherwise", order=3)
    waive = [{"key": "language", "reason": "the client changed its mind"}]
    assert next_of(desk, "b", parent=root, state="1") == "coder"
    assert next_of(desk, "b", parent=root, state="2", waive=waive) == "otherwise"
    assert next_of(desk, "b", parent=root, state="3", waive=waive, constraints={"language": "python"}) == "coder"
    assert next_of(desk, "b", parent=root, state="4", waive=waive, constraints={"max_tokens": 900}) == "small"


@pytest.mark.parametrize("method, path, body, field", [
    ("POST", "/v1/handoffs", {"envelope_id": "env-1", "to": "next"}, "to"),
    ("POST", "/v1/handoffs", {"envelope_id": "env-1", "fallbacks": ["b", "next"]}, "fallbacks[1]"),
    ("POST", "/v1/parked/ho-1/reroute", {"to": "next"}, "to"),
    ("POST", "/v1/channels/c/publish", {"envelope_id": "env-1", "receivers": ["next"]}, "receivers[0]"),
    ("PUT", "/v1/channels/c/subscribers/next", None, "agent"),
    ("PUT", "/v1/agents/next", {}, "name"), ("PUT", "/v1/agents/b", {"fallbacks": ["next"]}, "fallbacks"),
    ("POST", "/v1/agents/next/receive", {}, "agent"),
])
def test_no_agent_is_called_next(desk, method, path, body, field):
    """What is sent to it would wait for somebody who never comes."""
    desk.pack("b")
    desk.ok("POST", "/v1/envelopes/env-1/park", {"reason": "to reroute it"})
    problem = desk.refused(422, "invalid_field", method, path, body, field=field)
    assert "routes" in problem["detail"]
    assert [agent["name"] for agent in desk.ok("GET", "/v1/agents")["agents"]] == ["b"]


def test_what_goes_to_the_next_is_delivered_there(desk):
    route(desk, "r", "coder")
    handoff = desk.ok("POST", "/v1/handoffs", {"envelope": {"from": "a", "target_agent": "next", "task_summary": "x"}}, status=202)
    assert handoff["to"] == "coder"
    assert desk.take("coder")["id"] == handoff["id"]


@pytest.mark.parametrize("body, field, code", [
    ({}, "to", "missing_field"), ({"to": None}, "to", "missing_field"), ({"to": 5}, "to", "invalid_field"), ({"to": ""}, "to", "invalid_field"),
    ({"to": "next"}, "to", "invalid_field"), ({"to": "x" * 129}, "to", "invalid_field"),
    ({"to": "b", "from": 5}, "from", "invalid_field"), ({"to": "b", "from": ""}, "from", "invalid_field"),
    ({"to": "b", "order": -1}, "order", "invalid_field"), ({"to": "b", "order": 1000001}, "order", "invalid_field"),
    ({"to": "b", "order": "first"}, "order", "invalid_field"), ({"to": "b", "order": 1.5}, "order", "invalid_field"),
    ({"to": "b", "when": []}, "when", "invalid_field"), ({"to": "b", "when": {"colour": "red"}}, "when", "invalid_field"),
    ({"to": "b", "when": {"state": 5}}, "when", "invalid_field"), ({"to": "b", "when": {"tag": ""}}, "when", "invalid_field"),
    ({"to": "b", "when": {"constraint": "x"}}, "when.constraint", "invalid_field"), ({"to": "b", "when": {"constraint": {}}}, "when.constraint", "invalid_field"),
    ({"to": "b", "when": {"hop": 3}}, "when.hop", "invalid_field"), ({"to": "b", "when": {"hop": {"min": 0}}}, "when.hop", "invalid_field"),
    ({"to": "b", "when": {"hop": {"max": 65}}}, "when.hop", "invalid_field"), ({"to": "b", "when": {"hop": {}}}, "when.hop", "invalid_field"),
    ({"to": "b", "when": {"hop": {"min": 5, "max": 2}}}, "when.hop", "invalid_field"),
    ({"to": "b", "description": 5}, "description", "invalid_field"), ({"to": "b", "description": "x" * 65536}, None, "too_large"),
], ids=lambda value: repr(value)[:30])
def test_bad_input_is_named_and_no_route_is_made(desk, body, field, code):
    desk.refused(422, code, "PUT", "/v1/routes/r", body, field=field)
    assert desk.ok("GET", "/v1/routes")["routes"] == []


def test_as_many_routes_as_are_looked_at_can_be_made_and_no_more(desk):
    for number in range(1000):
        route(desk, f"r{number:04}", "b")
    desk.refused(422, "too_large", "PUT", "/v1/routes/one-more", {"to": "b"})
    assert route(desk, "r0999", "changed")["to"] == "changed"
    desk.refused(404, "route_not_found", "GET", "/v1/routes/one-more")


@pytest.mark.parametrize("path", ["/v1/routes", "/v1/channels"])
@pytest.mark.parametrize("position", [2**32, 2**63, 2**64 - 2])
def test_a_page_token_that_somebody_made_up_does_no_harm(desk, path, position):
    digest = int.from_bytes(hashlib.sha256(f"{desk.space}\n{path}".encode()).digest()[:8], "little")
    token = base64.urlsafe_b64encode(f"{digest:x}.{position:x}.0.0".encode()).decode().rstrip("=")
    answer = desk.call("GET", f"{path}?page_token={token}")
    assert answer.status in (200, 400), answer
    assert desk.ok("GET", "/healthz") == {"status": "ok"}


# --- Loops and the limit ---------------------------------------------------------------------------


def refusals(desk):
    return [(event["note"].split(":")[0], event["actor"], event["agent"]) for event in desk.ok("GET", "/v1/audit")["entries"] if event["action"] == "envelope.refuse"]


def back(desk, parent, summary="do the work", sender="b", to="a", **fields):
    return {"from": sender, "target_agent": to, "task_summary": summary, "parent": parent, "include_recent": 0, **fields}


def test_work_that_comes_back_with_nothing_new_is_a_loop_and_its_holder_still_holds_it(desk):
    root = desk.pack("b", **{"from": "a"})
    desk.deliver(root, 202)
    got = desk.take("b")
    desk.settle("ack", got, work_lease_s=60)
    problem = desk.refused(409, "loop", "POST", "/v1/envelopes", back(desk, root))
    assert "a -> b -> a" in problem["detail"] and "handoff" not in problem
    assert desk.parked() == []
    assert refusals(desk) == [("loop", "b", "a")]
    desk.settle("complete", got, result="there was nothing to do")


@pytest.mark.parametrize("news", [{"state": "reviewed"}, {"execution_history": [{"agent": "b", "action": "reviewed"}]}, {"refs": ["ms-1"]},
                                  {"task_summary": "do it again, with tests"}])
def test_work_that_comes_back_with_something_new_is_no_loop(desk, news):
    desk.store("what b found", id="ms-1")
    root = desk.pack("b", **{"from": "a"})
    desk.ok("POST", "/v1/envelopes", {**back(desk, root), **news}, status=201)


def test_a_review_with_new_instructions_goes_on_until_the_limit(desk):
    """coder, reviewer, coder, …: each says something else, and nothing else is new."""
    parent, agents = desk.pack("coder", "write it", max_hops=6, **{"from": "lead"}), ["reviewer", "coder"]
    for turn in range(5):
        body = back(desk, parent, f"turn {turn}", agents[turn % 2 - 1], agents[turn % 2])
        parent = desk.ok("POST", "/v1/envelopes", body, status=201)["id"]
    desk.refused(409, "hop_limit", "POST", "/v1/envelopes", back(desk, parent, "and once more", "reviewer", "coder"))
    assert desk.parked() == [] and refusals(desk) == [("hop_limit", "reviewer", "coder")]


def test_an_instruction_that_was_given_before_is_a_loop_however_far_back(desk):
    parent = desk.pack("coder", "write it", **{"from": "lead"})
    for sender, to, summary in (("coder", "reviewer", "review it"), ("reviewer", "coder", "mend the tests"), ("coder", "reviewer", "look again")):
        parent = desk.ok("POST", "/v1/envelopes", back(desk, parent, summary, sender, to), status=201)["id"]
    for same in ("write it", "mend the tests", " mend the tests "):
        problem = desk.refused(409, "loop", "POST", "/v1/envelopes", back(desk, parent, same, "reviewer", "coder"))
        assert "coder -> reviewer -> coder" in problem["detail"]
    desk.ok("POST", "/v1/envelopes", back(desk, parent, "mend the tests", "reviewer", "coder", state="the tests are red"), status=201)


def test_a_longer_loop_is_named_whole(desk):
    parent = desk.pack("b", **{"from": "a"})
    parent = desk.pack("c", "and then this", parent=parent, **{"from": "b"})
    problem = desk.refused(409, "loop", "POST", "/v1/envelopes", back(desk, parent, sender="c"))
    assert "a -> b -> c -> a" in problem["detail"]
    assert desk.parked() == []


def test_a_loop_through_a_delivery_is_refused_too_and_sends_nothing(desk):
    root = desk.pack("b", **{"from": "a"})
    desk.refused(409, "loop", "POST", "/v1/handoffs", {"envelope": back(desk, root)})
    assert desk.parked() == [] and desk.ok("GET", "/v1/handoffs")["handoffs"] == []
    assert refusals(desk) == [("loop", "b", "a")]


def test_a_dry_run_of_a_loop_tells_nobody(desk):
    root = desk.pack("b", **{"from": "a"})
    desk.refused(409, "loop", "POST", "/v1/envelopes", back(desk, root, dry_run=True))
    assert desk.parked() == [] and refusals(desk) == []


def test_a_chain_ends_at_its_limit_and_its_holder_still_holds_the_work(desk):
    parent = desk.pack("a1", max_hops=3, **{"from": "a0"})
    for hop in (1, 2):
        parent = desk.pack(f"a{hop + 1}", parent=parent, **{"from": f"a{hop}"})
    desk.deliver(parent, 202)
    got = desk.take("a3")
    body = back(desk, parent, "x", "a3", "a4")
    for _ in range(2):
        problem = desk.refused(409, "hop_limit", "POST", "/v1/envelopes", body)
        assert "handoff" not in problem and "complete, reject or nack" in problem["detail"]
    assert desk.parked() == [] and refusals(desk) == [("hop_limit", "a3", "a4")] * 2
    desk.settle("reject", got, reason="the chain is too long")
    (parked,) = desk.parked()
    assert parked["reason"] == "the chain is too long"


# --- Watching --------------------------------------------------------------------------------------


def test_a_trace_tells_what_happened_to_a_task_in_order(desk):
    root = desk.pack("b", task="the-task", **{"from": "a"})
    child = desk.pack("c", parent=root, **{"from": "b"})
    first = desk.deliver(root, 202).json
    desk.settle("nack", desk.take("b"), reason="not now", delay_s=0)
    desk.settle("complete", desk.take("b"), result=1)
    second = desk.deliver(child, 202).json
    desk.settle("reject", desk.take("c"), reason="no")
    desk.pack("x", task="another")
    trace = desk.ok("GET", "/v1/tasks/the-task/trace")
    assert trace["task"] == "the-task"
    assert [(entry["id"], entry["from"], entry["to"], entry["hop"], entry["parent"]) for entry in trace["envelopes"]] == [
        (root, "a", "b", 1, None), (child, "b", "c", 2, root)]
    assert [(entry["id"], entry["state"]) for entry in trace["handoffs"]] == [(first["id"], "completed"), (second["id"], "parked")]
    assert [(event["handoff"], event["event"].removeprefix("handoff.")) for event in trace["events"]] == [
        (first["id"], kind) for kind in ("queued", "leased", "nacked", "leased", "acked", "completed")] + [
        (second["id"], kind) for kind in ("queued", "leased", "rejected", "parked")]
    ids = [event["id"] for event in trace["events"]]
    assert ids == sorted(ids)
    desk.refused(404, "task_not_found", "GET", "/v1/tasks/none/trace", field="id")


def test_a_trace_comes_page_by_page(desk):
    parent = desk.pack("a1", task="long", **{"from": "a0"})
    for hop in range(1, 5):
        parent = desk.pack(f"a{hop + 1}", parent=parent, **{"from": f"a{hop}"})
    seen, token = [], ""
    while token is not None:
        page = desk.ok("GET", "/v1/tasks/long/trace?page_size=2" + (f"&page_token={token}" if token else ""))
        seen += [entry["hop"] for entry in page["envelopes"]]
        token = page["next_page_token"]
    assert seen == [1, 2, 3, 4, 5]


def test_an_agents_page_shows_its_queue_its_breaker_and_when_it_was_seen(desk):
    for _ in range(6):
        desk.send(max_attempts=1)
    seen = desk.agent()
    assert seen["queue"] == {"queued": 6, "leased": 0, "working": 0, "parked": 0}
    assert seen["last_seen_at"] is None
    got = desk.receive(max=5)
    desk.settle("ack", got[0], work_lease_s=60)
    desk.settle("ack", got[1])
    desk.settle("reject", got[2], reason="no")
    desk.settle("nack", got[3], reason="no")
    seen = desk.agent()
    assert seen["queue"] == {"queued": 1, "leased": 1, "working": 1, "parked": 2}
    assert seen["breaker"] == {"state": "closed", "failures": 1, "reset_at": None}
    assert seen["last_seen_at"] is not None
    assert (seen["ack_timeout_s"], seen["max_attempts"], seen["fallbacks"], seen["webhook"]) == (15, 3, [], None)
    listed = desk.ok("GET", "/v1/agents")["agents"]
    assert [agent for agent in listed if agent["name"] == "worker"] == [seen]


def test_an_agents_settings_of_delivery_are_kept(desk):
    settings = {"ack_timeout_s": 2.5, "max_attempts": 7, "fallbacks": ["a", "b"], "webhook": "http://127.0.0.1:1/hook"}
    made = desk.ok("PUT", "/v1/agents/worker", settings)
    assert {key: made[key] for key in settings} == settings
    assert {key: desk.agent()[key] for key in settings} == settings


@pytest.mark.parametrize("field, value", [("ack_timeout_s", 0), ("ack_timeout_s", "1"), ("ack_timeout_s", 86401), ("max_attempts", 0), ("max_attempts", 101),
                                          ("fallbacks", "a"), ("fallbacks", [5]), ("fallbacks", [""]), ("webhook", 5), ("webhook", "ftp://x")])
def test_settings_that_make_no_sense_are_refused(desk, field, value):
    answer = desk.call("PUT", "/v1/agents/worker", {field: value})
    assert answer.status == 422 and answer.json["field"].startswith(field), answer
    desk.refused(404, "agent_not_found", "GET", "/v1/agents/worker")


def test_a_trace_holds_every_handoff_of_a_wide_broadcast(desk):
    names = [f"agent-{number}" for number in range(250)]
    envelope = desk.pack("everybody", task="wide")
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, "receivers": names})
    trace = desk.ok("GET", "/v1/tasks/wide/trace")
    assert [handoff["to"] for handoff in trace["handoffs"]] == names
    assert [event["agent"] for event in trace["events"] if event["event"] == "handoff.queued"] == names
