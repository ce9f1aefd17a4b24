"""Memories: section 4 of the protocol, call by call and field by field."""

import hashlib
import re

import pytest
from api import MEMORY_MEMBERS, Api

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
PAST = "2020-01-01T00:00:00Z"
FUTURE = "2999-01-01T00:00:00Z"
MAX_ID = 1_099_511_627_775
CHOSEN_MAX_ID = 2**39


# --- Storing ---------------------------------------------------------------------------------------


def test_a_stored_memory_is_answered_whole_in_the_shape_of_the_protocol(api):
    answer = api.call("POST", "/v1/memories", {"content": "The gateway answers 429."})
    assert answer.status == 201
    memory = answer.json
    assert list(memory) == MEMORY_MEMBERS
    assert answer.headers["Location"] == f"/v1/memories/{memory['id']}"
    assert answer.headers["ETag"] == f'"{memory["id"]}@1"'
    assert memory == {
        "id": "ms-1", "version": 1, "state": "active", "content": "The gateway answers 429.", "summary": None,
        "kind": "note",
        "tags": [], "importance": "medium", "agent": None, "task": None, "pinned": False, "trust": "agent",
        "metadata": {}, "origin": {"client": None, "key": None, "protocol": "http"},
        "expires_at": None, "supersedes": None, "superseded_by": None,
        "digest": "sha256:" + hashlib.sha256(b"The gateway answers 429.").hexdigest(),
        "created_at": memory["created_at"], "updated_at": memory["created_at"],
    }
    assert TIME.match(memory["created_at"])
    assert api.get("ms-1") == memory


def test_every_field_comes_back_as_it_was_given(api):
    given = {
        "id": "ms-4821", "content": "Ärger über 長い文 \U0001f600\n\t\"quoted\" \\ \u0001", "summary": "kürzer",
        "kind": "decision",
        "tags": ["gateway", "Ärger"], "importance": "critical", "agent": "researcher", "task": "task-17",
        "pinned": True,
        "trust": "external", "metadata": {"source": "docs/api.md", "n": 1.5, "deep": {"list": [1, None, True]}},
        "expires_at": "2999-12-31T23:59:59.999Z", "created_at": "2021-03-04T05:06:07.089Z",
    }
    memory = api.ok("POST", "/v1/memories", given, status=201)
    assert {name: memory[name] for name in given} == given
    assert memory["digest"] == "sha256:" + hashlib.sha256(given["content"].encode()).hexdigest()
    assert api.get("ms-4821") == memory


@pytest.mark.parametrize("name", [
    "summary", "kind", "tags", "importance", "agent", "task", "pinned", "trust", "metadata", "expires_at", "ttl_s",
    "supersedes",
    "created_at", "id",
])
def test_absent_and_null_mean_the_same_in_a_request_that_creates(api, name):
    plain = api.store("a")
    nulled = api.store("a", **{name: None})
    for member in set(MEMORY_MEMBERS) - {"id", "created_at", "updated_at"}:
        assert nulled[member] == plain[member]


@pytest.mark.parametrize("written, read", [
    ("2026-01-30T00:00:00Z", "2026-01-30T00:00:00.000Z"),
    ("2026-01-30T01:30:00.5+01:30", "2026-01-30T00:00:00.500Z"),
    ("2026-01-29T16:00:00-08:00", "2026-01-30T00:00:00.000Z"),
    ("2026-01-30t00:00:00.123456789z", "2026-01-30T00:00:00.123Z"),
    ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
])
def test_times_are_read_with_any_offset_and_answered_in_utc_with_milliseconds(api, written, read):
    assert api.store("a", created_at=written)["created_at"] == read


