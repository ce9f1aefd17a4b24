"""MCP at /mcp: the protocol itself, in both generations. Tools are in test_mcp_tools.py."""

import itertools
import json
import subprocess

import jsonschema
import pytest

from mcp import CAPABILITIES_KEY, LEGACY, MODERN, VERSION_KEY, Mcp, Stream
from server import binary

_numbers = itertools.count(1)
TOOLS = ["memory_store", "memory_search", "memory_get", "memory_pin", "agent_handoff", "handoff_receive",
         "handoff_settle", "handoff_need", "handoff_trace", "parked_list", "channel_publish", "spine_status"]
HEADER_MISMATCH, UNSUPPORTED = -32020, -32022


@pytest.fixture
def client(server):
    def make(**options):
        made = Mcp(server.address, options.pop("space", None) or f"mcp-{next(_numbers)}", **options)
        if not made.is_modern:
            made.initialize()
        return made

    return make


@pytest.fixture(params=[MODERN, LEGACY, "2025-06-18", "2025-03-26"])
def any_client(client, request):
    return client(version=request.param, agent="alice")


# --- Versions ---


def test_a_stateless_client_discovers_what_the_server_is(client):
    found = client().ok("server/discover")
    assert found["supportedVersions"] == [MODERN, LEGACY, "2025-06-18", "2025-03-26"]
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memory-spine"
    assert found["ttlMs"] > 0 and found["cacheScope"] == "public"
    assert set(found["capabilities"]) == {"tools", "prompts", "resources", "completions", "extensions"}


@pytest.mark.parametrize("asked, gets", [(LEGACY, LEGACY), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
                                         ("2024-11-05", LEGACY), ("1999-01-01", LEGACY), (MODERN, LEGACY)])
def test_initialize_agrees_on_a_version(client, asked, gets):
    answer = client().send({"jsonrpc": "2.0", "id": "a", "method": "initialize",
                            "params": {"protocolVersion": asked, "capabilities": {}, "clientInfo": {}}},
                           {"Content-Type": "application/json"})
    assert answer.status == 200 and answer.json["id"] == "a", answer
    assert answer.json["result"]["protocolVersion"] == gets
    assert answer.headers["Mcp-Session-Id"].isascii()


def test_a_session_outlives_the_server_that_made_it(client, server):
    one = client(version=LEGACY)
    another = Mcp(server.address, one.space, version=LEGACY)
    another.session = one.session
    assert another.ok("ping") == {}


def test_a_session_that_was_never_given_is_gone(client):
    made = client(version=LEGACY)
    made.session = "mcp-something-else"
    made.refused(-32001, "tools/list", status=404)


def test_an_unknown_version_is_told_which_are_known(client):
    made = client()
    error = made.refused(UNSUPPORTED, "tools/list", status=400, headers={"MCP-Protocol-Version": "2030-01-01"},
                         meta={VERSION_KEY: "2030-01-01"})
    assert error["data"] == {"supported": [MODERN, LEGACY, "2025-06-18", "2025-03-26"], "requested": "2030-01-01"}
    answer = made.send({"jsonrpc": "2.0", "id": 1, "method": "ping"},
                       {"Content-Type": "application/json", "MCP-Protocol-Version": "2030-01-01"})
    assert answer.status == 400 and answer.json["error"]["code"] == UNSUPPORTED


# --- What a stateless message must say ---


@pytest.mark.parametrize("missing", [VERSION_KEY, CAPABILITIES_KEY])
def test_a_message_without_its_version_or_capabilities_is_refused(client, missing):
    made = client()
    message = made.message("tools/list", {})
    del message["params"]["_meta"][missing]
    answer = made.send(message, made.headers("tools/list", {}))
    assert answer.status == 400 and answer.json["error"]["code"] == -32602, answer


@pytest.mark.parametrize("headers", [
    {"MCP-Protocol-Version": None}, {"MCP-Protocol-Version": LEGACY}, {"Mcp-Method": None},
    {"Mcp-Method": "TOOLS/CALL"}, {"Mcp-Name": None}, {"Mcp-Name": "memory_get"}, {"Mcp-Name": "=?base64?!!?="},
])
def test_headers_that_say_something_else_than_the_body_are_refused(client, headers):
    client().refused(HEADER_MISMATCH, "tools/call", {"name": "spine_status"}, status=400, headers=headers)


