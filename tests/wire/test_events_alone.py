"""What a space is told of events depends on nothing that happens in other spaces: no answer is another one after others wrote."""

import base64
import json

import pytest
from api import wait_until
from events import Events
from keys import Keyed

# Everything with a position in the history, or a list that goes on somewhere.
LISTS = [
    "/v1/audit", "/v1/audit?page_size=2", "/v1/audit?order=newest", "/v1/audit?order=newest&page_size=2", "/v1/audit?after=999999999999999999",
    "/v1/audit?action=memory.store", "/v1/audit?action=memory.forget", "/v1/audit?since=2020-01-01T00:00:00Z", "/v1/audit?until=2020-01-01T00:00:00Z",
    "/v1/audit?since=2099-01-01T00:00:00Z", "/v1/audit?until=2099-01-01T00:00:00Z&order=newest&page_size=1",
    "/v1/events", "/v1/events?limit=2", "/v1/events?after=999999999999999999", "/v1/events?types=handoff.", "/v1/events?types=alert.",
    "/v1/tasks", "/v1/tasks?page_size=1", "/v1/tasks?state=waiting&page_size=1", "/v1/tasks?changed_since=2020-01-01T00:00:00Z&page_size=1",
    "/v1/tasks?changed_since=2099-01-01T00:00:00Z", "/v1/tasks?query=done&page_size=1", "/v1/handoffs/ho-1", "/v1/handoffs/ho-2",
    "/v1/memories", "/v1/memories?page_size=1", "/v1/parked", "/v1/quarantine", "/v1/channels", "/v1/routes", "/v1/alerts", "/v1/agents",
    "/v1/space", "/v1/keys",
]
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data", "--heartbeat", "50ms")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


class Tenant:
    """Who has a key of one space."""

    def __init__(self, keyed, space):
        self.keyed, self.space, self.key = keyed, space, keyed.key(space=space, scopes=["admin"])

    def ok(self, method, path, body=None):
        answer = self.keyed.ask(method, path, body, self.key, JSON)
        assert answer.status < 300, (method, path, answer)
        return answer.json if answer.data else None

    def write(self, count=5):
        for n in range(count):
            self.ok("POST", "/v1/memories", {"content": f"memory {n}"})

    def work(self):
        """Some of each: memories, two tasks, one of them done."""
        self.write(3)
        for n in range(2):
            packed = self.ok("POST", "/v1/envelopes", {"target_agent": "ben", "task_summary": f"to be done {n}", "include_recent": 0})
            self.ok("POST", "/v1/handoffs", {"envelope_id": packed["id"]})
        taken = self.ok("POST", "/v1/agents/ben/receive", {})["handoffs"][0]
        self.ok("POST", f"/v1/handoffs/{taken['id']}/complete", {"lease": taken["lease"], "result": "done"})

    def events(self, after=0):
        return self.ok("GET", f"/v1/events?after={after}&limit=1000")

    def stream(self, query="", **headers):
        return Events(self.keyed.address, self.space, query, {"Authorization": f"Bearer {self.key}", **headers}).begin()


@pytest.fixture
def pair(keyed, request):
    """Two tenants: one that is looked at, and another one that writes."""
    tenants = [Tenant(keyed, f"{request.node.name[:40]}-{n}") for n in range(2)]
    tenants[0].work()
    return tenants


def place(token):
    """What a page token says, but for the moment at which the page was asked for."""
    parts = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().split(".")
    return parts[:3] + parts[4:]


def answers(tenant):
    found = {}
    for path in LISTS:
        data = tenant.keyed.ask("GET", path, key=tenant.key, headers=JSON)
        assert data.status == 200, (path, data)
        token = data.json.get("next_page_token")
        found[path] = data.data.replace(token.encode(), json.dumps(place(token)).encode()) if token else data.data
    return found


def test_no_answer_of_a_space_is_another_one_after_others_wrote(pair):
    mine, other = pair
    before = answers(mine)
    other.work()
    other.write()
    after = answers(mine)
    assert {path: (before[path], after[path]) for path in LISTS if before[path] != after[path]} == {}


