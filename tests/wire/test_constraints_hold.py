"""A constraint that was set holds: it is locked, narrowed, waived by name, never lost; and no hop falls out of its chain."""
import concurrent.futures
import json

import pytest

from api import wait_until
from delivery import Desk
from envelopes import Api, api  # noqa: F401

SECURE = {"security": "no plaintext credentials"}


def waive(api, task, key, reason="legal said so", person="kim", code=None, **headers):
    path, body = f"/v1/tasks/{task}/waive", {"key": key, "reason": reason}
    if person:
        headers["Spine-Person"] = person
    return api.refused(code, "POST", path, body, **headers) if code else api.ok("POST", path, body, **headers)


def told(api, kind):
    return [event for event in api.ok("GET", "/v1/events?after=0", Accept="application/json")["events"] if event["type"].endswith(kind)]


def pack(api, code=None, status=409, **fields):
    body = {"target_agent": "c", "task_summary": "go on", **fields}
    return api.refused(code, "POST", "/v1/envelopes", body) if code else api.ok("POST", "/v1/envelopes", body)


# --- Locks ---


def test_what_is_locked_is_inherited_narrowed_and_waived_by_no_agent(api):
    root = api.handoff(constraints={"max_retries": 3, "style": "terse"}, locked=["max_retries"])
    assert root["locked"] == ["max_retries"]
    assert "max_retries: 3 (locked" in api.prompt(root)
    child = pack(api, parent=root["id"], constraints={"max_retries": 2})
    assert child["locked"] == ["max_retries"] and child["constraints"]["max_retries"] == 2
    problem = pack(api, "constraint_locked", parent=child["id"], waive=[{"key": "max_retries", "reason": "in the way"}])
    assert problem["field"] == "waive[0].key" and f"spine waive {root['task']['id']} 'max_retries'" in problem["detail"]
    problem = pack(api, "constraint_conflict", parent=child["id"], constraints={"max_retries": 9})
    assert "locked" in problem["detail"]
    later = pack(api, parent=child["id"], waive=[{"key": "style", "reason": "asked for"}], locked=[], target_agent="d")
    assert later["locked"] == ["max_retries"] and "style" not in later["constraints"]
    for envelope in (root, child, later):
        assert api.ok("GET", f"/v1/envelopes/{envelope['id']}") == envelope
        assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
    assert "locked" not in api.handoff(constraints={"a": 1})


def test_a_lock_names_a_constraint_that_is_there(api):
    for locked, field in ((["b"], "locked[0]"), (["max_tokens"], "locked[0]")):
        assert pack(api, "invalid_field", constraints={"a": 1, "max_tokens": 900}, locked=locked)["field"] == field
    root = pack(api, constraints={"a": 1})
    assert pack(api, parent=root["id"], target_agent="d", locked=["a"])["locked"] == ["a"]


@pytest.mark.parametrize("constraints", [SECURE, {"Security": ["No Plaintext Credentials"]}, {"credentials": "redact"}, {"CREDENTIALS": "refuse"}])
def test_what_the_guard_reads_is_always_locked(api, constraints):
    (key,) = constraints
    root = api.handoff(constraints=constraints)
    assert root["locked"] == [key]
    pack(api, "constraint_locked", parent=root["id"], waive=[{"key": key, "reason": "it is in the way"}])


def test_the_space_locks_by_its_policy(api):
    before = pack(api, constraints={"Region": "eu"})
    assert api.ok("PUT", "/v1/space", {"guard": "redact"})["locked"] == []
    assert api.ok("PUT", "/v1/space", {"locked": ["region"]}) == api.ok("GET", "/v1/space")
    assert api.ok("GET", "/v1/space")["guard"] == "redact", "what is not said stays"
    assert api.ok("PUT", "/v1/space", {"guard": "off"})["locked"] == ["region"]
    root = api.handoff(constraints={"region": "eu"})
    assert root["locked"] == ["region"]
    for parent, key in ((before, "Region"), (root, "region")):
        pack(api, "constraint_locked", parent=parent["id"], target_agent="z", waive=[{"key": key, "reason": "moved"}])
    # It was sealed: the policy may change, the lock does not.
    assert api.ok("PUT", "/v1/space", {"locked": []})["locked"] == []
    pack(api, "constraint_locked", parent=root["id"], waive=[{"key": "region", "reason": "moved"}])
    assert "locked" not in api.handoff(constraints={"region": "eu"})