@pytest.mark.parametrize("field, value, code", [
    ("content", "", "invalid_field"), ("content", 7, "invalid_field"), ("content", ["a"], "invalid_field"),
    ("content", "a\u0000b", "invalid_field"), ("content", "x" * (256 * 1024 + 1), "too_large"),
    ("content", None, "missing_field"),
    ("summary", "x" * (16 * 1024 + 1), "too_large"), ("summary", 1, "invalid_field"),
    ("summary", "a\u0000", "invalid_field"),
    ("kind", "k" * 65, "too_large"), ("kind", "", "invalid_field"), ("kind", {}, "invalid_field"),
    ("kind", "a\nb", "invalid_field"),
    ("tags", "gateway", "invalid_field"), ("tags", {"a": 1}, "invalid_field"),
    ("tags", [str(i) for i in range(65)], "too_large"),
    ("importance", "urgent", "invalid_field"), ("importance", 3, "invalid_field"),
    ("importance", "High", "invalid_field"),
    ("agent", "", "invalid_field"), ("agent", "a" * 129, "too_large"), ("agent", "a\tb", "invalid_field"),
    ("agent", "a\u0085b", "invalid_field"), ("agent", 5, "invalid_field"),
    ("task", "", "invalid_field"), ("task", "t" * 129, "too_large"), ("task", [], "invalid_field"),
    ("pinned", "true", "invalid_field"), ("pinned", 1, "invalid_field"),
    ("trust", "root", "invalid_field"), ("trust", True, "invalid_field"),
    ("metadata", [], "invalid_field"), ("metadata", "{}", "invalid_field"),
    ("metadata", {"k": "x" * 16384}, "too_large"),
    ("expires_at", "tomorrow", "invalid_field"), ("expires_at", 1700000000, "invalid_field"),
    ("expires_at", "2026-02-30T00:00:00Z", "invalid_field"), ("expires_at", "2026-01-30T00:00:00", "invalid_field"),
    ("ttl_s", 0, "invalid_field"), ("ttl_s", 3_155_760_001, "invalid_field"), ("ttl_s", "60", "invalid_field"),
    ("ttl_s", 1.5, "invalid_field"), ("ttl_s", -1, "invalid_field"),
    ("supersedes", "ms-x", "invalid_field"), ("supersedes", "ms-1@1", "invalid_field"),
    ("supersedes", 1, "invalid_field"),
    ("created_at", FUTURE, "invalid_field"), ("created_at", "1969-12-31T23:59:59Z", "invalid_field"),
    ("created_at", 0, "invalid_field"),
    ("id", "4821", "invalid_field"), ("id", "ms-0", "invalid_field"), ("id", "ms-01", "invalid_field"),
    ("id", "ms--1", "invalid_field"),
    ("id", f"ms-{MAX_ID + 1}", "invalid_field"), ("id", "ms-1@1", "invalid_field"), ("id", "ms- 1", "invalid_field"),
    ("id", 1, "invalid_field"),
    ("id", "MS-1", "invalid_field"), ("id", "ms-99999999999999999999", "invalid_field"),
])
def test_a_bad_field_is_named_and_nothing_is_stored(api, field, value, code):
    body = {"content": "a", field: value}
    problem = api.refused(422, code, "POST", "/v1/memories", body, field=field)
    assert field in problem["detail"]
    assert api.count() == 0


def test_a_bad_tag_is_named_by_its_place(api):
    for bad, code in (("", "invalid_field"), ("x" * 129, "too_large"), (7, "invalid_field"), ("a\u0000",
        "invalid_field")):
        api.refused(422, code, "POST", "/v1/memories", {"content": "a", "tags": ["good", bad]}, field="tags[1]")
    assert api.count() == 0


@pytest.mark.parametrize("fields", [
    {"content": "x" * (256 * 1024)}, {"content": "\U0001f600" * (64 * 1024)}, {"summary": "x" * (16 * 1024)},
    {"kind": "k" * 64},
    {"tags": [f"{i:0128d}" for i in range(64)]}, {"agent": "a" * 128}, {"task": "t" * 128},
    {"metadata": {"k": "x" * (16384 - len('{"k":""}'))}}, {"ttl_s": 1}, {"ttl_s": 3_155_760_000},
    {"id": f"ms-{CHOSEN_MAX_ID}"},
], ids=lambda fields: next(iter(fields)))
def test_what_is_at_the_limit_is_taken(api, fields):
    memory = api.ok("POST", "/v1/memories", {"content": "a", **fields}, status=201)
    for name in set(fields) - {"ttl_s"}:
        assert memory[name] == fields[name]


def test_expires_at_and_ttl_s_exclude_each_other(api):
    api.refused(422, "invalid_field", "POST", "/v1/memories", {"content": "a", "expires_at": FUTURE, "ttl_s": 5},
                field="ttl_s")


def test_ttl_s_counts_from_now(api):
    memory = api.store("a", ttl_s=3600)
    assert memory["expires_at"][:10] in (memory["created_at"][:10], memory["expires_at"][:10])
    hour = lambda time: int(time[11:13]) * 3600 + int(time[14:16]) * 60 + int(time[17:19])  # noqa: E731
    assert (hour(memory["expires_at"]) - hour(memory["created_at"])) % 86400 == 3600


def test_duplicate_tags_are_dropped_and_the_order_is_kept(api):
    assert api.store("a", tags=["b", "a", "b", "A", "a"])["tags"] == ["b", "a", "A"]


