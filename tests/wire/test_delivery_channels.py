"""Channels: one atomic publish, a handoff per receiver, and join, which waits for what they make of it."""

from datetime import datetime, timedelta, timezone

import pytest


def publish(desk, receivers=None, envelope=None, channel="news", **fields):
    body = {"envelope_id": envelope or desk.pack(), **fields}
    if receivers is not None:
        body["receivers"] = receivers
    return desk.ok("POST", f"/v1/channels/{channel}/publish", body)


def join(desk, envelope, channel="news", **fields):
    return desk.ok("POST", f"/v1/channels/{channel}/join", {"envelope_id": envelope, **fields})


def complete(desk, agent, result="done"):
    return desk.settle("complete", desk.take(agent), result=result)


def soon(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


# --- Channels and subscribers ----------------------------------------------------------------------


def test_channels_are_made_described_read_and_listed(desk):
    made = desk.ok("PUT", "/v1/channels/news", {"description": "what is new"})
    assert list(made) == ["name", "description", "subscriber_count", "created_at", "subscribers"]
    assert (made["name"], made["description"], made["subscribers"]) == ("news", "what is new", [])
    assert desk.ok("GET", "/v1/channels/news") == made
    for number in range(5):
        desk.ok("PUT", f"/v1/channels/c{number}")
    seen, token = [], ""
    while token is not None:
        page = desk.ok("GET", "/v1/channels?page_size=2" + (f"&page_token={token}" if token else ""))
        seen += [channel["name"] for channel in page["channels"]]
        token = page["next_page_token"]
    assert sorted(seen) == ["c0", "c1", "c2", "c3", "c4", "news"]
    desk.refused(404, "channel_not_found", "GET", "/v1/channels/none", field="name")


def test_agents_subscribe_and_leave(desk):
    for name in ("a", "b", "a"):
        channel = desk.ok("PUT", f"/v1/channels/news/subscribers/{name}")
    assert (sorted(channel["subscribers"]), channel["subscriber_count"]) == (["a", "b"], 2)
    channel = desk.ok("DELETE", "/v1/channels/news/subscribers/a")
    assert channel["subscribers"] == ["b"]
    desk.refused(404, "agent_not_found", "DELETE", "/v1/channels/news/subscribers/a", field="agent")
    desk.refused(404, "channel_not_found", "DELETE", "/v1/channels/none/subscribers/b", field="name")


@pytest.mark.parametrize("method, path, field, code", [
    ("PUT", f"/v1/channels/{'x' * 129}", "name", "too_large"), ("PUT", "/v1/channels/a%0Ab", "name", "invalid_field"),
    ("PUT", f"/v1/channels/news/subscribers/{'x' * 129}", "agent", "too_large"), ("PUT", "/v1/channels/news/subscribers/a%01", "agent", "invalid_field"),
])
def test_names_that_are_none_are_refused(desk, method, path, field, code):
    desk.refused(422, code, method, path, field=field)
    assert desk.ok("GET", "/v1/channels")["channels"] == []


@pytest.mark.parametrize("description, code", [(5, "invalid_field"), ("x" * 4097, "too_large")])
def test_a_description_is_a_text(desk, description, code):
    desk.refused(422, code, "PUT", "/v1/channels/news", {"description": description}, field="description")


# --- Publishing ------------------------------------------------------------------------------------


def test_a_publish_makes_one_handoff_for_each_receiver_that_is_named(desk):
    for name in ("a", "b", "c"):
        desk.receive(name)
    envelope = desk.pack()
    made = publish(desk, ["a", "b", "c"], envelope, delivery="at-least-once", priority=7, max_attempts=2)
    assert list(made) == ["channel", "handoffs"] and made["channel"] == "news"
    assert [(handoff["to"], handoff["state"], handoff["channel"]) for handoff in made["handoffs"]] == [
        ("a", "queued", "news"), ("b", "queued", "news"), ("c", "queued", "news")]
    assert {(handoff["priority"], handoff["max_attempts"]) for handoff in made["handoffs"]} == {(7, 2)}
    for name in ("a", "b", "c"):
        assert desk.take(name)["envelope_id"] == envelope


def test_without_receivers_the_subscribers_get_it(desk):
    for name in ("a", "b"):
        desk.ok("PUT", f"/v1/channels/news/subscribers/{name}")
    assert sorted(handoff["to"] for handoff in publish(desk)["handoffs"]) == ["a", "b"]
    desk.ok("DELETE", "/v1/channels/news/subscribers/a")
    assert [handoff["to"] for handoff in publish(desk, [])["handoffs"]] == ["b"]


def test_a_channel_without_subscribers_wants_receivers_named(desk):
    envelope = desk.pack()
    desk.refused(422, "invalid_field", "POST", "/v1/channels/news/publish", {"envelope_id": envelope}, field="receivers")
    assert desk.ok("GET", "/v1/channels")["channels"] == [], "a refusal left a channel behind"


def test_publishing_again_is_a_no_op_that_returns_the_same_handoffs(desk):
    envelope = desk.pack()
    first = publish(desk, ["a", "b", "c", "d"], envelope)
    got = desk.take("a")
    desk.settle("ack", desk.take("b"))
    desk.settle("reject", desk.take("c"), reason="no")
    states = {"a": "leased", "b": "acked", "c": "parked", "d": "queued"}
    again = publish(desk, ["a", "b", "c", "d"], envelope)
    assert [handoff["id"] for handoff in again["handoffs"]] == [handoff["id"] for handoff in first["handoffs"]]
    assert {handoff["to"]: handoff["state"] for handoff in again["handoffs"]} == states
    assert desk.settle("ack", got)["state"] == "acked"
    assert len(desk.ok("GET", f"/v1/handoffs?envelope_id={envelope}")["handoffs"]) == 4


def test_publishing_again_is_for_those_who_subscribed_the_first_time(desk):
    for name in ("a", "b"):
        desk.ok("PUT", f"/v1/channels/news/subscribers/{name}")
    envelope = desk.pack()
    first = publish(desk, envelope=envelope)
    desk.settle("reject", desk.take("b"), reason="no")
    desk.ok("DELETE", "/v1/channels/news/subscribers/a")
    desk.ok("PUT", "/v1/channels/news/subscribers/late")
    events = len(desk.ok("GET", "/v1/audit?page_size=1000")["entries"])
    again = publish(desk, envelope=envelope)
    assert [(handoff["id"], handoff["to"]) for handoff in again["handoffs"]] == \
        [(handoff["id"], handoff["to"]) for handoff in first["handoffs"]]
    assert {handoff["to"]: handoff["state"] for handoff in again["handoffs"]} == {"a": "queued", "b": "parked"}
    assert desk.receive("late") == []
    assert len(desk.ok("GET", "/v1/audit?page_size=1000")["entries"]) == events, "nothing was done, and somebody said so"
    for name in ("b", "late"):
        desk.ok("DELETE", f"/v1/channels/news/subscribers/{name}")
    assert len(publish(desk, envelope=envelope)["handoffs"]) == 2, "nobody needs to subscribe any more"
    assert [handoff["to"] for handoff in publish(desk, ["late"], envelope)["handoffs"]] == ["late"], "who is named gets it"


def test_a_receiver_named_twice_gets_it_once(desk):
    made = publish(desk, ["a", "a"])
    assert len({handoff["id"] for handoff in made["handoffs"]}) == 1
    desk.take("a")
    assert desk.receive("a") == []


def test_an_idempotency_key_of_a_publish_replays_its_answer(desk):
    body = {"envelope_id": desk.pack(), "receivers": ["a"]}
    first = desk.call("POST", "/v1/channels/news/publish", body, {"Idempotency-Key": "k"})
    desk.settle("ack", desk.take("a"))
    again = desk.call("POST", "/v1/channels/news/publish", body, {"Idempotency-Key": "k"})
    assert again.data == first.data and again.headers["Idempotent-Replayed"] == "true"


def test_a_publish_is_all_or_nothing(desk):
    """Seen from beside: a list never shows a part of it."""
    from delivery import Background

    envelope = desk.pack()
    names = [f"r{number}" for number in range(500)]
    call = Background(desk.address, desk.space, "POST", "/v1/channels/news/publish", {"envelope_id": envelope, "receivers": names})
    counts = set()
    while call.answer is None and call.error is None:
        counts.add(len(desk.ok("GET", f"/v1/handoffs?envelope_id={envelope}&page_size=1000")["handoffs"]))
    counts.add(len(desk.ok("GET", f"/v1/handoffs?envelope_id={envelope}&page_size=1000")["handoffs"]))
    assert counts <= {0, 500} and 500 in counts


@pytest.mark.parametrize("field, value, named, code", [
    ("envelope_id", None, "envelope_id", "missing_field"), ("envelope_id", "x", "envelope_id", "invalid_field"),
    ("receivers", "a", "receivers", "invalid_field"), ("receivers", ["a", 5], "receivers[1]", "invalid_field"),
    ("receivers", ["a", "b", ""], "receivers[2]", "invalid_field"), ("receivers", ["x" * 129], "receivers[0]", "too_large"),
    ("receivers", ["a"] * 10001, "receivers", "too_large"),
    ("delivery", "exactly-once", "delivery", "invalid_field"), ("delivery", 1, "delivery", "invalid_field"),
    ("priority", 10, "priority", "invalid_field"), ("ack_timeout_s", 0, "ack_timeout_s", "invalid_field"),
    ("max_attempts", 0, "max_attempts", "invalid_field"),
], ids=lambda value: repr(value)[:20])
def test_bad_input_is_named_and_publishes_nothing(desk, field, value, named, code):
    body = {"envelope_id": desk.pack(), "receivers": ["a", "b"], field: value}
    before = desk.everything()
    desk.refused(422, code, "POST", "/v1/channels/news/publish", body, field=named)
    assert desk.everything() == before


def test_a_receiver_that_is_none_is_told_by_its_place(desk):
    for receivers, said in ([["a", ""], "receivers[1] is empty; expected some text"],
                            [[5], "receivers[0] is an integer; expected the name of an agent"]):
        body = {"envelope_id": desk.pack(), "receivers": receivers}
        assert desk.refused(422, "invalid_field", "POST", "/v1/channels/news/publish", body)["detail"] == said


def test_an_envelope_that_is_not_there_is_not_published(desk):
    desk.refused(404, "envelope_not_found", "POST", "/v1/channels/news/publish", {"envelope_id": "env-9", "receivers": ["a"]}, field="envelope_id")
    assert desk.ok("GET", "/v1/channels")["channels"] == []


# --- Join ------------------------------------------------------------------------------------------


def test_join_waits_until_all_have_completed_and_gives_the_results_together(desk, beside):
    envelope = desk.pack()
    publish(desk, ["a", "b", "c"], envelope)
    waiting = beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 30})
    desk.wait_for_waiters(1)
    for name in ("a", "b", "c"):
        assert waiting.answer is None
        complete(desk, name, {"by": name})
    answer = waiting.result(200).json
    assert list(answer) == ["state", "receivers", "completed", "need", "results"]
    assert (answer["state"], answer["receivers"], answer["completed"], answer["need"]) == ("joined", 3, 3, 3)
    assert {entry["to"]: entry["result"] for entry in answer["results"]} == {name: {"by": name} for name in ("a", "b", "c")}


