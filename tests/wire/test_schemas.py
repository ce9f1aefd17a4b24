"""What the server says about itself is so: the schemas of the envelopes, and the OpenAPI document of its routes.

Every call of these tests is compared with the OpenAPI document: what was sent and accepted must be allowed by it, what
was answered must be described by it, field by field. A field that the server writes and the document does not know is
an error here, although readers ignore it.
"""

import copy
import json
import re
import urllib.parse
from pathlib import Path

import envelopes
import pytest
from jsonschema import Draft202012Validator, RefResolver

ROOT = Path(__file__).resolve().parent.parent.parent
OPENAPI = json.loads((ROOT / "schemas/openapi.json").read_text())
ENVELOPES = {f"/v1/schemas/envelope-{n}.json": json.loads((ROOT / f"schemas/envelope-{n}.json").read_text()) for n in (1, 2)}
METHODS = ("get", "post", "put", "patch", "delete")
DOCUMENTED_HEADERS = ("ETag", "Location", "Idempotent-Replayed")


def closed(schema):
    """The schema without room for fields that it does not name, where it does not invite them."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return result


def resolver(change=lambda schema: schema):
    store = {url: change(schema) for url, schema in ENVELOPES.items()}
    return RefResolver("/openapi.json", change(OPENAPI), store)


OPEN, CLOSED = resolver(), resolver(closed)


def errors(schema, value, where=OPEN):
    found = Draft202012Validator(schema, resolver=where).iter_errors(value)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


def is_envelope(version, value, where=OPEN):
    return errors({"$ref": f"/v1/schemas/envelope-{version}.json"}, value, where) == []


# --- The OpenAPI document ---


def followed(value):
    """What a reference within the document leads to."""
    while "$ref" in value:
        value = OPEN.resolve(value["$ref"])[1]
    return value


def operations():
    return {(method, path): item[method] for path, item in OPENAPI["paths"].items() for method in METHODS if method in item}


def matches(template, path):
    return re.fullmatch(re.sub(r"\\\{[^/]+\\\}", "[^/]+", re.escape(template)), path) is not None


def operation_of(method, path):
    """A path without parameters comes before one with."""
    found = [p for p in OPENAPI["paths"] if matches(p, path) and method.lower() in OPENAPI["paths"][p]]
    assert found, f"{method} {path} is not in the OpenAPI document"
    return OPENAPI["paths"][min(found, key=lambda p: p.count("{"))][method.lower()]


def check_answer(operation, response, answer):
    described = operation["responses"].get(str(response.status)) or operation["responses"]["default"]
    described = followed(described)
    if response.status == 204:
        assert "content" not in described and answer == ""
        return
    kind = response.headers["Content-Type"].split(";")[0]
    assert kind in described["content"], f"{response.status} {kind} is not described"
    assert errors(described["content"][kind]["schema"], answer, CLOSED) == []
    for name in DOCUMENTED_HEADERS:
        assert name not in response.headers or name in described.get("headers", {}), name


class Api(envelopes.Api):
    """Every answer, and every request that was taken, is compared with what openapi.json says of it."""

    def call(self, method, path, body=None, **headers):
        headers = {"Spine-Space": self.space, "Content-Type": "application/json", **headers}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        answer = json.loads(text) if "json" in (response.headers["Content-Type"] or "") else text
        operation = operation_of(method, urllib.parse.urlsplit(path).path)
        check_answer(operation, response, answer)
        if response.status < 300 and body is not None:
            assert errors(operation["requestBody"]["content"]["application/json"]["schema"], body) == []
        return response.status, answer

    def ok(self, method, path, body=None, **headers):
        status, answer = self.call(method, path, body, **headers)
        assert status in (200, 201, 202, 204), answer
        return answer

    def read(self, envelope, form="json"):
        return self.ok("GET", f"/v1/envelopes/{envelope['id']}?format={form}")


@pytest.fixture
def api(server, request):
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[-60:].strip("-")
    return Api(server, name)


# --- Documents ---


@pytest.mark.parametrize("url", ENVELOPES)
def test_schemas_are_schemas(url):
    Draft202012Validator.check_schema(ENVELOPES[url])
    assert ENVELOPES[url]["$id"] == url


def test_the_served_documents_are_those_of_the_source(server, api):
    listed = api.ok("GET", "/v1/schemas")["schemas"]
    assert {schema["url"]: schema["title"] for schema in listed} == {url: schema["title"] for url, schema in ENVELOPES.items()}
    for url, kind in [*((url, "application/schema+json") for url in ENVELOPES), ("/openapi.json", "application/json")]:
        api.ok("GET", url)
        api.connection.request("GET", url)
        response = api.connection.getresponse()
        assert response.headers["Content-Type"] == kind
        assert response.read() == (ROOT / "schemas" / url.rsplit("/")[-1]).read_bytes()
    api.refused("not_found", "GET", "/v1/schemas/envelope-3.json")


def described_objects(value, place="#"):
    """Everything in a schema that is one, by its place."""
    if not isinstance(value, dict):
        return
    yield place, value
    for key in ("properties", "$defs"):
        for name, schema in value.get(key, {}).items():
            yield from described_objects(schema, f"{place}/{key}/{name}")


@pytest.mark.parametrize("url", ENVELOPES)
def test_every_field_of_an_envelope_is_explained(url):
    named = [(place, schema) for place, schema in described_objects(ENVELOPES[url]) if "/properties/" in place]
    silent = [place for place, schema in named if "description" not in schema and "description" not in OPEN.resolve(url + schema["$ref"])[1]]
    assert len(named) > 10 and silent == []


# --- OpenAPI ---


def test_openapi_is_sound():
    assert OPENAPI["openapi"].startswith("3.1.")
    names = [operation["operationId"] for operation in operations().values()]
    assert len(names) == len(set(names))
    tags = {tag["name"] for tag in OPENAPI["tags"]}
    for (method, path), operation in operations().items():
        where = f"{method} {path}"
        parameters = [followed(p) for p in OPENAPI["paths"][path].get("parameters", []) + operation.get("parameters", [])]
        in_path = [p["name"] for p in parameters if p["in"] == "path"]
        assert sorted(in_path) == sorted(re.findall(r"\{(\w+)\}", path)), where
        assert all(p.get("required") for p in parameters if p["in"] == "path"), where
        assert len({(p["in"], p["name"]) for p in parameters}) == len(parameters), where
        assert operation["summary"] and set(operation["tags"]) <= tags, where
        assert "default" in operation["responses"] and any(code.startswith("2") for code in operation["responses"]), where
    for name, schema in OPENAPI["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


def test_every_reference_leads_somewhere_and_every_component_is_used():
    used = set(references(OPENAPI))
    for reference in used:
        OPEN.resolve(reference)
    used |= {f"#/components/securitySchemes/{name}" for requirement in OPENAPI["security"] for name in requirement}
    components = {f"#/components/{kind}/{name}" for kind, named in OPENAPI["components"].items() for name in named}
    assert components - used == set()
    for url, schema in ENVELOPES.items():
        inner = set(references(schema))
        for reference in inner:
            OPEN.resolve(url + reference)
        assert {f"#/$defs/{name}" for name in schema["$defs"]} == inner


def routes_of_the_source():
    for file in sorted((ROOT / "src/api").glob("*_routes.c")):
        if file.name == "dashboard_routes.c":
            continue  # files of a page for people, not calls of the protocol
        found = re.findall(r'\{\s*(?:\.method\s*=\s*)?HTTP_([A-Z]+),\s*(?:\.pattern\s*=\s*)?"(/[^"]*)"', file.read_text())
        assert found, f"{file.name}: no route was understood"
        yield from ((method.lower(), path) for method, path in found)


def test_openapi_has_exactly_the_routes_of_the_source():
    source = sorted(routes_of_the_source())
    assert len(source) == len(set(source)) > 30
    document = sorted((method, re.sub(r"\{\w+\}", "{}", path)) for method, path in operations())
    assert document == source


def test_the_server_has_every_method_of_openapi_and_no_other(api):
    values = {"id": "ms-1", "other": "env-1", "name": "envelope-2.json", "agent": "a"}
    for path in OPENAPI["paths"]:
        address = re.sub(r"\{(\w+)\}", lambda match: values[match.group(1)], path)
        # An address of the table itself is that, and not also what a parameter could be.
        expected = {method for method, template in operations() if template == address or
                    (address not in OPENAPI["paths"] and matches(template, address))}
        for method in METHODS:
            # A stream that is taken for one would never end.
            query = "?lease_s=0" if address.endswith("/stream") else "?limit=0" if address == "/v1/events" else ""
            api.connection.request(method.upper(), address + query, "{}" if method != "get" else None, {"Spine-Space": "nowhere"})
            response = api.connection.getresponse()
            data = response.read()
            answer = json.loads(data) if "json" in (response.headers["Content-Type"] or "") else {}
            if method in expected:
                assert answer.get("code") not in ("not_found", "method_not_allowed"), (method, address)
                continue
            assert response.status == 405, (method, address)
            allowed = {name.lower() for name in response.headers["Allow"].split(", ")} - {"head"}
            assert allowed == expected, (method, address)


# --- Answers, beside those to handoffs ---


def test_memories_are_answered_as_described(api):
    api.store("first", summary="1", kind="fact", tags=["a"], importance="high", agent="x", task="t", trust="user", pinned=True,
              metadata={"n": {"deep": [1]}}, ttl_s=60, nonsense=1)
    api.store("second", supersedes="ms-1", expires_at="2020-01-01T00:00:00Z", created_at="2019-01-01T00:00:00Z")
    again = {"Idempotency-Key": "key"}
    assert api.ok("POST", "/v1/memories", {"content": "once"}, **again) == api.ok("POST", "/v1/memories", {"content": "once"}, **again)
    api.ok("POST", "/v1/memories/batch", {"memories": [{"content": f"retry {i}"} for i in range(5)]}, **{"Spine-Agent": "x"})
    api.ok("PATCH", "/v1/memories/ms-3", {"content": "twice", "tags": None, "summary": "s"})
    for path in ("ms-1", "ms-3", "ms-3@1", "ms-3/versions", "ms-3/versions?page_size=1"):
        api.ok("GET", f"/v1/memories/{path}")
    for path in ("pin", "unpin"):
        api.ok("POST", f"/v1/memories/ms-4/{path}")
    api.ok("POST", "/v1/memories/ms-3/revert", {"version": 1})
    api.ok("DELETE", "/v1/memories/ms-4")
    for path in ("", "?page_size=1", "?query=retry&explain=true", "?state=any&order=oldest&strange=1", "?tag=a&tag=b&importance=low"):
        api.ok("GET", f"/v1/memories{path}")
    assert api.ok("POST", "/v1/memories/fetch", {"ids": ["ms-1", "ms-3@2", "ms-4", "ms-99"]})["missing"]
    api.refused("precondition_failed", "PATCH", "/v1/memories/ms-3", {"content": "x"}, **{"If-Match": '"ms-3@1"'})
    api.refused("memory_not_found", "GET", "/v1/memories/ms-77")
    api.refused("invalid_field", "POST", "/v1/memories", {"content": "x", "importance": "urgent"})


def test_the_rest_is_answered_as_described(api):
    for path in ("/healthz", "/readyz", "/v1/status", "/openapi.json", "/v1/agents", "/v1/tasks"):
        api.ok("GET", path)
    api.ok("POST", "/v1/tokens", {"text": "hello", "strange": 1})
    api.ok("POST", "/v1/tokens", {"text": "hello", "tokenizer": "estimate"})
    api.refused("unknown_tokenizer", "POST", "/v1/tokens", {"text": "hello", "tokenizer": "gpt9"})
    api.ok("PUT", "/v1/agents/plain", {})
    api.ok("PUT", "/v1/agents/full", {"accepts": ["2", 1], "tokenizer": "cl100k_base", "max_tokens": 10, "description": "d", "strange": 1})
    for path in ("/v1/agents", "/v1/agents?page_size=1", "/v1/agents/full"):
        api.ok("GET", path)
    api.refused("agent_not_found", "GET", "/v1/agents/nobody")
    for guard in ("refuse", "redact", "off", None):
        api.ok("PUT", "/v1/space", {"guard": guard, "strange": 1})
    api.ok("GET", "/v1/space")
    api.store("to be told of")
    api.handoff()
    assert api.ok("GET", "/v1/events?after=0", Accept="application/json")["events"]
    for query in ("", "?order=newest", "?page_size=1"):
        assert api.ok("GET", f"/v1/audit{query}")["entries"]


def test_tasks_are_answered_as_described(api):
    api.store("evidence", id="ms-5")
    root = api.handoff(task="t", intent="the words", constraints={"max_retries": 3, "region": "eu", "do_not": ["a"]}, open_decisions=["which?"],
                       execution_history=[{"agent": "a", "action": "look"}], summary="see ms-5")
    child = api.handoff("c", parent=root["id"], constraints={"max_retries": 2, "new": None}, waive=[{"key": "region", "reason": "moved"}],
                        resolved_decisions=[{"decision": "which?", "outcome": "this"}], state="half way", **{"from": "b"})
    last = api.handoff("d", parent=child["id"], constraints={"max_tokens": 400})
    other = api.handoff("e", constraints={"max_retries": 9})
    for path in ("", "?page_size=1", "/t", "/t/fidelity", f"/{other['task']['id']}/fidelity"):
        api.ok("GET", f"/v1/tasks{path}")
    for key, verdict in (("intent", "still there"), ("region", "waived"), ("nothing", "never there"), ("ms-5", "still there")):
        assert api.ok("GET", f"/v1/tasks/t/blame?key={key}")["verdict"] == verdict
    for a, b in ((root, child), (child, root), (root, other), (last, last)):
        api.ok("GET", f"/v1/envelopes/{a['id']}/diff/{b['id']}")
    api.refused("task_not_found", "GET", "/v1/tasks/none")
    api.refused("missing_field", "GET", "/v1/tasks/t/blame")


def deliver(api, target="worker", **fields):
    envelope = api.handoff(target, **{"from": "sender", "include_recent": 0})
    return api.ok("POST", "/v1/handoffs", {"envelope_id": envelope["id"], **fields}, **{"Spine-Agent": "sender"})


def take(api, agent="worker", **fields):
    return api.ok("POST", f"/v1/agents/{agent}/receive", {"wait_s": 10, **fields})["handoffs"][0]


def test_deliveries_are_answered_as_described(api):
    api.store("evidence", id="ms-1")
    api.ok("PUT", "/v1/agents/old", {"accepts": ["1"], "ack_timeout_s": 2.5, "max_attempts": 2, "fallbacks": ["x"], "webhook": None})
    handoff = deliver(api, priority=7, ack_timeout_s=60, max_attempts=5, fallbacks=["second"], wait_s=0, strange=1)
    api.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "old", "task_summary": "x"}}, **{"Idempotency-Key": "k"})
    api.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "old", "task_summary": "x"}}, **{"Idempotency-Key": "k"})
    api.ok("POST", "/v1/handoffs", {"envelope": {"version": 1, "target": "other", "summary": "x"}})
    assert take(api, "old", format="envelope")["envelope"]["version"] == 1
    for form in ("both", "prompt", "none", None):
        got = take(api, format=form, lease_s=30, instance="one", max=1)
        path = f"/v1/handoffs/{got['id']}"
        api.ok("POST", f"{path}/progress", {"lease": got["lease"], "note": "half", "work_lease_s": 30})
        api.ok("POST", f"{path}/need", {"lease": got["lease"], "refs": ["ms-1", "ms-9"]})
        api.ok("POST", f"{path}/nack", {"lease": got["lease"], "reason": "no", "delay_s": 0})
    got = take(api)
    api.ok("POST", f"{path}/ack", {"lease": got["lease"], "gaps": ["x", {"y": 1}], "input_tokens": 5, "work_lease_s": 60})
    api.ok("GET", path)
    api.ok("POST", f"{path}/complete", {"lease": got["lease"], "result": {"any": [1, None]}, "gaps": [], "input_tokens": 7})
    api.ok("GET", path)
    assert api.ok("POST", "/v1/handoffs", {"envelope_id": handoff["envelope_id"], "wait_s": 5})["state"] == "completed"
    for query in ("", "?page_size=1", "?state=completed", "?to=worker&from=sender", f"?envelope_id={handoff['envelope_id']}"):
        api.ok("GET", f"/v1/handoffs{query}")
    api.ok("POST", "/v1/agents/worker/receive")
    api.refused("stale_lease", "POST", f"{path}/nack", {"lease": got["lease"]})
    api.refused("handoff_not_found", "GET", "/v1/handoffs/ho-99")
    envelope = api.handoff("nobody", include_recent=0)
    api.refused("ack_timeout", "POST", "/v1/handoffs", {"envelope_id": envelope["id"], "wait_s": 0.01})
    for path in ("/v1/agents/worker", "/v1/agents"):
        api.ok("GET", path)
    api.ok("GET", f"/v1/tasks/{envelope['task']['id']}/trace?page_size=1")


def test_what_is_parked_is_answered_as_described(api):
    def park(agent):
        handoff = deliver(api, agent)
        got = take(api, agent)
        api.ok("POST", f"/v1/handoffs/{got['id']}/reject", {"lease": got["lease"], "reason": "no"})
        return handoff

    redriven = park("worker")
    assert deliver(api, "elsewhere")["notices"]
    api.refused("handoff_parked", "POST", "/v1/handoffs", {"envelope_id": redriven["envelope_id"]})
    api.ok("GET", "/v1/parked?page_size=1&to=worker")
    api.ok("POST", f"/v1/parked/{redriven['id']}/redrive")
    api.ok("POST", f"/v1/parked/{park('w0')['id']}/redrive", {"why": "repaired", "by": "maria", "strange": 1})
    api.ok("POST", f"/v1/parked/{park('w1')['id']}/reroute", {"to": "expert", "why": "knows"})
    api.ok("POST", f"/v1/parked/{park('w2')['id']}/discard", {"why": "late"})
    api.ok("POST", f"/v1/parked/{park('w3')['id']}/shrink", {"max_tokens": 500, "by": "maria"})
    api.refused("not_parked", "POST", f"/v1/parked/{redriven['id']}/redrive")
    api.ok("POST", f"/v1/envelopes/{api.handoff()['id']}/park", {"reason": "stop", "by": "maria"})
    for _ in range(3):
        deliver(api, "dead", max_attempts=1)
        got = take(api, "dead")
        api.ok("POST", f"/v1/handoffs/{got['id']}/nack", {"lease": got["lease"]})
    assert api.ok("GET", "/v1/agents/dead")["breaker"]["state"] == "open"
    api.refused("circuit_open", "POST", "/v1/handoffs", {"envelope_id": api.handoff("dead")["id"], "wait_s": 1})
    assert deliver(api, "dead")["held_until"]
    api.ok("POST", "/v1/agents/dead/reset")


def test_what_is_queued_is_cancelled_and_moved_as_described(api):
    later = deliver(api, "worker", not_before="2026-12-24T18:00:00Z", queue_timeout_s=60)
    assert later["queue_timeout_s"] == 60
    api.ok("POST", f"/v1/handoffs/{later['id']}/move", {"to": "expert", "why": "knows", "by": "maria"})
    api.ok("POST", f"/v1/handoffs/{later['id']}/cancel", {"why": "late"})
    api.refused("not_queued", "POST", f"/v1/handoffs/{later['id']}/cancel")
    api.refused("not_queued", "POST", f"/v1/handoffs/{later['id']}/move", {"to": "worker"})


def test_results_are_answered_as_described(api):
    envelope = api.handoff("a", include_recent=0)["id"]
    api.ok("POST", "/v1/handoffs", {"envelope_id": envelope})
    got = take(api, "a")
    following = api.handoff("b", parent=envelope, include_recent=0)["id"]
    done = {"lease": got["lease"], "result": "made", "remember": True}
    memory = api.ok("POST", f"/v1/handoffs/{got['id']}/complete", done)["result_memory"]
    api.ok("POST", "/v1/handoffs", {"envelope_id": following})
    assert take(api, "b")["since"][0]["id"] == memory
    assert api.ok("GET", f"/v1/envelopes/{following}")["since"][0]["event"] == "result"
    assert api.handoff("c", parent=envelope, include_recent=0)["history"][0]["memory_id"] == memory
    api.ok("POST", "/v1/memories", {"content": "x", "scope": "space"})
    api.ok("DELETE", f"/v1/memories/{memory}")
    assert api.ok("GET", f"/v1/handoffs/{got['id']}")["result_state"] == "forgotten"


def test_channels_and_routes_are_answered_as_described(api):
    api.ok("PUT", "/v1/channels/news", {"description": "what is new", "strange": 1})
    api.ok("PUT", "/v1/channels/other")
    for name in ("a", "b"):
        api.ok("PUT", f"/v1/channels/news/subscribers/{name}")
    envelope = api.handoff(include_recent=0)["id"]
    api.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, "delivery": "at-least-once", "priority": 3, "max_attempts": 2})
    api.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, "receivers": ["c"], "ack_timeout_s": 5})
    api.ok("POST", "/v1/channels/news/join", {"envelope_id": envelope, "need": 2, "deadline": "2020-01-01T00:00:00Z"})
    got = take(api, "a")
    api.ok("POST", f"/v1/handoffs/{got['id']}/complete", {"lease": got["lease"], "result": 1, "gaps": ["x"]})
    assert api.ok("POST", "/v1/channels/news/join", {"envelope_id": envelope, "need": "any", "wait_s": 5})["state"] == "joined"
    api.ok("DELETE", "/v1/channels/news/subscribers/a")
    for path in ("/v1/channels", "/v1/channels?page_size=1", "/v1/channels/news"):
        api.ok("GET", path)
    api.refused("channel_not_found", "GET", "/v1/channels/none")
    api.refused("no_route", "POST", "/v1/envelopes", {"target_agent": "next", "task_summary": "x"})
    api.ok("PUT", "/v1/routes/plain", {"to": "b"})
    api.ok("PUT", "/v1/routes/full", {"to": "b", "from": "a", "order": 5, "description": "d", "strange": 1,
                                      "when": {"constraint": {"language": "python"}, "state": "s", "tag": "t", "hop": {"min": 1, "max": 3}}})
    for path in ("/v1/routes", "/v1/routes?page_size=1", "/v1/routes/full"):
        api.ok("GET", path)
    api.ok("DELETE", "/v1/routes/full")
    api.refused("route_not_found", "GET", "/v1/routes/full")
    root = api.handoff("b", **{"from": "a", "include_recent": 0})
    body = {"target_agent": "a", "task_summary": root["task"]["summary"], "from": "b", "parent": root["id"], "include_recent": 0}
    api.refused("loop", "POST", "/v1/envelopes", body)


# --- Envelopes ---


def chain(api):
    """Roots and children with every thing in them that an envelope can have."""
    for number in range(1, 13):
        api.store(f"Finding {number} about the gateway: " + "retry backoff jitter " * 40, id=f"ms-{number}", summary=f"finding {number}" if number % 2 else None,
                  kind=f"kind {number}", importance=["low", "medium", "high", "critical"][number % 4], agent=None if number % 3 else "author",
                  trust=["system", "user", "agent", "external"][number % 4])
    api.store("pinned", id="ms-20", pinned=True)
    api.store("old", id="ms-21", expires_at="2020-01-01T00:00:00Z")
    api.store("to be forgotten", id="ms-22")
    api.ok("DELETE", "/v1/memories/ms-22")
    api.store("Use AKIAZ7QX3LMN5RTV2WYB to sign in.", id="ms-23", summary="The key is AKIAZ7QX3LMN5RTV2WYB.")
    api.ok("PATCH", "/v1/memories/ms-12", {"content": "Finding 12, corrected."})
    api.store("Finding 11, replaced", id="ms-24", supersedes="ms-11")
    yield api.handoff(include_recent=0, include_pins=False)
    yield api.handoff(summary="gateway", include_recent=20, traceparent=None)
    yield api.handoff(refs=["ms-12", "ms-12@1", "ms-12@9", "ms-11"], include_recent=0)
    root = api.handoff(
        summary="gateway retry: ms-1 through ms-4, ms-21, ms-22, ms-99", task="Ünïcode 设计", intent="wörtlich\nzwei Zeilen", state="just begun",
        constraints={"max_tokens": 900, "language": "python", "do_not": ["x"], "deep": {"a": [None, 1.5, {"b": True}]}, "region": "eu"},
        execution_history=[{"agent": "a", "action": "look", "decision": "d", "why": "w", "memory_id": "ms-5", "at": "2026-01-01T00:00:00Z", "own": [1]},
                           {"action": 7}, {}],
        open_decisions=["which database?", {"any": "thing"}, 5],
        expected_output={"format": "a patch", "length": "short", "schema": {"type": "object"}, "criteria": ["tests pass"], "own": 1},
        include_recent=50, max_hops=3, **{"from": "a"},
    )
    yield root
    api.ok("PUT", "/v1/agents/c", {"fetch_hint": "command"})
    child = api.handoff("c", "narrow it", parent=root["id"], waive=[{"key": "deep", "reason": "too strict"}, {"key": "region", "reason": "moved"}],
                        resolved_decisions=[{"decision": "which database?", "outcome": "none"}, {"decision": "which queue?"}], tokenizer="cl100k_base")
    yield child
    api.ok("POST", f"/v1/tasks/{urllib.parse.quote(root['task']['id'])}/waive", {"key": "do_not", "reason": "it is allowed now"}, **{"Spine-Person": "kim"})
    yield api.handoff("w", "without it", parent=child["id"], locked=["language"], **{"from": "c"})
    yield api.handoff("d", "end it", parent=child["id"], strategy="lazy", tokenizer="estimate", max_hops=3, **{"from": "c"})
    yield api.handoff(strategy="summary", summary="gateway")
    yield api.handoff(strategy="full", refs=["ms-2"], include_recent=0)
    history = [{"agent": "a", "action": "step " + "by step " * 30} for _ in range(20)]
    yield api.handoff(execution_history=history, constraints={"max_tokens": 600}, refs=["ms-1", "ms-3"], include_recent=3)
    for strategy in ("full", "summary"):
        yield api.handoff(refs=["ms-23"], include_recent=0, strategy=strategy, constraints={"security": "no plaintext credentials"})
    yield api.handoff(include_recent=0, constraints={"credentials": "refuse"})
    yield api.ok("POST", "/v1/envelopes", {"version": 1, "target": "old", "summary": "do it"})
    yield api.ok("POST", "/v1/envelopes", {"version": 1, "target": "old", "summary": "do it", "from": "x", "constraints": {"k": 1},
                                           "history": [{"agent": "a"}], "memory_ids": ["ms-5", "ms-98"], "context": "so far", "custom": {"kept": True}})
    yield api.ok("POST", "/v1/envelopes", {**child, "future": [1, 2], "lineage": {}, "constraints": {}, "new_root": True})
    # Too many pins for the budget, what was named at the hop before, and what only repeats another.
    for number in range(30, 36):
        api.store(f"pinned {number} " + "for good " * 60, id=f"ms-{number}", pinned=True, task="crowded")
    for number in range(40, 44):
        api.store("turbine blades corrode in salted air " + "slowly " * 40, id=f"ms-{number}", task="crowded")
    crowded = api.handoff("e", "ms-1", task="crowded", include_pins=False, include_recent=0)
    yield api.handoff("f", "turbine blades corrode", parent=crowded["id"], constraints={"max_tokens": 400}, include_recent=20)
    # What fits is worth more without a word about the rest.
    for number in range(50, 90):
        api.store(f"rotor {number} hums in the night, says witness {number}, near the old mill", id=f"ms-{number}", task="quiet")
    yield api.handoff("g", "which rotor hums in the night", task="quiet", include_pins=False, constraints={"max_tokens": 400}, include_recent=40)
    yield api.ok("POST", "/v1/envelopes", {"target_agent": "t", "task_summary": "traced"},
                 traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", **{"Spine-Agent": "sender"})


@pytest.fixture(scope="module")
def envelopes(server):
    api = Api(server, "envelopes")
    return api, list(chain(api))


def test_every_envelope_is_as_described(envelopes):
    api, made = envelopes
    for envelope in made:
        for value in (envelope, api.read(envelope), api.read(envelope, "both")["v2"]):
            assert errors({"$ref": "/v1/schemas/envelope-2.json"}, value, CLOSED) == []
        assert isinstance(api.read(envelope, "prompt"), str)
        api.ok("GET", f"/v1/envelopes/{envelope['id']}/considered")
        api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")


def test_every_version_1_is_as_described(envelopes):
    api, made = envelopes
    for envelope in made:
        for value in (api.read(envelope, "v1"), api.read(envelope, "both")["v1"]):
            assert errors({"$ref": "/v1/schemas/envelope-1.json"}, value, CLOSED) == []
    assert not is_envelope(1, made[0]) and not is_envelope(2, api.read(made[0], "v1"))


def test_the_envelopes_above_have_everything_that_the_schema_names(envelopes):
    """Otherwise the tests above would prove less than they say."""
    made = envelopes[1]
    definitions = ENVELOPES["/v1/schemas/envelope-2.json"]["$defs"]
    seen = {
        "ref": [ref for envelope in made for ref in envelope["memory"]["refs"]],
        "missing": [missing for envelope in made for missing in envelope["memory"]["missing"]],
        "trim": [trim for envelope in made for trim in envelope["budget"]["trimmed"]],
        "budget": [envelope["budget"] for envelope in made],
        "guard": [envelope["guard"] for envelope in made if envelope["guard"]],
    }
    seen["redaction"] = [redaction for ref in seen["ref"] for redaction in ref.get("redactions", [])]
    seen["finding"] = [finding for guard in seen["guard"] for finding in guard["findings"]]
    seen["waiver"] = [waiver for envelope in made for waiver in envelope["waived"]]
    for name, items in seen.items():
        fields = definitions[name]["properties"]
        assert set(fields) == {field for item in items for field in item}, name
        for field, schema in fields.items():
            values = {item[field] for item in items if field in item} if "enum" in schema else set()
            # A store that cannot be read cannot be had for the asking; only envelopes of minor 0 had what was merely recent.
            assert set(schema.get("enum", [])) - {"unavailable", "recent"} == values, (name, field)
    assert {envelope["lineage"]["hop"] for envelope in made} == {1, 2, 3}
    assert {key for envelope in made for key in envelope["extensions"]} == {"v1", "v2"}
    for nullable in ("from", "traceparent", "guard", "fetch_hint"):
        assert {envelope[nullable] is None for envelope in made} == {True, False}, nullable


def test_news_of_memories_and_what_was_forgotten_are_described(api):
    for number in range(1, 4):
        api.store(f"number {number}", id=f"ms-{number}")
    envelope = api.handoff(refs=["ms-1", "ms-2", "ms-3", "ms-9"], include_recent=0)
    api.ok("PATCH", "/v1/memories/ms-1", {"content": "changed"})
    api.store("replaced", supersedes="ms-2")
    api.ok("DELETE", "/v1/memories/ms-3")
    again = api.read(envelope)
    assert {news["event"] for news in again["since"]} == {"updated", "superseded", "forgotten"}
    assert [ref["id"] for ref in again["memory"]["refs"] if "text" not in ref] == ["ms-3"]
    api.ok("POST", f"/v1/envelopes/{envelope['id']}/resolve", {"ids": ["ms-1", "ms-3", "ms-9"]}, **{"Spine-Agent": "reader"})
    api.ok("POST", f"/v1/envelopes/{envelope['id']}/resolve")
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/receipts")["receipts"]
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "forgotten"


def test_what_was_considered_is_described(api):
    for number in range(1, 60):
        api.store(f"turbine {number} " + "salted air " * (1 + number % 40), id=f"ms-{number}", task="mine")
        api.store(f"unrelated {number} air", id=f"ms-{number + 100}", task="mine")
    api.store("to be forgotten " * 40, id="ms-90", task="mine", summary="a story")
    words = {"summary": "how fast do the blades of a turbine corrode in salted air, see ms-90", "task": "mine", "include_recent": 40, "new_root": True}
    seen = [api.ok("GET", f"/v1/envelopes/{api.handoff(**words, **fields)['id']}/considered") for fields in (
        {"constraints": {"max_tokens": 1200}}, {"scope": "space", "strategy": "summary"}, {"scope": "task", "strategy": "lazy"}, {"scope": None})]
    items = [item for one in seen for item in one["considered"]]
    described = OPENAPI["components"]["schemas"]["ConsideredMemory"]["properties"]
    reasons = {item["reason"] for item in items}
    assert reasons >= {"lazy", "summary", "not_relevant", "not_asked_for", None} and reasons & {"budget", "room"}
    assert {item["fate"] for item in items} == set(described["fate"]["enum"])
    api.ok("DELETE", "/v1/memories/ms-90")
    assert all(api.ok("GET", f"/v1/envelopes/{one['envelope']}/considered")["recorded"] for one in seen)
    api.refused("invalid_field", "POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "scope": "all"})
    api.refused("envelope_not_found", "GET", "/v1/envelopes/env-99/considered")


def test_dry_runs_and_refusals_are_described(api):
    for number in range(1, 30):
        api.store("long text " * 200, id=f"ms-{number}", pinned=True)
    body = {"target_agent": "b", "task_summary": "x " * 2500, "dry_run": True, "constraints": {"max_tokens": 9000}, "strange": 1}
    dry = api.ok("POST", "/v1/envelopes", body)
    assert {budget["fits"] for budget in dry["budgets"]} == {True, False}
    assert not is_envelope(2, dry["envelope"]), "what was not sealed is no envelope"
    root = api.handoff(include_pins=False, include_recent=0)
    api.ok("POST", "/v1/envelopes", {**body, "parent": root["id"], "state": "half way"})
    api.refused("budget_too_small", "POST", "/v1/envelopes", {**body, "constraints": {"max_tokens": 10}})
    api.refused("missing_field", "POST", "/v1/envelopes", {"target_agent": "b"})
    api.refused("envelope_not_found", "GET", "/v1/envelopes/env-99")
    api.refused("credentials_found", "POST", "/v1/envelopes",
                {"target_agent": "b", "task_summary": "AKIAZ7QX3LMN5RTV2WYB", "constraints": {"credentials": "refuse"}})


# --- What is not an envelope ---

# What senders fill as they like: there is nothing to be wrong with in these.
FREE = re.compile(r"^(constraints|expected_output|extensions|history/\d+|waived/\d+/value|task/open_decisions/\d+)/|^waived/\d+/value$")
OPTIONAL = re.compile(r"(/|^)(text|redactions|locked|waiver|unauthenticated)$")


def members(value, path=""):
    """Every member of every object within the value: its path, the object, its name."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from members(item, f"{path}{index}/")
    if isinstance(value, dict):
        for name, item in value.items():
            if FREE.match(path + name):
                continue
            yield path + name, value, name
            yield from members(item, f"{path}{name}/")


