"""Pages of other origins (CORS): which may call, what they may send and read, and what stays closed to them."""

import pytest
from api import Api, check_problem, parse_raw, raw
from test_life import run_serve

MEMORIES = "/v1/memories"
PAGE = "http://localhost:3000"
OTHER = "http://127.0.0.1:5173"
APP = "https://app.example"


def preflight(api, origin, method="POST", path=MEMORIES, **more):
    headers = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "spine-space", **more}
    return api.call("OPTIONS", path, headers=headers)


def names(text):
    return {name.strip().lower() for name in text.split(",")}


def is_allowed(answer, origin):
    """Its own name, never a star, and no credentials: there are none."""
    assert answer.headers.get_all("Access-Control-Allow-Origin") == [origin]
    assert "Origin" in answer.headers.get_all("Vary")
    assert "Access-Control-Allow-Credentials" not in answer.headers
    return True


def is_closed(answer):
    return not [name for name in answer.headers if name.lower().startswith("access-control-")]


# --- Who -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [PAGE, OTHER, "https://localhost", "http://[::1]:8080", "http://127.1.2.3:4"])
def test_a_page_of_this_machine_may_call_and_read_the_answer(api, origin):
    answer = preflight(api, origin)
    assert answer.status == 204 and answer.data == b"" and is_allowed(answer, origin)
    assert is_allowed(api.call("POST", MEMORIES, {"content": "a"}, {"Origin": origin}), origin)


@pytest.mark.parametrize("origin", ["null", APP, "http://localhost.evil.example", "http://10.0.0.1", "*", "chrome-extension://abc"])
def test_any_other_page_is_refused_and_told_nothing_by_the_browser(api, origin):
    for answer in (preflight(api, origin), api.call("GET", MEMORIES, headers={"Origin": origin})):
        check_problem(answer, 403, "origin_not_allowed", "Origin")
        assert is_closed(answer)


def test_an_origin_that_is_allowed_by_name_may_call(start):
    api = Api(start("--allow-origin", APP, "--allow-origin", "http://tool.example:8080,https://b.example").wait_until_ready().address)
    for origin in (APP, "http://tool.example:8080", "https://b.example", PAGE):
        assert preflight(api, origin).status == 204
        assert is_allowed(api.call("POST", MEMORIES, {"content": "a"}, {"Origin": origin}), origin)
    for origin in ("http://app.example", "https://app.example:8443", "https://x.app.example", "https://app.example.evil"):
        check_problem(preflight(api, origin), 403, "origin_not_allowed")


def test_origins_may_be_named_in_the_environment(start):
    api = Api(start(SPINE_ALLOW_ORIGIN=f"{APP},https://b.example").wait_until_ready().address)
    assert preflight(api, APP).status == preflight(api, "https://b.example").status == 204


def test_an_allowed_origin_does_not_open_the_server_to_other_names(start):
    server = start("--allow-origin", APP).wait_until_ready()
    request = f"GET {MEMORIES} HTTP/1.1\r\nHost: app.example\r\nOrigin: {APP}\r\nConnection: close\r\n\r\n"
    answer = parse_raw(raw(server.address, request.encode()))
    check_problem(answer, 421, "host_not_allowed")
    assert is_closed(answer)


def test_a_strict_server_takes_calls_of_its_own_pages_and_of_those_named(start):
    server = start("--strict-origins", "--allow-origin", PAGE).wait_until_ready()
    api = Api(server.address)
    assert preflight(api, PAGE).status == 204
    assert api.call("POST", MEMORIES, {"content": "a"}, {"Origin": server.url}).status == 201
    check_problem(preflight(api, OTHER), 403, "origin_not_allowed")
    check_problem(api.call("POST", MEMORIES, {"content": "a"}, {"Origin": OTHER}), 403, "origin_not_allowed", "Origin")
    image = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    check_problem(api.call("GET", "/v1/agents/a/peek", headers=image), 403, "origin_not_allowed", "Sec-Fetch-Site")
    assert api.count() == 1


@pytest.mark.parametrize("origin", ["*", "null", "app.example", "https://app.example/", "https://*.example", "https://App.example"])
def test_what_is_no_origin_cannot_be_allowed(tmp_path, origin):
    done = run_serve(tmp_path / "data", "--listen", "127.0.0.1:0", "--allow-origin", origin)
    assert done.returncode in (1, 2) and "--allow-origin" in done.stderr and "https://app.example" in done.stderr