# --- Persons ---


def test_a_person_waives_for_the_task_and_the_next_hop_of_each_line_goes_without(api):
    root = api.handoff(constraints={"max_retries": 3, "region": "eu"}, locked=["max_retries"], task="t")
    held = pack(api, parent=root["id"])
    answer = waive(api, "t", "max_retries")
    assert (answer["key"], answer["value"], answer["by"], answer["unauthenticated"], answer["envelope"]) == ("max_retries", 3, "kim", True, held["id"])
    assert api.ok("GET", f"/v1/envelopes/{held['id']}") == held, "what is there stays as it is"
    entry = {"at_hop": 3, "by": "kim", "key": "max_retries", "reason": "legal said so", "unauthenticated": True, "value": 3, "waiver": answer["waiver"]}
    # Agents hand on what they got, lock and all.
    after = pack(api, parent=held["id"], target_agent="d", constraints={"max_retries": 3, "region": "eu"})
    assert after["constraints"] == {"region": "eu"} and after["waived"] == [entry] and "locked" not in after
    other = pack(api, parent=root["id"], target_agent="e")
    assert other["waived"] == [{**entry, "at_hop": 2}]
    # Once: who sets it anew has set it.
    anew = pack(api, parent=after["id"], target_agent="f", constraints={"max_retries": 5})
    assert pack(api, parent=anew["id"], target_agent="g")["constraints"] == {"max_retries": 5, "region": "eu"}
    blame = api.ok("GET", "/v1/tasks/t/blame?key=max_retries")
    assert (blame["verdict"], blame["lost"]["by"], blame["lost"]["unauthenticated"]) == ("waived", "kim", True)


def test_a_waiver_of_a_person_is_told(api):
    api.handoff(constraints={"region": "eu"}, task="t")
    waive(api, "t", "region")
    (event,) = told(api, "constraint.waived")
    assert event["data"]["actor"] == "kim" and event["data"]["note"].startswith("region: legal said so") and "unauthenticated" in event["data"]["note"]
    (entry,) = [entry for entry in api.ok("GET", "/v1/audit")["entries"] if entry["action"] == "constraint.waive"]
    assert entry["actor"] == "kim"


def test_a_task_tells_what_was_waived_for_it_before_the_next_hop_does(api):
    root = api.handoff(constraints={"region": "eu", "a": 1}, task="t")
    assert api.ok("GET", "/v1/tasks/t")["waivers"] == []
    answers = [waive(api, "t", key) for key in ("region", "a")]
    names = ("waiver", "key", "reason", "by", "unauthenticated", "at")
    wanted = [{name: answer[name] for name in names} for answer in answers]
    for query in ("", "?page_size=1"):
        told = api.ok("GET", f"/v1/tasks/t{query}")
        assert told["waivers"] == wanted and told["newest"] == root["id"]
    after = pack(api, parent=root["id"], target_agent="d")
    told = api.ok("GET", "/v1/tasks/t?page_size=1")
    assert (told["waivers"], told["newest"], len(told["envelopes"])) == (wanted, after["id"], 1)
    api.handoff(constraints={"region": "eu"}, task="other")
    assert api.ok("GET", "/v1/tasks/other")["waivers"] == []


def test_an_agent_is_no_person(api):
    api.handoff(constraints=SECURE, task="t")
    problem = waive(api, "t", "security", person=None, code="person_required", **{"Spine-Agent": "coder"})
    assert problem["status"] == 403 and "spine waive" in problem["detail"]
    waive(api, "none", "security", code="task_not_found")
    assert '"security"' in waive(api, "t", "Security", code="invalid_field")["detail"]
    waive(api, "t", "max_tokens", code="invalid_field")
    for blank in ("", " ", "\u200b", "\u3164\u00a0"):
        waive(api, "t", "security", blank, code="missing_field" if blank else "invalid_field")
    waive(api, "t", "security", person="\u200b".encode(), code="person_required")
    assert told(api, "constraint.waived") == []


