"""What the commands about handoffs do, print and return."""

import json
import os
import re
import subprocess

import pytest

from cli import (  # noqa: F401
    CONFLICT,
    DAMAGED,
    FAILED,
    NOT_FOUND,
    OK,
    UNREACHABLE,
    USAGE,
    Cli,
    Fake,
    answer,
    have,
    offline,
    spine,
    stored,
)
from database import connect as open_database
from database import unprotected
from server import ROOT, binary

COMMANDS = "handoff recall envelope resolve receipts verify tasks task fidelity diff blame waive agents agent".split()
EVIL = "evil\x1b]0;title\x07 \x1b[2J\u009b31m \u202etxt.exe\x7f"
LONG = " ".join(f"word{i}" for i in range(3000))


def handed(spine, *args, **kwargs):
    return spine.ok("handoff", *args, "--json", **kwargs).json


def chain(spine):
    """Three hops: one that narrows and waives, one whose budget has no room for the memories."""
    stored(spine, "the gateway answers 429", "--kind", "fact")
    stored(spine, LONG)
    handed(
        spine, "coder", "Use ms-1 through ms-3.", "--from", "analyst", "--intent", "No payment may be lost.", "-c",
        "language=python", "-c", "max_retries=3", "-c", "deadline=2030-01-01", "--decision", "Which queue?",
    )
    handed(
        spine, "reviewer", "Review.", "--from", "coder", "-p", "env-1", "-c", "max_retries=2", "-c", "style=plain",
        "--waive", "deadline=the client said so", "--resolve-decision", "Which queue?=the fast one",
    )
    last = ["tester", "Test.", "--from", "reviewer", "-p", "env-2", "-m"]
    least = int(re.search(r"needs (\d+) tokens", spine("handoff", *last, "1", "--dry-run").err).group(1))
    handed(spine, *last, str(least + 16))


# --- Handoff -------------------------------------------------------------------------------------------


def test_handoff_prints_id_tokens_what_is_missing_and_how_to_see_the_prompt(spine):
    stored(spine, "one")
    stored(spine, LONG)
    text = spine.ok("handoff", "coder", "Use ms-1 through ms-4.", "--from", "analyst", "-m", "900").out
    lines = text.splitlines()
    assert lines[0] == "env-1"
    assert "handoff   analyst -> coder" in lines
    assert "task      task-1, hop 1 of 12" in lines
    assert re.search(r"^tokens    \d+ of 900, o200k_base, strategy priority$", text, re.M)
    assert "missing   ms-3 (unknown), ms-4 (unknown)" in lines
    assert re.search(r"^trimmed   ms-2 mentioned only \(\d+ tokens, budget\)$", text, re.M)
    assert lines[-1] == "prompt    spine envelope env-1 --prompt"


def test_handoff_sends_every_field(spine):
    for text in ("one", "two", "three", "four"):
        stored(spine, text)
    stored(spine, "pinned", "--pin")
    envelope = handed(
        spine, "coder", "Go on.", "--from", "analyst", "--intent", "the user's words", "--state", "half done", "--task",
        "t/1", "-c", "language=python", "--constraint", "max_retries=3", "-c", 'do_not=["a","b"]', "-c", "empty=", "-c",
        "formula=a=b", "-c", 'text="3"', "--max-tokens", "5000", "--ref", "ms-1 through ms-2", "-r", "ms-4", "--recent",
        "0", "--no-pins", "--history", '{"agent":"analyst","action":"read"}', "--history",
        '[{"agent":"a","action":"b"},{"agent":"c","action":"d"}]', "--decision", "Which?", "--decision", "When?", "-e",
        "format=a patch", "--expect", 'criteria=["tests pass"]', "--strategy", "full", "--max-hops", "5", "--tokenizer",
        "cl100k_base", "--agent", "somebody else",
    )
    assert envelope["from"] == "analyst" and envelope["to"] == "coder"
    assert envelope["task"] == {
        "id": "t/1", "intent": "the user's words", "state": "half done", "summary": "Go on.",
        "open_decisions": ["Which?", "When?"],
    }
    assert envelope["constraints"] == {
        "language": "python", "max_retries": 3, "do_not": ["a", "b"], "empty": "", "formula": "a=b", "text": "3",
        "max_tokens": 5000,
    }
    assert [ref["id"] for ref in envelope["memory"]["refs"]] == ["ms-1", "ms-2", "ms-4"]
    assert [step["agent"] for step in envelope["history"]] == ["analyst", "a", "c"]
    assert envelope["expected_output"] == {"format": "a patch", "criteria": ["tests pass"]}
    assert envelope["lineage"]["max_hops"] == 5
    assert envelope["budget"]["max_tokens"] == 5000
    assert (envelope["budget"]["strategy"], envelope["budget"]["tokenizer"]) == ("full", "cl100k_base")
    # A name with a slash is one segment of a path.
    assert spine.ok("task", "t/1", "--json").json["id"] == "t/1"


