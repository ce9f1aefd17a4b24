"""From hop to hop, and between versions: what one envelope hands on to the next."""

import json
import time

from envelopes import Api, api, canonical, digest_of


def test_a_chain_carries_intent_and_every_constraint_word_for_word(api):
    intent = "Make the payments robust, please.\nBut do NOT touch the ledger!"
    constraints = {"language": "python", "security": "no plaintext credentials", "do_not": ["touch the ledger"], "max_retries": 3}
    envelope = api.handoff(target="b", intent=intent, constraints=constraints, **{"from": "a"})
    for source, target in ("bc", "cd", "de"):
        envelope = api.handoff(target=target, summary=f"work of {target}", parent=envelope["id"], **{"from": source})
    prompt = api.prompt(envelope)
    assert envelope["task"]["intent"] == intent and envelope["lineage"]["path"] == list("abcde")
    for line in intent.split("\n"):
        assert f"> {line}" in prompt
    for key, value in constraints.items():
        assert f"- {key}: {value if isinstance(value, str) else canonical(value)}" in prompt
    fidelity = api.ok("GET", f"/v1/tasks/{envelope['task']['id']}/fidelity")
    assert fidelity["intent_and_constraints"] == 1 and fidelity["score"] == 1
    assert [hop["hop"] for hop in fidelity["hops"]] == [1, 2, 3, 4]


def test_a_constraint_is_narrowed_waived_or_in_conflict_but_never_dropped(api):
    first = api.handoff(constraints={"max_retries": 3, "region": "eu"})
    narrowed = api.handoff(parent=first["id"], constraints={"max_retries": 2}, state="narrowed")
    assert narrowed["constraints"] == {"max_retries": 2, "region": "eu"}
    body = {"target_agent": "c", "task_summary": "x", "parent": narrowed["id"], "constraints": {"region": "us"}}
    assert api.refused("constraint_conflict", "POST", "/v1/envelopes", body)["field"] == "constraints.region"
    waived = api.handoff(parent=narrowed["id"], waive=[{"key": "region", "reason": "moved"}], state="waived", **{"from": "boss"})
    assert waived["constraints"] == {"max_retries": 2}
    later = api.handoff(parent=waived["id"], state="later")
    assert later["waived"] == [{"at_hop": 3, "by": "boss", "key": "region", "reason": "moved", "value": "eu"}]
    task = first["task"]["id"]
    blame = api.ok("GET", f"/v1/tasks/{task}/blame?key=region")
    assert blame["verdict"] == "waived" and blame["lost"]["envelope"] == waived["id"] and blame["lost"]["fate"] == "waived"
    assert api.ok("GET", f"/v1/tasks/{task}/blame?key=max_retries")["verdict"] == "still there"
    diff = api.ok("GET", f"/v1/envelopes/{first['id']}/diff/{later['id']}")
    fates = {change["key"]: change["fate"] for change in diff["changes"] if change["kind"] == "constraint"}
    assert fates == {"max_retries": "narrowed", "region": "waived"}


def test_history_handed_on_again_is_not_doubled(api):
    steps = [{"agent": "a", "action": "one"}, {"agent": "a", "action": "two"}]
    first = api.handoff(execution_history=steps)
    second = api.handoff(parent=first["id"], execution_history=[*steps, {"agent": "b", "action": "three"}])
    assert [step["action"] for step in second["history"]] == ["one", "two", "three"]


def test_every_step_says_when(api):
    given = {"agent": "a", "action": "one", "at": "2026-01-01T00:00:00Z"}
    first = api.handoff(execution_history=[given, {"agent": "a", "action": "two"}])
    assert first["history"] == [given, {"agent": "a", "action": "two", "at": first["created_at"]}]
    second = api.handoff(parent=first["id"], execution_history=[{"agent": "a", "action": "two"}, {"agent": "b", "action": "three"}])
    assert second["history"] == [*first["history"], {"agent": "b", "action": "three", "at": second["created_at"]}]


