"""What a hostile server sends does no harm: each answer ends in a status, in time, and in bounded memory."""

import subprocess
import time

import pytest
from fake_server import FakeServer, reply

OK, UNREACHABLE, TIMED_OUT, BAD_ANSWER, REFUSED = 0, 3, 4, 5, 7
MEMORY = b'{"id":"ms-1","content":"x"}'
WORK = b'{"handoffs":[{"id":"ho-1","lease":"l","to":"a","envelope_id":"env-1","envelope":{}}]}'
HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def run(program, environment):
    """Runs hostile, under the address sanitizer, against a server that answers so; its lines by their first word."""

    def start(answer, timeout_ms=700, *only):
        with FakeServer(answer) as server:
            began = time.monotonic()
            done = subprocess.run(
                [program("hostile", "asan"), server.url, *only],
                env={**environment, "TIMEOUT_MS": str(timeout_ms)},
                capture_output=True,
                text=True,
                timeout=60,
            )
            took = time.monotonic() - began
        assert done.returncode == 0, done.stderr
        assert took < 3 * timeout_ms / 1000 + 10
        lines = [line.split() for line in done.stdout.splitlines()]
        told = {what: (int(status), code, int(http)) for what, status, code, http in lines}
        return told, server

    return start


def always(data):
    return lambda connection, number: connection.send(data)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"x",
        b'{"id":"ms-1"',
        b'{"id":"ms-1"}}',
        b'{"id":"ms-1","id":"ms-2"}',
        b'{"id":"\xff"}',
        b'{"id":"\xed\xa0\x80"}',
        b'{"id":"\\ud800"}',
        b'{"id":"a\x00b"}',
        b'{"n":1e999}',
        b'{"n":123456789012345678901234567890}',
        b'{"n":-0123}',
        b'{"n":NaN}',
        b"\xef\xbb\xbf{}",
        b"[" * 100000,
        b'{"a":' * 1001 + b"1" + b"}" * 1001,
        b"[" + b"0," * 2000000 + b"0]",
    ],
    ids=lambda body: body[:24].decode("latin-1").encode("unicode_escape").decode() or "empty",
)
def test_what_is_not_the_json_of_a_server_is_told(run, body):
    told, _ = run(always(reply(body)), 5000)
    assert told["get"] == told["store"] == told["receive"] == (BAD_ANSWER, "bad_answer", 200)


@pytest.mark.parametrize(
    "handoffs",
    [
        b"null",
        b"{}",
        b"7",
        b"[7]",
        b"[[]]",
        b"[{}]",
        b'[{"id":7,"lease":"l","to":"a","envelope_id":"e"}]',
        b'[{"id":"h","lease":null,"to":"a","envelope_id":"e"}]',
        b'[{"id":"h","lease":"l","to":["a"],"envelope_id":"e"}]',
        b'[{"id":"h","lease":"l","to":"a"}]',
    ],
)
def test_a_handoff_of_the_wrong_shape_is_no_work(run, handoffs):
    told, _ = run(always(reply(b'{"handoffs":' + handoffs + b"}")))
    assert told["receive"] == (BAD_ANSWER, "bad_answer", 0)


@pytest.mark.parametrize(
    "more",
    [b'"prompt":7,"envelope":"x"', b'"envelope":{"task":[]},"attempt":1e300', b'"attempt":-5,"redelivered":"yes"'],
)
def test_members_of_the_wrong_type_are_as_if_they_were_not_there(run, more):
    told, _ = run(always(reply(WORK.replace(b'"envelope":{}', more))))
    assert told["received"][0] == OK and told["ack"][0] == OK


def test_ids_may_hold_anything_and_stay_in_their_place(run):
    strange = b"../../x?y=z#\\r\\nSpine-Space: other \\u0000\xc3\xbc"
    told, server = run(always(reply(WORK.replace(b"ho-1", strange))))
    assert told["ack"][0] == OK
    line = server.requests[-1].split(b"\r\n")[0]
    assert line.startswith(b"POST /v1/handoffs/..%2F..%2Fx%3Fy%3Dz%23%0D%0ASpine-Space%3A%20other%20/ack HTTP/1.1")


