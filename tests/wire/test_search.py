"""Listing and search: section 5 of the protocol."""

import itertools
import json
import math
import random
import time
from urllib.parse import quote, urlencode

import pytest

DAY_MS = 24 * 3600 * 1000


def pages(api, query, size):
    """All pages of a list, each as its ids."""
    token, result = "", []
    while True:
        page = api.list(f"{query}&page_size={size}" + (f"&page_token={token}" if token else ""))
        result.append([memory["id"] for memory in page["memories"]])
        token = page["next_page_token"]
        if token is None:
            return result


# --- Listing and its filters -----------------------------------------------------------------------


def test_a_list_is_the_newest_first(api):
    for number in range(5):
        api.store(str(number))
    answer = api.list()
    assert list(answer) == ["memories", "next_page_token"]
    assert [memory["id"] for memory in answer["memories"]] == ["ms-5", "ms-4", "ms-3", "ms-2", "ms-1"]
    assert answer["next_page_token"] is None
    assert answer["memories"][4] == api.get("ms-1")
    assert all("score" not in memory and "relevance" not in memory for memory in answer["memories"])
    assert api.ids("order=newest") == api.ids()
    assert api.ids("order=oldest") == ["ms-1", "ms-2", "ms-3", "ms-4", "ms-5"]


def test_a_blank_query_is_a_listing(api):
    api.store("a")
    api.store("b")
    assert api.ids("query=") == api.ids("query=+%20") == ["ms-2", "ms-1"]


def test_a_space_that_does_not_exist_lists_nothing(api):
    assert api.list() == {"memories": [], "next_page_token": None}
    assert api.list("query=word&tag=x") == {"memories": [], "next_page_token": None}


@pytest.fixture
def zoo(api):
    """Memories that differ in one thing each. The names of the test say which ids answer to which filter."""
    made = [
        {"content": "lion", "tags": ["cat", "big"], "kind": "fact", "agent": "ann", "task": "t1", "importance": "high",
         "trust": "user"},
        {"content": "tiger", "tags": ["cat", "big", "striped"], "kind": "fact", "agent": "bob", "task": "t2",
         "importance": "low", "trust": "system"},
        {"content": "wolf", "tags": ["dog"], "kind": "decision", "agent": "ann", "pinned": True,
         "importance": "critical", "trust": "external"},
        {"content": "lynx", "tags": ["cat"], "created_at": "2024-05-01T00:00:00Z",
         "metadata": {"s": "x", "n": 5, "f": 1.5, "b": True, "z": None}},
        {"content": "fox", "tags": ["Cat"], "created_at": "2024-05-02T00:00:00Z",
         "metadata": {"s": "5", "n": 6, "b": False, "deep": {"s": "x"}}},
        {"content": "bear", "created_at": "2024-05-03T00:00:00Z",
         "metadata": {"s": "x y&z=é", "n": -0.25, "m": {"s": "x"}}},
    ]
    for memory in made:
        api.ok("POST", "/v1/memories", memory, status=201)
    return api


@pytest.mark.parametrize("query, numbers", [
    ("tag=cat", [4, 2, 1]),
    ("tag=cat&tag=big", [2, 1]),
    ("tag=cat&tag=big&tag=striped", [2]),
    ("tag=cat&tag=dog", []),
    ("tag=Cat", [5]),
    ("tag=ca", []),
    ("kind=fact", [2, 1]),
    ("kind=fact&kind=decision", [3, 2, 1]),
    ("kind=note", [6, 5, 4]),
    ("agent=ann", [3, 1]),
    ("agent=ann&agent=bob", [3, 2, 1]),
    ("agent=nobody", []),
    ("task=t1&task=t2", [2, 1]),
    ("importance=medium", [6, 5, 4]),
    ("importance=high&importance=critical", [3, 1]),
    ("trust=agent", [6, 5, 4]),
    ("trust=user&trust=system&trust=external", [3, 2, 1]),
    ("pinned=true", [3]),
    ("pinned=false", [6, 5, 4, 2, 1]),
    ("created_after=2024-05-02T00:00:00Z&created_before=2024-05-03T00:00:00Z", [5]),
    ("created_before=2024-05-02T00:00:00Z", [4]),
    ("created_before=2024-05-02T00:00:00.001Z", [5, 4]),
    ("created_after=2024-05-03T00:00:00.001Z", [3, 2, 1]),
    ("created_after=2024-05-02T02:00:00%2B02:00&created_before=2025-01-01T00:00:00Z", [6, 5]),
    ("metadata.s=x", [4]),
    ("metadata.s=5", [5]),
    ("metadata.n=5", [4]),
    ("metadata.n=-0.25", [6]),
    ("metadata.f=1.5", [4]),
    ("metadata.b=true", [4]),
    ("metadata.b=false", [5]),
    ("metadata.z=null", []),
    ("metadata.deep=x", []),
    ("metadata.s=x+y%26z%3D%C3%A9", [6]),
    ("metadata.s=x&metadata.n=5", [4]),
    ("metadata.s=x&metadata.n=6", []),
    ("metadata.unknown=1", []),
    ("kind=note&tag=cat&metadata.b=true&pinned=false", [4]),
    ("kind=fact&agent=ann&task=t2", []),
    ("order=oldest&kind=fact", [1, 2]),
])
def test_each_filter_and_how_they_combine(zoo, query, numbers):
    wanted = [f"ms-{number}" for number in numbers]
    assert zoo.ids(query) == wanted
    if "order" not in query:
        words = "query=lion+tiger+wolf+lynx+fox+bear"
        assert sorted(zoo.ids(f"{words}&{query}")) == sorted(wanted)


