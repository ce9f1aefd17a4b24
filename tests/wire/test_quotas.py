"""What a space may have at most: new work beyond it is refused, what was accepted is not, and the count is always right."""


import pytest

from api import check_problem, wait_until
from delivery import Desk
from server import check_store


def limit(api, **quotas):
    return api.ok("PUT", "/v1/space", {f"quota_{name}": value for name, value in quotas.items()})["quotas"]


def quotas(api):
    return api.ok("GET", "/v1/space")["quotas"]


def refused(api, method, path, body, field, headers=None):
    """429, by that quota; nothing was changed."""
    before = {name: one["used"] for name, one in quotas(api).items()}
    answer = api.call(method, path, body, headers)
    assert answer.status == 429, answer
    problem = answer.json
    assert problem["code"] == "quota_exceeded" and problem["field"] == field and problem["limit"] > 0, problem
    assert "nothing was changed" in problem["detail"] and f"quota_{field}" in problem["detail"]
    assert {name: one["used"] for name, one in quotas(api).items()} == before
    return answer


def test_without_a_quota_there_is_no_limit(api):
    api.store("x", metadata={"a": 1})
    assert quotas(api) == {"memories": {"used": 1, "limit": None}, "bytes": {"used": 8, "limit": None},
                           "handoffs_per_minute": {"used": 0, "limit": None}, "waiting": {"used": 0, "limit": None},
                           "agents": {"used": 0, "limit": None}}


def test_memories_beyond_the_quota_are_refused_whole(api):
    assert limit(api, memories=3)["memories"] == {"used": 0, "limit": 3}
    api.store("one"), api.store("two")
    refused(api, "POST", "/v1/memories/batch", {"memories": [{"content": "three"}, {"content": "four"}]}, "memories")
    api.store("three")
    answer = refused(api, "POST", "/v1/memories", {"content": "four"}, "memories")
    assert answer.headers["Retry-After"] == "60" and answer.json["retryable"] is False, "time alone does not help"
    api.patch("ms-1", content="may be changed")
    api.forget("ms-1")
    assert api.store("four")["id"] == "ms-4", "what was refused has taken no number"
    limit(api, memories=0)
    api.store("five")


def test_bytes_count_all_versions_and_envelopes(desk):
    limit(desk, bytes=5000)
    desk.store("x" * 1000)
    desk.patch("ms-1", content="y" * 1000)
    assert quotas(desk)["bytes"]["used"] == 2004
    desk.pack("worker")
    used = quotas(desk)["bytes"]["used"]
    assert used > 2500
    for method, path, body in (("POST", "/v1/memories", {"content": "z" * 5000}), ("PATCH", "/v1/memories/ms-1", {"content": "z" * 5000}),
                               ("POST", "/v1/envelopes", {"target_agent": "a", "task_summary": "z" * 5000})):
        refused(desk, method, path, body, "bytes")
    desk.forget("ms-1")
    assert quotas(desk)["bytes"]["used"] == used - 2004


def test_what_adds_nothing_is_done_though_the_bytes_are_full(api):
    api.store("x" * 1000)
    limit(api, bytes=quotas(api)["bytes"]["used"])
    for verb, pinned in (("pin", True), ("unpin", False)):
        answer = api.call("POST", f"/v1/memories/ms-1/{verb}")
        assert answer.status == 200 and answer.json["pinned"] is pinned, answer
    assert api.call("PATCH", "/v1/memories/ms-1", {"pinned": True}).status == 200
    refused(api, "PATCH", "/v1/memories/ms-1", {"content": "y" * 2000}, "bytes")


def test_handoffs_a_minute_say_when_to_come_back(desk):
    limit(desk, handoffs_per_minute=2)
    desk.send("worker"), desk.send("worker")
    body = {"envelope": {"target_agent": "worker", "task_summary": "a third"}}
    answer = refused(desk, "POST", "/v1/handoffs", body, "handoffs_per_minute")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60 and answer.json["retryable"] is True
    # What was accepted goes on: it is taken, settled, handed on.
    taken = desk.take("worker")
    desk.settle("complete", taken, result="done", then={"envelope": {"target_agent": "follower", "task_summary": "go on"}})
    assert desk.take("follower") and desk.take("worker")