def test_a_name_that_no_header_can_hold_may_be_encoded(client):
    result = client().ok("tools/call", {"name": "spine_status"}, headers={"Mcp-Name": "=?base64?c3BpbmVfc3RhdHVz?="})
    assert result["structuredContent"]["status"] == "ready"


@pytest.mark.parametrize("method", ["initialize", "ping", "resources/subscribe", "logging/setLevel", "no/such"])
def test_methods_that_a_revision_does_not_have_are_not_found(client, method):
    client().refused(-32601, method, status=404)


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "logging/setLevel", "no/such"])
def test_methods_of_the_new_revision_are_not_found_in_the_old_ones(client, method):
    client(version=LEGACY).refused(-32601, method)


# --- What is no message ---


@pytest.mark.parametrize("body, code", [
    (b"{", -32700), (b"", -32700), (b'{"a":1,"a":2}', -32700), (b"[]", -32600), (b"[{}]", -32600), (b"{}", -32600),
    (b'"x"', -32600), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
])
def test_what_is_no_message_is_refused(client, body, code):
    answer = client().send(body, {"Content-Type": "application/json"})
    assert answer.status == 400 and answer.json["error"]["code"] == code, answer
    assert answer.json.get("id") == (1 if b'"id":1' in body else None)


def test_params_that_are_no_object_are_refused(client):
    answer = client().send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, {"Content-Type": "application/json"})
    assert answer.json["error"]["code"] == -32602


def test_another_type_than_json_is_refused(client):
    answer = client().send(b"{}", {"Content-Type": "text/plain"})
    assert answer.status == 400 and answer.json["error"]["code"] == -32600


@pytest.mark.parametrize("headers, status", [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 421)])
def test_pages_and_names_of_others_are_refused(client, headers, status):
    made = client()
    answer = made.send(made.message("server/discover", {}), {**made.headers("server/discover", {}), **headers})
    assert answer.status == status


def test_notifications_and_stray_responses_are_taken_without_a_word(client):
    made = client(version=LEGACY)
    for body in ({"jsonrpc": "2.0", "method": "notifications/initialized"},
                 {"jsonrpc": "2.0", "id": "nobody-asked", "result": {}},
                 {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "x"}}):
        answer = made.send(body, made.headers("", {}))
        assert answer.status == 202 and answer.data == b"", answer


def test_other_methods_of_http_are_refused(client):
    made = client()
    assert made.send(None, made.headers("", {}), "DELETE").status == 405
    assert made.send(None, made.headers("", {}), "PUT").status == 405
    assert made.send(None, {"Accept": "text/event-stream"}, "GET").status == 405


def test_a_space_that_cannot_be_one_is_refused(client):
    made = client(space="No Space")
    assert "Spine-Space" in made.tool_error("spine_status")
    assert "Spine-Space" in made.refused(-32602, "resources/list")["message"]


def test_bytes_that_are_no_text_do_not_break_an_answer(client):
    made = client()
    strange = {"Mcp-Method": b"tools/\xff\xfe".decode("latin-1")}
    made.refused(HEADER_MISMATCH, "tools/list", status=400, headers=strange)
    made.refused(-32601, "ä" * 100, status=404, headers={"Mcp-Method": ("ä" * 100).encode().decode("latin-1")})
    nobody = client(agent=b"\xff".decode("latin-1"))
    assert "Spine-Agent" in nobody.tool_error("spine_status")
    nobody.refused(-32602, "prompts/get", {"name": "pick_up_work"})
    assert "agent" in client().tool_error("spine_status", agent="x" * 200)


# --- Lists ---


