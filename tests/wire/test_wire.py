"""The wire: JSON over HTTP/1.1, who is let in, what is too much, and what an error looks like."""

import json
import re
import select
import socket
from pathlib import Path

import pytest
from api import TIMEOUT_S, Api, check_problem, parse_raw, raw, read_all, wait_until

MEMORIES = "/v1/memories"
SOURCES = Path(__file__).resolve().parents[2] / "src" / "api"


# --- Bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON",
                                  "application/json ;x=y", None])
def test_bodies_are_json_or_unnamed(api, kind):
    assert api.call("POST", MEMORIES, {"content": "a"}, {"Content-Type": kind}).status == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json", "",
                                  "application/xml", "multipart/form-data"])
def test_any_other_content_type_is_415(api, kind):
    api.refused(415, "unsupported_media_type", "POST", MEMORIES, {"content": "a"}, {"Content-Type": kind})
    assert api.count() == 0


def test_an_encoded_body_is_415_and_not_taken_for_json(api):
    problem = api.refused(415, "unsupported_media_type", "POST", MEMORIES, {"content": "a"}, {"Content-Encoding": "gzip"})
    assert problem["field"] == "Content-Encoding" and "gzip" in problem["detail"]
    api.ok("POST", MEMORIES, {"content": "a"}, {"Content-Encoding": "identity"}, 201)


@pytest.mark.parametrize("escape", ["%00", "%ff", "%zz", "%4"])
def test_what_is_wrong_with_an_address_is_told(api, escape):
    problem = api.refused(400, "invalid_request", "GET", f"/v1/agents/a{escape}")
    assert problem["detail"] == "the address holds a broken percent escape, a NUL or invalid UTF-8"



@pytest.mark.parametrize("body, code", [
    (b"", "invalid_json"), (b"{", "invalid_json"), (b'{"content":"a"', "invalid_json"),
    (b'{"content":"a"}x', "invalid_json"),
    (b'{"content":"a",}', "invalid_json"), (b"{'content':'a'}", "invalid_json"),
    (b'{"content":"a\x01"}', "invalid_json"),
    (b'{"content":"\\ud800"}', "invalid_json"), (b'{"content":"\\x"}', "invalid_json"),
    (b'{"content":01}', "invalid_json"),
    (b'{"content":NaN}', "invalid_json"), (b'{"content":"a"} {}', "invalid_json"), (b"\xef\xbb\xbf{}", "invalid_json"),
    (b'{"content":"\xff"}', "invalid_utf8"), (b'{"content":"\xed\xa0\x80"}', "invalid_utf8"),
    (b'{"content":"\xc0\xaf"}', "invalid_utf8"),
    (b'{"content":"a","content":"b"}', "duplicate_key"),
    (b'{"content":"a","metadata":{"x":1,"\\u0078":2}}', "duplicate_key"),
    (b'{"content":"a","metadata":{"n":9007199254740992}}', "number_out_of_range"),
    (b'{"content":"a","metadata":{"n":-9007199254740992}}', "number_out_of_range"),
    (b'{"content":"a","metadata":{"n":1e400}}', "number_out_of_range"),
    (b"[]", "invalid_request"), (b'"text"', "invalid_request"), (b"null", "invalid_request"), (b"5", "invalid_request"),
    (b'{"content":"a","metadata":' + b'{"a":' * 64 + b"1" + b"}" * 64 + b"}", "too_deep"),
])
def test_a_body_that_is_not_good_json_is_400(api, body, code):
    api.refused(400, code, "POST", MEMORIES, body)
    assert api.count() == 0


def test_integers_up_to_2_53_and_nesting_up_to_the_limit_are_kept(api):
    deep = 1
    for _ in range(62):
        deep = {"a": deep}
    metadata = {"max": 9007199254740991, "min": -9007199254740991, "deep": deep}
    assert api.store("a", metadata=metadata)["metadata"] == metadata


def test_text_is_utf_8_both_ways(api):
    answer = api.call("POST", MEMORIES, '{"content":"ä\\u00e4\\ud83d\\ude00\U0001f600"}'.encode())
    assert answer.json["content"] == "ää\U0001f600\U0001f600"
    assert "ää\U0001f600\U0001f600".encode() in answer.data


