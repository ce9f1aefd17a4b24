"""Messages that nobody should send: each is answered, and the server goes on."""

import itertools
import json
import random

from mcp import CAPABILITIES_KEY, LEGACY, MODERN, VERSION_KEY, Mcp

SEED = 3
ROUNDS = 2500
METHODS = ["tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "completion/complete",
           "tasks/get", "tasks/cancel", "tasks/update", "tasks/result", "resources/subscribe", "resources/unsubscribe",
           "initialize", "server/discover", "ping", "notifications/cancelled", "notifications/x", ""]
NAMES = ["memory_store", "memory_search", "memory_get", "memory_pin", "agent_handoff", "handoff_settle", "handoff_need",
         "handoff_trace", "parked_list", "channel_publish", "spine_status", "pick_up_work", "nothing"]
KEYS = ["content", "id", "lease", "verb", "then", "task", "query", "refs", "agent", "target_agent", "task_summary",
        "constraints", "decide", "page_token", "page_size", "tags", "send", "channel", "envelope_id", "receivers", "result"]
VALUES = [None, True, 0, -1, 2**53 - 1, 1.5, "", "x", "ms-1", "ho-1", "ho-1.1", "complete", "\u0000", "\U0001f600" * 50, [], {},
          [[]], {"a": {"b": []}}, ["x"] * 200, "y" * 70000, {"envelope": {}}, {"envelope": {"target_agent": "x"}}]


def value(rng, depth=0):
    if depth < 3 and rng.random() < 0.2:
        return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(VALUES)


def params(rng):
    return {
        "name": rng.choice([rng.choice(NAMES), value(rng)]),
        "arguments": rng.choice([value(rng), {key: value(rng) for key in rng.sample(KEYS, rng.randrange(6))}]),
        "uri": rng.choice(["spine://memory/ms-1", "spine://inbox/%zz", "spine://inbox/a%00b", "spine://inbox/" + "x" * 600,
                           value(rng)]),
        "taskId": value(rng), "ref": value(rng), "argument": value(rng), "requestId": value(rng),
        "inputResponses": value(rng), "requestState": rng.choice(["a.b", "..", value(rng)]), "cursor": value(rng),
        "task": value(rng), "_meta": value(rng),
    }


def one(rng, client):
    method = rng.choice(METHODS)
    given = {key: thing for key, thing in params(rng).items() if rng.random() < 0.5}
    headers = client.headers(method, {})
    if client.is_modern and rng.random() < 0.9:
        given["_meta"] = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}, "progressToken": value(rng), "traceparent": "x"}
        if isinstance(given.get("name"), str) and given["name"].isascii() and given["name"].isprintable() and len(given["name"]) < 100:
            headers["Mcp-Name"] = given["name"].strip() or None
    message = {"jsonrpc": "2.0", "id": rng.choice([1, "a", 1, 2, value(rng)]), "method": method, "params": given}
    if rng.random() < 0.1:
        message[rng.choice(list(message))] = value(rng)
    data = json.dumps(message).encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    return client.send(data, headers)


def test_whatever_comes_is_answered_and_the_server_goes_on(server):
    rng = random.Random(SEED)
    clients = [Mcp(server.address, "hostile", "alice"), Mcp(server.address, "hostile", None, LEGACY)]
    clients[1].initialize()
    for _, client in zip(range(ROUNDS), itertools.cycle(clients)):
        answer = one(rng, client)
        assert answer.status in (200, 202, 400, 404), answer
        if answer.status != 202:
            assert ("result" in answer.json) != ("error" in answer.json), answer
            assert answer.json.get("error", {}).get("code") != -32603, answer
    assert clients[0].tool("spine_status")["status"] == "ready"
