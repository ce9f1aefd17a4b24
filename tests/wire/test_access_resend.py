"""Sending again with keys: who has not sent a handoff changes nothing about it, in no call that sends."""

import json
import subprocess

import pytest

from api import wait_until
from keys import Keyed
from server import binary, clean_environment
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


# --- Without read ---

STANDS = {"id", "envelope_id", "state", "created_at", "changed_at", "acked_at", "due_at", "held_until", "not_before"}
WORDS = ("the plan", "PROGRESS", "REJECTED", "host-7", "CANCELLED", "secret-task")


def in_every_state(team):
    """Handoffs of ann's, with words in them."""
    def send(**more):
        return team.send("ann", "bob", "the plan", envelope={"task": f"secret-task-{more.pop('n')}"}, **more)

    team.ask("admin", "PUT", "/v1/agents/bob", {})
    rejected, acked, leased = (send(n=n, max_attempts=1) for n in range(3))
    for handoff in (rejected, acked, leased):
        work = team.ask("bob", "POST", "/v1/agents/bob/receive", {"instance": "host-7"}).json["handoffs"][0]
        team.settle("bob", work, "progress", note="PROGRESS")
        if handoff is rejected:
            team.settle("bob", work, "reject", reason="REJECTED")
        if handoff is acked:
            team.settle("bob", work, "ack")
    cancelled = send(n=3)
    assert team.ask("ann", "POST", f"/v1/handoffs/{cancelled['id']}/cancel", {"why": "CANCELLED"}).status == 200
    return rejected, acked, leased, cancelled, send(n=4)


def tells_no_words(answer):
    text = answer.data.decode()
    return not [word for word in (*WORDS, '"bob"', '"ann"') if word in text]


def test_who_only_writes_is_told_that_it_is_sent_and_how_it_stands_and_no_words(task):
    handoffs = in_every_state(task)
    writer = {name: task.keyed.key(space=task.space, scopes=["write"], **more) for name, more in (("any", {}), ("of ann", {"agent": "ann"}))}
    for key in writer.values():
        for handoff, state in zip(handoffs, (None, "acked", "leased", None, "queued")):
            again = task.keyed.ask("POST", "/v1/handoffs", {"envelope_id": handoff["envelope_id"]}, key)
            assert tells_no_words(again), again
            if state:
                assert set(again.json) - {"warnings"} <= STANDS and (again.json["id"], again.json["state"]) == (handoff["id"], state), again
            else:
                assert again.status == 409 and again.json["handoff"] == handoff["id"], again
        wait = task.keyed.ask("POST", "/v1/handoffs", {"envelope_id": handoffs[0]["envelope_id"], "wait_s": 0.1}, key)
        assert wait.status == 409 and tells_no_words(wait), wait
    published = task.keyed.ask("POST", "/v1/channels/news/publish", {"envelope_id": handoffs[1]["envelope_id"], "receivers": ["bob"]}, writer["any"])
    assert published.status == 200 and [set(row) <= STANDS for row in published.json["handoffs"]] == [True] and tells_no_words(published), published
    parked = task.keyed.ask("POST", f"/v1/envelopes/{handoffs[2]['envelope_id']}/park", {"reason": "x"}, writer["any"])
    assert parked.status == 200 and set(parked.json) <= STANDS and tells_no_words(parked), parked
    gone = task.keyed.ask("POST", f"/v1/handoffs/{handoffs[4]['id']}/cancel", {}, writer["any"])
    assert gone.status == 200 and set(gone.json) <= STANDS and tells_no_words(gone), gone
    both = task.keyed.key(space=task.space, scopes=["write", "read"])
    assert "PROGRESS" in task.keyed.ask("POST", "/v1/handoffs", {"envelope_id": handoffs[1]["envelope_id"]}, both).data.decode()


def test_the_command_line_shows_what_a_key_that_only_writes_is_told(task):
    handoff = task.hand()
    environment = {**clean_environment(), "SPINE_KEY": task.keyed.key(space=task.space, scopes=["write"]), "SPINE_URL": task.keyed.server.url}
    done = subprocess.run([binary(), "send", handoff["envelope_id"]], env=environment, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (0, f"{handoff['id']}  queued ({handoff['envelope_id']})\n"), done


def test_who_does_not_read_takes_no_notices_from_who_does(task):
    """They are told once."""
    task.hand(max_attempts=1)
    task.settle("bob", task.take("bob"), "reject", reason="REJECTED")
    writer = task.keyed.key(space=task.space, scopes=["write"])
    envelope = task.ask("ann", "POST", "/v1/envelopes", {"target_agent": "cid", "task_summary": "x"}).json["id"]
    sent = task.keyed.ask("POST", "/v1/handoffs", {"envelope_id": envelope}, writer, {"Spine-Agent": "ann"})
    assert sent.status == 202 and "notices" not in sent.json and tells_no_words(sent), sent
    assert task.send("ann", "cid")["notices"][0]["reason"] == "REJECTED"


def test_who_receives_and_writes_is_told_no_words_of_what_it_hands_on_to(task):
    handoffs = in_every_state(task)
    key = task.keyed.key(space=task.space, scopes=["receive", "write"])
    work = task.keyed.ask("POST", "/v1/agents/mal/receive", {}, key).json["handoffs"][0]
    then = {"envelope_id": handoffs[1]["envelope_id"]}
    done = task.keyed.ask("POST", f"/v1/handoffs/{work['id']}/ack", {"lease": work["lease"], "then": then}, key)
    assert done.status == 200 and set(done.json["then"]) <= STANDS and done.json["then"]["id"] == handoffs[1]["id"], done


def test_what_others_said_is_not_told_to_who_sends_again_what_it_did_not_send(task):
    handoff = task.hand()
    work = task.ask("bob", "POST", "/v1/agents/bob/receive", {"instance": "host-7"}).json["handoffs"][0]
    task.settle("bob", work, "progress", note="PROGRESS")
    for answer in (task.again("mal", handoff), task.publish("mal", handoff), task.publish("mal", handoff)):
        assert answer.status in (200, 202) and "PROGRESS" not in answer.data.decode() and "host-7" not in answer.data.decode(), answer
    assert "PROGRESS" in task.again("ann", handoff).data.decode()
    task.settle("bob", work, "reject", reason="REJECTED")
    answer = task.again("mal", handoff)
    assert answer.status == 409 and "REJECTED" not in answer.data.decode(), answer
    assert "REJECTED" not in task.publish("mal", handoff).data.decode()
    assert "REJECTED" in task.again("ann", handoff).data.decode()