def test_recent_and_pins_are_the_servers_where_nothing_is_said(spine):
    stored(spine, "pinned", "--pin")
    stored(spine, "the gateway is down")
    assert len(handed(spine, "b", "the gateway")["memory"]["refs"]) == 2
    assert [ref["why"] for ref in handed(spine, "b", "the gateway", "--recent", "0")["memory"]["refs"]] == ["pinned"]


@pytest.mark.parametrize("how", ["option", "variable", "nobody"])
def test_the_sender_is_the_agent_who_calls(spine, how):
    args = ["--agent", "me"] if how == "option" else []
    envelope = handed(spine, "b", "x", *args, env={"SPINE_AGENT": "me"} if how == "variable" else None)
    assert envelope["from"] == (None if how == "nobody" else "me")


@pytest.mark.parametrize("args", [[], ["-"]])
def test_the_summary_is_read_from_standard_input(spine, args):
    assert handed(spine, "b", *args, stdin="two\nlines\n")["task"]["summary"] == "two\nlines"


def test_the_chain_inherits_narrows_waives_and_resolves(spine):
    chain(spine)
    envelope = spine.ok("envelope", "env-2", "--json").json
    assert envelope["task"]["intent"] == "No payment may be lost."
    assert envelope["constraints"] == {"language": "python", "max_retries": 2, "style": "plain"}
    waived = [(w["key"], w["by"], w["reason"]) for w in envelope["waived"]]
    assert waived == [("deadline", "coder", "the client said so")]
    assert envelope["task"]["open_decisions"] == []
    assert envelope["history"][-1]["decision"] == "the fast one"


def test_the_prompt_can_be_piped(spine):
    stored(spine, "a\x1b[31m b")
    result = spine.ok("handoff", "b", "Use ms-1 and ms-9.", "--prompt")
    assert result.out.startswith("# Handoff to b\n")
    assert r"a\u{1b}[31m b" in result.out
    assert re.fullmatch(r"\(env-1: \d+ of 8000 tokens, 1 missing, 0 trimmed\)\n", result.err)
    assert spine.ok("envelope", "env-1", "--prompt").out == result.out
    tokens = spine.ok("envelope", "env-1", "--json").json["budget"]["token_count"]
    assert spine.ok("tokens", stdin=result.out).out == f"{tokens}\n"


def test_a_dry_run_shows_what_budgets_lose_and_stores_nothing(spine):
    stored(spine, LONG)
    result = spine.ok("handoff", "b", "Use ms-1.", "--dry-run")
    assert "nothing was stored" in result.out
    head, *rows = [line.split() for line in result.out.split("\n\n")[1].splitlines()]
    assert head == ["BUDGET", "FITS", "TOKENS", "MEMORIES", "SHRUNK", "LEFT", "OUT"]
    assert [row[:2] for row in rows] == [["2000", "yes"], ["4000", "yes"], ["8000", "yes"]]
    assert rows[0][3:] == ["1", "1", "0"]
    document = spine.ok("handoff", "b", "Use ms-1.", "--dry-run", "--json").json
    assert [budget["max_tokens"] for budget in document["budgets"]] == [2000, 4000, 8000]
    assert spine.ok("tasks", "--json").json["tasks"] == []


def test_a_dry_run_does_not_use_up_the_key(tmp_path):
    with Fake(*[answer(200, {})] * 2) as fake:
        for option in ("--dry-run", "--json"):
            Cli(tmp_path, SPINE_URL=fake.url).ok("handoff", "b", "x", "--idempotency-key", "k", option)
        assert [headers.get("Idempotency-Key") for _, _, headers, _ in fake.requests] == [None, "k"]


def test_a_dry_run_says_what_a_budget_would_need(spine):
    result = spine.ok("handoff", "b", LONG[:12000], "--dry-run")
    lines = result.out.split("\n\n")[1].splitlines()
    assert lines[0].split()[-1] == "NEEDS"
    assert re.fullmatch(r" +2000  no +\d+", lines[1])


def test_the_same_key_packs_once(spine):
    first = handed(spine, "b", "x", "--idempotency-key", "k")
    assert handed(spine, "b", "x", "--idempotency-key", "k") == first
    assert spine("handoff", "b", "y", "--idempotency-key", "k").code == CONFLICT