def accepted(version, envelope, change, but=None):
    """The members whose change the schema does not see."""
    found = []
    for path, _, _ in members(envelope):
        altered = copy.deepcopy(envelope)
        _, owner, name = next(member for member in members(altered) if member[0] == path)
        change(owner, name)
        if is_envelope(version, altered) and not (but and but.search(path)):
            found.append(path)
    return found


def remove(owner, name):
    del owner[name]


def put_another_type(owner, name):
    value = owner[name]
    owner[name] = {"an": "object"} if isinstance(value, (str, list)) or value is None else "a text" if not isinstance(value, str) else []


def richest(made):
    return max(made, key=lambda e: (len(e["waived"]) > 0) + (len(e["memory"]["missing"]) > 0) + (len(e["budget"]["trimmed"]) > 0))


def test_every_field_is_required_and_has_its_type(envelopes):
    api, made = envelopes
    redacted = next(e for e in made if e["guard"] and e["guard"]["findings"])
    for envelope in (richest(made), redacted):
        assert accepted(2, envelope, remove, OPTIONAL) == []
        assert accepted(2, envelope, put_another_type) == []
    old = api.read(richest(made), "v1")
    assert accepted(1, old, remove) == []
    assert accepted(1, old, put_another_type) == []


def test_fields_that_are_not_known_are_ignored(envelopes):
    api, made = envelopes

    def add(value):
        if isinstance(value, list):
            return [add(item) for item in value]
        if isinstance(value, dict):
            return {**{name: add(item) for name, item in value.items()}, "of_a_later_minor": {"x": 1}}
        return value

    assert is_envelope(2, add(richest(made)))
    assert is_envelope(1, add(api.read(richest(made), "v1")))


