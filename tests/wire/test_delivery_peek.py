"""Looking at what an agent would get next, without taking it, and waiting for it."""

from delivery import Desk  # noqa: F401


def peek(desk, agent="worker", wait_s=0):
    return desk.ok("GET", f"/v1/agents/{agent}/peek?wait_s={wait_s}")["handoff"]


def test_what_is_queued_is_shown_and_stays_queued(desk):
    desk.send(priority=1)
    urgent = desk.send(priority=9)
    before = desk.everything()
    shown = peek(desk, wait_s=30)
    assert shown["id"] == urgent["id"] and shown["state"] == "queued" and shown["attempt"] == 1
    assert desk.everything() == before
    assert desk.agent()["last_seen_at"] is None
    assert desk.take()["id"] == urgent["id"]


def test_nothing_is_said_at_once_or_when_the_wait_is_over(desk):
    assert peek(desk) is None
    assert peek(desk, wait_s=0.05) is None
    desk.send()
    desk.take()
    assert peek(desk, wait_s=0.05) is None


def test_it_waits_until_something_comes(desk, beside):
    desk.send()
    desk.take()
    before = desk.waiting()
    call = beside("GET", "/v1/agents/worker/peek?wait_s=30")
    desk.wait_for_waiters(before + 1)
    sent = desk.send()
    assert call.result(200).json["handoff"]["id"] == sent["id"]
    assert desk.take()["id"] == sent["id"]


def test_an_agent_and_a_space_that_nobody_knows_yet_are_waited_for_and_not_made(desk, beside):
    before = desk.waiting()
    call = beside("GET", "/v1/agents/newcomer/peek?wait_s=30")
    desk.wait_for_waiters(before + 1)
    assert desk.space not in [space["name"] for space in desk.ok("GET", "/v1/spaces?page_size=1000")["spaces"]]
    desk.send("somebody-else")
    assert [agent["name"] for agent in desk.ok("GET", "/v1/agents")["agents"]] == ["somebody-else"]
    sent = desk.send("newcomer")
    assert call.result(200).json["handoff"]["id"] == sent["id"]


def test_what_a_waiting_receiver_gets_wakes_nobody_who_only_looks(desk, beside, poll):
    desk.send()
    desk.take()
    before = desk.waiting()
    looking = [beside("GET", "/v1/agents/worker/peek?wait_s=30") for _ in range(2)]
    desk.wait_for_waiters(before + 2)
    receiver = poll()
    first = desk.send()
    (got,) = receiver.result(200).json["handoffs"]
    assert got["id"] == first["id"]
    second = desk.send()
    assert {call.result(200).json["handoff"]["id"] for call in looking} == {second["id"]}


def test_work_that_comes_back_is_seen(desk, beside):
    desk.send()
    taken = desk.take()
    before = desk.waiting()
    call = beside("GET", "/v1/agents/worker/peek?wait_s=30")
    desk.wait_for_waiters(before + 1)
    desk.settle("nack", taken, delay_s=0)
    assert call.result(200).json["handoff"]["attempt"] == 2


def test_what_is_wrong_with_it_is_said(desk):
    answer = desk.call("GET", "/v1/agents/worker/peek?wait_s=61")
    assert answer.status == 422 and answer.json["field"] == "wait_s"
    assert desk.call("GET", "/v1/agents/next/peek").status == 422
    assert desk.call("POST", "/v1/agents/worker/peek", {}).status == 405
