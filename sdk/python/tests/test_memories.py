"""The calls on memories, against the real server. Each test holds for both clients."""

import hashlib
from datetime import datetime, timedelta, timezone

import pytest

from memory_spine import Conflict, NotFound, PreconditionFailed, SpineWarning, ValidationError

UTC = timezone.utc
MISSING = "ms-1099511627775"


def now():
    return datetime.now(UTC)


# --- Storing -------------------------------------------------------------------------------------


def test_a_stored_memory_comes_back_whole(spine):
    expires = (now() + timedelta(days=1)).replace(microsecond=123000)
    stored = spine.store(
        "The gateway answers 429 with Retry-After in seconds. Ünïcode 研究 \U0001f600",
        summary="429 with Retry-After",
        kind="observation",
        tags=["gateway", "limits", "gateway"],
        importance="high",
        agent="researcher",
        task="task-7",
        pinned=True,
        trust="external",
        metadata={"source": "docs/api.md", "page": 3, "nested": {"deep": [1, None, True]}},
        expires_at=expires,
    )
    assert stored == spine.get(stored.id)
    assert stored.content.endswith("研究 \U0001f600")
    assert stored.tags == ("gateway", "limits")
    assert (stored.version, stored.state, stored.importance, stored.trust) == (1, "active", "high", "external")
    assert (stored.agent, stored.task, stored.kind, stored.pinned) == ("researcher", "task-7", "observation", True)
    assert stored.metadata == {"source": "docs/api.md", "page": 3, "nested": {"deep": [1, None, True]}}
    assert stored.expires_at == expires
    assert stored.digest == "sha256:" + hashlib.sha256(stored.content.encode()).hexdigest()
    assert stored.created_at.tzinfo is UTC
    assert abs(stored.created_at - now()) < timedelta(minutes=1)


def test_the_defaults_are_the_protocols(spine):
    memory = spine.store("plain")
    assert (memory.kind, memory.importance, memory.trust, memory.pinned) == ("note", "medium", "agent", False)
    assert (memory.summary, memory.agent, memory.task, memory.expires_at, memory.supersedes) == (None,) * 5
    assert (memory.tags, memory.metadata) == ((), {})


def test_the_clients_agent_is_the_author(connect, server, space):
    spine = connect(server.url, space=space, agent="Ägent 研究")
    assert spine.store("mine").agent == "Ägent 研究"
    assert spine.store("another's", agent="ghost").agent == "ghost"


def test_spaces_do_not_see_one_another(connect, server, space):
    here, there = connect(server.url, space=space), connect(server.url, space=space + "-b")
    memory = here.store("only here")
    with pytest.raises(NotFound):
        there.get(memory.id)
    assert there.list().all() == []


def test_an_id_may_be_chosen_once(spine):
    assert spine.store("first", id="ms-4821").id == "ms-4821"
    with pytest.raises(Conflict) as caught:
        spine.store("second", id="ms-4821")
    assert caught.value.code == "id_taken"
    assert spine.store("third").id == "ms-4822"


def test_times_of_an_import_are_kept(spine):
    created = datetime(2020, 2, 29, 12, 0, 0, 5000, UTC)
    assert spine.store("old", created_at=created).created_at == created
    assert spine.store("old", created_at="2020-02-29T13:00:00.005+01:00").created_at == created


def test_a_time_to_live_becomes_a_time(spine):
    memory = spine.store("soon gone", ttl_s=3600)
    assert memory.expires_at == memory.created_at + timedelta(hours=1)


def test_the_same_key_stores_once(spine):
    first = spine.store("once", idempotency_key="key-1")
    again = spine.store("once", idempotency_key="key-1")
    assert again.id == first.id
    assert len(spine.list().all()) == 1
    with pytest.raises(Conflict) as caught:
        spine.store("something else", idempotency_key="key-1")
    assert caught.value.code == "idempotency_conflict"


def test_a_batch_is_stored_in_its_order(spine):
    created = datetime(2024, 5, 1, tzinfo=UTC)
    stored = spine.store_many(
        ["one", {"content": "two", "tags": ("a", "b"), "created_at": created}, {"content": "three"}]
    )
    assert [memory.content for memory in stored] == ["one", "two", "three"]
    assert stored[1].tags == ("a", "b")
    assert stored[1].created_at == created
    assert [memory.id for memory in spine.list(order="oldest")] == [memory.id for memory in stored]


def test_a_batch_is_stored_whole_or_not_at_all(spine):
    with pytest.raises(ValidationError) as caught:
        spine.store_many(["good", {"content": "bad", "importance": "urgent"}])
    assert caught.value.code == "invalid_field"
    assert caught.value.field == "memories[1].importance"
    assert spine.list().all() == []