@pytest.mark.parametrize(
    "args, message",
    [
        (["b", "x", "-c", "nothing"], '--constraint is "nothing"; expected two parts with "=" between them'),
        (["b", "x", "-c", "=3"], "expected two parts"),
        (["b", "x", "-c", "a=1", "-c", "a=2"], "--constraint a is given twice"),
        (["b", "x", "-c", "max_tokens=1", "-m", "5"], "max_tokens is given twice"),
        (["b", "x", "-c", 'a={"k":1,"k":2}'], "the value of --constraint a cannot be used"),
        (["b", "x", "--waive", "deadline"], "--waive is"),
        (["b", "x", "--resolve-decision", "Which?"], "--resolve-decision is"),
        (["b", "x", "-e", "format"], "--expect is"),
        (["b", "x", "--history", "{"], "--history is not JSON"),
        (["b", "x", "--history", '"read"'], "--history is a string; expected an object"),
        (["b", "x", "--strategy", "best"], "--strategy"),
        (["b", "x", "--recent", "501"], "--recent"),
        (["b", "x", "--max-hops", "0"], "--max-hops"),
        (["b", "x", "--prompt", "--json"], "--prompt cannot be used with"),
        (["b", "x", "--prompt", "--dry-run"], "--prompt cannot be used with"),
        (["b", ""], "there is no summary"),
        ([], "needs more arguments"),
        (["b", "x", "y"], "too many arguments"),
    ],
)
def test_a_wrong_handoff_is_refused_before_it_is_sent(offline, args, message):
    result = offline("handoff", *args)
    assert result.code == USAGE
    assert result.out == ""
    assert message in result.err


@pytest.mark.parametrize("option", ["intent", "constraint", "decision", "ref", "waive"])
def test_what_is_not_utf8_is_refused(offline, option):
    result = offline("handoff", "b", "x", f"--{option}", os.fsdecode(b"k=\xff"))
    assert result.code == USAGE and "UTF-8" in result.err


def test_what_the_server_refuses_is_a_sentence_and_an_exit_code(spine):
    chain(spine)
    for code, problem, args in (
        (CONFLICT, "constraint_conflict", ["-p", "env-1", "-c", "max_retries=9"]),
        (CONFLICT, "intent_conflict", ["-p", "env-1", "--intent", "another"]),
        (CONFLICT, "task_conflict", ["-p", "env-1", "--task", "another"]),
        (CONFLICT, "hop_limit", ["-p", "env-3", "--max-hops", "3"]),
        (NOT_FOUND, "envelope_not_found", ["-p", "env-99"]),
        (FAILED, "invalid_field", ["-p", "17"]),
        (FAILED, "invalid_field", ["-r", "nonsense"]),
        (FAILED, "budget_too_small", ["-m", "10"]),
    ):
        result = spine("handoff", "b", "x", *args, "--json")
        assert (result.code, result.json["code"]) == (code, problem), result.err
        assert result.err.startswith("spine: ")
        plain = spine("handoff", "b", "x", *args)
        assert (plain.code, plain.out, plain.err) == (code, "", result.err)
    assert "--max-tokens N" in spine("handoff", "b", "x", "-m", "10").err


# --- Envelope ------------------------------------------------------------------------------------------


def test_envelope_shows_everything(spine):
    chain(spine)
    text = spine.ok("envelope", "env-2").out
    assert text.startswith("env-2  coder -> reviewer  task-1, hop 2 of 12\n")
    assert ", continues env-1, path analyst -> coder -> reviewer\n" in text
    for part in (
        "Intent\n  No payment may be lost.\n", "Summary\n  Review.\n",
        "Constraints\n  language: python\n  max_retries: 2\n  style: plain\n",
        "Waived\n  - deadline: 2030-01-01, waived by coder at hop 2: the client said so\n",
        "History\n  1. coder: Which queue?; decided: the fast one\n", "Missing\n  - ms-3 (unknown)\n",
    ):
        assert f"\n{part}" in text, part
    assert re.search(r"^ms-1@1 +cited|^ms-1@1 +inherited", text, re.M)
    text = spine.ok("envelope", "env-3").out
    assert re.search(r"^  - ms-1 left out \(\d+ tokens, budget\)$", text, re.M)


def test_envelope_says_what_became_of_its_memories(spine):
    for text in ("updated", "superseded", "forgotten"):
        stored(spine, text)
    spine.ok("handoff", "b", "Use ms-1 to ms-3.")
    spine.ok("update", "ms-1", "again")
    stored(spine, "newer", "--supersedes", "ms-2")
    spine.ok("forget", "--yes", "ms-3")
    text = spine.ok("envelope", "env-1").out
    assert text.endswith(
        "\nSince then\n  - ms-1 was updated to version 2\n  - ms-2 was superseded by ms-4\n  - ms-3 was forgotten\n"
    )
    assert "(forgotten since)" in text


def test_an_envelope_in_version_1(spine):
    stored(spine, "one")
    spine.ok("handoff", "b", "Use ms-1.", "-c", "language=c")
    document = spine.ok("envelope", "env-1", "--v1").json
    assert (document["version"], document["target"], document["memory_ids"]) == (1, "b", ["ms-1"])
    assert spine.ok("envelope", "env-1", "--v1", "--json").json == document
    assert spine.ok("envelope", "env-1", "--prompt").out == document["context"]


@pytest.mark.parametrize("other", ["--json", "--v1"])
def test_an_envelope_has_one_form_at_a_time(offline, other):
    assert offline("envelope", "env-1", "--prompt", other).code == USAGE


def test_a_line_of_an_agent_cannot_pass_for_a_title(spine):
    spine.ok("handoff", "b", "x\nConstraints\n  none: at all")
    assert "\nConstraints\n" not in spine.ok("envelope", "env-1").out