# --- Who is let in ---------------------------------------------------------------------------------


def with_host(server, lines, method="GET", path="/v1/memories", version="1.1"):
    request = f"{method} {path} HTTP/{version}\r\n".encode() + b"".join(line + b"\r\n" for line in lines)
    request += b"Connection: close\r\n\r\n"
    return parse_raw(raw(server.address, request))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8788", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8788",
                                  "127.0.0.2", "127.255.255.254", "localhost:"])
def test_a_loopback_host_is_answered(server, host):
    assert with_host(server, [b"Host: " + host.encode()]).status == 200


@pytest.mark.parametrize("host", [
    "example.com", "example.com:8788", "localhost.example.com", "127.0.0.1.example.com", "10.0.0.1", "0.0.0.0",
    "192.168.1.1:8788", "[::]", "[fe80::1]", "::1",
    "notlocalhost", "localhost2", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1:x", "127.0.0.1:99999",
    "localhost:-1", "[::1]x", "128.0.0.1",
])
@pytest.mark.parametrize("method, path", [("GET", "/v1/memories"), ("GET", "/healthz"), ("GET", "/nowhere")])
def test_any_other_host_is_421(server, host, method, path):
    answer = with_host(server, [b"Host: " + host.encode()], method, path)
    if answer.status == 400:  # no host at all, by the grammar of HTTP
        assert answer.json["code"] == "invalid_request" or answer.json["code"].startswith("invalid"), answer
    else:
        check_problem(answer, 421, "host_not_allowed", "Host")


def test_a_strangers_host_is_refused_before_its_body_is_read(server):
    request = b"POST /v1/memories HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\n\r\n"
    check_problem(parse_raw(raw(server.address, request)), 421, "host_not_allowed")


def test_http_1_1_without_a_host_is_400(server):
    assert with_host(server, []).status == 400
    assert with_host(server, [b"Host: localhost", b"Host: localhost"]).status == 400


@pytest.mark.parametrize("origin", ["http://localhost", "http://localhost:3000", "http://127.0.0.1:8788",
                                    "https://localhost", "http://[::1]:5173", "https://127.0.0.9"])
def test_a_loopback_origin_is_answered(api, origin):
    assert api.call("POST", MEMORIES, {"content": "a"}, {"Origin": origin}).status == 201


@pytest.mark.parametrize("origin", [
    "null", "http://example.com", "https://localhost.example.com", "http://10.0.0.1", "file://",
    "chrome-extension://abc", "localhost", "http://", "",
    "ftp://localhost", "http://localhost@evil.example", "http://evil.example#localhost", "http://localhost/x",
])
def test_any_other_origin_is_403(api, origin):
    api.refused(403, "origin_not_allowed", "POST", MEMORIES, {"content": "a"}, {"Origin": origin}, field="Origin")


def test_an_image_in_a_foreign_page_takes_no_handoff(api):
    path, headers = "/v1/agents/victim/stream?lease_s=0.001&format=none", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    api.refused(403, "origin_not_allowed", "GET", path, headers=headers, field="Sec-Fetch-Site")
    assert api.count() == 0


# --- Routes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [
    "/assets", "/assets/", "/assets/app.js", "/v1", "/v1/", "/v2/memories", "/v1/memory", "/v1/memories/", "/v1/memories//versions", "/v1/memories/ms-1/",
    "/v1/memories/ms-1/nothing", "//v1/memories", "/v1/memories/ms-1/versions/1",
    "/healthz/", "/HEALTHZ", "/v1/../v1/memories", "/v1/memories%2Fms-1", "/index.html",
])
def test_an_unknown_address_is_404(api, path):
    for method in ("GET", "POST", "DELETE"):
        answer = api.call(method, path, {} if method == "POST" else None)
        assert answer.status == 404 and answer.json["code"] in ("not_found", "memory_not_found"), answer
        if not path.startswith("/v1/memories/") and "%2F" not in path:
            check_problem(answer, 404, "not_found")