def test_a_batch_beyond_the_limit_is_refused(spine):
    with pytest.raises(ValidationError):
        spine.store_many(["x"] * 1001)
    assert len(spine.store_many(["x"] * 1000)) == 1000


def test_a_field_that_the_server_does_not_know_is_told(spine):
    with pytest.warns(SpineWarning, match="colour"):
        spine.store_many([{"content": "x", "colour": "blue"}])


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"content": ""}, "content"),
        ({"content": "x" * (256 * 1024 + 1)}, "content"),
        ({"content": "x", "importance": "urgent"}, "importance"),
        ({"content": "x", "ttl_s": 0}, "ttl_s"),
        ({"content": "x", "ttl_s": 5, "expires_at": "2099-01-01T00:00:00Z"}, "ttl_s"),
        ({"content": "x", "created_at": "2999-01-01T00:00:00Z"}, "created_at"),
        ({"content": "x", "tags": ["a"] * 1 + [str(n) for n in range(64)]}, "tags"),
        ({"content": "x", "id": "4821"}, "id"),
    ],
)
def test_what_is_refused_names_its_field(spine, fields, field):
    with pytest.raises(ValidationError) as caught:
        spine.store(**fields)
    assert caught.value.status == 422
    assert caught.value.field == field
    assert caught.value.detail
    assert caught.value.retryable is False


def test_an_integer_that_json_readers_would_round_is_refused(spine):
    with pytest.raises(ValidationError) as caught:
        spine.store("x", metadata={"big": 2**53})
    assert caught.value.code == "number_out_of_range"


def test_the_largest_memory_fits(spine):
    content = "\u00e9" * (128 * 1024)
    assert spine.get(spine.store(content).id).content == content


# --- Versions ------------------------------------------------------------------------------------


def test_an_update_makes_a_version_and_keeps_the_old_one(spine):
    first = spine.store("one", summary="s", tags=["a"])
    second = spine.update(first.id, content="two", summary=None)
    assert (second.version, second.content, second.summary, second.tags) == (2, "two", None, ("a",))
    old = spine.get(first.id, version=1)
    assert (old.content, old.version, old.current_version) == ("one", 1, 2)
    assert spine.get(first.ref).content == "one"
    assert spine.get(first.id).content == "two"


def test_an_update_that_changes_nothing_makes_no_version(spine):
    memory = spine.store("one", tags=["a"])
    assert spine.update(memory.id, content="one", tags=["a"]).version == 1
    assert spine.update(memory.id).version == 1


def test_an_update_of_what_has_moved_on_is_refused(spine):
    memory = spine.store("one")
    spine.update(memory.id, content="two", if_version=1)
    with pytest.raises(PreconditionFailed) as caught:
        spine.update(memory.id, content="three", if_version=1)
    assert caught.value.code == "precondition_failed"
    assert caught.value.current_version == 2
    assert spine.get(memory.id).content == "two"


def test_the_other_changes_take_if_version_too(spine):
    memory = spine.store("one")
    spine.update(memory.id, content="two")
    for call in (
        lambda: spine.revert(memory.id, 1, if_version=1),
        lambda: spine.pin(memory.id, if_version=1),
        lambda: spine.unpin(memory.id, if_version=1),
        lambda: spine.forget(memory.id, if_version=1),
    ):
        with pytest.raises(PreconditionFailed):
            call()
    assert spine.forget(memory.id, if_version=2).state == "forgotten"


def test_versions_come_newest_first_over_all_pages(spine):
    memory = spine.store("1")
    for number in range(2, 8):
        spine.update(memory.id, content=str(number))
    assert [version.content for version in spine.versions(memory.id)] == list("7654321")
    assert [version.content for version in spine.versions(memory.id, page_size=2)] == list("7654321")
    assert [len(page.items) for page in spine.versions(memory.id, page_size=3).pages()] == [3, 3, 1]


def test_versions_of_what_is_not_there_are_not_found(spine):
    with pytest.raises(NotFound):
        spine.versions("ms-9").all()


def test_a_revert_makes_a_new_version(spine):
    memory = spine.store("one")
    spine.update(memory.id, content="two")
    reverted = spine.revert(memory.id, 1)
    assert (reverted.version, reverted.content) == (3, "one")
    with pytest.raises(ValidationError) as caught:
        spine.revert(memory.id, 9)
    assert caught.value.field == "version"


def test_pins_make_no_version(spine):
    memory = spine.store("one")
    assert spine.pin(memory.id).pinned
    assert spine.pin(memory.id).version == 1
    assert spine.get(memory.id).pinned
    assert not spine.unpin(memory.id).pinned
    assert spine.update(memory.id, pinned=True).version == 1


# --- Ends ----------------------------------------------------------------------------------------


