"""POST /v1/import: what no export of a server can hold is refused, and whatever is imported stays within its space."""

import pytest
from api import check_problem

HIGHEST = 2**40 - 1
PRUNED = {"envelope": ("id", "parent", "created_at", "digest"), "handoff": ("id", "envelope_id", "created_at", "changed_at")}


def rows_of(desk):
    return {part: desk.ok("GET", f"/v1/export?part={part}&limit=2000")[part] for part in ("memories", "envelopes", "handoffs")}


def pruned(kind, row, **fields):
    """What is left of it."""
    ends = {"state": "completed"} if kind == "handoff" else {}
    return {name: row[name] for name in PRUNED[kind]} | {"pruned": True} | ends | fields


@pytest.fixture
def two(server, desk, connect):
    """A space with three handoffs, and an empty one."""
    desk.store("known")
    for number in range(3):
        desk.send(f"worker-{number}")
    return desk, connect()


def take_in(api, status=200, **rows):
    answer = api.call("POST", "/v1/import", rows)
    assert answer.status == status, answer
    return answer.json


def refuse(api, code, field, **rows):
    before = rows_of(api)
    problem = check_problem(api.call("POST", "/v1/import", rows), {"id_taken": 409}.get(code, 422), code, field)
    assert rows_of(api) == before, "nothing of it was written"
    return problem["detail"]


# --- Order ---


def test_a_handoff_that_was_pruned_between_two_that_live_is_moved_with_them(two):
    there, here = two
    rows = rows_of(there)
    rows["envelopes"][1] = pruned("envelope", rows["envelopes"][1])
    rows["handoffs"][1] = pruned("handoff", rows["handoffs"][1])
    assert take_in(here, **rows) == {"imported": 7, "unchanged": 0}
    assert [row["id"] for row in rows_of(here)["handoffs"]] == ["ho-1", "ho-2", "ho-3"]
    assert [bool(row["pruned"]) for row in rows_of(here)["handoffs"]] == [False, True, False]
    assert take_in(here, **rows) == {"imported": 0, "unchanged": 7}


def test_a_new_handoff_gets_the_number_behind_a_pruned_one_that_was_imported_last(two, connect):
    there, here = two
    rows = rows_of(there)
    rows["envelopes"][2] = pruned("envelope", rows["envelopes"][2])
    rows["handoffs"][2] = pruned("handoff", rows["handoffs"][2])
    take_in(here, **rows)
    sent = here.ok("POST", "/v1/handoffs", {"envelope": {"target_agent": "w", "task_summary": "next"}}, status=202)
    assert (sent["id"], sent["envelope_id"]) == ("ho-4", "env-4")


@pytest.mark.parametrize("left", [False, True])
def test_no_number_of_a_handoff_is_left_out(two, left):
    there, here = two
    rows = rows_of(there)
    last = pruned("handoff", rows["handoffs"][2]) if left else rows["handoffs"][2]
    assert "not the next number" in refuse(here, "invalid_field", "handoffs[1]", memories=rows["memories"],
                                           envelopes=rows["envelopes"], handoffs=[rows["handoffs"][0], last])


def test_a_pruned_handoff_has_ended(two):
    there, here = two
    rows = rows_of(there)
    assert "ended" in refuse(here, "invalid_field", "handoffs[0]", handoffs=[pruned("handoff", rows["handoffs"][0], state="queued")])


# --- Numbers that are taken ---


def test_what_was_pruned_keeps_its_number(two):
    there, here = two
    rows = rows_of(there)
    take_in(here, envelopes=[pruned("envelope", rows["envelopes"][0])], handoffs=[pruned("handoff", rows["handoffs"][0])])
    refuse(here, "id_taken", "envelopes[0]", memories=rows["memories"], envelopes=rows["envelopes"])
    refuse(here, "id_taken", "handoffs[0]", handoffs=[rows["handoffs"][0]])
    refuse(here, "id_taken", "handoffs[0]", handoffs=[pruned("handoff", rows["handoffs"][0], envelope_id="env-9")])
    refuse(here, "id_taken", "handoffs[0]", handoffs=[pruned("handoff", rows["handoffs"][0], state="expired")])
    refuse(here, "id_taken", "envelopes[0]", envelopes=[pruned("envelope", rows["envelopes"][0], digest="ab" * 32)])


def test_what_is_there_is_not_replaced_by_what_was_left_of_another(two):
    there, _ = two
    rows = rows_of(there)
    refuse(there, "id_taken", "envelopes[0]", envelopes=[pruned("envelope", rows["envelopes"][0])])
    refuse(there, "id_taken", "handoffs[0]", handoffs=[pruned("handoff", rows["handoffs"][0])])


def test_a_memory_that_was_forgotten_here_does_not_come_back(two):
    there, here = two
    rows = rows_of(there)["memories"]
    take_in(here, memories=rows)
    here.forget("ms-1")
    refuse(here, "id_taken", "memories[0]", memories=rows)
    left = rows_of(here)["memories"]
    assert take_in(here, memories=left) == {"imported": 0, "unchanged": 1}
    refuse(there, "id_taken", "memories[0]", memories=left)


