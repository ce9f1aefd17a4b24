"""Receivers that go on: loops over an inbox, blocking and asynchronous, and handlers, against the real server."""

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from peer import Peer, answering
from receiving import in_loop, is_waiting, send, state, until, sync  # noqa: F401

import memory_spine
from memory_spine import (
    AckTimeoutError,
    AsyncMemorySpine,
    AsyncReceivedHandoff,
    Envelope,
    MemorySpine,
    ReceivedHandoff,
    SpineError,
    deliveries,
    received,
)
from memory_spine.call import Cancel

SDK = Path(__file__).resolve().parent.parent
LEFT = re.compile(r"the receiver left its loop( at \S+:\d+)? without settling this \(an exception, or a break\)")


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


def leave(client):
    for _ in client.agent("coder").inbox():
        raise ZeroDivisionError("in the loop")


def test_an_exception_that_leaves_a_loop_is_the_reason_where_it_is_being_handled(sync, other):
    (sent,) = send(sync)
    try:
        leave(sync)
    except ZeroDivisionError:
        told = other.handoff(sent)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, "ZeroDivisionError: in the loop")


def test_another_exception_that_is_being_handled_is_not_the_reason(sync, other):
    (sent,) = send(sync)
    try:
        raise ValueError("another")
    except ValueError:
        for _ in sync.agent("coder").inbox():
            break
        told = other.handoff(sent)
    assert told.state == "queued" and LEFT.fullmatch(told.reason)


def swallow(client, how):
    try:
        for _ in client.agent("coder").inbox():
            if how == "break":
                break
            if how == "interpreter":
                1 / 0
            raise ValueError("no such file")
    except (ValueError, ZeroDivisionError):
        pass


@pytest.mark.parametrize("how", ["raise", "break", "interpreter", "deeper"])
def test_a_loop_that_is_left_and_forgotten_gives_back_soon_and_says_why_or_where_it_was_left(sync, how):
    (sent,) = send(sync)
    earlier = ValueError("another one that is alive")
    if how == "deeper":
        with pytest.raises(ZeroDivisionError):
            leave(sync)
    else:
        swallow(sync, how)
    # Of another thread, which has nothing to do with it.
    seen = []
    thread = threading.Thread(target=lambda: until(lambda: state(sync, sent) == "queued") or seen.append(sync.handoff(sent)))
    thread.start()
    thread.join(30)
    reason, at_line = seen[0].reason, "test_loops.py:" in seen[0].reason and LEFT.fullmatch(seen[0].reason)
    wanted = {"raise": "ValueError: no such file", "deeper": "ZeroDivisionError: in the loop"}
    if how == "interpreter":
        assert reason == "ZeroDivisionError: division by zero" if sys.version_info >= (3, 12) else at_line
    else:
        assert reason == wanted[how] if how in wanted else at_line
    assert str(earlier) not in reason


PLAIN = """
import asyncio, sys, threading
from memory_spine import AsyncMemorySpine, MemorySpine
url, space, how = sys.argv[1:]

def loop(spine):
    for work in spine.agent("coder").inbox():
        raise ValueError("no such file")

async def main():
    async with AsyncMemorySpine(url, space=space) as spine:
        async for work in spine.agent("coder").inbox():
            raise ValueError("no such file")

async def in_task():
    task = asyncio.create_task(main())
    await asyncio.wait([task])

if how == "async":
    asyncio.run(main())
elif how == "task":
    asyncio.run(in_task())
elif how == "thread":
    threading.Thread(target=loop, args=(MemorySpine(url, space=space),)).start()
else:
    with MemorySpine(url, space=space) as spine:
        loop(spine)
"""


@pytest.mark.parametrize("how", ["program", "thread", "async", "task"])
def test_an_exception_that_ends_a_program_a_thread_or_a_task_is_the_reason(sync, server, space, how):
    (sent,) = send(sync)
    run = subprocess.run(
        [sys.executable, "-B", "-c", PLAIN, server.url, space, how],
        env={**os.environ, "PYTHONPATH": str(SDK)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert "ValueError: no such file" in run.stderr, "it is told as it always is"
    told = sync.handoff(sent)
    assert (told.state, told.attempt, told.reason) == ("queued", 2, "ValueError: no such file")


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
    assert state(other, one) == "queued" and LEFT.fullmatch(other.handoff(one).reason)
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
    renewal = handoff._renew()
    request = next(renewal)
    answer = sync._transport.send(request, time.monotonic() + 30)
    handoff.ack(work_lease_s=30)
    with pytest.raises(StopIteration):
        renewal.send(answer)
    assert handoff._is_held and handoff.delivery.work_lease


def test_a_renewal_that_comes_too_late_is_no_lost_lease(sync):
    """Answered after the handoff was completed, but before the answer to that was read."""
    send(sync)
    (handoff,) = sync.agent("coder").receive()
    sync._run(deliveries.settle(handoff.id, "complete", deliveries.complete_body(handoff.lease, 1, (), None)))
    sync._run(handoff._renew())
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
    assert (told.state, told.attempt, told.reason) == ("queued", 1, None)
    assert told.events[-1].note == "the receiver was stopped: KeyboardInterrupt"


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
    assert (told.state, told.attempt) == ("queued", 2) and LEFT.fullmatch(told.reason)


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
    assert told.reason == "ZeroDivisionError" or LEFT.fullmatch(told.reason), "asyncio.run cancels what still has to be closed"


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
    assert (told.state, told.attempt, told.reason) == ("queued", 1, None)


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

    assert run(spine, handle, max=2, on_error=lambda *what: seen.append(what)) == 1
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
    assert (again.id, again.attempt, again.redelivered) == (sent.id, 1, True)


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
