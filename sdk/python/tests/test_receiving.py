"""Taking handoffs and settling them, against the real server: one by one, in loops, and with handlers."""

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from peer import Peer, answering

import memory_spine
from memory_spine import (
    AckTimeoutError,
    AsyncMemorySpine,
    AsyncReceivedHandoff,
    Envelope,
    HandoffConflict,
    MemorySpine,
    ReceivedHandoff,
    SpineError,
    StaleLeaseError,
    ValidationError,
    deliveries,
    received,
)
from memory_spine.call import Cancel

SDK = Path(__file__).resolve().parent.parent
# Long enough to be renewed, at a third of it, on a machine that has much to do.
LEASE_S = 0.9
LEFT = "the receiver left its loop without settling this (an exception, or a break)"


def send(client, agent="coder", count=1, **options):
    return [client.send(client.agent_handoff(agent, f"work {n}"), **options) for n in range(count)]


def state(client, handoff):
    return client.handoff(handoff.id).state


def until(condition):
    """Asks again and again, which is work for the server and not sleep, until it is so."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline


def is_waiting(client):
    """Whether somebody's request is waiting on the server, beside this one."""
    return client.status()["http"]["requests_active"] > 1


@pytest.fixture
def sync(server, space):
    with MemorySpine(server.url, space=space) as client:
        yield client


@pytest.fixture
def in_loop(server, space):
    """Runs a coroutine function with an asynchronous client."""

    def run(function):
        async def main():
            async with AsyncMemorySpine(server.url, space=space) as spine:
                return await function(spine)

        return asyncio.run(main())

    return run


# --- One by one ----------------------------------------------------------------------------------