def test_spine_agent_is_the_author_unless_the_body_says_otherwise(api):
    header = {"Spine-Agent": "analyst"}
    assert api.store("a", header)["agent"] == "analyst"
    assert api.store("a", header, agent="researcher")["agent"] == "researcher"
    assert api.store("a", header, agent=None)["agent"] == "analyst"
    assert api.ok("POST", "/v1/memories/batch", {"memories": [{"content": "a"}]}, header,
                  201)["memories"][0]["agent"] == "analyst"


@pytest.mark.parametrize("agent", ["", "a" * 129])
def test_a_bad_spine_agent_is_refused(api, agent):
    problem = api.call("POST", "/v1/memories", {"content": "a"}, {"Spine-Agent": agent})
    assert problem.status == 422 and problem.json["field"] == "Spine-Agent", problem


def test_unknown_fields_are_ignored_and_listed_in_warnings(api):
    memory = api.store("a", colour="blue", state="forgotten", importance="low")
    assert [warning["field"] for warning in memory["warnings"]] == ["colour", "state"]
    assert {warning["code"] for warning in memory["warnings"]} == {"unknown_field"}
    assert memory["state"] == "active" and memory["importance"] == "low"
    assert "warnings" not in api.get(memory["id"])
    assert "warnings" not in api.store("a")
    patched = api.patch(memory["id"], content="b", shape="round")
    assert [warning["field"] for warning in patched["warnings"]] == ["shape"]
    batch = api.ok("POST", "/v1/memories/batch", {"memories": [{"content": "a", "x": 1}], "y": 2}, status=201)
    assert sorted(warning["field"] for warning in batch["warnings"]) == ["memories[].x", "y"]


# --- Ids -------------------------------------------------------------------------------------------


def test_the_server_counts_up_one_sequence_a_space(api, connect):
    other = connect()
    assert [api.store()["id"], api.store()["id"], other.store()["id"], api.store()["id"]] == ["ms-1", "ms-2", "ms-1",
        "ms-3"]


def test_a_free_id_may_be_given_and_the_sequence_goes_on_above_the_highest(api):
    assert api.store(id="ms-100")["id"] == "ms-100"
    assert api.store()["id"] == "ms-101"
    assert api.store(id="ms-7")["id"] == "ms-7"
    assert api.store()["id"] == "ms-102"


def test_an_id_that_is_taken_is_409_and_changes_nothing(api):
    first = api.store("first", id="ms-5")
    api.refused(409, "id_taken", "POST", "/v1/memories", {"content": "second", "id": "ms-5"}, field="id")
    assert api.get("ms-5") == first
    api.forget("ms-5")
    api.refused(409, "id_taken", "POST", "/v1/memories", {"content": "third", "id": "ms-5"}, field="id")
    assert api.store()["id"] == "ms-6"


def test_after_the_highest_id_there_is_no_next_one_but_free_ones_can_be_given(api):
    api.store()
    row = api.ok("GET", "/v1/export?part=memories")["memories"][0]
    api.ok("POST", "/v1/import", {"memories": [{**row, "id": f"ms-{MAX_ID}"}]})
    api.refused(409, "id_taken", "POST", "/v1/memories", {"content": "a"}, field="id")
    assert api.store(id="ms-3")["id"] == "ms-3"
    assert api.count() == 3


def test_above_the_highest_id_that_can_be_chosen_there_is_always_a_next_one(api):
    for number in (CHOSEN_MAX_ID + 1, MAX_ID):
        api.refused(422, "invalid_field", "POST", "/v1/memories", {"content": "a", "id": f"ms-{number}"}, field="id")
    api.store(id=f"ms-{CHOSEN_MAX_ID}")
    assert api.store()["id"] == f"ms-{CHOSEN_MAX_ID + 1}"


# --- Batch -----------------------------------------------------------------------------------------


def test_a_batch_is_answered_in_its_order(api):
    made = api.ok("POST", "/v1/memories/batch", {"memories": [{"content": str(i),
                                                               "tags": [f"t{i}"]} for i in range(50)]}, status=201)
    assert list(made) == ["memories"]
    assert [memory["content"] for memory in made["memories"]] == [str(i) for i in range(50)]
    assert [memory["id"] for memory in made["memories"]] == [f"ms-{i + 1}" for i in range(50)]
    assert all(list(memory) == MEMORY_MEMBERS for memory in made["memories"])
    assert api.get("ms-50") == made["memories"][49]