def test_forgetting_removes_what_was_said_and_leaves_a_tombstone(spine):
    memory = spine.store("a secret", summary="s", tags=["t"], metadata={"m": 1}, agent="me", task="job")
    spine.update(memory.id, content="another secret")
    gone = spine.forget(memory.id)
    assert (gone.id, gone.state, gone.content) == (memory.id, "forgotten", "")
    assert (gone.summary, gone.tags, gone.metadata, gone.agent, gone.task) == (None, (), {}, None, None)
    assert spine.forget(memory.id).version == gone.version
    assert spine.get(memory.id).state == "forgotten"
    assert spine.search("secret") == []
    with pytest.raises(Conflict) as caught:
        spine.update(memory.id, content="back")
    assert caught.value.code == "memory_forgotten"


def test_a_superseded_memory_says_by_what(spine):
    old = spine.store("the limit is 10")
    new = spine.store("the limit is 20", supersedes=old.id)
    assert new.supersedes == old.id
    old = spine.get(old.id)
    assert (old.state, old.superseded_by) == ("superseded", new.id)
    assert [memory.id for memory in spine.search("limit")] == [new.id]
    assert [memory.id for memory in spine.search("limit", state="superseded")] == [old.id]
    with pytest.raises(Conflict) as caught:
        spine.store("the limit is 30", supersedes=old.id)
    assert caught.value.code == "already_superseded"


def test_an_expired_memory_is_read_by_its_id_only(spine):
    memory = spine.store("was true", created_at="2020-01-01T00:00:00Z", expires_at="2020-01-02T00:00:00Z")
    assert spine.get(memory.id).state == "expired"
    assert spine.list().all() == []
    assert [found.id for found in spine.list(state="expired")] == [memory.id]


