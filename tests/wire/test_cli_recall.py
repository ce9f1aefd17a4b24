"""What a handoff would carry, what an envelope was chosen from, and why: `spine recall`."""

import json
import re

import pytest

from cli import (  # noqa: F401
    NOT_FOUND,
    OK,
    USAGE,
    Cli,
    Fake,
    answer,
    offline,
    spine,
    stored,
)

QUERY = "what makes turbine blades corrode"
STEP = "the weather of day {} was fine, nothing else was to be told of it"


def fill(spine):
    """Of each kind one: relevant, hardly so, of another task, and nothing to do with it."""
    stored(spine, "turbine blades corrode in salted air", "--task", "wind")
    stored(spine, "lunch is at noon", "--task", "food")
    stored(spine, "turbine blades corrode when nobody paints them", "--task", "paint")
    stored(spine, "a letter of the makers about many things, among them blades, invoices, hotels and trains", "--task", "letters")
    stored(spine, "turbine blades cost a fortune and corrode")


def rows(text, title):
    """The rows of the table below a title, or of the first one, by their ids."""
    block = text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()
    head, *lines = block
    return head.split(), {re.search(r"ms-\d+", line).group(): line for line in lines}


def test_words_show_what_a_handoff_would_carry_and_store_nothing(spine):
    fill(spine)
    result = spine.ok("recall", *QUERY.split(), "--task", "wind", env={"COLUMNS": "80"})
    head, table = result.out.split("\n\n")
    assert re.fullmatch(r"a handoff to anybody would carry 2 memories in \d+ of 8,000 tokens", head)
    assert table.splitlines()[0].split() == ["RELEVANCE", "ID", "WHY", "TOKENS", "TEXT"]
    first, second = table.splitlines()[1:]
    assert re.match(r" +0\.\d{3}  ms-[15]  relevant +\d+  turbine blades c", first)
    assert float(first.split()[0]) >= float(second.split()[0]), "the most relevant first"
    assert spine.ok("tasks", "--json").json["tasks"] == []
    one_text = spine.ok("recall", QUERY, "--task", "wind").out
    assert one_text == result.out == spine.ok("recall", "-", "--task", "wind", stdin=QUERY + "\n").out


def test_the_options_are_those_of_a_handoff(tmp_path):
    with Fake(answer(200, {}), answer(200, {})) as fake:
        Cli(tmp_path, SPINE_URL=fake.url).ok(
            "recall", "Go on.", "--to", "coder", "--task", "t", "--intent", "i", "--scope", "space", "--recent", "5", "--no-pins",
            "-m", "900", "-r", "ms-1", "--strategy", "lazy", "--tokenizer", "estimate",
        )
        Cli(tmp_path, SPINE_URL=fake.url).ok("recall", "Go on.", "-p", "env-1")
        sent = [(method, path, json.loads(body)) for method, path, _, body in fake.requests]
    assert sent[0] == ("POST", "/v1/envelopes", {
        "target_agent": "coder", "task_summary": "Go on.", "task": "t", "intent": "i", "scope": "space", "include_recent": 5,
        "include_pins": False, "constraints": {"max_tokens": 900}, "refs": ["ms-1"], "strategy": "lazy", "tokenizer": "estimate",
        "new_root": True, "dry_run": True,
    })
    assert sent[1][2] == {"target_agent": "anybody", "task_summary": "Go on.", "parent": "env-1", "constraints": {}, "dry_run": True}


def test_why_says_what_is_not_carried_and_the_reason_in_plain_words(spine):
    fill(spine)
    for day in range(8):
        stored(spine, STEP.format(day) + " and the blades turned" * 3, "--task", "wind")
    text = spine.ok("recall", f"{QUERY} in salted air, see ms-2 and ms-99", "--task", "wind", "--recent", "2", "--why").out
    head, carried = rows(text, "tokens\n")
    assert set(carried) > {"ms-1", "ms-2"} and len(carried) == 3 and "cited" in carried["ms-2"]
    head, left = rows(text, "Not carried")
    assert head == ["RELEVANCE", "ID", "REASON", "TEXT"]
    assert re.search(r"ms-99 +there is no such memory$", left["ms-99"].rstrip())
    assert "ms-3" not in left, "nothing of another task was looked at"
    assert "beyond include_recent 2" in left["ms-5"]
    rules = " ".join(text.split("\n\n")[-1].split())
    assert rules.startswith("floor 0.077: less is not carried unless it was named, decided, opened or pinned; up to 2 come by relevance.")
    assert "scope task: looked at the memories of its task and those without one" in rules