# --- Verify --------------------------------------------------------------------------------------------


def test_verify_follows_the_chain(spine):
    chain(spine)
    assert spine.ok("verify", "env-3").out == (
        "env-3: intact, 3 envelopes to the root: every digest and every link matches\n"
    )
    assert spine.ok("verify", "env-1").out.startswith("env-1: intact, 1 envelope to the root")
    assert spine.ok("verify", "env-3", "--json").json["checked"] == 3


def test_verify_of_a_forgotten_text_is_no_failure(spine):
    stored(spine, "one")
    spine.ok("handoff", "b", "Use ms-1.")
    spine.ok("forget", "--yes", "ms-1")
    assert spine.ok("verify", "env-1").out.startswith("env-1: forgotten, 1 envelope to the root: the text of a memory")


def test_verify_names_the_first_bad_envelope(server, spine):
    space = spine.environment["SPINE_SPACE"]
    spine.ok("handoff", "b", "the original text")
    spine.ok("handoff", "c", "next", "-p", "env-1")
    with open_database(server.data / "spine.db") as db:
        with unprotected(db, "envelope"):
            changed = db.execute(
                "UPDATE envelope SET body = replace(body, 'original', 'tampered') WHERE body LIKE ?",
                (f'%"id":"env-1"%"space":"{space}"%',),
            ).rowcount
    assert changed == 1
    result = spine("verify", "env-2")
    assert result.code == DAMAGED
    assert result.out == "env-2: damaged, first at env-1, which does not match its digest\n"
    document = spine("verify", "env-2", "--json")
    assert document.code == DAMAGED
    assert (document.json["ok"], document.json["first_bad"]) == (False, "env-1")


def test_verify_of_a_broken_chain_is_damage(tmp_path):
    broken = {"id": "env-2", "ok": False, "verdict": "unchained", "checked": 1, "first_bad": "env-1"}
    with Fake(answer(200, broken)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("verify", "env-2")
        assert result.code == DAMAGED
        assert result.out.startswith("env-2: unchained, first at env-1, which ")


def test_a_damaged_envelope_has_the_exit_code_of_damage(tmp_path):
    problem = {"status": 500, "code": "envelope_damaged", "detail": "env-1 is damaged"}
    with Fake(answer(500, problem)) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url)("envelope", "env-1").code == DAMAGED


# --- Tasks, fidelity, diff, blame --------------------------------------------------------------------------


def test_tasks_are_listed_newest_change_first_in_pages(spine):
    for name in ("first", "second", "third"):
        spine.ok("handoff", "b", "x", "--task", name)
    spine.ok("handoff", "c", "y", "-p", "env-1")
    rows = [line.split() for line in spine.ok("tasks").out.splitlines()]
    assert rows[0] == ["CHANGED", "TASK", "STATE", "HOPS", "ABOUT"], "nobody has it: there is no agent to show"
    assert [row[1:] for row in rows[1:]] == [["first", "done", "2", "y"], ["third", "done", "1", "x"], ["second", "done", "1", "x"]]
    page = spine.ok("tasks", "--limit", "2", "--json").json
    rest = spine.ok("tasks", "--page-token", page["next_page_token"], "-n", "2", "--json").json
    assert [task["id"] for task in page["tasks"] + rest["tasks"]] == ["first", "third", "second"]
    spine.ok("send", "env-3")
    assert [task["id"] for task in spine.ok("tasks", "--state", "waiting", "--with", "b", "--query", "thi", "--json").json["tasks"]] == ["third"]
    assert spine.ok("tasks", "--state", "parked").out == ""
    assert "there are more" in spine.on_terminal("tasks", "--limit", "2")[1]


def test_a_task_is_known_again_by_its_intent_or_its_newest_summary(spine):
    spine.ok("handoff", "b", "Fix it.", "--intent", "No lost payments.")
    spine.ok("handoff", "b", "Begin.")
    spine.ok("handoff", "c", "Add the retries.\n" + "word " * 100, "-p", "env-2")
    lines = spine.ok("tasks").out.splitlines()
    assert re.search(r"  task-2 .* 2  Add the retries\. word word .*…$", lines[1]) and len(lines[1]) < 270
    assert re.search(r"  task-1 .* 1  No lost payments\.$", lines[2])


def test_no_tasks_are_no_failure(spine):
    assert spine.ok("tasks").out == ""
    assert spine.ok("tasks", "--json").json["tasks"] == []


def test_task_shows_the_chain(spine):
    chain(spine)
    lines = spine.ok("task", "task-1").out.splitlines()
    assert lines[0] == "task-1: No payment may be lost."
    assert lines[1].split() == "HOP ENVELOPE FROM -> TO AGE TOKENS MEMORIES MISSING TRIMMED".split()
    assert [line.split()[:5] for line in lines[2:]] == [
        ["1", "env-1", "analyst", "->", "coder"], ["2", "env-2", "coder", "->", "reviewer"],
        ["3", "env-3", "reviewer", "->", "tester"],
    ]
    assert [e["hop"] for e in spine.ok("task", "task-1", "--json").json["envelopes"]] == [1, 2, 3]


