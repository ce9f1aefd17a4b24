"""What an envelope was chosen from: recorded when it was packed, and answered by GET /v1/envelopes/{id}/considered."""

import contextlib

import pytest

from database import connect as open_database
from database import unprotected
from envelopes import Api, api  # noqa: F401
from server import Server

FLOOR = 0.077
QUESTION = "what makes turbine blades corrode"
# One word of the question among many others: hardly anything to do with it.
ASIDE = "hats, shoes, gloves, coats, letters, forms, stamps, trains, hotels, invoices, pencils, ladders and one blade"


def considered(api, envelope):
    return api.ok("GET", f"/v1/envelopes/{envelope['id']}/considered")


def by_id(answer):
    assert len({item["id"] for item in answer["considered"]}) == len(answer["considered"])
    return {item["id"]: item for item in answer["considered"]}


@contextlib.contextmanager
def running(data):
    server = Server(data).wait_until_ready()
    try:
        yield Api(server, "default")
    finally:
        server.discard()


def fill(api, count=6):
    """Some that answer the question, and one that has nothing to do with it."""
    for number in range(1, count + 1):
        api.store(f"turbine blades corrode at place {number}", id=f"ms-{10 * number}", task="wind")
    api.store("lunch is at noon", id="ms-902", task="food")


def test_what_is_taken_says_how_relevant_it_was_and_why(api):
    fill(api, 2)
    api.store("nobody may climb the tower alone", id="ms-500", pinned=True)
    envelope = api.handoff(summary=f"{QUESTION}; see ms-902", task="wind")
    answer = considered(api, envelope)
    assert (answer["envelope"], answer["recorded"]) == (envelope["id"], True)
    assert (answer["floor"], answer["include_recent"], answer["scope"]) == (FLOOR, 20, "task")
    carried = [item for item in answer["considered"] if item["fate"] == "full"]
    assert [(item["id"], item["why"], item["relevance"], item["tokens"], item["text"]) for item in carried] == [
        (ref["id"], ref["why"], ref["relevance"], ref["tokens"], ref["text"]) for ref in envelope["memory"]["refs"]
    ]
    assert {item["id"]: item["why"] for item in carried} == {
        "ms-10": "relevant", "ms-20": "relevant", "ms-500": "pinned", "ms-902": "cited",
    }
    assert all(item["reason"] is None for item in carried)
    assert all(item["relevance"] >= FLOOR for item in carried if item["why"] == "relevant")


def test_the_floor_passes_over_what_has_hardly_anything_to_do_with_it(api):
    fill(api)
    api.store(ASIDE, id="ms-901")
    for number in range(20):  # that it is a blade is no news where everybody speaks of blades
        api.store(f"a page of the log, number {number}, about the blade", id=f"ms-{1000 + 10 * number}", task="log")
    answer = considered(api, api.handoff(summary=f"{QUESTION} where the sea is near and gulls cry all night", task="wind"))
    item = by_id(answer)["ms-901"]
    assert (item["fate"], item["reason"], item["why"]) == ("passed_over", "not_relevant", "relevant")
    assert 0 < item["relevance"] < FLOOR
    assert item["tokens"] is None and item["text"] == ASIDE
    assert "ms-902" not in by_id(answer), "what has no word of it was not looked at"


def test_what_is_beyond_include_recent_is_named(api):
    fill(api)
    envelope = api.handoff(summary=QUESTION, task="wind", include_recent=2)
    answer = considered(api, envelope)
    assert answer["include_recent"] == 2 and len(envelope["memory"]["refs"]) == 2
    beyond = [item for item in answer["considered"] if item["reason"] == "not_asked_for"]
    assert len(beyond) == 4 and {item["fate"] for item in beyond} == {"passed_over"}
    assert min(item["relevance"] for item in beyond) >= FLOOR
    assert considered(api, api.handoff(summary=QUESTION, task="wind", include_recent=0, new_root=True))["considered"] == []


