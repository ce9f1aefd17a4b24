"""spine mcp: what a host writes is passed on to /mcp, and what comes back is printed, a message a line."""

import base64
import json
import os
import signal
import socket
import threading
import time

import pytest

from cli import Cli, offline  # noqa: F401
from mcp_stand_in import Host, StandIn, initialize, modern, notification, request, wait_until

SESSION = "5e55-10n"


@pytest.fixture
def home(tmp_path):
    """Nothing of a person's own is there, and no server is ever started by accident."""
    return Cli(tmp_path)


def connect(home, stand_in, *options, **how):
    return Host(home, "--url", stand_in.url, *options, **how)


def hold(*messages):
    """A stream with these messages that stays open."""

    def handle(handler, message):
        handler.stream()
        for each in messages:
            handler.event(each)
        handler.wait_until_gone()
        handler.server.gone.put(message)

    return handle


# --- Both generations ---


def test_a_message_that_carries_its_version_goes_with_the_headers_that_mirror_it(home):
    with StandIn() as server, connect(home, server, "--agent", "coder", "--space", "team") as host:
        assert host.ask(modern(1, "tools/call", name="memory_get", arguments={}))["result"] == {}
        host.ask(modern("two", "server/discover"))
        host.ask(modern(3, "resources/read", uri="spine://memory/ms-1"))
        (_, call, body), (_, discover, _), (_, read, _) = server.seen
        assert call["mcp-protocol-version"] == "2026-07-28"
        assert (call["mcp-method"], call["mcp-name"]) == ("tools/call", "memory_get")
        assert (call["spine-agent"], call["spine-space"], call["spine-transport"]) == ("coder", "team", "stdio")
        assert call["accept"] == "application/json, text/event-stream"
        assert call["content-type"] == "application/json"
        assert body == modern(1, "tools/call", name="memory_get", arguments={})
        assert discover["mcp-method"] == "server/discover" and "mcp-name" not in discover
        assert read["mcp-name"] == "spine://memory/ms-1"
        assert "mcp-session-id" not in read


@pytest.mark.parametrize("name", ["Hello, 世界", " padded ", "line1\nline2", "=?base64?literal?="])
def test_a_name_that_no_header_can_hold_is_encoded(home, name):
    with StandIn() as server, connect(home, server) as host:
        host.ask(modern(1, "tools/call", name=name))
        encoded = server.seen[0][1]["mcp-name"]
        assert encoded == "=?base64?" + base64.b64encode(name.encode()).decode() + "?="


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_after_initialize_the_agreed_version_and_the_session_go_along(home, version):
    with StandIn(initialize=initialize(SESSION, version)) as server, connect(home, server) as host:
        assert host.initialize("2025-11-25")["result"]["protocolVersion"] == version
        host.ask(request(1, "tools/list"))
        code, _ = host.end()
        assert code == 0
        first, *others = server.seen
        assert "mcp-session-id" not in first[1] and "mcp-protocol-version" not in first[1]
        assert [message["method"] for _, _, message in others] == [
            "notifications/initialized", "GET", "tools/list", "DELETE"] or "GET" in server.methods()
        for _, headers, _ in others:
            assert (headers["mcp-session-id"], headers["mcp-protocol-version"]) == (SESSION, version)
            assert "mcp-method" not in headers
        assert others[-1][2]["method"] == "DELETE"


def test_a_server_without_sessions_is_not_told_of_one(home):
    with StandIn(initialize=initialize()) as server, connect(home, server) as host:
        host.initialize()
        host.ask(request(1, "tools/list"))
        assert host.end()[0] == 0
        assert all("mcp-session-id" not in headers for _, headers, _ in server.seen)
        assert "DELETE" not in server.methods()


