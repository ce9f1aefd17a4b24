"""Queues, agents and the page of a handoff: what waits for whom, since when and why; who is there; what became of each
attempt."""

from api import wait_until
from delivery import at


def queue(desk, agent="worker", query=""):
    return desk.ok("GET", f"/v1/queues/{agent}{query}")


def queues(desk):
    return {one["agent"]: one for one in desk.ok("GET", "/v1/queues")["queues"]}


# --- Queues ----------------------------------------------------------------------------------------


def test_a_queue_says_what_waits_since_when_and_that_nobody_is_there(desk):
    first = desk.deliver(desk.pack(task="t1", summary="the first"), 202).json
    urgent = desk.deliver(desk.pack(task="t2", summary="the urgent one"), 202, priority=9).json
    seen = queue(desk)
    assert [(one["id"], one["position"]) for one in seen["queue"]] == [(urgent["id"], 1), (first["id"], 2)]
    assert [(one["task"], one["summary"]) for one in seen["queue"]] == [("t2", "the urgent one"), ("t1", "the first")]
    assert {one["why"] for one in seen["queue"]} == {"empty_chair"} and seen["why"] == "empty_chair"
    assert at(seen["queue"][1]["since"]) >= at(first["created_at"]) and seen["queue"][0]["until"] is None
    assert (seen["agent"], seen["queued"], seen["presence"]) == ("worker", 2, "never_seen")
    assert at(seen["oldest_at"]) == at(first["created_at"])


def test_a_page_that_begins_behind_what_is_gone_is_refused(desk):
    """The token of another queue names a handoff that this one does not have; so does one of what retention has taken."""
    for _ in range(3):
        desk.send()
    token = queue(desk, query="?page_size=2")["next_page_token"]
    other = {"Spine-Space": f"{desk.space}-other"}
    desk.ok("PUT", "/v1/agents/worker", {}, other)
    answer = desk.call("GET", f"/v1/queues/worker?page_size=2&page_token={token}", None, other)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (400, "invalid_page_token", "page_token"), answer


def test_behind_an_agent_at_work_it_is_busy(desk):
    desk.send()
    desk.take(lease_s=60)
    desk.send()
    seen = queue(desk)
    assert (seen["queue"][0]["why"], seen["presence"], seen["leased"]) == ("busy", "working", 1)


def test_behind_an_open_breaker_it_is_held_until_then(desk):
    first = desk.send("flaky")
    held = desk.take("flaky")
    for _ in range(3):
        desk.deliver(desk.pack("flaky"), 202, max_attempts=1)
        desk.settle("nack", desk.take("flaky"), reason="out of order")
    desk.settle("nack", held, delay_s=0)
    seen = queue(desk, "flaky")
    entry = seen["queue"][0]
    assert (entry["id"], entry["why"], entry["until"]) == (first["id"], "held", seen["breaker"]["reset_at"])
    assert seen["breaker"]["state"] == "open" and seen["parked"] == 3


def test_what_waits_for_its_next_attempt_comes_last_and_says_when(desk):
    later = desk.send()
    desk.settle("nack", desk.take(), delay_s=600)
    now = desk.send()
    entries = queue(desk)["queue"]
    assert [(one["id"], one["position"]) for one in entries] == [(now["id"], 1), (later["id"], 2)]
    assert entries[1]["why"] == "backoff" and entries[1]["until"] == entries[1]["due_at"]


def test_all_pages_of_a_queue_are_reached_in_its_order(desk):
    sent = [desk.deliver(desk.pack(), 202, priority=number % 3).json for number in range(7)]
    late = desk.deliver(desk.pack(), 202, priority=9).json
    desk.settle("nack", desk.take(), delay_s=600)
    seen, token = [], ""
    while token is not None:
        page = queue(desk, query="?page_size=2" + (f"&page_token={token}" if token else ""))
        seen += page["queue"]
        token = page["next_page_token"]
    order = sorted(sent, key=lambda one: (-one["priority"], int(one["id"][3:])))
    assert [one["id"] for one in seen] == [*(one["id"] for one in order), late["id"]]
    assert [one["position"] for one in seen] == list(range(1, 9))


