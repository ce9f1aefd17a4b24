"""Mending queues by hand: what is queued is cancelled or moved, and sent for later."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from cli import Cli, Fake, answer, offline, spine  # noqa: F401
from cli import CONFLICT, NOT_FOUND, OK, USAGE
from cli_delivery import nothing_is_left_running, sent, start, state, taken, wait_for  # noqa: F401

HANDOFF = {"id": "ho-1", "state": "queued", "to": "b", "target": "a", "envelope_id": "env-1", "attempt": 1,
           "max_attempts": 3}


def body_of(request):
    return json.loads(request[3])


def test_cancel_and_move_are_a_call_for_each(tmp_path):
    with Fake(*[answer(200, HANDOFF)] * 3) as fake:
        spine = Cli(tmp_path, SPINE_URL=fake.url, USER="ann")
        assert len(spine.ok("cancel", "ho-1", "ho-2", "--why", "not needed", "--json").json["handoffs"]) == 2
        spine.ok("move", "ho-1", "--to", "b", "--by", "bob")
        assert [request[1] for request in fake.requests] == [
            "/v1/handoffs/ho-1/cancel", "/v1/handoffs/ho-2/cancel", "/v1/handoffs/ho-1/move"]
        assert body_of(fake.requests[0]) == {"why": "not needed", "by": "ann"}
        assert body_of(fake.requests[2]) == {"to": "b", "by": "bob"}


def test_send_says_when_and_how_long(tmp_path):
    with Fake(*[answer(202, HANDOFF)] * 3) as fake:
        spine = Cli(tmp_path, SPINE_URL=fake.url)
        before = datetime.now(timezone.utc)
        spine.ok("send", "env-1", "--not-before", "10m", "--queue-timeout", "2h")
        spine.ok("send", "env-1", "--not-before", "2026-01-30T12:00:00+01:00")
        spine.ok("send", "env-1", "--not-before", "2026-01-30")
        first, second, third = map(body_of, fake.requests)
        assert first["queue_timeout_s"] == 7200
        late = datetime.fromisoformat(first["not_before"].replace("Z", "+00:00")) - before
        assert timedelta(minutes=10) - timedelta(seconds=1) < late < timedelta(minutes=11)
        assert second["not_before"] == "2026-01-30T11:00:00.000Z" and third["not_before"] == "2026-01-30T00:00:00.000Z"


@pytest.mark.parametrize("wrong", [
    ["cancel"], ["move", "ho-1"], ["move", "--to", "b"], ["send", "env-1", "--not-before", "soon"],
    ["send", "env-1", "--not-before", "5"], ["send", "env-1", "--queue-timeout", "0"],
    ["cancel", "ho-1", "--reason", "a", "--why", "b"], ["cancel", "ho-1", "--all"], ["cancel", "ho-1", "--to", "coder"],
    ["cancel", "--why", "x"], ["cancel", "--all", "--since", "soon"], ["move", "--all"], ["move", "ho-1", "--task", "t"],
    ["agents", "delete"], ["agents", "delete", "a", "b"], ["agents", "delete", "a", "--limit", "3"], ["agents", "forget"],
    ["queues", "a", "b"],
])
def test_a_wrong_command_line_does_nothing(offline, wrong):
    assert offline(*wrong).code == USAGE


def test_cancel_and_move_of_many_go_on_until_all_are_done(tmp_path):
    first = {"action": "move", "dry_run": False, "matched": 2, "done": [HANDOFF], "refused": [], "next_after": "ho-1"}
    last = {**first, "matched": 1, "done": [{**HANDOFF, "id": "ho-2"}], "next_after": None}
    with Fake(answer(200, first), answer(200, last), answer(200, {**last, "action": "cancel"})) as fake:
        spine = Cli(tmp_path, SPINE_URL=fake.url, USER="ann")
        assert spine.ok("move", "--to", "a", "--move-to", "b", "--why", "away").err == "(2 of 2 moved)\n"
        spine.ok("cancel", "--task", "t", "--from", "x", "--limit", "7", "--dry-run")
        assert [request[1] for request in fake.requests] == ["/v1/queued/move"] * 2 + ["/v1/queued/cancel"]
        assert body_of(fake.requests[1]) == {
            "to": "a", "move_to": "b", "why": "away", "by": "ann", "limit": 100, "after": "ho-1"}
        assert body_of(fake.requests[2]) == {"task": "t", "from": "x", "by": "ann", "limit": 7, "dry_run": True}


# --- Against a server ----------------------------------------------------------------------------------------


def test_what_is_queued_is_cancelled(spine):
    sent(spine)
    assert spine.ok("cancel", "ho-1", "--reason", "not needed").out.startswith("ho-1  discarded ")
    assert state(spine)["state"] == "discarded" and state(spine)["events"][-1]["note"] == "not needed"
    sent(spine)
    taken(spine)
    late = spine("cancel", "ho-2")
    assert late.code == CONFLICT and "spine handoffs --state queued" in late.err


def test_what_is_queued_is_moved(spine):
    sent(spine, "coder")
    spine.ok("move", "ho-1", "--to", "reviewer", "--reason", "coder is away")
    assert taken(spine, "reviewer")["id"] == "ho-1"


def test_what_is_sent_for_later_is_not_there_yet(spine):
    later = sent(spine, "coder", "Go.", "--not-before", "1h", "--queue-timeout", "1d")
    assert later["not_before"] and later["queue_timeout_s"] == 86400
    assert f", not before {later['not_before']}" in spine.ok("get", "ho-1").out
    assert spine("wait", "coder", "--timeout", "0").code == OK
    assert spine.ok("doctor", "--json").json["ok"] is True
    now = sent(spine, "coder")
    assert spine("wait", "coder", "--timeout", "0").code == 2 and taken(spine)["id"] == now["id"]


def test_what_nobody_takes_is_parked_when_it_has_waited_for_so_long(spine):
    sent(spine, "coder", "Go.", "--queue-timeout", "1s", "--attempts", "2")
    wait_for(lambda: state(spine)["state"] == "parked", "it was parked")
    assert state(spine)["attempt"] == 1


def test_what_is_held_behind_a_breaker_is_no_work_yet(spine):
    for _ in range(3):
        sent(spine, "coder", "Go.", "--attempts", "1")
        spine.ok("nack", taken(spine)["lease"], "broken")
    held = sent(spine, "coder")
    assert f", held until {held['held_until']}" in spine.ok("parked", "show", held["id"]).out
    assert spine("wait", "coder", "--timeout", "0").code == OK
    process = start(spine, "wait", "coder", "--timeout", "60s")
    spine.ok("agent", "coder", "--reset-breaker")
    assert process.wait(30) == 2 and process.stderr.read().startswith(held["id"])


def test_an_agent_has_a_queue_timeout_that_stays(spine):
    spine.ok("agent", "coder", "--queue-timeout", "3h")
    assert spine.ok("agent", "coder", "--max-tokens", "4000", "--json").json["queue_timeout_s"] == 10800


def test_all_that_is_queued_is_moved_and_cancelled_and_brought_back(spine):
    for _ in range(3):
        sent(spine, "coder")
    kept = sent(spine, "tester")["id"]
    dry = spine.ok("move", "--to", "coder", "--move-to", "reviewer", "--dry-run", "--json").json
    assert (dry["dry_run"], dry["matched"], state(spine)["to"]) == (True, 3, "coder")
    assert spine.ok("move", "--to", "coder", "--move-to", "reviewer").err == "(3 of 3 moved)\n"
    assert [state(spine, f"ho-{n}")["to"] for n in (1, 2, 3)] == ["reviewer"] * 3
    assert spine.ok("cancel", "--to", "reviewer", "--why", "not needed").err == "(3 of 3 cancelled)\n"
    assert state(spine, "ho-2")["events"][-1]["note"] == "not needed" and state(spine, kept)["state"] == "queued"
    dry = spine.ok("parked", "restore", "ho-1", "ho-2", "--dry-run", "--json").json
    assert [one["id"] for one in dry["done"]] == ["ho-1", "ho-2"] and state(spine)["state"] == "discarded"
    assert len(spine.ok("parked", "restore", "ho-1", "ho-2", "--json").json["handoffs"]) == 2
    assert state(spine, "ho-1")["state"] == "parked" and state(spine, "ho-3")["state"] == "discarded"


def test_queues_say_what_waits_for_whom_since_when_and_why(spine):
    assert spine.ok("queues").out == ""
    sent(spine, "coder", "Write the parser.")
    sent(spine, "coder", "Test the parser.", "--not-before", "1h")
    sent(spine, "tester")
    head, coder, tester = spine.ok("queues").out.splitlines()
    assert head.split()[:4] == ["AGENT", "QUEUED", "OLDEST", "WHY"]
    assert coder.split()[:2] == ["coder", "2"] and tester.split()[:2] == ["tester", "1"] and "empty_chair" in tester
    head, first, last = spine.ok("queues", "coder").out.splitlines()
    assert first.split()[:2] == ["1", "ho-1"] and "empty_chair" in first and "Write the parser." in first
    assert last.split()[:2] == ["2", "ho-2"] and "deferred" in last
    assert spine("queues", "nobody").code == NOT_FOUND


def test_an_agent_without_open_work_is_deleted(spine):
    sent(spine, "coder")
    busy = spine("agents", "delete", "coder")
    assert busy.code == CONFLICT and "queued" in busy.err
    spine.ok("cancel", "--to", "coder")
    assert spine.ok("agents", "delete", "coder").out == "deleted coder\n"
    assert "coder" not in spine.ok("agents").out and spine("agents", "delete", "coder").code == NOT_FOUND
