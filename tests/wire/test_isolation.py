"""Two spaces, whatever is done: nothing of one is in anything that is answered to the other.

ISOLATION_OPERATIONS sets how many random calls are made (100000 is the long form), ISOLATION_SEED which.
"""

import json
import os
import re
import statistics
import time

import pytest

from isolation import OF_ALL_SPACES, operations, two_tenants
from test_webhook import Hook

OPERATIONS = int(os.environ.get("ISOLATION_OPERATIONS", "5000"))
SEED = int(os.environ.get("ISOLATION_SEED", "1"))
ENOUGH = 5000  # so many calls use every operation


@pytest.fixture
def quick(start):
    """A server where circuit breakers open and close in the time of the test."""
    running = start("--breaker-reset", "1s").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


def test_nothing_of_one_space_is_answered_to_another(quick):
    rng, left, right = two_tenants(quick.address, SEED)
    for number in range(OPERATIONS):
        one, other = (left, right) if rng.random() < 0.5 else (right, left)
        name, data = one.once()
        marker = other.tenant.marker.encode()
        assert marker not in data, f"call {number} of seed {SEED}, {name}: {data[:3000]!r}"
    for one in (left, right):
        unused = set(operations(one.maker.document)) - set(one.counts)
        assert not unused or OPERATIONS < ENOUGH, f"never called: {unused}"
        for name, data in one.failures:
            print(f"{name} was answered 500: {data!r}")  # a mistake, but not one of isolation
        assert one.statuses[2] > sum(one.statuses.values()) * 0.4, one.statuses
        print(f"{one.tenant.space}: {sum(one.counts.values())} calls, by status {dict(sorted(one.statuses.items()))}")
    assert OF_ALL_SPACES <= set(left.counts) or OPERATIONS < ENOUGH


def test_a_webhook_is_told_of_its_own_space_only(connect):
    hooks = [Hook(), Hook()]
    try:
        for number, hook in enumerate(hooks):
            api = connect()
            api.ok("PUT", "/v1/agents/worker", {"webhook": hook.url})
            api.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "worker", "task_summary": f"zq-hooked-{number}"}}, status=202)
        for number, hook in enumerate(hooks):
            post = hook.next()
            assert f"zq-hooked-{number}".encode() in post.body and f"zq-hooked-{1 - number}".encode() not in post.body
            post.answer()
    finally:
        for hook in hooks:
            hook.close()


# What names one thing: method, address, body. {} is an id that the other space has, or that nobody has.
BY_ID = [
    ("GET", "/v1/memories/ms-{}", None), ("PATCH", "/v1/memories/ms-{}", {"kind": "fact"}), ("DELETE", "/v1/memories/ms-{}", None),
    ("GET", "/v1/memories/ms-{}/versions", None), ("POST", "/v1/memories/ms-{}/pin", None),
    ("POST", "/v1/memories/ms-{}/revert", {"version": 1}), ("POST", "/v1/memories/fetch", {"ids": ["ms-{}"]}),
    ("POST", "/v1/memories", {"content": "x", "supersedes": "ms-{}"}),
    ("POST", "/v1/quarantine", {"ids": ["ms-{}"]}), ("POST", "/v1/purge", {"ids": ["ms-{}"], "why": "x"}),
    ("POST", "/v1/envelopes?dry_run=true", {"target_agent": "b", "task_summary": "see ms-{}", "dry_run": True}),
    ("GET", "/v1/envelopes/env-{}", None), ("GET", "/v1/envelopes/env-{}/verify", None),
    ("POST", "/v1/envelopes/env-{}/resolve", {}), ("GET", "/v1/envelopes/env-{}/receipts", None),
    ("GET", "/v1/envelopes/env-{}/considered", None), ("POST", "/v1/handoffs", {"envelope_id": "env-{}"}),
    ("GET", "/v1/handoffs/ho-{}", None), ("POST", "/v1/handoffs/ho-{}/ack", {"lease": "ho-{}.1"}),
    ("POST", "/v1/handoffs/ho-{}/complete", {"lease": "ho-{}.1"}), ("POST", "/v1/handoffs/ho-{}/cancel", None),
    ("POST", "/v1/parked/ho-{}/redrive", None), ("POST", "/v1/parked/ho-{}/discard", {"why": "x"}),
    ("GET", "/v1/tasks/task-{}", None), ("GET", "/v1/tasks/task-{}/trace", None), ("GET", "/v1/tasks/task-{}/fidelity", None),
    ("GET", "/v1/agents/agent-{}", None), ("DELETE", "/v1/agents/agent-{}", None), ("GET", "/v1/queues/agent-{}", None),
    ("GET", "/v1/agents/agent-{}/peek", None), ("GET", "/v1/channels/channel-{}", None), ("GET", "/v1/routes/route-{}", None),
    ("GET", "/v1/audit?object=ms-{}", None), ("GET", "/v1/memories?task=task-{}", None),
]
THERE, NOWHERE = "777", "778"