def test_task_says_where_a_chain_branches(spine):
    spine.ok("handoff", "b", "x")
    spine.ok("handoff", "c", "x", "-p", "env-1")
    spine.ok("handoff", "d", "x", "-p", "env-1")
    lines = spine.ok("task", "task-1").out.splitlines()
    assert lines[1].split()[2] == "CONTINUES"
    assert lines[3].split()[:3] == ["2", "env-2", "(unknown)"]
    assert lines[4].split()[:3] == ["2", "env-3", "env-1"]


def test_fidelity_is_a_table_hop_by_hop(spine):
    chain(spine)
    text = spine.ok("fidelity", "task-1", "--compare").out
    lines = text.splitlines()
    for title in ("FROM -> TO", "SCORE", "KEPT", "OF FIRST", "10 % LOSS", "DROPPED", "CONSTRAINTS"):
        assert title in lines[0]
    assert re.search(r"^ +1  env-1 +analyst -> coder +- +- +100.0 % +90.0 %", text, re.M)
    assert re.search(
        r"^ +2  env-2 +coder -> reviewer +85.7 % +6/7 +85.7 % +81.0 % +1 added, 1 narrow", text, re.M
    )
    assert re.search(r"^ +3  env-3 +reviewer -> tester +[\d.]+ % +\d+/\d+ +[\d.]+ % +72.9 % +2 *$", text, re.M)
    for detail in (
        "constraint deadline waived: 2030-01-01, by coder: the client said so",
        "constraint max_retries narrowed: 3 -> 2", "constraint style added: plain", "memory ms-1 dropped: budget",
    ):
        assert f"     {detail}\n" in text
    assert "75.0 % of its intent and constraints" in text
    assert "at 10 % loss a hop, 72.9 % would be left after hop 3" in text
    assert spine.ok("fidelity", "task-1", "--json").json["intent_and_constraints"] == 0.75


def test_fidelity_shows_only_what_was_measured_unless_it_is_asked_to_compare(spine):
    chain(spine)
    plain, compared = spine.ok("fidelity", "task-1").out, spine.ok("fidelity", "task-1", "--compare").out
    assert "10 %" not in plain and "72.9 %" not in plain
    assert plain.endswith("of its intent and constraints.\n")
    assert "10 % LOSS" in compared and compared.endswith("72.9 % would be left after hop 3.\n")
    assert spine.ok("fidelity", "task-1", "--json").out == spine.ok("fidelity", "task-1", "--compare", "--json").out


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_fidelity_fits_the_terminal(spine, columns):
    chain(spine)
    spine.ok("handoff", "z" * 100, "Go on.", "--from", "y" * 100, "-p", "env-3")
    lines = spine.on_terminal("fidelity", "task-1", "--compare", env={"NO_COLOR": "1"}, columns=columns)[1].splitlines()
    rows = [line for line in lines if re.match(r" *(HOP|\d+  env-)", line)]
    assert len(rows) == 5 and max(map(len, rows)) <= columns, rows
    assert all(title in rows[0] for title in ("ENVELOPE", "SCORE", "KEPT", "OF FIRST", "10 % LOSS", "DROPPED"))
    assert ("CONSTRAINTS" in rows[0]) == (columns >= 100)
    assert "     constraint max_retries narrowed: 3 -> 2" in lines
    if columns == 140:
        assert "1 added, 1 narrowed, 1 waived" in rows[2]


def test_five_agents_keep_intent_and_constraints_where_loss_would_leave_two_thirds(spine):
    spine.ok("handoff", "b", "x", "--from", "a", "--intent", "the intent", "-c", "language=c", "-c", "max_retries=3")
    for number, (giver, taker) in enumerate(("bc", "cd", "de"), start=1):
        spine.ok("handoff", taker, "go on", "--from", giver, "-p", f"env-{number}")
    text = spine.ok("fidelity", "task-1", "--compare").out
    assert re.search(r"^ +4  env-4 +d -> e +100.0 % +3/3 +100.0 % +65.6 %", text, re.M)


def test_diff_says_what_became_of_everything(spine):
    chain(spine)
    lines = spine.ok("diff", "env-1", "env-2").out.splitlines()
    assert re.fullmatch(r"env-1 -> env-2: 85.7 % kept, 6 of 7", lines[0])
    rows = [re.split(r" {2,}", line.strip()) for line in lines[1:]]
    assert rows[0] == ["FATE", "KIND", "WHAT", "DETAIL"]
    assert ["narrowed", "constraint", "max_retries", "3 -> 2"] in rows
    assert ["waived", "constraint", "deadline", "2030-01-01, by coder: the client said so"] in rows
    assert ["added", "constraint", "style", "plain"] in rows
    assert spine.ok("diff", "env-1", "env-2", "--json").json["waived"] == 1
    assert spine.ok("diff", "env-1", "env-1").out.count("\n") == 1