@pytest.mark.parametrize("bad, status, code, field", [
    ({"content": ""}, 422, "invalid_field", "memories[3].content"),
    ({}, 422, "missing_field", "memories[3].content"),
    ("text", 422, "invalid_field", "memories[3]"),
    (None, 422, "invalid_field", "memories[3]"),
    ({"content": "a", "tags": ["a", ""]}, 422, "invalid_field", "memories[3].tags[1]"),
    ({"content": "a", "id": "ms-1"}, 409, "id_taken", "memories[3].id"),
    ({"content": "a", "id": "ms-2"}, 409, "id_taken", "memories[3].id"),
    ({"content": "a", "supersedes": "ms-99"}, 404, "memory_not_found", "memories[3].supersedes"),
    ({"content": "a", "created_at": FUTURE}, 422, "invalid_field", "memories[3].created_at"),
])
def test_a_batch_is_stored_whole_or_not_at_all_and_the_error_names_the_place(api, bad, status, code, field):
    kept = api.store("kept")
    batch = [{"content": "a"}, {"content": "b", "supersedes": "ms-1"}, {"content": "c", "id": "ms-50"}, bad,
             {"content": "d"}]
    api.refused(status, code, "POST", "/v1/memories/batch", {"memories": batch}, field=field)
    assert api.count() == 1
    assert api.get("ms-1") == kept
    assert api.ids() == ["ms-1"]
    assert api.store()["id"] == "ms-2"


def test_a_batch_has_1_to_1000_memories(api):
    for wrong in ({}, {"memories": []}, {"memories": None}):
        api.refused(422, "missing_field", "POST", "/v1/memories/batch", wrong, field="memories")
    api.refused(422, "invalid_field", "POST", "/v1/memories/batch", {"memories": {}}, field="memories")
    many = [{"content": "a"}] * 1001
    api.refused(422, "too_large", "POST", "/v1/memories/batch", {"memories": many}, field="memories")
    assert api.count() == 0
    assert len(api.ok("POST", "/v1/memories/batch", {"memories": many[:1000]}, status=201)["memories"]) == 1000
    assert api.count() == 1000


def test_a_memory_may_supersede_one_of_the_same_batch(api):
    batch = [{"content": "old", "id": "ms-10"}, {"content": "new", "supersedes": "ms-10"}]
    old, new = api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)["memories"]
    assert (old["state"], old["superseded_by"], new["supersedes"]) == ("superseded", new["id"], "ms-10")
    assert api.get("ms-10") == old
    assert api.ids() == [new["id"]]


# --- Reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["ms-2", "ms-1@2", "ms-0", "ms-01", "ms-1@0", "ms-1@", "1", "batchx",
                                   f"ms-{MAX_ID + 1}", "ms-1%2F2", "%6ds-9"])
def test_what_is_not_there_is_404(api, wrong):
    api.store()
    for method, path in (("GET", ""), ("GET", "/versions"), ("DELETE", ""), ("POST", "/pin"), ("POST", "/unpin")):
        answer = api.call(method, f"/v1/memories/{wrong}{path}")
        assert (answer.status, answer.json["code"]) in ((404, "memory_not_found"), (422, "invalid_field")), answer
        if method == "GET" and path == "":
            assert answer.status == 404
    assert api.call("PATCH", f"/v1/memories/{wrong}", {"content": "b"}).status in (404, 422)
    assert api.get("ms-1")["content"] == "something to remember"


def test_an_escaped_id_is_the_same_id(api):
    api.store("a")
    assert api.get("%6d%73-1")["id"] == "ms-1"
    api.refused(400, "invalid_request", "GET", "/v1/memories/ms-1%zz")


def test_a_version_is_answered_with_the_current_version(api):
    api.store("one")
    api.patch("ms-1", content="two")
    answer = api.call("GET", "/v1/memories/ms-1@1")
    assert answer.headers["ETag"] == '"ms-1@1"'
    assert (answer.json["content"], answer.json["version"], answer.json["current_version"]) == ("one", 1, 2)
    assert api.get("ms-1@2")["content"] == "two"
    assert api.get("ms-1")["content"] == "two"


def test_versions_are_listed_the_newest_first_in_pages(api):
    api.store("v1")
    for number in range(2, 8):
        api.patch("ms-1", content=f"v{number}")
    everything = api.ok("GET", "/v1/memories/ms-1/versions")
    assert [version["content"] for version in everything["versions"]] == [f"v{number}" for number in range(7, 0, -1)]
    assert everything["next_page_token"] is None
    seen, path = [], "/v1/memories/ms-1/versions?page_size=3"
    while True:
        page = api.ok("GET", path)
        seen.append([version["version"] for version in page["versions"]])
        if page["next_page_token"] is None:
            break
        path = f"/v1/memories/ms-1/versions?page_size=3&page_token={page['next_page_token']}"
    assert seen == [[7, 6, 5], [4, 3, 2], [1]]


def test_versions_of_an_exact_page_end_with_it(api):
    api.store("v1")
    api.patch("ms-1", content="v2")
    assert api.ok("GET", "/v1/memories/ms-1/versions?page_size=2")["next_page_token"] is None