def test_a_received_handoff_has_all_that_its_receiver_needs(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    memory = spine.store("The gateway answers 429.")
    packed = spine.agent_handoff("coder", f"see {memory.id}", intent="survive", constraints={"max_tokens": 2000})
    sent = spine.send(packed, priority=7)
    (handoff,) = spine.agent("coder", instance="host-1").receive(lease_s=30)
    assert (handoff.id, handoff.attempt, handoff.max_attempts, handoff.redelivered) == (sent.id, 1, 3, False)
    assert (handoff.from_agent, handoff.to_agent, handoff.priority, handoff.channel) == ("analyst", "coder", 7, None)
    assert handoff.lease == f"{sent.id}.1"
    left = handoff.lease_expires_at - datetime.now(timezone.utc)
    assert 20 < left.total_seconds() <= 30
    assert (handoff.settled, handoff.lease_lost, handoff.v1) == (None, False, None)
    assert handoff.delivery.receiver == "host-1"
    assert handoff.envelope == packed and handoff.envelope.intent == "survive"
    assert handoff.envelope.verify()
    assert handoff.prompt == packed.prompt() == handoff.envelope.prompt()
    assert "429" in handoff.prompt


def test_the_prompt_that_came_with_a_handoff_is_not_fetched_again(start_server, connect):
    server = start_server()
    spine = connect(server.url)
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    server.kill()
    assert handoff.envelope.prompt() == handoff.prompt


def test_receive_takes_several_the_oldest_of_the_highest_priority_first(spine):
    low = send(spine, count=2, priority=1)
    high = send(spine, count=2, priority=8)
    assert [one.id for one in spine.agent("coder").receive(max=3)] == [high[0].id, high[1].id, low[0].id]
    assert [one.id for one in spine.agent("coder").receive(max=3)] == [low[1].id]
    assert spine.agent("coder").receive() == []


def test_receive_waits_for_what_comes(spine, other, in_thread):
    in_thread(send, other)
    (handoff,) = spine.agent("coder").receive(wait_s=20)
    assert handoff.envelope.summary == "work 0"
    assert spine.agent("coder").receive(wait_s=0.02) == []


def test_waiting_may_take_longer_than_a_call(connect, server, space, other, in_thread):
    """`timeout` is for the server's answer; what it was asked to wait comes on top."""
    spine = connect(server.url, space=space, timeout=0.5)
    waited = threading.Event()

    def later():
        until(lambda: time.monotonic() > began + 0.7)
        waited.set()
        send(other)

    began = time.monotonic()
    in_thread(later)
    assert len(spine.agent("coder").receive(wait_s=20)) == 1
    assert waited.is_set()


def test_an_agent_is_the_clients_own_where_none_is_named(connect, server, space):
    spine = connect(server.url, space=space, agent="coder")
    assert spine.agent_name == spine.agent().name == "coder"
    assert spine.agent("tester").name == "tester"
    with pytest.raises(ValueError):
        connect(server.url).agent()


@pytest.mark.parametrize("name, value", [("wait_s", 61), ("max", 0), ("lease_s", 0)])
def test_what_cannot_be_received_is_refused(spine, name, value):
    with pytest.raises(ValidationError) as caught:
        spine.agent("coder").receive(**{name: value})
    assert caught.value.field == name


def test_an_agent_of_version_1_gets_both_forms(spine):
    spine.register_agent("old", accepts=["1"])
    packed = spine.agent_handoff("old", "go")
    spine.send(packed)
    (handoff,) = spine.agent("old").receive()
    assert handoff.v1["version"] == 1 and handoff.v1["summary"] == "go"
    assert handoff.envelope == packed
    assert handoff.prompt == packed.prompt()


# --- Settling ------------------------------------------------------------------------------------


def test_ack_ends_it_and_can_be_said_again(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    done = handoff.ack(gaps=["no tests"], input_tokens=17)
    assert (done.state, done.work_lease, handoff.settled) == ("acked", False, "ack")
    assert handoff.ack().acked_at == done.acked_at
    told = spine.handoff(handoff.id)
    assert (told.gaps, told.input_tokens) == (["no tests"], 17)


def test_a_nacked_handoff_comes_again(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    back = handoff.nack("too busy", delay_s=0)
    assert (back.state, back.attempt, back.reason, handoff.settled) == ("queued", 2, "too busy", "nack")
    (again,) = spine.agent("coder").receive()
    assert (again.id, again.attempt, again.redelivered, again.lease) == (handoff.id, 2, True, f"{handoff.id}.2")
    with pytest.raises(StaleLeaseError) as caught:
        handoff.ack()
    assert isinstance(caught.value, HandoffConflict) and caught.value.handoff == handoff.id
    assert not handoff.lease_lost, "it was given back, not lost"
    assert state(spine, again) == "leased"


def test_a_rejected_handoff_goes_to_a_fallback_and_then_is_parked(spine):
    send(spine, fallbacks=["tester"])
    spine.agent("coder").receive()[0].reject("not mine")
    (fallback,) = spine.agent("tester").receive()
    assert fallback.delivery.target == "coder"
    fallback.reject("nor mine")
    (parked,) = spine.parked()
    assert (parked.id, parked.reason) == (fallback.id, "nor mine")


def test_complete_keeps_the_result(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    handoff.ack(work_lease_s=30)
    assert handoff.lease_expires_at is not None
    handoff.progress("half of it", work_lease_s=60)
    assert spine.handoff(handoff.id).progress == "half of it"
    handoff.complete({"patch": [1, None, "ü"]}, gaps=["x"], input_tokens=5)
    told = spine.handoff(handoff.id)
    assert (told.state, told.result, told.gaps, told.input_tokens) == ("completed", {"patch": [1, None, "ü"]}, ["x"], 5)
    assert handoff.settled == "complete" and handoff.lease_expires_at is None


def test_need_fetches_memories_with_a_receipt(spine):
    memory = spine.store("a secret of the gateway")
    packed = spine.agent_handoff("coder", "go", include_recent=0)
    spine.send(packed)
    (handoff,) = spine.agent("coder").receive()
    found = handoff.need([memory.id, "ms-77"])
    assert [one.content for one in found.memories] == [memory.content]
    assert [(one.id, one.reason) for one in found.missing] == [("ms-77", "unknown")]
    assert [(receipt.id, receipt.agent) for receipt in spine.receipts(packed)] == [(memory.id, "coder")]


def test_a_lease_that_ran_out_is_lost(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive(lease_s=0.02)
    until(lambda: state(spine, handoff) != "leased")
    for settle in (handoff.ack, handoff.progress, lambda: handoff.need([]), lambda: handoff.complete(1)):
        with pytest.raises(StaleLeaseError):
            settle()
        assert handoff.lease_lost
    assert spine.handoff(handoff.id).result is None


# --- In a block ----------------------------------------------------------------------------------


def test_a_block_acks_when_it_ends(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with handoff:
        assert state(spine, handoff) == "leased"
    assert state(spine, handoff) == "acked"


def test_a_block_nacks_with_the_exception_that_leaves_it(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with pytest.raises(ZeroDivisionError):
        with handoff:
            1 / 0
    told = spine.handoff(handoff.id)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, "ZeroDivisionError: division by zero")


def test_a_block_that_is_interrupted_gives_the_handoff_back_at_once(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with pytest.raises(KeyboardInterrupt):
        with handoff:
            raise KeyboardInterrupt
    assert spine.agent("coder").receive()[0].id == handoff.id


@pytest.mark.parametrize("text", ["x" * 100_000, "half \ud800 a pair", "nul \0 byte", "two\nlines", ""])
def test_any_exception_can_be_a_reason(spine, text):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with pytest.raises(ValueError):
        with handoff:
            raise ValueError(text)
    assert spine.handoff(handoff.id).reason.startswith("ValueError")


def test_a_block_settles_nothing_twice(spine):
    for verb, ends in (("nack", "queued"), ("reject", "parked"), ("complete", "completed"), ("ack", "acked")):
        send(spine)
        (handoff,) = spine.agent("coder").receive()
        with handoff:
            getattr(handoff, verb)(*(["no"] if verb in ("nack", "reject") else []))
        assert state(spine, handoff) == ends
        spine.park_envelope(handoff.envelope_id, "out of the way") if ends == "queued" else None


def test_a_block_completes_what_it_acked_with_a_work_lease(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with handoff:
        handoff.ack(work_lease_s=30)
    assert state(spine, handoff) == "completed"


def test_the_end_of_a_block_tells_that_the_lease_was_lost(spine):
    send(spine)
    (handoff,) = spine.agent("coder").receive()
    with pytest.raises(StaleLeaseError):
        with handoff:
            spine.park_envelope(handoff.envelope_id, "taken away")


# --- Leases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [False, True], ids=["lease", "work lease"])
def test_the_lease_is_renewed_while_the_block_works(sync, work):
    send(sync)
    (handoff,) = sync.agent("coder").receive(lease_s=LEASE_S)
    with handoff:
        if work:
            handoff.ack(work_lease_s=LEASE_S)
        first = handoff.lease_expires_at
        until(lambda: datetime.now(timezone.utc) > first and handoff.lease_expires_at > first)
        until(lambda: datetime.now(timezone.utc).timestamp() > first.timestamp() + LEASE_S / 2)
        assert not handoff.lease_lost
        assert state(sync, handoff) == ("acked" if work else "leased")
    told = sync.handoff(handoff.id)
    assert (told.state, told.attempt) == ("completed" if work else "acked", 1)


@pytest.mark.parametrize("work", [False, True], ids=["lease", "work lease"])
def test_the_lease_is_renewed_while_an_asynchronous_block_works(in_loop, other, work):
    async def main(spine):
        await spine.send(await spine.agent_handoff("coder", "go"))
        (handoff,) = await spine.agent("coder").receive(lease_s=LEASE_S)
        async with handoff:
            if work:
                await handoff.ack(work_lease_s=LEASE_S)
            first = handoff.lease_expires_at
            while datetime.now(timezone.utc).timestamp() < first.timestamp() + LEASE_S / 2:
                await spine.healthy()
            assert not handoff.lease_lost and handoff.lease_expires_at > first
        return await spine.handoff(handoff.id)

    told = in_loop(main)
    assert (told.state, told.attempt) == ("completed" if work else "acked", 1)


def test_a_handler_is_told_that_its_lease_was_lost(sync, other, caplog):
    send(sync)
    told = []

    def handle(handoff):
        other.park_envelope(handoff.envelope_id, "taken away")
        until(lambda: handoff.lease_lost or not other.healthy())
        told.append(handoff)

    assert sync.agent("coder").run(handle, max=1, lease_s=0.2) == 1
    assert told[0].lease_lost and told[0].settled is None
    assert "could not be settled" in caplog.text
    assert state(other, told[0]) == "parked"


def test_an_asynchronous_handler_is_told_that_its_lease_was_lost(in_loop, caplog):
    async def main(spine):
        await spine.send(await spine.agent_handoff("coder", "go"))

        async def handle(handoff):
            await spine.park_envelope(handoff.envelope_id, "taken away")
            while not handoff.lease_lost:
                assert await spine.healthy()

        await spine.agent("coder").run(handle, max=1, lease_s=0.2)

    in_loop(main)
    assert "could not be settled" in caplog.text


def test_a_lease_is_taken_for_lost_when_the_server_was_gone_too_long(start_server):
    server = start_server()
    with MemorySpine(server.url, retries=0) as spine:
        send(spine)
        (handoff,) = spine.agent("coder").receive(lease_s=0.2)
        handoff.keep()
        server.kill()
        until(lambda: handoff.lease_lost or spine.healthy())


def test_a_handoff_that_nobody_has_any_more_is_not_renewed(sync):
    send(sync)
    (handoff,) = sync.agent("coder").receive(lease_s=LEASE_S)
    id = handoff.id
    handoff.keep()
    del handoff
    gc.collect()
    until(lambda: sync.handoff(id).state != "leased")


def test_the_thread_that_renews_ends_when_there_is_nothing_to_renew(sync, monkeypatch):
    monkeypatch.setattr(memory_spine.keeper, "_IDLE_S", 0.01)
    send(sync)
    with sync.agent("coder").receive(lease_s=0.2)[0]:
        thread = sync._keeper._thread
        assert thread.is_alive() and thread.daemon
    thread.join(10)
    assert not thread.is_alive()
    send(sync)
    with sync.agent("coder").receive()[0]:
        assert sync._keeper._thread.is_alive()


def test_a_short_lease_does_not_wait_for_a_long_one(sync):
    send(sync, count=2)
    (long,) = sync.agent("coder").receive(lease_s=600)
    long.keep()
    until(lambda: sync._keeper._wakes_at > time.monotonic() + 100)
    (short,) = sync.agent("coder").receive(lease_s=LEASE_S)
    short.keep()
    first = short.lease_expires_at
    until(lambda: short.lease_expires_at > first or short.lease_lost)
    assert not short.lease_lost
    assert state(sync, short) == "leased"


def test_one_thread_renews_for_all(sync):
    send(sync, count=5)
    before = set(threading.enumerate())
    taken = sync.agent("coder").receive(max=5, lease_s=LEASE_S)
    for handoff in taken:
        handoff.keep()
    first = [handoff.lease_expires_at for handoff in taken]
    until(lambda: all(handoff.lease_expires_at > one for handoff, one in zip(taken, first)))
    assert set(threading.enumerate()) - before == {sync._keeper._thread}
    for handoff in taken:
        handoff.ack()


# --- Loops ---------------------------------------------------------------------------------------


def test_a_loop_acks_each_when_it_comes_back_for_the_next(sync, other):
    sent = send(sync, count=3)
    seen = []
    for handoff in sync.agent("coder").inbox(idle_s=0):
        assert type(handoff) is ReceivedHandoff
        assert state(other, handoff) == "leased"
        assert [state(other, one) for one in sent[: len(seen)]] == ["acked"] * len(seen)
        seen.append(handoff.id)
    assert seen == [one.id for one in sent]
    assert [state(other, one) for one in sent] == ["acked"] * 3


def test_a_loop_ends_after_max(sync, other):
    sent = send(sync, count=3)
    assert [handoff.id for handoff in sync.agent("coder").inbox(max=2)] == [sent[0].id, sent[1].id]
    assert [state(other, one) for one in sent] == ["acked", "acked", "queued"]
    assert list(sync.agent("coder").inbox(max=0)) == []
    with pytest.raises(ValueError):
        sync.agent("coder").inbox(max=-1)


def test_an_exception_that_leaves_a_loop_nacks_the_handoff_in_hand_at_once(sync, other):
    (sent,) = send(sync)

    def work():
        for _ in sync.agent("coder").inbox():
            raise ZeroDivisionError

    try:
        work()
    except ZeroDivisionError:
        told = other.handoff(sent)  # before the exception is forgotten
    assert (told.state, told.attempt, told.reason) == ("queued", 2, LEFT)


def test_a_loop_that_was_left_can_be_begun_again_from_the_same_inbox(sync, other):
    sent = send(sync, count=2)
    inbox = sync.agent("coder").inbox(max=2)
    with pytest.raises(ZeroDivisionError):
        for _ in inbox:
            raise ZeroDivisionError
    assert state(other, sent[0]) == "queued"
    assert [handoff.id for handoff in inbox] == [sent[1].id]
    assert [other.handoff(one).attempt for one in sent] == [2, 1]


def test_a_break_nacks_the_handoff_in_hand_unless_it_was_settled(sync, other):
    one, two = send(sync, count=2)
    for _ in sync.agent("coder").inbox():
        break
    assert (state(other, one), other.handoff(one).reason) == ("queued", LEFT)
    for handoff in sync.agent("coder").inbox():
        handoff.ack()
        break
    assert state(other, two) == "acked"


def test_a_loop_in_a_block_nacks_with_the_exception(sync, other):
    (sent,) = send(sync)
    with pytest.raises(ZeroDivisionError):
        with sync.agent("coder").inbox() as inbox:
            for _ in inbox:
                1 / 0
    told = other.handoff(sent)
    assert (told.attempt, told.reason) == (2, "ZeroDivisionError: division by zero")


def test_a_break_from_a_loop_in_a_block_acks(sync, other):
    (sent,) = send(sync)
    with sync.agent("coder").inbox() as inbox:
        for _ in inbox:
            break
        assert state(other, sent) == "leased"
    assert state(other, sent) == "acked"


def test_a_caught_exception_in_a_block_is_no_success(sync, other):
    sent = send(sync, count=2)
    with sync.agent("coder").inbox(max=2) as inbox:
        try:
            for _ in inbox:
                1 / 0
        except ZeroDivisionError:
            pass
        assert [handoff.id for handoff in inbox] == [sent[1].id]
    assert [(one.state, one.attempt) for one in map(other.handoff, sent)] == [("queued", 2), ("acked", 1)]


def test_what_is_thrown_into_a_loop_nacks(sync, other):
    (sent,) = send(sync)
    loop = iter(sync.agent("coder").inbox())
    next(loop)
    with pytest.raises(ZeroDivisionError):
        loop.throw(ZeroDivisionError("thrown"))
    assert other.handoff(sent).reason == "ZeroDivisionError: thrown"


def test_a_loop_with_a_work_lease_lets_the_sender_go_on(sync, other, in_thread):
    acks = []
    packed = other.agent_handoff("coder", "go")
    in_thread(lambda: acks.append(other.deliver_handoff(packed, timeout=20)))
    for handoff in sync.agent("coder").inbox(max=1, work_lease_s=30):
        until(lambda: acks)
        assert (acks[0].id, acks[0].work_lease) == (handoff.id, True)
    assert state(other, acks[0]) == "completed"


def test_without_one_the_sender_waits_for_the_end_of_the_work(sync, other, in_thread):
    finished = []

    def deliver():
        other.deliver_handoff(other.agent_handoff("coder", "go"), timeout=20)
        assert finished

    in_thread(deliver)
    for _ in sync.agent("coder").inbox(max=1):
        sync.healthy()
        finished.append(True)


def test_stop_ends_a_loop_that_waits(start_server, in_thread):
    server = start_server()
    with MemorySpine(server.url) as spine, MemorySpine(server.url) as watcher:
        inbox = spine.agent("coder").inbox()
        thread = in_thread(lambda: list(inbox))
        until(lambda: is_waiting(watcher))
        inbox.stop()
        thread.join(20)
        assert not thread.is_alive()
        send(watcher)
        assert [one.attempt for one in watcher.agent("coder").receive()] == [1], "nothing was taken for it"
        assert list(inbox) == []


def test_stop_ends_all_loops_of_a_receiver_after_the_handoff_in_hand(sync, other):
    sent = send(sync, count=2)
    receiver = sync.agent("coder")
    for _ in receiver.inbox():
        receiver.stop()
    assert [state(other, one) for one in sent] == ["acked", "queued"]
    assert receiver.run(lambda handoff: None, max=1) == 1, "a new one goes on"


def test_what_was_cancelled_before_it_was_sent_is_not_sent(connect):
    with Peer(answering) as peer:
        spine = connect(peer.url)
        cancel = Cancel()
        cancel.set()
        steps = deliveries.receive("coder", cancel=cancel, retry=False)
        with pytest.raises(memory_spine.ConnectionError):
            if isinstance(spine, MemorySpine):
                spine._run(steps)
            else:
                spine._loop.run_until_complete(spine._inner._run(steps))
        assert spine.get("ms-1").id == "ms-1"
    assert [request[1] for request in peer.requests] == ["/v1/memories/ms-1"]


def test_a_renewal_that_comes_late_does_not_undo_an_ack(sync):
    """Sent before the ack, answered after it: it says "leased", and the handoff has a work lease to be renewed."""
    send(sync)
    (handoff,) = sync.agent("coder").receive()
    renewal = handoff.renew()
    request = next(renewal)
    answer = sync._transport.send(request, time.monotonic() + 30)
    handoff.ack(work_lease_s=30)
    with pytest.raises(StopIteration):
        renewal.send(answer)
    assert handoff.is_held and handoff.delivery.work_lease


def test_a_renewal_that_comes_too_late_is_no_lost_lease(sync):
    """Answered after the handoff was completed, but before the answer to that was read."""
    send(sync)
    (handoff,) = sync.agent("coder").receive()
    sync._run(deliveries.complete(handoff.id, handoff.lease, 1, (), None))
    sync._run(handoff.renew())
    assert handoff.lease_lost
    handoff.complete(1)
    assert not handoff.lease_lost


def test_stop_may_be_called_by_a_signal_handler(start_server):
    server = start_server()
    with MemorySpine(server.url) as spine, MemorySpine(server.url) as watcher:
        inbox = spine.agent("coder").inbox()
        previous = signal.signal(signal.SIGUSR1, lambda *_: inbox.stop())
        main = threading.main_thread().ident

        def interrupt():
            until(lambda: is_waiting(watcher))
            signal.pthread_kill(main, signal.SIGUSR1)

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            assert list(inbox) == []
        finally:
            thread.join()
            signal.signal(signal.SIGUSR1, previous)


def test_a_loop_waits_for_a_server_that_restarts(start_server, caplog):
    server = start_server()
    with MemorySpine(server.url) as spine:
        send(spine, count=2)
        seen = []
        for handoff in spine.agent("coder").inbox(max=2):
            seen.append((handoff.id, handoff.attempt))
            if len(seen) == 1:
                server.kill()
                server = start_server(server.data, listen=server.url.partition("//")[2])
        assert seen == [("ho-1", 1), ("ho-2", 1)]
        assert [one.state for one in spine.handoffs()] == ["acked", "acked"]


def test_what_was_handled_is_acked_when_the_server_is_back(start_server, in_thread, monkeypatch):
    server = start_server()
    with MemorySpine(server.url, retries=0) as spine:
        send(spine)
        tried = threading.Event()
        tell = received.backoff_s
        monkeypatch.setattr(received, "backoff_s", lambda attempt: tried.set() or tell(attempt))

        def restart():
            assert tried.wait(30)
            start_server(server.data, listen=server.url.partition("//")[2])

        in_thread(restart)
        for _ in spine.agent("coder").inbox(max=1, lease_s=60):
            server.kill()
        in_thread.join()
        (told,) = spine.handoffs()
        assert (told.state, told.attempt) == ("acked", 1)


def test_a_loop_that_waits_outlives_a_restart(start_server, in_thread):
    server = start_server()
    with MemorySpine(server.url) as spine, MemorySpine(server.url) as watcher:
        seen = []
        thread = in_thread(lambda: seen.extend(one.id for one in spine.agent("coder").inbox(max=2)))
        send(watcher)
        until(lambda: seen or is_waiting(watcher))
        until(lambda: watcher.handoff("ho-1").state == "acked" and is_waiting(watcher))
        server.kill()
        again = start_server(server.data, listen=server.url.partition("//")[2])
        with MemorySpine(again.url) as fresh:
            send(fresh)
        thread.join(30)
        assert seen == ["ho-1", "ho-2"]


def test_a_loop_without_a_server_is_an_error(connect):
    with MemorySpine("http://127.0.0.1:1", retries=0) as spine:
        with pytest.raises(memory_spine.ConnectionError):
            list(spine.agent("coder").inbox())


def test_ctrl_c_gives_the_handoff_back_and_ends_the_process(sync, server, space):
    (sent,) = send(sync)
    code = (
        "import sys, threading\n"
        "from memory_spine import MemorySpine\n"
        "spine = MemorySpine(sys.argv[1], space=sys.argv[2])\n"
        "for handoff in spine.agent('coder').inbox():\n"
        "    print(handoff.id, flush=True)\n"
        "    threading.Event().wait()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", code, server.url, space],
        env={**os.environ, "PYTHONPATH": str(SDK)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().strip() == sent.id
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    told = sync.handoff(sent)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, LEFT)


def test_a_process_that_is_killed_in_mid_work_loses_its_lease_and_the_work_comes_back(sync, server, space):
    (sent,) = send(sync)
    code = (
        "import os, signal, sys\n"
        "from memory_spine import MemorySpine\n"
        "spine = MemorySpine(sys.argv[1], space=sys.argv[2])\n"
        "for handoff in spine.agent('coder').inbox(lease_s=0.3):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", code, server.url, space], env={**os.environ, "PYTHONPATH": str(SDK)}
    )
    assert run.returncode == -signal.SIGKILL
    (again,) = sync.agent("coder").receive(wait_s=20)
    assert (again.id, again.attempt, again.redelivered) == (sent.id, 2, True)


# --- Asynchronous loops --------------------------------------------------------------------------


def test_an_asynchronous_loop_acks_each_when_it_comes_back(in_loop, other):
    sent = send(other, count=3)

    async def main(spine):
        seen = []
        async for handoff in spine.agent("coder").inbox(idle_s=0):
            assert type(handoff) is AsyncReceivedHandoff
            assert (await spine.handoff(handoff.id)).state == "leased"
            seen.append(handoff.id)
        return seen

    assert in_loop(main) == [one.id for one in sent]
    assert [state(other, one) for one in sent] == ["acked"] * 3


@pytest.mark.parametrize("how", ["raise", "break"])
def test_leaving_an_asynchronous_loop_nacks_the_handoff_in_hand_soon(in_loop, other, how):
    (sent,) = send(other)

    async def main(spine):
        async def work():
            async for _ in spine.agent("coder").inbox():
                if how == "break":
                    break
                raise ZeroDivisionError

        try:
            await work()
        except ZeroDivisionError:
            pass
        while (await spine.handoff(sent.id)).state == "leased":
            pass

    in_loop(main)
    told = other.handoff(sent)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, LEFT)


def test_the_end_of_the_event_loop_nacks_what_is_in_hand(server, space, other):
    (sent,) = send(other)
    spine = AsyncMemorySpine(server.url, space=space)

    async def main():
        async for _ in spine.agent("coder").inbox():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    told = other.handoff(sent)
    assert (told.state, told.attempt) == ("queued", 2)
    assert told.reason in (LEFT, "CancelledError"), "asyncio.run cancels what still has to be closed"


@pytest.mark.parametrize("how", ["raise", "break"])
def test_an_asynchronous_loop_in_a_block_knows_why_it_was_left(in_loop, other, how):
    (sent,) = send(other)

    async def main(spine):
        async with spine.agent("coder").inbox() as inbox:
            async for _ in inbox:
                if how == "break":
                    break
                raise ZeroDivisionError("of async")
            for _ in range(20):  # time enough for asyncio to close the loop's iterator
                assert (await spine.handoff(sent.id)).state == "leased"

    if how == "raise":
        with pytest.raises(ZeroDivisionError):
            in_loop(main)
        assert other.handoff(sent).reason == "ZeroDivisionError: of async"
    else:
        in_loop(main)
        assert state(other, sent) == "acked"


def test_a_cancelled_task_gives_back_what_it_had(in_loop, other):
    (sent,) = send(other)

    async def main(spine):
        begun = asyncio.Event()

        async def handle(handoff):
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(spine.agent("coder").run(handle))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    in_loop(main)
    told = other.handoff(sent)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, "CancelledError")


def test_stop_ends_an_asynchronous_loop_that_waits(start_server):
    server = start_server()

    async def main():
        async with AsyncMemorySpine(server.url) as spine, AsyncMemorySpine(server.url) as watcher:
            receiver = spine.agent("coder")
            tasks = [asyncio.ensure_future(receiver.run(None)) for _ in range(2)]
            while (await watcher.status())["http"]["requests_active"] < 3:
                pass
            receiver.stop()
            assert await asyncio.wait_for(asyncio.gather(*tasks), 20) == [0, 0]
            await watcher.send(await watcher.agent_handoff("coder", "go"))
            assert [one.attempt for one in await watcher.agent("coder").receive()] == [1]

    asyncio.run(main())


def test_many_tasks_share_the_queue_of_an_agent(in_loop, other):
    sent = send(other, count=20)

    async def main(spine):
        seen = []

        async def handle(handoff):
            seen.append(handoff.id)

        counts = await asyncio.gather(*(spine.agent("coder").run(handle, idle_s=0) for _ in range(4)))
        assert sum(counts) == 20
        return seen

    assert sorted(in_loop(main)) == sorted(one.id for one in sent)
    assert {state(other, one) for one in sent} == {"acked"}


# --- Handlers ------------------------------------------------------------------------------------


def run(spine, handler, **options):
    """Runs a plain function as the handler of either client."""
    inner = getattr(spine, "_inner", None)
    if inner is None:
        return spine.agent("coder").run(handler, **options)

    async def handle(handoff):
        return handler(handoff)

    return spine._loop.run_until_complete(inner.agent("coder").run(handle, **options))


def test_a_handlers_result_completes_and_none_acks(spine, other):
    one, two = send(spine, count=2)
    results = iter([{"patch": 1}, None])
    assert run(spine, lambda handoff: next(results), idle_s=0) == 2
    told = other.handoff(one)
    assert (told.state, told.result) == ("completed", {"patch": 1})
    assert state(other, two) == "acked"


def test_a_handler_that_fails_nacks_and_the_next_one_follows(spine, other):
    one, two = send(spine, count=2)
    seen = []

    def handle(handoff):
        if handoff.id == one.id:
            raise ValueError("no such file")

    assert run(spine, handle, max=2, on_error=lambda *what: seen.append(what)) == 2
    told = other.handoff(one)
    assert (told.attempt, told.reason, state(other, two)) == (2, "ValueError: no such file", "acked")
    ((handoff, error),) = seen
    assert handoff.id == one.id and str(error) == "no such file"


def test_a_handlers_failure_is_logged_where_nobody_looks(spine, caplog):
    (sent,) = send(spine)
    with caplog.at_level(logging.ERROR, "memory_spine"):
        run(spine, lambda handoff: 1 / 0, max=1)
    assert sent.id in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_result_that_cannot_be_sent_is_a_failure(spine, other):
    (sent,) = send(spine)
    run(spine, lambda handoff: object(), max=1, on_error=lambda *_: None)
    told = other.handoff(sent)
    assert told.attempt == 2 and told.reason.startswith("TypeError")


def test_a_handler_that_is_interrupted_gives_back_and_ends(spine, other):
    (sent,) = send(spine)

    class Stop(BaseException):
        pass

    def handle(handoff):
        raise Stop

    with pytest.raises(Stop):
        run(spine, handle)
    (again,) = other.agent("coder").receive()
    assert (again.id, again.attempt) == (sent.id, 2)


def test_a_handler_may_settle_itself(spine, other, caplog):
    (sent,) = send(spine)
    inner = getattr(spine, "_inner", None)
    if inner is None:
        spine.agent("coder").run(lambda handoff: str(handoff.reject("no")), max=1)
    else:

        async def handle(handoff):
            return str(await handoff.reject("no"))

        spine._loop.run_until_complete(inner.agent("coder").run(handle, max=1))
    told = other.handoff(sent)
    assert (told.state, told.reason, told.result) == ("parked", "no", None)
    assert caplog.text == "", "what it returned is not tried to be sent"


def test_a_sender_that_gave_up_takes_the_lease_with_it(sync, other, caplog):
    """A handoff whose sender waits is withdrawn when the sender stops waiting, in whatever hands it is."""
    packed = other.agent_handoff("coder", "go")

    def handle(handoff):
        until(lambda: state(other, handoff) == "expired")

    done = threading.Thread(target=lambda: sync.agent("coder").run(handle, max=1))
    done.start()
    with pytest.raises(AckTimeoutError) as caught:
        other.deliver_handoff(packed, timeout=0.3)
    done.join()
    assert other.handoff(caught.value.handoff).state == "expired"
    assert "could not be settled" in caplog.text


def test_a_damaged_envelope_is_told_when_it_is_read():
    taken = memory_spine.delivery.Taken.from_taken(
        {
            "id": "ho-1",
            "envelope_id": "env-1",
            "state": "leased",
            "to": "coder",
            "priority": 5,
            "attempt": 1,
            "max_attempts": 3,
            "created_at": "2026-01-30T00:00:00.000Z",
            "changed_at": "2026-01-30T00:00:00.000Z",
            "due_at": "2026-01-30T00:00:15.000Z",
            "lease": "ho-1.1",
            "lease_expires_at": "2026-01-30T00:00:15.000Z",
            "redelivered": False,
            "envelope": None,
            "problem": "env-1 cannot be read",
        }
    )
    with MemorySpine() as spine:
        handoff = ReceivedHandoff(spine, taken, None, 0.0)
        for read in (lambda: handoff.envelope, lambda: handoff.prompt):
            with pytest.raises(SpineError) as caught:
                read()
            assert caught.value.code == "envelope_damaged" and "env-1" in str(caught.value)
    assert not isinstance(handoff.v1, Envelope)
