"""How things look on the wire, and what is refused before it gets there."""

import pickle
from datetime import datetime, timedelta, timezone

import pytest
from peer import MEMORY, Peer, answering

import memory_spine
from memory_spine import AsyncMemorySpine, Conflict, Memory, MemorySpine, NotFound, PreconditionFailed, SpineError
from memory_spine.errors import from_problem
from memory_spine.wire import Endpoint, dump_json, format_time, parse_time

both_clients = pytest.mark.parametrize("client", [MemorySpine, AsyncMemorySpine])


# --- Endpoints and the environment ---------------------------------------------------------------


@pytest.mark.parametrize(
    "url, host, port, authority",
    [
        ("http://127.0.0.1:8788", "127.0.0.1", 8788, "127.0.0.1:8788"),
        ("http://localhost:9/", "localhost", 9, "localhost:9"),
        ("http://[::1]:8788", "::1", 8788, "[::1]:8788"),
        ("http://127.0.0.1", "127.0.0.1", 80, "127.0.0.1:80"),
        ("https://spine.example", "spine.example", 443, "spine.example:443"),
    ],
)
def test_an_endpoint_is_host_and_port(url, host, port, authority):
    endpoint = Endpoint.parse(url)
    assert (endpoint.host, endpoint.port, endpoint.authority) == (host, port, authority)


@both_clients
@pytest.mark.parametrize(
    "url, why",
    [
        ("http://127.0.0.1:8788/v1", "path"),
        ("http://127.0.0.1:8788/?a=b", "path"),
        ("http://127.0.0.1:8788/#x", "path"),
        ("ftp://127.0.0.1:8788", "http://"),
        ("127.0.0.1:8788", "http://"),
        ("localhost", "http://"),
        ("http://", "host"),
        ("http://:8788", "host"),
        ("http://127.0.0.1:99999", "port"),
        ("http://127.0.0.1:x", "port"),
        ("http://me:secret@127.0.0.1:8788", "password"),
    ],
)
def test_any_other_endpoint_is_refused_with_the_reason(client, url, why):
    with pytest.raises(ValueError, match=why) as caught:
        client(url)
    assert "secret" not in str(caught.value)


@both_clients
def test_the_default_endpoint_is_the_servers_default(client):
    assert client().endpoint == "http://127.0.0.1:8788"


def test_the_environment_gives_the_defaults(connect, monkeypatch):
    with Peer(answering) as peer:
        monkeypatch.setenv("SPINE_URL", peer.url)
        monkeypatch.setenv("SPINE_SPACE", "payments")
        monkeypatch.setenv("SPINE_AGENT", "analyst")
        connect(None).get("ms-1")
        connect(None, space="other", agent="someone").get("ms-1")
    headers = [(headers["spine-space"], headers["spine-agent"]) for _, _, headers, _ in peer.requests]
    assert headers == [("payments", "analyst"), ("other", "someone")]


def test_proxies_of_the_environment_are_not_asked(connect, monkeypatch):
    with Peer(answering) as peer:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        assert connect(peer.url).get("ms-1").id == "ms-1"


@both_clients
@pytest.mark.parametrize("option", ["space", "agent"])
@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "a\x00", "\x7f", " a", "a "])
def test_a_name_cannot_smuggle_in_a_header(client, option, value):
    with pytest.raises(ValueError, match=option):
        client(**{option: value})


@both_clients
@pytest.mark.parametrize("option", [{"timeout": 0}, {"retries": -1}, {"max_connections": 0}, {"max_response_bytes": 0}])
def test_limits_that_cannot_be_are_refused(client, option):
    with pytest.raises(ValueError):
        client(**option)


def test_names_of_agents_are_sent_as_utf_8(connect):
    with Peer(answering) as peer:
        connect(peer.url, agent="Ägent 研究").get("ms-1")
    # The peer reads headers as UTF-8.
    assert peer.requests[0][2]["spine-agent"] == "Ägent 研究"


# --- Times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, time",
    [
        ("2026-01-30T00:00:00.000Z", datetime(2026, 1, 30, tzinfo=timezone.utc)),
        ("2026-01-30T00:00:00Z", datetime(2026, 1, 30, tzinfo=timezone.utc)),
        ("2026-01-30T01:30:00.5+01:30", datetime(2026, 1, 30, 0, 0, 0, 500000, timezone.utc)),
        ("2026-01-30t00:00:00.123456789z", datetime(2026, 1, 30, 0, 0, 0, 123456, timezone.utc)),
    ],
)
def test_times_are_read_as_aware_and_utc(text, time):
    assert parse_time(text) == time
    assert parse_time(text).tzinfo is timezone.utc


@pytest.mark.parametrize("text", ["", "2026-01-30", "2026-01-30T00:00:00", "2026-02-30T00:00:00Z", "yesterday"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError):
        parse_time(text)


def test_times_are_written_in_utc_with_milliseconds():
    berlin = timezone(timedelta(hours=1))
    assert format_time(datetime(2026, 1, 30, 1, 2, 3, 4567, berlin)) == "2026-01-30T00:02:03.004Z"
    assert format_time("2026-01-30T00:00:00+01:00") == "2026-01-30T00:00:00+01:00"


def test_a_time_without_zone_is_refused():
    with pytest.raises(ValueError, match="zone"):
        format_time(datetime(2026, 1, 30))


# --- Arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda s: s.store("x", tags="gateway"), TypeError),
        (lambda s: s.store_many([{"content": "x", "tags": "gateway"}]), TypeError),
        (lambda s: s.fetch("ms-1"), TypeError),
        (lambda s: s.get(""), ValueError),
        (lambda s: s.get(4821), TypeError),
        (lambda s: s.search("x", limit=0), ValueError),
        (lambda s: s.store("x", metadata={"x": float("nan")}), ValueError),
        (lambda s: s.store("x", metadata={"x": object()}), TypeError),
        (lambda s: s.store("\ud800"), ValueError),
        (lambda s: s.store("x", idempotency_key="a\nb"), ValueError),
        (lambda s: s.store("x", colour="blue"), TypeError),
    ],
)
def test_wrong_arguments_are_pythons_own_errors_and_nothing_is_sent(connect, call, error):
    with Peer(answering) as peer:
        with pytest.raises(error):
            call(connect(peer.url))
    assert peer.requests == []


