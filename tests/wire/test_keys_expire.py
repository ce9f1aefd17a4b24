"""Answers that were kept for an Idempotency-Key leave when their time is over, though nobody writes any more."""

from api import Api, wait_until
from database import look

KEYS = 600  # more than one step takes


def count(server):
    with look(server.data / "spine.db") as db:
        return db.execute("SELECT count(*) FROM reply").fetchone()[0]


def test_expired_keys_leave_by_the_clock(start):
    server = start("--idempotency-ttl", "1s").wait_until_ready()
    api = Api(server.address)
    for number in range(KEYS):
        api.call("POST", "/v1/memories", {"content": f"memory {number}"}, {"Idempotency-Key": f"k{number}"})
    before = api.ok("GET", "/v1/status")["writer"]["writes"]
    wait_until(lambda: count(server) == 0, "no key is left")
    assert api.ok("GET", "/v1/status")["writer"]["writes"] == before, "nobody wrote"
    assert server.terminate() == 0


def test_keys_that_expired_while_the_server_was_away_leave_when_it_is_back(start):
    server = start("--idempotency-ttl", "1s").wait_until_ready()
    api = Api(server.address)
    for number in range(KEYS):
        api.call("POST", "/v1/memories", {"content": f"memory {number}"}, {"Idempotency-Key": f"k{number}"})
    server.kill()
    again = start("--idempotency-ttl", "1s", data=server.data).wait_until_ready()
    wait_until(lambda: count(again) == 0, "no key is left")
    assert again.terminate() == 0