def test_nothing_overtakes_the_beginning_of_a_session(home):
    done = []

    def slowly(handle):
        def handled(handler, message):
            time.sleep(0.1)
            done.append(message["method"])
            handle(handler, message)

        return handled

    def at_last(handler, message):
        handler.result(message, {"before": list(done), "session": handler.headers["Mcp-Session-Id"]})

    handlers = {"initialize": slowly(initialize(SESSION)), "tools__list": at_last,
                "notifications__initialized": slowly(lambda handler, _: handler.plain(202))}
    with StandIn(**handlers) as server, connect(home, server) as host:
        host.send(request(0, "initialize", protocolVersion="2025-11-25"), notification("notifications/initialized"),
                  request(1, "tools/list"), request(2, "prompts/list"))
        assert host.next()["id"] == 0
        listed = next(answer for answer in (host.next(), host.next()) if answer["id"] == 1)
        assert listed["result"] == {"before": ["initialize", "notifications/initialized"], "session": SESSION}


# --- Streams ---


def test_progress_comes_before_the_answer_as_it_comes(home):
    go_on = threading.Event()

    def handle(handler, message):
        handler.stream()
        handler.event(notification("notifications/progress", progress=1))
        assert go_on.wait(20)
        handler.event({"jsonrpc": "2.0", "id": message["id"], "result": {"done": True}})

    with StandIn(tools__call=handle) as server, connect(home, server) as host:
        host.send(modern(1, "tools/call", name="handoff_receive"))
        assert host.next()["method"] == "notifications/progress"
        assert host.is_silent()
        go_on.set()
        assert host.next()["result"] == {"done": True}


def test_a_call_that_waits_holds_up_no_other(home):
    with StandIn(tools__call=hold()) as server, connect(home, server) as host:
        for id in range(20):
            host.send(modern(id, "tools/call", name="handoff_receive"))
        server.wait_for("tools/call", 20)
        assert host.ask(modern("other", "tools/list"))["result"] == {}


def test_beyond_256_calls_at_a_time_one_is_refused_and_says_so(home):
    with StandIn(tools__call=hold()) as server, connect(home, server) as host:
        for id in range(257):
            host.send(modern(id, "tools/call", name="handoff_receive"))
        answer = host.next()
        assert answer["id"] == 256 and "too many calls" in answer["error"]["message"]


def test_what_the_server_says_first_goes_out_and_the_hosts_answer_goes_back(home):
    asked = {"jsonrpc": "2.0", "id": "s1", "method": "elicitation/create", "params": {}}
    stream = hold(notification("notifications/tools/list_changed"), asked)
    with StandIn(initialize=initialize(SESSION), GET=stream) as server, connect(home, server) as host:
        host.initialize()
        assert host.next()["method"] == "notifications/tools/list_changed"
        assert host.next() == asked
        host.send({"jsonrpc": "2.0", "id": "s1", "result": {"action": "decline"}})
        wait_until(lambda: any(message.get("result") for _, _, message in server.seen), "the answer")
        (_, headers, _) = next(each for each in server.seen if each[2]["method"] == "GET")
        assert headers["accept"] == "text/event-stream" and headers["mcp-session-id"] == SESSION


def test_a_stream_that_is_lost_is_asked_for_again_with_its_subscriptions(home):
    uri = "spine://inbox/coder"
    streams = []

    def stream(handler, message):
        streams.append(handler)
        handler.stream()
        handler.event(notification("notifications/message", data=len(streams)), id=len(streams))
        if len(streams) > 1:
            handler.wait_until_gone()

    with StandIn(initialize=initialize(SESSION), GET=stream) as server, connect(home, server) as host:
        host.send(request(0, "initialize", protocolVersion="2025-11-25"), notification("notifications/initialized"),
                  request(1, "resources/subscribe", uri=uri))
        seen = [host.next() for _ in range(4)]
        assert server.wait_for("GET", 2)[1][0]["last-event-id"] == "1"
        assert server.wait_for("resources/subscribe", 2)[1][1]["params"] == {"uri": uri}
        assert [each["id"] for each in seen if "id" in each] == [0, 1], "the repeated answer concerns nobody"