def test_blame_names_where_it_came_in_and_where_it_was_lost(spine):
    chain(spine)
    text = spine.ok("blame", "task-1", "deadline").out
    assert text.startswith("deadline: waived\ncame in with  env-1, hop 1, analyst -> coder, ")
    lost = r"^lost in       env-2, hop 2, coder -> reviewer, \S+, waived by coder: the client said so$"
    assert re.search(lost, text, re.M)
    assert re.search(r"^lost in       env-3, .*, dropped: budget$", spine.ok("blame", "task-1", "ms-1").out, re.M)
    assert spine.ok("blame", "task-1", "intent").out.startswith("intent: still there\ncame in with  env-1")
    assert spine.ok("blame", "task-1", "style", "--json").json["introduced"]["envelope"] == "env-2"


def test_waive_is_for_persons_and_the_next_hop_goes_without(spine):
    handed(spine, "coder", "write it", "-c", "max_retries=3", "-c", "region=eu", "--lock", "max_retries", "--task", "t")
    refused = spine("handoff", "reviewer", "review it", "-p", "env-1", "--waive", "max_retries=in the way")
    assert refused.code == CONFLICT and "spine waive t 'max_retries'" in refused.err
    assert spine("waive", "t", "max_retries", "--reason", "r", "--agent", "coder").code == USAGE
    assert spine("waive", "t", "max_retries").code == USAGE
    answer = spine.ok("waive", "t", "max_retries", "--why", "legal said so", "--by", "kim", "--json").json
    assert (answer["by"], answer["unauthenticated"], answer["value"]) == ("kim", True, 3)
    envelope = spine.ok("handoff", "reviewer", "review it", "--task", "t", "--json").json
    assert envelope["constraints"] == {"region": "eu"} and [one["by"] for one in envelope["waived"]] == ["kim"]
    assert spine.ok("blame", "t", "max_retries").out.startswith("max_retries: waived\n")


def test_a_space_is_told_what_to_lock(spine):
    spine.ok("space", "--guard", "redact")
    assert spine.ok("space", "--lock", "region", "--lock", "tone", "--json").json["locked"] == ["region", "tone"]
    assert spine.ok("space", "--json").json["guard"] == "redact"


def test_blame_of_what_was_never_there(spine):
    chain(spine)
    result = spine("blame", "task-1", "a&b=c")
    assert (result.code, result.out) == (NOT_FOUND, "a&b=c: never there\n")
    document = spine("blame", "task-1", "nothing", "--json")
    assert (document.code, document.json["verdict"]) == (NOT_FOUND, "never there")


# --- Resolve, receipts -----------------------------------------------------------------------------------


def test_resolve_prints_what_was_left_out_and_leaves_a_receipt(spine):
    chain(spine)
    result = spine("resolve", "env-3", "--agent", "tester")
    assert result.code == NOT_FOUND
    assert "the gateway answers 429" in result.out and "word2999" in result.out
    assert "ms-3 does not exist" in result.err
    assert '"ms-9" is not the id of a memory' in spine("resolve", "env-3", "ms-1", "ms-9").err
    rows = [line.split() for line in spine.ok("receipts", "env-3").out.splitlines()]
    assert rows[0] == ["MEMORY", "AGE", "OPENED", "AGENT"]
    assert [(row[0], row[3]) for row in rows[1:]] == [("ms-1", "tester"), ("ms-2", "tester")]
    assert [r["id"] for r in spine.ok("receipts", "env-3", "--json").json["receipts"]] == ["ms-1", "ms-2"]


def test_resolve_of_named_memories(spine):
    chain(spine)
    assert spine.ok("receipts", "env-3").out == ""
    text = spine.ok("resolve", "env-3", "ms-1").out
    assert text.startswith("ms-1@1  fact") and "word0" not in text
    document = spine.ok("resolve", "env-3", "ms-2", "ms-1", "--json").json
    assert [m["id"] for m in document["memories"]] == ["ms-2", "ms-1"]
    result = spine("resolve", "env-3", "ms-77")
    assert result.code == FAILED and "not the id of a memory that this envelope mentions" in result.err


# --- Agents ----------------------------------------------------------------------------------------------


def test_an_agent_is_registered_and_shown(spine):
    assert spine("agent", "coder").code == NOT_FOUND
    assert spine.ok("agents").out == ""
    agent = spine.ok(
        "agent", "coder", "--accepts", "1, 2", "--tokenizer", "cl100k_base", "--max-tokens", "500", "--description",
        "writes code", "--json",
    ).json
    assert sorted(agent["accepts"]) == ["1", "2"]
    assert (agent["tokenizer"], agent["max_tokens"], agent["description"]) == ("cl100k_base", 500, "writes code")
    text = spine.ok("agent", "coder").out
    assert re.search(r"^max_tokens +500$", text, re.M) and re.search(r"^description +writes code$", text, re.M)
    envelope = handed(spine, "coder", "x")
    assert (envelope["budget"]["max_tokens"], envelope["budget"]["tokenizer"]) == (500, "cl100k_base")