# --- Waivers ---


def test_every_waiver_is_an_event_with_the_caller_as_its_author(api):
    root = api.handoff(constraints={"a": 1, "b": 2})
    body = {"target_agent": "c", "task_summary": "go on", "parent": root["id"], "from": "boss", "waive": [{"key": "a", "reason": "why not", "by": "boss"}]}
    child = api.ok("POST", "/v1/envelopes", body, **{"Spine-Agent": "coder"})
    assert [waiver["by"] for waiver in child["waived"]] == ["coder"]
    (event,) = told(api, "constraint.waived")
    assert (event["data"]["actor"], event["data"]["note"], event["subject"]) == ("coder", "a: why not", child["id"])
    pack(api, parent=child["id"], target_agent="d")
    assert len(told(api, "constraint.waived")) == 1, "what is inherited is not told again"
    whole = {**child, "to": "e", "waived": child["waived"] + [{"at_hop": 2, "by": "the president", "key": "b", "reason": "so", "value": 2}]}
    copy = api.ok("POST", "/v1/envelopes", whole, **{"Spine-Agent": "coder"})
    assert [waiver["by"] for waiver in copy["waived"]] == ["coder", "coder"]


def test_a_waiver_lowers_the_fidelity_and_is_told_from_what_was_lost(api):
    root = api.handoff(constraints={"a": 1, "b": 2, "c": 3, "d": 4}, task="t")
    pack(api, parent=root["id"], waive=[{"key": "a", "reason": "why not"}])
    fidelity = api.ok("GET", "/v1/tasks/t/fidelity")
    assert fidelity["intent_and_constraints"] == 0.75
    hop = fidelity["hops"][1]
    assert (hop["kept"], hop["waived"], hop["total"]) == (3, 1, 4)
    assert api.ok("GET", "/v1/tasks/t/blame?key=b")["verdict"] == "still there"


@pytest.mark.parametrize("reason", [" ", "\u200b", "\u2060\u00ad", "\u3164", "\n\t"])
def test_a_reason_can_be_read(api, reason):
    root = api.handoff(constraints={"a": 1})
    assert pack(api, "missing_field", parent=root["id"], waive=[{"key": "a", "reason": reason}])["field"] == "waive[0].reason"


# --- Keys ---


@pytest.mark.parametrize("key", ["MAX_RETRIES", "m\u0430x_retries", "max_retries ", "max_\u200bretries", "\uff4dax_retries", "max_retries\u00ad"])
def test_a_key_that_looks_like_an_inherited_one_is_a_conflict(api, key):
    root = api.handoff(constraints={"max_retries": 3})
    problem = pack(api, "constraint_conflict", parent=root["id"], constraints={key: 99})
    assert "max_retries" in problem["detail"]
    pack(api, "constraint_conflict", constraints={"max_retries": 3, key: 3})


@pytest.mark.parametrize("key", ["max_retries\u0000", "a\u0001", "\u0085", "\u200b"])
def test_a_key_can_be_read(api, key):
    pack(api, "invalid_field", constraints={key: 1})


def test_a_maximum_is_not_narrowed_below_nothing(api):
    root = api.handoff(constraints={"max_retries": 3})
    pack(api, "constraint_conflict", parent=root["id"], constraints={"max_retries": -1})
    assert pack(api, parent=root["id"], constraints={"max_retries": 0})["constraints"] == {"max_retries": 0}


# --- Chains ---

RULES = {"intent": "the words", "constraints": {"region": "eu"}, "task": "t"}


@pytest.fixture
def desk(api, server):
    return Desk(server.address, api.space)


def test_a_hop_that_names_its_task_alone_goes_on_from_what_it_holds(api, desk):
    root = api.handoff("b", **RULES)
    wide = [api.handoff(agent, f"for {agent}", parent=root["id"])["id"] for agent in ("c", "d")]
    for envelope in wide:
        desk.deliver(envelope, 202)
    got = desk.take("c")
    for acked in (False, True):
        if acked:
            desk.settle("ack", got)
        child = pack(api, task="t", target_agent=f"x{acked}", **{"from": "c"})
        assert child["lineage"]["parent"] == wide[0] and child["task"]["intent"] == "the words" and child["constraints"] == {"region": "eu"}
    desk.settle("complete", got, result="done")
    problem = pack(api, "parent_unclear", task="t", target_agent="z", **{"from": "c"})
    assert problem["field"] == "parent" and wide[1] in problem["detail"] and "new_root" in problem["detail"]