def test_a_subscription_goes_on_when_its_stream_breaks(home):
    acknowledged = notification("notifications/subscriptions/acknowledged")
    updated = notification("notifications/resources/updated", uri="spine://inbox/coder")
    count = []

    def listen(handler, message):
        count.append(1)
        handler.stream()
        handler.event(acknowledged)
        if len(count) == 2:
            handler.event({"jsonrpc": "2.0", "id": message["id"], "result": {}})  # as a server that stops does
        if len(count) > 2:
            handler.event(updated)
            handler.wait_until_gone()
            handler.server.gone.put(message)

    filter = {"resourceSubscriptions": ["spine://inbox/coder"]}
    with StandIn(subscriptions__listen=listen) as server, connect(home, server) as host:
        host.send(modern(7, "subscriptions/listen", notifications=filter))
        assert host.next() == acknowledged
        assert host.next() == updated and host.is_silent()
        host.send(notification("notifications/cancelled", requestId=7))
        assert server.gone.get(timeout=20)["id"] == 7
        assert host.is_silent() and "notifications/cancelled" not in server.methods()


# --- Cancelling ---


def test_cancelling_closes_the_connection_of_the_call(home):
    with StandIn(tools__call=hold()) as server, connect(home, server) as host:
        host.send(modern(1, "tools/call", name="a"), modern("1", "tools/call", name="b"))
        server.wait_for("tools/call", 2)
        host.send(notification("notifications/cancelled", requestId="1"))
        assert server.gone.get(timeout=20)["params"]["name"] == "b"
        assert server.gone.empty(), "an id that is a number is another one"
        host.ask(modern(2, "ping"))
        assert host.is_silent() and "notifications/cancelled" not in server.methods()


def test_before_2026_the_server_is_told_of_it_too(home):
    with StandIn(initialize=initialize(SESSION), tools__call=hold()) as server, connect(home, server) as host:
        host.initialize()
        host.send(request(5, "tools/call", name="handoff_receive"))
        server.wait_for("tools/call")
        host.send(notification("notifications/cancelled", requestId=5, reason="no more time"))
        (headers, message), = server.wait_for("notifications/cancelled")
        assert message["params"]["requestId"] == 5 and headers["mcp-session-id"] == SESSION
        assert server.gone.get(timeout=20)["id"] == 5
        assert host.is_silent()


# --- Hosts that make mistakes ---


def test_broken_json_is_a_parse_error_and_the_next_line_is_read(home):
    with StandIn() as server, connect(home, server) as host:
        host.write(b'{"jsonrpc":"2.0","id":1,\n')
        answer = host.next()
        assert answer["id"] is None and answer["error"]["code"] == -32700
        host.write(b"\n  \n\r\n\xff\xfe\n")
        assert host.next()["error"]["code"] == -32700
        host.ask(modern(2, "ping"))
        assert len(server.seen) == 1


@pytest.mark.parametrize("id", ["7", '"seven"'])
def test_json_that_is_refused_for_another_reason_is_answered_under_its_id(home, id):
    with StandIn() as server, connect(home, server) as host:
        for params in ('{"a":1,"a":2}', '{"a":[{"id":9}],"n":123456789012345678901}'):
            host.write(f'{{"method":"ping","params":{params}, "id" : {id} ,"jsonrpc":"2.0"}}\n'.encode())
            answer = host.next()
            assert answer["id"] == json.loads(id) and answer["error"]["code"] == -32700


@pytest.mark.parametrize("line", ['{"id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":1}', '"ping"', "[]", "3"])
def test_what_is_no_message_is_an_invalid_request(home, line):
    with StandIn() as server, connect(home, server) as host:
        host.write(line.encode() + b"\n")
        assert host.next()["error"]["code"] == -32600
        assert server.seen == []


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_read(home):
    with StandIn() as server, connect(home, server) as host:
        host.write(b"x" * (40 << 20) + b"\n")
        assert "longer than 32 MiB" in host.next()["error"]["message"]
        host.ask(modern(1, "ping"))
        assert host.is_silent()


def test_a_large_message_goes_both_ways(home):
    def echo(handler, message):
        handler.result(message, message["params"]["arguments"])

    arguments = {"text": "ü" * (4 << 20)}
    with StandIn(tools__call=echo) as server, connect(home, server) as host:
        host.send(modern(1, "tools/call", name="memory_store", arguments=arguments))
        assert host.next()["result"] == arguments