def test_there_are_the_twelve_tools_and_nothing_of_the_fixture(any_client):
    found = any_client.ok("tools/list")
    assert [tool["name"] for tool in found["tools"]] == TOOLS
    prompts = any_client.ok("prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["pick_up_work"]
    assert not any("test" in one["uri"] for one in any_client.ok("resources/list")["resources"])
    for name in ("test_simple_text", "test_sampling"):
        any_client.refused(-32602, "tools/call", {"name": name})


def test_what_users_run_has_nothing_of_the_fixture():
    strings = subprocess.run(["grep", "-c", "test_simple_text", str(binary())], stdout=subprocess.PIPE, text=True)
    assert strings.stdout.strip() == "0"


def test_schemas_of_tools_are_schemas_and_hints_are_honest(client):
    tools = {tool["name"]: tool for tool in client().ok("tools/list")["tools"]}
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["description"].startswith("Use ")
        assert tool["annotations"]["openWorldHint"] is False
    reading = {name for name, tool in tools.items() if tool["annotations"].get("readOnlyHint")}
    assert reading == {"memory_search", "memory_get", "handoff_trace", "spine_status"}


def test_only_a_revision_that_knows_tasks_hears_of_them(client):
    def execution(version):
        tools = {tool["name"]: tool for tool in client(version=version).ok("tools/list")["tools"]}
        return tools["handoff_receive"].get("execution")

    assert execution(LEGACY) == {"taskSupport": "optional"}
    assert execution("2025-06-18") is None and execution(MODERN) is None


# --- Resources, prompts, completions ---


def test_memories_are_resources_page_by_page(any_client):
    for i in range(60):
        any_client.tool("memory_store", content=f"memory {i}")
    first = any_client.ok("resources/list")
    assert first["resources"][0]["uri"] == "spine://inbox/alice"
    second = any_client.ok("resources/list", {"cursor": first["nextCursor"]})
    assert "nextCursor" not in second
    uris = [one["uri"] for one in first["resources"][1:] + second["resources"]]
    assert sorted(uris) == sorted(f"spine://memory/ms-{i}" for i in range(1, 61))
    read = any_client.ok("resources/read", {"uri": uris[0]})["contents"][0]
    assert json.loads(read["text"])["content"] == "memory 59" and read["mimeType"] == "application/json"


def test_an_envelope_is_read_as_its_prompt(client):
    made = client(agent="alice")
    sent = made.tool("agent_handoff", target_agent="bob", task_summary="Look at the gateway")
    read = made.ok("resources/read", {"uri": "spine://envelope/" + sent["envelope_id"]})["contents"][0]
    assert read["mimeType"] == "text/markdown" and "Look at the gateway" in read["text"]


@pytest.mark.parametrize("uri", ["spine://memory/ms-99", "spine://memory/x", "spine://envelope/env-9", "spine://inbox/",
                                 "file:///etc/passwd", ""])
def test_what_is_no_resource_is_not_found(client, uri):
    assert client().refused(-32602, "resources/read", {"uri": uri})["data"] == {"uri": uri}
    assert client(version=LEGACY).refused(-32002, "resources/read", {"uri": uri})["data"] == {"uri": uri}


def test_templates_are_the_same_for_all(any_client):
    found = any_client.ok("resources/templates/list")["resourceTemplates"]
    assert [one["uriTemplate"] for one in found] == ["spine://memory/{id}", "spine://envelope/{id}", "spine://inbox/{agent}"]


def test_the_prompt_says_how_to_pick_up_work(client):
    text = client(agent="alice").ok("prompts/get", {"name": "pick_up_work"})["messages"][0]["content"]["text"]
    assert "agent alice" in text and "handoff_receive." in text and "handoff_settle" in text
    other = client().ok("prompts/get", {"name": "pick_up_work", "arguments": {"agent": "bob"}})
    assert "with agent set to that name" in other["messages"][0]["content"]["text"]
    client().refused(-32602, "prompts/get", {"name": "pick_up_work"})
    client().refused(-32602, "prompts/get", {"name": "pick_up_work", "arguments": {"agent": "x" * 200}})
    client().refused(-32602, "prompts/get", {"name": "other"})


@pytest.mark.parametrize("ref", [{"type": "ref/prompt", "name": "pick_up_work"},
                                 {"type": "ref/resource", "uri": "spine://inbox/{agent}"}])
def test_names_of_agents_are_completed(client, ref):
    made = client(agent="alice")
    for agent in ("worker-1", "worker-2", "tester"):
        made.tool("agent_handoff", target_agent=agent, task_summary="x")
    found = made.ok("completion/complete", {"ref": ref, "argument": {"name": "agent", "value": "work"}})["completion"]
    assert found == {"values": ["worker-1", "worker-2"], "total": 2, "hasMore": False}
    other = made.ok("completion/complete", {"ref": ref, "argument": {"name": "id", "value": "m"}})["completion"]
    assert other["values"] == []


# --- Inboxes that wake ---


def acknowledged(stream, *uris):
    first = stream.next()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"].get("resourceSubscriptions", []) == list(uris)
    return first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]


