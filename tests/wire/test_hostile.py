"""Bad input: whatever is sent, the server answers with less than 500, in JSON, and goes on."""

import http.client
import itertools
import json
import random

import pytest
from api import Api

SEED = 20260130
_numbers = itertools.count(1)
MUTATIONS = 2500

VALID = [
    ("POST", "/v1/memories",
     {"content": "a", "summary": "s", "kind": "fact", "tags": ["a", "b"], "importance": "high", "agent": "x",
      "task": "t", "pinned": True,
                              "trust": "user", "metadata": {"k": [1, 2.5, None, {"x": "y"}]},
                              "expires_at": "2999-01-01T00:00:00Z"}),
    ("POST", "/v1/memories", {"content": "a", "ttl_s": 60, "created_at": "2020-01-01T00:00:00Z"}),
    ("POST", "/v1/memories/batch", {"memories": [{"content": "a"}, {"content": "b", "tags": ["x"]}]}),
    ("POST", "/v1/memories/fetch", {"ids": ["ms-1", "ms-2@1"]}),
    ("PATCH", "/v1/memories/ms-1", {"content": "b", "summary": None, "metadata": {"a": 1}}),
    ("POST", "/v1/memories/ms-1/revert", {"version": 1}),
    ("POST", "/v1/tokens", {"text": "hello", "tokenizer": "cl100k_base"}),
    ("POST", "/v1/envelopes",
     {"target_agent": "b", "task_summary": "do ms-1 through ms-3", "from": "a", "refs": ["ms-1"],
      "constraints": {"max_tokens": 4000}, "dry_run": True,
                               "execution_history": [{"agent": "a", "action": "x"}],
                               "expected_output": {"format": "f"}}),
    ("PUT", "/v1/agents/b", {"accepts": ["2"], "tokenizer": "cl100k_base", "max_tokens": 4000, "description": "d"}),
]

# Each stands in the place of each field in turn.
VALUES = [
    None, True, False, 0, -1, 1, 2**31, 2**53 - 1, -(2**53) + 1, 0.1, -0.0, 1e300, "", " ", "a", "\u0000",
    "\u0001\u001f\u007f\u0085", "\ufeff", "\u202e", "\ufffe\uffff", "\U0010ffff",
    "ä" * 1000, "\U0001f600" * 5000, "../../etc/passwd", "'; DROP TABLE memory; --", "%n%s%x", "${HOME}", "<script>",
    "ms-1", "ms-0", "ms-99999999999999999999", "ms-1@1", "ms-1 through ms-999999999",
    "ms-1-ms-1099511627775", "2026-01-30T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "0000-01-01T00:00:00Z",
    "critical", [], [[]], [None], [1, "a", {}], ["a"] * 1000, [[[[[[]]]]]],
    {}, {"": ""}, {"a": {"b": {}}}, {"content": "x"}, {"\u0000": 1}, {str(number): number for number in range(500)},
    "x" * 300_000,
]