def test_states_of_a_list(api):
    api.store("a1")
    api.store("a2", supersedes="ms-1")
    api.store("a3", expires_at="2020-01-01T00:00:00Z")
    api.store("a4", expires_at="2020-01-01T00:00:00Z")
    api.store("a5", supersedes="ms-4")
    api.store("a6")
    api.forget("ms-6")
    states = {"active": ["ms-5", "ms-2"], "superseded": ["ms-4", "ms-1"], "expired": ["ms-3"], "any": ["ms-5", "ms-4",
        "ms-3", "ms-2", "ms-1"]}
    for state, ids in states.items():
        assert api.ids(f"state={state}") == ids
        for memory in api.list(f"state={state}")["memories"]:
            assert state in ("any", memory["state"])
    assert api.ids() == states["active"]


@pytest.mark.parametrize("query, field", [
    ("importance=urgent", "importance"), ("trust=root", "trust"), ("pinned=yes", "pinned"), ("state=old", "state"),
    ("order=up", "order"),
    ("explain=1", "explain"), ("created_after=now", "created_after"),
    ("created_before=2024-13-01T00:00:00Z", "created_before"),
    ("page_size=0", "page_size"), ("page_size=1001", "page_size"), ("page_size=x", "page_size"),
    ("page_size=-1", "page_size"), ("page_size=05", "page_size"),
])
def test_a_bad_parameter_is_named(api, query, field):
    api.refused(422, "invalid_field", "GET", f"/v1/memories?{query}", field=field)


def test_unknown_parameters_are_ignored_and_listed_in_warnings(api):
    api.store("a")
    answer = api.list("colour=blue&kind=note")
    assert [memory["id"] for memory in answer["memories"]] == ["ms-1"]
    assert [warning["field"] for warning in answer["warnings"]] == ["colour"]


def test_metadata_with_thousands_of_keys_is_filtered_by_each_of_them(api):
    api.store("a", metadata={f"k{i}": i for i in range(1200)})
    assert api.ids("metadata.k0=0&metadata.k600=600&metadata.k1199=1199") == ["ms-1"]


@pytest.mark.parametrize("query", ["%zz", "query=%ff", "query=a%00b", "%ff=1"])
def test_a_query_string_that_is_no_text_is_refused(api, query):
    api.refused(400, "invalid_request", "GET", f"/v1/memories?{query}")


# --- Changes are seen at once ----------------------------------------------------------------------


def test_what_was_acknowledged_is_found_by_the_next_search(api):
    api.list()  # the index is there from now on
    word = [""] + ["".join(three) for three in itertools.product("bdfgklm", "aeiou", "x")]
    for number in range(1, 30):
        api.store(f"{word[number]} common", task=f"alone-{number}")
        assert api.ids(f"query={word[number]}") == [f"ms-{number}"]
    api.patch("ms-5", content="changed entirely")
    assert api.ids(f"query={word[5]}") == [] and api.ids("query=entirely") == ["ms-5"]
    api.forget("ms-6")
    assert api.ids(f"query={word[6]}") == []
    api.store("successor", supersedes="ms-7", task="alone")
    assert api.ids(f"query={word[7]}") == []
    api.ok("POST", "/v1/memories/ms-8/pin")
    assert api.ids("pinned=true") == ["ms-8"]
    api.ok("POST", "/v1/memories/ms-8/unpin")
    assert api.ids("pinned=true") == []
    api.ok("POST", "/v1/memories/ms-5/revert", {"version": 1})
    assert api.ids(f"query={word[5]}") == ["ms-5"]
    batch = [{"content": "batched", "task": "alone-30"}, {"content": "batched", "expires_at": "2020-01-01T00:00:00Z"}]
    made = api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)["memories"]
    assert api.ids("query=batched") == [made[0]["id"]]
    assert api.ids("query=batched&state=expired") == [made[1]["id"]]
    # A change to what was superseded does not bring it back.
    api.ok("POST", "/v1/memories/ms-7/pin")
    assert api.ids(f"query={word[7]}") == [] and api.ids(f"query={word[7]}&state=superseded") == ["ms-7"]


