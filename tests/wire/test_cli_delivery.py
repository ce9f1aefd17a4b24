"""What the commands about delivery do, print and return."""

import itertools
import os
import pwd
import re
import signal
import subprocess
import time
from datetime import datetime

import pytest
from api import Api, wait_until

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
    stored,
)
from cli_delivery import events, nothing_is_left_running, parked, sent, start, state, taken  # noqa: F401
from server import ROOT, binary

COMMANDS = (
    "send receive wait ack progress need complete nack release reject handoffs queues trace cancel move parked park channels routes"
).split()
EVIL = "evil\x1b]0;title\x07 \x1b[2J\u009b31m \u202etxt.exe\x7f"


_spaces = itertools.count(1)


@pytest.fixture
def spine(server, tmp_path):
    """In a space of the test's own."""
    return Cli(tmp_path, SPINE_URL=server.url, SPINE_SPACE=f"delivery-{next(_spaces)}")


# --- send ----------------------------------------------------------------------------------------------


def test_send_packs_and_delivers_in_one_call(spine):
    out = spine.ok(
        "send", "--to", "coder", "Use ms-1.", "--from", "analyst", "-c", "max_retries=3", "--intent", "All."
    ).out
    assert out == "ho-1  queued for coder (env-1 from analyst, attempt 1 of 3)\n"
    envelope = spine.ok("envelope", "env-1", "--json").json
    assert envelope["constraints"] == {"max_retries": 3} and envelope["task"]["intent"] == "All."
    assert envelope["task"]["summary"] == "Use ms-1."


def test_send_reads_the_summary_from_standard_input(spine):
    spine.ok("send", "--to", "coder", stdin="Say hello.\n")
    assert spine.ok("envelope", "env-1", "--json").json["task"]["summary"] == "Say hello."


def test_send_delivers_an_envelope_and_again_the_same_handoff(spine):
    spine.ok("handoff", "coder", "Go.", "--from", "analyst")
    first = spine.ok("send", "env-1", "--json").json
    again = spine.ok("send", "env-1", "--json").json
    assert (first["id"], first["state"], first["to"]) == ("ho-1", "queued", "coder")
    assert again["id"] == "ho-1" and again["attempt"] == 1


def test_send_takes_every_option_of_delivery(spine):
    spine.ok("handoff", "coder", "Go.", "--from", "analyst")
    handoff = spine.ok(
        "send", "env-1", "--to", "other", "--fallback", "a", "--fallback", "b", "--priority", "9", "--attempts", "7",
        "--ack-timeout", "2m", "--json",
    ).json
    assert (handoff["to"], handoff["fallbacks"], handoff["priority"]) == ("other", ["a", "b"], 9)
    assert handoff["max_attempts"] == 7
    assert handoff["due_at"] > handoff["created_at"]


def test_send_waits_for_the_ack(spine):
    sender = start(spine, "send", "--to", "coder", "Go.", "--wait", "30s")
    assert "Go." in spine.ok("receive", "coder", "--wait", "30", "--ack").out
    out, err = sender.communicate(timeout=30)
    assert (sender.returncode, err) == (OK, "")
    assert out.startswith("ho-1  acked by coder")


def test_send_that_nobody_acks_in_time_is_withdrawn(spine):
    result = spine("send", "--to", "coder", "Go.", "--wait", "100ms")
    assert result.code == UNREACHABLE and "coder did not ack in time" in result.err
    assert state(spine)["state"] == "expired"
    assert spine("send", "env-1", "--wait", "50ms", "--json").json["code"] == "ack_timeout"
    assert spine.ok("send", "env-1", "--json").json["attempt"] == 3


def test_the_time_of_waiting_is_not_that_of_the_answer(spine):
    result = spine("send", "--to", "coder", "Go.", "--wait", "600ms", "--timeout", "300ms")
    assert result.code == UNREACHABLE and "coder did not ack in time" in result.err
    result = spine("receive", "nobody", "--wait", "600ms", "--timeout", "300ms")
    assert result.code == NOT_FOUND and "nothing came" in result.err


def test_send_of_what_is_parked_is_refused_with_what_to_do(spine):
    parked(spine)
    result = spine("send", "env-1")
    assert result.code == CONFLICT and "not mine" in result.err and "spine parked" in result.err