def test_settings_that_are_not_given_stay(spine):
    spine.ok("agent", "coder", "-m", "500", "-d", "writes code", "--accepts", "1")
    agent = spine.ok("agent", "coder", "--tokenizer", "estimate", "--json").json
    assert (agent["accepts"], agent["max_tokens"], agent["description"]) == (["1"], 500, "writes code")
    agent = spine.ok("agent", "coder", "-m", "700", "--replace", "--json").json
    assert (agent["tokenizer"], agent["max_tokens"], agent["description"]) == (None, 700, None)


def test_settings_that_somebody_changes_meanwhile_are_not_lost(tmp_path):
    present = {"name": "coder", "accepts": ["1"], "tokenizer": None, "max_tokens": 500, "description": None}
    problem = {"status": 412, "code": "precondition_failed", "detail": "the agent was registered anew since"}
    with Fake(answer(200, present, ETag='"7"'), answer(412, problem)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("agent", "coder", "-d", "writes code")
        assert result.code == CONFLICT and "registered anew" in result.err
        method, _, headers, body = fake.requests[1]
        assert (method, headers["If-Match"]) == ("PUT", '"7"')
        assert json.loads(body) == {"accepts": ["1"], "max_tokens": 500, "description": "writes code"}


def test_agents_are_listed(spine):
    spine.ok("agent", "b", "-m", "500")
    spine.ok("agent", "a/ ü", "-d", "odd name")
    rows = [re.split(r" {2,}", line.strip()) for line in spine.ok("agents").out.splitlines()]
    assert rows[0] == ["AGENT", "ACCEPTS", "MAX TOKENS", "DESCRIPTION"]
    assert sorted(row[0] for row in rows[1:]) == ["a/ ü", "b"]
    assert spine.ok("agent", "a/ ü", "--json").json["description"] == "odd name"
    page = spine.ok("agents", "--limit", "1", "--json").json
    assert len(page["agents"]) == 1 and page["next_page_token"]


@pytest.mark.parametrize(
    "args, code",
    [(["--accepts", "3"], FAILED), (["--accepts", ""], USAGE), (["--accepts", "1,,2"], USAGE),
     (["--max-tokens", "0"], USAGE), (["--tokenizer", "none"], USAGE)],
)
def test_wrong_settings_are_refused(spine, args, code):
    assert spine("agent", "coder", *args).code == code
    assert spine("agent", "coder").code == NOT_FOUND


# --- All of them -----------------------------------------------------------------------------------------

READS = [
    ["envelope", "env-9"], ["envelope", "env-9", "--prompt"], ["envelope", "env-9", "--v1"], ["verify", "env-9"],
    ["diff", "env-9", "env-8"], ["blame", "task-9", "x"], ["fidelity", "task-9"], ["task", "task-9"],
    ["resolve", "env-9"], ["receipts", "env-9"], ["agent", "nobody"], ["recall", "env-9"], ["recall", "env-9", "--why"],
]


@pytest.mark.parametrize("args", READS, ids=" ".join)
def test_what_does_not_exist_is_not_found(spine, args):
    result = spine(*args)
    assert (result.code, result.out) == (NOT_FOUND, "")
    assert result.err.startswith("spine: ")
    if "--prompt" not in args:
        assert spine(*args, "--json").json["status"] == 404


@pytest.mark.parametrize("bad", ["../status", "env-1/verify", "env-1?format=v1", "", "..", "env-1%2fverify"])
def test_an_id_cannot_become_another_path(spine, bad):
    spine.ok("handoff", "b", "x")
    for command in ("envelope", "verify", "receipts", "resolve", "task", "fidelity", "agent"):
        assert spine(command, bad).code in (FAILED, NOT_FOUND), command
    assert spine("diff", "env-1", bad).code in (FAILED, NOT_FOUND)


@pytest.mark.parametrize(
    "args",
    [*READS, ["handoff", "b", "x"], ["handoff", "b", "x", "--dry-run"], ["tasks"], ["agents"], ["agent", "a", "-m9"],
     ["recall", "some", "words"]],
    ids=" ".join,
)
def test_without_a_server_it_says_how_to_start_it(offline, args):
    result = offline(*args)
    assert (result.code, result.out) == (UNREACHABLE, "")
    assert result.err.endswith("Start it with: spine serve\n") and result.err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    ["envelope env-1", "envelope env-2", "envelope env-1 --prompt", "envelope env-1 --json", "envelope env-1 --v1",
     "task task-1", "fidelity task-1", "diff env-1 env-2", "blame task-1 key", "agents", "agent evil", "tasks",
     "resolve env-2 ms-1", "handoff evil evil --dry-run", "handoff evil evil --prompt", "recall env-1 --why", "recall env-2 --why",
     "recall evil title", "recall evil title --to evil\u202e --why --task evil\u202e -m 400"],
)
def test_what_agents_wrote_cannot_control_the_terminal(spine, line):
    stored(spine, EVIL, "--summary", EVIL, "--kind", "k\u202e", "--agent", "a\u202eb")
    values = ["-c", f"key={EVIL}", "-c", f"k\u202e={EVIL}", "-e", f"format={EVIL}", "--decision", EVIL, "--history",
              json.dumps({"agent": EVIL, "action": EVIL, "why": EVIL, "decision": EVIL})]
    texts = ["--from", "evil\u202e", "--intent", EVIL, "--state", EVIL]
    spine.ok("handoff", "evil\u202e", EVIL, "-r", "ms-1", *texts, *values)
    spine.ok("handoff", "c", EVIL, "-p", "env-1", "-m", "700", "--waive", f"key={EVIL}", "--from", "evil\u2066")
    spine.ok("handoff", "c", "x", "--task", "evil\u202e", "--new-root")
    spine.ok("agent", "evil", "-d", EVIL)
    code, text = spine.on_terminal(*line.split(), env={"NO_COLOR": "1"})
    assert code == OK, text
    assert "evil" in text
    for character in text:
        assert character in "\n\t" or (ord(character) >= 0x20 and not 0x7F <= ord(character) < 0xA0), repr(text)
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", repr(text)