def test_the_queues_are_those_of_agents_with_open_or_parked_work(desk):
    desk.send("ann")
    desk.send("bob")
    desk.settle("reject", desk.take("bob"), reason="no")
    desk.send("cid")
    desk.settle("ack", desk.take("cid"))
    seen = queues(desk)
    assert sorted(seen) == ["ann", "bob"]
    assert (seen["ann"]["queued"], seen["ann"]["why"], seen["bob"]["parked"], seen["bob"]["why"]) == (1, "empty_chair", 1, None)
    assert len(desk.ok("GET", "/v1/queues?page_size=1")["queues"]) == 1
    desk.refused(404, "agent_not_found", "GET", "/v1/queues/nobody")


# --- Agents ----------------------------------------------------------------------------------------


def test_presence_comes_from_what_the_agent_does(desk, poll):
    desk.ok("PUT", "/v1/agents/worker", {})
    seen = desk.agent()
    assert (seen["presence"], seen["registered"], seen["receivers_waiting"], seen["last_seen_at"]) == ("never_seen", True, 0, None)
    call = poll()
    wait_until(lambda: desk.agent()["receivers_waiting"] == 1, "the receiver is seen waiting")
    assert desk.agent()["presence"] == "waiting" and desk.agent()["last_seen_at"]
    handoff = desk.deliver(desk.pack(task="t", summary="the work"), 202).json
    call.join()
    seen = desk.agent()
    assert (seen["presence"], seen["receivers_waiting"]) == ("working", 0)
    assert [(one["id"], one["task"], one["summary"]) for one in seen["working_on"]] == [(handoff["id"], "t", "the work")]
    desk.settle("ack", call.answer.json["handoffs"][0])
    seen = desk.agent()
    assert (seen["presence"], seen["working_on"]) == ("away", [])


def test_a_send_to_a_name_that_nobody_has_used_says_so_with_the_nearest_known_name(desk):
    desk.ok("PUT", "/v1/agents/reviewer", {})
    desk.receive("coder")
    for name, near in (("reveiwer", "reviewer"), ("Coder", "coder"), ("codr", "coder"), ("translator", None)):
        answer = desk.deliver(desk.pack(name), 202).json
        warning = next(one for one in answer["warnings"] if one["code"] == "agent_never_seen")
        assert warning["field"] == "to" and name in warning["detail"]
        assert (f'"{near}"' in warning["detail"]) if near else ("mean" not in warning["detail"])
    for name in ("reviewer", "coder"):
        assert "warnings" not in desk.deliver(desk.pack(name), 202).json
    desk.take("translator")
    assert "warnings" not in desk.deliver(desk.pack("translator"), 202).json


def test_a_publish_and_a_then_say_so_too(desk):
    desk.ok("PUT", "/v1/agents/reviewer", {})
    desk.receive("coder")

    def publish(**fields):
        return desk.ok("POST", "/v1/channels/all/publish", {"envelope_id": desk.pack("reviewer"), **fields})

    answer = publish(receivers=["coder", "reveiwer", "reviewer", "translator"])
    assert [(one["code"], one["field"]) for one in answer["warnings"]] == [("agent_never_seen", "receivers[1]"), ("agent_never_seen", "receivers[3]")]
    assert '"reviewer"' in answer["warnings"][0]["detail"] and len(answer["handoffs"]) == 4
    assert "warnings" not in publish(receivers=["coder", "reviewer"])
    assert len(publish(receivers=[f"stranger{i}" for i in range(50)])["warnings"]) == 32
    desk.ok("PUT", "/v1/channels/all/subscribers/newcomer")
    assert "warnings" not in publish(), "whoever subscribed it has named it"
    done = desk.settle("complete", desk.take("coder"), then={"envelope": {"target_agent": "reveiwer", "task_summary": "next"}})
    assert [(one["code"], one["field"]) for one in done["warnings"]] == [("agent_never_seen", "then.to")]