def test_what_is_sent_published_or_parked_again_is_no_new_work(desk, beside):
    sent, acked, published, parked = (desk.pack(name) for name in ("worker", "acker", "reader", "rest"))
    desk.ok("PUT", "/v1/channels/news/subscribers/reader")
    first = desk.deliver(sent, 202).json
    desk.deliver(acked, 202)
    desk.settle("ack", desk.take("acker"))
    publish = ("POST", "/v1/channels/news/publish")
    desk.ok(*publish, {"envelope_id": published})
    desk.ok("POST", f"/v1/envelopes/{parked}/park", {"reason": "later"})
    limit(desk, handoffs_per_minute=4, bytes=1)
    again = desk.deliver(sent, 202).json
    assert (again["id"], again["state"]) == (first["id"], "queued") and desk.deliver(sent, 202, to="worker").json["id"] == first["id"]
    assert desk.deliver(acked, 200, wait_s=30).json["state"] == "acked"
    for receivers in ({}, {"receivers": ["reader"]}):
        assert [h["to"] for h in desk.ok(*publish, {"envelope_id": published, **receivers})["handoffs"]] == ["reader"]
    assert desk.ok("POST", f"/v1/envelopes/{parked}/park", {"reason": "later"})["state"] == "parked"
    limit(desk, bytes=0)
    for to in ({"to": "other"}, {"to": "acker"}):
        refused(desk, "POST", "/v1/handoffs", {"envelope_id": sent, **to}, "handoffs_per_minute")
    refused(desk, *publish, {"envelope_id": sent}, "handoffs_per_minute")
    refused(desk, *publish, {"envelope_id": published, "receivers": ["reader", "worker"]}, "handoffs_per_minute")


def test_a_send_that_waits_goes_on_by_its_key_though_the_minute_is_full(desk, beside):
    limit(desk, handoffs_per_minute=1)
    body = {"envelope": {"target_agent": "worker", "task_summary": "go"}, "wait_s": 30}
    first = beside("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"})
    desk.wait_for_waiters(1)
    again = beside("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"})
    desk.wait_for_waiters(2)
    desk.settle("ack", desk.take("worker"))
    assert first.result(200).json["id"] == again.result(200).json["id"]


def test_agents_that_are_known_are_served_and_new_ones_refused(desk):
    limit(desk, agents=2)
    desk.send("a"), desk.ok("PUT", "/v1/agents/b", {})
    refused(desk, "PUT", "/v1/agents/c", {}, "agents")
    refused(desk, "POST", "/v1/handoffs", {"envelope": {"target_agent": "c", "task_summary": "x"}}, "agents")
    refused(desk, "PUT", "/v1/channels/news/subscribers/c", None, "agents")
    desk.send("b"), desk.ok("PUT", "/v1/agents/b", {"description": "again"})
    taken = desk.take("a")
    desk.settle("complete", taken)
    assert desk.call("DELETE", "/v1/agents/a").status == 204
    desk.send("c")


def test_who_receives_by_a_name_that_nobody_knows_takes_no_room_of_agents(desk):
    desk.send("a"), desk.send("a")
    limit(desk, agents=1)
    for body in ({}, {"wait_s": 30}):
        answer = refused(desk, "POST", "/v1/agents/new/receive", body, "agents")
        assert answer.headers["Retry-After"] == "60" and answer.json["retryable"] is False
    assert desk.ok("GET", "/v1/agents/new/peek") and quotas(desk)["agents"]["used"] == 1
    taken = desk.take("a")
    settled = {"id": taken["id"], "lease": taken["lease"], "verb": "complete"}
    answer = desk.ok("POST", "/v1/agents/new/receive", {"settle": [settled], "wait_s": 30})
    assert answer["settled"][0]["handoff"]["state"] == "completed" and answer["handoffs"] == []
    assert desk.take("a") and desk.receive("a") == [] and quotas(desk)["agents"]["used"] == 1


def test_work_is_moved_to_agents_that_are_known_and_to_new_ones_only_where_there_is_room(desk):
    queued, parked = desk.send("a"), desk.send("b")
    desk.settle("reject", desk.take("b"), reason="not mine")
    limit(desk, agents=2)
    for path, body in ((f"/v1/handoffs/{queued['id']}/move", {"to": "new"}), (f"/v1/parked/{parked['id']}/reroute", {"to": "new"}),
                       ("/v1/queued/move", {"to": "a", "move_to": "new"}), ("/v1/parked/reroute", {"to": "b", "reroute_to": "new"})):
        refused(desk, "POST", path, body, "agents")
    assert desk.state(queued) == "queued" and desk.state(parked) == "parked"
    desk.ok("POST", f"/v1/handoffs/{queued['id']}/move", {"to": "b"})
    desk.ok("POST", "/v1/parked/reroute", {"to": "b", "reroute_to": "a"})
    assert desk.take("a") and desk.take("b")


def test_only_so_many_receivers_wait(desk, poll, beside):
    limit(desk, waiting=2)
    first, _ = poll("a"), poll("b")
    answer = desk.call("POST", "/v1/agents/c/receive", {"wait_s": 30})
    assert answer.status == 429 and answer.json["field"] == "waiting" and answer.headers["Retry-After"], answer
    assert desk.ok("POST", "/v1/agents/c/receive", {"wait_s": 0})["handoffs"] == [], "who does not wait is answered"
    desk.send("a")
    assert first.result(200)
    wait_until(lambda: quotas(desk)["waiting"]["used"] == 1, "one has been answered")
    poll("c")