def test_a_hop_that_holds_nothing_goes_on_from_the_end_of_the_chain(api):
    api.handoff("b", **RULES)
    for number in range(3):
        child = pack(api, task="t", target_agent=f"a{number}")
        assert child["lineage"]["hop"] == number + 2 and child["constraints"] == {"region": "eu"} and child["task"]["intent"] == "the words"
    assert api.ok("GET", "/v1/tasks/t/fidelity")["score"] == 1


def test_whoever_holds_several_ends_must_say_which(api, desk):
    root = api.handoff("b", **RULES)
    ends = [api.handoff("c", f"part {number}", parent=root["id"])["id"] for number in range(2)]
    for envelope in ends:
        desk.deliver(envelope, 202)
        desk.take("c")
    problem = pack(api, "parent_unclear", task="t", target_agent="d", **{"from": "c"})
    assert "you hold several" in problem["detail"] and all(envelope in problem["detail"] for envelope in ends)
    pack(api, parent=ends[1], target_agent="d", **{"from": "c"})


def test_a_second_root_is_made_by_asking_and_told_apart(api):
    api.handoff("b", **RULES)
    second = pack(api, task="t", new_root=True)
    assert second["lineage"]["parent"] is None and second["constraints"] == {}
    fidelity = api.ok("GET", "/v1/tasks/t/fidelity")
    assert fidelity["score"] == fidelity["intent_and_constraints"] == 0
    assert [hop.get("new_root") for hop in fidelity["hops"]] == [None, True]
    assert fidelity["hops"][1]["against_root"]["intent_and_constraints"] == 0
    blame = api.ok("GET", "/v1/tasks/t/blame?key=region")
    assert (blame["verdict"], blame["lost"]["envelope"]) == ("left behind", second["id"])
    pack(api, "invalid_field", parent=second["id"], new_root=True)


def test_two_that_begin_a_task_at_once_do_not_both(api, server):
    def begin(number):
        return Api(server, api.space).call("POST", "/v1/envelopes", {"target_agent": f"a{number}", "task_summary": f"part {number}", "task": "t", "include_recent": 0})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(begin, range(24)))
    made = [answer for status, answer in answers if status == 201]
    assert sum(envelope["lineage"]["parent"] is None for envelope in made) == 1
    assert {answer["code"] for status, answer in answers if status != 201} <= {"parent_unclear", "hop_limit"}


def test_a_task_that_somebody_named_ahead_is_not_fallen_into(api):
    first = api.handoff()
    number = int(first["id"].split("-")[1])
    api.handoff("b", task=f"task-{number + 2}", constraints={"a": 1})
    third = api.handoff("b")
    assert third["lineage"]["parent"] is None and third["task"]["id"] == f"task-{number + 2}-2"


def test_a_whole_envelope_says_where_it_belongs_or_is_refused(api):
    root = api.handoff("b", **RULES)
    child = pack(api, parent=root["id"], constraints={"tone": "dry"}, target_agent="c")
    cut = {**child, "to": "z", "constraints": {}, "task": {**child["task"], "intent": None}}
    for change in ({"lineage": {}}, {"lineage": None}, {"lineage": {**child["lineage"], "parent": None}}, {"digest": "sha256:" + "0" * 64}, {"digest": None},
                   {"id": None}, {"id": "env-99"}, {"lineage": {**child["lineage"], "parent_digest": child["digest"]}},
                   {"id": None, "digest": None, "lineage": {**child["lineage"], "parent": None}}):
        api.refused("lineage_unverified", "POST", "/v1/envelopes", {**cut, **change})
    # Where it stays in its place, what its own hop has said stays, too.
    copy = api.ok("POST", "/v1/envelopes", cut)
    assert copy["constraints"] == {"region": "eu", "tone": "dry"} and copy["task"]["intent"] == "the words"
    assert copy["lineage"]["parent"] == root["id"]
    on = api.ok("POST", "/v1/envelopes", {**cut, "lineage": {"parent": child["id"]}, "to": "y"})
    assert on["lineage"]["parent"] == child["id"] and on["constraints"] == {"region": "eu", "tone": "dry"}
    # Without a word about itself it is a hop of its task.
    bare = {key: value for key, value in cut.items() if key not in ("id", "digest", "lineage")}
    api.refused("parent_unclear", "POST", "/v1/envelopes", {**bare, "to": "x"})
    api.refused("intent_conflict", "POST", "/v1/envelopes", {**cut, "task": {**cut["task"], "intent": "other words"}})