def test_an_agent_without_open_work_can_be_deleted(desk):
    desk.ok("PUT", "/v1/agents/worker", {"max_attempts": 1})
    handoff = desk.send()
    problem = desk.refused(409, "agent_busy", "DELETE", "/v1/agents/worker", field="name")
    assert "1 queued" in problem["detail"]
    got = desk.take()
    assert "1 leased" in desk.refused(409, "agent_busy", "DELETE", "/v1/agents/worker")["detail"]
    desk.settle("nack", got, reason="no")
    assert "1 parked" in desk.refused(409, "agent_busy", "DELETE", "/v1/agents/worker")["detail"]
    desk.ok("POST", f"/v1/parked/{handoff['id']}/discard", {"why": "over"})
    assert desk.call("DELETE", "/v1/agents/worker").status == 204
    assert desk.ok("GET", "/v1/agents")["agents"] == []
    desk.refused(404, "agent_not_found", "GET", "/v1/agents/worker")
    desk.refused(404, "agent_not_found", "DELETE", "/v1/agents/worker")
    assert desk.look(handoff)["to"] == "worker"
    again = desk.send()
    assert again["max_attempts"] == 3 and [one["code"] for one in again["warnings"]] == ["agent_never_seen"]
    seen = desk.agent()
    assert (seen["presence"], seen["breaker"]["failures"], seen["registered"]) == ("never_seen", 0, False)
    events = desk.ok("GET", "/v1/audit?object=worker")["entries"]
    assert "agent.delete" in [one["action"] for one in events]


# --- A handoff -------------------------------------------------------------------------------------


def test_a_handoff_tells_each_attempt_with_its_error_in_the_receivers_words(desk):
    handoff = desk.deliver(desk.pack(task="t", summary="the work"), 202, max_attempts=3, ack_timeout_s=600).json
    desk.settle("nack", desk.take(instance="one"), reason="ValueError: no such table", delay_s=0)
    desk.receive(lease_s=0.05, instance="two")
    got = desk.take(instance="three", wait_s=20)
    seen = desk.look(handoff)
    assert (seen["task"], seen["summary"]) == ("t", "the work")
    assert seen["lease"]["receiver"] == "three" and seen["lease"]["expires_at"] == seen["due_at"]
    outcomes = [(one["attempt"], one["agent"], one["receiver"], one["outcome"]) for one in seen["attempts"]]
    assert outcomes == [(1, "worker", "one", "nacked"), (2, "worker", "two", "lease_lost"), (3, "worker", "three", "under_way")]
    assert seen["attempts"][0]["error"] == "ValueError: no such table"
    assert "lease" in seen["attempts"][1]["error"] and seen["attempts"][2]["error"] is None
    assert at(seen["attempts"][0]["taken_at"]) <= at(seen["attempts"][0]["ended_at"])
    desk.settle("ack", got, work_lease_s=60)
    last = desk.look(handoff)["attempts"][-1]
    assert last["outcome"] == "acked" and last["acked_at"] and last["ended_at"] is None
    desk.settle("complete", got, result={"sum": 4})
    seen = desk.look(handoff)
    assert seen["attempts"][-1]["outcome"] == "completed" and seen["lease"] is None and seen["result"] == {"sum": 4}


def test_an_attempt_that_nobody_took_is_told_too(desk):
    answer = desk.deliver(desk.pack("nobody-there"), 504, wait_s=0.05)
    (attempt,) = desk.look(answer.json["handoff"])["attempts"]
    assert (attempt["outcome"], attempt["taken_at"], attempt["agent"]) == ("expired", None, "nobody-there")
    assert attempt["error"] == "not taken while the sender waited"