def test_a_batch_is_passed_on_whole(home):
    def both(handler, message):
        handler.json(200, [{"jsonrpc": "2.0", "id": each["id"], "result": {}} for each in message["items"]])

    with StandIn(batch=both) as server, connect(home, server) as host:
        host.send([request(1, "ping"), request(2, "ping")])
        assert [each["id"] for each in host.next()] == [1, 2]
    with StandIn(batch=lambda handler, message: handler.plain(500)) as server, connect(home, server) as host:
        host.send([request(1, "ping"), notification("x"), request(2, "ping")])
        assert [host.next()["id"], host.next()["id"]] == [1, 2]


# --- Servers that are not what they should be ---


def refused(home, handle, *options):
    with StandIn(ping=handle) as server, connect(home, server, *options) as host:
        answer = host.ask(modern(1, "ping"))
        assert host.ask(modern(2, "tools/list"))["result"] == {}, "it goes on"
        assert host.is_silent()
        return answer["error"]


@pytest.mark.parametrize("body", [
    b"<html>", b"", b"[]", b'{"jsonrpc":"2.0"', b'{"jsonrpc":"2.0","id":2,"result":{}}', b'{"id":1,"result":{}}', b"\xff",
    b'{"jsonrpc":"2.0","id":"1","result":{}}',
])
def test_an_answer_that_is_none_becomes_an_error(home, body):
    error = refused(home, lambda handler, message: handler.json(200, body))
    assert error["code"] == -32603 and error["message"]


def test_an_http_error_says_what_the_server_said(home):
    problem = {"type": "about:blank", "title": "x", "code": "body_too_large", "detail": "the body is too large"}
    assert refused(home, lambda handler, _: handler.json(413, problem))["message"] == "the body is too large"
    assert "HTTP status 502" in refused(home, lambda handler, _: handler.plain(502, b"<html>"))["message"]
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "Header mismatch"}}
    assert refused(home, lambda handler, _: handler.json(400, error)) == {"code": -32020, "message": "Header mismatch"}
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such", "data": {"a": 1}}}
    assert refused(home, lambda handler, _: handler.json(404, error)) == error["error"]


def test_a_stream_may_answer_its_own_request_and_no_other(home):
    def handle(handler, message):
        handler.stream()
        for id in (2, "1", None, 1, 1):
            handler.event({"jsonrpc": "2.0", "id": id, "result": {"of": id}})
        handler.event("not json")

    with StandIn(tools__call=handle) as server, connect(home, server) as host:
        host.send(modern(1, "tools/call", name="x"))
        assert host.next()["result"] == {"of": 1}
        host.ask(modern(2, "ping"))
        assert host.is_silent()