# --- Search ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("content, query", [
    ("The Gateway answers", "gateway"), ("gateway", "GATEWAY"), ("Überweisung", "uberweisung"), ("naive", "naïve"),
    ("résumé", "RESUME"),
    ("retries are limited", "retry"), ("connections", "connection"), ("ﬁle", "file"), ("ＦＵＬＬ width", "full"),
    ("const retryPolicy = 3;", "retryPolicy"), ("const retryPolicy = 3;", "retry"),
    ("const retryPolicy = 3;", "policy"), ("const retryPolicy = 3;", "retrypolicy"),
    ("const retryPolicy = 3;", "RETRYPOLICY"), ("const retryPolicy = 3;", "retry_policy"),
    ("the retrypolicy", "retryPolicy"),
    ("see src/payments/gateway.c", "payments"), ("see src/payments/gateway.c", "gateway"),
    ("see src/payments/gateway.c", "src/payments/gateway.c"),
    ("max_retry_count", "retry"), ("HTTPServer", "server"), ("支付网关的重试策略", "网关"), ("支払いゲートウェイ", "ゲート"),
])
def test_text_is_found_as_the_protocol_says(api, content, query):
    api.store(content)
    api.store("nothing of the kind 其他")
    assert api.ids(f"query={quote(query)}")[:1] == ["ms-1"]


@pytest.mark.parametrize("query", ["the", "What is it?", "of AND to", "I", "don't you", "which of these is the one that"])
def test_words_that_say_nothing_find_nothing(api, query):
    api.store("what is it that I do not have, and which of the other ones do you?")
    api.store("the end of the matter")
    found = api.list(urlencode({"query": query}))
    if "one" in query.split():
        assert [memory["id"] for memory in found["memories"]] == ["ms-1", "ms-2"]
        assert [memory["explain"]["terms"] for memory in api.list(urlencode({"query": query, "explain": "true"}))
                ["memories"]][1] == []
    else:
        assert found == {"memories": [], "next_page_token": None}


def test_words_are_looked_for_in_content_summary_and_tags(api):
    api.store("alpha", summary="beta", tags=["gamma"], kind="delta", metadata={"epsilon": "zeta"}, agent="eta")
    assert all(api.ids(f"query={word}") == ["ms-1"] for word in ("alpha", "beta", "gamma"))
    assert all(api.ids(f"query={word}") == [] for word in ("delta", "epsilon", "zeta", "eta"))


@pytest.mark.parametrize("query", [
    '"', "'", "(", ")", "AND", "NOT", "a AND", "*", "a*", "^", "-", "NEAR(", "{}", "\\", "%", "--",
    "; DROP TABLE memory", "\u0007", "a:b", "\U0001f600", "\u200b", ".",
])
def test_any_text_is_a_query(api, query):
    api.store("plain text with and")
    assert "memories" in api.list(urlencode({"query": query}))


def test_a_query_has_at_most_8_kib(api):
    api.store("word")
    assert api.ids("query=" + "word+" * 1638) == ["ms-1"]
    api.refused(422, "too_large", "GET", "/v1/memories?query=" + "a" * 8193, field="query")


def test_more_rare_and_more_frequent_words_score_higher(api):
    texts = ["gateway gateway gateway and some other words to be long",
             "gateway and some other words to be as long as the first",
             "a rare retry and some other words to be as long as it"]
    texts += ["gateway filler text that is here only to make the word frequent"] * 10
    for number, text in enumerate(texts):
        api.store(text, task=f"alone-{number}")
    result = api.list("query=gateway+retry")["memories"]
    assert result[0]["id"] == "ms-3"
    assert result[1]["id"] == "ms-1"
    scores = [memory["score"] for memory in result]
    assert scores == sorted(scores, reverse=True) and all(score > 0 for score in scores)


