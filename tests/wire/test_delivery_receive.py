"""POST /v1/agents/{agent}/receive: waiting, sharing, leases, forms; and receivers that go away."""

import itertools
import time

import pytest
from api import wait_until
from database import connect as open_database
from database import unprotected
from delivery import Desk, RawCall

RECEIVED_MEMBERS = ["lease", "lease_expires_at", "redelivered"]


def test_a_receiver_gets_the_handoff_with_its_lease_envelope_and_prompt(desk):
    desk.store("evidence", id="ms-5")
    envelope = desk.pack(summary="look at ms-5", refs=["ms-5"])
    handoff = desk.deliver(envelope, 202).json
    del handoff["warnings"]  # nobody has received as this agent yet
    del handoff["task"]  # it is in the envelope
    (got,) = desk.ok("POST", "/v1/agents/worker/receive")["handoffs"]
    assert list(got) == [*handoff, *RECEIVED_MEMBERS, "envelope", "prompt"]
    assert (got["id"], got["state"], got["lease"], got["redelivered"]) == (handoff["id"], "leased", f"{handoff['id']}.1", False)
    assert got["envelope"] == desk.ok("GET", f"/v1/envelopes/{envelope}")
    assert got["prompt"] == desk.call("GET", f"/v1/envelopes/{envelope}?format=prompt").data.decode()
    assert got["lease_expires_at"] == desk.look(handoff)["due_at"]


@pytest.mark.parametrize("form, members", [("both", {"envelope", "prompt"}), ("envelope", {"envelope"}), ("prompt", {"prompt"}), ("none", set())])
def test_a_receiver_says_in_which_form(desk, form, members):
    desk.send()
    assert set(desk.take(format=form)) & {"envelope", "prompt"} == members


def test_an_agent_that_reads_version_1_only_gets_version_1(desk):
    desk.ok("PUT", "/v1/agents/old", {"accepts": ["1"]})
    desk.ok("PUT", "/v1/agents/both", {"accepts": ["1", "2"]})
    desk.send("old")
    desk.send("both")
    (old,) = desk.receive("old", format="envelope")
    assert (old["envelope"]["version"], old["envelope"]["target"]) == (1, "old")
    (both,) = desk.receive("both", format="envelope")
    assert both["envelope"]["envelope_version"] == "2"


def test_nothing_there_and_no_wait_is_answered_at_once_with_nothing(desk):
    began = time.monotonic()
    assert desk.ok("POST", "/v1/agents/worker/receive") == {"handoffs": []}
    assert desk.receive(wait_s=0) == []
    assert time.monotonic() - began < 5


def test_a_wait_that_nothing_ends_ends_empty_and_in_time(desk):
    began = time.monotonic()
    assert desk.receive(wait_s=0.3) == []
    assert 0.29 <= time.monotonic() - began < 10


def test_what_is_sent_while_a_receiver_waits_is_there_within_milliseconds(desk, poll):
    """The median of twenty: a machine under load may be slow now and then."""
    delays = []
    for _ in range(20):
        receiver = poll()
        envelope = desk.pack()
        desk.deliver(envelope, 202)
        answered = time.monotonic()
        (got,) = receiver.handoffs
        delays.append(receiver.ended_at - answered)
        assert got["envelope_id"] == envelope
        desk.settle("ack", got)
    assert sorted(delays)[10] < 0.1, delays


def test_receivers_that_wait_are_served_in_the_order_of_their_coming(desk, poll):
    receivers = [poll() for _ in range(5)]
    sent = [desk.send()["id"] for _ in range(5)]
    assert [receiver.handoffs[0]["id"] for receiver in receivers] == sent


def test_one_handoff_goes_to_one_of_those_who_wait(desk, poll):
    first, second = poll(), poll()
    desk.send()
    assert len(first.handoffs) == 1
    assert second.answer is None
    desk.send()
    assert len(second.handoffs) == 1