def test_the_floor_and_include_recent_are_named(spine):
    for place in ("roof", "yard", "hall", "attic"):
        stored(spine, f"turbine blades corrode on the {place}")
    # One word of many, in a text that is about something else, with neighbours that are, too.
    for _ in range(2):
        stored(spine, "lunch is at noon, and nobody is late for it")
        stored(spine, "invoices, hotels, trains, forms, stamps, letters, shoes, hats, gloves, coats and one blade")
        stored(spine, "dinner is at eight, and everybody is late for it")
    text = spine.ok("recall", "turbine blades corrode where the sea is near and gulls cry all night long", "--recent", "2", "--why").out
    assert len(re.findall(r"beyond include_recent 2 +turbine", text)) == 2
    assert re.search(r" 0\.0[0-7]\d  ms-\d+  less relevant than 0\.077 ", text)


def test_without_why_a_note_says_that_there_is_more(spine):
    for place in ("roof", "yard", "hall"):
        stored(spine, f"turbine blades corrode on the {place}")
    result = spine.ok("recall", "turbine blades", "--recent", "2")
    assert result.err == "(1 more was considered; --why tells why it is not here)\n"
    assert "Not carried" not in result.out and "floor" not in result.out


def test_no_room_names_the_budget(spine):
    for place in ("roof", "yard", "hall"):
        stored(spine, f"turbine blades corrode on the {place} " + "and so on " * 400)
    text = spine.ok("recall", "turbine blades corrode", "-m", "1500", "--why").out
    head, left = rows(text, "Not carried")
    assert head == ["RELEVANCE", "ID", "TOKENS", "REASON", "TEXT"]
    assert left and all(re.search(r"  1,2\d\d  no room(?: in 1,500 tokens|, repeats ms-\d) +turbine", line) for line in left.values())


def test_forms_say_why_they_are_less(spine):
    stored(spine, "turbine blades " + "and so on " * 400, "--summary", "about blades")
    text = spine.ok("recall", "Use ms-1.", "-m", "300", "--why").out
    assert re.search(r"ms-1  cited  summary +\d+  no room in 300 tokens  about blades", text)
    assert re.search(r"ms-1  cited  mention +\d+  by strategy lazy", spine.ok("recall", "Use ms-1.", "--strategy", "lazy", "--why").out)


def test_scope_space_looks_at_other_tasks(spine):
    fill(spine)
    assert "ms-3" not in spine.ok("recall", QUERY, "--task", "wind").out
    text = spine.ok("recall", QUERY, "--task", "wind", "--scope", "space", "--why").out
    assert "ms-3" in text and "scope space: looked at the memories of all tasks." in " ".join(text.split())


def test_handoff_and_send_have_scope(spine):
    fill(spine)
    packed = {
        scope: spine.ok("handoff", "b", QUERY, "--task", "wind", "--new-root", "--json", *(["--scope", scope] if scope else [])).json
        for scope in (None, "task", "space")
    }
    found = {scope: {ref["id"] for ref in envelope["memory"]["refs"]} for scope, envelope in packed.items()}
    assert found[None] == found["task"] == {"ms-1", "ms-5"} and "ms-3" in found["space"]
    sent = spine.ok("send", "--to", "b", QUERY, "--task", "wind", "--new-root", "--scope", "space", "--json").json
    assert "ms-3" in spine.ok("recall", sent["envelope_id"]).out
    assert spine("handoff", "b", "x", "--scope", "all").code == USAGE
    assert spine("send", "env-1", "--scope", "space").code == USAGE