@pytest.fixture
def sender(server):
    """Sends one request and looks at what comes back. Each test has a space of its own: some fill it with large
    things."""
    state = {"api": None}
    space = f"hostile-{next(_numbers)}"

    def send(method, path, body, headers=None):
        api = state["api"] = state["api"] or Api(server.address, space)
        try:
            answer = api.call(method, path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            state["api"] = None
            assert server.process.poll() is None, f"the server died of {method} {path} {body!r:.2000}: {server.log_tail()}"
            raise AssertionError(f"no answer to {method} {path} {body!r:.2000}: {error!r}") from error
        assert answer.status < 500, f"{answer} to {method} {path} {body!r:.2000}"
        if answer.data and "json" in answer.headers.get("Content-Type", ""):
            json.loads(answer.data)
        if answer.headers.get("Connection") == "close":
            api.close()
            state["api"] = None
        return answer

    for number in range(3):
        send("POST", "/v1/memories", {"content": f"memory {number}"})
    yield send
    assert server.process.poll() is None
    assert send("GET", "/healthz", None).status == 200


def places(value, path=()):
    """The paths of all values inside, itself included."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("method, path, body", VALID,
                         ids=[f"{method} {path}" + ("" if number != 1 else " times") for number, (method, path,
                             _) in enumerate(VALID)])
def test_any_value_in_any_place_is_answered(sender, method, path, body):
    assert sender(method, path, body).status < 300
    for place in places(body):
        for value in VALUES:
            sender(method, path, replaced(body, place, value))


def mutate(rng, data):
    """A few random changes to bytes: cut, doubled, overwritten, and pieces that JSON and UTF-8 trip over."""
    pieces = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800",
              b"\\u0000", b"1e999", b"-", b"\xf4\x90\x80\x80", b"null", b"\r\n", b"\xef\xbb\xbf", b"9" * 40]
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            data[at:at] = rng.choice(pieces)
        elif kind == 1:
            del data[at:at + rng.randint(1, 8)]
        elif kind == 2:
            data[at:at] = data[at:at + rng.randint(1, 30)]
        elif kind == 3 and data:
            data[rng.randrange(len(data))] = rng.randrange(256)
        else:
            data[at:at + 3] = rng.choice(pieces)
    return bytes(data)


def test_mutated_bodies_are_answered(sender):
    rng = random.Random(SEED)
    statuses = {}
    for _ in range(MUTATIONS):
        method, path, body = rng.choice(VALID)
        answer = sender(method, path, mutate(rng, json.dumps(body, ensure_ascii=False).encode()))
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
    assert statuses.get(400, 0) > MUTATIONS / 10, statuses


def test_mutated_addresses_are_answered(sender):
    rng = random.Random(SEED)
    valid = ["/v1/memories?query=word&tag=a&page_size=5&metadata.k=1&created_after=2024-01-01T00:00:00Z&explain=true&state=any", "/v1/memories/ms-1@1", "/v1/memories/ms-1/versions?page_size=1",
             "/v1/envelopes/env-1?format=prompt", "/v1/tasks/task-1/blame?key=intent", "/v1/agents/b"]
    alphabet = "%&=?/@.-+~!$'()*,;:_0123456789abcdefmsMS%%%"
    for _ in range(MUTATIONS // 2):
        path = list(rng.choice(valid))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(1, len(path) + 1)
            path[at:at + rng.randint(0, 3)] = rng.choices(alphabet, k=rng.randint(0, 4))
        sender(rng.choice(["GET", "GET", "DELETE", "HEAD"]), "".join(path), None)


@pytest.mark.parametrize("name", ["Spine-Space", "Spine-Agent", "Idempotency-Key", "If-Match", "Content-Type", "Origin",
                                  "Accept", "Content-Encoding", "Expect", "Range", "If-None-Match", "traceparent"])
def test_any_header_value_is_answered(sender, name):
    values = ["", " ", "a", "ä", "a" * 5000, '"', "\\", "*", "ms-1", '"ms-1@1"', '"ms-1@99999999999"', "null", "-1",
              "%00", "'", "a,b", "a;b", "http://localhost", "gzip", "bytes=0-1", "\t", "00-" + "0" * 32]
    for value in values:
        for method, path, body in (("POST", "/v1/memories", {"content": "a"}), ("PATCH", "/v1/memories/ms-1",
            {"summary": "a"}), ("GET", "/v1/memories", None)):
            sender(method, path, body, {name: value.encode()})


def test_a_body_where_none_is_expected_is_answered(sender):
    for method, path in (("GET", "/v1/memories"), ("GET", "/healthz"), ("DELETE", "/v1/memories/ms-2"), ("POST",
        "/v1/memories/ms-1/pin"), ("GET", "/nowhere"), ("PUT", "/v1/memories")):
        for body in (b"", b"{", b'{"content":"a"}', b"\xff" * 1000):
            sender(method, path, body)


def test_deep_wide_and_long_json_is_answered(sender):
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 64 + b"]" * 64, b'{"content":' + b"[" * 1000 + b"]" * 1000 + b"}", b"[" + b"1," * 500_000 + b"1]", b'{"content":"' + b"\\u0041" * 300_000 + b'"}',
                 b"{" + b",".join(b'"k%d":1' % number for number in range(100_000)) + b"}", b'{"content":"a","tags":[' + b'"a",' * 200_000 + b'"b"]}', b" " * 1_000_000, b"0" * 1_000_000, b'"' + b"a" * 5_000_000 + b'"'):
        assert sender("POST", "/v1/memories", body).status in (400, 422)