def test_what_had_no_room_says_what_it_would_have_taken(api):
    for number in range(1, 5):
        api.store(f"turbine blades corrode at place {number}: {f'reason {number} ' * 80}", id=f"ms-{10 * number}", task="wind")
    envelope = api.handoff(summary=QUESTION, task="wind", constraints={"max_tokens": 500})
    answer = considered(api, envelope)
    left = [item for item in answer["considered"] if item["fate"] == "left_out"]
    assert left and len(left) == len(envelope["budget"]["trimmed"])
    for item, trim in zip(left, envelope["budget"]["trimmed"]):
        assert (item["id"], item["tokens"], item["reason"], item["relevance"], item["why"]) == (
            trim["id"], trim["tokens"], trim["reason"], trim["relevance"], trim["why"])
        assert item["reason"] in ("budget", "room", "repetition") and item["tokens"] > 200
        assert item["text"].startswith("turbine blades corrode at place") and len(item["text"]) <= 160


def test_a_repetition_names_what_it_repeats(api):
    for number in (10, 20, 30):
        api.store("turbine blades corrode in salted air, and " + "slowly, " * 120, id=f"ms-{number}", task="wind")
    envelope = api.handoff(summary=QUESTION, task="wind", constraints={"max_tokens": 400})
    (carried,) = envelope["memory"]["refs"]
    answer = considered(api, envelope)
    left = [item for item in answer["considered"] if item["fate"] == "left_out"]
    assert [(item["reason"], item["repeats"]) for item in left] == [("repetition", carried["id"])] * 2
    assert all("repeats" not in item for item in answer["considered"] if item["reason"] != "repetition")


@pytest.mark.parametrize("strategy, fate, reason", [("lazy", "ref", "lazy"), ("summary", "summary", "summary")])
def test_a_lesser_form_is_told_with_its_reason(api, strategy, fate, reason):
    api.store("turbine blades corrode " + "slowly " * 200, id="ms-1", summary="blades corrode")
    item = by_id(considered(api, api.handoff(summary="see ms-1", strategy=strategy)))["ms-1"]
    assert (item["fate"], item["reason"]) == (fate, reason)
    assert item["text"] == (None if fate == "ref" else "blades corrode")


def test_it_stays_as_it_was_when_memories_change(api):
    fill(api)
    envelope = api.handoff(summary=QUESTION, task="wind", include_recent=2)
    before = considered(api, envelope)
    carried, passed = before["considered"][0]["id"], before["considered"][2]["id"]
    for number in range(5):
        api.store(f"turbine blades corrode, turbine blades corrode, says {number}", task="wind")
    api.ok("PATCH", f"/v1/memories/{carried}", {"content": "something else"})
    api.ok("PATCH", f"/v1/memories/{passed}", {"content": "changed since\nin two lines", "task": "another"})
    after = considered(api, envelope)

    def without_text(answer):
        return [{name: value for name, value in item.items() if name != "text"} for item in answer["considered"]]

    assert without_text(after) == without_text(before)
    assert {name: value for name, value in after.items() if name != "considered"} == {
        name: value for name, value in before.items() if name != "considered"}
    assert by_id(after)[carried]["text"] == by_id(before)[carried]["text"], "what was handed over is shown as it was"
    assert by_id(after)[passed]["text"] == "changed since in two lines", "the rest as it is now"


def test_a_forgotten_text_is_gone_from_it(api):
    fill(api)
    envelope = api.handoff(summary=QUESTION, task="wind", include_recent=2)
    items = considered(api, envelope)["considered"]
    for item in (items[0], items[-1]):
        api.ok("DELETE", f"/v1/memories/{item['id']}")
    again = by_id(considered(api, envelope))
    assert again[items[0]["id"]]["text"] is None and again[items[-1]["id"]]["text"] is None
    assert again[items[0]["id"]]["relevance"] == items[0]["relevance"]


def test_it_is_neither_in_the_envelope_nor_in_its_digest(api):
    fill(api)
    envelope = api.handoff(summary=QUESTION, task="wind", include_recent=2)
    considered(api, envelope)
    assert "considered" not in envelope and "floor" not in str(envelope)
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}") == envelope
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"