def test_what_is_not_there_is_not_found(spine):
    spine.store("something")
    for call in (
        lambda: spine.get(MISSING),
        lambda: spine.get("ms-1", version=2),
        lambda: spine.update(MISSING, content="x"),
        lambda: spine.pin(MISSING),
        lambda: spine.forget(MISSING),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "memory_not_found"
        assert caught.value.status == 404


# --- Many at once --------------------------------------------------------------------------------


def test_fetch_answers_in_the_order_asked_and_says_what_is_missing(spine):
    one, two, three = spine.store_many(["one", "two", "three"])
    spine.update(two.id, content="two, again")
    spine.forget(three.id)
    result = spine.fetch([two.ref, MISSING, one.id, two.id, one.id, three.id])
    assert [(memory.id, memory.version, memory.content) for memory in result.memories] == [
        (two.id, 1, "two"),
        (one.id, 1, "one"),
        (two.id, 2, "two, again"),
    ]
    assert [(entry.id, entry.reason) for entry in result.missing] == [(MISSING, "unknown"), (three.id, "forgotten")]


def test_a_memory_says_where_it_came_from_and_what_nobody_sees_in_it(spine):
    plain, hidden = spine.store("plain"), spine.store("pay\u200bment")
    assert plain.flags == () and hidden.flags == ("invisible",) and plain.quarantined_at is None
    origin = spine.get(plain.id).origin
    assert (origin.protocol, origin.key, origin.claimed) == ("http", None, None)
    assert origin.client.startswith("memory-spine-python/") and origin.raw["client"] == origin.client


def test_fetch_gives_also_what_one_answer_has_no_room_for(spine):
    ids = [spine.store(f"{number} " + "a" * 255000).id for number in range(40)]
    result = spine.fetch([*ids, MISSING])
    assert [memory.id for memory in result.memories] == ids
    assert [(one.id, one.reason) for one in result.missing] == [(MISSING, "unknown")]


def test_fetching_nothing_finds_nothing(spine):
    result = spine.fetch([])
    assert (result.memories, result.missing) == ([], [])


def test_a_list_is_read_page_by_page_as_it_is_used(spine):
    stored = spine.store_many([str(number) for number in range(25)])
    ids = [memory.id for memory in stored]
    assert [memory.id for memory in spine.list(page_size=10)] == ids[::-1]
    assert [memory.id for memory in spine.list(page_size=10, order="oldest")] == ids
    pages = list(spine.list(page_size=10).pages())
    assert [len(page.items) for page in pages] == [10, 10, 5]
    assert pages[-1].next_page_token is None
    rest = spine.list(page_size=10, page_token=pages[0].next_page_token)
    assert [memory.id for memory in rest] == ids[::-1][10:]
    listing = spine.list(page_size=10)
    assert listing.all() == listing.all()


def test_a_page_token_of_another_list_is_refused(spine):
    spine.store_many(["a", "b", "c"])
    token = next(iter(spine.list(page_size=1).pages())).next_page_token
    with pytest.raises(ValidationError) as caught:
        spine.list(page_size=1, kind="fact", page_token=token).all()
    assert caught.value.code == "invalid_page_token"


def test_filters_narrow_a_list(spine):
    spine.store_many(
        [
            {"content": "a", "tags": ["x"], "kind": "fact", "importance": "low", "agent": "me", "metadata": {"n": 1}},
            {"content": "b", "tags": ["x", "y"], "kind": "note", "importance": "high", "agent": "you", "task": "t"},
            {"content": "c", "tags": ["y"], "kind": "plan", "trust": "user", "pinned": True, "metadata": {"s": "a b"}},
            {"content": "d", "created_at": "2020-06-01T00:00:00Z", "metadata": {"ok": True, "n": 1}},
        ]
    )

    def contents(**filters):
        return "".join(memory.content for memory in spine.list(order="oldest", **filters))

    assert contents(tag="x") == "ab"
    assert contents(tag=["x", "y"]) == "b"
    assert contents(kind=["fact", "plan"]) == "ac"
    assert contents(importance=["low", "high"]) == "ab"
    assert contents(agent="me") == "a"
    assert contents(task="t") == "b"
    assert contents(trust="user") == "c"
    assert contents(pinned=True) == "c"
    assert contents(pinned=False) == "abd"
    assert contents(metadata={"n": 1}) == "ad"
    assert contents(metadata={"n": 1, "ok": True}) == "d"
    assert contents(metadata={"s": "a b"}) == "c"
    assert contents(created_before=datetime(2020, 6, 2, tzinfo=UTC)) == "d"
    assert contents(created_after=datetime(2020, 6, 2, tzinfo=UTC)) == "abc"
    assert contents(created_after="2020-06-01T00:00:00Z", created_before="2020-06-01T00:00:00.001Z") == "d"


# --- Search --------------------------------------------------------------------------------------


def test_a_search_finds_by_stems_and_parts_best_first(spine):
    spine.store_many(
        [
            "Retries of the payment gateway back off exponentially.",
            "src/payments/gateway.c holds the retryPolicy.",
            "Sunshine everywhere today.",
        ]
    )
    found = spine.search("retry policy gateway")
    # The third has none of the words, but stands beside the best.
    assert [memory.id for memory in found] == ["ms-2", "ms-1", "ms-3"]
    assert found[2].relevance < found[0].relevance
    scores = [memory.score for memory in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_explain_shows_the_parts_of_a_score(spine):
    spine.store("The gateway limits requests.", importance="high", pinned=True)
    (plain,) = spine.search("gateway")
    assert plain.explanation is None
    (found,) = spine.search("gateway", explain=True)
    parts = found.explanation
    assert (parts.importance, parts.pinned) == (0.2, 0.25)
    factor = 1 + parts.importance + parts.pinned + parts.recency
    assert found.score == pytest.approx((parts.text + parts.neighbours) * factor)
    assert 0 < found.relevance < 1 and parts.neighbours == 0
    assert [(term.term, term.count) for term in parts.terms] == [("gateway", 1)]
    assert parts.text == pytest.approx(sum(term.score for term in parts.terms))


def test_explain_tells_what_neighbours_lend(spine):
    spine.store_many([{"content": "The gateway limits requests."}, {"content": "So does the proxy."}])
    assert spine.get("ms-1").relevance is None
    for found in spine.search("gateway requests", explain=True):
        parts = found.explanation
        whole = (parts.text + parts.neighbours) * (1 + parts.importance + parts.pinned + parts.recency)
        assert found.score == pytest.approx(whole)
    assert parts.neighbours > 0


def test_a_search_takes_the_filters_of_a_list(spine):
    spine.store_many([{"content": "gateway a", "tags": ["x"]}, {"content": "gateway b"}])
    assert [memory.content for memory in spine.search("gateway", tag="x")] == ["gateway a"]


def test_a_search_returns_as_many_as_asked_for(spine):
    spine.store_many([f"gateway {number}" for number in range(30)])
    assert len(spine.search("gateway")) == 20
    assert len(spine.search("gateway", limit=3)) == 3
    assert len(spine.search("gateway", limit=1000)) == 30


def test_a_search_beyond_a_page_goes_on(spine):
    for _ in range(2):
        spine.store_many([f"gateway {number}" for number in range(600)])
    found = spine.search("gateway", limit=1100)
    assert len({memory.id for memory in found}) == 1100


@pytest.mark.parametrize("query", ['"', "a AND (", "NOT *", "💥", "%00", "tag:x OR", "x" * 8192], ids=range(7))
def test_no_query_can_be_wrong(spine, query):
    spine.store("something")
    assert spine.search(query) == []
