"""A command whose server refuses for a while, because a node has died or the server is busy, is carried out afterwards."""

import subprocess
import time

import pytest
from cli import NOT_FOUND, UNREACHABLE, Cli, Fake, answer
from cluster import NEEDS_POSTGRES, contents, send, space_of, store, wait_for_each_other, waiting_at
from api import wait_until
from server import binary, clean_environment

STORED = {"id": "ms-1", "version": 1, "created_at": "2026-01-01T00:00:00.000Z"}
NO_OWNER = {"status": 503, "code": "no_owner", "detail": "the space has no owner right now", "retryable": True}
REFUSED = answer(503, NO_OWNER, Retry_After="0")


def test_a_refusal_that_lasts_for_some_seconds_is_outlived_and_told_once(tmp_path):
    with Fake(*[answer(503, NO_OWNER, Retry_After="1")] * 5, answer(201, STORED)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url).ok("store", "x")
        assert result.out == "ms-1\n"
        assert result.err.count("the space has no owner right now; trying again for up to ") == 1, result.err
        assert len({headers["Idempotency-Key"] for _, _, headers, _ in fake.requests}) == 1 and len(fake.requests) == 6


def test_a_refusal_that_lasts_longer_than_the_time_is_told(tmp_path):
    with Fake(*[REFUSED] * 20) as fake:
        began = time.monotonic()
        result = Cli(tmp_path, SPINE_URL=fake.url)("store", "x", "--timeout", "1500ms")
        assert result.code == UNREACHABLE and "the space has no owner right now" in result.err
        assert len(fake.requests) > 3 and time.monotonic() - began < 10


def test_a_refusal_for_a_long_time_is_told_at_once(tmp_path):
    with Fake(answer(503, NO_OWNER, Retry_After="20")) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url)("store", "x").code == UNREACHABLE


def test_what_may_be_done_already_is_not_repeated(tmp_path):
    unknown = {"status": 500, "code": "outcome_unknown", "detail": "this may be done or not", "retryable": False}
    with Fake(answer(500, unknown, Retry_After="0")) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("revert", "ms-1", "1")
        assert "this may be done or not" in result.err and len(fake.requests) == 1


def test_a_wait_that_is_refused_halfway_may_wait_as_long_again(tmp_path):
    done = []

    def waits(seconds, then):
        def serve(handler):
            time.sleep(seconds)  # the server lets it wait so long
            done.append(seconds)
            then(handler)
        return serve

    with Fake(waits(1.5, REFUSED), waits(2, answer(200, {"handoffs": []})), answer(200, {"queue": {}})) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("receive", "rex", "--wait", "2s", "--timeout", "1s")
        assert result.code == NOT_FOUND and done == [1.5, 2], result.err


class TestTheOwnerIsKilled:
    pytestmark = NEEDS_POSTGRES

    @pytest.fixture
    def nodes(self, join):
        nodes = [join() for _ in range(2)]
        wait_for_each_other(nodes)
        return nodes

    def test_what_is_stored_meanwhile_is_there_when_its_lease_is_over(self, nodes):
        first, second = nodes
        space = space_of(first, nodes)
        store(second, space, "before")
        first.server.kill()
        assert second.spine("store", "after", "--space", space).startswith("ms-")
        assert contents(second, space) == ["after", "before"]

    def test_a_receiver_that_waits_goes_on_waiting(self, nodes):
        first, second = nodes
        space = space_of(first, nodes)
        command = [binary(), "receive", "worker", "--wait", "20s", "--url", second.url, "--space", space]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment())
        wait_until(lambda: waiting_at(first) == 1, "it waits at the owner")
        first.server.kill()
        send(second, space)
        out, _ = waiting.communicate(timeout=60)
        assert waiting.returncode == 0 and "do the work" in out