# --- Fetch -----------------------------------------------------------------------------------------


def test_fetch_answers_in_the_order_of_the_ids_and_duplicates_once(api):
    for text in "abcde":
        api.store(text)
    api.patch("ms-2", content="b2")
    api.forget("ms-4")
    wanted = ["ms-5", "ms-9", "ms-2@1", "ms-1", "ms-5", "ms-4", "ms-2", "ms-2@7", "ms-4@1", "ms-1"]
    answer = api.ok("POST", "/v1/memories/fetch", {"ids": wanted})
    assert list(answer) == ["memories", "missing"]
    assert [(memory["id"], memory["version"]) for memory in answer["memories"]] == [("ms-5", 1), ("ms-2", 1), ("ms-1",
        1), ("ms-2", 2)]
    assert answer["missing"] == [
        {"id": "ms-9", "reason": "unknown"}, {"id": "ms-4", "reason": "forgotten"},
        {"id": "ms-2@7", "reason": "unknown"},
        {"id": "ms-4@1", "reason": "forgotten"},
    ]


def test_fetch_answers_superseded_and_expired_memories_with_their_state(api):
    api.store("old")
    api.store("new", supersedes="ms-1")
    api.store("stale", expires_at=PAST)
    states = [memory["state"] for memory in api.ok("POST", "/v1/memories/fetch", {"ids": ["ms-1", "ms-2",
        "ms-3"]})["memories"]]
    assert states == ["superseded", "active", "expired"]


def test_fetch_answers_8_mib_at_most_and_says_what_it_did_not_give(api):
    ids = [api.store(f"{number} " + "a" * 255000)["id"] for number in range(40)]
    small = api.store("small")["id"]
    wanted, got, calls = [*ids, small, "ms-999"], [], 0
    while wanted:
        answer = api.ok("POST", "/v1/memories/fetch", {"ids": wanted})
        assert answer["memories"] and sum(len(memory["content"]) for memory in answer["memories"]) <= 8 << 20
        got += [memory["id"] for memory in answer["memories"]]
        wanted = [gone["id"] for gone in answer["missing"] if gone["reason"] == "not_given"]
        calls += 1
    assert got == [*ids, small] and calls == 2
    assert answer["missing"] == [{"id": "ms-999", "reason": "unknown"}]


def test_fetch_takes_at_most_1000_ids(api):
    api.store()
    api.refused(422, "too_large", "POST", "/v1/memories/fetch", {"ids": ["ms-1"] * 1001}, field="ids")
    answer = api.ok("POST", "/v1/memories/fetch", {"ids": [f"ms-{i}" for i in range(1, 1001)]})
    assert len(answer["memories"]) == 1 and len(answer["missing"]) == 999
    assert api.ok("POST", "/v1/memories/fetch", {"ids": []}) == {"memories": [], "missing": []}


@pytest.mark.parametrize("body, field", [({}, "ids"), ({"ids": "ms-1"}, "ids"), ({"ids": ["ms-1", 2]}, "ids[1]"),
                                         ({"ids": ["ms-1", "x"]}, "ids[1]")])
def test_a_bad_fetch_is_refused_by_place(api, body, field):
    answer = api.call("POST", "/v1/memories/fetch", body)
    assert answer.status == 422 and answer.json["field"] == field, answer


# --- Changing --------------------------------------------------------------------------------------

FULL = {
    "content": "c", "summary": "s", "kind": "fact", "tags": ["a"], "importance": "high", "agent": "x", "task": "t",
    "pinned": True,
    "trust": "user", "metadata": {"k": 1}, "expires_at": "2999-01-01T00:00:00.000Z",
}


def test_the_fields_given_replace_the_old_ones_and_make_a_new_version(api):
    before = api.ok("POST", "/v1/memories", FULL, status=201)
    answer = api.call("PATCH", "/v1/memories/ms-1", {"summary": "new", "tags": ["b", "c"]})
    assert answer.status == 200 and answer.headers["ETag"] == '"ms-1@2"'
    after = answer.json
    assert after["version"] == 2 and after["updated_at"] >= before["updated_at"]
    assert (after["summary"], after["tags"]) == ("new", ["b", "c"])
    for name in set(MEMORY_MEMBERS) - {"version", "updated_at", "summary", "tags"}:
        assert after[name] == before[name]
    assert api.get("ms-1") == after
    assert api.get("ms-1@1")["summary"] == "s"


