"""GET /v1/audit: who did what to which object, and when."""

import datetime

import pytest
from api import check_problem
from events import write_everything

ENTRY = {"id", "at", "actor", "action", "object", "space", "agent", "note"}


def audit(api, query=""):
    answer = api.ok("GET", f"/v1/audit?page_size=1000{query}")
    assert answer["next_page_token"] is None
    return answer["entries"]


def objects(entries):
    return [(entry["action"], entry["object"]) for entry in entries]


def test_every_write_is_in_it(desk):
    expected = write_everything(desk)
    # An alert about it may have fired meanwhile, which is the server's own doing.
    entries = [entry for entry in audit(desk) if not entry["action"].startswith("alert.")]
    assert {entry["action"] for entry in entries} == expected
    assert all(set(entry) == ENTRY and entry["space"] == desk.space and entry["object"] for entry in entries)
    assert [entry["action"] for entry in audit(desk, "&object=ho-1")] == [
        "handoff.send", "handoff.receive", "handoff.progress", "envelope.resolve", "handoff.ack", "handoff.complete"]
    asked_by_name = {"memory.", "space.", "route.", "channel.", "agent.", "breaker.reset", "handoff.re", "handoff.discard"}
    forgotten = {entry["object"] for entry in entries if entry["action"] == "memory.forget"}
    assert forgotten
    for entry in entries:
        if (entry["note"] or "").startswith("result of ho-"):
            assert (entry["action"], entry["actor"]) == ("memory.store", "worker"), entry
        elif entry["object"] in forgotten and entry["action"] in ("memory.store", "memory.update", "memory.revert"):
            assert entry["actor"] is None, "who wrote what is forgotten is forgotten"
        elif entry["action"].startswith(tuple(asked_by_name)) and entry["action"] not in ("handoff.receive", "handoff.reject"):
            assert entry["actor"] == "auditor", entry


def test_an_entry_says_who_did_what_to_what_and_when(desk):
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    desk.store("one", {"Spine-Agent": "ann"})
    [entry] = audit(desk)
    at = datetime.datetime.fromisoformat(entry["at"].replace("Z", "+00:00"))
    assert before < at < before + datetime.timedelta(seconds=30)
    assert entry == {"id": entry["id"], "at": entry["at"], "actor": "ann", "action": "memory.store", "object": "ms-1", "space": desk.space,
                     "agent": None, "note": None}


def test_the_author_of_a_memory_is_its_actor_where_the_caller_has_no_name(desk):
    desk.store("one", agent="ben")
    desk.store("two")
    assert [entry["actor"] for entry in audit(desk)] == ["ben", None]


def test_the_actor_is_asked_for(desk):
    desk.store("one", {"Spine-Agent": "ann"})
    desk.store("two", {"Spine-Agent": "ben"})
    desk.patch("ms-2", {"Spine-Agent": "ann"}, content="three")
    assert objects(audit(desk, "&actor=ann")) == [("memory.store", "ms-1"), ("memory.update", "ms-2")]
    assert audit(desk, "&actor=nobody") == []


def test_the_object_is_asked_for_by_its_id(desk):
    desk.store("one")
    desk.store("two", supersedes="ms-1")
    desk.ok("POST", "/v1/memories/batch", {"memories": [{"content": str(n)} for n in range(10)]}, status=201)
    desk.forget("ms-7")
    assert objects(audit(desk, "&object=ms-1")) == [("memory.store", "ms-1"), ("memory.supersede", "ms-1")]
    assert objects(audit(desk, "&object=ms-7")) == [("memory.store", "ms-3"), ("memory.forget", "ms-7")], "of a batch, too"
    sent = desk.send()
    desk.settle("ack", desk.take())
    assert objects(audit(desk, f"&object={sent['id']}")) == [(f"handoff.{verb}", sent["id"]) for verb in ("send", "receive", "ack")]
    assert [entry["action"] for entry in audit(desk, f"&object={sent['envelope_id']}")][:2] == ["envelope.pack", "handoff.send"]


def test_the_object_is_asked_for_by_its_name(desk):
    desk.ok("PUT", "/v1/agents/news", {})
    desk.ok("PUT", "/v1/channels/news", {})
    desk.ok("PUT", "/v1/channels/other", {})
    desk.send("news")
    assert objects(audit(desk, "&object=news")) == [("agent.set", "news"), ("channel.set", "news")]


def test_the_action_is_asked_for_by_its_beginning(desk):
    desk.store("one")
    desk.patch("ms-1", content="two")
    desk.forget("ms-1")
    assert [entry["action"] for entry in audit(desk, "&action=memory.forget")] == ["memory.forget"]
    assert len(audit(desk, "&action=memory.")) == 3
    assert len(audit(desk, "&action=memory.update,memory.forget")) == 2


def test_since_and_until_cut_it_by_time(desk):
    for n in range(5):
        desk.store(str(n))
    entries = audit(desk)
    middle = entries[2]["at"]
    since, until = audit(desk, f"&since={middle}"), audit(desk, f"&until={middle}")
    assert since == [entry for entry in entries if entry["at"] >= middle] and until == [entry for entry in entries if entry["at"] < middle]
    assert audit(desk, "&since=2999-01-01T00:00:00Z") == [] == audit(desk, "&until=1999-01-01T00:00:00Z")


def test_pages_hold_each_entry_once_in_either_order(desk):
    for n in range(23):
        desk.store(str(n))
    for order, expected in (("oldest", range(1, 24)), ("newest", range(23, 0, -1))):
        found, token = [], ""
        while token is not None:
            answer = desk.ok("GET", f"/v1/audit?order={order}&page_size=5" + (f"&page_token={token}" if token else ""))
            found += [entry["object"] for entry in answer["entries"]]
            token = answer["next_page_token"]
        assert found == [f"ms-{n}" for n in expected]


def test_after_goes_on_behind_an_entry(desk):
    for n in range(5):
        desk.store(str(n))
    first = desk.ok("GET", "/v1/audit?page_size=2")
    rest = desk.ok("GET", f"/v1/audit?after={first['next']}")
    assert [entry["object"] for entry in rest["entries"]] == ["ms-3", "ms-4", "ms-5"]


@pytest.mark.parametrize("query, field", [("action=x", "action"), ("since=yesterday", "since"), ("until=1", "until"), ("after=x", "after"),
                                          ("order=up", "order"), ("page_size=0", "page_size"), ("actor=", "actor"), ("object=", "object")])
def test_bad_parameters_are_refused(desk, query, field):
    check_problem(desk.call("GET", f"/v1/audit?{query}"), 422, "invalid_field", field)


def test_a_space_sees_only_its_own(desk, connect):
    desk.store("one")
    assert connect().ok("GET", "/v1/audit") == {"entries": [], "next": 0, "next_page_token": None}


def test_there_is_no_way_to_change_it(desk):
    desk.store("one")
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert desk.call(method, "/v1/audit", {}).status == 405
