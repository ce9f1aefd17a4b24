"""A space that is deleted is gone at once, for everybody; its rows follow, and nothing comes back."""

import sqlite3

import pytest
from api import Api, wait_until
from delivery import Desk

# Every table that has rows of a space, and how to find them: by a key (space << 40 | number), or by the space's id.
KEYS = {"memory": "id", "memory_version": "memory", "envelope": "id", "task": "id", "handoff": "id", "result": "handoff",
        "receipt": "envelope", "citation": "envelope", "pruned_envelope": "id", "pruned_handoff": "id", "left_result": "memory",
        "reply_memory": "memory"}
IDS = ("agent", "channel", "route", "alert", "event", "reply")


def rows_of(data, space):
    """How many rows each table has of the space with this id."""
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True) as db:
        counts = {t: db.execute(f"SELECT count(*) FROM {t} WHERE {k} >> 40 = ?", (space,)).fetchone()[0] for t, k in KEYS.items()}
        counts |= {t: db.execute(f"SELECT count(*) FROM {t} WHERE space = ?", (space,)).fetchone()[0] for t in IDS}
        counts["space"] = db.execute("SELECT count(*) FROM space WHERE id = ?", (space,)).fetchone()[0]
        counts["target"] = db.execute("SELECT count(*) FROM target WHERE agent NOT IN (SELECT id FROM agent)").fetchone()[0]
        counts["subscriber"] = db.execute("SELECT count(*) FROM subscriber WHERE channel NOT IN (SELECT id FROM channel)").fetchone()[0]
    return {table: count for table, count in counts.items() if count}


def id_of(data, name):
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True) as db:
        return db.execute("SELECT id FROM space WHERE name = ?", (name,)).fetchone()[0]


def fill(desk):
    """Something of every kind."""
    desk.ok("POST", "/v1/memories", {"content": "the zebra is striped", "pinned": True}, {"Idempotency-Key": "k1"}, 201)
    desk.patch("ms-1", content="the zebra is striped, and fast")
    desk.ok("PUT", "/v1/channels/news", {"description": "all"})
    desk.ok("PUT", "/v1/channels/news/subscribers/reader")
    desk.ok("PUT", "/v1/routes/next", {"to": "reader"})
    desk.ok("PUT", "/v1/space", {"guard": "redact"})
    for number in range(5):
        desk.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "worker", "task_summary": f"about ms-1, {number}", "from": "boss"}}, status=202)
    taken = desk.ok("POST", "/v1/agents/worker/receive", {"max": 2})["handoffs"]
    desk.ok("POST", f"/v1/handoffs/{taken[0]['id']}/complete", {"lease": taken[0]["lease"], "result": "it is done"})
    desk.ok("POST", f"/v1/handoffs/{taken[1]['id']}/reject", {"lease": taken[1]["lease"], "reason": "no"})
    desk.ok("POST", "/v1/envelopes/env-1/resolve", {"ids": ["ms-1"]}, {"Spine-Agent": "worker"})


def delete(api, name, confirm=None):
    return api.ok("DELETE", f"/v1/spaces/{name}?confirm={confirm or name}")


def test_a_deleted_space_is_gone_and_its_rows_follow(desk, server):
    fill(desk)
    space = id_of(server.data, desk.space)
    answer = delete(desk, desk.space)
    assert (answer["name"], answer["memories"], answer["handoffs_open"], answer["parked"]) == (desk.space, 2, 3, 1)
    desk.refused(404, "memory_not_found", "GET", "/v1/memories/ms-1")
    desk.refused(404, "handoff_not_found", "GET", "/v1/handoffs/ho-1")
    desk.refused(404, "envelope_not_found", "GET", "/v1/envelopes/env-1")
    assert desk.ids() == [] and desk.ids("query=zebra") == []
    assert desk.ok("GET", "/v1/parked")["parked"] == [] and desk.ok("GET", "/v1/agents")["agents"] == []
    assert desk.space not in [s["name"] for s in desk.ok("GET", "/v1/spaces?page_size=1000")["spaces"]]
    assert desk.space not in desk.call("GET", "/metrics").data.decode()
    desk.refused(404, "space_not_found", "DELETE", f"/v1/spaces/{desk.space}?confirm={desk.space}")
    wait_until(lambda: rows_of(server.data, space) == {}, "nothing of the space is left")


