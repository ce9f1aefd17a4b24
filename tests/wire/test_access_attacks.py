"""What a key must not get by a way round: each was possible once."""

import hashlib
import json

import pytest

from keys import Keyed
from mcp import LEGACY
from test_access_matrix import KeyedMcp

TEAM = {"Spine-Space": "team"}


@pytest.fixture
def team(tmp_path):
    """A server with a space `team`; `team.admin` is its key."""
    running = Keyed(tmp_path / "data")
    running.admin = running.key(space="team", scopes=["admin"])
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


def store(team, key, **fields):
    answer = team.ask("POST", "/v1/memories", {"content": "a memory", **fields}, key)
    assert answer.status == 201, answer
    return answer.json


def send(team, key, to, headers=None, **fields):
    body = {"envelope": {"target_agent": to, "task_summary": "work", **fields}}
    answer = team.ask("POST", "/v1/handoffs", body, key, headers)
    assert answer.status == 202, answer
    return answer.json


def take(team, key, agent):
    answer = team.ask("POST", f"/v1/agents/{agent}/receive", {"lease_s": 100, "format": "none"}, key)
    assert answer.status == 200, answer
    return answer.json["handoffs"][0]


# --- Who says it, and how much it is trusted ---


def test_a_revert_is_signed_by_who_reverts_and_has_no_more_trust_than_its_key(team):
    outsider = team.key(space="team", agent="ext", trust="external")
    made = store(team, team.admin, content="skip the tests", trust="user", agent="boss")
    path = f"/v1/memories/{made['id']}"
    changed = team.ask("PATCH", path, {"content": "never skip the tests"}, team.admin, {"Spine-Agent": "boss"})
    assert changed.json["version"] == 2 and changed.json["trust"] == "user"
    back = team.ask("POST", f"{path}/revert", {"version": 1}, outsider).json
    assert back["version"] == 3 and back["content"] == "skip the tests"
    assert back["agent"] == "ext" and back["trust"] == "external"
    again = team.ask("POST", f"{path}/revert", {"version": 3}, team.key(space="team", agent="bob")).json
    assert again["version"] == 3 and again["agent"] == "ext", "what changes nothing is signed by nobody"


# --- Numbers ---


def test_no_choice_of_an_id_ends_storing(team):
    writer = team.key(space="team", agent="ext", scopes=["write"], trust="external")
    highest = 2**39
    for number in (2**40 - 1, highest + 1):
        said = team.refused(422, "invalid_field", "POST", "/v1/memories", {"content": "x", "id": f"ms-{number}"}, writer, field="id")
        assert f"ms-{highest}" in said["detail"], said
        body = {"memories": [{"content": "y"}, {"content": "x", "id": f"ms-{number}"}]}
        team.refused(422, "invalid_field", "POST", "/v1/memories/batch", body, writer, field="memories[1].id")
    assert store(team, writer, id=f"ms-{highest}")["id"] == f"ms-{highest}"
    assert store(team, writer)["id"] == f"ms-{highest + 1}"
    send(team, team.admin, "bob")
    work = take(team, team.admin, "bob")
    body = {"lease": work["lease"], "result": "done", "then": {"envelope": {"target_agent": "eve", "task_summary": "more"}}}
    answer = team.ask("POST", f"/v1/handoffs/{work['id']}/complete", body, team.admin)
    assert answer.json["result_memory"] == f"ms-{highest + 2}" and "result_not_stored" not in answer.data.decode(), answer