def test_a_stream_is_woken_when_something_comes(client):
    made = client(agent="alice")
    made.tool("memory_store", content="the space is there")
    stream = Stream(made, "subscriptions/listen", {"notifications": {
        "resourceSubscriptions": ["spine://inbox/bob", "spine://memory/ms-1", "spine://inbox/b%20c"],
        "toolsListChanged": True}})
    number = acknowledged(stream, "spine://inbox/bob", "spine://inbox/b%20c")
    for agent, uri in (("bob", "spine://inbox/bob"), ("b c", "spine://inbox/b%20c"), ("bob", "spine://inbox/bob")):
        made.tool("agent_handoff", target_agent="somebody-else", task_summary="not for them")
        made.tool("agent_handoff", target_agent=agent, task_summary="x")
        told = stream.next()
        assert told["method"] == "notifications/resources/updated"
        assert told["params"] == {"uri": uri, "_meta": {"io.modelcontextprotocol/subscriptionId": number}}
    stream.close()


def test_what_has_come_before_is_told_at_once(client):
    made = client(agent="alice")
    made.tool("agent_handoff", target_agent="bob", task_summary="x")
    stream = Stream(made, "subscriptions/listen",
                    {"notifications": {"resourceSubscriptions": ["spine://inbox/nobody", "spine://inbox/bob"]}})
    acknowledged(stream, "spine://inbox/nobody", "spine://inbox/bob")
    assert stream.next()["params"]["uri"] == "spine://inbox/bob"
    stream.close()


def test_other_spaces_wake_nobody(client):
    one, other = client(agent="alice"), client(agent="alice")
    stream = Stream(one, "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["spine://inbox/bob"]}})
    acknowledged(stream, "spine://inbox/bob")
    other.tool("agent_handoff", target_agent="bob", task_summary="elsewhere")
    one.tool("agent_handoff", target_agent="bob", task_summary="here")
    stream.next()
    assert len(stream.messages) == 2
    stream.close()


def test_a_session_is_woken_on_its_stream(client):
    made = client(version=LEGACY, agent="alice")
    stream = Stream(made, "", http_method="GET")
    assert stream.status == 200
    made.ok("resources/subscribe", {"uri": "spine://inbox/bob"})
    made.tool("agent_handoff", target_agent="bob", task_summary="x")
    assert stream.next() == {"jsonrpc": "2.0", "method": "notifications/resources/updated",
                             "params": {"uri": "spine://inbox/bob"}}
    made.ok("resources/unsubscribe", {"uri": "spine://inbox/bob"})
    made.ok("resources/subscribe", {"uri": "spine://inbox/carol"})
    made.tool("agent_handoff", target_agent="bob", task_summary="x")
    made.tool("agent_handoff", target_agent="carol", task_summary="x")
    assert stream.next()["params"]["uri"] == "spine://inbox/carol"
    made.ok("resources/subscribe", {"uri": "spine://inbox/bob"})
    assert stream.next()["params"]["uri"] == "spine://inbox/bob"
    stream.close()


def test_only_inboxes_can_be_subscribed_to(client):
    made = client(version=LEGACY)
    made.refused(-32602, "resources/subscribe", {"uri": "spine://memory/ms-1"})
    client().refused(-32602, "subscriptions/listen", {})


def test_a_server_that_stops_ends_a_subscription_with_an_answer(tmp_path):
    from server import Server

    running = Server(tmp_path / "data").wait_until_ready()
    stream = Stream(Mcp(running.address, "default"), "subscriptions/listen", {"notifications": {
        "resourceSubscriptions": ["spine://inbox/bob"]}})
    number = acknowledged(stream, "spine://inbox/bob")
    assert running.terminate() == 0, running.log_tail()
    last = stream.next()
    assert last["id"] == number and last["result"]["resultType"] == "complete"
