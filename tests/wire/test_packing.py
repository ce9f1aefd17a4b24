"""What goes along: what the work needs, more of it where there is more room, and nothing of others."""

import random

import pytest

from envelopes import WORDS, Api, api  # noqa: F401 (a fixture)

FLOOR = 1 / 13
TOPICS = {
    "brewing": "malt hops yeast wort kettle ferment barrel lager bitter foam mash cellar",
    "sailing": "mast harbour tide anchor keel jib rudder knot gust buoy chart deck",
    "weaving": "loom warp weft shuttle thread dye spindle fibre pattern linen heddle selvage",
}


def sentence(rng, words, most=14):
    return " ".join(rng.choices(words, k=rng.randint(2, most)))


def fill(api, rng, count, **fields):
    """Notes about topics, some long, some a repetition of the one before."""
    notes, before = [], None
    for _ in range(count):
        words = rng.choice(list(TOPICS.values())).split()
        content = before if before and rng.random() < 0.1 else sentence(rng, words, rng.choice([14, 14, 14, 120]))
        before = content
        notes.append({"content": content, "importance": rng.choice(["low", "medium", "medium", "high", "critical"]),
                      "pinned": rng.random() < 0.01, "summary": content[:30] if rng.random() < 0.2 else None, **fields})
    return api.ok("POST", "/v1/memories/batch", {"memories": notes})["memories"]


def dry(api, **fields):
    return api.ok("POST", "/v1/envelopes", {"target_agent": "b", "dry_run": True, **fields})["envelope"]


def worth(api, tokens, recent, **fields):
    status, answer = api.call("POST", "/v1/envelopes", {
        "target_agent": "b", "dry_run": True, "include_recent": recent, "constraints": {"max_tokens": tokens}, **fields})
    if status == 422:
        assert answer["code"] == "budget_too_small"
        return 0
    envelope = answer["envelope"]
    assert envelope["budget"]["token_count"] <= tokens
    return envelope["budget"]["worth"]


@pytest.mark.parametrize("seed", range(6))
def test_more_room_never_carries_less_worth(api, seed):
    rng = random.Random(seed)
    ids = [memory["id"] for memory in fill(api, rng, 300)]
    for _ in range(4):
        fields = {"task_summary": sentence(rng, rng.choice(list(TOPICS.values())).split(), 8),
                  "refs": rng.sample(ids, rng.randint(0, 4)),
                  "execution_history": [{"agent": "x", "action": sentence(rng, WORDS)} for _ in range(rng.randint(0, 6))]}
        recent = rng.choice([5, 20, 50, 120])
        worths = [worth(api, tokens, recent, **fields) for tokens in sorted(rng.sample(range(80, 3000), 40))]
        assert worths == sorted(worths)
        assert worths[-1] > 0


@pytest.mark.parametrize("seed", range(6))
def test_asking_for_more_never_carries_less_worth(api, seed):
    rng = random.Random(100 + seed)
    fill(api, rng, 400)
    for _ in range(4):
        summary = sentence(rng, rng.choice(list(TOPICS.values())).split(), 8)
        tokens = rng.choice([200, 500, 1000, 4000])
        counts = sorted({0, 1, 19, 20, 21, 59, 60, 61, 179, 180, 181, 500, *rng.sample(range(500), 12)})
        worths = [worth(api, tokens, recent, task_summary=summary) for recent in counts]
        assert worths == sorted(worths), list(zip(counts, worths))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_less_relevant_than_the_floor_or_of_another_task_stays_behind(api, seed):
    """Unless it was cited or pinned: with random tasks, scopes, pins and citations."""
    rng = random.Random(200 + seed)
    tasks = {memory["id"]: task for task in (None, "ours", "theirs") for memory in
             fill(api, rng, 80, **({"task": task} if task else {}))}
    for _ in range(25):
        scope = rng.choice(["task", "space", None])
        cited = rng.sample(list(tasks), rng.randint(0, 3))
        envelope = dry(api, task_summary=sentence(rng, [*" ".join(TOPICS.values()).split(), *WORDS], 6), task="ours", refs=cited,
                       include_recent=rng.choice([1, 20, 100]), **({"scope": scope} if scope else {}))
        for ref in [*envelope["memory"]["refs"], *envelope["budget"]["trimmed"]]:
            assert 0 <= ref["relevance"] <= 1
            if ref["why"] == "relevant":
                assert ref["relevance"] >= round(FLOOR, 3) - 0.001
                assert scope == "space" or tasks[ref["id"]] in (None, "ours")
            else:
                assert ref["why"] == "pinned" or ref["id"] in cited