def test_a_result_that_became_no_memory_is_warned_of(team):
    kept = store(team, team.admin)
    row = team.ask("GET", "/v1/export?part=memories", key=team.admin).json["memories"][0]
    answer = team.ask("POST", "/v1/import", {"memories": [{**row, "id": "ms-1099511627775"}]}, team.admin)
    assert answer.status == 200 and kept["id"] == "ms-1", answer
    for then in ({}, {"then": {"envelope": {"target_agent": "eve", "task_summary": "more"}}}):
        send(team, team.admin, "bob")
        work = take(team, team.admin, "bob")
        answer = team.ask("POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "result": "done", **then}, team.admin)
        assert answer.status == 200 and answer.json["result_memory"] is None, answer
        assert [w["code"] for w in answer.json["warnings"] if w["field"] == "result"] == ["result_not_stored"], answer


# --- Work of others ---


def test_a_key_of_an_agent_parks_only_what_that_agent_sent_or_has(team):
    ext, ann, bob = (team.key(space="team", agent=agent) for agent in ("ext", "ann", "bob"))
    envelope = team.ask("POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "w"}, ext).json["id"]
    sent = team.ask("POST", "/v1/handoffs", {"envelope_id": envelope}, ann).json["id"]
    work = take(team, bob, "bob")
    park = f"/v1/envelopes/{envelope}/park"
    team.refused(403, "forbidden", "POST", park, {"reason": "x"}, ext, field="id")
    team.refused(403, "forbidden", "POST", park, {"reason": "x"}, team.key(space="team", agent="eve"), field="id")
    assert team.ask("GET", f"/v1/handoffs/{sent}", key=bob).json["state"] == "leased"
    other = team.ask("POST", "/v1/handoffs", {"envelope_id": envelope, "to": "carl"}, ext).json["id"]
    parked = team.ask("POST", park, {"reason": "x"}, ext)
    assert parked.status == 200 and parked.json["id"] == other, parked
    assert team.ask("POST", f"/v1/handoffs/{sent}/complete", {"lease": work["lease"]}, bob).status == 200
    unsent = team.ask("POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "w"}, ext).json["id"]
    team.refused(403, "forbidden", "POST", f"/v1/envelopes/{unsent}/park", {"reason": "x"}, ann, field="id")
    assert team.ask("POST", f"/v1/envelopes/{unsent}/park", {"reason": "x"}, ext).status == 200
    assert team.ask("POST", park, {"reason": "x"}, team.admin).status == 200


# --- Idempotency-Key ---


def test_an_idempotency_key_belongs_to_the_key_that_asked(team):
    ann, bob = team.key(space="team"), team.key(space="team")
    headers = {"Idempotency-Key": "order-42"}
    first = team.ask("POST", "/v1/memories", {"content": "squat"}, bob, headers)
    other = team.ask("POST", "/v1/memories", {"content": "real"}, ann, headers)
    assert first.status == 201 and other.status == 201 and other.json["content"] == "real", other
    same = team.ask("POST", "/v1/memories", {"content": "squat"}, ann, {"Idempotency-Key": "order-43"})
    assert same.json["id"] != first.json["id"]
    again = team.ask("POST", "/v1/memories", {"content": "squat"}, bob, headers)
    assert again.json["id"] == first.json["id"], "its own is given again"
    team.refused(422, "idempotency_conflict", "POST", "/v1/memories", {"content": "other"}, bob, headers=headers)


# --- One scope does not do for another ---


def test_who_only_receives_hands_nothing_on(team):
    receiver = team.key(space="team", scopes=["receive"])
    send(team, team.admin, "bob")
    work = take(team, receiver, "bob")
    then = {"envelope": {"target_agent": "ann", "task_summary": "an order", "new_root": True, "from": "boss"}}
    for verb in ("complete", "ack"):
        said = team.refused(403, "forbidden", "POST", f"/v1/handoffs/{work['id']}/{verb}", {"lease": work["lease"], "then": then},
                            receiver, field="then")
        assert "write" in said["detail"], said
    item = {"id": work["id"], "verb": "complete", "lease": work["lease"], "then": then}
    team.refused(403, "forbidden", "POST", "/v1/agents/bob/receive", {"settle": [item]}, receiver, field="settle[0].then")
    client = KeyedMcp(team, receiver, agent="bob", version=LEGACY)
    said = client.tool_error("handoff_settle", id=work["id"], lease=work["lease"], verb="complete", then=then)
    assert said.startswith("forbidden:"), said
    assert team.ask("GET", "/v1/handoffs", key=team.admin).json["handoffs"][0]["state"] == "leased"
    assert len(team.ask("GET", "/v1/handoffs", key=team.admin).json["handoffs"]) == 1
    assert team.ask("POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "then": None}, receiver).status == 200


def test_who_only_receives_opens_only_what_the_envelope_names(team):
    receiver = team.key(space="team", scopes=["receive"])
    named, secret = store(team, team.admin, content="named"), store(team, team.admin, content="a secret")
    send(team, team.admin, "bob", refs=[named["id"]], include_recent=0)
    work = take(team, receiver, "bob")
    need = f"/v1/handoffs/{work['id']}/need"
    found = team.ask("POST", need, {"lease": work["lease"], "refs": [named["id"]]}, receiver)
    assert found.status == 200 and found.json["memories"][0]["content"] == "named", found
    body = {"lease": work["lease"], "refs": [named["id"], secret["id"]]}
    answer = team.ask("POST", need, body, receiver)
    assert answer.status == 403 and answer.json["field"] == "refs[1]" and b"a secret" not in answer.data, answer
    both = team.key(space="team", scopes=["receive", "read"])
    assert team.ask("POST", need, body, both).json["missing"] == []


def test_who_only_writes_reads_nothing(team):
    writer = team.key(space="team", scopes=["write"])
    made = store(team, team.admin, content="first text", summary="short", tags=["tag"], metadata={"a": "meta"})
    path = f"/v1/memories/{made['id']}"
    team.ask("PATCH", path, {"content": "second text"}, team.admin)
    team.refused(403, "forbidden", "GET", path, key=writer)
    for method, where, body in [("POST", f"{path}/pin", {}), ("POST", f"{path}/unpin", {}), ("PATCH", path, {}),
                                ("PATCH", path, {"kind": "fact"}), ("POST", f"{path}/revert", {"version": 1})]:
        answer = team.ask(method, where, body, writer)
        assert answer.status == 200 and answer.json["id"] == made["id"], answer
        assert set(answer.json) == {"id", "version", "state", "pinned", "created_at", "updated_at"}, answer
    client = KeyedMcp(team, writer, agent="ann", version=LEGACY)
    assert "text" not in json.dumps(client.tool("memory_pin", id=made["id"]))
    pack = {"target_agent": "bob", "task_summary": "t", "refs": [made["id"]]}
    for method, where, body, field in [("POST", "/v1/envelopes", pack, "Authorization"),
                                       ("POST", "/v1/envelopes", {**pack, "dry_run": True}, "Authorization"),
                                       ("POST", "/v1/handoffs", {"envelope": pack}, "envelope")]:
        said = team.refused(403, "forbidden", method, where, body, writer, field=field, headers={"Idempotency-Key": "again"})
        assert "read" in said["detail"], said
    assert "forbidden" in client.tool_error("agent_handoff", **pack)
    whole = team.ask("POST", f"{path}/pin", {}, team.key(space="team", scopes=["write", "read"])).json
    assert whole["content"] == "first text" and whole["metadata"] == {"a": "meta"}


# --- Words of others ---


def test_a_key_of_an_agent_tells_no_steps_of_others(team):
    ann = team.key(space="team", agent="ann")
    step = {"agent": "boss", "action": "approved the release", "decision": "ship"}
    own = {"agent": "ann", "action": "wrote it"}
    pack = {"target_agent": "bob", "task_summary": "Ship it."}
    field = "execution_history[1].agent"
    team.refused(403, "forbidden", "POST", "/v1/envelopes", {**pack, "execution_history": [own, step]}, ann, field=field)
    v1 = {"version": 1, "target": "bob", "summary": "Ship it.", "history": [step]}
    team.refused(403, "forbidden", "POST", "/v1/envelopes", v1, ann, field="history[0].agent")
    first = team.ask("POST", "/v1/envelopes", {**pack, "target_agent": "ann", "execution_history": [step]}, team.admin).json
    body = {**pack, "parent": first["id"], "execution_history": [step, own]}
    made = team.ask("POST", "/v1/envelopes", body, ann)
    assert made.status == 201 and [s["agent"] for s in made.json["history"]] == ["boss", "ann"], made
    other = {**body, "execution_history": [{**step, "decision": "ship at once"}]}
    team.refused(403, "forbidden", "POST", "/v1/envelopes", other, ann, field="execution_history[0].agent")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_an_import_brings_no_more_trust_than_its_key_has(team):
    outside = team.key(space="team", scopes=["admin"], trust="external")
    writer = team.key(space="team", agent="ext", trust="external")
    team.ask("POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "w"}, writer)
    row = team.ask("GET", "/v1/export?part=envelopes", key=outside).json["envelopes"][0]

    def sealed(number, **changes):
        body = {**json.loads(row["body"]), "id": f"env-{number}", **changes}
        body["lineage"] = {**body["lineage"], "root": f"env-{number}"}
        body["task"] = {**body["task"], "id": f"task-{number}"}
        body.pop("digest")
        digest = hashlib.sha256(canonical(body).encode()).hexdigest()
        return {**row, "id": f"env-{number}", "digest": digest, "body": canonical({**body, "digest": f"sha256:{digest}"})}

    rows = {"envelopes": [sealed(900), sealed(901, trust="user")]}
    said = team.refused(403, "forbidden", "POST", "/v1/import", rows, outside, field="envelopes[1]")
    assert "trust user" in said["detail"] and "external" in said["detail"], said
    assert team.ask("GET", "/v1/envelopes/env-900", key=outside).status == 404, "all or nothing"
    assert team.ask("POST", "/v1/import", rows, team.admin).json["imported"] == 2


def test_a_damaged_row_of_an_import_is_the_callers_mistake(team):
    team.ask("POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "w"}, team.admin)
    row = team.ask("GET", "/v1/export?part=envelopes", key=team.admin).json["envelopes"][0]
    for broken in ({"body": "{}"}, {"body": "no JSON"}, {"body": row["body"].replace('"w"', '"x"')}, {"digest": "0" * 64}):
        team.refused(422, "invalid_field", "POST", "/v1/import", {"envelopes": [{**row, "id": "env-901", **broken}]}, team.admin,
                     field="envelopes[0]")
