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


@pytest.mark.parametrize("text,secret", [
    ("the password is hunter2hunter2", "hunter2hunter2"), ("The root password is hunter22.", "hunter22"), ("my password = hunter2", "hunter2"),
    ("the root pw is Tr0ub4dor&3x", "Tr0ub4dor&3x"), ("note: password: hunter2hunter2", "hunter2hunter2"), ("password for db7 changed to hunter22", "hunter22"),
    ("our AWS secret access key was " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKq8Lm2Vt", "wJalrXUtnFEMI"), ("Cookie: sid=abc123def456ghi789", "abc123def456ghi789"),
    ("password: >-\n  correct horse\n  battery staple\n", "battery"), ("login: root / hunter22", "hunter22"), ("use **hunter22** as the password", "hunter22"),
], ids=lambda value: "")
def test_what_a_sentence_says_is_redacted_and_the_sentence_stays(api, text, secret):
    memory = api.store(f"Monday.\n{text}", pinned=True)
    envelope = api.handoff(summary=text, constraints={"security": "no plaintext credentials"})
    assert secret not in json.dumps(envelope) and envelope["task"]["summary"][:3] == text[:3]
    assert {f["where"] for f in envelope["guard"]["findings"]} == {"task.summary", f"memory.{memory['id']}"}


def test_a_sentence_about_passwords_is_left_alone(api):
    text = ("The password is required and case-sensitive, password is 12 characters long, base64-encoded and stored hashed; the token is valid for 2 hours, "
            "the secret is to listen, and the password was reset yesterday.")
    envelope = api.handoff(summary=text, constraints={"credentials": "refuse"})
    assert envelope["task"]["summary"] == text and envelope["guard"]["findings"] == []


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


SPELLINGS = [
    {"security": "no-plaintext-credentials"}, {"security": "no plain text credentials"}, {"security": "No Plaintext Credentials."},
    {"security": "no_plaintext_credentials"}, {"security": "NoPlaintextCredentials"}, {"security": "Keep to the VPN; never share plain-text credentials!"},
    {"security": ["no_plain_text_credentials"]}, {"security": [["no cleartext passwords"]]}, {"security": "no\u00a0plaintext\u2011credentials"},
    {"security": {"no_plaintext_credentials": True}}, {"security": {"credentials": "none"}}, {"no plaintext credentials": True}, {"no_plaintext_credentials": "yes"},
    {"credentials": "none"}, {"credentials": "None."}, {"credentials": ["none"]}, {"credentials": []}, {"credentials": False}, {"credentials": "no plaintext"},
    {"security": "no passwords"}, {"security": "Never share passwords."}, {"security": "do not pass passwords"}, {"security": "no plaintext creds"},
    {"do_not": ["include credentials"]}, {"do_not": ["share credentials", "deploy"]}, {"do_not": "include credentials"}, {"forbidden": ["credentials"]},
    {"prohibited": ["plaintext credentials"]}, {"must_not": "leak secrets"}, {"never": ["share passwords"]}, {"guard": "redact"}, {"redact": "credentials"},
    {"security": "don\u2019t include credentials"}, {"security": "credentials must be redacted"}, {"security": "credentials not allowed"},
    {"security": "no tokens"}, {"security": "redact all passwords"}, {"security": "keine Passw\u00f6rter im Klartext"}, {"security": "keep credentials out"},
    {"credentials": "not in plain text"}, {"credential": "REDACTED"}, {"secrets": "mask"}, {"no-secrets": True},
]


@pytest.mark.parametrize("constraints", SPELLINGS, ids=json.dumps)
def test_no_spelling_of_the_constraint_switches_nothing_on(api, constraints):
    envelope = api.handoff(summary=f"use {SECRET}", constraints=constraints)
    assert envelope["guard"]["policy"] == "redact" and SECRET not in json.dumps(envelope) and "warnings" not in envelope
    assert envelope["locked"] == list(constraints)


@pytest.mark.parametrize("word", ["refuse", "Reject!", "prohibited", "forbidden", "deny", ["refuse"]])
def test_to_refuse_has_many_words(api, word):
    api.store("something, so that the space is there")
    api.refused("credentials_found", "POST", "/v1/envelopes", {"target_agent": "b", "task_summary": f"use {SECRET}", "constraints": {"credentials": word}})


@pytest.mark.parametrize("constraints,warned", [
    ({"security": "stay in the VPN"}, "constraints.security"), ({"Credentials": "careful"}, "constraints.Credentials"), ({"security": True}, "constraints.security"),
    ({"credentials": {"handle": "with care"}}, "constraints.credentials"), ({"security": "no plaintext credentials", "credentials": "refuze"}, "constraints.credentials"),
    ({"policy": "no plaintext credentials"}, "constraints.policy"), ({"rules": ["be kind", "no-plaintext-credentials"]}, "constraints.rules"),
    ({"Security Policy": {"text": "Never share passwords."}}, "constraints.Security Policy"), ({"passwords": "none"}, "constraints.passwords"),
    ({"creds": "redact"}, "constraints.creds"), ({"allow_plaintext_credentials": False}, "constraints.allow_plaintext_credentials"),
    ({"notes": "please redact all passwords"}, "constraints.notes"), ({"sicherheit": "keine Passw\u00f6rter"}, "constraints.sicherheit"),
    ({"notes": "credentials must be redacted"}, "constraints.notes"), ({"style": "passwords belong into the vault, and never into a handoff"}, "constraints.style"),
    ({"do_not": ["go on with a password that has expired"]}, "constraints.do_not"), ({"do_not": ["deploy on Friday"]}, None), ({"never": "force-push"}, None),
    ({"guard": "the gate"}, None), ({"max_tokens": 900, "notes": "no token limit"}, None),
    ({"no plaintext credentials": None}, "constraints.no plaintext credentials"), ({"no_plaintext_credentials": False}, None),
    ({"policy": "no plaintext credentials", "credentials": "redact"}, None), ({"password_rules": "at least 12 letters"}, None), ({"tokens": "none"}, None),
    ({"security": "no plaintext credentials"}, None), ({"credentials": "allowed"}, None), ({"tone": "secure"}, None), ({"credentials": "redact", "security": "stay in the VPN"}, None),
], ids=json.dumps)
def test_what_the_guard_does_not_understand_is_not_silent(api, constraints, warned):
    for answer in (api.handoff(constraints=constraints), api.call("POST", "/v1/handoffs", {"envelope": {"target_agent": "b", "task_summary": "go", "constraints": constraints}})[1]):
        told = [w for w in answer.get("warnings", []) if w["code"] == "constraint_not_understood"]
        assert [w["field"] for w in told] == ([warned] if warned else [])
        assert all("no plaintext credentials" in w["detail"] and "refuse" in w["detail"] for w in told)


GUARDED = {"credentials": "redact"}


@pytest.mark.parametrize("place,fields", [
    ("to", {"target_agent": f"x {SECRET}"}), ("from", {"from": SECRET}), ("task.id", {"task": f"fix-{SECRET}"}),
    ("constraints (a key)", {"constraints": {**GUARDED, SECRET: "is what to use"}}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_name_that_is_a_credential_is_refused_with_its_place(api, place, fields):
    api.store("something, so that the space is there")
    body = {"target_agent": "b", "task_summary": "go on", "constraints": GUARDED, **fields}
    problem = api.refused("credentials_found", "POST", "/v1/envelopes", body)
    assert problem["field"] == place and place in problem["detail"] and SECRET not in json.dumps(problem)
    assert SECRET not in json.dumps(api.ok("GET", "/v1/audit"))
    api.ok("POST", "/v1/envelopes", {**body, "constraints": {key: value for key, value in body["constraints"].items() if key != "credentials"}})


def test_keys_kinds_and_authors_are_redacted(api):
    memory = api.store("a plain text", kind=f"note-{SECRET}", agent=f"writer {SECRET}", pinned=True)
    envelope = api.handoff(constraints={**GUARDED, "deploy": {SECRET: 1, "other": {SECRET: "x"}}}, expected_output={SECRET: "a", SECRET[:-1] + "Z": "b", "ok": 1},
                           execution_history=[{"agent": SECRET, "action": "did", SECRET: True}], open_decisions=[f"rotate {SECRET}?"])
    text = json.dumps(envelope) + api.prompt(envelope)
    assert SECRET not in text and SECRET[:-1] not in text
    assert envelope["expected_output"] == {"ok": 1, "[redacted: github_token]": "a", "[redacted: github_token] 2": "b"}
    ref = next(ref for ref in envelope["memory"]["refs"] if ref["id"].startswith(memory["id"]))
    assert "[redacted: github_token]" in ref["kind"] and "[redacted: github_token]" in ref["agent"]
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}") == envelope
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
    resolved = api.ok("POST", f"/v1/envelopes/{envelope['id']}/resolve", {"ids": [memory["id"]]})
    assert SECRET not in json.dumps(resolved)


def taken(api, constraints):
    sent = api.call("POST", "/v1/handoffs", {"envelope": {"from": "a", "target_agent": "b", "task_summary": "go", "constraints": constraints}})[1]
    return sent["id"], api.ok("POST", "/v1/agents/b/receive", {})["handoffs"][0]["lease"]


@pytest.mark.parametrize("verb,said,place", [
    ("progress", {"note": f"logged in with {SECRET}"}, "note"), ("nack", {"reason": f"{SECRET} is refused"}, "reason"), ("reject", {"reason": f"{SECRET} is wrong"}, "reason"),
    ("ack", {"gaps": ["where", f"is {SECRET}?"]}, "gaps[1]"), ("complete", {"result": {"deploy": {"token": SECRET}}}, "result.deploy.token"),
    ("complete", {"result": f"use {SECRET}"}, "result"), ("complete", {"result": {SECRET: 1}, "remember": False}, "result"),
    ("complete", {"result": "done", "gaps": [SECRET]}, "gaps[0]"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_receiver_answers_is_guarded(api, verb, said, place):
    for constraints in ({"credentials": "refuse"}, GUARDED, {}):
        handoff, lease = taken(api, constraints)
        body = {"lease": lease, **said}
        if constraints.get("credentials") == "refuse":
            problem = api.refused("credentials_found", "POST", f"/v1/handoffs/{handoff}/{verb}", body)
            assert problem["field"] == place and SECRET not in json.dumps(problem)
            api.ok("POST", f"/v1/handoffs/{handoff}/complete", {"lease": lease, "result": "without"})
            continue
        api.ok("POST", f"/v1/handoffs/{handoff}/{verb}", body)
        if verb in ("ack", "complete"):
            api.ok("POST", f"/v1/handoffs/{handoff}/{verb}", body)
        seen = json.dumps([api.ok("GET", f"/v1/handoffs/{handoff}"), api.ok("GET", "/v1/audit"), api.ok("GET", "/v1/memories")])
        assert (SECRET in seen) is (not constraints)
        if verb in ("progress", "nack", "ack"):
            api.call("POST", f"/v1/handoffs/{handoff}/complete", {"lease": lease})
            again = api.ok("POST", "/v1/agents/b/receive", {})["handoffs"]
            assert not constraints or SECRET not in json.dumps(again)
            for one in again:
                api.ok("POST", f"/v1/handoffs/{one['id']}/complete", {"lease": one["lease"]})


def test_no_guarded_envelope_is_sent_to_a_name_that_is_a_credential(api):
    envelope, plain = api.handoff(constraints=GUARDED), api.handoff()
    named = f"room-{SECRET}"
    api.call("PUT", f"/v1/channels/{named}/subscribers/b")
    assert api.refused("credentials_found", "POST", "/v1/handoffs", {"envelope_id": envelope["id"], "to": named})["field"] == "to"
    assert api.refused("credentials_found", "POST", f"/v1/channels/{named}/publish", {"envelope_id": envelope["id"]})["field"] == "channel"
    assert api.refused("credentials_found", "POST", "/v1/channels/room/publish", {"envelope_id": envelope["id"], "receivers": [named]})["field"] == "receivers"
    assert api.call("POST", "/v1/handoffs", {"envelope_id": plain["id"], "to": named})[0] == 202


def test_a_large_answer_and_answers_beside_a_receive_are_guarded(api):
    large = "password: " * 20000 + f" {SECRET}"
    handoffs = [taken(api, GUARDED) for _ in range(3)]
    settle = [{"id": id, "verb": "complete", "lease": lease, "result": result} for (id, lease), result in zip(handoffs, ["small " + SECRET, large, SECRET])]
    answer = api.ok("POST", "/v1/agents/b/receive", {"settle": settle})
    assert [one["handoff"]["state"] for one in answer["settled"]] == ["completed"] * 3, answer["settled"]
    for handoff, _ in handoffs:
        result = api.ok("GET", f"/v1/handoffs/{handoff}")["result"]
        assert isinstance(result, str)
        assert SECRET not in result and "[redacted: github_token]" in result


WHY = f"{SECRET} has expired"


def queued(api, constraints):
    body = {"envelope": {"from": "a", "target_agent": "b", "task_summary": "go", "constraints": constraints, "include_recent": 0}}
    return api.call("POST", "/v1/handoffs", body)[1]["id"]


def parked(api, constraints):
    envelope = api.handoff(constraints=constraints)
    return api.ok("POST", f"/v1/envelopes/{envelope['id']}/park", {"reason": "later"}, status=201)["id"]


def test_the_other_names_that_a_guarded_envelope_meets_are_looked_at(api):
    envelope, plain = api.handoff(constraints=GUARDED), api.handoff()
    named = f"room-{SECRET}"
    body = {"envelope_id": envelope["id"], "to": "b", "fallbacks": ["c", named]}
    assert api.refused("credentials_found", "POST", "/v1/handoffs", body)["field"] == "fallbacks"
    new = {"envelope": {"target_agent": "b", "task_summary": "go", "constraints": GUARDED}, "fallbacks": [named]}
    assert api.refused("credentials_found", "POST", "/v1/handoffs", new)["field"] == "fallbacks"
    assert api.call("POST", "/v1/handoffs", {"envelope_id": envelope["id"], "to": "b"})[0] == 202
    assert api.call("POST", "/v1/handoffs", {"envelope_id": plain["id"], "to": "c", "fallbacks": [named]})[0] == 202
    (one,) = api.ok("POST", "/v1/agents/b/receive", {"instance": named})["handoffs"]
    assert one["receiver"] == "room-[redacted: github_token]" and SECRET not in json.dumps(api.ok("GET", f"/v1/handoffs/{one['id']}"))


@pytest.mark.parametrize("ready,path,fields", [
    (queued, "/v1/handoffs/{id}/cancel", {}), (parked, "/v1/parked/{id}/redrive", {}), (queued, "/v1/queued/cancel", {"ids": True}),
    (None, "/v1/envelopes/{id}/park", {}),
], ids=lambda value: value.replace("/", ".") if isinstance(value, str) else "")
def test_who_decided_it_is_guarded(api, ready, path, fields):
    for constraints in (GUARDED, {}):
        id = ready(api, constraints) if ready else api.handoff(constraints=constraints)["id"]
        body = {**fields, "why" if ready else "reason": "it is done", "by": f"kim {SECRET}"}
        if "ids" in body:
            body["ids"] = [id]
        done = api.call("POST", path.format(id=id), body)
        assert done[0] in (200, 201, 202) and not (done[1] or {}).get("refused"), done
        seen = json.dumps([done[1], api.ok("GET", "/v1/audit?page_size=1000"), api.ok("GET", "/v1/parked")])
        assert (SECRET in seen) is (not constraints), constraints


@pytest.mark.parametrize("ready,path,fields", [
    (queued, "/v1/handoffs/{id}/cancel", {}), (queued, "/v1/handoffs/{id}/move", {"to": "c"}),
    (parked, "/v1/parked/{id}/redrive", {}), (parked, "/v1/parked/{id}/reroute", {"to": "c"}), (parked, "/v1/parked/{id}/discard", {}),
    (queued, "/v1/queued/cancel", {"ids": True}), (parked, "/v1/parked/discard", {"ids": True}), (parked, "/v1/parked/redrive", {"ids": True}),
    (parked, "/v1/parked/reroute", {"ids": True, "reroute_to": "c"}),
], ids=lambda value: value.replace("/", ".") if isinstance(value, str) else "")
def test_why_something_was_decided_is_guarded(api, ready, path, fields):
    for constraints in ({"credentials": "refuse"}, GUARDED, {}):
        handoff = ready(api, constraints)
        body = {**fields, "why": WHY, "by": "kim"}
        if "ids" in body:
            body["ids"] = [handoff]
        if constraints.get("credentials") != "refuse":
            done = api.call("POST", path.format(id=handoff), body)
            assert done[0] in (200, 202) and not (done[1] or {}).get("refused"), done
        elif "ids" in body:
            refused = api.ok("POST", path, body)["refused"]
            assert [one["code"] for one in refused] == ["credentials_found"] and SECRET not in json.dumps(refused)
        else:
            problem = api.refused("credentials_found", "POST", path.format(id=handoff), body)
            assert problem["field"] == "why" and SECRET not in json.dumps(problem)
        seen = json.dumps([api.ok("GET", f"/v1/handoffs/{handoff}"), api.ok("GET", "/v1/audit?page_size=1000")])
        assert (SECRET in seen) is (not constraints), constraints


def test_why_something_is_parked_quarantined_or_waived_is_guarded(api):
    api.ok("PUT", "/v1/space", {"guard": "redact"})
    envelope = api.handoff(constraints={"region": "eu"}, task="guarded")
    api.ok("POST", f"/v1/envelopes/{envelope['id']}/park", {"reason": WHY}, status=201)
    memory = api.ok("POST", "/v1/memories", {"content": "x"}, status=201)
    api.ok("POST", "/v1/quarantine", {"ids": [memory["id"]], "why": WHY, "by": "kim"})
    waived = api.call("POST", "/v1/tasks/guarded/waive", {"key": "region", "reason": WHY}, **{"Spine-Person": "kim"})
    assert waived[0] in (200, 201), waived
    told = api.ok("GET", "/v1/audit?page_size=1000")["entries"]
    seen = json.dumps([told, api.ok("GET", "/v1/parked"), api.ok("GET", "/v1/tasks/guarded")])
    assert SECRET not in seen
    blanked = {one["action"] for one in told if "[redacted: github_token]" in (one["note"] or "")}
    assert blanked == {"handoff.park", "memory.quarantine", "constraint.waive"}, told