def test_ties_are_broken_by_the_higher_id(api):
    same = [{"content": "the same words", "created_at": "2024-01-01T00:00:00Z", "task": str(number)}
            for number in range(30)]
    api.ok("POST", "/v1/memories/batch", {"memories": same}, status=201)
    assert api.ids("query=same+words&page_size=30") == [f"ms-{number}" for number in range(30, 0, -1)]


def test_importance_and_pins_rank_higher(api):
    when = "2024-01-01T00:00:00Z"
    for importance in ("low", "critical", "medium", "high"):
        api.store("the same words", importance=importance, created_at=when, task=f"alone-{importance}")
    assert api.ids("query=words") == ["ms-2", "ms-4", "ms-3", "ms-1"]
    api.ok("POST", "/v1/memories/ms-1/pin")
    assert api.ids("query=words") == ["ms-2", "ms-1", "ms-4", "ms-3"]


def test_newer_memories_rank_higher(api):
    now = time.time() * 1000
    for days in (70, 1, 7):
        api.store("the same words", task=f"alone-{days}", created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                             time.gmtime(now / 1000 - days * 86400)))
    assert api.ids("query=words") == ["ms-2", "ms-3", "ms-1"]


def milliseconds(text):
    from datetime import datetime, timezone

    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp() * 1000


def test_the_parts_of_explain_make_the_score(api):
    texts = ["retry policy of the gateway", "gateway gateway retry", "nothing",
             "policy, policy, policy and a retryPolicy", "the gateway"]
    for number, text in enumerate(texts):
        api.store(text, importance=["low", "medium", "high", "critical", "low"][number], pinned=number % 2 == 0,
         tags=["gateway"] if number == 3 else [],
                  created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - number * 1800)))
    before = time.time() * 1000
    result = api.list("query=retry+policies+gateway&explain=true")["memories"]
    after = time.time() * 1000
    assert len(result) == 5
    for memory in result:
        parts = memory["explain"]
        assert list(parts) == ["text", "neighbours", "importance", "pinned", "recency", "terms"]
        boost = 1 + parts["importance"] + parts["pinned"] + parts["recency"]
        assert math.isclose(memory["score"], (parts["text"] + parts["neighbours"]) * boost, rel_tol=1e-5)
        assert parts["neighbours"] > 0 and (parts["text"] == 0) == (memory["content"] == "nothing")
        assert math.isclose(parts["text"], sum(term["score"] for term in parts["terms"]), rel_tol=1e-6)
        assert math.isclose(parts["importance"], {"low": 0, "medium": 0.1, "high": 0.2,
                                                  "critical": 0.3}[memory["importance"]], abs_tol=1e-6)
        assert parts["pinned"] == (0.25 if memory["pinned"] else 0)
        age = [(moment - milliseconds(memory["created_at"])) / (7 * DAY_MS) for moment in (before - 5, after + 5)]
        assert 0.25 * 2 ** -age[1] - 1e-6 <= parts["recency"] <= 0.25 * 2 ** -age[0] + 1e-6
        for term in parts["terms"]:
            assert list(term) == ["term", "score", "count", "idf"]
            assert term["score"] > 0 and term["count"] >= 1 and term["idf"] > 0
    assert {term["term"] for memory in result for term in memory["explain"]["terms"]} == {"retri", "polici", "gateway"}
    assert "explain" not in api.list("query=retry")["memories"][0]
    assert "explain" not in api.list("explain=true")["memories"][0]


def test_the_text_part_is_bm25(api):
    """Against the formula, computed here: k1 = 1.2, b = 0.75, idf = ln(1 + (N - n + 0.5) / (n + 0.5)); every length is
    that of 24 terms more."""
    texts = ["apple banana", "apple apple cherry", "banana cherry cherry damson", "elder",
             "apple banana cherry damson elder fig"]
    for number, text in enumerate(texts):
        api.store(text, task=f"alone-{number}")
    lengths = [len(text.split()) for text in texts]
    average = sum(lengths) / len(lengths)
    result = {memory["id"]: memory for memory in api.list("query=apple+cherry&explain=true")["memories"]}
    for number, text in enumerate(texts):
        words, expected = text.split(), 0
        for term in ("apple", "cherry"):
            holders = sum(term in other.split() for other in texts)
            idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            count = words.count(term)
            expected += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * (lengths[number] + 24) / (average + 24)))
        memory = result.get(f"ms-{number + 1}")
        assert (memory is None) == (expected == 0)
        if memory:
            assert math.isclose(memory["explain"]["text"], expected, rel_tol=1e-4), (text, memory["explain"], expected)


