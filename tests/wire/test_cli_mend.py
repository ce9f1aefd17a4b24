"""Mending queues by hand: what is queued is cancelled or moved, and sent for later."""

import json
import urllib.request
from datetime import datetime, timedelta, timezone

import pytest

from cli import Cli, Fake, answer, offline, spine  # noqa: F401
from cli import CONFLICT, OK, USAGE
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
    ["cancel", "ho-1", "--reason", "a", "--why", "b"],
])
def test_a_wrong_command_line_does_nothing(offline, wrong):
    assert offline(*wrong).code == USAGE


# --- Against a server ----------------------------------------------------------------------------------------


@pytest.fixture
def mending(spine):
    with urllib.request.urlopen(spine.environment["SPINE_URL"] + "/openapi.json") as document:
        if "/v1/handoffs/{id}/cancel" not in json.load(document)["paths"]:
            pytest.skip("this server neither cancels nor moves")
    return spine


def test_what_is_queued_is_cancelled(mending):
    sent(mending)
    assert mending.ok("cancel", "ho-1", "--reason", "not needed").out.startswith("ho-1  discarded ")
    assert state(mending)["state"] == "discarded" and state(mending)["events"][-1]["note"] == "not needed"
    sent(mending)
    taken(mending)
    late = mending("cancel", "ho-2")
    assert late.code == CONFLICT and "spine handoffs --state queued" in late.err


def test_what_is_queued_is_moved(mending):
    sent(mending, "coder")
    mending.ok("move", "ho-1", "--to", "reviewer", "--reason", "coder is away")
    assert taken(mending, "reviewer")["id"] == "ho-1"


def test_what_is_sent_for_later_is_not_there_yet(mending):
    later = sent(mending, "coder", "Go.", "--not-before", "1h", "--queue-timeout", "1d")
    assert later["not_before"] and later["queue_timeout_s"] == 86400
    assert f", not before {later['not_before']}" in mending.ok("get", "ho-1").out
    assert mending("wait", "coder", "--timeout", "0").code == OK
    assert mending.ok("doctor", "--json").json["ok"] is True
    now = sent(mending, "coder")
    assert mending("wait", "coder", "--timeout", "0").code == 2 and taken(mending)["id"] == now["id"]


def test_what_nobody_takes_is_parked_when_it_has_waited_for_so_long(mending):
    sent(mending, "coder", "Go.", "--queue-timeout", "1s", "--attempts", "2")
    wait_for(lambda: state(mending)["state"] == "parked", "it was parked")
    assert state(mending)["attempt"] == 1


def test_what_is_held_behind_a_breaker_is_no_work_yet(mending):
    for _ in range(3):
        sent(mending, "coder", "Go.", "--attempts", "1")
        mending.ok("nack", taken(mending)["lease"], "broken")
    held = sent(mending, "coder")
    assert f", held until {held['held_until']}" in mending.ok("parked", "show", held["id"]).out
    assert mending("wait", "coder", "--timeout", "0").code == OK
    process = start(mending, "wait", "coder", "--timeout", "60s")
    mending.ok("agent", "coder", "--reset-breaker")
    assert process.wait(30) == 2 and process.stderr.read().startswith(held["id"])


def test_an_agent_has_a_queue_timeout_that_stays(mending):
    mending.ok("agent", "coder", "--queue-timeout", "3h")
    assert mending.ok("agent", "coder", "--max-tokens", "4000", "--json").json["queue_timeout_s"] == 10800
