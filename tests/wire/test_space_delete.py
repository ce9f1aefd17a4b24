"""A space that is deleted is gone at once, for everybody; its rows follow, and nothing comes back."""

import http.client
import json
import threading

import pytest
from api import Api, wait_until
from database import look
from delivery import Desk
from keys import Keyed
from server import Server

# Every table that has rows of a space, and how to find them: by a key (space << 40 | number), or by the space's id.
KEYS = {"memory": "id", "memory_version": "memory", "envelope": "id", "task": "id", "handoff": "id", "result": "handoff",
        "receipt": "envelope", "citation": "envelope", "pruned_envelope": "id", "pruned_handoff": "id", "left_result": "memory",
        "reply_memory": "memory"}
IDS = ("agent", "channel", "route", "alert", "event", "reply")


def rows_of(data, space):
    """How many rows each table has of the space with this id."""
    with look(data / "spine.db") as db:
        counts = {t: db.execute(f"SELECT count(*) FROM {t} WHERE {k} >> 40 = ?", (space,)).fetchone()[0] for t, k in KEYS.items()}
        counts |= {t: db.execute(f"SELECT count(*) FROM {t} WHERE space = ?", (space,)).fetchone()[0] for t in IDS}
        counts["space"] = db.execute("SELECT count(*) FROM space WHERE id = ?", (space,)).fetchone()[0]
        counts["target"] = db.execute("SELECT count(*) FROM target WHERE agent NOT IN (SELECT id FROM agent)").fetchone()[0]
        counts["subscriber"] = db.execute("SELECT count(*) FROM subscriber WHERE channel NOT IN (SELECT id FROM channel)").fetchone()[0]
    return {table: count for table, count in counts.items() if count}


def id_of(data, name):
    with look(data / "spine.db") as db:
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
    with look(server.data / "spine.db") as db:
        agent = db.execute("SELECT max(id) FROM agent").fetchone()[0]
    delete(desk, desk.space)
    wait_until(lambda: rows_of(server.data, space) == {}, "nothing of the space is left")
    desk.store("first again")
    desk.ok("PUT", "/v1/agents/somebody", {})
    page = desk.ok("GET", "/v1/events?after=0", headers={"Accept": "application/json"})
    assert int(page["events"][0]["id"]) > last
    with look(server.data / "spine.db") as db:
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


# --- Keys ---


@pytest.fixture
def keyed(tmp_path):
    running = Keyed(tmp_path / "data")
    yield running
    if running.server.process.poll() is None:
        running.server.kill()


def end_space(keyed, space, key=None):
    answer = keyed.ask("DELETE", f"/v1/spaces/{space}?confirm={space}", key=key or keyed.root)
    assert answer.status == 200, answer
    return answer.json


def spaces(keyed):
    """How many memories each space has."""
    return {one["name"]: one["memories"] for one in keyed.ask("GET", "/v1/spaces", key=keyed.root).json["spaces"]}


def test_the_keys_of_a_space_go_with_it_and_do_not_open_one_of_its_name(keyed):
    old, other, everywhere = keyed.key(space="tenant"), keyed.key(space="other"), keyed.key(space="*")
    keyed.make(keyed.root, name="b", space="tenant", scopes=["admin"])
    revoked = keyed.make(keyed.root, name="c", space="tenant")["id"]
    assert keyed.ask("POST", f"/v1/keys/{revoked}/revoke", {"reason": "lost"}, keyed.root).status == 200
    assert keyed.ask("POST", "/v1/memories", {"content": "theirs"}, old).status == 201
    assert end_space(keyed, "tenant")["keys_revoked"] == 2
    keyed.refused(401, "unauthorized", "GET", "/v1/memories", key=old)
    made = keyed.ask("POST", "/v1/memories", {"content": "of others"}, everywhere, {"Spine-Space": "tenant"})
    assert made.status == 201, made
    for call in (("GET", "/v1/memories"), ("POST", "/v1/memories", {"content": "x"}), ("GET", "/v1/events")):
        keyed.refused(401, "unauthorized", *call, key=old)
    assert keyed.ask("GET", "/v1/memories", key=other).status == 200
    listed = {one["id"]: one for one in keyed.ask("GET", "/v1/keys", key=keyed.root).json["keys"]}
    assert all(one["revoked_at"] for one in listed.values() if one["space"] == "tenant"), listed
    new = keyed.key(space="tenant")
    assert [one["content"] for one in keyed.ask("GET", "/v1/memories", key=new).json["memories"]] == ["of others"]
    assert keyed.server.terminate() == 0
    keyed.server = Server(keyed.server.data).wait_until_ready()
    keyed.refused(401, "unauthorized", "GET", "/v1/memories", key=old)
    assert keyed.ask("GET", "/v1/memories", key=new).status == 200