def test_nothing_goes_along_with_work_that_is_about_nothing_here(api):
    fill(api, random.Random(1), 200)
    for summary in ("Say hello.", "What is it, and how?", "Upgrade the compiler and rebuild everything.", "…"):
        refs = dry(api, task_summary=summary)["memory"]["refs"]
        assert [ref for ref in refs if ref["why"] != "pinned"] == []


def test_the_more_relevant_one_is_carried_however_long_it_is(api):
    best = api.store("The kettle of the north cellar leaks at the lower valve. " + "Nobody knows since when. " * 12)
    for i in range(40):
        api.store(f"kettle {i}, valve {i}")
    envelope = api.handoff(summary="Repair the lower valve of the kettle in the north cellar.", include_recent=40, constraints={"max_tokens": 230})
    assert envelope["memory"]["refs"][0]["id"] == best["id"] and envelope["memory"]["refs"][0]["form"] == "full"
    assert envelope["budget"]["trimmed"], "there is not room for all"


def test_a_repetition_is_worth_little(api):
    first = api.store("The kettle leaks at the lower valve since the flood.")
    again = api.store("Since the flood the kettle leaks, at the lower valve!")
    other = api.store("The valve of the kettle was ordered from the harbour shop, three weeks of delivery, ask for number twelve.")
    full = api.handoff(summary="Repair the valve of the kettle.")
    assert {ref["id"] for ref in full["memory"]["refs"]} == {first["id"], again["id"], other["id"]}, "there is room: all go along"
    tight = full
    while len(tight["memory"]["refs"]) > 1:
        tight = dry(api, task_summary="Repair the valve of the kettle.", constraints={"max_tokens": tight["budget"]["token_count"] - 1})
    trimmed = {trim["id"]: trim for trim in tight["budget"]["trimmed"]}
    assert set(trimmed) == {first["id"], other["id"]} and trimmed[first["id"]]["relevance"] >= trimmed[other["id"]]["relevance"]
    assert trimmed[first["id"]]["score"] < trimmed[other["id"]]["score"]


def test_the_same_question_gets_the_same_envelope(api):
    fill(api, random.Random(7), 300)
    ask = lambda: dry(api, task_summary="mast harbour and the tide of the anchor", include_recent=80, constraints={"max_tokens": 700})
    first, second = ask(), ask()
    assert first["memory"] == second["memory"] and first["budget"] == second["budget"]


# --- Chains ---


def chain(api, hops, summaries, **first):
    envelopes = [api.handoff("agent-0", summaries[0], **first)]
    for hop in range(1, hops):
        envelopes.append(api.handoff(f"agent-{hop}", summaries[hop % len(summaries)], parent=envelopes[-1]["id"],
                                     **{"from": f"agent-{hop - 1}"}))
    return envelopes


def test_a_chain_does_not_swell_when_nothing_new_was_said(api):
    rng = random.Random(3)
    fill(api, rng, 500)
    fill(api, rng, 500, task="somebody-elses")
    api.store("The parser fails on an empty string literal.", kind="fact")
    summaries = ["Find out why the parser fails.", "Write the test of the parser.", "Mend the tokenizer's end of file.",
                 "Review the change of the parser."]
    envelopes = chain(api, 8, summaries, intent="The build is broken: the parser crashes. Please mend it.", task="build")
    sizes = [envelope["budget"]["token_count"] for envelope in envelopes]
    assert max(sizes) <= 1.25 * sizes[0], sizes
    for envelope in envelopes:
        # ms-500 is its neighbour: the one before it that has no task, either.
        assert {ref["id"] for ref in envelope["memory"]["refs"] if ref["why"] != "pinned"} <= {"ms-1001", "ms-500"}


