"""Keys: who is let in, what they may do, and when it ends. test_access_matrix.py has every operation."""

import http.client
import json
import socket
import subprocess
import threading
import time

import pytest

from api import wait_until
from database import connect as open_database
from delivery import Background
from keys import Keyed, ask
from mcp import LEGACY
import stores
from server import Server, binary
from test_access_matrix import KeyedMcp


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


@pytest.fixture
def own(tmp_path):
    """A server of the test's own."""
    running = Keyed(tmp_path / "data")
    yield running
    running.server.discard()


def later(keyed, method, path, body=None, key=None, headers=None):
    """A call beside the test; join() gives its answer."""
    result = {}

    def run():
        began = time.monotonic()
        result["answer"] = keyed.ask(method, path, body, key, headers)
        result["seconds"] = time.monotonic() - began

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join():
        thread.join(30)
        assert not thread.is_alive(), "it has not ended"
        return result["answer"]

    return join


def waiters(metrics):
    return sum(int(line.split()[-1]) for line in metrics.data.decode().splitlines() if line.startswith("spine_waiting"))


def waiting(keyed):
    return waiters(keyed.ask("GET", "/metrics", key=keyed.root))


def streams(keyed):
    return keyed.ask("GET", "/v1/status", key=keyed.root).json["events"]["streams"]


# --- Modes ---