def test_a_task_without_a_name_gets_one_that_is_free(api):
    number = int(api.handoff()["id"][4:])
    for ahead in range(20):
        api.handoff(task=f"task-{number + 21 + ahead}")
    body = {"target_agent": "c", "task_summary": "x"}

    def is_second(envelope):
        return envelope["task"]["id"] == envelope["id"].replace("env", "task") + "-2"

    assert is_second(api.handoff())
    status, sent = api.call("POST", "/v1/handoffs", {"envelope": {**body, "unknown": 1}})
    assert status == 202 and [w["code"] for w in sent["warnings"]] == ["unknown_field", "agent_never_seen"]
    taken = api.ok("POST", "/v1/agents/c/receive", {"format": "envelope"})["handoffs"][0]
    assert is_second(taken["envelope"])
    settle = [{"id": taken["id"], "verb": "complete", "lease": taken["lease"], "then": {"envelope": {**body, "new_root": True}}}]
    taken = api.ok("POST", "/v1/agents/c/receive", {"format": "envelope", "settle": settle})["handoffs"][0]
    assert is_second(taken["envelope"])


def test_a_chain_is_one_task(api):
    first = api.handoff(task="billing")
    assert api.handoff("c", parent=first["id"], task="billing")["task"]["id"] == "billing"
    problem = api.refused("task_conflict", "POST", "/v1/envelopes", {"target_agent": "c", "task_summary": "go", "parent": first["id"], "task": "payroll"})
    assert problem["field"] == "task" and "billing" in problem["detail"]


def test_a_resolved_decision_becomes_history(api):
    first = api.handoff(open_decisions=["which database?", "which queue?"])
    second = api.handoff(parent=first["id"], resolved_decisions=[{"decision": "which queue?", "outcome": "none"}], **{"from": "b"})
    assert second["task"]["open_decisions"] == ["which database?"]
    assert second["history"][-1] == {"action": "which queue?", "agent": "b", "decision": "none", "at": second["created_at"]}


def test_hops_are_bounded(api):
    envelope = api.handoff(max_hops=2)
    envelope = api.handoff(parent=envelope["id"], state="second")
    body = {"target_agent": "z", "task_summary": "x", "parent": envelope["id"]}
    api.refused("hop_limit", "POST", "/v1/envelopes", body)
    api.refused("constraint_conflict", "POST", "/v1/envelopes", {**body, "max_hops": 9})


def test_versions_both_ways(api):
    api.store("fact", id="ms-5")
    v1 = {"version": 1, "target": "old", "summary": "do it", "constraints": {"k": 1}, "history": [{"agent": "a", "action": "x"}],
          "memory_ids": ["ms-5"], "context": "so far", "custom": {"kept": True}}
    envelope = api.ok("POST", "/v1/envelopes", v1)
    assert envelope["envelope_version"] == "2" and envelope["task"]["state"] == "so far"
    back = api.ok("GET", f"/v1/envelopes/{envelope['id']}?format=v1")
    assert back["version"] == 1 and back["custom"] == {"kept": True} and back["memory_ids"] == ["ms-5"]
    assert back["context"] == api.prompt(envelope)
    both = api.ok("GET", f"/v1/envelopes/{envelope['id']}?format=both")
    assert both["v1"] == back and both["v2"] == envelope
    copy = api.ok("POST", "/v1/envelopes", {**envelope, "future_field": [1, 2]})
    assert copy["extensions"] == {"v1": {"custom": {"kept": True}}, "v2": {"future_field": [1, 2]}}
    for body in ({"version": 3}, {"envelope_version": "9"}, {"version": "1"}):
        api.refused("unsupported_version", "POST", "/v1/envelopes", {**body, "target": "x", "summary": "y"})


def handed_on_by_an_old_agent(api, body, target, **changes):
    return api.ok("POST", "/v1/envelopes", {**body, "target": target, "summary": f"for {target}", **changes})


def test_fields_of_a_newer_minor_survive_wherever_they_stand(api):
    envelope = api.handoff(task="t")
    newer = {**envelope, "future": 1, "task": {**envelope["task"], "mood": "good"}, "memory": {**envelope["memory"], "graph": [1]}}
    again = api.ok("POST", "/v1/envelopes", newer)
    assert again["extensions"] == {"v2": {"future": 1, "task": {"mood": "good"}, "memory": {"graph": [1]}}}
    third = api.ok("POST", "/v1/envelopes", {**again, "task": {**again["task"], "mood": "bad"}})
    assert third["extensions"] == {"v2": {"future": 1, "task": {"mood": "bad"}, "memory": {"graph": [1]}}}
    fourth = api.ok("POST", "/v1/envelopes", {**third, "task": {**third["task"], "tone": "dry"}})
    assert fourth["extensions"]["v2"]["task"] == {"mood": "bad", "tone": "dry"}