@pytest.mark.parametrize("name, cleared", [
    ("summary", None), ("kind", "note"), ("tags", []), ("importance", "medium"), ("agent", None), ("task", None),
    ("pinned", False),
    ("trust", "agent"), ("metadata", {}), ("expires_at", None),
])
def test_null_in_a_patch_clears_the_field(api, name, cleared):
    before = api.ok("POST", "/v1/memories", FULL, status=201)
    after = api.patch("ms-1", **{name: None})
    assert after[name] == cleared
    for other in set(MEMORY_MEMBERS) - {"version", "updated_at", name}:
        assert after[other] == before[other]


def test_content_cannot_be_cleared(api):
    api.store("a")
    api.refused(422, "invalid_field", "PATCH", "/v1/memories/ms-1", {"content": None}, field="content")
    api.refused(422, "invalid_field", "PATCH", "/v1/memories/ms-1", {"content": ""}, field="content")


@pytest.mark.parametrize("same", [
    {}, {"content": "c"}, {"tags": ["a"]}, {"tags": ["a", "a"]}, {"metadata": {"k": 1.0}}, {"pinned": True},
    {"expires_at": "2999-01-01T01:00:00+01:00"}, FULL,
])
def test_where_nothing_would_change_no_version_is_made(api, same):
    before = api.ok("POST", "/v1/memories", FULL, status=201)
    assert api.ok("PATCH", "/v1/memories/ms-1", same) == before
    assert len(api.ok("GET", "/v1/memories/ms-1/versions")["versions"]) == 1


@pytest.mark.parametrize("name, value", [("id", "ms-1"), ("id", None), ("created_at", PAST), ("supersedes", "ms-2"),
                                         ("supersedes", None)])
def test_id_created_at_and_supersedes_cannot_be_changed(api, name, value):
    before = api.store("a")
    api.store("b")
    api.refused(422, "immutable_field", "PATCH", "/v1/memories/ms-1", {"content": "c", name: value}, field=name)
    assert api.get("ms-1") == before


def test_ttl_s_in_a_patch_counts_from_now(api):
    api.store("a", expires_at=PAST)
    assert api.get("ms-1")["state"] == "expired"
    after = api.patch("ms-1", ttl_s=1000)
    assert after["state"] == "active" and after["version"] == 2 and after["expires_at"] > after["created_at"]
    assert api.ids() == ["ms-1"]


def test_pin_and_unpin_make_no_version(api):
    before = api.store("a")
    pinned = api.ok("POST", "/v1/memories/ms-1/pin")
    assert pinned == {**before, "pinned": True}
    assert api.ok("POST", "/v1/memories/ms-1/pin") == pinned
    assert api.ok("POST", "/v1/memories/ms-1/unpin") == before
    assert api.patch("ms-1", pinned=True) == pinned
    assert api.patch("ms-1", pinned=False) == before
    assert len(api.ok("GET", "/v1/memories/ms-1/versions")["versions"]) == 1


def test_pinned_together_with_content_in_a_patch_makes_one_version(api):
    api.store("a")
    after = api.patch("ms-1", pinned=True, content="b")
    assert (after["version"], after["pinned"], after["content"]) == (2, True, "b")


def test_revert_makes_a_new_version_with_what_the_old_one_said(api):
    first = api.ok("POST", "/v1/memories", FULL, status=201)
    api.patch("ms-1", content="two", summary=None, tags=["z"], expires_at=None, importance="low")
    api.ok("POST", "/v1/memories/ms-1/unpin")
    answer = api.call("POST", "/v1/memories/ms-1/revert", {"version": 1})
    assert answer.status == 200 and answer.headers["ETag"] == '"ms-1@3"'
    back = answer.json
    for name in set(MEMORY_MEMBERS) - {"version", "updated_at", "pinned"}:
        assert back[name] == first[name]
    assert back["version"] == 3
    assert back["pinned"] is False  # a pin belongs to the memory, not to a version
    assert api.get("ms-1@2")["content"] == "two"
    # To what it says already: nothing.
    assert api.ok("POST", "/v1/memories/ms-1/revert", {"version": 1})["version"] == 3


@pytest.mark.parametrize("body, code", [
    ({"version": 9}, "invalid_field"), ({"version": 0}, "invalid_field"), ({"version": "1"}, "invalid_field"),
    ({}, "missing_field"),
    ({"version": 2**32}, "invalid_field"),
])
def test_revert_to_no_version_is_422(api, body, code):
    api.store("a")
    api.refused(422, code, "POST", "/v1/memories/ms-1/revert", body, field="version")
    assert api.get("ms-1")["version"] == 1


@pytest.mark.parametrize("method, path", [("PATCH", ""), ("DELETE", ""), ("POST", "/pin"), ("POST", "/unpin"), ("POST",
    "/revert")])
