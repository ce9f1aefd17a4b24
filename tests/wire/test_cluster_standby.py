"""PostgreSQL that must wait for a standby which is not there: nothing counts that no standby has."""

import contextlib
import time

import pytest
from api import wait_until
from cluster import NEEDS_POSTGRES, Waiting, contents, log_of, store

pytestmark = NEEDS_POSTGRES

IN_VAIN = "wait_event = 'SyncRep'"


@pytest.fixture
def alone(postgres):
    """Within it every commit waits for a standby that does not exist; anybody may end the wait, and the commit stays."""

    @contextlib.contextmanager
    def begin():
        postgres.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        postgres.run("SELECT pg_reload_conf()")
        wait_until(lambda: postgres.run("SHOW synchronous_standby_names") == "nobody", "it is set")
        try:
            yield
        finally:
            postgres.run("ALTER SYSTEM RESET synchronous_standby_names")
            postgres.run("SELECT pg_reload_conf()")

    return begin


def end_waits(postgres, which="true"):
    """As somebody does who finds sessions that hang. How many there were."""
    return int(postgres.run(f"SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE {IN_VAIN} AND {which}"))


def begin_to_store(node, text):
    return Waiting(node, "POST", "/v1/memories", {"content": text}, "here", headers={"Idempotency-Key": text})


def test_a_commit_whose_wait_was_ended_is_not_acknowledged_before_a_standby_has_it(join, postgres, alone):
    node = join()
    store(node, "here", "before")
    with alone():
        waiting = begin_to_store(node, "alone")
        wait_until(lambda: end_waits(postgres, "query = 'COMMIT'"), "its commit waits, and no longer")
        # From here on nobody ends a wait: the shard is taken anew, to learn what came of it, and that waits.
        wait_until(lambda: int(postgres.run(f"SELECT count(*) FROM pg_stat_activity WHERE {IN_VAIN} AND "
                                            "query LIKE '%take(%'")), "it is looked for")
        assert waiting.answer is None
    assert waiting.result().status == 201
    assert contents(node, "here") == ["alone", "before"]


def test_nothing_that_is_concluded_from_a_commit_counts_before_a_standby_has_it(join, postgres, alone):
    """Waits are ended wherever they are: of the commit, of taking the shard anew, of renewals."""
    node = join()
    store(node, "here", "before")
    with alone():
        waiting = begin_to_store(node, "alone")
        taken, until = 0, time.monotonic() + 30
        while taken < 3 and time.monotonic() < until:
            taken += end_waits(postgres, "query LIKE '%take(%'")
            end_waits(postgres)
            assert waiting.answer is None or waiting.answer.status != 201, waiting.answer
        assert taken == 3
    # Its lease is over meanwhile, or not; what was asked for is done once, and can be asked for again.
    waiting.result()
    store(node, "here", "alone", headers={"Idempotency-Key": "alone"})
    assert contents(node, "here") == ["alone", "before"]


def test_a_standby_that_is_missing_is_named_and_nothing_is_served_meanwhile(join, postgres, alone):
    """Renewals are commits, too. Who looks at the database alone finds nothing wrong with it."""
    node = join()
    store(node, "here", "before")
    with alone():
        wait_until(lambda: node.ask("GET", "/readyz").json.get("reason") == "no_lease", "its lease is over")
        (line,) = wait_until(lambda: [line for line in log_of(node) if "synchronous standby" in line["msg"]], "it is named")
        assert line["error"] == "commits wait for a standby that is not there; synchronous_standby_names is nobody", line
        assert node.ask("GET", "/v1/memories", space="here").status == 503
    assert contents(node, "here") == ["before"]
    assert len([line for line in log_of(node) if "synchronous standby" in line["msg"]]) == 1


def test_a_lease_whose_renewal_no_standby_has_is_none(join, postgres, alone):
    node = join()
    store(node, "here", "before")
    with alone():
        def is_over():
            end_waits(postgres)
            return node.ask("GET", "/readyz").json.get("reason") == "no_lease"

        wait_until(is_over, "its lease is over")
        assert node.ask("GET", "/v1/memories", space="here").status == 503
    assert contents(node, "here") == ["before"]