def test_without_keys_everybody_may_and_the_first_key_closes_the_server_for_good(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    assert ask(server.address, "GET", "/v1/session").json == {"mode": "open", "key": None}
    assert ask(server.address, "GET", "/v1/memories").status == 200
    for fields in ({"scopes": ["read"]}, {"space": "team"}, {"agent": "ann"}):
        answer = ask(server.address, "POST", "/v1/keys", {"name": "first", **fields})
        assert answer.status == 422 and "first key" in answer.json["detail"], answer
    assert ask(server.address, "GET", "/v1/memories").status == 200
    first = ask(server.address, "POST", "/v1/keys", {"name": "first"}).json
    assert first["scopes"] == ["admin"] and first["space"] == "*" and first["is_first"] is True and first["trust"] == "user"
    assert ask(server.address, "GET", "/v1/memories").status == 401
    assert ask(server.address, "POST", "/v1/keys", {"name": "second"}).status == 401
    assert ask(server.address, "GET", "/v1/session").json == {"mode": "keys", "key": None}
    revoked = ask(server.address, "POST", f"/v1/keys/{first['id']}/revoke", {}, first["key"])
    assert revoked.status == 200 and revoked.json["status"] == "revoked"
    assert ask(server.address, "GET", "/v1/memories").status == 401
    assert server.terminate() == 0
    again = Server(tmp_path / "data").wait_until_ready()
    assert ask(again.address, "GET", "/v1/memories").status == 401
    assert ask(again.address, "GET", "/v1/memories", key=first["key"]).status == 401
    assert again.terminate() == 0


def test_keys_outlive_the_server(own):
    key = own.key(space="team", agent="ann")
    assert own.server.terminate() == 0
    again = Server(own.server.data).wait_until_ready()
    who = ask(again.address, "GET", "/v1/session", key=key).json
    assert who["mode"] == "keys" and who["key"]["agent"] == "ann" and who["key"]["space"] == "team"
    assert ask(again.address, "GET", "/v1/keys", key=own.root).json["keys"][1]["name"] == "a key"
    assert again.terminate() == 0


@pytest.mark.parametrize("damage", ["UPDATE access_key SET scopes = 0", "UPDATE access_key SET name = ''", "DELETE FROM access_mode",
                                    "UPDATE access_key SET trust = 77", "DROP TABLE access_key", "DROP TABLE access_mode",
                                    "UPDATE access_key SET space = ''",
                                    *(pytest.param(damage, marks=stores.needs_embedded_store("columns have types"))
                                      for damage in ("UPDATE access_key SET expires_at = 'soon'",
                                                     "UPDATE access_key SET agent = x'ff'"))])
def test_where_the_keys_cannot_be_read_nobody_is_let_in(own, damage):
    assert own.server.terminate() == 0
    with open_database(own.server.data / "spine.db") as db:
        db.execute(damage)
    with pytest.raises(Exception):
        Server(own.server.data).wait_until_ready()


def changed_by_sql(own, sql):
    """The server again, after somebody changed the rows of its spaces beside it."""
    assert own.server.terminate() == 0
    with open_database(own.server.data / "spine.db") as db:
        db.execute(sql)
    return Server(own.server.data).wait_until_ready()


def problems_of(server):
    return subprocess.run([str(binary()), "check", "--data", str(server.data)], capture_output=True, text=True, check=False)


@stores.needs_embedded_store("columns have types")
@pytest.mark.parametrize("guard", ["99", "-1", "'x'"])
def test_a_guard_that_is_none_is_the_strictest(own, guard):
    key = own.key(space="team", scopes=["admin"])
    own.ask("POST", "/v1/memories", {"content": "of a user"}, key)
    again = changed_by_sql(own, f"UPDATE space SET guard = {guard}")
    assert ask(again.address, "GET", "/v1/space", key=key).json["guard"] == "refuse"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = ask(again.address, "POST", "/v1/envelopes", {"from": "a", "target_agent": "b", "task_summary": f"use {secret}"}, key)
    assert said.status == 422 and said.json["code"] == "credentials_found", said
    told = problems_of(again)
    assert told.returncode != 0 and "the space team: what it has for guard cannot be read" in told.stdout + told.stderr, told
    assert ask(again.address, "PUT", "/v1/space", {"guard": "off"}, key).json["guard"] == "off"
    assert again.terminate() == 0


@stores.needs_embedded_store("columns have types")
@pytest.mark.parametrize("floor", ["99", "-1", "4", "'x'"])
def test_a_floor_that_is_none_is_damage_until_it_is_set_again(own, floor):
    key = own.key(space="team", scopes=["admin"])
    own.ask("POST", "/v1/memories", {"content": "of a user"}, key)
    again = changed_by_sql(own, f"UPDATE space SET trust_floor = {floor} WHERE name = 'team'")
    draft = {"from": "a", "target_agent": "b", "task_summary": "go on", "refs": ["ms-1"]}
    for method, path, body in (("POST", "/v1/envelopes", draft), ("GET", "/v1/memories?query=user", None), ("GET", "/v1/space", None),
                               ("PUT", "/v1/space", {"guard": "redact"})):
        said = ask(again.address, method, path, body, key)
        assert said.status == 503 and said.json["code"] == "store_damaged" and "trust_floor" in said.json["detail"], (path, said)
        assert "spine space" in said.json["detail"]
    assert ask(again.address, "GET", "/v1/memories/ms-1", key=key).status == 200, "the rest is served"
    told = problems_of(again)
    assert told.returncode != 0 and "the space team: what it has for trust_floor cannot be read" in told.stdout + told.stderr, told
    assert ask(again.address, "PUT", "/v1/space", {"trust_floor": "external"}, key).json["trust_floor"] == "external"
    assert ask(again.address, "POST", "/v1/envelopes", draft, key).status == 201
    assert problems_of(again).returncode == 0
    assert again.terminate() == 0


@stores.needs_embedded_store("columns have types")
@pytest.mark.parametrize("column", ["memories", "bytes", "handoffs", "waiting", "agents"])
@pytest.mark.parametrize("quota", ["'x'", "-2", "x'00'", "0.5"])
def test_a_quota_that_is_none_is_damage_and_not_no_limit(own, column, quota):
    key = own.key(space="team", scopes=["admin"])
    own.ask("POST", "/v1/memories", {"content": "m"}, key)
    again = changed_by_sql(own, f"UPDATE space SET quota_{column} = {quota}")
    for method, path, body in (("POST", "/v1/memories", {"content": "more"}), ("GET", "/v1/space", None)):
        said = ask(again.address, method, path, body, key)
        assert said.status == 503 and said.json["code"] == "store_damaged", (path, said)
    assert ask(again.address, "GET", "/v1/memories/ms-1", key=key).status == 200, "the rest is served"
    told = problems_of(again)
    assert told.returncode != 0 and "the space team: what it has for its quotas cannot be read" in told.stdout + told.stderr, told
    name = "quota_handoffs_per_minute" if column == "handoffs" else f"quota_{column}"
    assert ask(again.address, "PUT", "/v1/space", {name: 100}, own.root, {"Spine-Space": "team"}).json["quotas"]
    assert ask(again.address, "POST", "/v1/memories", {"content": "more"}, key).status == 201
    assert again.terminate() == 0


@stores.needs_embedded_store("the database is changed by SQL")
def test_locks_that_cannot_be_read_let_nothing_through(own):
    key = own.key(space="team", scopes=["admin"])
    draft = {"from": "a", "target_agent": "b", "task_summary": "go on", "constraints": {"tone": "calm"}}
    assert own.ask("PUT", "/v1/space", {"locked": ["tone"]}, key).json["locked"] == ["tone"]
    assert own.server.terminate() == 0
    with open_database(own.server.data / "spine.db") as db:
        db.execute("UPDATE space SET locked = '[\"to'")
    again = Server(own.server.data).wait_until_ready()
    said = ask(again.address, "POST", "/v1/envelopes", draft, key)
    assert said.status == 503 and said.json["code"] == "store_damaged" and "lock" in said.json["detail"], said
    assert ask(again.address, "PUT", "/v1/space", {"locked": ["tone"]}, key).status == 200
    assert ask(again.address, "POST", "/v1/envelopes", draft, key).json["locked"] == ["tone"]
    assert again.terminate() == 0


@pytest.mark.parametrize("mode", ["2", "-1", *(pytest.param(mode, marks=stores.needs_embedded_store("columns have types"))
                                               for mode in ("'open'", "0.5"))])
def test_a_mode_that_is_none_is_closed(own, mode):
    assert own.server.terminate() == 0
    with open_database(own.server.data / "spine.db") as db:
        db.execute(f"UPDATE access_mode SET needs_key = {mode}")
        db.execute("DELETE FROM access_key")
    again = Server(own.server.data).wait_until_ready()
    assert ask(again.address, "GET", "/v1/memories").status == 401
    assert again.terminate() == 0


def test_what_came_before_the_first_key_ends_with_it(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    calls = [Background(server.address, "default", "POST", "/v1/agents/ann/receive", {"wait_s": 30}),
             Background(server.address, "default", "GET", "/v1/events", None),
             Background(server.address, "default", "GET", "/v1/agents/bob/stream", None)]
    wait_until(lambda: ask(server.address, "GET", "/v1/status").json["events"]["streams"] == 1, "the stream is open")
    wait_until(lambda: waiters(ask(server.address, "GET", "/metrics")) == 2, "the receivers wait")
    assert ask(server.address, "POST", "/v1/keys", {"name": "first"}).status == 201
    for call in calls:
        call.join(10)
    assert calls[0].answer.status == 401
    assert b"unauthorized" in calls[1].answer.data and b"unauthorized" in calls[2].answer.data
    assert server.terminate() == 0


# --- At the head ---


def test_a_body_is_not_waited_for_where_there_is_no_key(keyed):
    with socket.create_connection(keyed.address) as connection:
        connection.settimeout(10)
        connection.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")


def test_a_key_that_is_revoked_while_the_body_comes_does_nothing(keyed):
    key = keyed.make(keyed.root, name="slow", space="slow")
    body = b'{"content":"too late"}'
    with socket.create_connection(keyed.address) as connection:
        connection.settimeout(10)
        connection.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                           b"Expect: 100-continue\r\nAuthorization: Bearer %s\r\n\r\n" % (len(body), key["key"].encode()))
        assert connection.recv(64).startswith(b"HTTP/1.1 100 ")
        keyed.ask("POST", f"/v1/keys/{key['id']}/revoke", {}, keyed.root)
        connection.sendall(body)
        assert connection.recv(64).startswith(b"HTTP/1.1 401 ")
    assert keyed.ask("GET", "/v1/memories", key=keyed.root, headers={"Spine-Space": "slow"}).json["memories"] == []


def test_the_scheme_is_read_in_any_case_and_a_refusal_keeps_the_connection(keyed):
    connection = http.client.HTTPConnection(*keyed.address, timeout=10)
    connection.request("GET", "/v1/memories")
    assert connection.getresponse().read()
    connection.request("GET", "/v1/memories", headers={"Authorization": f"bearer  {keyed.root}"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    connection.close()


# --- The names of others ---


def hand_over(keyed, space, to="bob", sender="ann"):
    headers = {"Spine-Space": space, "Spine-Agent": sender}
    answer = keyed.ask("POST", "/v1/handoffs", {"envelope": {"target_agent": to, "task_summary": "work"}}, keyed.root, headers)
    assert answer.status == 202, answer
    return answer.json["id"]


def receive(keyed, agent, key, **fields):
    answer = keyed.ask("POST", f"/v1/agents/{agent}/receive", fields, key)
    assert answer.status == 200, answer
    return answer.json["handoffs"]


def test_a_lease_is_settled_by_the_key_of_its_own_agent_only(keyed):
    space = "leases"
    bob, mal = keyed.key(space=space, agent="bob"), keyed.key(space=space, agent="mal")
    hand_over(keyed, space)
    work = receive(keyed, "bob", bob)[0]
    for verb, body in [("ack", {}), ("nack", {}), ("release", {}), ("reject", {"reason": "x"}), ("progress", {}), ("complete", {}),
                       ("need", {"refs": ["ms-1"]})]:
        answer = keyed.ask("POST", f"/v1/handoffs/{work['id']}/{verb}", {"lease": work["lease"], **body}, mal)
        assert answer.status == 403 and answer.json["code"] == "forbidden", (verb, answer)
    answer = keyed.ask("POST", "/v1/agents/mal/receive", {"settle": [{"id": work["id"], "verb": "complete", "lease": work["lease"]}]}, mal)
    assert "forbidden" in answer.data.decode(), answer
    text = KeyedMcp(keyed, mal).tool_error("handoff_settle", id=work["id"], lease=work["lease"], verb="complete")
    assert text.startswith("forbidden"), text
    assert keyed.ask("POST", f"/v1/handoffs/{work['id']}/cancel", {}, mal).status == 403
    done = keyed.ask("POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "result": "done"}, bob)
    assert done.status == 200 and done.json["state"] == "completed", done


def test_nobody_signs_in_anothers_name_in_any_form(keyed):
    space = "names"
    ann = keyed.key(space=space, agent="ann")
    packed = {"target_agent": "bob", "task_summary": "x"}
    hand_over(keyed, space, to="ann")
    work = receive(keyed, "ann", ann)[0]
    for method, path, body in [
        ("POST", "/v1/memories/batch", {"memories": [{"content": "x"}, {"content": "y", "agent": "mal"}]}),
        ("POST", "/v1/handoffs", {"envelope": {**packed, "from": "mal"}}),
        ("POST", "/v1/envelopes", {"version": 1, "target": "bob", "summary": "x", "from": "mal"}),
        ("POST", "/v1/envelopes", {"envelope_version": "2", "to": "bob", "from": "mal", "task": {"summary": "x"}}),
        ("POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "then": {"envelope": {**packed, "from": "mal"}}}),
    ]:
        answer = keyed.ask(method, path, body, ann)
        assert answer.status == 403 and answer.json["code"] == "forbidden", (path, answer)
    sent = keyed.ask("POST", "/v1/handoffs", {"envelope": packed}, ann).json
    assert keyed.ask("GET", f"/v1/handoffs/{sent['id']}", key=ann).json["from"] == "ann"


def test_what_is_stored_has_the_author_and_at_most_the_trust_of_the_key(keyed):
    space = "authors"
    ann, ext = keyed.key(space=space, agent="ann"), keyed.key(space=space, agent="web", trust="external")
    user = keyed.key(space=space, scopes=["write"], trust="user")
    stored = keyed.ask("POST", "/v1/memories", {"content": "a", "trust": "system"}, ann).json
    assert (stored["agent"], stored["trust"]) == ("ann", "agent")
    assert keyed.ask("POST", "/v1/memories", {"content": "a"}, ext).json["trust"] == "external"
    mine = keyed.ask("POST", "/v1/memories", {"content": "from a person", "trust": "user"}, user).json
    assert mine["trust"] == "user" and mine["agent"] is None
    # Who changes it answers for it from then on.
    changed = keyed.ask("PATCH", f"/v1/memories/{mine['id']}", {"content": "poisoned"}, ext).json
    assert (changed["agent"], changed["trust"], changed["version"]) == ("web", "external", 2)
    pinned = keyed.ask("PATCH", f"/v1/memories/{stored['id']}", {"pinned": True}, ext).json
    assert (pinned["agent"], pinned["trust"], pinned["version"]) == ("ann", "agent", 1)
    assert keyed.ask("PATCH", f"/v1/memories/{stored['id']}", {"agent": None}, ext).status == 403
    assert keyed.ask("PATCH", f"/v1/memories/{stored['id']}", {"trust": "system"}, ann).json["trust"] == "agent"
    hand_over(keyed, space, to="web")
    work = receive(keyed, "web", ext)[0]
    done = keyed.ask("POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "result": "what I found on the web"}, ext)
    result = keyed.ask("GET", f"/v1/memories/{done.json['result_memory']}", key=ann)
    assert result.json["trust"] == "external", (done, result)


def test_rows_are_imported_with_the_trust_of_the_key_at_most(keyed):
    rows = keyed.ask("POST", "/v1/memories", {"content": "m", "trust": "user"}, keyed.root, {"Spine-Space": "out"})
    assert rows.json["trust"] == "user"
    exported = keyed.ask("GET", "/v1/export?part=memories", key=keyed.root, headers={"Spine-Space": "out"}).json
    into = keyed.key(space="in", scopes=["admin"], trust="external")
    answer = keyed.ask("POST", "/v1/import", {"memories": exported["memories"]}, into)
    assert answer.status == 200 and answer.json["imported"] == 1, answer
    assert keyed.ask("GET", "/v1/memories", key=into).json["memories"][0]["trust"] == "external"


def test_a_locked_constraint_is_waived_with_admin_only_and_in_the_name_of_the_key(keyed):
    space = "locks"
    ops, write = keyed.make(keyed.root, name="ops", space=space, scopes=["admin"]), keyed.key(space=space, scopes=["write", "read"])
    admin = ops["key"]
    bound = keyed.bound_admin(space=space, agent="ann")
    packed = keyed.ask("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "from": "a", "task": "t",
                                                 "constraints": {"region": "eu"}, "locked": ["region"]}, admin)
    assert packed.status == 201, packed
    body = {"key": "region", "reason": "moved"}
    assert keyed.ask("POST", "/v1/tasks/t/waive", body, write, {"Spine-Person": "Ada"}).status == 403
    assert keyed.ask("POST", "/v1/tasks/t/waive", body, bound, {"Spine-Person": "Ada"}).status == 403
    keyed.refused(403, "forbidden", "GET", "/v1/memories", key=write, headers={"Spine-Person": "Ada"}, field="Spine-Person")
    waived = keyed.ask("POST", "/v1/tasks/t/waive", body, admin, {"Spine-Person": "Ada"})
    assert waived.status == 201 and waived.json["by"] == f"Ada ({ops['id']} ops)" and waived.json["unauthenticated"] is False, waived
    again = {"key": "tier", "reason": "not needed"}
    parent = packed.json["id"]
    packed = keyed.ask("POST", "/v1/envelopes", {"target_agent": "c", "task_summary": "y", "from": "b", "parent": parent,
                                                 "constraints": {"tier": 1}, "locked": ["tier"]}, admin).json
    entry = {"at_hop": 2, "by": f"Ada ({ops['id']} ops)", "key": "region", "reason": "moved", "value": "eu", "waiver": waived.json["waiver"]}
    assert packed["waived"] == [entry], "who it was has been checked, and the envelope does not say otherwise"
    alone = keyed.ask("POST", "/v1/tasks/t/waive", again, admin, {"Spine-Person": "A" * 128})
    assert alone.status == 201 and alone.json["by"] == ops["id"], "together they are longer than a name"
    task = keyed.ask("GET", "/v1/tasks/t", key=admin).json
    assert [(w["by"], w["unauthenticated"]) for w in task["waivers"]] == [(f"Ada ({ops['id']} ops)", False), (ops["id"], False)]
    diff = keyed.ask("GET", f"/v1/envelopes/{parent}/diff/{packed['id']}", key=admin).json
    lost = [change for change in diff["changes"] if change["key"] == "region"]
    assert [(one["fate"], one["by"], one.get("unauthenticated", False)) for one in lost] == [("waived", f"Ada ({ops['id']} ops)", False)], diff
    notes = [e["data"].get("note") or "" for e in keyed.ask("GET", "/v1/events?after=0&limit=1000", None, admin, {"Accept": "application/json"}).json["events"]]
    assert notes and not any("unauthenticated" in note for note in notes), notes


# --- Keys make keys ---


def test_a_key_gives_nobody_more_than_it_has(keyed):
    admin = keyed.key(space="team", scopes=["admin"], trust="agent", ttl_s=3600)
    made = keyed.make(admin, name="usual")
    assert made["space"] == "team" and made["expires_at"] is not None and made["scopes"] == ["read", "write", "receive"]
    for fields, field in [({"space": "*"}, "space"), ({"space": "else"}, "space"), ({"trust": "user"}, "trust"),
                          ({"ttl_s": 7200}, "expires_at")]:
        keyed.refused(403, "forbidden", "POST", "/v1/keys", {"name": "more", **fields}, key=admin, field=field)
    bound = keyed.bound_admin(space="team", agent="ann")
    keyed.refused(403, "forbidden", "POST", "/v1/keys", {"name": "more", "agent": "bob"}, key=bound, field="agent")
    assert keyed.make(bound, name="mine")["agent"] == "ann"


def test_keys_of_other_spaces_are_as_if_they_were_not(keyed):
    admin = keyed.key(space="team", scopes=["admin"])
    foreign = keyed.make(keyed.root, name="foreign", space="else", scopes=["admin"])
    all_spaces = keyed.ask("GET", "/v1/session", key=keyed.root).json["key"]["id"]
    for method, path in [("GET", "/v1/keys/{}"), ("POST", "/v1/keys/{}/rotate"), ("POST", "/v1/keys/{}/revoke")]:
        said = []
        for number in (foreign["id"], all_spaces, "key-999999"):
            answer = keyed.ask(method, path.format(number), None, admin)
            assert answer.status == 404 and answer.json["code"] == "key_not_found", answer
            said.append(answer.json["detail"].replace(number, "key-?"))
        assert len(set(said)) == 1
    listed = keyed.ask("GET", "/v1/keys?page_size=1000", key=admin).json["keys"]
    assert {key["space"] for key in listed} == {"team"}


def test_a_key_that_can_more_is_not_rotated_by_one_that_can_less(keyed):
    strong = keyed.make(keyed.root, name="strong", space="team", scopes=["write"], trust="user")
    weak = keyed.key(space="team", scopes=["admin"], trust="agent")
    assert keyed.ask("POST", f"/v1/keys/{strong['id']}/rotate", {}, weak).status == 403
    assert keyed.ask("POST", f"/v1/keys/{strong['id']}/revoke", {}, weak).status == 200
    assert keyed.ask("POST", f"/v1/keys/{strong['id']}/rotate", {}, keyed.root).json["code"] == "key_ended"


def test_both_secrets_are_valid_for_a_while_after_a_rotation(keyed):
    key = keyed.make(keyed.root, name="turning", space="team")
    new = keyed.ask("POST", f"/v1/keys/{key['id']}/rotate", {"grace_s": 1}, keyed.root).json
    assert new["key"] != key["key"] and new["rotated_until"]
    assert keyed.ask("GET", "/v1/memories", key=key["key"]).status == 200
    assert keyed.ask("GET", "/v1/memories", key=new["key"]).status == 200
    stream = later(keyed, "GET", "/v1/events", key=key["key"])
    assert b"unauthorized" in stream().data, "what was opened with the secret before ends with it"
    assert keyed.ask("GET", "/v1/memories", key=key["key"]).status == 401
    assert keyed.ask("GET", "/v1/memories", key=new["key"]).status == 200


# --- The end of a key ---


def open_everything(keyed, key):
    before, before_streams = waiting(keyed), streams(keyed)
    calls = {
        "poll": later(keyed, "POST", "/v1/agents/ann/receive", {"wait_s": 60}, key),
        "peek": later(keyed, "GET", "/v1/agents/ann/peek?wait_s=60", key=key),
        "events": later(keyed, "GET", "/v1/events", key=key),
        "stream": later(keyed, "GET", "/v1/agents/ann/stream", key=key),
        "listen": later_mcp(keyed, key, "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["spine://inbox/ann"]}}),
        "tool": later_mcp(keyed, key, "tools/call", {"name": "handoff_receive", "arguments": {"wait_s": 50}}),
    }
    wait_until(lambda: waiting(keyed) >= before + 4 and streams(keyed) > before_streams, "all of them wait")
    return calls


def later_mcp(keyed, key, method, params):
    result = {}

    def run():
        result["answer"] = KeyedMcp(keyed, key).call(method, params)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join():
        thread.join(30)
        assert not thread.is_alive(), "it has not ended"
        return result["answer"]

    return join


def assert_ended(calls):
    began = time.monotonic()
    assert calls["poll"]().status == 401 and calls["poll"]().headers["WWW-Authenticate"]
    assert calls["peek"]().status == 401
    assert b"event: problem" in calls["events"]().data and b"unauthorized" in calls["events"]().data
    assert b"event: problem" in calls["stream"]().data
    assert "unauthorized" in calls["tool"]().data.decode()
    assert calls["listen"]().status == 200
    assert time.monotonic() - began < 10


def test_revoking_ends_what_is_open_at_once(keyed):
    key, other = keyed.make(keyed.root, name="k", space="ends", agent="ann"), keyed.key(space="ends", agent="ann")
    calls, stays = open_everything(keyed, key["key"]), later(keyed, "POST", "/v1/agents/zoe/receive", {"wait_s": 60}, keyed.root, {"Spine-Space": "ends"})
    keyed.ask("POST", f"/v1/keys/{key['id']}/revoke", {"reason": "lost"}, keyed.root)
    assert_ended(calls)
    assert keyed.ask("GET", "/v1/memories", key=other).status == 200
    hand_over(keyed, "ends", to="zoe")
    assert len(stays().json["handoffs"]) == 1, "others wait on"


def test_an_expiry_ends_what_is_open_at_once(keyed):
    key = keyed.key(space="expires", agent="ann", ttl_s=2)
    assert_ended(open_everything(keyed, key))


def test_nothing_is_taken_for_a_key_that_has_ended(keyed):
    key = keyed.make(keyed.root, name="k", space="taken", agent="ann")
    before = waiting(keyed)
    poll = later(keyed, "POST", "/v1/agents/ann/receive", {"wait_s": 60}, key["key"])
    wait_until(lambda: waiting(keyed) == before + 1, "it waits")
    keyed.ask("POST", f"/v1/keys/{key['id']}/revoke", {}, keyed.root)
    number = hand_over(keyed, "taken", to="ann", sender="bob")
    assert poll().status == 401
    headers = {"Spine-Space": "taken"}
    wait_until(lambda: keyed.ask("GET", f"/v1/handoffs/{number}", key=keyed.root, headers=headers).json["state"] == "queued", "it is queued")


def test_what_is_leased_in_the_moment_of_revoking_is_given_back(keyed):
    """The receiver is told 401 and does not know of it: it must not wait for its lease to end."""
    headers = {"Spine-Space": "moment"}
    for _ in range(25):
        key = keyed.make(keyed.root, name="k", space="moment", agent="ann")
        before = waiting(keyed)
        poll = later(keyed, "POST", "/v1/agents/ann/receive", {"wait_s": 60, "lease_s": 600}, key["key"])
        wait_until(lambda: waiting(keyed) == before + 1, "it waits")
        packed = keyed.ask("POST", "/v1/envelopes", {"target_agent": "ann", "task_summary": "x", "from": "bob"}, keyed.root, headers).json
        both = [later(keyed, "POST", f"/v1/keys/{key['id']}/revoke", {}, keyed.root),
                later(keyed, "POST", "/v1/handoffs", {"envelope_id": packed["id"]}, keyed.root, headers)]
        number = [call() for call in both][1].json["id"]
        if poll().status == 401:
            wait_until(lambda: keyed.ask("GET", f"/v1/handoffs/{number}", key=keyed.root, headers=headers).json["state"] == "queued", "it is back")
        keyed.ask("POST", "/v1/queued/cancel", {"all": True}, keyed.root, headers)


# --- MCP: what a key leaves behind is its own ---


def test_sessions_and_tasks_belong_to_the_key_that_made_them(keyed):
    mine, other = keyed.key(space="mcp", agent="ann"), keyed.key(space="mcp", agent="ann")
    client = KeyedMcp(keyed, mine, capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}})
    made = client.call("tools/call", {"name": "handoff_receive", "arguments": {"wait_s": 1}}).json["result"]
    if "taskId" in made:
        assert "result" in client.call("tasks/get", {"taskId": made["taskId"]}).json
        stranger = KeyedMcp(keyed, other, capabilities=client.capabilities)
        assert "error" in stranger.call("tasks/get", {"taskId": made["taskId"]}).json
        assert "error" in stranger.call("tasks/cancel", {"taskId": made["taskId"]}).json
    first = KeyedMcp(keyed, mine, version=LEGACY)
    first.initialize()
    assert "result" in first.call("resources/subscribe", {"uri": "spine://inbox/ann"}).json


# --- Sessions of the dashboard ---


def sign_in(keyed, key, headers=None):
    return keyed.ask("POST", "/v1/session", {"key": key}, headers={"Origin": f"http://127.0.0.1:{keyed.address[1]}",
                                                                   "Host": f"127.0.0.1:{keyed.address[1]}", **(headers or {})})


def test_a_session_stands_for_its_key_until_that_ends(keyed):
    key = keyed.make(keyed.root, name="person", space="dash", scopes=["read", "write"])
    answer = sign_in(keyed, key["key"])
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 201 and answer.json["key"]["id"] == key["id"], answer
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and "Secure" not in cookie
    assert key["key"] not in cookie
    own = {"Cookie": cookie.split(";")[0], "Sec-Fetch-Site": "same-origin"}
    assert keyed.ask("GET", "/v1/session", headers=own).json["key"]["name"] == "person"
    assert keyed.ask("POST", "/v1/memories", {"content": "x"}, headers=own).status == 201
    assert keyed.ask("GET", "/v1/keys", headers=own).status == 403
    before = streams(keyed)
    stream = later(keyed, "GET", "/v1/events", headers=own)
    wait_until(lambda: streams(keyed) == before + 1, "the stream is open")
    keyed.ask("POST", f"/v1/keys/{key['id']}/revoke", {}, keyed.root)
    assert b"unauthorized" in stream().data
    assert keyed.ask("GET", "/v1/memories", headers=own).status == 401
    assert keyed.ask("GET", "/v1/session", headers=own).json == {"mode": "keys", "key": None}


def test_pages_of_others_cannot_use_a_session_or_make_one(keyed):
    key = keyed.key(space="dash")
    cookie = sign_in(keyed, key).headers["Set-Cookie"].split(";")[0]
    host = f"127.0.0.1:{keyed.address[1]}"
    other = {"Cookie": cookie, "Host": host}
    for headers in ({"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"}, {"Origin": "http://localhost:3000"},
                    {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}, {}):
        answer = keyed.ask("POST", "/v1/memories", {"content": "forged"}, headers={**other, **headers})
        assert answer.status in (401, 403), (headers, answer)
    assert keyed.ask("GET", "/v1/memories", headers={**other, "Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"}).status == 401
    assert keyed.ask("GET", "/v1/memories", headers={**other, "Sec-Fetch-Site": "none"}).status == 200
    assert keyed.ask("POST", "/v1/memories", {"content": "mine"}, headers={**other, "Origin": f"http://{host}"}).status == 201
    assert sign_in(keyed, key, {"Origin": "http://localhost:3000"}).status == 403
    assert keyed.ask("DELETE", "/v1/session", headers={**other, "Origin": "http://localhost:3000"}).status == 403
    assert sign_in(keyed, "spk_1_nonsense").status == 401
    out = keyed.ask("DELETE", "/v1/session", headers={**other, "Origin": f"http://{host}"})
    assert out.status == 204 and "Max-Age=0" in out.headers["Set-Cookie"]
    assert keyed.ask("GET", "/v1/memories", headers={**other, "Sec-Fetch-Site": "same-origin"}).status == 401


def test_sessions_are_bounded_and_a_guess_is_none(keyed):
    key = keyed.key(space="dash")
    first = sign_in(keyed, key).headers["Set-Cookie"].split(";")[0]
    own = {"Cookie": first, "Sec-Fetch-Site": "same-origin"}
    assert keyed.ask("GET", "/v1/memories", headers=own).status == 200
    for value in ("", "0.", "0.x", "99999999.x", first.split("=")[1][:-1], "-1.abc", "x" * 5000):
        assert keyed.ask("GET", "/v1/memories", headers={**own, "Cookie": f"spine_session={value}"}).status in (401, 431), value
    for _ in range(1024):
        assert sign_in(keyed, key).status == 201
    assert keyed.ask("GET", "/v1/memories", headers=own).status == 401, "the one that was used least lately makes room"


# --- Secrets ---


def test_no_key_is_in_the_store_the_log_the_events_or_an_answer(own):
    key = own.make(own.root, name="planted", space="*", scopes=["admin"])
    new = own.ask("POST", f"/v1/keys/{key['id']}/rotate", {}, own.root).json
    cookie = sign_in(own, new["key"]).headers["Set-Cookie"].split(";")[0].split("=")[1]
    sign_in(own, new["key"][:-1] + "_")
    own.ask("GET", "/v1/memories", key=key["key"][:-1] + "_")
    own.ask("GET", "/v1/nothing", key=new["key"], headers={"Spine-Agent": "ann"})
    own.ask("POST", f"/v1/keys/{key['id']}/revoke", {"reason": "over"}, own.root)
    refusal = own.ask("GET", "/v1/memories", key=new["key"]).data.decode()
    told = "".join(own.ask("GET", path, key=own.root).data.decode() for path in ("/v1/keys", f"/v1/keys/{key['id']}", "/v1/audit", "/metrics"))
    told += own.ask("GET", "/v1/events?from=0", key=own.root, headers={"Accept": "application/json"}).data.decode()
    assert "key.create" in told and "key.rotate" in told and "key.revoke" in told
    assert own.server.terminate() == 0
    files = b"".join(path.read_bytes() for path in own.server.data.rglob("*") if path.is_file())
    kept = files + own.server.log.read_bytes() + (told + refusal).encode()
    for secret in (own.root, key["key"], new["key"], cookie):
        assert secret.split("_", 2)[-1].encode() not in kept


# --- Where it listens ---


def test_beyond_this_machine_it_needs_keys_and_tls_or_insecure_spelled_out(tmp_path, start):
    keyed = Keyed(tmp_path / "data")
    assert keyed.server.terminate() == 0
    import subprocess

    from server import binary, clean_environment

    def serve(data, *options):
        return subprocess.run([str(binary()), "serve", "--quiet", "--data", str(data), *stores.options(data), *options],
                              env=clean_environment(), capture_output=True, text=True, timeout=20)

    without = serve(tmp_path / "open", "--listen", "0.0.0.0:0")
    assert without.returncode == 2 and "keys" in without.stderr
    # A store in PostgreSQL is there already: the directory is for notes beside it.
    assert stores.SERVER or not (tmp_path / "open").exists()
    plain = serve(tmp_path / "data", "--listen", "0.0.0.0:0")
    assert plain.returncode == 2 and "TLS" in plain.stderr


def test_the_names_of_public_url_are_answered_and_no_others(tmp_path, start):
    server = start("--public-url", "https://spine.example", "--insecure").wait_until_ready()
    assert ask(server.address, "GET", "/healthz", headers={"Host": "spine.example"}).status == 200
    assert ask(server.address, "GET", "/healthz", headers={"Host": "evil.example"}).status == 421
    own = {"Host": "spine.example", "Origin": "https://spine.example"}
    assert ask(server.address, "GET", "/v1/memories", headers=own).status == 200
    assert ask(server.address, "GET", "/v1/memories", headers={**own, "Origin": "https://evil.example"}).status == 403
    for host, status in (("spine.example:443", 200), ("Spine.Example:443", 200), ("spine.example:80", 421), ("spine.example:8443", 421),
                         ("spine.example:", 421), ("evil.example:443", 421), ("spine.example:443:443", 421)):
        assert ask(server.address, "GET", "/v1/memories", headers={"Host": host}).status == status, host
        assert ask(server.address, "GET", "/v1/memories", headers={**own, "Host": host}).status == status, host
    key = ask(server.address, "POST", "/v1/keys", {"name": "first"}).json["key"]
    signed = ask(server.address, "POST", "/v1/session", {"key": key}, headers=own)
    assert signed.status == 201 and "; Secure" in signed.headers["Set-Cookie"]
    signed = ask(server.address, "POST", "/v1/session", {"key": key}, headers={**own, "Host": "spine.example:443"})
    assert signed.status == 201 and "; Secure" in signed.headers["Set-Cookie"], "the usual port is no other name"


@pytest.mark.parametrize("url", ["spine.example", "https://spine.example/", "https://*.example", "ftp://spine.example"])
def test_a_public_url_that_is_none_is_refused(start, url):
    with pytest.raises(Exception):
        start("--public-url", url, "--insecure").wait_until_ready()


# --- What a key of one space learns of the server, and may set ---


OF_SPACE = {"version", "status", "started_at", "uptime_s", "space", "memories", "retention"}
OF_ALL = {"pid", "clock_offset_ms", "store", "http", "writer", "events", "traces", "clients"}


def test_status_tells_a_key_of_one_space_that_space_and_nothing_of_the_others(keyed):
    keyed.ask("POST", "/v1/memories", {"content": "of another"}, keyed.root, {"Spine-Space": "strangers"})
    for scopes in (["read"], ["admin"]):
        answer = keyed.ask("GET", "/v1/status", key=keyed.key(space="narrow", scopes=scopes))
        assert set(answer.json) == OF_SPACE and answer.json["space"] == "narrow" and answer.json["memories"] == 0, answer
        assert str(keyed.server.data).encode() not in answer.data
    everything = keyed.ask("GET", "/v1/status", key=keyed.key(space="*", scopes=["read"])).json
    assert set(everything) == OF_SPACE | OF_ALL and everything["store"]["data"] == str(keyed.server.data)


def test_what_is_watched_of_a_space_names_nothing_of_another(keyed):
    """Figures, alerts with their rules, events, the trace and the space itself."""
    marks = {"Spine-Space": "strangers"}
    packed = keyed.ask("POST", "/v1/envelopes", {"target_agent": "zorro", "task_summary": "zinc", "from": "zelda"}, keyed.root, marks).json
    sent = keyed.ask("POST", "/v1/handoffs", {"envelope_id": packed["id"]}, keyed.root, marks)
    assert sent.status == 202, sent
    key = keyed.key(space="narrow", scopes=["read"])
    for path in ("/v1/space", "/v1/stats", "/v1/alerts", "/v1/events?after=0&limit=100", "/v1/tasks", "/v1/agents", "/v1/queues"):
        answer = keyed.ask("GET", path, key=key, headers={"Accept": "application/json"})
        assert answer.status == 200, answer
        for word in (b"zelda", b"zorro", b"strangers", b"zinc", str(keyed.server.data).encode()):
            assert word not in answer.data, (path, word)
    assert keyed.ask("GET", f"/v1/tasks/{packed['task']['id']}/trace", key=key).status == 404
    keyed.refused(403, "forbidden", "GET", "/v1/stats?space=all", key=key, field="space")


QUOTAS = ("quota_memories", "quota_bytes", "quota_handoffs_per_minute", "quota_waiting", "quota_agents")


def test_a_space_does_not_set_its_own_quota(keyed):
    admin = keyed.key(space="tenant", scopes=["admin"])
    for field in QUOTAS:
        said = keyed.refused(403, "forbidden", "PUT", "/v1/space", {field: 5, "guard": "refuse"}, key=admin, field=field)
        assert "space *" in said["detail"], said
    assert keyed.ask("GET", "/v1/space", key=admin).json["guard"] != "refuse", "nothing of it was done"
    settings = {"guard": "redact", "trust_floor": "agent", "keep_events_s": 3600, "keep_idle_s": 86400, "locked": ["region"]}
    assert keyed.ask("PUT", "/v1/space", settings, admin).status == 200
    for field in QUOTAS:
        answer = keyed.ask("PUT", "/v1/space", {field: 5}, keyed.root, {"Spine-Space": "tenant"})
        assert answer.status == 200, answer
    assert keyed.ask("GET", "/v1/space", key=admin).json["quotas"]["memories"]["limit"] == 5


def test_a_space_does_not_get_rid_of_its_quota_with_itself(keyed):
    """Deleted, or idle and deleted, it would come back with the server's."""
    admin = keyed.key(space="bound", scopes=["admin"])
    assert keyed.ask("PUT", "/v1/space", {"quota_memories": 1}, keyed.root, {"Spine-Space": "bound"}).status == 200
    keyed.refused(403, "forbidden", "DELETE", "/v1/spaces/bound?confirm=bound", key=admin, field="name")
    keyed.refused(403, "forbidden", "PUT", "/v1/space", {"keep_idle_s": 1}, key=admin, field="keep_idle_s")
    assert keyed.ask("DELETE", "/v1/spaces/bound?confirm=bound", key=keyed.root).status == 200
    admin = keyed.key(space="bound", scopes=["admin"])  # the one before went with the space
    assert keyed.ask("POST", "/v1/memories", {"content": "x"}, admin).status == 201
    assert keyed.ask("DELETE", "/v1/spaces/bound?confirm=bound", key=admin).status == 200, "without a quota of its own it may"