ODD = [
    {}, [], 7,
    {"task": 1, "memory": [], "budget": "x", "lineage": None, "history": {}, "waived": [1, {}], "constraints": [],
     "since": [3], "guard": 5, "extensions": {"a": {}}},
    {"task": {"open_decisions": [1, {"a": 1}]}, "memory": {"refs": [None, {"id": 5}], "missing": [[]]},
     "budget": {"trimmed": [1]}, "history": [1, {"agent": {}, "action": []}]},
    {"hops": [1, {"changes": [2, {"kind": 5}], "against_root": 3}], "score": "x", "changes": [None], "tasks": [1],
     "envelopes": [1, {}], "agents": [1, {"accepts": [1]}], "receipts": [5], "memories": [1], "missing": [1],
     "budgets": [1], "introduced": 5, "lost": []},
    {"envelope": {"budget": 5, "memory": {"missing": [7, {"id": 3}]}, "to": []},
     "considered": {"recorded": "yes", "floor": "x", "scope": 5, "considered": [1, {}, {"fate": "full", "relevance": "x"}, {"fate": 3}]}},
    {"recorded": True, "considered": [1, {"id": 5, "fate": "passed_over", "reason": 7, "tokens": -3, "text": []}]},
]


@pytest.mark.parametrize(
    "args", [*READS, ["handoff", "b", "x"], ["handoff", "b", "x", "--dry-run"], ["tasks"], ["agents"], ["recall", "x", "y", "--why"]],
    ids=" ".join
)
def test_answers_of_an_unexpected_shape_do_no_harm(tmp_path, args):
    for odd in ODD:
        with Fake(*[answer(200, odd)] * 2) as fake:
            assert Cli(tmp_path, SPINE_URL=fake.url)(*args).code in (OK, FAILED, NOT_FOUND, DAMAGED)


def test_a_page_of_another_server_is_not_taken_for_a_prompt(tmp_path):
    with Fake(answer(200, b"<html>"), answer(200, {"hello": 1})) as fake:
        for _ in range(2):
            result = Cli(tmp_path, SPINE_URL=fake.url)("envelope", "env-1", "--prompt")
            assert (result.code, result.out) == (FAILED, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_fits_the_width(offline, name):
    text = offline.ok(name, "--help", env={"COLUMNS": "60"}).out
    assert text.startswith(f"Usage: spine {name} [options]")
    assert offline.ok("help", name, env={"COLUMNS": "60"}).out == text
    for line in text.split("Examples:")[0].splitlines()[1:]:
        assert len(line) <= 60, line
    page = (ROOT / "man/spine.1").read_text().replace("\\-", "-")
    for option in set(re.findall(r"--[a-z0-9-]+", text)):
        assert option[1:] in page, option


def test_help_groups_them(offline):
    group = offline.ok("help").out.split("Handoffs:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in group.splitlines() if re.match(r"  \w", line)] == COMMANDS


def test_the_examples_of_the_help_work(spine, tmp_path):
    """One after the other, as a person would try them."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spine").symlink_to(binary())
    env = spine.env({"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    stored(spine, "the gateway answers 429")
    order = "agent handoff recall envelope verify diff blame fidelity tasks task resolve receipts agents waive".split()
    assert set(order) == set(COMMANDS)
    for name in order:
        block = spine.ok(name, "--help").out.split("Examples:\n")[1].split("\n\n")[0]
        for line in map(str.strip, block.splitlines()):
            if "jq" in line and not have("jq"):
                continue
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=60,
            )
            assert done.returncode == OK, f"{line}\n{done.stdout}{done.stderr}"