def test_several_instances_share_the_queue_and_each_handoff_goes_to_one(desk):
    sent = {desk.send()["id"] for _ in range(20)}
    got = [desk.take(instance=f"worker-{number % 3}") for number in range(20)]
    assert {handoff["id"] for handoff in got} == sent
    assert {handoff["receiver"] for handoff in got} == {"worker-0", "worker-1", "worker-2"}
    assert desk.receive() == []


@pytest.mark.parametrize("most", [1, 2, 7, 100])
def test_a_receiver_takes_at_most_what_it_asked_for(desk, most):
    sent = [desk.send()["id"] for _ in range(5)]
    assert [handoff["id"] for handoff in desk.receive(max=most)] == sent[:most]


def test_large_envelopes_are_given_a_few_at_a_time(desk):
    sent = []
    for _ in range(5):
        envelope = desk.pack(constraints={"text": "word " * 1_000_000, "max_tokens": 10_000_000}, tokenizer="estimate")
        sent.append(desk.deliver(envelope, 202).json["id"])
    first = desk.receive(max=100, format="envelope")
    assert [handoff["id"] for handoff in first] == sent[:4]
    assert [handoff["id"] for handoff in desk.receive(max=100)] == sent[4:]


def test_a_receiver_that_waits_for_many_is_served_with_what_is_there(desk, poll):
    receiver = poll(max=10)
    sent = desk.send()
    assert [handoff["id"] for handoff in receiver.handoffs] == [sent["id"]]


def test_the_lease_lasts_as_long_as_the_receiver_asked(desk):
    desk.send(ack_timeout_s=5)
    desk.send(ack_timeout_s=5)
    plain, own = desk.take(), desk.take(lease_s=3600)
    assert own["lease_expires_at"] > plain["lease_expires_at"]


def test_every_lease_has_a_token_of_its_own(desk):
    desk.send()
    leases = []
    for _ in range(3):
        got = desk.take()
        leases.append(got["lease"])
        desk.settle("nack", got, status=200, reason="x", delay_s=0)
    assert len(set(leases)) == 3


def test_a_queue_belongs_to_its_agent_and_its_space(desk, poll, connect):
    receiver = poll("other")
    desk.send("worker")
    stranger = connect()
    assert stranger.ok("POST", "/v1/agents/worker/receive")["handoffs"] == []
    assert receiver.answer is None
    desk.send("other")
    assert receiver.handoffs


def test_a_receiver_that_waits_is_served_by_everything_that_brings_work_back(desk, poll):
    def next_for(receiver):
        (got,) = receiver.handoffs
        return got

    receiver = poll()
    handoff = desk.send(max_attempts=9)
    got = next_for(receiver)
    receiver = poll()
    desk.settle("nack", got, reason="again", delay_s=0)  # a nack
    got = next_for(receiver)
    receiver = poll()
    desk.settle("nack", got, reason="again", delay_s=0.05)  # the end of a delay
    got = next_for(receiver)
    desk.settle("reject", got, reason="no")
    receiver = poll()
    desk.ok("POST", f"/v1/parked/{handoff['id']}/redrive")  # a redrive
    got = next_for(receiver)
    desk.settle("reject", got, reason="no")
    receiver = poll("other")
    desk.ok("POST", f"/v1/parked/{handoff['id']}/reroute", {"to": "other"})  # a reroute
    assert next_for(receiver)["id"] == handoff["id"]
    receiver = poll("subscriber")
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": handoff["envelope_id"], "receivers": ["subscriber"]})
    assert next_for(receiver)["channel"] == "news"  # a broadcast


# --- Receivers that go away ------------------------------------------------------------------------


def test_a_receiver_that_goes_away_while_it_waits_is_given_nothing(desk):
    waiting = desk.waiting()
    gone = [RawCall(desk.address, desk.space, "/v1/agents/worker/receive", {"wait_s": 60}) for _ in range(10)]
    desk.wait_for_waiters(waiting + 10)
    for call in gone:
        call.vanish()
    wait_until(lambda: desk.waiting() == waiting, "the server has seen that they have gone")
    handoff = desk.send()
    assert desk.events(handoff) == ["queued"]
    got = desk.take()
    assert (got["id"], got["attempt"], got["redelivered"], got["lease"]) == (handoff["id"], 1, False, f"{handoff['id']}.1")