def test_an_envelope_shows_what_it_was_chosen_from_as_it_was(spine):
    fill(spine)
    spine.ok("handoff", "b", QUERY, "--task", "wind", "--recent", "1", "-m", "4000")
    text = spine.ok("recall", "env-1", "--why").out
    assert re.match(r"env-1 carries 1 memory in \d+ of 4,000 tokens\n", text)
    assert "beyond include_recent 1" in text
    stored(spine, "turbine blades corrode, turbine blades corrode", "--task", "wind")
    spine.ok("update", "ms-1", "something else entirely")
    again = spine.ok("recall", "env-1", "--why").out
    assert rows(again, "tokens\n")[1].keys() == rows(text, "tokens\n")[1].keys()
    assert rows(again, "Not carried")[1].keys() == rows(text, "Not carried")[1].keys()


def test_json_is_the_same_document_for_both(spine):
    fill(spine)
    dry = spine.ok("recall", QUERY, "--task", "wind", "--json").json
    spine.ok("handoff", "anybody", QUERY, "--task", "wind")
    kept = spine.ok("recall", "env-1", "--json").json
    assert kept.pop("envelope") == "env-1"
    assert dry == kept and dry["recorded"] is True and dry["scope"] == "task"
    assert {item["id"] for item in dry["considered"]} >= {"ms-1", "ms-5"}


def test_one_that_was_packed_before_it_was_recorded_says_so(tmp_path):
    envelope = {"id": "env-3", "budget": {"max_tokens": 8000, "token_count": 300}}
    item = {"id": "ms-9", "why": "cited", "relevance": 0, "fate": "full", "reason": None, "tokens": 1200, "text": "old"}
    with Fake(answer(200, {"envelope": "env-3", "recorded": False, "considered": [item]}), answer(200, envelope)) as fake:
        text = Cli(tmp_path, SPINE_URL=fake.url).ok("recall", "env-3", "--why").out
    assert " ".join(text.split()).endswith("What was passed over is not known: env-3 was packed before that was recorded.")
    assert re.search(r"ms-9  cited +1,200  old", text)


@pytest.mark.parametrize("arg, kind", [("ms-3", "a memory"), ("ms-3@2", "a memory"), ("ho-1", "a handoff"), ("task-7", "a task")])
def test_an_id_of_another_kind_is_refused_before_it_is_sent(offline, arg, kind):
    result = offline("recall", arg)
    assert (result.code, result.out) == (USAGE, "")
    assert f'"{arg}" is {kind}; expected an envelope such as env-17' in result.err


@pytest.mark.parametrize(
    "args, message",
    [
        (["env-1", "env-2"], "nothing can stand beside it"), (["env-1", "--to", "b"], "only --why can be given"),
        (["env-1", "--scope", "space"], "only --why can be given"), (["env-1", "-p", "env-2"], "only --why can be given"),
        ([""], "there is nothing to recall"), ([], "needs more arguments"), (["x", "--scope", "all"], "--scope"),
        (["x", "--recent", "501"], "--recent"),
    ],
)
def test_a_wrong_question_is_refused_before_it_is_sent(offline, args, message):
    result = offline("recall", *args)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def test_an_unknown_envelope_is_named(spine):
    result = spine("recall", "env-44", "--why")
    assert result.code == NOT_FOUND and "there is no envelope env-44" in result.err


def test_it_fits_the_terminal(spine):
    for place in range(30):
        stored(spine, f"turbine blades corrode on the place {place} " + "which is far away from everything " * 5)
    for args in (["turbine blades corrode ms-1 to ms-4", "--why", "-m", "900"], ["turbine blades", "--why", "--recent", "3"]):
        code, text = spine.on_terminal("recall", *args, env={"NO_COLOR": "1"}, columns=80)
        assert code == OK and all(len(line) <= 80 for line in text.splitlines()), text
    code, text = spine.on_terminal("recall", "turbine blades", "--why", columns=80)
    assert "\x1b[36mms-" in text
