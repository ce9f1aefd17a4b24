"""A space is a tenant: nothing is visible from another one, on any route."""

import re
from pathlib import Path

import pytest
from database import look

SOURCES = Path(__file__).resolve().parents[2] / "src" / "api"
SECRET = "zqsecret"

# Every call about a space, asked from a stranger's: method, path, body. What is in the paths exists in the owner's space.
ROUTES = [
    ("GET", "/v1/memories", None), ("GET", f"/v1/memories?query={SECRET}", None),
    ("GET", f"/v1/memories?state=any&tag={SECRET}", None),
    ("POST", "/v1/memories", {"content": "mine"}), ("POST", "/v1/memories", {"content": "mine", "id": "ms-1"}),
    ("POST", "/v1/memories", {"content": "mine", "supersedes": "ms-1"}),
    ("POST", "/v1/memories/batch", {"memories": [{"content": "mine"}, {"content": "mine", "supersedes": "ms-2"}]}),
    ("POST", "/v1/memories/fetch", {"ids": ["ms-1", "ms-2", "ms-1@1"]}),
    ("GET", "/v1/memories/ms-1", None), ("GET", "/v1/memories/ms-1@1", None),
    ("PATCH", "/v1/memories/ms-1", {"content": "mine"}),
    ("DELETE", "/v1/memories/ms-1", None), ("GET", "/v1/memories/ms-1/versions", None),
    ("POST", "/v1/memories/ms-1/pin", None),
    ("POST", "/v1/memories/ms-1/unpin", None), ("POST", "/v1/memories/ms-1/revert", {"version": 1}),
    ("GET", "/v1/quarantine", None), ("POST", "/v1/quarantine", {"ids": ["ms-1", "ms-2"]}),
    ("POST", "/v1/quarantine/release", {"ids": ["ms-1"]}), ("POST", "/v1/purge", {"ids": ["ms-1", "ms-2"], "why": "mine"}),
    ("GET", "/v1/status", None),
    ("POST", "/v1/envelopes",
     {"target_agent": "b", "task_summary": f"what about {SECRET[:4]} ms-1?", "from": "a", "refs": ["ms-2"]}),
    ("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "go on", "from": "a", "parent": "env-1"}),
    ("GET", "/v1/envelopes/env-1", None), ("GET", "/v1/envelopes/env-1?format=prompt", None),
    ("GET", "/v1/envelopes/env-1/verify", None),
    ("POST", "/v1/envelopes/env-1/resolve", {"ids": ["ms-1"]}), ("GET", "/v1/envelopes/env-1/receipts", None),
    ("GET", "/v1/envelopes/env-1/considered", None),
    ("GET", "/v1/envelopes/env-1/diff/env-1", None), ("GET", "/v1/tasks", None),
    ("GET", f"/v1/tasks/{SECRET}-task", None),
    ("GET", f"/v1/tasks/{SECRET}-task/fidelity", None), ("GET", f"/v1/tasks/{SECRET}-task/blame?key=intent", None),
    ("POST", f"/v1/tasks/{SECRET}-task/waive", {"key": "k", "reason": "r"}),
    ("GET", "/v1/agents", None), ("GET", f"/v1/agents/{SECRET}-agent", None),
    ("PUT", f"/v1/agents/{SECRET}-agent", {"description": "mine"}),
    ("GET", "/v1/space", None), ("PUT", "/v1/space", {}),
    ("GET", "/v1/handoffs", None), ("GET", f"/v1/handoffs?to={SECRET}-agent&state=leased", None), ("GET", "/v1/handoffs?envelope_id=env-1", None),
    ("GET", "/v1/handoffs/ho-1", None), ("POST", "/v1/handoffs", {"envelope_id": "env-1"}),
    ("POST", "/v1/handoffs", {"envelope_id": "env-1", "to": "mine", "wait_s": 0.01}),
    ("POST", "/v1/handoffs", {"envelope": {"target_agent": "b", "task_summary": "see ms-1"}}),
    ("POST", f"/v1/agents/{SECRET}-agent/receive", {"max": 100}), ("GET", f"/v1/agents/{SECRET}-agent/stream?lease_s=0", None),
    ("GET", f"/v1/agents/{SECRET}-agent/peek", None),
    ("POST", f"/v1/agents/{SECRET}-agent/reset", None),
    ("POST", "/v1/handoffs/ho-1/ack", {"lease": "ho-1.1"}), ("POST", "/v1/handoffs/ho-1/nack", {"lease": "ho-1.1"}),
    ("POST", "/v1/handoffs/ho-1/release", {"lease": "ho-1.1"}),
    ("POST", "/v1/handoffs/ho-1/reject", {"lease": "ho-1.1"}), ("POST", "/v1/handoffs/ho-1/progress", {"lease": "ho-1.1"}),
    ("POST", "/v1/handoffs/ho-1/complete", {"lease": "ho-1.1", "result": 1}),
    ("POST", "/v1/handoffs/ho-1/need", {"lease": "ho-1.1", "refs": ["ms-1"]}),
    ("POST", "/v1/handoffs/ho-1/cancel", None), ("POST", "/v1/handoffs/ho-1/move", {"to": "mine"}),
    ("POST", "/v1/envelopes/env-1/park", {"reason": "mine"}), ("GET", "/v1/parked", None),
    ("POST", "/v1/handoffs/ho-3/cancel", {"why": "mine"}), ("POST", "/v1/handoffs/ho-3/move", {"to": "mine"}),
    ("POST", "/v1/parked/ho-2/redrive", None), ("POST", "/v1/parked/ho-2/reroute", {"to": "mine"}),
    ("POST", "/v1/parked/ho-2/shrink", {"max_tokens": 300}), ("POST", "/v1/parked/ho-2/discard", {"why": "mine"}),
    ("POST", "/v1/parked/redrive", {"all": True}), ("POST", "/v1/parked/reroute", {"all": True, "reroute_to": "mine"}),
    ("POST", "/v1/parked/discard", {"all": True, "why": "mine"}), ("POST", "/v1/parked/restore", {"ids": ["ho-2"]}),
    ("POST", "/v1/parked/ho-2/restore", None), ("GET", "/v1/queues", None), ("GET", f"/v1/queues/{SECRET}-agent", None),
    ("POST", "/v1/queued/cancel", {"all": True}), ("POST", "/v1/queued/move", {"all": True, "move_to": "mine"}),
    ("POST", "/v1/handoffs/ho-3/cancel", None), ("POST", "/v1/handoffs/ho-3/move", {"to": "mine"}),
    ("DELETE", f"/v1/agents/{SECRET}-agent", None),
    ("GET", "/v1/channels", None), ("GET", f"/v1/channels/{SECRET}-channel", None),
    ("PUT", f"/v1/channels/{SECRET}-channel", {"description": "mine"}),
    ("PUT", f"/v1/channels/{SECRET}-channel/subscribers/mine", None),
    ("DELETE", f"/v1/channels/{SECRET}-channel/subscribers/{SECRET}-agent", None),
    ("POST", f"/v1/channels/{SECRET}-channel/publish", {"envelope_id": "env-1", "receivers": ["mine"]}),
    ("POST", f"/v1/channels/{SECRET}-channel/join", {"envelope_id": "env-2"}),
    ("GET", "/v1/routes", None), ("GET", f"/v1/routes/{SECRET}-route", None), ("PUT", f"/v1/routes/{SECRET}-route", {"to": "mine"}),
    ("DELETE", f"/v1/routes/{SECRET}-route", None), ("POST", "/v1/envelopes", {"target_agent": "next", "task_summary": "go", "from": "a"}),
    ("GET", f"/v1/tasks/{SECRET}-task/trace", None),
    ("GET", "/v1/export", None), ("POST", "/v1/import", {"rows": []}),
    ("GET", "/v1/events?after=0", None), ("GET", "/v1/audit", None), ("GET", "/v1/audit?object=ms-1&order=newest", None),
    ("GET", "/v1/stats", None), ("GET", "/v1/stats?window=24h", None), ("GET", "/v1/alerts?state=all", None),
    ("POST", "/v1/alerts/al-1/ack", {"by": "mine"}), ("POST", "/v1/alerts/al-1/silence", {"for_s": 60, "by": "mine", "why": "mine"}),
]
# Nothing of a space is in these; the metrics and the list of spaces are of all of them, for whoever runs the server.
WITHOUT_SPACE = {
    "/v1/spaces", "/v1/spaces/{}",
    "/healthz", "/readyz", "/v1/tokens", "/v1/schemas", "/v1/schemas/{}", "/openapi.json", "/metrics", "/", "/assets/{}/{}",
    # Keys are of the server; who sees which of them: test_access.py
    "/v1/cluster", "/v1/keys", "/v1/keys/{}", "/v1/keys/{}/rotate", "/v1/keys/{}/revoke", "/v1/session",
}


@pytest.fixture
def owner(connect):
    owner = connect()
    owner.store(f"{SECRET} content", summary=SECRET, tags=[SECRET], agent=f"{SECRET}-agent", metadata={SECRET: SECRET})
    owner.patch("ms-1", content=f"{SECRET} again")
    owner.store(f"{SECRET} pinned", pinned=True)
    owner.call("PUT", f"/v1/agents/{SECRET}-agent", {"description": SECRET})
    owner.ok("POST", "/v1/envelopes",
     {"target_agent": f"{SECRET}-agent", "task_summary": SECRET, "from": "a", "intent": SECRET,
                                       "task": f"{SECRET}-task"}, status=201)
    owner.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": SECRET, "from": "a"}, status=201)
    owner.ok("PUT", f"/v1/channels/{SECRET}-channel", {"description": SECRET})
    owner.ok("PUT", f"/v1/channels/{SECRET}-channel/subscribers/{SECRET}-agent")
    owner.ok("PUT", f"/v1/routes/{SECRET}-route", {"to": f"{SECRET}-agent", "description": SECRET})
    owner.ok("POST", "/v1/handoffs", {"envelope_id": "env-1"}, status=202)
    owner.ok("POST", f"/v1/agents/{SECRET}-agent/receive", {"lease_s": 3600, "instance": SECRET})
    owner.ok("POST", "/v1/envelopes/env-2/park", {"reason": SECRET})
    owner.ok("POST", f"/v1/channels/{SECRET}-channel/publish", {"envelope_id": "env-2", "receivers": ["c"], "ack_timeout_s": 3600})
    return owner


def everything(api):
    """All that can be read of a space."""
    paths = ["/v1/memories?state=any", "/v1/memories/ms-1", "/v1/memories/ms-1/versions", "/v1/memories/ms-2",
             "/v1/envelopes/env-1",
             "/v1/envelopes/env-1/receipts", "/v1/tasks", "/v1/agents", "/v1/space", "/v1/handoffs", "/v1/handoffs/ho-1",
             "/v1/handoffs/ho-2", "/v1/handoffs/ho-3", "/v1/parked", "/v1/channels", f"/v1/channels/{SECRET}-channel",
             "/v1/routes", f"/v1/tasks/{SECRET}-task/trace", "/v1/audit?order=newest"]
    answers = [api.call("GET", path).json for path in paths]
    # Alerts fire by themselves, when they are looked at.
    answers[-1]["entries"] = [one for one in answers[-1]["entries"] if not one["action"].startswith("alert.")]
    return [*answers, api.count()]


def shape(path):
    """The path as the table of routes has it."""
    path = path.partition("?")[0]
    path = re.sub(r"/(ms|env|ho|al)-[^/]+", "/{}", path)
    path = re.sub(r"/subscribers/[^/]+", "/subscribers/{}", path)
    return re.sub(r"^(/v1/(?:tasks|agents|channels|routes|queues))/[^/]+", r"\1/{}", path)


def test_the_table_holds_every_route_of_the_server():
    routes = set()
    for source in SOURCES.glob("*.c"):
        routes |= set(re.findall(r'\{HTTP_([A-Z]+), "(/[^"]*)"', source.read_text()))
    assert len(routes) > 10
    missing = {(method, path) for method, path in routes if path not in WITHOUT_SPACE} - {(method,
        shape(path)) for method, path, _ in ROUTES}
    assert not missing, "a route that no test looks at from another space"


@pytest.mark.parametrize("method, path, body", ROUTES, ids=lambda value: value if isinstance(value, str) else "")
def test_nothing_of_a_space_is_seen_or_changed_from_another(owner, connect, method, path, body):
    stranger = connect()
    before = everything(owner)
    answer = stranger.call(method, path, body, {"Accept": "application/json"})  # a page of events, not a stream
    assert answer.status < 500, answer
    text = answer.data.replace(path.encode(), b"").decode()
    echoed = [f"{SECRET}-{kind}" for kind in ("task", "agent", "channel", "route")]  # names that the stranger has said itself
    for name in echoed:
        if name in path:
            text = text.replace(name, "")
    assert SECRET not in text, answer
    assert everything(owner) == before


def test_reading_a_space_that_does_not_exist_finds_nothing_and_makes_nothing(server, connect):
    ghost = connect("ghost-space")
    for method, path, body in ROUTES:
        if method == "GET":
            assert ghost.call(method, path, body, {"Accept": "application/json"}).status in (200, 404, 422), path
    ghost.refused(404, "memory_not_found", "PATCH", "/v1/memories/ms-1", {"content": "x"})
    ghost.refused(404, "memory_not_found", "DELETE", "/v1/memories/ms-1")
    ghost.refused(422, "invalid_field", "POST", "/v1/memories", {"content": ""})
    ghost.refused(404, "memory_not_found", "POST", "/v1/memories", {"content": "x", "supersedes": "ms-1"})
    with look(server.data / "spine.db") as db:
        names = {name for (name,) in db.execute("SELECT name FROM space")}
    assert "ghost-space" not in names


def test_a_space_comes_into_being_with_its_first_write(connect):
    new = connect()
    assert new.count() == 0
    assert new.store()["id"] == "ms-1"
    assert new.count() == 1


def test_default_is_the_space_where_none_is_named(server, connect):
    default = connect("default")
    made = default.store("in default", headers={"Spine-Space": None})
    assert default.get(made["id"])["content"] == "in default"
    assert default.call("GET", "/v1/status", None, {"Spine-Space": None}).json["space"] == "default"


@pytest.mark.parametrize("name", ["a", "0", "a-b_c", "x" * 64, "default"])
def test_names_that_are_taken(connect, name):
    assert connect(name).store()["content"]


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "_a", "x" * 65, "ä", "a.b", "a/b", "..", "a\u007f", "a'"])
@pytest.mark.parametrize("method, path, body", [("GET", "/v1/memories", None), ("POST", "/v1/memories",
    {"content": "x"}), ("GET", "/v1/status", None)])
def test_names_that_are_refused(api, name, method, path, body):
    answer = api.call(method, path, body, {"Spine-Space": name.encode()})
    assert answer.status in (400, 422), answer
    if answer.status == 422:
        assert (answer.json["code"], answer.json["field"]) == ("invalid_field", "Spine-Space")