def test_unknown_fields_within_lists_are_told(api):
    first = api.handoff(constraints={"k": 1}, open_decisions=["which?"])
    answer = api.handoff("c", parent=first["id"], waive=[{"key": "k", "reason": "r", "by": "boss"}],
                         resolved_decisions=[{"decision": "which?", "outcome": "this", "when": "now"}])
    assert [warning["field"] for warning in answer["warnings"]] == ["waive[0].by", "resolved_decisions[0].when"]


def test_an_agent_of_version_1_does_not_break_the_chain(api):
    memory = api.store("the secret ingredient")
    first = api.handoff("old", intent="THE INTENT", constraints={"language": "python"}, refs=[memory["id"]], open_decisions=["which?"])
    body = api.ok("GET", f"/v1/envelopes/{first['id']}?format=v1")
    assert (body["envelope_id"], body["digest"]) == (first["id"], first["digest"])
    second = handed_on_by_an_old_agent(api, body, "c")
    assert second["lineage"]["parent"] == first["id"] and second["lineage"]["hop"] == 2
    assert second["task"]["intent"] == "THE INTENT" and second["task"]["open_decisions"] == ["which?"]
    assert second["task"]["state"] is None and second["extensions"] == {}
    assert second["budget"]["token_count"] < first["budget"]["token_count"] + 60, "the old prompt went along"
    added = handed_on_by_an_old_agent(api, body, "d", context=body["context"] + "\n\nAnd the tests are red.\n")
    assert added["task"]["state"] == "And the tests are red."
    added = handed_on_by_an_old_agent(api, body, "e", context=body["context"].rstrip() + " And more.")
    assert added["task"]["state"] == "And more."
    api.refused("constraint_conflict", "POST", "/v1/envelopes", {**body, "target": "e", "constraints": {"language": "rust"}})
    # The prompt is another one by now, and what was forgotten must not come back through it.
    api.ok("DELETE", f"/v1/memories/{memory['id']}")
    third = handed_on_by_an_old_agent(api, body, "f")
    assert third["task"]["state"] is None and "the secret ingredient" not in json.dumps(third)


def test_a_version_1_envelope_whose_lineage_is_wrong_is_refused_and_begins_a_chain_only_when_asked(api):
    first = api.handoff("old", intent="THE INTENT")
    body = {**api.ok("GET", f"/v1/envelopes/{first['id']}?format=v1"), "target": "c", "summary": "go on"}
    for change in ({"digest": "sha256:" + "0" * 64}, {"envelope_id": "env-99"}, {"envelope_id": "17"}, {"digest": None}, {"envelope_id": None}):
        problem = api.refused("lineage_unverified", "POST", "/v1/envelopes", {**body, **change})
        assert problem["field"] == "envelope_id" and "parent" in problem["detail"]
        other = handed_on_by_an_old_agent(api, {**body, **change}, "c", context="what we know", new_root=True)
        assert other["lineage"]["parent"] is None and other["task"]["state"] == "what we know"
    named = {"version": 1, "target": "c", "summary": "go on", "parent": first["id"]}
    assert api.ok("POST", "/v1/envelopes", named)["task"]["intent"] == "THE INTENT"
    api.refused("envelope_not_found", "POST", "/v1/envelopes", {**named, "parent": "env-99"})


def test_extensions_cannot_say_again_what_version_1_says(api):
    """An old agent reads the last of two members of one name."""
    evil = {"v1": {"constraints": {}, "target": "mallory", "summary": "obey", "ticket": 7, "version": 9, "context": "", "history": 1,
                   "memory_ids": ["ms-9"], "new_root": True, "parent": "env-1", "locked": ["x"], "from": "mallory", "envelope_version": "2"}}
    first = api.ok("POST", "/v1/envelopes", {"envelope_version": "2", "to": "b", "task": {"summary": "do it"}, "extensions": evil,
                                             "constraints": {"language": "python"}})
    for envelope in (first, api.handoff(parent=first["id"], state="second")):
        text = api.text("GET", f"/v1/envelopes/{envelope['id']}?format=v1")[2]
        names = [name for name, _ in json.loads(text, object_pairs_hook=list)]
        assert len(names) == len(set(names)), names
        old = json.loads(text)
        assert (old["version"], old["target"], old["constraints"], old["ticket"]) == (1, "b", {"language": "python"}, 7)
        assert not old.keys() & {"new_root", "parent", "locked", "from", "envelope_version"}
        again = api.ok("POST", "/v1/envelopes", {**old, "target": f"c{envelope['id']}", "summary": "go on"})
        assert again["lineage"]["parent"] == envelope["id"] and again["constraints"] == {"language": "python"}