@pytest.mark.parametrize("method, path, allow", [
    ("PUT", "/v1/memories", "GET, HEAD, POST"), ("DELETE", "/v1/memories", "GET, HEAD, POST"),
    ("PATCH", "/v1/memories", "GET, HEAD, POST"),
    ("POST", "/v1/memories/ms-1", "GET, HEAD, PATCH, DELETE"), ("PUT", "/v1/memories/ms-1", "GET, HEAD, PATCH, DELETE"),
    ("GET", "/v1/memories/batch", "POST"), ("DELETE", "/v1/memories/batch", "POST"),
    ("GET", "/v1/memories/fetch", "POST"), ("HEAD", "/v1/memories/fetch", "POST"), ("PATCH", "/v1/memories/fetch", "POST"),
    ("GET", "/v1/memories/ms-1/pin", "POST"), ("GET", "/v1/memories/ms-1/revert", "POST"),
    ("POST", "/v1/memories/ms-1/versions", "GET, HEAD"),
    ("GET", "/v1/tokens", "POST"), ("HEAD", "/v1/tokens", "POST"), ("POST", "/healthz", "GET, HEAD"),
    ("DELETE", "/readyz", "GET, HEAD"), ("POST", "/v1/status", "GET, HEAD"),
    ("OPTIONS", "/v1/memories", "GET, HEAD, POST"),
])
def test_another_method_is_405_with_allow(api, method, path, allow):
    answer = api.call(method, path)
    assert answer.status == 405 and answer.headers["Allow"] == allow, answer
    if method != "HEAD":
        check_problem(answer, 405, "method_not_allowed")


def test_an_address_without_parameters_is_nothing_else(api):
    """Wherever a pattern of the table would fit it, too: such an address takes its own methods, and no id is read from it."""
    shapes = {}
    for source in SOURCES.glob("*.c"):
        for method, path in re.findall(r'\{HTTP_([A-Z]+), "(/[^"]*)"', source.read_text()):
            shapes.setdefault(path, set()).add(method)
    fixed = [path for path in shapes if "{}" not in path and any(
        re.fullmatch(other.replace("{}", "[^/]+"), path) for other in shapes if "{}" in other)]
    assert "/v1/memories/batch" in fixed
    for path in fixed:
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - shapes[path]:
            answer = api.call(method, path)
            check_problem(answer, 405, "method_not_allowed")
            assert set(answer.headers["Allow"].split(", ")) - {"HEAD"} == shapes[path], (method, path)
        for method in shapes[path]:
            assert api.call(method, path, b"not JSON").json.get("code") not in ("memory_not_found", "method_not_allowed")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/status", "/v1/memories", "/v1/memories/ms-1",
                                  "/v1/memories/ms-1/versions", "/v1/memories/ms-9", "/nowhere"])
def test_head_is_get_without_the_body(api, path):
    api.store("a")
    head = api.call("HEAD", path)
    get = api.call("GET", path)
    assert head.status == get.status and head.data == b""
    for name in ("Content-Type", "ETag"):
        assert head.headers[name] == get.headers[name]
    if "status" not in path:
        assert head.headers["Content-Length"] == get.headers["Content-Length"]


def test_an_empty_parameter_list_and_odd_separators_are_fine(api):
    api.store("a")
    assert api.ids("&&=x&") == ["ms-1"]


# --- Limits ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server with small limits, each set by its option."""
    from server import Server

    running = Server(tmp_path_factory.mktemp("small") / "data", "--max-body", "64k", "--max-header", "4k",
                     "--max-uri", "1k", "--max-json-depth", "8", "--max-batch", "3",
                     "--max-body-total", "64k", "--header-timeout", "300ms", "--body-timeout", "300ms", "--max-connections", "50").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


def test_past_the_bodys_limit_it_is_413(small):
    api = Api(small.address)
    exact = b'{"content":"' + b"a" * (65536 - 14) + b'"}'
    assert len(exact) == 65536 and api.call("POST", MEMORIES, exact).status == 201
    check_problem(api.call("POST", MEMORIES, exact + b" "), 413, "body_too_large")
    # Also where nobody said how much would come.
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    head = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    check_problem(parse_raw(raw(small.address, head + chunk + b"5\r\n     \r\n0\r\n\r\n")), 413, "body_too_large")
    assert api.count() == 1


