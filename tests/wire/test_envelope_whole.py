"""POST /v1/envelopes with a whole envelope of version 2: what is wrong in one of its parts is named by its place."""

import pytest

WHOLE = {"envelope_version": "2", "to": "worker", "task": {"summary": "go on"}}


@pytest.mark.parametrize("part", ["task", "memory", "lineage", "budget"])
@pytest.mark.parametrize("value", [["x"], 7, "zz", True])
def test_a_part_that_is_no_object_is_refused_and_not_left_out(api, part, value):
    """A lineage that is left out without a word begins another task."""
    api.refused(422, "invalid_field", "POST", "/v1/envelopes", WHOLE | {part: value}, field=part)


@pytest.mark.parametrize("change, field", [
    ({"task": {"summary": 5}}, "task.summary"),
    ({"task": {"summary": "x", "intent": 5}}, "task.intent"),
    ({"task": {"summary": "x", "state": []}}, "task.state"),
    ({"task": {"summary": "x", "open_decisions": {}}}, "task.open_decisions"),
    ({"task": {"summary": "x", "id": "a\nb"}}, "task.id"),
    ({"budget": {"strategy": "bogus"}}, "budget.strategy"),
    ({"lineage": {"parent": "ms-1"}}, "lineage.parent"),
    ({"lineage": {"max_hops": 0}}, "lineage.max_hops"),
    ({"history": ["x"]}, "history[0]"),
    ({"waived": [1]}, "waived[0]"),
    ({"new_root": "yes"}, "new_root"),
])
def test_a_field_of_a_part_is_named_with_its_part(api, change, field):
    api.refused(422, "invalid_field", "POST", "/v1/envelopes", WHOLE | change, field=field)


@pytest.mark.parametrize("task", [None, {}, {"summary": None}])
def test_what_is_missing_in_a_part_is_named_with_its_part(api, task):
    api.refused(422, "missing_field", "POST", "/v1/envelopes", WHOLE | {"task": task}, field="task.summary")


@pytest.mark.parametrize("part", ["memory", "lineage", "budget"])
def test_a_part_may_be_null(api, part):
    api.ok("POST", "/v1/envelopes", WHOLE | {part: None}, status=201)


def test_a_chain_has_so_many_steps_and_open_decisions_and_no_more(api):
    """What is inherited counts, too."""
    steps = [{"agent": "a", "action": f"step {number}"} for number in range(10_000)]
    decisions = [f"decision {number}" for number in range(1_000)]
    root = api.ok("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": "go", "from": "a", "include_recent": 0,
                                            "execution_history": steps, "open_decisions": decisions}, status=201)
    body = {"target_agent": "c", "task_summary": "on", "from": "b", "parent": root["id"], "include_recent": 0}
    one_more = {"execution_history": [{"agent": "b", "action": "one more"}], "open_decisions": ["one more"]}
    for field, value in one_more.items():
        api.refused(422, "too_large", "POST", "/v1/envelopes", body | {field: value}, field=field)
    api.ok("POST", "/v1/envelopes", body, status=201)
