"""POST /v1/import with rows in which a field has any other value: it is refused, or all of the space can be read and worked on.

Everything above the store believes what it reads. So whatever an import takes must be answered afterwards, as JSON and without
a fault of the server. CASES changed rows, drawn by SEED; SPINE_TEST_IMPORTS sets how many.
"""

import http.client
import json
import os
import random

from delivery import Desk
from test_cli_whole import fill

CASES = int(os.environ.get("SPINE_TEST_IMPORTS", "250"))
SEED = 1
PARTS = ("memories", "envelopes", "handoffs")
VALUES = [
    None, True, False, 0, 1, -1, 2, 5, 9, 100, 10**9, 2**31, 2**39, 2**40 - 1, 1_790_000_000_000, 253_402_300_799_999,
    "", "x", "[]", "{}", "null", "[1]", '{"a":1}', '["a"]', '"s"', "1e400", "worker", "next", "x" * 200, "naïve ☃", "\u202e",
    "env-1", "env-9", "ho-1", "ho-3", "ms-1", "ms-99", "low", "critical", "system", "external",
    "queued", "delayed", "leased", "working", "acked", "completed", "parked", "expired", "discarded",
]
OF_RESULT = {"result", "gaps", "input_tokens", "result_form", "result_memory", "then", "then_digest"}
AGENTS = ("worker", "reader", "holder", "at-work", "refuser", "deputy")
LISTS = ("memories", "memories?query=first", "handoffs", "parked", "tasks", "queues", "agents", "channels", "status", "stats",
         "audit", "space", "tasks/task-1", "tasks/task-1/trace", "tasks/task-1/fidelity", *(f"export?part={part}" for part in PARTS))


def questions(rows):
    """Everything that can be asked of the space, and what changes it last."""
    for path in LISTS:
        yield "GET", f"/v1/{path}", None
    for number in {row["id"] for row in rows["memories"]}:
        yield "GET", f"/v1/memories/{number}", None
        yield "GET", f"/v1/memories/{number}/versions", None
    for row in rows["envelopes"]:
        for what in ("", "/verify", "/considered", "/receipts"):
            yield "GET", f"/v1/envelopes/{row['id']}{what}", None
        yield "POST", f"/v1/envelopes/{row['id']}/resolve", {}
    for row in rows["handoffs"]:
        yield "GET", f"/v1/handoffs/{row['id']}", None
    for agent in AGENTS:
        yield "POST", f"/v1/agents/{agent}/receive", {"wait_s": 0, "max": 5}
    yield "POST", "/v1/envelopes", {"target_agent": "w", "task_summary": "on", "parent": "env-1", "include_recent": 5}
    yield "POST", "/v1/handoffs", {"envelope": {"target_agent": "worker", "task_summary": "on"}}
    yield "POST", "/v1/parked/redrive", {"all": True}
    yield "POST", "/v1/parked/discard", {"all": True}
    yield "DELETE", "/v1/memories/ms-1", None


def ask(desk, method, path, body):
    answer = desk.call(method, path, body)
    assert answer.status < 500, (method, path, answer)
    if answer.data:
        json.loads(answer.data)
    return answer.status


def test_whatever_an_import_takes_is_answered_and_delivered(start):
    server = start().wait_until_ready()
    source, dice, taken = Desk(server.address, "source"), random.Random(SEED), 0
    fill(source)
    rows = {part: source.ok("GET", f"/v1/export?part={part}&limit=2000")[part] for part in PARTS}
    for number in range(CASES):
        changed = json.loads(json.dumps(rows))
        row = dice.choice(changed[dice.choice(PARTS)])
        name, value = dice.choice(sorted(row)), dice.choice(VALUES)
        row[name] = value
        if name in OF_RESULT:
            row["has_result"] = True
        desk = Desk(server.address, f"any-{number}")
        try:
            desk.ok("PUT", "/v1/channels/news", {})
            if ask(desk, "POST", "/v1/import", changed) == 200:
                taken += 1
                for question in questions(rows):
                    ask(desk, *question)
            desk.ok("DELETE", f"/v1/spaces/{desk.space}?confirm={desk.space}")
        except (AssertionError, OSError, ValueError, http.client.HTTPException) as wrong:
            raise AssertionError(f"{row.get('id')} with {name} = {value!r}: {wrong!r}; {server.log_tail()}") from wrong
        desk.close()
    assert 0 < taken < CASES