def test_only_the_memory_as_a_whole_can_be_changed(api, method, path):
    api.store("a")
    body = {"version": 1} if path == "/revert" else {"content": "b"} if method == "PATCH" else None
    api.refused(422, "invalid_field", method, f"/v1/memories/ms-1@1{path}", body, field="id")


# --- Superseding, expiring -------------------------------------------------------------------------


def test_a_superseded_memory_is_not_found_but_read_by_its_id_as_before(api):
    old = api.store("the old way of the gateway")
    new = api.store("the new way of the gateway", supersedes="ms-1")
    assert new["supersedes"] == "ms-1"
    assert api.get("ms-1") == {**old, "state": "superseded", "superseded_by": "ms-2"}
    assert api.ids() == ["ms-2"] and api.ids("query=gateway") == ["ms-2"]
    assert api.ids("state=superseded") == ["ms-1"] and api.ids("query=gateway&state=superseded") == ["ms-1"]
    assert api.ids("state=any") == ["ms-2", "ms-1"]


def test_a_chain_of_memories_supersedes_one_after_the_other(api):
    api.store("1")
    for number in range(1, 5):
        api.store(str(number + 1), supersedes=f"ms-{number}")
    assert [api.get(f"ms-{n}")["superseded_by"] for n in range(1, 6)] == ["ms-2", "ms-3", "ms-4", "ms-5", None]
    assert api.ids() == ["ms-5"]


def test_only_what_is_there_and_has_no_successor_can_be_superseded(api):
    api.store("a")
    api.store("b", supersedes="ms-1")
    api.store("c")
    api.forget("ms-3")
    problem = api.refused(409, "already_superseded", "POST", "/v1/memories", {"content": "d", "supersedes": "ms-1"},
                          field="supersedes")
    assert "ms-2" in problem["detail"]
    api.refused(409, "memory_forgotten", "POST", "/v1/memories", {"content": "d", "supersedes": "ms-3"},
                field="supersedes")
    api.refused(404, "memory_not_found", "POST", "/v1/memories", {"content": "d", "supersedes": "ms-77"},
                field="supersedes")
    # Itself it cannot supersede: it is not there yet.
    api.refused(404, "memory_not_found", "POST", "/v1/memories", {"content": "d", "id": "ms-9", "supersedes": "ms-9"},
                field="supersedes")
    assert api.count() == 2


def test_an_expired_memory_is_not_found_but_read_by_its_id_as_before(api):
    stale = api.store("a stale word", expires_at=PAST)
    assert stale["state"] == "expired" and stale["expires_at"] == "2020-01-01T00:00:00.000Z"
    api.store("a fresh word", expires_at=FUTURE)
    assert api.get("ms-1") == stale
    assert api.ids() == ["ms-2"] and api.ids("query=word") == ["ms-2"]
    assert api.ids("state=expired") == ["ms-1"] and api.ids("query=word&state=expired") == ["ms-1"]
    assert api.ids("state=any&order=oldest") == ["ms-1", "ms-2"]


def test_the_earliest_time_of_all_is_a_time_like_any_other(api):
    assert api.store("a", expires_at="1970-01-01T00:00:00Z")["state"] == "expired"
    memory = api.store("b", created_at="1970-01-01T00:00:00Z")
    assert memory["created_at"] == "1970-01-01T00:00:00.000Z"
    assert api.ids("created_before=1970-01-01T00:00:00Z") == []


# --- Forgetting ------------------------------------------------------------------------------------


def test_forgetting_leaves_a_tombstone(api):
    before = api.ok("POST", "/v1/memories", {**FULL, "id": "ms-9"}, status=201)
    api.patch("ms-9", content="zebra")
    answer = api.call("DELETE", "/v1/memories/ms-9")
    assert answer.status == 200
    tomb = answer.json
    assert {name: tomb[name] for name in ("id", "version", "state", "created_at")} == {
        "id": "ms-9", "version": 2, "state": "forgotten", "created_at": before["created_at"]}
    for name in ("content", "summary", "kind", "importance", "agent", "task", "trust", "digest", "expires_at"):
        assert tomb[name] is None
    assert (tomb["tags"], tomb["metadata"], tomb["pinned"]) == ([], {}, False)
    assert api.get("ms-9") == tomb
    old = api.get("ms-9@1")
    assert (old["state"], old["content"], old["version"], old["current_version"]) == ("forgotten", None, 1, 2)
    assert api.ok("GET", "/v1/memories/ms-9/versions")["versions"] == []
    for query in ("", "state=any", "query=zebra", "query=zebra&state=any"):
        assert api.ids(query) == []
    assert api.count() == 0


