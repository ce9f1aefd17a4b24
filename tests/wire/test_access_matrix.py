"""Every operation, over HTTP and MCP, with every key that must not do: no bypass.

The rows come from the descriptions of the operations (build/describe access), so that a new operation is here, too; one
without a scope does not pass test_describe.c, and a route without a description is only the dashboard's.
"""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from keys import Keyed
from mcp import LEGACY, Mcp

ROOT = Path(__file__).resolve().parents[2]
SCOPES = {"read", "write", "receive", "admin"}
HOME, OTHER = "home", "other"
IDS = {"memories": "ms-1", "envelopes": "env-1", "handoffs": "ho-1", "parked": "ho-1", "alerts": "al-1", "keys": "key-999"}


class Operation:
    def __init__(self, line):
        self.method, self.pattern, self.id, self.scope, self.tool, self.of, *names = line.split("\t")
        marks = [name.split("=") for name in names]
        self.names = [(where, what) for where, what in marks if not what.startswith("scope:")]
        self.needs = [(where, what.removeprefix("scope:")) for where, what in marks if what.startswith("scope:")]

    @property
    def is_open(self):
        return self.scope == "open"

    def path(self, **pieces):
        """The address, with ids that could be; pieces by their place: path(p0="ann")."""
        noun = self.pattern.removeprefix("/v1/").split("/")[0]
        usual = [IDS.get(noun, "nothing"), IDS.get(noun, "nothing")]
        for place, piece in pieces.items():
            usual[int(place[1])] = piece
        return re.sub(r"\{\}", lambda _: usual.pop(0), self.pattern)

    def __repr__(self):
        return self.id