def test_a_space_of_the_same_name_begins_anew(desk, server):
    fill(desk)
    before = id_of(server.data, desk.space)
    delete(desk, desk.space)
    assert desk.store("new")["id"] == "ms-1" and desk.get("ms-1")["version"] == 1
    assert desk.ok("GET", "/v1/space")["guard"] == "off"
    assert desk.store("again", {"Idempotency-Key": "k1"})["id"] == "ms-2"
    sent = desk.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "worker", "task_summary": "go", "from": "boss"}}, status=202)
    assert sent["id"] == "ho-1"
    assert len(desk.ok("POST", "/v1/agents/worker/receive", {"max": 9})["handoffs"]) == 1
    wait_until(lambda: rows_of(server.data, before) == {}, "nothing of the old one is left")
    assert desk.ids("query=zebra") == [] and desk.ids("query=new")[0] == "ms-1" and id_of(server.data, desk.space) != before
    kinds = [e["type"].removeprefix("com.memoryspine.") for e in desk.ok("GET", "/v1/events?after=0", headers={"Accept": "application/json"})["events"]]
    assert "memory.stored" in kinds and "handoff.rejected" not in kinds


def test_without_a_confirmation_nothing_is_deleted(desk):
    desk.store("stays")
    problem = desk.refused(422, "missing_field", "DELETE", f"/v1/spaces/{desk.space}", field="confirm")
    assert f"?confirm={desk.space}" in problem["detail"]
    desk.refused(422, "invalid_field", "DELETE", f"/v1/spaces/{desk.space}?confirm=another", field="confirm")
    desk.refused(404, "space_not_found", "DELETE", "/v1/spaces/nobody-made-it?confirm=nobody-made-it")
    desk.refused(404, "space_not_found", "DELETE", "/v1/spaces/NOT%20A%20NAME?confirm=x")
    assert desk.ids() == ["ms-1"]


def test_who_waits_in_the_space_is_told(desk, poll):
    desk.store("x")
    call = poll("worker")
    with_space = Api(desk.address, "default")
    delete(with_space, desk.space)
    with_space.close()
    answer = call.result()
    assert (answer.status, answer.json["code"]) == (410, "space_deleted"), answer


def test_other_spaces_are_as_they_were(connect, desk, server):
    other = Desk(desk.address, desk.space + "-other")
    fill(desk), fill(other)
    space = id_of(server.data, desk.space)
    before = other.ok("GET", "/v1/handoffs")["handoffs"], other.ids(), other.ok("GET", "/v1/parked")["parked"]
    delete(desk, desk.space)
    wait_until(lambda: rows_of(server.data, space) == {}, "nothing of the space is left")
    assert (other.ok("GET", "/v1/handoffs")["handoffs"], other.ids(), other.ok("GET", "/v1/parked")["parked"]) == before
    assert other.ids("query=zebra") == ["ms-1"]
    other.close()


def test_events_and_agents_never_get_an_id_twice(desk, server):
    fill(desk)
    page = desk.ok("GET", "/v1/events?after=0&limit=1000", headers={"Accept": "application/json"})
    last = int(page["events"][-1]["id"])
    space = id_of(server.data, desk.space)
    with sqlite3.connect(f"file:{server.data}/spine.db?mode=ro", uri=True) as db:
        agent = db.execute("SELECT max(id) FROM agent").fetchone()[0]
    delete(desk, desk.space)
    wait_until(lambda: rows_of(server.data, space) == {}, "nothing of the space is left")
    desk.store("first again")
    desk.ok("PUT", "/v1/agents/somebody", {})
    page = desk.ok("GET", "/v1/events?after=0", headers={"Accept": "application/json"})
    assert int(page["events"][0]["id"]) > last
    with sqlite3.connect(f"file:{server.data}/spine.db?mode=ro", uri=True) as db:
        assert db.execute("SELECT max(id) FROM agent").fetchone()[0] > agent


@pytest.mark.parametrize("steps", [0, 1])
def test_a_restart_in_the_midst_of_it_goes_on(start, steps):
    server = start().wait_until_ready()
    desk = Desk(server.address, "doomed")
    for number in range(60):
        desk.ok("POST", "/v1/memories/batch", {"memories": [{"content": f"{number} {i}"} for i in range(100)]}, status=201)
    fill_other = Desk(server.address, "kept")
    fill(fill_other)
    space = id_of(server.data, "doomed")
    delete(desk, "doomed")
    if steps:
        wait_until(lambda: rows_of(server.data, space).get("memory_version", 0) < 6000, "the first rows are gone")
    server.kill()
    left = rows_of(server.data, space)
    assert left.get("space") == 1, left
    again = start(data=server.data).wait_until_ready()
    desk = Desk(again.address, "doomed")
    assert desk.ids() == []
    wait_until(lambda: rows_of(again.data, space) == {}, "nothing of the space is left")
    assert Desk(again.address, "kept").ids("query=zebra") == ["ms-1"]
    assert again.terminate() == 0, again.log_tail()