def test_one_that_goes_away_in_the_middle_does_not_hold_up_the_others(desk, poll):
    first = RawCall(desk.address, desk.space, "/v1/agents/worker/receive", {"wait_s": 60})
    desk.wait_for_waiters(1)
    second = poll()
    first.vanish()
    wait_until(lambda: desk.waiting() == 1, "the server has seen that it has gone")
    desk.send()
    assert len(second.handoffs) == 1


def test_a_receiver_that_goes_away_while_it_is_served_gives_the_handoff_back_without_losing_an_attempt(desk):
    """The request and the end of the connection come together, so that the server takes the handoff for somebody who has
    gone by the time of the commit. Whichever comes first: the handoff is not lost, and neither is an attempt."""
    released = 0
    for _ in range(30):
        handoff = desk.send(max_attempts=1)
        looked = itertools.count(2)  # each look is a request, too
        before = desk.ok("GET", "/v1/status")["http"]["requests"]
        call = RawCall(desk.address, desk.space, "/v1/agents/worker/receive", {"lease_s": 3600})
        call.vanish()
        wait_until(
            lambda: desk.ok("GET", "/v1/status")["http"]["requests"] - before >= next(looked), "the request has come"
        )
        wait_until(desk.is_alone, "the request has ended")
        if desk.state(handoff) == "leased":  # the reply was on its way before the end was seen: this one had it
            assert desk.events(handoff) == ["queued", "leased"]
            desk.settle("ack", handoff, lease=f"{handoff['id']}.1")
            continue
        released += "released" in desk.events(handoff)
        got = desk.take()
        assert (got["id"], got["attempt"]) == (handoff["id"], 1)
        desk.settle("ack", got)
    assert released > 0, "no receiver was gone in time; the test proves nothing"


# --- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("field, value, code", [
    ("wait_s", -0.1, "invalid_field"), ("wait_s", 61, "invalid_field"), ("wait_s", "1", "invalid_field"), ("wait_s", {}, "invalid_field"),
    ("lease_s", 0, "invalid_field"), ("lease_s", -1, "invalid_field"), ("lease_s", 86401, "invalid_field"), ("lease_s", "long", "invalid_field"),
    ("max", 0, "invalid_field"), ("max", 101, "invalid_field"), ("max", 1.5, "invalid_field"), ("max", "all", "invalid_field"),
    ("instance", "", "invalid_field"), ("instance", 7, "invalid_field"), ("instance", "x" * 129, "too_large"), ("instance", "a\nb", "invalid_field"),
    ("format", "xml", "invalid_field"), ("format", 2, "invalid_field"), ("format", "x" * 17, "too_large"), ("format", "", "invalid_field"),
], ids=lambda value: repr(value)[:24])
def test_bad_input_is_named_and_takes_nothing(desk, field, value, code):
    desk.send()
    before = desk.everything()
    desk.refused(422, code, "POST", "/v1/agents/worker/receive", {field: value}, field=field)
    assert desk.everything() == before
    desk.take()


def test_a_name_that_is_none_is_refused(desk):
    desk.refused(422, "too_large", "POST", f"/v1/agents/{'x' * 129}/receive", {}, field="agent")
    desk.refused(422, "invalid_field", "POST", "/v1/agents/a%0Ab/receive", {}, field="agent")


def test_a_handoff_whose_envelope_cannot_be_read_is_given_with_the_reason_and_the_others_whole(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    handoffs = [desk.send() for _ in range(3)]
    assert server.terminate() == 0
    with open_database(server.data / "spine.db") as database:
        with unprotected(database, "envelope"):
            database.execute("UPDATE envelope SET body = '{}' WHERE id & 1099511627775 = 2")
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address)
    got = desk.receive(max=3, format="both")
    assert [one["id"] for one in got] == [one["id"] for one in handoffs]
    assert [one["envelope"] is None for one in got] == [False, True, False]
    assert got[1]["problem"] and "problem" not in got[0]
    desk.settle("reject", got[1], reason="it cannot be read")
