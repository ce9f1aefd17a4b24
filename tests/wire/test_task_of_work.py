"""What is stored while an agent works on a handoff belongs to its task: the header Spine-Task."""

import pytest


@pytest.fixture
def task(desk):
    """The task of an envelope that was packed."""
    return desk.ok("GET", f"/v1/envelopes/{desk.pack()}")["task"]["id"]


def store(desk, header, **fields):
    return desk.store(headers={"Spine-Task": header}, **fields)


def test_what_is_stored_with_the_header_belongs_to_its_task(desk, task):
    memory = store(desk, task)
    assert memory["task"] == task
    assert desk.get(memory["id"])["task"] == task
    assert desk.ids(f"task={task}") == [memory["id"]]


def test_each_memory_of_a_batch_belongs_to_the_task_of_the_header_unless_it_says_otherwise(desk, task):
    items = [{"content": "a"}, {"content": "b", "task": "another"}, {"content": "c", "scope": "space"},
             {"content": "d", "task": None}]
    made = desk.ok("POST", "/v1/memories/batch", {"memories": items}, {"Spine-Task": task}, 201)["memories"]
    assert [memory["task"] for memory in made] == [task, "another", None, task]


def test_the_task_of_the_body_wins_and_stays_as_free_as_ever(desk, task):
    assert store(desk, task, task="of-my-own")["task"] == "of-my-own"
    assert store(desk, "nobody-knows-it", task="of-my-own")["task"] == "of-my-own"


def test_the_scope_space_stores_without_a_task(desk, task):
    memory = store(desk, task, scope="space")
    assert memory["task"] is None
    assert "warnings" not in memory
    assert desk.store(scope="space")["task"] is None
    assert store(desk, "nobody-knows-it", scope="space")["task"] is None


def test_a_task_and_the_scope_space_contradict_each_other(desk, task):
    body = {"content": "a", "task": task, "scope": "space"}
    assert "scope" in desk.refused(422, "invalid_field", "POST", "/v1/memories", body, field="scope")["detail"]
    desk.refused(422, "invalid_field", "POST", "/v1/memories/batch", {"memories": [{"content": "b"}, body]},
                 field="memories[1].scope")
    assert desk.ids() == []


@pytest.mark.parametrize("scope", ["task", "", "Space", 1, ["space"]])
def test_another_scope_is_refused(desk, scope):
    problem = desk.refused(422, "invalid_field", "POST", "/v1/memories", {"content": "a", "scope": scope},
                           field="scope")
    assert "space" in problem["detail"]


@pytest.mark.parametrize("path, body", [
    ("/v1/memories", {"content": "a"}),
    ("/v1/memories/batch", {"memories": [{"content": "a", "task": "mine"}, {"content": "b"}]}),
])
def test_an_unknown_task_is_not_found_and_nothing_is_changed(desk, task, path, body):
    desk.refused(404, "task_not_found", "POST", path, body, {"Spine-Task": "task-999"}, field="Spine-Task")
    assert desk.ids() == []
    assert store(desk, task)["id"] == "ms-1", "no number was used up"


def test_an_unknown_task_makes_no_space(desk):
    desk.refused(404, "task_not_found", "POST", "/v1/memories", {"content": "a"}, {"Spine-Task": "task-1"})
    assert desk.space not in [space["name"] for space in desk.ok("GET", "/v1/spaces?page_size=1000")["spaces"]]


def test_a_task_of_another_space_is_unknown(desk, task, connect):
    other = connect()
    other.refused(404, "task_not_found", "POST", "/v1/memories", {"content": "a"}, {"Spine-Task": task})


def test_a_task_that_only_a_memory_names_is_unknown(desk):
    desk.store(task="free")
    desk.refused(404, "task_not_found", "POST", "/v1/memories", {"content": "a"}, {"Spine-Task": "free"})


@pytest.mark.parametrize("value", ["", "x" * 129])
def test_a_header_that_can_be_no_task_is_refused(desk, value):
    assert desk.call("POST", "/v1/memories", {"content": "a"}, {"Spine-Task": value}).status == 422


def test_the_header_decides_nothing_else(desk, task):
    memory = desk.store()
    header = {"Spine-Task": "task-999"}
    assert desk.patch(memory["id"], header, content="changed")["task"] is None
    desk.ok("GET", "/v1/memories?query=changed", headers=header)
    body = {"from": "a", "target_agent": "b", "task_summary": "c"}
    assert desk.ok("POST", "/v1/envelopes", body, header, 201)["task"]["id"] not in (task, "task-999")


def test_the_same_key_with_another_task_is_another_request(desk, task):
    other = desk.ok("GET", f"/v1/envelopes/{desk.pack()}")["task"]["id"]
    headers = {"Idempotency-Key": "k", "Spine-Task": task}
    first = desk.store(headers=headers)
    assert desk.store(headers=headers) == first
    desk.refused(422, "idempotency_conflict", "POST", "/v1/memories", {"content": "something to remember"},
                 {**headers, "Spine-Task": other})