@pytest.mark.parametrize("which", [0, 1, 2])
def test_any_memory_of_a_batch_can_be_forgotten(api, which):
    """With its author, who stands in the event of the batch."""
    batch = {"memories": [{"content": f"memory {number}", "agent": "zqbatch"} for number in range(3)]}
    made = api.ok("POST", "/v1/memories/batch", batch, {"Spine-Agent": "zqbatch"}, 201)["memories"]
    assert api.forget(made[which]["id"])["state"] == "forgotten"
    stored = [entry for entry in api.ok("GET", "/v1/audit")["entries"] if entry["action"] == "memory.store"]
    assert [entry["actor"] for entry in stored] == [None], stored
    for other in made:
        assert api.forget(other["id"])["state"] == "forgotten"


def test_forgetting_removes_the_author_everywhere(start, tmp_path):
    """From the tombstone, the history, envelopes, and the bytes of the file; who forgot it stays."""
    server = start().wait_until_ready()
    api = Api(server.address, "authors")
    api.call("POST", "/v1/memories", {"content": "one", "agent": "zqauthor", "id": "ms-7"})
    api.call("PATCH", "/v1/memories/ms-7", {"content": "two"}, {"Spine-Agent": "zqeditor"})
    api.call("POST", "/v1/memories/ms-7/pin", None, {"Spine-Agent": "pinner"})
    many = [{"content": f"batch {n}", "agent": "zqbatch"} for n in range(3)]
    batch = api.ok("POST", "/v1/memories/batch", {"memories": many}, status=201)
    other = api.call("POST", "/v1/memories", {"content": "stays", "agent": "other"}).json
    refs = ["ms-7", *[one["id"] for one in batch["memories"]], other["id"]]
    order = {"from": "a", "target_agent": "b", "task_summary": "go on", "refs": refs}
    packed = api.ok("POST", "/v1/envelopes", order, status=201)
    authors = {ref["id"]: ref["agent"] for ref in packed["memory"]["refs"]}
    assert authors["ms-7"] == "zqauthor" and authors[other["id"]] == "other", authors
    assert api.ok("GET", f"/v1/envelopes/{packed['id']}") == packed
    assert api.ok("GET", f"/v1/envelopes/{packed['id']}/verify")["verdict"] == "intact"
    for memory in refs[:-1]:
        assert api.call("DELETE", f"/v1/memories/{memory}", None, {"Spine-Agent": "forgetter"}).status == 200
    left = api.ok("GET", f"/v1/envelopes/{packed['id']}")
    assert {ref["agent"] for ref in left["memory"]["refs"]} == {None, "other"}, left["memory"]["refs"]
    assert api.ok("GET", f"/v1/envelopes/{packed['id']}/verify")["verdict"] == "forgotten"
    prompt = api.call("GET", f"/v1/envelopes/{packed['id']}?format=prompt").data
    assert b"zqauthor" not in prompt and b"zqbatch" not in prompt and b"other" in prompt
    entries = api.ok("GET", "/v1/audit?page_size=100")["entries"]
    actors = [(entry["action"], entry["object"], entry["actor"]) for entry in entries]
    assert ("memory.store", "ms-7", None) in actors and ("memory.update", "ms-7", None) in actors, actors
    assert ("memory.pin", "ms-7", "pinner") in actors and ("memory.forget", "ms-7", "forgetter") in actors
    assert ("memory.store", other["id"], "other") in actors
    assert server.terminate() == 0
    for path in server.data.glob("spine.db*"):
        for name in (b"zqauthor", b"zqeditor", b"zqbatch"):
            assert name not in path.read_bytes(), f"{name} is still in {path.name}"


def test_forgetting_again_answers_the_same(api):
    api.store("a")
    first = api.forget("ms-1")
    assert api.forget("ms-1") == first


@pytest.mark.parametrize("method, path, body", [
    ("PATCH", "", {"content": "b"}), ("PATCH", "", {}), ("POST", "/pin", None), ("POST", "/unpin", None),
    ("POST", "/revert", {"version": 1}),
])
def test_changing_a_forgotten_memory_is_409(api, method, path, body):
    api.store("a")
    tomb = api.forget("ms-1")
    api.refused(409, "memory_forgotten", method, f"/v1/memories/ms-1{path}", body)
    assert api.get("ms-1") == tomb


def test_a_memory_that_superseded_a_forgotten_one_keeps_its_link(api):
    api.store("a")
    api.store("b", supersedes="ms-1")
    api.forget("ms-1")
    assert api.get("ms-2")["supersedes"] == "ms-1"
    assert api.get("ms-1")["superseded_by"] == "ms-2"
    api.forget("ms-2")
    assert api.get("ms-1")["state"] == "forgotten"