def test_a_version_that_differs_is_not_written_over(two):
    there, _ = two
    [row] = rows_of(there)["memories"]
    for change in ({"content": "another"}, {"updated_at": row["updated_at"] + 1}, {"metadata": '{"a":1}'}):
        refuse(there, "id_taken", "memories[0]", memories=[row | change])


# --- The highest numbers ---


def test_the_highest_number_of_an_envelope_is_refused_and_touches_no_space(server, connect):
    """The one above it would be one of the next space."""
    spaces = [connect() for _ in range(6)]
    for api in spaces:
        api.store("known")
    left = {"id": f"env-{HIGHEST}", "parent": 0, "created_at": 1, "digest": "ab" * 32, "pruned": True}
    body = {"target_agent": "w", "task_summary": "too many"}
    for api in spaces[1:5]:
        refuse(api, "invalid_field", "envelopes[0]", envelopes=[left])
    for api in spaces:
        assert api.ok("POST", "/v1/envelopes", body, status=201)["id"] == "env-1"
        assert [task["id"] for task in api.ok("GET", "/v1/tasks")["tasks"]] == ["task-1"]


def test_the_highest_number_of_a_handoff_is_not_taken_before_the_others(server, connect):
    api = connect()
    left = {"id": f"ho-{HIGHEST}", "envelope_id": "env-1", "created_at": 1, "changed_at": 2, "pruned": True, "state": "completed"}
    refuse(api, "invalid_field", "handoffs[0]", handoffs=[left])


# --- Rows that no server writes ---


def changed(two, kind, change, status, code):
    there, here = two
    rows = rows_of(there)
    rows[kind][-1] = rows[kind][-1] | change
    problem = check_problem(here.call("POST", "/v1/import", rows), status, code)
    assert rows_of(here) == {"memories": [], "envelopes": [], "handoffs": []}
    return problem


@pytest.mark.parametrize("kind, change", [
    ("envelopes", {"id": "env-9"}),
    ("envelopes", {"texts": -2}),
    ("envelopes", {"created_at": -1}),
    ("envelopes", {"digest": None}),
    ("envelopes", {"digest": "ab" * 31}),
    ("memories", {"version": 2, "current_version": 1}),
    ("memories", {"tags": None}), ("memories", {"tags": '{"a":1}'}), ("memories", {"tags": '["a\\u0001"]'}),
    ("memories", {"summary": "a\0b"}), ("memories", {"content": ""}), ("memories", {"task": "a\tb"}),
    ("handoffs", {"has_result": True, "result_memory": 2**41}),
    ("handoffs", {"has_result": True, "input_tokens": -2}),
    ("handoffs", {"then": 2**41}),
    ("handoffs", {"attempt": -1}), ("handoffs", {"place": 2**41}), ("handoffs", {"lease_ms": -1}),
    ("handoffs", {"queue_timeout": -1}), ("handoffs", {"from": "a\nb"}), ("handoffs", {"changed_at": 2**52}),
    ("handoffs", {"receiver": "x" * 100_000}), ("handoffs", {"reason": "a\0b"}), ("handoffs", {"progress": "x" * 100_000}),
])
def test_a_row_that_no_server_writes_is_refused_with_its_place(two, kind, change):
    problem = changed(two, kind, change, 422, "invalid_field")
    assert problem["field"].startswith(f"{kind}["), problem


@pytest.mark.parametrize("state, due", [
    ("acked", 1), ("completed", 1), ("parked", 1), ("expired", 1), ("discarded", 1),
    ("queued", 0), ("delayed", 0), ("leased", 0), ("working", 0),
])
def test_a_handoff_is_due_while_it_is_open_and_only_then(two, state, due):
    """A server that met one that has ended and is due would end, and so would the next one on that store."""
    problem = changed(two, "handoffs", {"state": state, "due": due, "leases": 1}, 422, "invalid_field")
    assert "due" in problem["detail"]
    two[1].ok("GET", "/healthz")


def test_a_result_that_a_memory_has_needs_that_memory(two):
    """It is read from there whenever the handoff is shown, and was answered 500 without it."""
    change = {"state": "completed", "due": 0, "has_result": True, "result_memory": 77}
    assert "memory" in changed(two, "handoffs", change, 422, "invalid_field")["detail"]


def test_a_result_that_is_called_json_is_json(two):
    """It is answered as it is: a text would break the answer, or put members into it."""
    change = {"state": "completed", "due": 0, "has_result": True, "result_memory": 1, "result_form": 2}
    assert "JSON" in changed(two, "handoffs", change, 422, "invalid_field")["detail"]
    there, here = two
    rows = rows_of(there)
    rows["memories"][0]["content"] = '{"found":["it"]}'
    rows["handoffs"][2] |= change
    take_in(here, **rows)
    assert here.ok("GET", "/v1/handoffs/ho-3")["result"] == {"found": ["it"]}