def test_a_stream_beyond_a_quota_is_refused_before_it_begins(desk, poll):
    desk.send("a")
    limit(desk, waiting=1, agents=1)
    answer = refused(desk, "GET", "/v1/agents/new/stream", None, "agents")
    assert answer.headers["Content-Type"] == "application/problem+json" and answer.headers["Retry-After"] == "60"
    desk.take("a")
    poll("a")
    answer = refused(desk, "GET", "/v1/agents/a/stream", None, "waiting")
    assert answer.headers["Retry-After"] == "1" and answer.json["retryable"] is True


def test_the_same_key_again_is_answered_though_the_space_is_full(api):
    limit(api, memories=1)
    headers = {"Idempotency-Key": "once"}
    made = api.store("one", headers)
    assert api.store("one", headers) == made
    refused(api, "POST", "/v1/memories", {"content": "two"}, "memories", {"Idempotency-Key": "other"})


def test_a_key_of_another_request_is_refused_though_the_space_is_full(api):
    limit(api, memories=1)
    headers = {"Idempotency-Key": "once"}
    api.store("one", headers)
    api.refused(422, "idempotency_conflict", "POST", "/v1/memories", {"content": "two"}, headers)
    api.ok("POST", "/v1/quarantine", {"ids": ["ms-1"]})
    api.refused(409, "memory_quarantined", "POST", "/v1/memories", {"content": "one"}, headers)
    api.forget("ms-1")
    api.store("fills it again")
    api.refused(409, "memory_forgotten", "POST", "/v1/memories", {"content": "one"}, headers)


def test_another_space_is_not_concerned(connect):
    full, other = connect(), connect()
    limit(full, memories=1)
    full.store("one")
    refused(full, "POST", "/v1/memories", {"content": "two"}, "memories")
    other.store("one"), other.store("two")


def test_the_server_has_quotas_for_spaces_that_do_not_say(start):
    server = start("--quota-memories", "2", "--quota-agents", "1").wait_until_ready()
    desk = Desk(server.address, "plain")
    assert quotas(desk)["memories"] == {"used": 0, "limit": 2}
    desk.store("one"), desk.store("two")
    refused(desk, "POST", "/v1/memories", {"content": "three"}, "memories")
    own = Desk(server.address, "own")
    limit(own, memories=3)
    own.store("one"), own.store("two"), own.store("three")
    limit(own, memories=-1)
    refused(own, "POST", "/v1/memories", {"content": "four"}, "memories")


def test_the_counts_are_right_after_everything_that_changes_them(start):
    server = start().wait_until_ready()
    desk = Desk(server.address, "counted")
    limit(desk, memories=100, bytes=10**6, handoffs_per_minute=100, agents=100)
    for number in range(5):
        desk.store(f"memory {number}", summary="short", metadata={"n": number})
    desk.patch("ms-1", content="changed"), desk.forget("ms-2")
    desk.ok("POST", "/v1/purge", {"ids": ["ms-3"], "why": "x"})
    desk.send("worker"), desk.settle("complete", desk.take("worker"), result="a result")
    desk.ok("PUT", "/v1/agents/gone", {}), desk.call("DELETE", "/v1/agents/gone")
    desk.ok("PUT", "/v1/space", {"keep_handoffs_s": 1})
    wait_until(lambda: desk.ok("GET", "/v1/space")["handoffs_pruned"] == 1, "the handoff was pruned")
    for number in range(3):
        desk.send("worker")
    before = quotas(desk)
    assert before["handoffs_per_minute"]["used"] >= 3 and before["agents"]["used"] == 1
    assert server.terminate() == 0
    check_store(server.data)
    desk = Desk(start(data=server.data).wait_until_ready().address, "counted")
    after = quotas(desk)
    assert {**after, "handoffs_per_minute": None} == {**before, "handoffs_per_minute": None}
    assert after["handoffs_per_minute"]["used"] == 3, "those of the last minute that are kept"


def test_near_its_quota_a_space_raises_an_alert_and_metrics_say_how_near(api):
    limit(api, memories=10)
    for number in range(9):
        api.store(f"memory {number}")
    firing = lambda: [alert for alert in api.ok("GET", "/v1/alerts?state=firing")["alerts"] if alert["name"] == "quota_near"]
    wait_until(firing, "the alert fires")
    assert "90 %" in firing()[0]["summary"] and "memories" in firing()[0]["summary"]
    api.store("the tenth"), api.call("POST", "/v1/memories", {"content": "one more"})
    metrics = api.call("GET", "/metrics").data.decode()
    for line in (f'spine_quota_used{{space="{api.space}",quota="memories"}} 10', f'spine_quota_limit{{space="{api.space}",quota="memories"}} 10',
                 f'spine_quota_refusals_total{{space="{api.space}",quota="memories"}} 1'):
        assert line in metrics, line
    for number in range(1, 6):
        api.forget(f"ms-{number}")
    wait_until(lambda: not firing(), "the alert is over")