def operations():
    describe = Path(os.environ.get("SPINE_DESCRIBE") or ROOT / "build" / "describe")
    if not describe.exists():
        subprocess.run(["make", "-s", str(describe.relative_to(ROOT))], cwd=ROOT, check=True)
    lines = subprocess.run([describe, "access"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [Operation(line) for line in lines]


ALL = operations()
CLOSED = [o for o in ALL if not o.is_open]
TOOLS = sorted({o.tool for o in ALL if o.tool != "-"})


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


@pytest.fixture(scope="module")
def bad(keyed):
    """Keys that let nobody in, by what is wrong with them."""
    expired = keyed.key(scopes=["admin"], space="*", ttl_s=1)
    revoked = keyed.make(keyed.root, name="r", scopes=["admin"], space="*")
    rotated = keyed.make(keyed.root, name="o", scopes=["admin"], space="*")
    keyed.ask("POST", f"/v1/keys/{revoked['id']}/revoke", {}, keyed.root)
    keyed.ask("POST", f"/v1/keys/{rotated['id']}/rotate", {"grace_s": 0}, keyed.root)
    wrong = keyed.root[:-3] + ("AAA" if keyed.root[-3:] != "AAA" else "BBB")
    while keyed.ask("GET", "/v1/status", key=expired).status == 200:
        time.sleep(0.05)
    return {"none": None, "empty": "", "garbage": "garbage", "wrong": wrong, "unknown": keyed.root.replace("spk_1_", "spk_999_"),
            "expired": expired, "revoked": revoked["key"], "rotated": rotated["key"], "cut": keyed.root[:-1],
            "basic": "Basic"}


@pytest.fixture(scope="module")
def good(keyed):
    """Keys that are valid: without each scope, of a space, of an agent."""
    return {
        "admin": keyed.key(scopes=["admin"], space=HOME),
        "agent": keyed.bound_admin(space=HOME, agent="ann"),
        **{f"not {scope}": keyed.key(scopes=sorted(SCOPES - {scope, "admin"}), space=HOME) for scope in SCOPES},
    }


def body_of(operation):
    return None if operation.method in ("GET", "DELETE") else {}


def own(operation):
    """The pieces of the address that name the caller, as the key of ann has them."""
    names = {"agent": "ann", "space": HOME}
    return {f"p{where[5:]}": names[what] for where, what in operation.names if where.startswith("path.")}


# --- HTTP ---


def test_the_matrix_has_every_route_of_the_server():
    routes = set()
    for source in (ROOT / "src" / "api").glob("*.c"):
        routes |= set(re.findall(r'\{HTTP_([A-Z]+), "(/[^"]*)"', source.read_text()))
    described = {(o.method, o.pattern) for o in ALL}
    assert routes - described == {("GET", "/"), ("GET", "/assets/{}/{}")}
    assert {o.id for o in ALL if o.is_open} == {
        "health", "readiness", "listSchemas", "readSchema", "openapi", "readSession", "openSession", "closeSession"}
    assert all(o.scope in SCOPES | {"open"} for o in ALL)


@pytest.mark.parametrize("kind", ["none", "empty", "garbage", "wrong", "unknown", "expired", "revoked", "rotated", "cut", "basic"])
def test_no_operation_without_a_valid_key(keyed, bad, kind):
    key = bad[kind]
    headers = {"Authorization": "Basic cm9vdDpyb290"} if kind == "basic" else {}
    if kind == "empty":
        headers = {"Authorization": "Bearer "}
    said = set()
    for operation in CLOSED:
        answer = keyed.ask(operation.method, operation.path(), body_of(operation), key if not headers else None, headers)
        assert answer.status == 401 and answer.json["code"] == "unauthorized", (operation, answer)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="memory-spine"', (operation, answer)
        said.add(answer.data)
    assert len(said) == 1, "it says the same of every operation"
    if kind in ("expired", "revoked", "rotated"):
        assert b"expired" in said.pop() or kind == "revoked"
    else:
        none = keyed.ask("GET", "/v1/memories").data
        assert said == {none}, "what is wrong with it is told only to who has the right secret"


def test_what_does_not_exist_needs_a_key_as_well(keyed):
    assert keyed.ask("GET", "/v1/nothing").status == 401
    assert keyed.ask("PUT", "/v1/memories").status == 401
    assert keyed.ask("GET", "/v1/nothing", key=keyed.root).status == 404
    assert keyed.ask("PUT", "/v1/memories", key=keyed.root).status == 405
    assert keyed.ask("OPTIONS", "/v1/memories").status == 401


def test_what_is_open_needs_none(keyed, bad):
    for operation in ALL:
        if operation.is_open:
            for key in (None, bad["revoked"]):
                answer = keyed.ask(operation.method, operation.path(), body_of(operation), key)
                assert answer.status != 401 or operation.id == "openSession", (operation, answer)
    assert keyed.ask("GET", "/").status == 200


def test_each_operation_needs_its_scope(keyed, good):
    for operation in CLOSED:
        answer = keyed.ask(operation.method, operation.path(), body_of(operation), good[f"not {operation.scope}"])
        assert answer.status == 403 and answer.json["code"] == "forbidden", (operation, answer)
        assert answer.json["field"] == "Authorization" and operation.scope in answer.json["detail"], (operation, answer)


NEEDS = [(o, where, scope) for o in CLOSED for where, scope in o.needs]


@pytest.mark.parametrize("operation, where, scope", NEEDS, ids=lambda value: str(value))
def test_what_needs_a_second_scope_is_refused_without_it(keyed, good, operation, where, scope):
    field = "Authorization" if where == "all" else where.removeprefix("body.")
    body = {} if where == "all" else {field: {}}
    answer = keyed.ask(operation.method, operation.path(), body, good[f"not {scope}"])
    assert answer.status == 403 and answer.json["code"] == "forbidden" and answer.json["field"] == field, answer
    assert scope in answer.json["detail"], answer


def test_what_needs_a_second_scope_is_marked():
    assert {(o.id, where, scope) for o, where, scope in NEEDS} == {
        ("handOff", "all", "read"), ("deliver", "body.envelope", "read"), ("ack", "body.then", "write"),
        ("complete", "body.then", "write")}


def test_no_operation_reaches_another_space(keyed, good):
    """The same whether there is such a space or not."""
    keyed.ask("POST", "/v1/memories", {"content": "x"}, keyed.root, {"Spine-Space": OTHER})
    for operation in CLOSED:
        said = []
        for space in (OTHER, "nowhere"):
            answer = keyed.ask(operation.method, operation.path(**own(operation)), body_of(operation), good["admin"], {"Spine-Space": space})
            assert answer.status == 403 and answer.json["field"] == "Spine-Space", (operation, answer)
            said.append(answer.data)
        assert said[0] == said[1]


def test_no_operation_takes_another_agents_name(keyed, good):
    for operation in CLOSED:
        answer = keyed.ask(operation.method, operation.path(**own(operation)), body_of(operation), good["agent"], {"Spine-Agent": "bob"})
        assert answer.status == 403, (operation, answer)
        assert answer.json["field"] == "Spine-Agent" or operation.of != "-", (operation, answer)


NAMED = [(o, where, what) for o in CLOSED for where, what in o.names]


@pytest.mark.parametrize("operation, where, what", NAMED, ids=lambda value: str(value))
def test_names_of_others_are_refused_wherever_they_stand(keyed, good, operation, where, what):
    place, name = where.split(".")
    pieces, body, query = {}, body_of(operation), ""
    if place == "path":
        pieces[f"p{name}"] = "bob"
    elif place == "body":
        body = {**(body or {}), name: "bob"}
    else:
        query = f"?{name}=bob"
    answer = keyed.ask(operation.method, operation.path(**pieces) + query, body, good["agent"])
    assert answer.status == 403 and answer.json["code"] == "forbidden", answer


def test_the_names_that_are_looked_at_are_there():
    """Nothing here is passed because nothing is marked."""
    assert {o.id for o, _, _ in NAMED} >= {
        "storeMemory", "changeMemory", "handOff", "receive", "peek", "streamHandoffs", "park", "cancel", "subscribe",
        "unsubscribe", "registerAgent", "deleteSpace", "ackAlert", "redriveMany"}


def test_what_is_about_all_spaces_needs_a_key_for_all(keyed, good):
    about_all = [o for o in CLOSED if o.of == "all"]
    assert {o.id for o in about_all} == {"listSpaces", "metrics", "readCluster"}
    for operation in about_all:
        answer = keyed.ask(operation.method, operation.path(), None, good["admin"])
        assert answer.status == 403, answer
    assert keyed.ask("GET", "/v1/stats?space=all", key=good["admin"]).status == 403
    assert keyed.ask("GET", "/v1/stats?space=all", key=keyed.root).status == 200
    assert keyed.ask("DELETE", "/v1/spaces/other?confirm=other", key=good["admin"]).status == 403


def test_the_right_key_may(keyed, good):
    """The refusals above are not because everything is refused."""
    for operation in CLOSED:
        for key in ("root", "admin", "agent"):
            text = keyed.root if key == "root" else good[key]
            answer = keyed.ask(operation.method, operation.path(**own(operation)), body_of(operation), text, {"Accept": "application/json"},
                               reads=operation.id != "streamHandoffs")
            may = key == "root" or operation.of == "-" or (key == "admin" and operation.of == "nobody")
            assert (answer.status not in (401, 403)) == may, (operation, key, answer)


# --- MCP ---

ARGUMENTS = {
    "memory_store": {"content": "x"}, "memory_search": {"query": "x"}, "memory_get": {"id": "ms-1"}, "memory_pin": {"id": "ms-1"},
    "agent_handoff": {"target_agent": "bob", "task_summary": "x"}, "handoff_receive": {"wait_s": 0},
    "handoff_settle": {"id": "ho-99", "lease": "ho-99.1", "verb": "ack"}, "handoff_need": {"id": "ho-99", "lease": "ho-99.1", "refs": ["ms-1"]},
    "handoff_trace": {"task": "t"}, "parked_list": {}, "channel_publish": {"channel": "c", "envelope_id": "env-1"}, "spine_status": {},
}


class KeyedMcp(Mcp):
    """A client that shows a key, and says which space it means only where it is told to."""

    def __init__(self, keyed, key, space=None, **more):
        super().__init__(keyed.address, space, **more)
        self.key = key

    def headers(self, method, params):
        return {**super().headers(method, params), "Authorization": f"Bearer {self.key}" if self.key else None}


def test_the_arguments_are_those_of_every_tool(keyed):
    listed = {tool["name"] for tool in KeyedMcp(keyed, keyed.root).ok("tools/list")["tools"]}
    assert listed == set(TOOLS) == set(ARGUMENTS)


@pytest.mark.parametrize("version", ["modern", LEGACY])
def test_no_message_without_a_valid_key(keyed, bad, version):
    more = {} if version == "modern" else {"version": version}
    for kind in ("none", "wrong", "expired", "revoked", "rotated", "unknown"):
        client = KeyedMcp(keyed, bad[kind], **more)
        for method, params in [("tools/list", {}), ("ping", {}), ("resources/list", {}), ("prompts/list", {}),
                               ("subscriptions/listen", {"notifications": {}}), ("tasks/get", {"taskId": "t"}),
                               *[("tools/call", {"name": tool, "arguments": ARGUMENTS[tool]}) for tool in TOOLS]]:
            answer = client.call(method, params)
            assert answer.status == 401 and answer.headers["WWW-Authenticate"], (kind, method, answer)
    assert keyed.ask("GET", "/mcp", headers={"Accept": "text/event-stream"}).status == 401


def forbidden(client, tool, **arguments):
    text = client.tool_error(tool, **{**ARGUMENTS[tool], **arguments})
    assert text.startswith("forbidden:"), (tool, text)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_needs_the_scope_of_what_it_calls(keyed, tool):
    others = sorted(SCOPES - {o.scope for o in ALL if o.tool == tool} - {"admin"})
    assert others, tool
    forbidden(KeyedMcp(keyed, keyed.key(scopes=others, space=HOME), agent="ann"), tool)


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_reaches_another_space_or_takes_another_agents_name(keyed, good, tool):
    forbidden(KeyedMcp(keyed, good["agent"], space=OTHER), tool)
    forbidden(KeyedMcp(keyed, good["agent"], agent="bob"), tool)
    listed = {one["name"]: one for one in KeyedMcp(keyed, keyed.root).ok("tools/list")["tools"]}
    if "agent" in listed[tool]["inputSchema"]["properties"]:
        forbidden(KeyedMcp(keyed, good["agent"]), tool, agent="bob")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_works_for_the_key_of_an_agent(keyed, good, tool):
    result = KeyedMcp(keyed, good["agent"]).ok("tools/call", {"name": tool, "arguments": ARGUMENTS[tool]})
    assert not (result.get("isError") and "forbidden" in result["content"][0]["text"]), result


def test_resources_of_others_are_not_read_or_listened_to(keyed, good):
    client = KeyedMcp(keyed, good["agent"])
    for method, params in [("resources/read", {"uri": "spine://inbox/bob"}),
                           ("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["spine://inbox/bob"]}})]:
        answer = client.call(method, params)
        assert "error" in answer.json and "bob" in answer.json["error"]["message"], answer
    legacy = KeyedMcp(keyed, good["agent"], version=LEGACY)
    legacy.initialize()
    answer = legacy.call("resources/subscribe", {"uri": "spine://inbox/bob"})
    assert "error" in answer.json, answer
    assert "result" in legacy.call("resources/subscribe", {"uri": "spine://inbox/ann"}).json


def test_what_is_no_tool_needs_the_scope_of_what_it_reads(keyed, good):
    writer, reader = KeyedMcp(keyed, good["not read"]), KeyedMcp(keyed, good["not write"])
    for method, params in [("resources/list", {}), ("resources/read", {"uri": "spine://memory/ms-1"}),
                           ("resources/read", {"uri": "spine://envelope/env-1"}), ("resources/read", {"uri": "spine://inbox/ann"}),
                           ("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["spine://inbox/ann"]}})]:
        answer = writer.call(method, params)
        assert "error" in answer.json and "scope read" in answer.json["error"]["message"], (method, params, answer)
    assert "result" in reader.call("resources/list").json
    assert "scope read" not in reader.call("resources/read", {"uri": "spine://inbox/ann"}).data.decode()


def test_a_decision_about_what_is_parked_needs_admin(keyed, good):
    """parked_list itself needs read only; what the user decides then is another call."""
    space = {"Spine-Space": HOME}
    packed = keyed.ask("POST", "/v1/envelopes", {"target_agent": "zoe", "task_summary": "x", "from": "ann"}, keyed.root, space).json
    parked = keyed.ask("POST", f"/v1/envelopes/{packed['id']}/park", {"reason": "x"}, keyed.root, space)
    assert parked.status == 200, parked
    client = KeyedMcp(keyed, good["not admin"], capabilities={"elicitation": {}})
    asked = client.call("tools/call", {"name": "parked_list", "arguments": {"decide": True}}).json["result"]
    assert asked.get("isError") and "forbidden" in str(asked) and "scope admin" in str(asked), "its user is not asked for nothing"
    assert "parked" in client.tool("parked_list"), "looking needs no more than read"
    bound = KeyedMcp(keyed, good["agent"], capabilities={"elicitation": {}})
    asked = bound.call("tools/call", {"name": "parked_list", "arguments": {"decide": True}}).json["result"]
    assert asked["resultType"] == "input_required", asked
    name, state = next(iter(asked["inputRequests"])), asked["requestState"]
    stolen = client.call("tools/call", {"name": "parked_list", "arguments": {"decide": True}, "requestState": state,
                                        "inputResponses": {name: {"action": "accept", "content": {"remedy": "discard", "why": "x"}}}}).json
    assert "error" in stolen or stolen["result"].get("isError"), stolen
    done = bound.call("tools/call", {"name": "parked_list", "arguments": {"decide": True}, "requestState": state,
                                     "inputResponses": {name: {"action": "accept", "content": {"remedy": "discard", "why": "x"}}}}).json
    assert not done["result"].get("isError"), done
    # Nor does what one key was asked go on for another.
    other = KeyedMcp(keyed, good["admin"], capabilities={"elicitation": {}})
    taken = other.call("tools/call", {"name": "parked_list", "arguments": {"decide": True}, "requestState": asked["requestState"],
                                      "inputResponses": {name: {"action": "accept", "content": {"remedy": "discard", "why": "x"}}}}).json
    assert "error" in taken and "requestState" in taken["error"]["message"], taken