def test_the_same_question_gets_the_same_answer(api):
    rng = random.Random(1)
    words = "retry gateway policy payment backoff jitter timeout error".split()
    batch = [{"content": " ".join(rng.choices(words, k=12)), "created_at": "2024-01-01T00:00:00Z"} for _ in range(300)]
    api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)
    first = api.ids("query=retry+policy&page_size=50")
    assert len(first) == 50
    for _ in range(5):
        assert api.ids("query=retry+policy&page_size=50") == first


def test_the_relevance_of_a_search_is_from_0_to_1_and_comparable(api):
    texts = ["the retry policy of the payment gateway", "lunch", "a gateway", "we met on Monday", "dinner, perhaps"]
    for number, text in enumerate(texts):
        api.store(text, task=f"alone-{number}", importance="critical" if number == 2 else "low", pinned=number == 2)
    found = {memory["id"]: memory for memory in api.list("query=retry+policy+of+the+payment+gateway")["memories"]}
    assert list(found["ms-1"])[-2:] == ["score", "relevance"]
    assert all(0 < memory["relevance"] < 1 for memory in found.values())
    assert found["ms-1"]["relevance"] > 4 * found["ms-3"]["relevance"]
    # It is the memory's own, whatever else is found and however much the memory counts.
    api.ok("POST", "/v1/memories/ms-3/unpin")
    again = api.list("query=retry+policy+of+the+payment+gateway&pinned=false")["memories"]
    assert {memory["id"]: memory["relevance"] for memory in again} == {
        name: memory["relevance"] for name, memory in found.items()}
    # One word that is found says less than four.
    (one,) = api.list("query=lunch")["memories"]
    assert one["relevance"] < found["ms-1"]["relevance"]


def test_a_memory_is_found_by_what_stands_beside_it_in_its_task(api):
    for text, task in [("When did Ann buy the zeppelin?", "t"), ("small talk", "u"), ("In May.", "t"), ("fine", "t")]:
        api.store(text, task=task)
    result = api.list("query=zeppelin&explain=true")["memories"]
    assert [memory["id"] for memory in result] == ["ms-1", "ms-3"]
    assert result[0]["explain"]["neighbours"] == 0 and result[1]["explain"]["text"] == 0
    assert math.isclose(result[1]["explain"]["neighbours"], result[0]["explain"]["text"] / 2, rel_tol=1e-4)
    # Filters say what is shown, not what lends.
    api.patch("ms-3", tags=["answer"])
    assert api.ids("query=zeppelin&tag=answer") == ["ms-3"]
    # What was superseded lends nothing.
    api.store("Ann has a kite", supersedes="ms-1", task="v")
    assert api.ids("query=zeppelin") == []


# --- Pages -----------------------------------------------------------------------------------------


def test_pages_are_20_long_where_nothing_is_said(api):
    api.ok("POST", "/v1/memories/batch", {"memories": [{"content": "a"}] * 21}, status=201)
    page = api.list()
    assert len(page["memories"]) == 20 and page["next_page_token"]


@pytest.mark.parametrize("query", ["order=newest", "order=oldest", "query=word", "query=word+second&tag=t0",
                                   "state=any&query=word"])
@pytest.mark.parametrize("size", [1, 7, 50, 51, 1000])
def test_pages_hold_everything_once_and_in_order(api, query, size):
    batch = [{"content": f"word {'second ' * (i % 4)}", "tags": [f"t{i % 2}"]} for i in range(100)]
    api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)
    # Up to 21 on a page, the 64 best by their own words are ranked with their neighbours; then three times as many.
    whole = api.ids(f"{query}&page_size=1000") if size > 20 else sum(pages(api, query, 20), [])
    assert len(whole) == len(set(whole)) == (50 if "tag" in query else 100)
    parts = pages(api, query, size)
    assert [memory for part in parts for memory in part] == whole
    assert all(len(part) == size for part in parts[:-1])
    assert len(parts) == -(-len(whole) // size)


def test_pages_of_different_sizes_are_parts_of_one_list(api):
    rng = random.Random(2)
    batch = [{"content": " ".join(rng.choices("word second third filler padding".split(), k=rng.randrange(1, 9))),
              "task": f"t{i % 3}"} for i in range(300)]
    api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)
    for first in (1, 7, 60):
        whole = sum(pages(api, "query=word+second", first), [])
        page = api.list(f"query=word+second&page_size={first}")
        ids, scores = [memory["id"] for memory in page["memories"]], [memory["score"] for memory in page["memories"]]
        while page["next_page_token"]:
            size = rng.choice([1, 3, 20, 100, 400])
            page = api.list(f"query=word+second&page_size={size}&page_token={page['next_page_token']}")
            ids += [memory["id"] for memory in page["memories"]]
            scores += [memory["score"] for memory in page["memories"]]
        assert ids == whole and len(set(ids)) == len(ids)
        assert scores == sorted(scores, reverse=True)
        with_word = [f"ms-{i + 1}" for i in range(300) if {"word", "second"} & set(batch[i]["content"].split())]
        assert set(with_word) <= set(ids)