@pytest.mark.parametrize(
    "path, value",
    [
        ("envelope_version", "3"), ("envelope_version", 2), ("envelope_minor", -1), ("id", "ms-1"), ("id", "env-0"), ("id", "env-01"), ("id", None),
        ("digest", "sha256:" + "A" * 64), ("digest", "0" * 64), ("space", "Upper"), ("space", ""), ("to", None), ("to", ""), ("created_at", "2026-01-30T00:00:00Z"),
        ("created_at", "yesterday"), ("task/summary", None), ("task/id", ""), ("constraints/max_tokens", 0), ("constraints/max_tokens", "many"),
        ("history/0", "text"), ("memory/refs/0/why", "because"), ("memory/refs/0/form", "none"), ("memory/refs/0/version", 0), ("memory/refs/0/id", "ms-1@1"),
        ("memory/refs/0/relevance", 1.5), ("fetch_hint", "curl"), ("memory/refs/0/importance", "urgent"), ("memory/refs/0/trust", "me"), ("memory/refs/0/redactions", []), ("memory/refs/0/tokens", 1.5),
        ("budget/worth", -1), ("budget/trimmed/0/relevance", 2), ("budget/trimmed/0/why", "because"),
        ("memory/missing/0/reason", "lost"), ("budget/strategy", "magic"), ("budget/utilization", 1.01), ("budget/max_tokens", 0), ("budget/token_count", -1),
        ("budget/trimmed/0/form", "full"), ("budget/trimmed/0/id", "history"), ("budget/trimmed/0/reason", "whim"), ("completeness/score", -0.1),
        ("lineage/hop", 1), ("lineage/hop", 65), ("lineage/parent", None), ("lineage/parent_digest", None), ("lineage/path", []), ("waived/0/at_hop", 0),
        ("waived/0/reason", ""), ("guard", {"policy": "off", "findings": []}), ("guard", {"policy": "redact"}), ("since", []),
        ("since", [{"id": "ms-1", "event": "vanished"}]),
    ],
)
def test_a_wrong_value_is_seen(envelopes, path, value):
    envelope = copy.deepcopy(next(e for e in envelopes[1] if e["waived"] and e["memory"]["refs"] and e["memory"]["missing"] and e["budget"]["trimmed"]))
    envelope["constraints"].setdefault("max_tokens", 900)
    assert is_envelope(2, envelope)
    *way, name = [int(step) if step.isdigit() else step for step in path.split("/")]
    owner = envelope
    for step in way:
        owner = owner[step]
    owner[name] = value
    assert not is_envelope(2, envelope)


def test_a_mention_has_no_text(envelopes):
    envelope = copy.deepcopy(next(e for e in envelopes[1] if any(ref["form"] == "ref" for ref in e["memory"]["refs"])))
    next(ref for ref in envelope["memory"]["refs"] if ref["form"] == "ref")["text"] = "text"
    assert not is_envelope(2, envelope)