def test_past_the_heads_limit_it_is_431_and_a_long_address_414(server):
    host = b"Host: localhost\r\n"
    check_problem(parse_raw(raw(server.address, b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 70000 + b"\r\n\r\n")),
                  431, "headers_too_large")
    many = b"".join(b"X-%d: 1\r\n" % number for number in range(200))
    check_problem(parse_raw(raw(server.address, b"GET / HTTP/1.1\r\n" + host + many + b"\r\n")), 431,
                  "headers_too_large")
    check_problem(parse_raw(raw(server.address, b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n" + host + b"\r\n")), 414,
                  "uri_too_long")


def test_the_options_for_head_address_depth_and_batch_hold(small):
    api = Api(small.address)
    address = "/v1/memories?query=".ljust(1024, "a")
    assert api.call("GET", address).status == 200
    check_problem(api.call("GET", address + "a"), 414, "uri_too_long")
    check_problem(parse_raw(raw(small.address, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 5000 + b"\r\n\r\n")), 431, "headers_too_large")
    assert api.call("POST", MEMORIES,
                    b'{"content":"a","metadata":' + b'{"a":' * 6 + b"[1]" + b"}" * 6 + b"}").status == 201
    api.refused(400, "too_deep", "POST", MEMORIES,
                b'{"content":"a","metadata":' + b'{"a":' * 7 + b"[1]" + b"}" * 7 + b"}")
    api.refused(422, "too_large", "POST", MEMORIES + "/batch", {"memories": [{"content": "a"}] * 4}, field="memories")
    api.ok("POST", MEMORIES + "/batch", {"memories": [{"content": "a"}] * 3}, status=201)


def test_a_request_that_does_not_arrive_in_time_is_408(small):
    for part in (b"GET /healthz HT", b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"):
        check_problem(parse_raw(raw(small.address, part)), 408, "request_timeout")


def test_more_connections_than_allowed_are_told_so(small):
    peers = []
    try:
        while len(peers) < 60:
            peer = socket.create_connection(small.address, timeout=TIMEOUT_S)
            peers.append(peer)
        last = read_all(peers[-1])
        check_problem(parse_raw(last), 503, "overloaded")
        assert b"retry-after" in last.lower()
    finally:
        for peer in peers:
            peer.close()


def test_bodies_of_all_requests_together_have_a_limit(start):
    """While one request holds all the room, another is told to come again; then it succeeds."""
    server = start("--max-body", "64k", "--max-body-total", "64k").wait_until_ready()
    body = b'{"content":"' + b"b" * 20000 + b'"}'

    def is_refused():
        answer = Api(server.address).call("POST", MEMORIES, body)
        if answer.status == 503:
            check_problem(answer, 503, "overloaded")
            assert answer.headers["Retry-After"]
        return answer.status == 503

    def hold():
        peer = socket.create_connection(server.address, timeout=TIMEOUT_S)
        peer.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" + b" " * 59000)
        return peer

    holders = [hold()]

    def is_refused_beside_it():
        # One that came while the other was being served was refused itself.
        if select.select([holders[-1]], [], [], 0)[0]:
            holders.append(hold())
        return is_refused()

    wait_until(is_refused_beside_it, "the room is taken")
    for peer in holders:
        peer.close()
    wait_until(lambda: not is_refused(), "there is room again")
    assert server.terminate() == 0


def test_too_many_query_parameters_are_refused(api):
    api.refused(422, "too_large", "GET", MEMORIES + "?" + "&".join(f"kind={i}" for i in range(100)))


# --- Errors ----------------------------------------------------------------------------------------


def test_the_documents_example_of_an_error(api):
    answer = api.call("POST", MEMORIES, {"content": "a", "importance": "urgent"})
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json == {
        "type": "about:blank", "title": "Unprocessable Content", "status": 422, "code": "invalid_field",
        "field": "importance",
        "detail": 'importance is "urgent"; expected one of low, medium, high, critical', "retryable": False,
    }


@pytest.mark.parametrize("value", ["ä" * 300, "a" + "ä" * 300, "\U0001f600" * 100, "a\U0001f600" * 100, '"\\\n'])
def test_details_stay_whole_whatever_they_quote(api, value):
    problem = api.refused(422, "invalid_field", "POST", MEMORIES, {"content": "a", "importance": value})
    assert problem["detail"].endswith("expected one of low, medium, high, critical")


def test_a_refused_request_leaves_the_connection_usable(api):
    for _ in range(5):
        api.refused(400, "invalid_json", "POST", MEMORIES, b"{")
        api.refused(404, "memory_not_found", "GET", MEMORIES + "/ms-1")
        assert api.call("GET", "/healthz").status == 200


def test_pipelined_requests_are_answered_in_their_order(server):
    body = [json.dumps({"content": f"number {number}"}).encode() for number in range(20)]
    head = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nSpine-Space: pipe\r\nContent-Length: %d\r\n\r\n"
    requests = b"".join(head % len(text) + text for text in body)
    received = raw(server.address,
                   requests + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
    assert received.count("HTTP/1.1 201") == 20
    places = [received.index(f'"number {number}"') for number in range(20)]
    assert places == sorted(places)


# --- What is wrong with a head ----------------------------------------------------------------------


@pytest.mark.parametrize("head, code", [
    (b"GET /\xc3\xa9 HTTP/1.1\r\n", "bad_target"), (b"GET ?x HTTP/1.1\r\n", "bad_target"), (b"GET /a#b HTTP/1.1\r\n", "bad_target"),
    (b"POST / HTTP/1.1\r\nContent-Length: x\r\n", "bad_content_length"),
    (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n", "bad_content_length"),
    (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n", "bad_framing"),
    (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", "bad_framing"),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n", "bad_framing"),
    (b"GET / HTTP/1.1\r\nX : y\r\n", "bad_header"),
])
def test_a_head_that_is_refused_says_what_is_wrong_with_it(server, head, code):
    answer = parse_raw(raw(server.address, head + b"Host: 127.0.0.1\r\n\r\n"))
    assert (answer.status, answer.json["code"]) == (400, code), answer


def test_a_time_that_is_out_of_range_is_told_so(api):
    problem = api.refused(422, "invalid_field", "POST", MEMORIES, {"content": "a", "expires_at": "1969-12-31T23:59:59Z"})
    assert "1970 to 9999" in problem["detail"]


# --- Parameters of lists ---------------------------------------------------------------------------

LISTS = ["/v1/handoffs", "/v1/parked", "/v1/agents", "/v1/channels", "/v1/routes", "/v1/tasks", "/v1/tasks/task-1",
         "/v1/tasks/task-1/fidelity", "/v1/tasks/task-1/trace", "/v1/memories/ms-1/versions", "/v1/audit", "/v1/alerts", "/v1/spaces",
         "/v1/memories"]


@pytest.fixture
def filled(api):
    api.store("a")
    api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x"}, status=201)
    return api


@pytest.mark.parametrize("path", LISTS)
def test_parameters_that_a_list_does_not_know_are_listed_in_warnings(filled, path):
    answer = filled.ok("GET", f"{path}?colour=red&page_size=5&shape=round")
    assert [(w["code"], w["field"]) for w in answer["warnings"]] == [("unknown_field", "colour"), ("unknown_field", "shape")]
    assert "warnings" not in filled.ok("GET", f"{path}?page_size=5")


@pytest.mark.parametrize("path", [path for path in LISTS if path != "/v1/memories"])
def test_a_parameter_of_a_list_that_stands_twice_is_refused(filled, path):
    filled.refused(422, "invalid_field", "GET", f"{path}?page_size=5&page_size=6", field="page_size")


@pytest.mark.parametrize("path, name, values", [("/v1/handoffs", "state", ["queued", "acked"]), ("/v1/handoffs", "to", ["a", "b"]),
                                                ("/v1/parked", "from", ["a", "a"]), ("/v1/audit", "actor", ["a", "b"])])
def test_a_filter_of_a_list_that_stands_twice_is_refused(filled, path, name, values):
    filled.refused(422, "invalid_field", "GET", f"{path}?{name}={values[0]}&{name}={values[1]}", field=name)


def test_the_parked_have_one_state(filled):
    assert [w["field"] for w in filled.ok("GET", "/v1/parked?state=queued")["warnings"]] == ["state"]