def test_json_over_several_lines_goes_out_as_one(home):
    def handle(handler, message):
        handler.json(200, json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a": "b\nc"}}, indent=1).encode())

    with StandIn(ping=handle) as server, connect(home, server) as host:
        assert host.ask(modern(1, "ping"))["result"] == {"a": "b\nc"}


def test_an_event_without_end_is_given_up(home):
    def handle(handler, message):
        handler.stream()
        for _ in range(40):
            handler.wfile.write(b"data: " + b"x" * (1 << 20))

    with StandIn(tools__call=handle) as server, connect(home, server) as host:
        host.send(modern(1, "tools/call", name="x"))
        assert "look before you make it again" in host.next()["error"]["message"]
        host.ask(modern(2, "ping"))


def test_a_redirect_is_not_followed(home):
    with StandIn() as other:
        error = refused(home, lambda handler, _: handler.plain(307, Location=other.url + "/mcp"))
        assert "HTTP status 307" in error["message"] and other.seen == []


# --- Servers that come and go ---


def test_a_session_that_the_server_forgot_is_made_again(home):
    sessions = iter(("first", "second"))

    def begin(handler, message):
        handler.server.session = next(sessions)
        initialize(handler.server.session)(handler, message)

    def call(handler, message):
        if handler.headers["Mcp-Session-Id"] != handler.server.session:
            handler.json(404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no such session"}})
        else:
            handler.result(message, {"session": handler.server.session})

    handlers = {"initialize": begin, "tools__call": call, "resources__subscribe": call}
    with StandIn(**handlers) as server, connect(home, server) as host:
        host.initialize()
        host.ask(request(1, "resources/subscribe", uri="spine://inbox/coder"))
        assert host.ask(request(2, "tools/call", name="x"))["result"] == {"session": "first"}
        server.session = "forgotten"
        assert host.ask(request(3, "tools/call", name="x"))["result"] == {"session": "second"}
        server.wait_for("resources/subscribe", 2)
        assert server.methods().count("initialize") == 2 and host.is_silent()


def test_a_server_that_forgets_every_session_does_not_keep_it_busy(home):
    forget = {"tools__call": lambda handler, _: handler.plain(404), "GET": lambda handler, _: handler.plain(404)}
    with StandIn(initialize=initialize(SESSION), **forget) as server, connect(home, server) as host:
        host.initialize()
        assert "HTTP status 404" in host.ask(request(1, "tools/call", name="x"))["error"]["message"]
        assert server.methods().count("initialize") <= 4


def test_a_server_that_is_restarted_is_waited_for(home):
    first = StandIn(initialize=initialize(SESSION))
    with connect(home, first) as host:
        host.initialize()
        host.ask(request(1, "ping"))
        port = first.server_address[1]
        first.stop()
        host.send(request(2, "tools/call", name="x"))
        time.sleep(0.3)  # it stays away for a moment
        assert host.is_silent()
        with StandIn(port=port):
            assert host.next() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def broken(times):
    """Breaks off so often before it answers. As a stream, so that libcurl does not repeat it by itself."""

    def handle(handler, message):
        if len(handler.server.wait_for("tools/call")) > times:
            handler.result(message, {"done": True})
        else:
            handler.stream()

    return handle


def test_a_tool_call_that_breaks_is_made_again_once_with_the_same_key(home):
    with StandIn(tools__call=broken(1)) as server, connect(home, server) as host:
        assert host.ask(modern(1, "tools/call", name="memory_store"))["result"] == {"done": True}
        host.ask(modern(2, "tools/call", name="memory_store"))
        first, again, other = (headers["idempotency-key"] for headers, _ in server.wait_for("tools/call"))
        assert first == again != other and len(first) == 32
        host.ask(modern(3, "tools/list"))
        assert "idempotency-key" not in server.seen[-1][1]


def test_a_tool_call_that_breaks_again_is_an_error_that_says_what_is_not_known(home):
    with StandIn(tools__call=broken(9)) as server, connect(home, server) as host:
        error = host.ask(modern(1, "tools/call", name="memory_store"))["error"]
        assert "not known" in error["message"] and len(server.wait_for("tools/call")) == 2


def test_a_request_without_an_effect_that_is_not_known_to_have_none_is_not_repeated(home):
    with StandIn(logging__setLevel=lambda handler, _: handler.stream()) as server, connect(home, server) as host:
        assert "not known" in host.ask(modern(1, "logging/setLevel"))["error"]["message"]
        assert server.methods() == ["logging/setLevel"]


def test_what_only_reads_is_asked_again(home):
    def once(handler, message):
        del handler.server.handle["tools/list"]
        handler.stream()

    with StandIn(tools__list=once) as server, connect(home, server) as host:
        assert host.ask(modern(1, "tools/list"))["result"] == {}


def test_an_address_of_another_machine_is_never_started(home):
    with Host(home, "--url", "http://memory-spine.invalid:8788") as host:
        error = host.ask(modern(1, "ping"))["error"]
        assert "cannot reach" in error["message"] and error["data"] == {"retryable": True}
        assert not data_of(home).exists()


def data_of(home):
    return home.home / ".local" / "share" / "memory-spine"


def started(home):
    path = data_of(home) / "server.json"
    return json.loads(path.read_text()) if path.exists() else None


def is_running(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


@pytest.fixture
def own_server(home):
    yield home
    note = started(home)
    if note:
        os.kill(note["pid"], signal.SIGTERM)
        wait_until(lambda: not is_running(note["pid"]), "the end of the server")


def free_url(host="127.0.0.1"):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://{host}:{free.getsockname()[1]}"


def test_where_no_server_runs_one_is_started_and_stays(own_server):
    url = free_url()
    with Host(own_server, "--url", url) as host:
        assert host.ask(modern(1, "server/discover"))["id"] == 1
        assert host.end()[0] == 0
        wait_until(lambda: "is ready" in host.stderr(), "what it says")
        assert f"no server runs at {url}: starting one" in host.stderr()
    note = started(own_server)
    assert note["url"] == url and is_running(note["pid"])
    assert (data_of(own_server) / "server.log").stat().st_mode & 0o777 == 0o600
    with Host(own_server, "--url", url) as host:
        host.ask(modern(1, "server/discover"))
        assert "starting" not in host.stderr()
    assert started(own_server) == note


@pytest.mark.parametrize("host", ["localhost", "[::1]"])
def test_a_server_is_started_at_any_name_of_this_machine(own_server, host):
    url = free_url(host)
    with Host(own_server, "--url", url) as proxy:
        assert proxy.ask(modern(1, "server/discover"))["id"] == 1
    assert started(own_server)["url"] == url.replace("localhost", "127.0.0.1")


def test_of_many_at_once_one_server_is_started(own_server):
    url = free_url()
    hosts = [Host(own_server, "--url", url) for _ in range(6)]
    for host in hosts:
        host.send(modern(1, "server/discover"))
    for host in hosts:
        assert host.next()["id"] == 1
        assert host.end()[0] == 0
    log = (data_of(own_server) / "server.log").read_text()
    assert log.count('"serving"') == 1


def test_the_server_of_the_data_directory_is_found_where_it_listens(own_server):
    with Host(own_server, "--url", free_url()) as host:
        host.ask(modern(1, "server/discover"))
    there = started(own_server)["url"]
    with Host(own_server, "--url", free_url()) as host:
        assert f"export SPINE_URL={there}" in host.ask(modern(1, "server/discover"))["error"]["message"]


# --- The end ---


def test_the_end_of_input_ends_it_and_what_is_under_way_is_answered(home):
    def slowly(handler, message):
        time.sleep(0.2)
        handler.result(message, {"late": True})

    with StandIn(ping=slowly) as server, connect(home, server) as host:
        host.send(modern(1, "ping"))
        code, took_s = host.end()
        assert (code, host.next()["result"]) == (0, {"late": True}) and took_s < 1.5


def test_the_last_line_needs_no_line_break(home):
    with StandIn() as server, connect(home, server) as host:
        host.write(json.dumps(modern(1, "ping")).encode())
        assert host.end()[0] == 0
        assert host.next()["id"] == 1


@pytest.mark.parametrize("how", ["input", "output", "signal"])
def test_it_ends_in_time_whatever_is_under_way(home, how):
    handlers = {"initialize": initialize(SESSION), "GET": hold(), "tools__call": hold()}
    with StandIn(**handlers) as server, connect(home, server, is_unread=how == "output") as host:
        host.send(request(0, "initialize", protocolVersion="2025-11-25"), notification("notifications/initialized"),
                  request(1, "tools/call", name="handoff_receive"))
        server.wait_for("tools/call")
        begin = time.monotonic()
        if how == "output":
            host.process.stdout.close()
        elif how == "signal":
            host.process.send_signal(signal.SIGTERM)
        else:
            host.process.stdin.close()
        assert host.process.wait(20) == 0
        assert time.monotonic() - begin < 1.9, "hosts kill it after two seconds"
        server.wait_for("DELETE")


def test_a_host_that_gives_up_while_a_session_begins_is_not_kept(home):
    with StandIn(initialize=hold()) as server, connect(home, server) as host:
        host.send(request(0, "initialize", protocolVersion="2025-11-25"), request(1, "ping"))
        server.wait_for("initialize")
        code, took_s = host.end()
        assert code == 0 and took_s < 1.9
        assert server.methods() == ["initialize"]


def test_a_host_that_reads_slowly_gets_everything(home):
    def much(handler, message):
        handler.result(message, {"text": "x" * (1 << 20)})

    with StandIn(ping=much) as server, connect(home, server, is_unread=True) as host:
        for id in range(40):
            host.send(modern(id, "ping"))
        server.wait_for("ping", 5)
        host.begin_to_read()
        assert {host.next()["id"] for _ in range(40)} == set(range(40))


def test_a_wrong_address_is_told_before_anything_is_read(home):
    result = home("mcp", "--url", "ftp://x")
    assert result.code == 2 and "the server's address" in result.err and result.out == ""