@pytest.mark.parametrize("need, enough", [("any", 1), (1, 1), (2, 2), (3, 3), ("all", 3), (None, 3)])
def test_join_is_content_with_as_many_as_it_needs(desk, beside, need, enough):
    envelope = desk.pack()
    names = ["a", "b", "c"]
    publish(desk, names, envelope)
    waiting = beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 30, "need": need})
    desk.wait_for_waiters(1)
    for name in names[: enough - 1]:
        complete(desk, name)
    assert join(desk, envelope, need=need)["state"] == "waiting"
    complete(desk, names[enough - 1])
    answer = waiting.result(200).json
    assert (answer["state"], answer["completed"], answer["need"]) == ("joined", enough, enough)
    assert len(answer["results"]) == 3


def test_join_of_what_is_done_answers_at_once(desk):
    envelope = desk.pack()
    publish(desk, ["a"], envelope)
    complete(desk, "a", [1, 2])
    answer = join(desk, envelope, wait_s=60)
    assert (answer["state"], answer["results"][0]["result"]) == ("joined", [1, 2])


def test_an_ack_is_no_completion(desk):
    envelope = desk.pack()
    publish(desk, ["a"], envelope)
    desk.settle("ack", desk.take("a"))
    assert join(desk, envelope, wait_s=0.1)["state"] == "waiting"


