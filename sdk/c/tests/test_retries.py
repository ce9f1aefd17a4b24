"""A call is sent again where that cannot do anything twice, within its time, with the same Idempotency-Key."""

import re
import subprocess

import pytest
from fake_server import FakeServer, reply

MEMORY = b'{"id":"ms-1","content":"x"}'


@pytest.fixture
def call(program, environment):
    """Makes one call of an operation; the first line that one_call prints, in parts."""

    def start(answer, *arguments, timeout_ms=3000):
        with FakeServer(answer) as server:
            done = subprocess.run(
                [program("one_call"), server.url, *arguments],
                env={**environment, "TIMEOUT_MS": str(timeout_ms)},
                capture_output=True,
                text=True,
                timeout=60,
            )
        assert done.returncode == 0, done.stderr
        status, code, http, tries = done.stdout.splitlines()[0].split()
        return (int(status), code, int(http), int(tries)), server.requests

    return start


def then_well(data, times=1):
    """Sends data so often, then an answer."""
    return lambda connection, number: connection.send(data if number <= times else reply(MEMORY))


def keys(requests):
    return [re.search(rb"Idempotency-Key: (\S+)", request).group(1) for request in requests]


def test_a_lost_connection_is_made_again_with_the_same_key(call):
    told, requests = call(then_well(b"", 3), "storeMemory", "content=x")
    assert told == (0, "ok", 200, 4)
    assert len(set(keys(requests))) == 1 and len(keys(requests)[0]) == 32


def test_two_calls_have_two_keys(call):
    _, first = call(then_well(b""), "storeMemory", "content=x")
    _, second = call(then_well(b""), "storeMemory", "content=x")
    assert keys(first)[0] != keys(second)[0]


@pytest.mark.parametrize("operation", [("readMemory", "id=ms-1"), ("ack", "id=ho-1", "lease=l")])
def test_what_may_be_said_twice_is(call, operation):
    told, requests = call(then_well(b""), *operation)
    assert told == (0, "ok", 200, 2) and requests[0] == requests[1]


def test_what_may_not_be_said_twice_is_not(call):
    told, requests = call(then_well(b""), "deleteSpace", "name=a", "confirm=a")
    assert told[:2] == (3, "connection_lost") and len(requests) == 1


def test_a_busy_server_is_asked_again_when_it_says(call):
    busy = reply(b'{"code":"overloaded","detail":"Later.","retryable":true}', "503 Busy", "Retry-After: 1")
    told, requests = call(then_well(busy), "storeMemory", "content=x")
    assert told == (0, "ok", 200, 2) and len(set(keys(requests))) == 1


def test_an_open_breaker_is_told_at_once(call):
    open_ = reply(b'{"code":"circuit_open","detail":"Not now.","retryable":true}', "503 Busy", "Retry-After: 1")
    told, requests = call(then_well(open_), "deliver", "envelope_id=env-1")
    assert told[:3] == (7, "circuit_open", 503) and len(requests) == 1


@pytest.mark.parametrize("retryable", [b"true", b"false"])
def test_what_may_have_happened_is_never_sent_again_by_itself(call, retryable):
    unknown = reply(b'{"code":"outcome_unknown","detail":"Who knows.","retryable":' + retryable + b"}", "500 Oh")
    told, requests = call(then_well(unknown), "storeMemory", "content=x")
    assert told[:3] == (7, "outcome_unknown", 500) and len(requests) == 1


@pytest.mark.parametrize("status", ["400 Bad", "404 Not", "409 Conflict", "500 Oh", "502 Bad", "504 Late"])
def test_other_refusals_are_not_asked_again(call, status):
    told, requests = call(then_well(reply(b'{"code":"x","detail":"y"}', status)), "readMemory", "id=ms-1")
    assert told[1] == "x" and len(requests) == 1


def test_a_key_and_the_names_of_the_environment_go_along(program, environment):
    names = {"SPINE_KEY": "secret", "SPINE_SPACE": "payments", "SPINE_AGENT": "planner", "SPINE_TASK": "task-1"}
    with FakeServer(then_well(b"", 0)) as server:
        for operation in (["stats"], ["storeMemory", "content=x"]):
            command = [program("one_call"), server.url, *operation]
            subprocess.run(command, env={**environment, **names}, check=True, timeout=60)
    for request in server.requests:
        assert b"Authorization: Bearer secret\r\n" in request
        assert b"Spine-Space: payments\r\n" in request and b"Spine-Agent: planner\r\n" in request
    # The task is that of what is stored, and of nothing else.
    assert [b"Spine-Task: task-1\r\n" in request for request in server.requests] == [False, True]


# --- What was carried out although its answer was lost ---------------------------------------------

WORK = reply(b'{"handoffs":[{"id":"ho-1","lease":"l","to":"a","envelope_id":"env-1","envelope":{}}]}')
STALE = reply(b'{"code":"stale_lease","detail":"The lease has ended."}', "409 Conflict")
HANDOFF = reply(b'{"id":"ho-1","state":"queued"}')


def in_turn(*answers):
    return lambda connection, number: connection.send(answers[number - 1])


@pytest.mark.parametrize(
    "answers, expected",
    [
        ((WORK, HANDOFF), "0 ok 0 queued"),
        ((WORK, STALE), "7 stale_lease 0 unknown"),
        ((WORK, b"", STALE, HANDOFF), "0 ok 0 queued"),
        ((WORK, b"", STALE, STALE), "7 stale_lease 0 unknown"),
    ],
)
def test_a_nack_whose_answer_was_lost_is_looked_up(program, environment, answers, expected):
    with FakeServer(in_turn(*answers)) as server:
        command = [program("give_back"), server.url]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == expected, done.stderr
    assert len(server.requests) == len(answers)
