"""handoff_receive as a task, in both generations: nothing is taken for a client that does not ask any more."""

import itertools
import threading

import pytest

from mcp import LEGACY, Mcp

_numbers = itertools.count(1)
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@pytest.fixture
def alice(server):
    return Mcp(server.address, f"tasks-{next(_numbers)}", "alice")


@pytest.fixture
def modern(alice):
    return Mcp(alice.address, alice.space, "bob", capabilities=TASKS)


@pytest.fixture
def legacy(alice):
    made = Mcp(alice.address, alice.space, "bob", LEGACY)
    made.initialize()
    return made


def begin(client, **arguments):
    params = {"name": "handoff_receive", "arguments": arguments}
    if not client.is_modern:
        params["task"] = {"ttl": 60000}
    result = client.ok("tools/call", params)
    return result if client.is_modern else result["task"]


def get(client, task):
    return client.ok("tasks/get", {"taskId": task["taskId"]})


def send(alice):
    return alice.tool("agent_handoff", target_agent="bob", task_summary="Fix it")["id"]


def test_a_client_that_declares_tasks_gets_one(alice, modern):
    task = begin(modern)
    assert task["resultType"] == "task" and task["status"] == "working"
    assert task["ttlMs"] > 0 and task["pollIntervalMs"] > 0
    assert get(modern, task)["status"] == "working"
    number = send(alice)
    done = get(modern, task)
    assert done["status"] == "completed" and done["resultType"] == "complete"
    assert done["result"]["structuredContent"]["handoffs"][0]["id"] == number
    assert "Fix it" in done["result"]["content"][0]["text"]
    send(alice)
    assert get(modern, task)["result"] == done["result"]


def test_others_get_the_answer_itself(alice):
    plain = Mcp(alice.address, alice.space, "bob")
    assert plain.tool("handoff_receive", wait_s=0)["handoffs"] == []


def test_nothing_is_taken_between_questions(alice, modern):
    begin(modern)
    send(alice)
    plain = Mcp(alice.address, alice.space, "bob")
    assert plain.tool("handoff_receive", wait_s=0)["handoffs"][0]["lease"].endswith(".1")


def test_a_task_whose_wait_is_over_says_that_nothing_came(modern):
    task = begin(modern, wait_s=1)
    threading.Event().wait(1.1)
    done = get(modern, task)
    assert done["status"] == "completed" and done["result"]["structuredContent"]["handoffs"] == []


def test_the_older_generation_waits_for_the_result(alice, legacy):
    task = begin(legacy, lease_s=60)
    assert task["status"] == "working" and task["ttl"] > 0 and "resultType" not in task
    assert "result" not in get(legacy, task)
    box = {}
    thread = threading.Thread(target=lambda: box.update(legacy.ok("tasks/result", {"taskId": task["taskId"]})), daemon=True)
    thread.start()
    number = send(alice)
    thread.join(30)
    assert box["structuredContent"]["handoffs"][0]["id"] == number
    assert box["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == task["taskId"]
    assert get(legacy, task)["status"] == "completed"
    assert legacy.ok("tasks/result", {"taskId": task["taskId"]})["structuredContent"] == box["structuredContent"]


def test_a_task_is_cancelled_once(alice, modern, legacy):
    task = begin(legacy)
    assert legacy.ok("tasks/cancel", {"taskId": task["taskId"]})["status"] == "cancelled"
    legacy.refused(-32602, "tasks/cancel", {"taskId": task["taskId"]})
    other = begin(modern)
    assert modern.ok("tasks/cancel", {"taskId": other["taskId"]}) == {"resultType": "complete"}
    send(alice)
    assert get(modern, other)["status"] == "cancelled"


def test_a_task_of_another_space_or_of_nobody_is_not_known(modern):
    task = begin(modern)
    stranger = Mcp(modern.address, "elsewhere", "bob", capabilities=TASKS)
    for method in ("tasks/get", "tasks/cancel", "tasks/update"):
        stranger.refused(-32602, method, {"taskId": task["taskId"]})
        modern.refused(-32602, method, {"taskId": "task-0"})
    assert modern.ok("tasks/update", {"taskId": task["taskId"], "inputResponses": {}}) == {"resultType": "complete"}
