"""Two spaces, whatever is done: nothing of one is in anything that is answered to the other.

ISOLATION_OPERATIONS sets how many random calls are made (100000 is the long form), ISOLATION_SEED which.
"""

import json
import os
import re
import statistics
import time

import pytest

from api import Api, wait_until
from isolation import KeyedMcp, operations, two_tenants
from keys import Keyed
from mcp import LEGACY, MODERN
from test_access_matrix import ALL
from test_webhook import Hook

OPERATIONS = int(os.environ.get("ISOLATION_OPERATIONS", "5000"))
SEED = int(os.environ.get("ISOLATION_SEED", "1"))
ENOUGH = 5000  # so many calls use every operation


@pytest.fixture
def keyed(tmp_path):
    """A server that needs keys, where circuit breakers open and close in the time of the test."""
    running = Keyed(tmp_path / "data", "--breaker-reset", "1s")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


def test_nothing_of_one_space_is_answered_to_another(keyed):
    """Every operation with keys of all kinds, by HTTP and MCP. A 5xx fails it, too: it may be one that the other has caused."""
    rng, left, right = two_tenants(keyed, SEED)
    for number in range(OPERATIONS):
        one, other = (left, right) if rng.random() < 0.5 else (right, left)
        try:
            one.once()
        except (AssertionError, OSError) as wrong:
            raise AssertionError(f"ISOLATION_SEED={SEED}, call {number} of {one.tenant.space}: {one.said}\n{wrong!r}") from None
    for one in (left, right):
        unused = set(operations(one.maker.document)) - set(one.counts)
        assert not unused or OPERATIONS < ENOUGH, f"never called: {unused}"
        total, done = sum(one.statuses.values()), sum(n for status, n in one.statuses.items() if status < 300)
        print(f"{one.tenant.space}: {total} calls, by status {dict(sorted(one.statuses.items()))}")
        assert done > total * 0.4, one.statuses
        assert one.tenant.has_all_keys()
        assert len(one.tenant.secrets) > len(one.tenant.own) or OPERATIONS < ENOUGH, "calls have made no key"


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