def test_the_sender_is_told_what_was_parked(spine):
    sent(spine, "coder", "Go.", "--agent", "analyst")
    spine.ok("reject", taken(spine)["lease"], "not mine")
    result = spine.ok("send", "--to", "other", "Go on.", "--agent", "analyst")
    assert "parked since the last call: ho-1 to coder: not mine" in result.err and "spine parked" in result.err
    assert "parked since" not in spine.ok("send", "--to", "third", "Go on.", "--agent", "analyst").err


def test_a_circuit_that_is_open_fails_fast_and_can_be_closed(spine):
    for _ in range(3):
        sent(spine, "coder", "Go.", "--attempts", "1")
        spine.ok("nack", taken(spine)["lease"], "broken")
    began = time.monotonic()
    held = sent(spine, "coder", "Go.")
    assert (held["state"], held["held_until"] is not None) == ("queued", True)
    result = spine("send", "--to", "coder", "Go.", "--wait", "5s")
    assert result.code == UNREACHABLE and "circuit breaker is open" in result.err and "--reset-breaker" in result.err
    assert time.monotonic() - began < 5
    assert re.search(r"^coder .* open ", spine.ok("agents").out, re.M)
    assert "closed" in spine.ok("agent", "coder", "--reset-breaker").out
    assert spine.ok("agent", "coder", "--json").json["breaker"]["state"] == "closed"
    spine.ok("send", "--to", "coder", "Go.")