def test_what_was_cited_decided_or_opened_is_inherited_and_the_rest_looked_for_again(api):
    cited = api.store("Invoices are numbered by the ledger service.")
    decided = api.store("We number them per country.", kind="decision", task="billing")
    named = api.store("Finland wants a reference number with a check digit.")
    opened = api.store("Refunds keep the number of the invoice, with a suffix.")
    passing = api.store("The kettle in the kitchen is broken.")
    first = api.handoff("analyst", f"Plan the kettle of the kitchen, see {cited['id']}.", task="billing", include_pins=False,
                        execution_history=[{"agent": "a", "action": "asked Finland", "decision": "yes", "memory_id": named["id"]}])
    assert {ref["id"]: ref["why"] for ref in first["memory"]["refs"]}[passing["id"]] == "relevant"
    api.ok("POST", f"/v1/envelopes/{first['id']}/resolve", {"ids": [opened["id"]]}, **{"Spine-Agent": "analyst"})
    second = api.handoff("coder", "Write the code.", parent=first["id"], state="planned")
    whys = {ref["id"]: ref["why"] for ref in second["memory"]["refs"]}
    assert whys == {cited["id"]: "inherited", named["id"]: "inherited", opened["id"]: "inherited", decided["id"]: "inherited"}
    third = api.handoff("reviewer", "Review the kettle of the kitchen.", parent=second["id"], state="written")
    assert {ref["id"]: ref["why"] for ref in third["memory"]["refs"]} == {**whys, passing["id"]: "relevant"}


def test_the_users_words_help_to_find_what_the_summary_does_not_name(api):
    fact = api.store("The anchor of the ferry drags when the tide turns.")
    fill(api, random.Random(5), 50)
    plain = dry(api, task_summary="Go on with the next part.")
    assert fact["id"] not in [ref["id"] for ref in plain["memory"]["refs"]]
    helped = dry(api, task_summary="Go on with the next part.", intent="Why does the anchor of our ferry drag?")
    assert fact["id"] in [ref["id"] for ref in helped["memory"]["refs"]]


def test_an_envelope_that_is_packed_again_keeps_why_its_memories_came_along(api):
    cited = api.store("Nobody has the key of the cellar.")
    for i in range(12):
        api.store(f"The kettle of line {i} leaks at the valve, since week {i}.")
    body = {"target_agent": "b", "task_summary": f"Repair the kettle's valve, see {cited['id']}."}
    sent = api.call("POST", "/v1/handoffs", {"envelope": body})[1]
    first = api.ok("GET", f"/v1/envelopes/{sent['envelope_id']}")
    again = api.ok("POST", "/v1/envelopes", first)
    parked = api.ok("POST", f"/v1/envelopes/{first['id']}/park", {"reason": "too large"})
    shrunk = api.ok("POST", f"/v1/parked/{parked['id']}/shrink", {"max_tokens": 250})
    smaller = api.ok("GET", f"/v1/envelopes/{shrunk['envelope_id']}")
    whys = lambda envelope: {ref["id"]: ref["why"] for ref in [*envelope["memory"]["refs"], *envelope["budget"]["trimmed"]]}
    assert whys(first) == whys(again) == whys(smaller)
    assert whys(first)[cited["id"]] == "cited" and set(whys(first).values()) == {"cited", "relevant"}
    assert cited["id"] in [ref["id"] for ref in smaller["memory"]["refs"]] and smaller["budget"]["trimmed"]


@pytest.mark.parametrize("text", ["{0} {1}", "{1} {0}"])
def test_a_long_summary_finds_by_its_beginning_and_by_its_end(api, text):
    fact = api.store("The anchor of the ferry drags when the tide turns.")
    fill(api, random.Random(5), 50)
    long = text.format("Find out why the anchor of the ferry drags.", "Read this as it is meant, and mind the usual things. " * 200)
    assert fact["id"] in [ref["id"] for ref in dry(api, task_summary=long)["memory"]["refs"]]
