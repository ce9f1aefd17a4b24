"""Taking handoffs and settling them one by one, against the real server."""

import gc
import inspect
import threading
import time
from datetime import datetime, timezone

import pytest
from receiving import in_loop, send, state, until, sync  # noqa: F401

import memory_spine
from memory_spine import HandoffConflict, MemorySpine, SpineWarning, StaleLeaseError, ValidationError

# Long enough to be renewed, at a third of it, on a machine that has much to do.
LEASE_S = 0.9


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


# --- In whose name -------------------------------------------------------------------------------


def actors(spine, handoff):
    return {event.event.partition(".")[2]: event.actor for event in spine.handoff(handoff.id).events}


@pytest.mark.parametrize("verb", ["ack", "nack", "reject", "complete"])
def test_what_a_receiver_does_is_done_by_the_agent_that_it_is(connect, server, space, verb):
    spine = connect(server.url, space=space, agent="analyst")
    memory = spine.store("x")
    (sent,) = send(spine)
    (handoff,) = spine.agent("coder").receive(lease_s=60)
    handoff.progress("half")
    handoff.need([memory.id])
    getattr(handoff, verb)(*("no",) if verb in ("nack", "reject") else ())
    by = actors(spine, sent)
    assert by.pop("queued") == "analyst"
    assert {"leased", "progress"} < by.keys() and set(by.values()) - {None} == {"coder"}


def test_loops_and_renewals_are_the_receiving_agents(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    first, second = send(spine, count=2)
    assert spine.agent("coder").run(lambda work: _nothing(work, spine), max=1) == 1
    with spine.agent("coder").receive()[0]:
        pass
    for one in (first, second):
        assert (actors(spine, one)["leased"], actors(spine, one)["acked"]) == ("coder", "coder")


def _nothing(work, spine):
    """A handler for either client: what it returns is awaited by the asynchronous one."""

    async def nothing():
        return None

    return None if isinstance(spine, MemorySpine) else nothing()


def test_an_agent_whose_name_cannot_be_a_header_receives_as_itself(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    (sent,) = send(spine, agent="coder ")
    (work,) = spine.agent("coder ").receive()
    assert work.agent_handoff("reviewer", "review it").from_agent == "coder "
    work.ack()
    assert (actors(spine, sent)["leased"], actors(spine, sent)["acked"]) == ("coder ", "coder ")


def test_a_received_handoff_is_a_parent_and_its_receiver_hands_over(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    spine.send(spine.agent_handoff("coder", "write it", intent="survive", constraints={"language": "python"}))
    (work,) = spine.agent("coder").receive()
    long, short = spine.agent_handoff("reviewer", "review it", parent=work), work.agent_handoff("reviewer", "review it")
    for made in (long, short):
        assert (made.parent, made.from_agent) == (work.envelope.id, "coder")
        assert made.path == ["analyst", "coder", "reviewer"]
        assert (made.intent, made.constraints["language"]) == ("survive", "python")
    assert {entry.actor for entry in spine.audit(object=made.id)} == {"coder"}
    assert spine.agent_handoff("reviewer", "review it", parent=work, from_="lead").from_agent == "lead"
    assert spine.agent_handoff("reviewer", "review it", parent=work.envelope).from_agent == "analyst"
    tried = work.agent_handoff("reviewer", "review it", state="reviewed", dry_run=True)
    assert (tried.id, tried.from_agent, tried.state) == ("", "coder", "reviewed")
    assert spine.verify(work).ok and spine.diff(work, made).score == 1


def test_a_received_handoff_hands_on_with_the_arguments_of_the_client():
    for kind, client in (
        (memory_spine.ReceivedHandoff, memory_spine.MemorySpine),
        (memory_spine.AsyncReceivedHandoff, memory_spine.AsyncMemorySpine),
    ):
        mine = inspect.signature(kind.agent_handoff).parameters
        assert mine.keys() == inspect.signature(client.agent_handoff).parameters.keys() - {"parent"}
        assert [one.name for one in mine.values() if one.kind is not one.KEYWORD_ONLY] == [
            "self", "target_agent", "task_summary",
        ]
        assert "this handoff" in kind.agent_handoff.__doc__


# --- Taking --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("work_lease_s", [None, 60, 0])
def test_a_released_handoff_comes_again_and_has_used_no_attempt(spine, work_lease_s):
    send(spine, max_attempts=1)
    (handoff,) = spine.agent("coder").receive()
    if work_lease_s is not None:
        handoff.ack(work_lease_s or None)
    back = handoff.release("deploy")
    assert (back.state, back.attempt, back.leases, handoff.settled) == ("queued", 1, 1, "release")
    (again,) = spine.agent("coder").receive()
    assert (again.id, again.attempt, again.redelivered) == (handoff.id, 1, True)
    again.release(delay_s=3600)
    assert spine.agent("coder").receive() == []


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


def test_a_handoff_says_what_nobody_sees_in_it_and_how_far_its_envelope_can_be_trusted(spine):
    seen = spine.store("from a page", trust="external")
    packed = [spine.pack("coder", "Pay.", include_recent=0)]
    with pytest.warns(SpineWarning, match="nobody sees"):
        packed.append(spine.pack("coder", "Pay\u200b it.", refs=[seen.id], include_recent=0))
    assert [envelope.trust for envelope in packed] == ["agent", "external"]
    for envelope in packed:
        spine.send(envelope)
    plain, odd = spine.agent("coder").receive(limit=2)
    assert (plain.flags, plain.envelope.trust) == ((), "agent")
    assert (odd.flags, odd.envelope.trust) == (("invisible",), "external")
    assert spine.pack("coder", "Pay.", refs=[seen.id], dry_run=True).trust == "external"


def test_need_and_resolve_give_also_what_one_answer_has_no_room_for(spine):
    ids = [spine.store(f"{number} " + "a" * 255000).id for number in range(34)]
    packed = spine.pack("coder", "Read.", refs=ids, strategy="lazy", constraints={"max_tokens": 4000})
    assert [memory.id for memory in spine.resolve(packed).memories] == ids
    spine.send(packed)
    (handoff,) = spine.agent("coder").receive()
    found = handoff.need([*ids, "ms-999"])
    assert [memory.id for memory in found.memories] == ids
    assert [(one.id, one.reason) for one in found.missing] == [("ms-999", "unknown")]


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

    assert sync.agent("coder").run(handle, max=1, lease_s=0.2) == 0
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
    with sync.agent("coder").receive(lease_s=2)[0]:
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