def test_join_fails_as_soon_as_too_many_never_will(desk, beside):
    envelope = desk.pack()
    publish(desk, ["a", "b", "c"], envelope)
    two = beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 30, "need": 2})
    every = beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 30})
    desk.wait_for_waiters(2)
    desk.settle("reject", desk.take("a"), reason="no")
    assert every.result(200).json["state"] == "failed"
    assert two.answer is None
    desk.settle("reject", desk.take("b"), reason="no")
    answer = two.result(200).json
    assert (answer["state"], answer["completed"]) == ("failed", 0)
    assert {entry["to"]: entry["state"] for entry in answer["results"]} == {"a": "parked", "b": "parked", "c": "queued"}


def test_join_counts_what_leaves_parked_again(desk, beside):
    made = publish(desk, ["a", "b", "c"])
    envelope = made["handoffs"][0]["envelope_id"]
    waiting = [beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "need": 2, "wait_s": 30}) for _ in range(3)]
    desk.wait_for_waiters(3)
    for agent in ("a", "b"):
        parked = desk.settle("reject", desk.take(agent), reason="no")
        assert parked["state"] == "parked"
        desk.ok("POST", f"/v1/parked/{parked['id']}/redrive")
    assert desk.waiting() == 3, "what was parked and is not any more was held against it"
    complete(desk, "b")
    complete(desk, "c")
    for waited in waiting:
        joined = waited.result(200).json
        assert (joined["state"], joined["receivers"], joined["completed"]) == ("joined", 3, 2)