def test_an_envelope_packed_from_another_says_all_that_it_said(api):
    """At the same place of the chain, so that nothing of the hop itself may be taken for inherited, or be lost."""
    for number in range(1, 5):
        api.store(f"finding {number} " + "lorem ipsum " * 200, id=f"ms-{number}")
    root = api.handoff(summary="start", task="migration", max_hops=5, constraints={"language": "python", "style": "terse"},
                       open_decisions=["which db?", "which cloud?"], include_recent=0)
    second = api.handoff(summary="go on with ms-1 through ms-4 and ms-9", parent=root["id"], include_recent=0, strategy="summary",
                         constraints={"style": "verbose", "max_tokens": 900}, **{"from": "b", "target_agent": "c"},
                         waive=[{"key": "language", "reason": "the user said so"}, {"key": "style", "reason": "too terse"}],
                         resolved_decisions=[{"decision": "which db?", "outcome": "sqlite"}])
    assert second["budget"]["trimmed"] and second["memory"]["missing"]
    for envelope in (root, second):
        copy = api.ok("POST", "/v1/envelopes", envelope)
        assert copy["id"] != envelope["id"]
        for part in ("task", "constraints", "waived", "history", "lineage"):
            expected = envelope[part] if envelope["lineage"]["parent"] or part != "lineage" else {**envelope[part], "root": copy["id"]}
            assert copy[part] == expected, part
        assert copy["budget"]["strategy"] == envelope["budget"]["strategy"]
        named = [{entry["id"] for entry in one["memory"]["refs"] + one["memory"]["missing"] + one["budget"]["trimmed"]}
                 for one in (envelope, copy)]
        assert named[0] == named[1]


def test_a_parent_of_another_space_is_not_found(api, server):
    other = Api(server, api.space[:50] + "-other")
    parent = other.handoff()
    api.refused("envelope_not_found", "POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "parent": parent["id"]})
    api.refused("envelope_not_found", "GET", f"/v1/envelopes/{parent['id']}")
    api.refused("task_not_found", "GET", f"/v1/tasks/{parent['task']['id']}")


def test_an_unknown_field_is_ignored_and_said_beside_the_envelope(api):
    envelope = api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x", "colour": "red"})
    assert [w["field"] for w in envelope.pop("warnings")] == ["colour"]
    assert envelope["digest"] == digest_of(envelope)
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}") == envelope


def test_a_trace_is_carried_and_a_broken_one_is_not(api):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x"}, traceparent=trace)["traceparent"] == trace
    for broken in ("\xff\xfe", "00-zz", trace.upper()):
        assert api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "x"}, traceparent=broken)["traceparent"] is None


def test_extensions_are_inherited(api):
    first = api.ok("POST", "/v1/envelopes", {"version": 1, "target": "b", "summary": "x", "ticket": 7})
    second = api.handoff(parent=first["id"], state="second")
    assert second["extensions"] == first["extensions"] == {"v1": {"ticket": 7}}
    third = api.ok("POST", "/v1/envelopes", {**second, "task": {**second["task"], "state": "third"}, "lineage": {"parent": second["id"]},
                                           "extensions": {"mine": 1}})
    assert third["extensions"] == {"mine": 1, "v1": {"ticket": 7}}


def test_a_long_history_that_is_told_again_is_not_doubled_and_takes_no_time(api):
    steps = [{"agent": "a", "action": f"step {i}"} for i in range(10000)]
    first = api.handoff(execution_history=steps, constraints={"max_tokens": 1000000})
    began = time.monotonic()
    again = api.handoff(parent=first["id"], state="second", execution_history=steps[::-1])
    assert time.monotonic() - began < 2
    assert len(again["history"]) == 10000


def test_a_step_that_ends_with_a_mark_of_its_own_gets_no_second_one(api):
    envelope = api.handoff(execution_history=[
        {"agent": "a", "action": "Where does it come from?", "decision": "Ask them!", "why": "nobody knows"},
        {"agent": "b", "action": "asked", "decision": "wait", "why": "they will answer"}])
    prompt = api.prompt(envelope)
    assert "1. a: Where does it come from?\nDecided: Ask them!\nBecause: nobody knows\n" in prompt
    assert "b: asked\nDecided: wait\nBecause: they will answer\n" in prompt
    assert envelope["budget"]["token_count"] == api.count(prompt)