def test_texts_beside_a_guarded_envelope_are_not_shown(api):
    api.store("turbine blades corrode; the key is AKIAZ7QX3LMN5RTV2WYB", id="ms-10", task="wind")
    api.store("turbine blades corrode; another key is AKIAZ7QX3LMN5RTV2WYC", id="ms-20", task="wind")
    envelope = api.handoff(summary=QUESTION, task="wind", include_recent=1, constraints={"security": "no plaintext credentials"})
    answer = considered(api, envelope)
    assert len(answer["considered"]) == 2 and answer["considered"][1]["text"] is None
    assert "AKIA" not in str(answer)


def test_many_that_were_passed_over_are_told_up_to_a_limit(api):
    for number in range(1, 120):
        api.store(f"turbine blades corrode at place {number}", task="wind")
    answer = considered(api, api.handoff(summary=QUESTION, task="wind", include_recent=60))
    assert len([item for item in answer["considered"] if item["fate"] == "full"]) == 60
    assert 1 <= len([item for item in answer["considered"] if item["fate"] == "passed_over"]) <= 32


@pytest.mark.parametrize("wanted", [1, 19, 20, 21, 59, 60, 61])
def test_what_came_next_is_known_whatever_was_asked_for(api, wanted):
    for number in range(1, 100):
        api.store(f"turbine blades corrode at place {number}", task="wind")
    answer = considered(api, api.handoff(summary=QUESTION, task="wind", include_recent=wanted))
    fates = [item["fate"] for item in answer["considered"]]
    assert fates.count("full") == wanted
    beyond = [item for item in answer["considered"] if item["fate"] == "passed_over"]
    assert len(beyond) >= 8 and {item["reason"] for item in beyond} == {"not_asked_for"}


def test_a_dry_run_has_the_same(api):
    fill(api)
    fields = {"summary": QUESTION, "task": "wind", "include_recent": 2, "scope": "space"}
    dry = api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": QUESTION, "dry_run": True,
                                           **{name: value for name, value in fields.items() if name != "summary"}})
    stored = considered(api, api.handoff(**fields))
    assert stored.pop("envelope")
    assert dry["considered"] == stored and stored["recorded"] is True


def test_a_handoff_that_packs_records_it_too(api):
    fill(api)
    body = {"envelope": {"target_agent": "b", "task_summary": QUESTION, "task": "wind", "include_recent": 2, "scope": "space"}}
    status, handoff = api.call("POST", "/v1/handoffs", body)
    assert status == 202, handoff
    answer = considered(api, {"id": handoff["envelope_id"]})
    assert (answer["recorded"], answer["scope"], answer["include_recent"]) == (True, "space", 2)


def test_an_envelope_that_was_packed_before_it_was_recorded_says_so(tmp_path):
    """As those are that a store of an older schema brings along."""
    data = tmp_path / "data"
    with running(data) as api:
        fill(api)
        envelope = api.handoff(summary=f"{QUESTION}, see ms-902", task="wind", include_recent=2)
        assert considered(api, envelope)["recorded"] is True
    with open_database(data / "spine.db") as db:
        with unprotected(db, "envelope"):
            db.execute("UPDATE envelope SET considered = NULL")
    with running(data) as api:
        answer = considered(api, envelope)
        assert answer.keys() == {"envelope", "recorded", "considered"} and answer["recorded"] is False
        assert [item["id"] for item in answer["considered"]] == envelope_ids(envelope)
        assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"


def envelope_ids(envelope):
    return [ref["id"] for ref in envelope["memory"]["refs"]]


def test_it_survives_a_restart(tmp_path):
    data = tmp_path / "data"
    with running(data) as api:
        fill(api)
        envelope = api.handoff(summary=QUESTION, task="wind", include_recent=2)
        before = considered(api, envelope)
    with running(data) as api:
        assert considered(api, envelope) == before


