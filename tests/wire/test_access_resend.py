"""Sending again with keys: who has not sent a handoff changes nothing about it, in no call that sends."""

import json

import pytest

from api import wait_until
from keys import Keyed
from test_access import later, waiting
from test_access_inbox import Team

LATER, SOONER = "2027-01-01T00:00:00Z", "2020-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


class Task(Team):
    """mal takes part in a task in which ann hands on to bob."""

    def __init__(self, keyed):
        super().__init__(keyed)
        self.first = self.send("ann", "mal", envelope={"task": "t"})["envelope_id"]

    def hand(self, to="bob", **more):
        return self.send("ann", to, envelope={"task": "t", "parent": self.first}, **more)

    def seen(self, handoff):
        return self.get("admin", f"/v1/handoffs/{handoff['id']}")

    def again(self, who, handoff, **more):
        return self.ask(who, "POST", "/v1/handoffs", {"envelope_id": handoff["envelope_id"], "to": "bob", **more})

    def publish(self, who, handoff, **more):
        body = {"envelope_id": handoff["envelope_id"], "receivers": ["bob"], **more}
        return self.ask(who, "POST", "/v1/channels/news/publish", body)


@pytest.fixture
def task(keyed):
    return Task(keyed)


ORDERS = [{}, {"not_before": LATER}, {"not_before": SOONER}, {"priority": 0, "max_attempts": 1, "fallbacks": ["mal"]},
          {"ack_timeout_s": 1, "queue_timeout_s": 1}]


@pytest.mark.parametrize("sent", [{}, {"not_before": LATER}], ids=str)
def test_who_did_not_send_it_neither_puts_it_off_nor_lets_it_go(task, sent):
    handoff = task.hand(**sent)
    before = task.seen(handoff)
    for order in ORDERS:
        answer = task.again("mal", handoff, **order)
        assert answer.status == 202 and answer.json["id"] == handoff["id"], answer
        kept = {warning["field"] for warning in answer.json.get("warnings", []) if warning["code"] == "order_kept"}
        assert kept == (set(order) if order != sent and (sent or order != {"not_before": SOONER}) else set()), answer
        assert task.publish("mal", handoff, **order).status == 200
        assert task.seen(handoff) == before, order
    assert task.again("ann", handoff, not_before="2027-02-01T00:00:00Z").json["not_before"].startswith("2027-02-01")
    assert task.again("lead", handoff, not_before="2027-03-01T00:00:00Z").json["not_before"].startswith("2027-03-01")


def test_who_did_not_send_it_does_not_end_the_wait_of_who_did(task):
    envelope = task.ask("ann", "POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "x", "task": "t", "parent": task.first}).json["id"]
    join = later(task.keyed, "POST", "/v1/handoffs", {"envelope_id": envelope, "wait_s": 20}, task.keys["ann"])
    wait_until(lambda: waiting(task.keyed) == 1, "ann waits")
    (handoff,) = task.get("ann", f"/v1/handoffs?envelope_id={envelope}")["handoffs"]
    before = task.seen(handoff)
    assert task.again("mal", handoff).status == 202 and task.seen(handoff) == before
    answer = task.again("mal", handoff, wait_s=0.05)
    assert answer.status == 504 and task.seen(handoff) == before, answer
    work = task.take("bob")
    task.settle("bob", work, "ack")
    assert join().status == 200


def test_who_did_not_send_it_does_not_bring_back_what_was_withdrawn(task):
    sent = task.ask("ann", "POST", "/v1/handoffs", {"envelope": {"target_agent": "bob", "task_summary": "x", "task": "t", "parent": task.first},
                                                    "wait_s": 0.05})
    assert sent.status == 504, sent
    handoff = task.get("ann", f"/v1/handoffs/{sent.json['handoff']}")
    before = task.seen(handoff)
    assert before["state"] == "expired"
    for order in [*ORDERS, {"wait_s": 5}]:
        answer = task.again("mal", handoff, **order)
        assert answer.status == 409 and answer.json["code"] == "already_sent" and answer.json["handoff"] == handoff["id"], answer
        assert "ann" not in answer.json["detail"], answer
        if "wait_s" not in order:
            assert task.publish("mal", handoff, **order).status == 200
        assert task.seen(handoff) == before, order
    work = task.take("mal")
    then = {"envelope_id": handoff["envelope_id"], "to": "bob", "fallbacks": ["mal"]}
    answer = task.ask("mal", "POST", f"/v1/handoffs/{work['id']}/complete", {"lease": work["lease"], "then": then})
    assert answer.status == 409 and answer.json["code"] == "already_sent", answer
    assert task.seen(handoff) == before and task.seen(work)["state"] == "leased"
    again = task.again("ann", handoff)
    assert again.status == 202 and again.json["state"] == "queued" and again.json["attempt"] == 2, again


def test_who_did_not_send_it_takes_it_into_no_channel(task):
    handoff = task.hand()
    before = task.seen(handoff)
    for more in ({}, {"receivers": ["bob", "cid"]}):
        answer = task.publish("mal", handoff, **more)
        assert answer.status == 200 and task.seen(handoff) == before, answer
    own = [row for row in answer.json["handoffs"] if row["to"] == "cid"]
    assert own and own[0]["channel"] == "news", "to who did not have it, it is sent"
    task.settle("bob", task.take("bob"), "complete", result="a secret", remember=False)
    joined = task.ask("mal", "POST", "/v1/channels/news/join", {"envelope_id": handoff["envelope_id"]})
    assert "a secret" not in json.dumps(joined.json), joined
    assert task.publish("ann", handoff).status == 200 and task.seen(handoff)["channel"] == "news"


def test_handing_on_with_a_settling_changes_nothing_of_what_another_has_sent(task):
    handoff = task.hand()
    before = task.seen(handoff)
    work = task.take("mal")
    then = {"envelope_id": handoff["envelope_id"], "to": "bob", "not_before": LATER}
    done = task.settle("mal", work, "complete", then=then)
    assert done["then"]["id"] == handoff["id"] and task.seen(handoff) == before