@pytest.mark.parametrize(
    "args, said",
    [
        (["send"], "nothing to send"),
        (["send", "env-x"], "--to AGENT"),
        (["send", "fix it"], "--to AGENT"),
        (["send", "env-1", "-c", "a=b"], "packed already"),
        (["send", "--to", "coder", ""], "no summary"),
        (["send", "env-1", "--priority", "10"], "--priority"),
        (["receive", "coder", "--ack", "--no-ack", "--exec", "true"], "cannot be given together"),
        (["receive", "coder", "--exec", "true", "--", "true"], "not by both"),
        (["receive", "coder", "--no-ack"], "--exec"),
        (["receive", "coder", "--loop", "--json"], "--format json"),
        (["ack", "ho-1"], "not a lease"),
        (["complete", "12.1"], "not a lease"),
        (["parked", "redrive"], "needs ids, or which ones"),
        (["parked", "redirve", "ho-1"], "did you mean \"redrive\"?"),
        (["routes", "frobnicate"], "expected list, show, put or delete"),
        (["parked", "reroute", "ho-1"], "--to AGENT"),
        (["parked", "shrink", "ho-1"], "--max-tokens"),
        (["parked", "discard", "ho-1"], "--reason"),
        (["parked", "discard", "ho-1", "--why", "a", "--reason", "b"], "give one of them"),
        (["reject", "ho-1.1"], "reject needs a reason"),
        (["reject", "ho-1.1", "a", "--reason", "b"], "not by both"),
        (["nack", "ho-1.1", "a", "--why", "b"], "not by both"),
        (["complete", "ho-1.1", "a", "--result", "b"], "not by both"),
        (["parked", "redrive", "ho-1", "--to", "x"], "ids or a filter, not both"),
        (["park", "env-1"], "--reason"),
        (["routes", "put", "a"], "--to AGENT"),
        (["routes", "put", "a", "--to", "b", "--when-hop", "5-2"], "--when-hop"),
        (["channels", "join", "c", "env-1", "--need", "most"], "--need"),
        (["get", "ho-1", "ms-1"], "alone"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_typed_wrong_is_said_before_anything_is_done(offline, args, said):
    result = offline(*args)
    assert (result.code, result.out) == (USAGE, ""), result.err
    assert said in result.err


# --- Answers -------------------------------------------------------------------------------------------


def test_a_handoff_is_answered_by_its_lease(spine):
    sent(spine)
    lease = taken(spine)["lease"]
    assert spine.ok("ack", lease, "--work-lease", "5m", "--input-tokens", "7").out.startswith("ho-1  acked by coder")
    assert spine.ok("ack", lease, "--json").json["work_lease"] is True
    assert spine.ok("progress", lease, "half", "--json").json["progress"] == "half"
    assert spine.ok("complete", lease, '{"patch": 1}', "--gap", "no schema", "--json").json["state"] == "completed"
    result = spine("complete", lease, "something else", "--json")
    assert (result.code, result.json["code"]) == (CONFLICT, "already_settled")
    handoff = state(spine)
    assert (handoff["result"], handoff["gaps"]) == ({"patch": 1}, ["no schema"])
    assert events(spine) == ["queued", "leased", "acked", "progress", "completed"]
    for command in (["nack", lease], ["reject", lease, "x"], ["progress", lease]):
        result = spine(*command, "--json")
        assert (result.code, result.json["code"]) == (CONFLICT, "stale_lease")


def test_complete_reads_the_result_from_standard_input(spine):
    sent(spine)
    spine.ok("complete", taken(spine)["lease"], "-", stdin="a\nb\n")
    assert state(spine)["result"] == "a\nb"


def test_nack_and_reject_say_why(spine):
    sent(spine)
    out = spine.ok("nack", taken(spine)["lease"], "no compiler", "--delay", "0").out
    assert out == "ho-1  queued for coder (env-1 from analyst, attempt 2 of 3); last failure: no compiler\n"
    out = spine.ok("reject", taken(spine)["lease"], "-", stdin="not mine\n").out
    assert out == "ho-1  parked on the way to coder (env-1 from analyst, attempt 2 of 3): not mine\n"


def test_need_prints_the_memories(spine):
    stored(spine, "the gateway answers 429")
    sent(spine)
    lease = taken(spine)["lease"]
    result = spine("need", lease, "ms-1", "ms-9")
    assert result.code == NOT_FOUND
    assert "the gateway answers 429" in result.out and "ms-9 does not exist" in result.err
    assert spine.ok("need", lease, "ms-1", "--json").json["memories"][0]["id"] == "ms-1"


# --- Looking -------------------------------------------------------------------------------------------


def test_handoffs_are_listed_and_filtered(spine):
    sent(spine, "coder")
    sent(spine, "reviewer")
    spine.ok("ack", taken(spine, "reviewer")["lease"])
    rows = [line.split() for line in spine.ok("handoffs").out.splitlines()]
    assert rows[0] == "HANDOFF STATE AGE ENVELOPE FROM -> TO TRY".split()
    listed = {(row[0], row[1], row[6]) for row in rows[1:]}
    assert listed == {("ho-1", "queued", "coder"), ("ho-2", "acked", "reviewer")}
    for args, ids in (
        (["--state", "acked"], ["ho-2"]), (["--to", "coder"], ["ho-1"]), (["--from", "analyst"], ["ho-1", "ho-2"]),
        (["--from", "nobody"], []), (["--envelope", "env-2"], ["ho-2"]),
    ):
        listed = spine.ok("handoffs", "--json", *args).json["handoffs"]
        assert sorted(handoff["id"] for handoff in listed) == ids, args
    assert spine.ok("handoffs", "-n", "1", "--json").json["next_page_token"]


def test_get_shows_a_handoff_and_an_envelope(spine):
    sent(spine)
    spine.ok("complete", taken(spine, "coder", "--instance", "one")["lease"], "the result")
    text = spine.ok("get", "ho-1").out
    assert text.startswith("ho-1  completed by coder")
    assert re.search(r"^result +the result$", text, re.M)
    assert re.search(r"^\+\d+\.\d+ +ho-1 +1 +taken by +coder +one$", text, re.M)
    assert spine.ok("get", "env-1").out == spine.ok("envelope", "env-1").out
    assert spine("get", "ho-9").code == NOT_FOUND and spine("get", "env-9").code == NOT_FOUND


def test_trace_tells_a_task_step_by_step(spine):
    sent(spine)
    spine.ok("nack", taken(spine, "coder", "--instance", "first")["lease"], "no compiler", "--delay", "0")
    spine.ok("complete", taken(spine, "coder", "--instance", "second")["lease"])
    spine.ok("send", "--to", "reviewer", "Review.", "--from", "coder", "--parent", "env-1")
    lines = spine.ok("trace", "task-1").out.splitlines()
    assert re.fullmatch(r"task-1: 2 envelopes, 2 handoffs, \d+\.\d{3} s from the first step to the last", lines[0])
    steps = [re.split(r" {2,}", line.strip()) for line in lines[3:]]
    assert [step[1:] for step in steps] == [
        ["env-1", "packed for", "coder", "analyst", steps[0][5]],
        ["ho-1", "1", "queued for", "coder", "analyst"],
        ["ho-1", "1", "taken by", "coder", "first"],
        ["ho-1", "1", "nacked by", "coder", "no compiler"],
        ["ho-1", "2", "taken by", "coder", "second"],
        ["ho-1", "2", "acked by", "coder"],
        ["ho-1", "2", "completed by", "coder"],
        ["env-2", "packed for", "reviewer", "coder", steps[7][5]],
        ["ho-2", "1", "queued for", "reviewer", "coder"],
    ]
    assert re.fullmatch(r"hop 2, \d+ tokens: Review\.", steps[7][5])
    assert spine.ok("trace", "task-1", "--json").json["task"] == "task-1"
    assert spine("trace", "task-9").code == NOT_FOUND


def test_an_agent_shows_its_queue_and_settings(spine):
    sent(spine)
    sent(spine)
    spine.ok("ack", taken(spine)["lease"], "--work-lease", "1m")
    spine.ok(
        "agent", "coder", "--fallback", "a", "--fallback", "b", "--ack-timeout", "500ms", "--attempts", "5",
        "--webhook", "http://127.0.0.1:9/hook", "--fetch-hint", "command",
    )
    agent = spine.ok("agent", "coder", "--description", "writes", "--json").json
    assert (agent["fallbacks"], agent["ack_timeout_s"], agent["max_attempts"]) == (["a", "b"], 0.5, 5)
    assert (agent["webhook"], agent["description"]) == ("http://127.0.0.1:9/hook", "writes")
    assert agent["fetch_hint"] == "command" and spine("agent", "coder", "--fetch-hint", "curl").code == USAGE
    text = spine.ok("agent", "coder").out
    assert re.search(r"^queue queued +1$", text, re.M) and re.search(r"^queue working +1$", text, re.M)
    assert re.search(r"^breaker state +closed$", text, re.M) and "null" not in text
    assert re.search(r"^coder +(now|\d+s) +1 +1 ", spine.ok("agents").out, re.M)
    assert spine("agent", "coder", "--reset-breaker", "-d", "x").code == USAGE


# --- Parked --------------------------------------------------------------------------------------------


def test_what_is_parked_is_listed_and_redriven(spine):
    assert spine.ok("parked").out == ""
    assert parked(spine) == "ho-1"
    rows = spine.ok("parked").out.splitlines()
    assert re.fullmatch(r"ho-1 +\w+ +env-1 +analyst -> coder +task-1 +1 +not mine", rows[1])
    assert spine.ok("parked", "list", "--json").json["parked"][0]["remedies"]
    assert "rejected by" in spine.ok("parked", "show", "ho-1").out
    out = spine.ok("parked", "redrive", "ho-1", "--why", "it is back", "--by", "ops").out
    assert out.startswith("ho-1  queued for coder")
    event = state(spine)["events"][-1]
    assert (event["event"], event["actor"], event["note"]) == ("handoff.redriven", "ops", "it is back")
    result = spine("parked", "redrive", "ho-1", "ho-9", "--json")
    assert result.code == CONFLICT
    assert [problem["code"] for problem in result.json["problems"]] == ["not_parked", "handoff_not_found"]


def test_what_is_parked_is_rerouted(spine):
    parked(spine)
    answers = spine.ok("parked", "reroute", "ho-1", "--to", "other", "--json", env={"USER": "me"}).json
    assert answers["handoffs"][0]["to"] == "other"
    assert state(spine)["events"][-1]["actor"] == "me"
    assert taken(spine, "other")["id"] == "ho-1"


def test_who_decides_is_the_user_also_where_the_environment_does_not_say_who_that_is(spine):
    parked(spine)
    spine.ok("parked", "redrive", "ho-1", env={"USER": ""})
    assert state(spine)["events"][-1]["actor"] == pwd.getpwuid(os.getuid()).pw_name


def test_what_is_parked_is_shrunk(spine):
    for i in range(5):
        stored(spine, f"fact {i} " + "word " * 300)
    sent(spine, "coder", "Use ms-1 through ms-5.")
    spine.ok("reject", taken(spine)["lease"], "too long for me")
    handoff = spine.ok("parked", "shrink", "ho-1", "--max-tokens", "600", "--json").json["handoffs"][0]
    assert handoff["replaces"] == "ho-1"
    assert spine.ok("get", handoff["envelope_id"], "--json").json["budget"]["token_count"] <= 600
    assert state(spine)["state"] == "discarded"


def test_what_is_parked_is_discarded_with_a_reason(spine):
    parked(spine)
    assert "discarded" in spine.ok("parked", "discard", "ho-1", "--why", "obsolete").out
    assert spine.ok("parked", "--json").json["parked"] == []


def test_an_envelope_is_parked(spine):
    spine.ok("handoff", "coder", "Go.", "--from", "analyst")
    out = spine.ok("park", "env-1", "--reason", "waits for the client", "--by", "me").out
    assert out.startswith("ho-1  parked on the way to coder") and "waits for the client" in out
    assert spine("park", "env-9", "--reason", "x").code == NOT_FOUND


def test_a_failure_that_is_over_is_not_told_as_if_it_were_not(spine):
    parked(spine)
    assert re.search(r"^reason +not mine$", spine.ok("get", "ho-1").out, re.M)
    assert spine.ok("parked", "redrive", "ho-1").out.endswith("; last failure: not mine\n")
    assert "last failure: not mine" in spine.ok("handoffs").out
    assert re.search(r"^last failure +not mine$", spine.ok("get", "ho-1").out, re.M)
    lease = taken(spine)["lease"]
    spine.ok("ack", lease)
    assert "not mine" not in spine.ok("handoffs").out
    assert spine.ok("complete", lease, "done").out.endswith("attempt 1 of 3)\n")
    lines = spine.ok("get", "ho-1").out.splitlines()
    assert "not mine" not in lines[0] and "last failure  not mine" in lines


@pytest.mark.parametrize("option", ["--reason", "--why"])
def test_a_reason_is_given_by_either_name_everywhere(spine, option):
    sent(spine)
    spine.ok("nack", taken(spine)["lease"], "--delay", "0", option, "one")
    assert state(spine)["reason"] == "one"
    spine.ok("reject", taken(spine)["lease"], option, "two")
    assert state(spine)["reason"] == "two"
    spine.ok("parked", "redrive", "ho-1", option, "three")
    assert state(spine)["events"][-1]["note"] == "three"
    spine.ok("park", "env-1", option, "four")
    assert state(spine)["reason"] == "four"
    spine.ok("parked", "discard", "ho-1", option, "five")
    assert state(spine)["events"][-1]["note"] == "five"
    assert spine("alerts", "silence", "al-999999", "--for", "1h", option, "six").code == NOT_FOUND


def test_a_result_is_given_by_an_option_too(spine):
    sent(spine)
    spine.ok("complete", taken(spine)["lease"], "--result", '{"patch":"ms-1"}')
    assert state(spine)["result"] == {"patch": "ms-1"}
    sent(spine)
    spine.ok("complete", taken(spine)["lease"], "--result", "-", stdin="from a pipe\n")
    assert state(spine, "ho-2")["result"] == "from a pipe"


def test_handoffs_are_listed_newest_first_unless_told_otherwise(spine):
    for _ in range(3):
        sent(spine)

    def listed(*args):
        return [handoff["id"] for handoff in spine.ok("handoffs", "--json", *args).json["handoffs"]]

    assert listed() == ["ho-3", "ho-2", "ho-1"] and listed("-n", "1") == ["ho-3"]
    assert listed("--order", "oldest") == ["ho-1", "ho-2", "ho-3"]
    page = spine.ok("handoffs", "-n", "2", "--json").json
    assert listed("-n", "2", "--page-token", page["next_page_token"]) == ["ho-1"]


def test_a_receiver_that_finds_nothing_is_told_what_is_parked_for_it(spine):
    assert spine("receive", "coder").err == "(nothing is waiting for coder; --wait TIME waits for it)\n"
    parked(spine)
    result = spine("receive", "coder", "--json")
    assert (result.code, result.json["handoffs"]) == (NOT_FOUND, [])
    assert result.err == "(nothing is waiting for coder; 1 is parked: spine parked --to coder)\n"
    sent(spine, "tester", "Try it.")
    spine.ok("reject", taken(spine, "tester")["lease"], "no")
    assert [h["id"] for h in spine.ok("parked", "--to", "coder", "--json").json["parked"]] == ["ho-1"]
    assert [h["id"] for h in spine.ok("parked", "list", "--to", "tester", "--json").json["parked"]] == ["ho-2"]
    result = spine("receive", "tester", "--wait", "10ms")
    assert result.err == "(nothing came for tester; 1 is parked: spine parked --to tester)\n"


def test_what_nobody_takes_waits_for_a_day_and_uses_no_attempt(spine):
    unsaid = sent(spine, "tester", "Go.", "--ack-timeout", "1ms", "--attempts", "1")
    created, due = (datetime.fromisoformat(unsaid[key]) for key in ("created_at", "due_at"))
    assert (unsaid["max_attempts"], (due - created).total_seconds()) == (1, 24 * 3600)
    assert "24 hours" in " ".join(spine.ok("send", "--help").out.split())
    assert (state(spine)["state"], events(spine)) == ("queued", ["queued"])


def test_what_is_not_there_is_named_with_its_space(spine):
    space = spine.environment["SPINE_SPACE"]
    assert spine("get", "ho-99").err == f'spine: there is no ho-99 in the space "{space}"\n'
    assert spine("get", "ho-99", "--space", "default").err.startswith('spine: there is no ho-99 in the space "default"')
    assert spine("get", "ms-9").err == f'spine: ms-9 does not exist in the space "{space}"\n'
    assert spine("get", "ho-99", "--json").json["detail"] == "there is no ho-99 in this space"
    sent(spine)
    result = spine("need", taken(spine)["lease"], "nonsense")
    assert result.code == FAILED and result.err.startswith('spine: "nonsense" is not')


# --- Channels and routes ---------------------------------------------------------------------------------


def test_a_channel_is_published_to_and_joined(spine):
    assert spine.ok("channels").out == ""
    spine.ok("channels", "put", "reviews", "--description", "who reviews")
    assert spine.ok("channels", "subscribe", "reviews", "a").out == "reviews: who reviews\n  a\n"
    spine.ok("channels", "subscribe", "reviews", "b")
    assert spine.ok("channels", "unsubscribe", "reviews", "b", "--json").json["subscribers"] == ["a"]
    spine.ok("channels", "subscribe", "reviews", "b")
    spine.ok("handoff", "anyone", "Review.", "--from", "coder")
    out = spine.ok("channels", "publish", "reviews", "env-1").out
    assert out.count("queued for") == 2
    assert spine.ok("channels", "publish", "reviews", "env-1").out == out
    assert spine("channels", "join", "reviews", "env-1").code == UNREACHABLE
    spine.ok("complete", taken(spine, "a")["lease"], "fine")
    assert spine.ok("channels", "join", "reviews", "env-1", "--need", "any", "--json").json["state"] == "joined"
    joiner = start(spine, "channels", "join", "reviews", "env-1", "--wait", "30s")
    spine.ok("complete", taken(spine, "b")["lease"], '{"ok": true}')
    text, _ = joiner.communicate(timeout=30)
    assert joiner.returncode == OK
    assert text.startswith("joined: 2 of 2 receivers have completed, 2 needed\n")
    assert re.search(r"^a +completed +ho-\d +fine$", text, re.M) and '{"ok":true}' in text
    assert re.search(r"^reviews +\w+ +2 +who reviews$", spine.ok("channels").out, re.M)
    assert spine("channels", "show", "nothing").code == NOT_FOUND


def test_publishing_names_its_receivers_and_a_join_may_fail(spine):
    spine.ok("handoff", "anyone", "Review.", "--from", "coder")
    handoffs = spine.ok(
        "channels", "publish", "c", "env-1", "--to", "x", "--to", "y", "--priority", "1", "--attempts", "1", "--json"
    ).json["handoffs"]
    assert [(h["to"], h["priority"], h["max_attempts"]) for h in handoffs] == [("x", 1, 1), ("y", 1, 1)]
    spine.ok("reject", taken(spine, "x")["lease"], "no")
    result = spine("channels", "join", "c", "env-1")
    assert result.code == FAILED and result.out.startswith("failed: 0 of 2")


def test_routes_choose_the_next_agent(spine):
    assert spine.ok("routes").out == ""
    spine.ok(
        "routes", "put", "python", "--from", "analyst", "--to", "python-coder", "--when-constraint", "language=python",
        "--when-hop", "1-5", "--order", "10", "--description", "snakes",
    )
    spine.ok("routes", "put", "other", "--to", "coder")
    rows = [re.split(r" {2,}", line.strip()) for line in spine.ok("routes").out.splitlines()]
    assert rows[1] == ["10", "python", "analyst", "python-coder", "language=python, hop 1 to 5", "snakes"]
    assert rows[2][1:4] == ["other", "(any)", "coder"]
    assert spine.ok("routes", "show", "python", "--json").json["when"]["hop"] == {"min": 1, "max": 5}
    to = [spine.ok("send", "--to", "next", "Go.", "--from", "analyst", "--json", *args).json["to"]
          for args in (["-c", "language=python"], ["-c", "language=c"])]
    assert to == ["python-coder", "coder"]
    assert spine.ok("routes", "delete", "python").out == "deleted python\n"
    assert spine.ok("routes", "delete", "other", "--json").json == {}
    assert spine("routes", "show", "python").code == NOT_FOUND
    result = spine("handoff", "next", "Go.", "--from", "analyst")
    assert result.code == FAILED and "spine routes" in result.err


@pytest.mark.parametrize("given, hop", [("3", {"min": 3, "max": 3}), ("2-", {"min": 2}), ("-4", {"max": 4})])
def test_hops_of_a_route(spine, given, hop):
    when = [f"--when-hop={given}", "--when-tag", "t", "--when-state", "s"]
    route = spine.ok("routes", "put", "r", "--to", "a", *when, "--json").json
    assert route["when"] == {"hop": hop, "tag": "t", "state": "s"}


# --- The demonstration ---------------------------------------------------------------------------------


def told(text):
    for part in (
        "An ack gets lost", "1 ack on record", "crashes", "attempt 2, redelivered: true", "stale_lease",
        "constraint_conflict", "word for word", "The last envelope has 100.0 %", "abandoned by", "What next:",
    ):
        assert part in " ".join(text.split()), part


def test_the_demonstration_plays_in_a_space_of_its_own(spine):
    stored(spine, "mine")
    before = spine.ok("export").out
    told(spine.ok("demo", "--fast").out)
    assert spine.ok("export").out == before
    assert spine.ok("tasks", "--json").json["tasks"] == []


def test_the_demonstration_brings_a_server_where_there_is_none(tmp_path):
    spine = Cli(tmp_path, SPINE_CONFIG="/dev/null", TMPDIR=str(tmp_path))
    result = spine.ok("demo", "--fast", "--private")
    told(result.out)
    assert "On a server of its own" in result.out
    assert list(tmp_path.glob("spine-demo-*")) == []


def test_the_demonstration_can_be_read_by_programs_and_kept(tmp_path):
    spine = Cli(tmp_path, TMPDIR=str(tmp_path))
    document = spine.ok("demo", "--fast", "--private", "--json", "--keep").json
    assert document["fidelity"]["score"] == 1 and document["trace"]["task"] == document["task"]
    (kept,) = tmp_path.glob("spine-demo-*")
    assert (kept / "data").is_dir()


def test_the_demonstration_says_where_a_named_server_is_not(offline):
    result = offline("demo", "--fast")
    assert (result.code, result.out) == (UNREACHABLE, "") and "cannot reach" in result.err


def test_the_demonstration_can_be_stopped(tmp_path):
    spine = Cli(tmp_path, TMPDIR=str(tmp_path))
    playing = start(spine, "demo", "--private")
    assert playing.stdout.readline() == "Four agents, one task, and three things that go wrong.\n"
    playing.send_signal(signal.SIGINT)
    _, err = playing.communicate(timeout=30)
    assert playing.returncode == FAILED and "(stopped)" in err
    assert list(tmp_path.glob("spine-demo-*")) == []


# --- All of them -----------------------------------------------------------------------------------------


EVERY = [
    ["send", "env-1"], ["receive", "a"], ["ack", "ho-1.1"], ["progress", "ho-1.1"], ["need", "ho-1.1", "ms-1"],
    ["complete", "ho-1.1"], ["nack", "ho-1.1"], ["reject", "ho-1.1", "x"], ["handoffs"], ["get", "ho-1"],
    ["trace", "t"], ["parked"], ["parked", "show", "ho-1"], ["parked", "redrive", "ho-1"],
    ["park", "env-1", "--reason", "x"], ["channels"], ["channels", "show", "c"], ["channels", "publish", "c", "env-1"],
    ["channels", "join", "c", "env-1"], ["routes"], ["routes", "show", "r"], ["agents"], ["agent", "a"],
]


@pytest.mark.parametrize("args", EVERY, ids=" ".join)
def test_without_a_server_each_says_so(offline, args):
    result = offline(*args)
    assert (result.code, result.out) == (UNREACHABLE, "") and "cannot reach" in result.err
    assert offline(*args, "--json").code == UNREACHABLE


ODD = [
    {}, [], 7, {"handoffs": [1, {}], "parked": [1, {"remedies": 5}], "channels": [{}], "routes": [{"when": 5}, 3]},
    {"handoffs": [{"lease": 5, "prompt": []}], "events": [1, {"at": "x"}], "results": [1, {"result": {}}], "state": {},
     "envelopes": [1], "notices": [1], "queue": 1, "breaker": [], "memories": [1], "missing": [1], "subscribers": [1]},
    {"id": 5, "events": [{"at": "2026-01-01T00:00:00Z", "event": 5, "attempt": "x"}], "routes": [{"when": {"hop": 5,
     "constraint": {"a": {}}, "tag": 5}}], "envelopes": [{"created_at": "x"}], "handoffs": [],
     "agents": [{"queue": []}]},
]


@pytest.mark.parametrize("args", [*EVERY, ["receive", "a", "--exec", "cat"], ["receive", "a", "--ack"]], ids=" ".join)
def test_answers_of_an_unexpected_shape_do_no_harm(tmp_path, args):
    with Fake() as fake:
        for odd in ODD:
            fake.answers = [answer(200, odd) for _ in range(9)]
            assert Cli(tmp_path, SPINE_URL=fake.url)(*args).code in (OK, FAILED, NOT_FOUND, UNREACHABLE, DAMAGED)


@pytest.mark.parametrize(
    "line",
    ["handoffs", "get ho-1", "parked", "parked show ho-1", "trace task-1", "agents", "routes", "channels",
     "channels show c", "channels join c env-1"],
)
def test_what_agents_wrote_cannot_control_the_terminal(spine, line):
    sent(spine, "coder", EVIL)
    spine.ok("reject", taken(spine, "coder", "--instance", "one")["lease"], EVIL)
    spine.ok("channels", "put", "c", "-d", EVIL)
    spine.ok("channels", "publish", "c", "env-1", "--to", "x")
    spine.ok("complete", taken(spine, "x")["lease"], EVIL)
    spine.ok("routes", "put", "r", "--to", "a", "--when-tag", EVIL, "--description", EVIL)
    spine.ok("agent", "coder", "-d", EVIL)
    _, text = spine.on_terminal(*line.split(), env={"NO_COLOR": "1"})
    assert "evil" in text or line in ("trace task-1", "channels show c") or "evi…" in text
    for char in "\x1b\x07\x7f\u009b\u202e":
        assert char not in text
    assert all(len(row) <= 80 for row in text.splitlines()), text


@pytest.mark.parametrize("name", [*COMMANDS, "demo"])
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
    group = offline.ok("help").out.split("Delivery:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in group.splitlines() if re.match(r"  \w", line)] == COMMANDS


def test_the_examples_of_the_help_work(spine, tmp_path):
    """One after the other, as a person would try them, each command with a handoff at hand that fits."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spine").symlink_to(binary())
    (tmp_path / "bin" / "my-model").symlink_to("/bin/cat")
    prepared = {"need": [("store", "a fact")], "nack": [("send", "--to", "other", "Go.")], "trace": []}
    for name in (*COMMANDS, "demo"):
        cli = Cli(tmp_path, **{**spine.environment, "SPINE_SPACE": f"{spine.environment['SPINE_SPACE']}-{name}"})
        env = cli.env({"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
        if name not in ("send", "receive"):
            sent(cli)
            sent(cli)
        if name in ("ack", "progress", "need", "complete", "nack", "release", "reject"):
            taken(cli)
            taken(cli)
        if name == "reject":
            cli.ok("nack", "ho-2.1", "--delay", "0")
            taken(cli)
        if name == "parked":
            cli.ok("park", "env-2", "--reason", "x")
        for command in prepared.get(name, []):
            cli.ok(*command)
        block = cli.ok(name, "--help").out.split("Examples:\n")[1].split("\n\n")[0]
        for line in map(str.strip, block.splitlines()):
            if "jq" in line and not have("jq"):
                continue
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=60,
            )
            assert done.returncode == OK, f"{line}\n{done.stdout}{done.stderr}"


def test_a_trace_that_is_not_whole_says_so(spine, server):
    api = Api(server.address, spine.env()["SPINE_SPACE"])
    for number in range(201):
        api.ok(
            "POST",
            "/v1/envelopes",
            {"target_agent": f"agent-{number}", "task_summary": "go", "task": "wide", "include_recent": 0, "new_root": True},
            status=201,
        )
    told = spine.ok("trace", "wide").err
    token = re.fullmatch(r"\(there are more: --page-token (\S+) goes on here\)\n", told)[1]
    assert spine.ok("trace", "wide", "--page-token", token).err == ""
    assert spine.ok("task", "wide").err == ""