# What names one thing: method, address, body. # is an id that the other space has, or that nobody has. What makes something of
# that name stands last: from then on both are one's own.
LEASE = {"lease": "ho-#.1"}
BY_ID = [
    ("GET", "/v1/memories/ms-#", None), ("PATCH", "/v1/memories/ms-#", {"kind": "fact"}), ("DELETE", "/v1/memories/ms-#", None),
    ("GET", "/v1/memories/ms-#/versions", None), ("POST", "/v1/memories/ms-#/pin", None), ("POST", "/v1/memories/ms-#/unpin", None),
    ("POST", "/v1/memories/ms-#/revert", {"version": 1}), ("POST", "/v1/memories/fetch", {"ids": ["ms-#"]}),
    ("POST", "/v1/memories", {"content": "x", "supersedes": "ms-#"}),
    ("POST", "/v1/quarantine", {"ids": ["ms-#"]}), ("POST", "/v1/purge", {"ids": ["ms-#"], "why": "x"}),
    ("POST", "/v1/envelopes?dry_run=true", {"target_agent": "b", "task_summary": "see ms-#", "dry_run": True}),
    ("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "parent": "env-#"}),
    ("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "refs": ["ms-#"]}),
    ("GET", "/v1/envelopes/env-#", None), ("GET", "/v1/envelopes/env-#/verify", None), ("GET", "/v1/envelopes/env-#/diff/env-#", None),
    ("POST", "/v1/envelopes/env-#/resolve", {}), ("GET", "/v1/envelopes/env-#/receipts", None),
    ("GET", "/v1/envelopes/env-#/considered", None), ("POST", "/v1/envelopes/env-#/park", {"why": "x"}),
    ("POST", "/v1/handoffs", {"envelope_id": "env-#"}), ("GET", "/v1/handoffs/ho-#", None),
    *[("POST", f"/v1/handoffs/ho-#/{verb}", LEASE) for verb in ("ack", "nack", "release", "progress", "complete")],
    ("POST", "/v1/handoffs/ho-#/reject", {**LEASE, "reason": "x"}), ("POST", "/v1/handoffs/ho-#/need", {**LEASE, "refs": ["ms-#"]}),
    ("POST", "/v1/handoffs/ho-#/cancel", None), ("POST", "/v1/handoffs/ho-#/move", {"to": "b"}),
    ("POST", "/v1/agents/b/receive", {"wait_s": 0, "settle": [{"id": "ho-#", "verb": "ack", **LEASE}]}),
    ("POST", "/v1/parked/ho-#/redrive", None), ("POST", "/v1/parked/ho-#/discard", {"why": "x"}),
    ("POST", "/v1/parked/ho-#/restore", None), ("POST", "/v1/parked/ho-#/reroute", {"to": "b"}),
    ("POST", "/v1/parked/ho-#/shrink", {"budget": 500}),
    ("GET", "/v1/tasks/task-#", None), ("GET", "/v1/tasks/task-#/trace", None), ("GET", "/v1/tasks/task-#/fidelity", None),
    ("GET", "/v1/tasks/task-#/blame?constraint=x", None), ("POST", "/v1/tasks/task-#/waive", {"constraint": "x", "why": "x"}),
    ("GET", "/v1/agents/agent-#", None), ("POST", "/v1/agents/agent-#/reset", None), ("GET", "/v1/queues/agent-#", None),
    ("DELETE", "/v1/agents/agent-#", None),
    ("GET", "/v1/agents/agent-#/peek", None), ("POST", "/v1/agents/agent-#/receive", {"wait_s": 0}),
    ("GET", "/v1/channels/channel-#", None), ("POST", "/v1/channels/channel-#/publish", {"envelope_id": "env-#"}),
    ("POST", "/v1/channels/channel-#/join", {"wait_s": 0, "parent": "env-#"}), ("DELETE", "/v1/channels/channel-#/subscribers/agent-#", None),
    ("GET", "/v1/routes/route-#", None), ("DELETE", "/v1/routes/route-#", None),
    ("GET", "/v1/audit?object=ms-#", None), ("GET", "/v1/memories?task=task-#", None),
    ("GET", "/v1/tasks?agent=agent-#", None), ("GET", "/v1/parked?agent=agent-#", None),
    ("GET", "/v1/keys/key-#", None), ("POST", "/v1/keys/key-#/rotate", {}), ("POST", "/v1/keys/key-#/revoke", {"reason": "x"}),
    ("POST", "/v1/alerts/al-#/ack", {}), ("POST", "/v1/alerts/al-#/silence", {"for_s": 60}),
    ("PUT", "/v1/agents/agent-#", {"capacity": 2}), ("PUT", "/v1/routes/route-#", {"to": "a"}), ("PUT", "/v1/channels/channel-#", {}),
    ("PUT", "/v1/channels/channel-#/subscribers/agent-#", {}),
]
# Their addresses name what is no thing of a space; a stream answers a name that nobody has as any other.
NOT_BY_ID = {("GET", "/v1/schemas/{}"), ("DELETE", "/v1/spaces/{}"), ("GET", "/v1/agents/{}/stream")}
THERE, NOWHERE = "777", "778"
BY_TOOL = [
    ("memory_get", {"id": "ms-#"}), ("memory_pin", {"id": "ms-#"}), ("handoff_trace", {"task": "task-#"}),
    ("handoff_settle", {"id": "ho-#", "lease": "ho-#.1", "verb": "ack"}), ("channel_publish", {"channel": "channel-#", "envelope_id": "env-#"}),
    ("handoff_need", {"id": "ho-#", "lease": "ho-#.1", "refs": ["ms-#"]}), ("agent_handoff", {"target_agent": "b", "task_summary": "see ms-#"}),
]


class KeyedApi(Api):
    """A connection that shows an admin's key of its space."""

    def __init__(self, keyed, space):
        super().__init__(keyed.address, None)
        self.key = keyed.key(space=space, scopes=["admin"])

    def call(self, method, path, body=None, headers=None):
        return super().call(method, path, body, {"Authorization": f"Bearer {self.key}", **(headers or {})})


@pytest.fixture
def neighbours(keyed):
    """A space beside one that has everything under the number THERE, and the numbers of its key and its alert."""
    owner, stranger = KeyedApi(keyed, "owner"), KeyedApi(keyed, "stranger")
    rows = {"memories": [{"id": f"ms-{THERE}", "version": 1, "current_version": 1, "content": "theirs", "kind": "note", "tags": "[]",
                          "metadata": "{}", "importance": "medium", "trust": "agent", "created_at": 1, "updated_at": 1}]}
    owner.ok("POST", "/v1/import", rows)
    while True:  # numbers of envelopes and handoffs cannot be chosen
        made = owner.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": f"agent-{THERE}", "task_summary": "x"}}, status=202)
        if made["id"] == f"ho-{THERE}":
            break
    owner.ok("PUT", f"/v1/channels/channel-{THERE}", {})
    owner.ok("PUT", f"/v1/channels/channel-{THERE}/subscribers/agent-{THERE}", {})
    owner.ok("PUT", f"/v1/routes/route-{THERE}", {"to": "a"})
    owner.ok("GET", f"/v1/memories/ms-{THERE}"), owner.ok("GET", f"/v1/envelopes/env-{THERE}")
    owner.ok("GET", f"/v1/tasks/task-{THERE}"), owner.ok("GET", f"/v1/agents/agent-{THERE}")
    keyed.ask("PUT", "/v1/space", {"quota_memories": 1}, keyed.root, {"Spine-Space": "owner"})
    assert owner.call("POST", "/v1/memories", {"content": "one more"}).status == 429
    alert = wait_until(lambda: owner.ok("GET", "/v1/alerts")["alerts"], "the quota of the owner is told")[0]["id"]
    key = owner.ok("GET", "/v1/keys")["keys"][0]["id"]
    stranger.store("my own")
    return owner, stranger, {"al": alert.removeprefix("al-"), "key": key.removeprefix("key-")}


def ask(api, method, path, body, number):
    filled = None if body is None else json.loads(json.dumps(body).replace("#", number))
    return answered(api.call(method, path.replace("#", number), filled), number)


def answered(answer, number):
    """All that there is to see of it, but for the number and the time; a header by which the two differ would be a sign."""
    said = re.sub(rb"20[0-9]{2}-[0-9T:.-]+Z", b"TIME", re.sub(rb"\b%s\b" % number.encode(), b"N", answer.data))
    headers = {name: value for name, value in answer.headers.items() if name not in ("Date", "Content-Length", "ETag", "Location")}
    return answer.status, headers, said


def test_what_another_space_has_answers_as_what_nobody_has(neighbours):
    owner, stranger, numbers = neighbours
    for method, path, body in BY_ID:
        there = next((number for kind, number in numbers.items() if f"/{kind}-#" in path), THERE)
        nowhere = NOWHERE if there == THERE else "99999"
        theirs, nobodys = ask(stranger, method, path, body, there), ask(stranger, method, path, body, nowhere)
        assert without_own_ids(theirs) == without_own_ids(nobodys), (method, path)
    assert owner.ok("GET", f"/v1/keys/key-{numbers['key']}")["status"] == "valid"
    assert owner.get(f"ms-{THERE}")["content"] == "theirs"


def without_own_ids(said):
    """What both calls make in one's own space is counted on."""
    counted = re.sub(rb"\b(ms|env|ho|task)-[0-9]+(?:@[0-9]+)?|[0-9a-f]{32,64}", rb"\1", said[2])
    return said[0], said[1], counted


def test_every_address_that_names_one_thing_is_tried():
    tried = {(method, re.sub(r"[a-z]*-#", "{}", path.split("?")[0]).replace("agents/b/", "agents/{}/")) for method, path, _ in BY_ID}
    assert {(o.method, o.pattern) for o in ALL if "{}" in o.pattern} - tried == NOT_BY_ID


def test_what_another_space_has_answers_as_what_nobody_has_by_mcp(neighbours, keyed):
    _, stranger, _ = neighbours
    for version in (MODERN, LEGACY):
        client = KeyedMcp(keyed.address, stranger.key, "b", version)
        if version == LEGACY:
            client.initialize()
        calls = [("tools/call", {"name": tool, "arguments": arguments}) for tool, arguments in BY_TOOL]
        calls += [("resources/read", {"uri": f"spine://{kind}-#"}) for kind in ("memory/ms", "envelope/env", "inbox/agent")]
        for method, params in calls:
            said = [without_own_ids(answered(client.call(method, json.loads(json.dumps(params).replace("#", number))), number))
                    for number in (THERE, NOWHERE)]
            shown = [(status, re.sub(rb'^{"jsonrpc":"2.0","id":[0-9]+', b"", data)) for status, _, data in said]
            assert shown[0] == shown[1], (version, method, params)


@pytest.mark.parametrize("path", ["memories/ms", "envelopes/env", "handoffs/ho", "tasks/task", "keys/key"])
def test_what_another_space_has_takes_no_longer_to_answer(neighbours, path):
    _, stranger, numbers = neighbours
    took = {numbers["key"] if path == "keys/key" else THERE: [], "99999": []}
    for _ in range(300):
        for number, list_of in took.items():
            begin = time.perf_counter()
            stranger.call("GET", f"/v1/{path}-{number}")
            list_of.append(time.perf_counter() - begin)
    theirs, nobodys = (statistics.median(some) for some in took.values())
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