def test_the_servers_own_pages_need_no_permission(api):
    assert is_closed(api.call("POST", MEMORIES, {"content": "a"}, {"Origin": f"http://{api.address[0]}:{api.address[1]}"}))
    assert is_closed(api.call("GET", MEMORIES))


# --- What ------------------------------------------------------------------------------------------


def test_a_preflight_names_every_method_and_every_header_but_the_persons(api):
    answer = preflight(api, PAGE)
    document = api.ok("GET", "/openapi.json")
    methods = {method.upper() for path in document["paths"].values() for method in path}
    assert methods <= {name.upper() for name in names(answer.headers["Access-Control-Allow-Methods"])}
    taken = {one["name"].lower() for one in document["components"]["parameters"].values() if one["in"] == "header"}
    for path in document["paths"].values():
        for operation in path.values():
            taken |= {one["name"].lower() for one in operation.get("parameters", ()) if one.get("in") == "header"}
    assert {"spine-space", "idempotency-key", "spine-person", "last-event-id"} <= taken
    allowed = names(answer.headers["Access-Control-Allow-Headers"])
    # A page of somebody else cannot decide in the name of a person.
    assert taken - allowed == {"spine-person"}
    assert "*" not in allowed and "content-type" in allowed
    assert int(answer.headers["Access-Control-Max-Age"]) > 0


def test_a_page_may_read_the_headers_of_an_answer(api):
    answer = api.call("POST", MEMORIES, {"content": "a"}, {"Origin": PAGE})
    exposed = names(answer.headers["Access-Control-Expose-Headers"])
    operations = [one for path in api.ok("GET", "/openapi.json")["paths"].values() for one in path.values()]
    answers = [one for operation in operations for one in operation["responses"].values()]
    told = {name.lower() for one in answers for name in one.get("headers", ())}
    assert {"etag", "location", "traceparent"} <= told <= exposed
    assert {"retry-after", "allow"} <= exposed


@pytest.mark.parametrize("method, path, body, status", [
    ("GET", "/v1/memories/ms-999", None, 404), ("POST", MEMORIES, {"content": 5}, 422), ("GET", "/nowhere", None, 404),
    ("DELETE", MEMORIES, None, 405),
])
def test_a_page_can_read_what_is_wrong(api, method, path, body, status):
    answer = api.call(method, path, body, {"Origin": PAGE})
    assert answer.status == status and is_allowed(answer, PAGE)


def test_a_page_can_read_that_its_body_is_too_large(start):
    api = Api(start("--max-body", "2k").wait_until_ready().address)
    answer = api.call("POST", MEMORIES, {"content": "a" * 5000}, {"Origin": PAGE})
    assert answer.status == 413 and is_allowed(answer, PAGE)


def test_a_page_can_read_a_stream(server):
    request = f"GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nOrigin: {PAGE}\r\nAccept: text/event-stream\r\n\r\n"
    answer = parse_raw(raw(server.address, request.encode(), until_closed=False))
    assert answer.status == 200 and is_allowed(answer, PAGE)


def test_a_page_can_speak_mcp(api):
    sent = {"mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"}
    assert sent <= names(preflight(api, PAGE, path="/mcp").headers["Access-Control-Allow-Headers"])
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    answer = api.call("POST", "/mcp", body, {"Origin": PAGE, "Accept": "application/json, text/event-stream"})
    assert answer.status == 200 and is_allowed(answer, PAGE)
    assert answer.headers["Mcp-Session-Id"] and "mcp-session-id" in names(answer.headers["Access-Control-Expose-Headers"])


def test_options_without_a_preflight_is_no_method(api):
    check_problem(api.call("OPTIONS", MEMORIES), 405, "method_not_allowed")
    check_problem(api.call("OPTIONS", MEMORIES, headers={"Origin": PAGE}), 405, "method_not_allowed")


def test_a_page_from_the_network_that_is_allowed_may_come_to_this_machine(start):
    api = Api(start("--allow-origin", APP).wait_until_ready().address)
    asked = {"Access-Control-Request-Private-Network": "true"}
    assert preflight(api, APP, **asked).headers["Access-Control-Allow-Private-Network"] == "true"
    assert "Access-Control-Allow-Private-Network" not in preflight(api, APP).headers
    assert is_closed(preflight(api, "https://evil.example", **asked))


def test_a_preflight_changes_nothing(api):
    preflight(api, PAGE, "DELETE", "/v1/spaces/default?confirm=default")
    preflight(api, PAGE)
    assert api.count() == 0