def test_a_space_that_is_not_there_yet_tells_nothing_either(pair, keyed):
    nobody = Tenant(keyed, "not-there-yet")
    keyed.ask("DELETE", f"/v1/spaces/{nobody.space}", key=keyed.root)
    key = keyed.key(space="*", scopes=["admin"])
    paths = ["/v1/events", "/v1/audit", "/v1/tasks"]

    def ask():
        return [keyed.ask("GET", path, key=key, headers={**JSON, "Spine-Space": "nowhere"}).data for path in paths]

    before = ask()
    pair[1].work()
    assert ask() == before


def test_going_on_from_such_a_position_misses_nothing_and_repeats_nothing(pair):
    mine, other = pair
    audit, page = mine.ok("GET", "/v1/audit"), mine.events()
    assert audit["next"] == page["next"] == int(page["events"][-1]["id"])
    other.write()
    mine.write(1)
    other.write()
    mine.write(1)
    later = mine.events(page["next"])
    assert [event["subject"] for event in later["events"]] == ["ms-5", "ms-6"]
    assert [entry["object"] for entry in mine.ok("GET", f"/v1/audit?after={audit['next']}")["entries"]] == ["ms-5", "ms-6"]
    assert mine.events(later["next"])["events"] == []
    stream = mine.stream(**{"Last-Event-ID": str(page["next"])})
    assert [event["subject"] for event in stream.take(2)] == ["ms-5", "ms-6"]
    stream.close()


def test_ids_follow_each_other_whatever_others_write(pair):
    mine, other = pair
    for _ in range(4):
        mine.write(2)
        other.write(3)
    ids = [int(event["id"]) for event in mine.events()["events"]]
    assert ids == list(range(ids[0], ids[0] + len(ids))) and len(ids) > 10
    told = mine.ok("GET", "/v1/handoffs/ho-1")["events"] + mine.ok("GET", "/v1/handoffs/ho-2")["events"]
    assert {event["id"] for event in told} <= set(ids)


def test_a_space_that_is_made_again_goes_on_above_the_one_before(keyed):
    head = {**JSON, "Spine-Space": "again"}

    def ask(method, path, body=None):
        answer = keyed.ask(method, path, body, keyed.root, head)
        assert answer.status < 300, answer
        return answer.json if answer.data else None

    def write(count):
        for n in range(count):
            ask("POST", "/v1/memories", {"content": f"memory {n}"})

    write(3)
    before = ask("GET", "/v1/events")["next"]
    ask("DELETE", "/v1/spaces/again?confirm=again")
    write(5)
    got = ask("GET", f"/v1/events?after={before}")
    assert [event["subject"] for event in got["events"] if event["subject"]] == [f"ms-{n}" for n in range(1, 6)]
    assert got["next"] > before


def test_a_stream_tells_the_same_position_while_others_write_and_then_what_comes(pair):
    mine, other = pair
    stream = mine.stream()
    began = stream.last_id
    assert int(began) == mine.events()["next"]
    other.work()
    for _ in range(3):
        assert stream.block() == f": still here\nid: {began}"
    mine.write(2)
    assert [event["subject"] for event in stream.take(2)] == ["ms-5", "ms-6"]
    other.write()
    last = stream.last_id
    assert stream.block() == f": still here\nid: {last}" and int(last) == mine.events()["next"]
    stream.close()


def test_events_that_are_not_kept_are_told_of_as_ever(pair, keyed):
    mine, other = pair
    first = mine.events()["events"][0]["id"]
    other.write()
    mine.ok("PUT", "/v1/space", {"keep_events_s": 1})
    pruned = []

    def is_pruned():
        pruned[:] = [mine.events().get("pruned_to")]
        return pruned[0]

    wait_until(is_pruned, "the events to go", 90)
    answer = keyed.ask("GET", f"/v1/events?after={first}", key=mine.key, headers=JSON)
    assert answer.status == 410 and answer.json["code"] == "events_pruned" and answer.json["pruned_to"] >= pruned[0]
    kept = mine.events(answer.json["pruned_to"])
    assert kept["next"] >= answer.json["pruned_to"]