def test_the_key_that_deletes_its_own_space_is_answered_and_goes_too(keyed):
    own = keyed.key(space="mine", scopes=["admin"])
    assert end_space(keyed, "mine", own)["keys_revoked"] == 1
    keyed.refused(401, "unauthorized", "GET", "/v1/memories", key=own)


def test_the_keys_of_a_space_that_was_only_idle_stay(keyed):
    key = keyed.key(space="quiet")
    assert keyed.ask("POST", "/v1/memories", {"content": "long ago"}, key).status == 201
    assert keyed.ask("PUT", "/v1/space", {"keep_idle_s": 1}, keyed.root, {"Spine-Space": "quiet"}).status == 200
    wait_until(lambda: "quiet" not in spaces(keyed), "the idle space is gone")
    made = keyed.ask("POST", "/v1/memories", {"content": "back again"}, key)
    assert made.status == 201 and made.json["id"] == "ms-1", made


def test_streams_and_polls_of_its_keys_end(keyed):
    own, answers = keyed.key(space="mine"), {}

    def call(name, *args, **more):
        answers[name] = keyed.ask(*args, **more)

    calls = [threading.Thread(target=call, args=("stream", "GET", "/v1/events"), kwargs={"key": own}, daemon=True),
             threading.Thread(target=call, args=("poll", "POST", "/v1/agents/ann/receive", {"wait_s": 60}, own), daemon=True)]
    for thread in calls:
        thread.start()
    wait_until(lambda: keyed.ask("GET", "/v1/status", key=keyed.root).json["events"]["streams"] == 1, "the stream is open")
    wait_until(lambda: any(line.startswith("spine_waiting") and not line.endswith(" 0")
                           for line in keyed.ask("GET", "/metrics", key=keyed.root).data.decode().splitlines()), "the poll waits")
    end_space(keyed, "mine")
    for thread in calls:
        thread.join(20)
    assert not any(thread.is_alive() for thread in calls), answers
    assert answers["stream"].status == 200 and answers["poll"].status in (401, 410), answers


def test_writes_that_are_under_way_do_not_make_the_space_anew_with_its_old_keys(keyed):
    """Writers do not stop while their space is deleted: whatever they are answered, the space is not there afterwards."""
    for _ in range(5):
        own, ended = [keyed.key(space="mine") for _ in range(4)], []

        def write(key, ended=ended):
            connection = http.client.HTTPConnection(*keyed.address, timeout=20)
            status = 201
            while status == 201:
                connection.request("POST", "/v1/memories", json.dumps({"content": "x"}), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
                status = response.status
            ended.append(status)
            connection.close()

        threads = [threading.Thread(target=write, args=(key,), daemon=True) for key in own]
        for thread in threads:
            thread.start()
        wait_until(lambda: spaces(keyed)["mine"] > 20, "they write")
        end_space(keyed, "mine")
        for thread in threads:
            thread.join(20)
        assert set(ended) <= {401, 410} and len(ended) == 4, ended
        assert "mine" not in spaces(keyed)