@pytest.fixture
def stranger(connect):
    """A space beside one that has everything under the number THERE."""
    owner, stranger = connect(), connect()
    rows = {"memories": [{"id": f"ms-{THERE}", "version": 1, "current_version": 1, "content": "theirs", "kind": "note", "tags": "[]",
                          "metadata": "{}", "importance": "medium", "trust": "agent", "created_at": 1, "updated_at": 1}]}
    owner.ok("POST", "/v1/import", rows)
    while True:  # numbers of envelopes and handoffs cannot be chosen
        made = owner.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": f"agent-{THERE}", "task_summary": "x"}}, status=202)
        if made["id"] == f"ho-{THERE}":
            break
    owner.ok("PUT", f"/v1/channels/channel-{THERE}", {})
    owner.ok("PUT", f"/v1/routes/route-{THERE}", {"to": "a"})
    owner.ok("GET", f"/v1/memories/ms-{THERE}"), owner.ok("GET", f"/v1/envelopes/env-{THERE}")
    owner.ok("GET", f"/v1/tasks/task-{THERE}"), owner.ok("GET", f"/v1/agents/agent-{THERE}")
    return stranger


def ask(api, method, path, body, number):
    text = None if body is None else json.loads(json.dumps(body).replace("{}", number, 2)) if "{}" in json.dumps(body) else body
    answer = api.call(method, path.replace("{}", number), text)
    said = re.sub(rb"20[0-9]{2}-[0-9T:.-]+Z", b"TIME", answer.data.replace(number.encode(), b"N"))
    return answer.status, answer.headers["Content-Type"], said


def test_what_another_space_has_answers_as_what_nobody_has(stranger):
    stranger.store("my own")
    for method, path, body in BY_ID:
        theirs, nobodys = ask(stranger, method, path, body, THERE), ask(stranger, method, path, body, NOWHERE)
        assert theirs == nobodys, (method, path)


def test_what_another_space_has_takes_no_longer_to_answer(stranger):
    stranger.store("my own")
    took = {THERE: [], NOWHERE: []}
    for _ in range(300):
        for number, list_of in took.items():
            begin = time.perf_counter()
            stranger.call("GET", f"/v1/memories/ms-{number}")
            list_of.append(time.perf_counter() - begin)
    theirs, nobodys = statistics.median(took[THERE]), statistics.median(took[NOWHERE])
    assert 0.5 < theirs / nobodys < 2, (theirs, nobodys)  # the same class: what is found takes the same steps


def test_what_another_space_stores_changes_no_score(connect):
    mine, other = connect(), connect()
    for content in ("the gateway lost a payment", "a payment was retried", "nothing of that"):
        mine.store(content)
    before = mine.list("query=gateway+payment&explain=true")["memories"]
    other.ok("POST", "/v1/memories/batch", {"memories": [{"content": f"gateway payment {n}"} for n in range(500)]}, status=201)
    other.list("query=gateway")
    after = mine.list("query=gateway+payment&explain=true")["memories"]
    assert [(m["id"], m["relevance"], m["explain"]["terms"]) for m in before] == [
        (m["id"], m["relevance"], m["explain"]["terms"]) for m in after]


def test_a_page_token_of_another_space_is_none(connect):
    mine, other = connect(), connect()
    for api in (mine, other):
        for number in range(4):
            api.store(f"memory {number}")
    token = other.list("page_size=2")["next_page_token"]
    assert other.list(f"page_size=2&page_token={token}")["memories"]
    mine.refused(400, "invalid_page_token", "GET", f"/v1/memories?page_size=2&page_token={token}")


def test_a_key_of_another_space_is_another_key(connect):
    mine, other = connect(), connect()
    headers = {"Idempotency-Key": "the-same"}
    other.store("theirs", headers)
    assert mine.store("mine", headers)["content"] == "mine"
    assert mine.call("POST", "/v1/memories", {"content": "theirs"}, headers).status == 422  # by its own use alone