def test_an_inline_envelope_is_held_to_the_same(api):
    root = api.handoff("b", constraints=SECURE, task="t")
    for code, envelope in (("constraint_locked", {"target_agent": "c", "task_summary": "x", "parent": root["id"], "waive": [{"key": "security", "reason": "no"}]}),
                           ("lineage_unverified", {**root, "digest": "sha256:" + "1" * 64}),
                           ("constraint_conflict", {"target_agent": "c", "task_summary": "x", "task": "t", "constraints": {"SECURITY": "none"}})):
        api.refused(code, "POST", "/v1/handoffs", {"envelope": envelope})
    sent = api.call("POST", "/v1/handoffs", {"envelope": {"target_agent": "c", "task_summary": "x", "task": "t"}})[1]
    assert api.ok("GET", f"/v1/envelopes/{sent['envelope_id']}")["constraints"] == SECURE


def test_shrinking_keeps_constraints_locks_and_waivers(api, desk):
    api.store("news " * 600, id="ms-1")
    root = api.handoff("b", constraints={"region": "eu", "tone": "dry", **SECURE}, locked=["region"], task="t")
    child = pack(api, parent=root["id"], refs=["ms-1"], waive=[{"key": "tone", "reason": "asked for"}], constraints={"late": 1}, locked=["late"], **{"from": "b"})
    # What is locked since does not undo what was waived before.
    api.ok("PUT", "/v1/space", {"locked": ["tone"]})
    for envelope in (root, child):
        handoff = desk.deliver(envelope["id"], 202).json
        desk.settle("reject", desk.take(envelope["to"]), reason="too much")
        made = desk.ok("POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 700}, status=201)["envelope_id"]
        small = api.ok("GET", f"/v1/envelopes/{made}")
        assert {**small["constraints"], "max_tokens": 0} == {**envelope["constraints"], "max_tokens": 0}
        assert (set(small["locked"]) - {"tone"}, small["waived"]) == (set(envelope["locked"]), envelope["waived"])
        assert small["lineage"]["parent"] == envelope["lineage"]["parent"]


def test_waivers_and_refusals_fire_alerts(start):
    server = start("--alert-window", "1m").wait_until_ready()
    api = Api(server, "default")
    root = api.handoff("b", "go", constraints={"a": 1}, **{"from": "a"})
    api.refused("loop", "POST", "/v1/envelopes", {"from": "b", "target_agent": "a", "task_summary": "go", "parent": root["id"], "include_recent": 0})
    pack(api, parent=root["id"], waive=[{"key": "a", "reason": "asked for"}])
    wanted = {("envelope_refused", "warning", "a"), ("constraint_waived", "info", None)}

    def firing():
        return {(alert["name"], alert["severity"], alert["agent"]) for alert in api.ok("GET", "/v1/alerts")["alerts"]}

    wait_until(lambda: firing() >= wanted, "both fire")
    assert json.dumps(api.ok("GET", "/v1/alerts")).count("1 constraint was waived in the last 1m") == 1


# --- An older hop as the parent ---


def hop(api, sender, to, code=None, summary=None, **fields):
    return pack(api, code, **{"from": sender}, target_agent=to, task_summary=summary or f"{sender} to {to}", **fields)


def chain(api, **added):
    """boss -> planner -> coder, where the planner adds something."""
    root = hop(api, "boss", "planner", constraints={"max_retries": 5, "region": "eu"}, task="t")
    return root, hop(api, "planner", "coder", parent=root["id"], **added)


def held(envelope):
    return {warning["field"] for warning in envelope.get("warnings", []) if warning["code"] == "constraint_holds"}


@pytest.mark.parametrize("way", ["parent", "header", "v1", "v2", "far"])
def test_who_goes_back_to_an_older_hop_is_not_rid_of_what_was_set_since(api, way):
    root, child = chain(api, constraints={"do_not": ["touch main"], "region": "eu"})
    if way == "parent":
        escape = hop(api, "coder", "x", parent=root["id"])
    elif way == "header":
        body = {"from": "nobody", "target_agent": "x", "task_summary": "go", "parent": root["id"]}
        escape = api.ok("POST", "/v1/envelopes", body, **{"Spine-Agent": "coder"})
    elif way == "v1":
        v1 = api.ok("GET", f"/v1/envelopes/{root['id']}?format=v1")
        escape = api.ok("POST", "/v1/envelopes", {**v1, "target": "x", "summary": "go"}, **{"Spine-Agent": "coder"})
    elif way == "v2":
        escape = api.ok("POST", "/v1/envelopes", {**root, "to": "x"}, **{"Spine-Agent": "coder"})
    else:
        last = hop(api, "coder", "tester", parent=child["id"], constraints={"licence": "MIT"})
        hop(api, "tester", "coder", parent=last["id"], constraints={"coverage_min": 80})
        escape = hop(api, "coder", "x", parent=root["id"])
    assert escape["constraints"]["do_not"] == ["touch main"] and "constraints.do_not" in held(escape)
    if way == "far":
        assert escape["constraints"]["coverage_min"] == 80
        assert "licence" not in escape["constraints"], "its own, for that branch"
    assert api.ok("GET", f"/v1/envelopes/{escape['id']}/verify")["verdict"] == "intact"


def test_an_old_envelope_that_is_sent_back_does_not_widen_what_was_narrowed_since(api):
    root, child = chain(api, constraints={"max_retries": 2})
    assert hop(api, "coder", "x", parent=root["id"])["constraints"]["max_retries"] == 2
    v1 = api.ok("GET", f"/v1/envelopes/{root['id']}?format=v1")
    for body in ({**v1, "target": "x", "summary": "go"}, {**root, "to": "x"}):
        problem = api.refused("constraint_conflict", "POST", "/v1/envelopes", body, **{"Spine-Agent": "coder"})
        assert problem["field"] == "constraints.max_retries"


def test_what_holds_so_is_narrowed_waived_and_contradicted_as_what_is_inherited(api):
    root, child = chain(api, constraints={"style": "terse", "max_retries": 2}, locked=["max_retries", "region"])
    problem = hop(api, "coder", "x", "constraint_conflict", parent=root["id"], constraints={"style": "long"})
    assert problem["field"] == "constraints.style"
    hop(api, "coder", "x", "constraint_conflict", parent=root["id"], constraints={"max_retries": 4})
    for key in ("max_retries", "region"):  # region was locked later: the lock holds, too
        hop(api, "coder", "x", "constraint_locked", parent=root["id"], waive=[{"key": key, "reason": "in the way"}])
    waived = hop(api, "coder", "x", parent=root["id"], waive=[{"key": "style", "reason": "asked for"}], constraints={"max_retries": 1})
    assert "style" not in waived["constraints"] and waived["constraints"]["max_retries"] == 1
    assert [(entry["key"], entry["by"]) for entry in waived["waived"]] == [("style", "coder")]
    assert waived["locked"] == ["max_retries", "region"]


def test_what_was_waived_on_the_way_does_not_come_back(api):
    root, child = chain(api, constraints={"style": "terse"})
    later = hop(api, "coder", "tester", parent=child["id"], waive=[{"key": "style", "reason": "asked for"}])
    hop(api, "tester", "coder", parent=later["id"])
    assert "style" not in hop(api, "coder", "x", parent=root["id"])["constraints"]


def test_branches_live_side_by_side(api):
    root = hop(api, "boss", "lead", constraints={"region": "eu"}, task="t")
    for worker, lang in (("one", "python"), ("two", "go")):
        branch = hop(api, "lead", worker, parent=root["id"], constraints={"lang": lang})
        assert branch["constraints"] == {"region": "eu", "lang": lang} and not held(branch)
        # It comes back, with what the lead had said for that branch, and the lead fans out again.
        hop(api, worker, "lead", parent=branch["id"])
    third = hop(api, "lead", "three", parent=root["id"], constraints={"lang": "c"})
    assert third["constraints"] == {"region": "eu", "lang": "c"} and not held(third)
    # What the other branch was told is no matter to a worker who goes on from its own.
    assert hop(api, "two", "three", parent=branch["id"])["constraints"]["lang"] == "go"


def test_two_branches_that_disagree_are_named_and_can_be_waived(api):
    root = hop(api, "boss", "lead", task="t")
    one, two = (hop(api, "lead", worker, parent=root["id"]) for worker in ("one", "two"))
    back = [hop(api, "one", "lead", parent=one["id"], constraints={"lang": "python"})]
    back.append(hop(api, "two", "lead", parent=two["id"], constraints={"lang": "go"}))
    problem = hop(api, "lead", "three", "constraint_conflict", parent=root["id"])
    assert problem["field"] == "parent" and all(one["id"] in problem["detail"] for one in back) and '"lang"' in problem["detail"]
    assert hop(api, "lead", "three", parent=back[0]["id"])["constraints"] == {"lang": "python"}
    both = hop(api, "lead", "three", parent=root["id"], waive=[{"key": "lang", "reason": "a third branch"}], constraints={"lang": "c"})
    assert both["constraints"] == {"lang": "c"}


def test_only_what_was_taken_was_given(desk):
    root = desk.pack("lead", task="t", constraints={"region": "eu"})
    desk.deliver(root, 202)
    desk.take("lead")
    branch = desk.pack("one", **{"from": "lead"}, parent=root)
    back = desk.pack("lead", "done", **{"from": "one"}, parent=branch, constraints={"style": "terse"})
    desk.deliver(back, 202)

    def fan_out(to):
        return desk.ok("POST", "/v1/envelopes", {"from": "lead", "target_agent": to, "task_summary": f"for {to}", "parent": root}, status=201)

    assert "style" not in fan_out("two")["constraints"], "it waits in the queue: the lead has not seen it"
    got = desk.take("lead")
    assert fan_out("three")["constraints"]["style"] == "terse"
    desk.settle("complete", got)
    assert fan_out("four")["constraints"]["style"] == "terse"


def test_handing_on_with_a_settling_from_an_older_hop_holds_too(desk):
    root = desk.pack("planner", task="t")
    child = desk.pack("coder", **{"from": "planner"}, parent=root, constraints={"do_not": ["touch main"]})
    desk.deliver(child, 202)
    got = desk.take("coder")
    done = desk.settle("complete", got, then={"envelope": {"target_agent": "x", "task_summary": "go", "parent": root}})
    assert desk.ok("GET", f"/v1/envelopes/{done['then']['envelope_id']}")["constraints"] == {"do_not": ["touch main"]}


def test_review_loops_sending_again_and_what_a_person_mends_go_on_as_before(desk):
    sent = [desk.pack("coder", task="t", constraints={"region": "eu"})]
    for round in range(3):
        for sender, to in (("coder", "reviewer"), ("reviewer", "coder")):
            sent.append(desk.pack(to, f"{sender}, round {round}", **{"from": sender}, parent=sent[-1], constraints={f"{sender}_{round}": 1}))
    assert len(desk.ok("GET", f"/v1/envelopes/{sent[-1]}")["constraints"]) == 7
    # The first one is sent again, parked, shrunk and redriven, though its receiver was given later ones.
    handoff = desk.deliver(sent[1], 202).json
    assert desk.deliver(sent[1], 202).json["id"] == handoff["id"]
    desk.settle("reject", desk.take("reviewer"), reason="too large")
    shrunk = desk.ok("POST", f"/v1/parked/{handoff['id']}/shrink", {"max_tokens": 700}, status=201)
    envelope = desk.ok("GET", f"/v1/envelopes/{shrunk['envelope_id']}")
    assert set(envelope["constraints"]) == {"region", "coder_0", "max_tokens"}