def test_join_counts_receivers_that_were_named_while_it_waited(desk, beside):
    made = publish(desk, ["a", "b"])
    envelope = made["handoffs"][0]["envelope_id"]
    waited = beside("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 30})
    desk.wait_for_waiters(1)
    desk.deliver(envelope, 202, to="d")
    publish(desk, ["c", "d"], envelope)
    for agent in ("a", "b", "c", "d"):
        assert desk.waiting() == 1, agent
        complete(desk, agent)
    joined = waited.result(200).json
    assert (joined["state"], joined["receivers"], joined["completed"]) == ("joined", 4, 4)


def test_joins_of_two_channels_count_each_its_own(desk, beside):
    envelope = desk.pack()
    publish(desk, ["a", "b"], envelope, "one")
    publish(desk, ["c"], envelope, "two")
    one, two = (beside("POST", f"/v1/channels/{name}/join", {"envelope_id": envelope, "wait_s": 30}) for name in ("one", "two"))
    desk.wait_for_waiters(2)
    complete(desk, "c")
    assert two.result(200).json["receivers"] == 1
    complete(desk, "a")
    complete(desk, "b")
    assert one.result(200).json["receivers"] == 2


def test_a_wait_that_ends_first_says_what_is_there(desk):
    envelope = desk.pack()
    publish(desk, ["a", "b"], envelope)
    complete(desk, "a")
    answer = join(desk, envelope, wait_s=0.1)
    assert (answer["state"], answer["completed"]) == ("waiting", 1)


def test_a_deadline_that_has_passed_is_said_so(desk):
    envelope = desk.pack()
    publish(desk, ["a"], envelope)
    answer = join(desk, envelope, wait_s=30, deadline=soon(0.2))
    assert answer["state"] == "deadline"
    assert join(desk, envelope, deadline=soon(-5))["state"] == "deadline"
    complete(desk, "a")
    assert join(desk, envelope, deadline=soon(-5))["state"] == "joined", "what is done is done"


@pytest.mark.parametrize("field, value, code", [
    ("need", 0, "invalid_field"), ("need", 3, "invalid_field"), ("need", "most", "invalid_field"), ("need", 1.5, "invalid_field"),
    ("need", [], "invalid_field"), ("wait_s", 61, "invalid_field"), ("wait_s", -1, "invalid_field"), ("deadline", "tomorrow", "invalid_field"),
    ("deadline", 5, "invalid_field"), ("envelope_id", None, "missing_field"), ("envelope_id", "ho-1", "invalid_field"),
])
def test_bad_input_of_a_join_is_named(desk, field, value, code):
    envelope = desk.pack()
    publish(desk, ["a", "b"], envelope)
    desk.refused(422, code, "POST", "/v1/channels/news/join", {"envelope_id": envelope, field: value}, field=field)


def test_join_of_what_was_never_published_there_is_refused(desk):
    envelope = desk.pack()
    desk.refused(404, "channel_not_found", "POST", "/v1/channels/news/join", {"envelope_id": envelope}, field="name")
    publish(desk, ["a"], channel="news")
    desk.refused(404, "envelope_not_found", "POST", "/v1/channels/news/join", {"envelope_id": envelope}, field="envelope_id")


def test_what_was_sent_directly_and_is_published_later_counts_in_a_join(desk):
    envelope = desk.pack()
    desk.deliver(envelope, 202, to="a")
    assert [handoff["channel"] for handoff in publish(desk, ["a", "b"], envelope)["handoffs"]] == ["news", "news"]
    for name in ("a", "b"):
        complete(desk, name)
    answer = join(desk, envelope)
    assert (answer["state"], answer["receivers"]) == ("joined", 2)