def test_ids_cannot_leave_their_place_in_the_path(connect):
    with Peer(answering) as peer:
        connect(peer.url).get("../status?x=1#y/ä")
    assert peer.requests[0][1] == "/v1/memories/..%2Fstatus%3Fx%3D1%23y%2F%C3%A4"


def test_an_update_sends_what_is_given_and_null_for_none(connect):
    with Peer(answering) as peer:
        connect(peer.url).update("ms-1", summary=None, tags=("a", "b"), pinned=False, if_version=3)
    method, target, headers, body = peer.requests[0]
    assert (method, target) == ("PATCH", "/v1/memories/ms-1")
    assert headers["if-match"] == '"ms-1@3"'
    assert body == b'{"summary":null,"tags":["a","b"],"pinned":false}'


def test_filters_are_sent_by_their_names_on_the_wire(connect):
    def empty(channel):
        while channel.read():
            channel.reply(200, {"memories": [], "next_page_token": None})

    when = datetime(2026, 1, 30, tzinfo=timezone.utc)
    with Peer(empty) as peer:
        connect(peer.url).search(
            "a&b=c ü",
            tag=["x", "y"],
            kind="fact",
            agent=("me", "you"),
            importance="high",
            pinned=True,
            state="any",
            created_after=when,
            metadata={"source": "a b", "n": 1.5, "ok": False},
            explain=True,
            limit=5,
        )
    assert peer.requests[0][1] == (
        "/v1/memories?tag=x&tag=y&kind=fact&agent=me&agent=you&importance=high&pinned=true&state=any"
        "&created_after=2026-01-30T00%3A00%3A00.000Z&metadata.source=a+b&metadata.n=1.5&metadata.ok=false"
        "&query=a%26b%3Dc+%C3%BC&explain=true&page_size=5"
    )


def test_json_is_compact_utf_8():
    assert dump_json({"a": ["ä", None, True]}) == '{"a":["ä",null,true]}'.encode()


# --- Objects -------------------------------------------------------------------------------------


def test_a_memory_keeps_fields_that_this_version_does_not_know():
    memory = Memory.from_wire({**MEMORY, "mood": "sunny"})
    assert memory.raw["mood"] == "sunny"
    assert memory.created_at == datetime(2026, 1, 30, tzinfo=timezone.utc)
    assert memory.tags == ("a",)
    assert memory.ref == "ms-1@1"


def test_memories_are_values():
    one, other = Memory.from_wire(MEMORY), Memory.from_wire({**MEMORY, "mood": "sunny"})
    assert one == other
    assert len({one, other}) == 1
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.content = "changed"  # type: ignore[misc]


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, name",
    [
        (400, "ValidationError"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (408, "TimeoutError"),
        (409, "Conflict"),
        (412, "PreconditionFailed"),
        (413, "ValidationError"),
        (421, "SpineError"),
        (422, "ValidationError"),
        (500, "ServerError"),
        (503, "Unavailable"),
        (507, "ServerError"),
    ],
)
def test_a_status_has_its_class(status, name):
    error = from_problem(status, {"code": "some_code", "detail": "why"}, None)
    assert type(error).__name__ == name
    assert isinstance(error, SpineError)
    assert error.status == status
    assert str(error) == f"why ({status} some_code)"


def test_an_error_carries_the_whole_problem():
    problem = {"code": "precondition_failed", "detail": "d", "field": "f", "current_version": 7, "retryable": False}
    error = from_problem(412, problem, None)
    assert isinstance(error, PreconditionFailed)
    assert error.current_version == 7
    assert (error.code, error.detail, error.field, error.retryable) == ("precondition_failed", "d", "f", False)
    assert error.problem == problem


def test_a_key_used_twice_is_a_conflict():
    assert isinstance(from_problem(422, {"code": "idempotency_conflict"}, None), Conflict)


def test_connection_errors_and_timeouts_are_the_built_in_ones_too():
    assert issubclass(memory_spine.TimeoutError, TimeoutError)
    assert issubclass(memory_spine.ConnectionError, ConnectionError)
    assert memory_spine.TimeoutError is not TimeoutError


def test_a_star_import_does_not_replace_built_in_names():
    names: dict = {}
    exec("from memory_spine import *", names)
    assert "TimeoutError" not in names
    assert "ConnectionError" not in names
    assert "MemorySpine" in names


@pytest.mark.parametrize("status", [404, 408, 412, 503])
def test_errors_survive_pickling(status):
    error = from_problem(
        status, {"code": "c", "detail": "d", "field": "f", "retryable": True, "retry_after_ms": 5}, None
    )
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_not_found_is_raised_as_such(connect):
    def missing(channel):
        channel.read()
        channel.reply(
            404, {"code": "memory_not_found", "detail": "there is no ms-9", "status": 404, "retryable": False}
        )

    with Peer(missing) as peer:
        with pytest.raises(NotFound, match="there is no ms-9"):
            connect(peer.url).get("ms-9")