def test_an_envelope_that_does_not_exist_and_an_id_that_is_none(api):
    api.refused("envelope_not_found", "GET", "/v1/envelopes/env-99/considered")
    status, answer = api.call("GET", "/v1/envelopes/ms-1/considered")
    assert status in (404, 422) and answer["code"] != "internal"


def test_it_is_of_its_space(server, api):
    fill(api)
    envelope = api.handoff(summary=QUESTION, task="wind")
    Api(server, api.space + "-other").refused("envelope_not_found", "GET", f"/v1/envelopes/{envelope['id']}/considered")


# --- Scope ---


def spread(api):
    api.store("turbine blades corrode, says this task", id="ms-10", task="wind")
    api.store("turbine blades corrode, says nobody's task", id="ms-20")
    api.store("turbine blades corrode, says another task", id="ms-30", task="paint")
    api.store("turbine blades corrode, says a pin of another task", id="ms-40", task="glue", pinned=True)


@pytest.mark.parametrize("scope", ["absent", None, "task"])
def test_nothing_of_another_task_comes_along_or_is_looked_at(api, scope):
    spread(api)
    envelope = api.handoff(summary=QUESTION, task="wind", **({} if scope == "absent" else {"scope": scope}))
    assert set(envelope_ids(envelope)) == {"ms-10", "ms-20"}
    answer = considered(api, envelope)
    assert answer["scope"] == "task" and set(by_id(answer)) == {"ms-10", "ms-20"}


def test_with_scope_space_other_tasks_are_looked_at(api):
    spread(api)
    envelope = api.handoff(summary=QUESTION, task="wind", scope="space")
    assert set(envelope_ids(envelope)) == {"ms-10", "ms-20", "ms-30", "ms-40"}
    assert {ref["why"] for ref in envelope["memory"]["refs"]} == {"relevant"}
    assert considered(api, envelope)["scope"] == "space"


def test_what_is_named_comes_whatever_its_task(api):
    spread(api)
    envelope = api.handoff(summary=f"{QUESTION}; see ms-30", task="wind")
    assert {ref["id"]: ref["why"] for ref in envelope["memory"]["refs"]}["ms-30"] == "cited"


def test_scope_is_not_inherited(api):
    spread(api)
    root = api.handoff(summary=QUESTION, task="wind", scope="space")
    child = api.handoff("c", f"{QUESTION} again", parent=root["id"])
    assert set(envelope_ids(child)) == {"ms-10", "ms-20"}
    assert considered(api, child)["scope"] == "task"


@pytest.mark.parametrize("scope", ["all", "", "Task", 7, ["task"], True])
def test_a_scope_that_does_not_exist_is_refused_clearly(api, scope):
    for path, body in (("/v1/envelopes", {"target_agent": "b", "task_summary": "x", "scope": scope}),
                       ("/v1/handoffs", {"envelope": {"target_agent": "b", "task_summary": "x", "scope": scope}})):
        status, answer = api.call("POST", path, body)
        assert status == 422 and answer["code"] == "invalid_field", answer
        assert "scope" in answer["detail"] and answer["field"].endswith("scope")
    if scope == "all":
        assert "expected task" in answer["detail"] and "or space" in answer["detail"]


def test_what_is_as_relevant_as_the_floor_is_not_said_to_be_less(api):
    api.store("heron")
    words = "heron osprey bittern egret plover dunlin godwit".split()
    seen = set()
    for n in range(60):
        api.ok("POST", "/v1/memories/batch", {"memories": [{"content": f"filler {n} {k}"} for k in range(4)]})
        for count in range(3, len(words) + 1):
            body = {"target_agent": "b", "task_summary": " ".join(words[:count]), "dry_run": True}
            answer = api.ok("POST", "/v1/envelopes", body)["considered"]
            heron = next(one for one in answer["considered"] if one["id"] == "ms-1")
            assert (heron["fate"] == "full") == (heron["relevance"] >= answer["floor"]), heron
            seen.add(heron["relevance"])
    assert {0.076, 0.077, 0.078} <= seen