def test_a_page_of_1000_and_its_next(api):
    for _ in range(2):
        api.ok("POST", "/v1/memories/batch", {"memories": [{"content": "word"}] * 600}, status=201)
    for query in ("", "query=word"):
        assert [len(part) for part in pages(api, query, 1000)] == [1000, 200]


def test_later_pages_go_on_where_the_first_ended_though_memories_come_in(api):
    for number in range(6):
        api.store(f"word {number}", task=f"alone-{number}")
    first = api.list("page_size=3")
    ranked = api.list("query=word&page_size=3")
    for number in range(5):
        api.store("word, a newer one that is rather longer", task=f"newer-{number}")
    second = api.list(f"page_size=3&page_token={first['next_page_token']}")
    assert [memory["id"] for memory in second["memories"]] == ["ms-3", "ms-2", "ms-1"]
    rest = api.list(f"query=word&page_size=3&page_token={ranked['next_page_token']}")
    assert [memory["id"] for memory in ranked["memories"]] == ["ms-6", "ms-5", "ms-4"]
    assert [memory["id"] for memory in rest["memories"]] == ["ms-3", "ms-2", "ms-1"]


def test_a_token_belongs_to_the_query_it_came_from(api, connect):
    other = connect()
    for one in (api, other):
        for number in range(5):
            one.store(f"word {number}", tags=["t"])
    api.patch("ms-1", content="x")
    token = api.list("page_size=2&tag=t")["next_page_token"]
    assert api.list(f"page_size=2&tag=t&page_token={token}")["memories"]
    # Another size is the same query.
    assert api.list(f"page_size=3&tag=t&page_token={token}")["memories"]
    for query in ("", "tag=u&", "query=word&tag=t&", "tag=t&order=oldest&", "tag=t&tag=t&"):
        api.refused(400, "invalid_page_token", "GET", f"/v1/memories?{query}page_token={token}", field="page_token")
    other.refused(400, "invalid_page_token", "GET", f"/v1/memories?tag=t&page_token={token}")
    api.refused(400, "invalid_page_token", "GET", f"/v1/memories/ms-1/versions?page_token={token}")


@pytest.mark.parametrize("token", ["", "x", "AAAA", "bnVsbA", "a" * 500, "%20", "..", "MS4yLjMuNA"])
def test_a_token_that_nobody_gave_out_is_refused(api, token):
    api.store("a")
    api.refused(400, "invalid_page_token", "GET", f"/v1/memories?page_token={token}", field="page_token")


def test_a_forged_token_does_no_harm(api):
    """The digest of the list can be computed; the rest of the token must still be looked at."""
    import base64

    for number in range(5):
        api.store(f"word {number}")
    for query in ("query=word&page_size=1", "page_size=1"):
        token = api.list(query)["next_page_token"]
        digest = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().split(".")[0]
        for rest in ("0.0.0", "ffffffffffffffff.7ff8000000000001.1", "1.7ff0000000000000.0", "1.fff0000000000000.0",
                     "ffffffffffffffff.0.0", "1.0.-9223372036854775808",
                     "1.0.9223372036854775807", "1.8000000000000000.1", "2.3ff0000000000000.99999999999999999999999", "-1.-1.-1"):
            for size in ("", ".1", ".3e8", ".3e9", ".0", ".-1", ".ffffffffffffffff"):
                forged = base64.urlsafe_b64encode(f"{digest}.{rest}{size}".encode()).decode().rstrip("=")
                answer = api.call("GET", f"/v1/memories?{query}&page_token={forged}")
                assert answer.status in ((200, 400) if size in (".1", ".3e8") else (400,)), answer
                json.loads(answer.data)