@pytest.mark.parametrize(
    "data, expected",
    [
        (HEAD + b"Content-Length: 1000\r\nConnection: close\r\n\r\n" + MEMORY, UNREACHABLE),
        (HEAD + b"Content-Length: 3\r\nConnection: close\r\n\r\n" + MEMORY, BAD_ANSWER),
        (HEAD + b"Content-Length: -1\r\n\r\n" + MEMORY, None),
        (HEAD + b"Content-Length: 99999999999999999999999\r\nConnection: close\r\n\r\n" + MEMORY[:-1], BAD_ANSWER),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx", None),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx", None),
        (HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00", BAD_ANSWER),
        (b"SSH-2.0-OpenSSH_9.2\r\n", BAD_ANSWER),
        (b"HTTP/9.9 200 OK\r\n\r\n{}", BAD_ANSWER),
        (b"HTTP/1.1 000 \r\n\r\n", None),
        (b"", UNREACHABLE),
        (b"\x00" * 5000, None),
    ],
)
def test_what_is_no_http_is_told(run, data, expected):
    told, _ = run(always(data))
    assert told["get"][0] == expected if expected is not None else told["get"][0] in (UNREACHABLE, TIMED_OUT, BAD_ANSWER)


def endless(part, first=b""):
    def answer(connection, number):
        connection.send(first)
        while True:
            connection.send(part)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        endless(b" " * 65536, HEAD + b"\r\n"),
        endless(b"10000\r\n" + b" " * 65536 + b"\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
        endless(b"X-More: " + b"y" * 1000 + b"\r\n", HEAD),
        endless(b"x" * 65536, HEAD + b"X-Long: "),
        endless(b"HTTP/1.1 100 Continue\r\nX-More: " + b"y" * 1000 + b"\r\n\r\n"),
        endless(b"x" * 65536, b"HTTP/1.1 "),
    ],
    ids=["body", "chunks", "headers", "header", "continue", "status line"],
)
def test_what_has_no_end_is_ended(run, answer):
    told, server = run(answer, 3000)
    assert told["get"][0] == BAD_ANSWER
    # 4 MiB is what hostile takes; the rest is what lies in the buffers of the system.
    assert server.sent < 3 * 20 * 1024 * 1024


def test_one_who_sends_a_byte_now_and_then_does_not_hold_a_call(run):
    def answer(connection, number):
        connection.send(HEAD + b"Content-Length: 1000\r\n\r\n")
        for _ in range(1000):
            connection.send(b" ")
            time.sleep(0.05)

    told, _ = run(answer)
    assert told["get"] == (TIMED_OUT, "timeout", 0)


def test_a_redirect_is_not_followed(run):
    with FakeServer(always(reply(MEMORY))) as other:
        told, _ = run(always(reply(b"{}", "302 Found", f"Location: {other.url}/v1/memories/ms-1")))
        assert told["get"] == (BAD_ANSWER, "bad_answer", 302)
        assert other.requests == []


@pytest.mark.parametrize(
    "problem, expected",
    [
        (b"<html>", (BAD_ANSWER, "bad_answer", 500)),
        (b'{"code":7,"detail":"x"}', (BAD_ANSWER, "bad_answer", 500)),
        (b'{"code":"x","detail":{"y":1}}', (BAD_ANSWER, "bad_answer", 500)),
        (b'{"code":"' + b"c" * 9000 + b'","detail":"' + "ü".encode() * 9000 + b'"}', (REFUSED, "c" * 63, 500)),
    ],
)
def test_a_problem_that_is_none_is_told_and_a_long_one_is_cut(run, problem, expected):
    told, _ = run(always(reply(problem, "500 Oh")))
    assert told["get"] == expected


@pytest.mark.parametrize("after", ["99999999999999999999", "-1", "86401", "Wed, 21 Oct 2065 07:28:00 GMT", "60"])
def test_who_asks_to_come_again_much_later_is_not_waited_for(run, after):
    busy = reply(b'{"code":"overloaded","detail":"Later."}', "503 Busy", f"Retry-After: {after}")
    told, server = run(always(busy))
    assert told["get"] == (REFUSED, "overloaded", 503)
    assert len(server.requests) == 3


NEVER_GIVEN = b'"missing":[{"id":"ms-1","reason":"not_given"},{"id":"ms-2","reason":"not_given"}]'


@pytest.mark.parametrize(
    "body",
    [
        b'{"memories":[],' + NEVER_GIVEN + b"}",
        b'{"memories":[' + MEMORY + b"]," + NEVER_GIVEN + b"}",
        b'{"memories":7,' + NEVER_GIVEN.replace(b'"missing":[', b'"missing":[7,null,{"reason":"not_given"},') + b"}",
    ],
)
def test_memories_that_are_never_given_are_not_asked_for_without_end(run, body):
    told, server = run(always(reply(body)), 5000, "fetch")
    assert told["fetch"][:2] == (BAD_ANSWER, "bad_answer")
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"{}", b'{"memories":{},"missing":"x"}', b'{"missing":[{"id":"ms-1"},[],"y"]}'])
def test_a_fetch_of_the_wrong_shape_is_as_if_nothing_was_found(run, body):
    told, server = run(always(reply(body)), 5000, "fetch")
    assert told["fetch"][0] == OK and len(server.requests) == 1
