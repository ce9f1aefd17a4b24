"""Credentials in what is handed over are redacted, or the handoff is refused, and it is recorded."""

import json

import pytest
from envelopes import api


def test_what_is_fetched_for_a_guarded_envelope_is_guarded_too(api):
    told = api.store(f"deploy with {SECRET} please", summary=f"token {SECRET}", metadata={"api_key": SECRET, "n": 1, SECRET: 2}, tags=["ok", SECRET])
    later = api.store(f"and {SECRET} again")
    for constraints, hidden in (({"security": "no plaintext credentials"}, True), ({}, False)):
        envelope = api.handoff(summary=f"see {told['id']} and {later['id']}", strategy="lazy", include_recent=0, constraints=constraints)
        sent = api.call("POST", "/v1/handoffs", {"envelope_id": envelope["id"]})[1]
        lease = api.ok("POST", "/v1/agents/b/receive", {})["handoffs"][0]["lease"]
        need = api.ok("POST", f"/v1/handoffs/{sent['id']}/need", {"lease": lease, "refs": [told["id"], later["id"]]})
        resolved = api.ok("POST", f"/v1/envelopes/{envelope['id']}/resolve", {"ids": [told["id"], later["id"]]})
        for answer in (need, resolved):
            assert len(answer["memories"]) == 2 and (SECRET in json.dumps(answer)) is not hidden
            assert answer["memories"][0]["metadata"]["n"] == 1
        api.ok("POST", f"/v1/handoffs/{sent['id']}/ack", {"lease": lease})


def test_what_the_guard_refuses_is_recorded(api):
    api.store("something, so that the space is there")
    body = {"from": "a", "target_agent": "b", "task_summary": f"use {SECRET}", "constraints": {"credentials": "refuse"}}
    api.refused("credentials_found", "POST", "/v1/envelopes", {**body, "dry_run": True})
    problem = api.refused("credentials_found", "POST", "/v1/envelopes", body)
    assert "guard" in problem["detail"]
    api.refused("credentials_found", "POST", "/v1/handoffs", {"envelope": body})
    entries = api.ok("GET", "/v1/audit?action=envelope.refuse")["entries"]
    assert [(entry["actor"], entry["object"], entry["note"]) for entry in entries] == [("a", "b", "credentials_found: task.summary")] * 2
    assert SECRET not in json.dumps(entries)
    assert len(api.ok("GET", "/v1/audit?object=b")["entries"]) == 2 and api.ok("GET", "/v1/tasks")["tasks"] == []


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_credentials_are_redacted_where_a_constraint_says_so(api):
    memory = api.store(f"deploy with {SECRET} please", summary=f"token {SECRET}", pinned=True)
    envelope = api.handoff(summary=f"use {SECRET}", constraints={"security": "no plaintext credentials"},
                           execution_history=[{"agent": "a", "action": f"tried {SECRET}"}], intent=f"said {SECRET}")
    assert SECRET not in json.dumps(envelope) and SECRET not in api.prompt(envelope)
    assert "[redacted: " in envelope["memory"]["refs"][0]["text"]
    assert {f["where"] for f in envelope["guard"]["findings"]} >= {"task.summary", "task.intent", "history[0].action", f"memory.{memory['id']}"}
    assert envelope["guard"]["policy"] == "redact"
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}") == envelope
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
    assert api.ok("GET", f"/v1/memories/{memory['id']}")["content"].count(SECRET) == 1


@pytest.mark.parametrize("constraints", [
    {"security": "No plaintext credentials, please."}, {"security": ["stay in the VPN", "no plaintext credentials"]},
    {"Security": "NO PLAINTEXT CREDENTIALS"}, {"credentials": "redact"}, {"Credentials": "Redact"},
    {"a": 1, "SECURITY": ["none", "No Plaintext Credentials"]}, {"\u0455ecurity\u200b": "no plaintext credentials"},
])
def test_the_guard_is_asked_for_as_people_write_it(api, constraints):
    envelope = api.handoff(summary=f"use {SECRET}", constraints=constraints)
    assert envelope["guard"]["policy"] == "redact" and SECRET not in json.dumps(envelope)
    others = {key: value for key, value in constraints.items() if key.lower() != "credentials"}
    refusing = {"target_agent": "b", "task_summary": f"use {SECRET}", "constraints": {**others, "CREDENTIALS": "REFUSE"}}
    api.refused("credentials_found", "POST", "/v1/envelopes", refusing)


def test_the_space_can_refuse_credentials(api):
    assert api.ok("PUT", "/v1/space", {"guard": "refuse"})["guard"] == "refuse"
    problem = api.refused("credentials_found", "POST", "/v1/envelopes", {"target_agent": "b", "task_summary": f"use {SECRET}"})
    assert problem["field"] == "task.summary" and SECRET not in json.dumps(problem)
    assert api.handoff(summary="use the vault")["guard"] == {"findings": [], "policy": "refuse"}
    api.ok("PUT", "/v1/space", {"guard": "off"})
    assert SECRET in api.handoff(summary=f"use {SECRET}")["task"]["summary"]
    api.refused("invalid_field", "PUT", "/v1/space", {"guard": "maybe"})


def test_a_secret_is_known_by_the_key_it_stands_under_and_none_is_too_many(api):
    password = "Summer" + "2023x"
    many = "\n".join(f"token {SECRET[:-3]}{i:03d}" for i in range(400))
    api.store(many, pinned=True)
    envelope = api.handoff(constraints={"security": "no plaintext credentials", "max_tokens": 100000},
                           expected_output={"db_password": password}, execution_history=[{"agent": "a", "api_key": SECRET}])
    assert password not in json.dumps(envelope) and SECRET[:-3] not in json.dumps(envelope)
    assert len(envelope["memory"]["refs"][0]["redactions"]) == 400
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
