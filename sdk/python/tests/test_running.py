"""Handlers: several at once, what counts, and what becomes of the work when the process is told to end."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from receiving import in_loop, send, state, sync, until  # noqa: F401

from memory_spine import MemorySpine

SDK = Path(__file__).resolve().parent.parent
PATIENCE_S = 30


# --- Several at once -----------------------------------------------------------------------------


def test_six_handlers_are_at_work_at_once(sync, other):
    sent = send(sync, count=6)
    together = threading.Barrier(6)
    assert sync.agent("coder").run(lambda work: together.wait(PATIENCE_S), concurrency=6, limit=6) == 6
    assert {state(other, one) for one in sent} == {"completed"}


def test_six_asynchronous_handlers_are_at_work_at_once(in_loop, other):
    sent = send(other, count=6)

    async def main(spine):
        arrived = []
        together = asyncio.Event()

        async def handle(work):
            arrived.append(work.id)
            if len(arrived) == 6:
                together.set()
            await asyncio.wait_for(together.wait(), PATIENCE_S)

        return await spine.agent("coder").run(handle, concurrency=6, limit=6)

    assert in_loop(main) == 6
    assert {state(other, one) for one in sent} == {"acked"}


def test_no_more_than_that_are_at_work_at_once(sync):
    send(sync, count=12)
    lock = threading.Lock()
    at_work, most = [0], [0]

    def handle(work):
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        sync.healthy()
        with lock:
            at_work[0] -= 1

    assert sync.agent("coder").run(handle, concurrency=3, idle_s=0) == 12
    assert most[0] <= 3


def test_what_comes_later_finds_a_free_hand_while_others_work(sync, other, in_thread):
    """The first handler ends only when the second, which was sent after it began, has been at work."""
    second = threading.Event()
    first, later = send(sync)[0], []

    def handle(work):
        if work.id == first.id:
            later.extend(send(other))
            assert second.wait(PATIENCE_S)
        else:
            second.set()

    assert sync.agent("coder").run(handle, concurrency=2, limit=2) == 2
    assert {state(other, one) for one in (first, *later)} == {"acked"}


def test_leases_of_all_at_work_are_renewed(sync, other):
    sent = send(sync, count=3, max_attempts=1)
    together = threading.Barrier(3)

    def handle(work):
        first = work.lease_expires_at
        together.wait(PATIENCE_S)
        until(lambda: other.healthy() and work.lease_expires_at > first)

    assert sync.agent("coder").run(handle, concurrency=3, limit=3, lease_s=2) == 3
    assert [other.handoff(one).attempt for one in sent] == [1, 1, 1]


def test_each_of_several_stores_for_its_own_task(sync):
    send(sync, count=4)
    together = threading.Barrier(4)
    seen = []

    def handle(work):
        together.wait(PATIENCE_S)
        seen.append((work.task, sync.store("found").task))

    sync.agent("coder").run(handle, concurrency=4, limit=4)
    assert len(set(seen)) == 4 and all(task == stored for task, stored in seen)


def test_a_hundred_hands_hold_one_waiting_connection(start_server, in_thread):
    server = start_server()
    with MemorySpine(server.url, max_connections=3) as spine, MemorySpine(server.url) as watcher:
        receiver = spine.agent("coder")
        together = threading.Barrier(8)
        in_thread(receiver.run, lambda work: (together.wait(PATIENCE_S), spine.store("x"))[1].id, concurrency=100)
        send(watcher, count=8)
        until(lambda: len(list(watcher.handoffs(state="completed"))) == 8)
        until(lambda: watcher.status()["http"]["requests_active"] == 2)
        receiver.stop()


@pytest.mark.parametrize("concurrency", [0, -1])
def test_there_must_be_a_hand(sync, concurrency):
    with pytest.raises(ValueError, match="concurrency"):
        sync.agent("coder").run(lambda work: None, concurrency=concurrency)


def test_a_handler_of_the_wrong_kind_is_told_at_once_or_works(sync, in_loop, other):
    async def handle(work):
        pass

    with pytest.raises(TypeError, match="AsyncMemorySpine"):
        sync.agent("coder").run(handle)
    (sent,) = send(sync)

    async def main(spine):
        return await spine.agent("coder").run(lambda work: "plain", limit=1)

    assert in_loop(main) == 1 and other.handoff(sent).result == "plain"


def test_stop_lets_all_hands_finish(sync, other, in_thread):
    sent = send(sync, count=4)
    receiver = sync.agent("coder")
    together, go = threading.Barrier(3), threading.Event()

    def handle(work):
        together.wait(PATIENCE_S)
        go.wait(PATIENCE_S)

    in_thread(receiver.run, handle, concurrency=2)
    together.wait(PATIENCE_S)
    receiver.stop()
    go.set()
    in_thread.join()
    assert sorted(state(other, one) for one in sent) == ["acked", "acked", "queued", "queued"]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_cancelling_an_asynchronous_run_gives_back_all_that_is_in_hand(in_loop, other, concurrency):
    sent = send(other, count=concurrency)

    async def main(spine):
        begun = []

        async def handle(work):
            begun.append(work)
            await asyncio.Event().wait()

        task = asyncio.ensure_future(spine.agent("coder").run(handle, concurrency=concurrency))
        while len(begun) < concurrency:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    in_loop(main)
    assert {(one.state, one.reason) for one in map(other.handoff, sent)} == {("queued", None)}
    assert len(other.agent("coder").receive(limit=10)) == concurrency, "at once"


# --- What counts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3])
def test_failures_are_not_counted_as_handled(sync, other, concurrency):
    sent = send(sync, count=5)
    bad = {sent[0].id, sent[2].id}

    def handle(work):
        if work.id in bad:
            raise ValueError(f"no {work.id}")
        return "done"

    seen = []
    count = sync.agent("coder").run(
        handle, limit=3, concurrency=concurrency, on_error=lambda work, error: seen.append(work.id)
    )
    assert count == 3 and set(seen) == bad
    assert {other.handoff(one).reason for one in sent if one.id in bad} == {f"ValueError: no {id}" for id in bad}


def test_a_limit_is_not_exceeded_by_many_hands(sync, other):
    sent = send(sync, count=10)
    assert sync.agent("coder").run(lambda work: None, limit=4, concurrency=8) == 4
    assert sum(state(other, one) == "acked" for one in sent) == 4
    assert {one.attempt for one in map(other.handoff, sent)} == {1}, "nothing was taken and given back"


def test_an_asynchronous_run_counts_what_went_well(in_loop, other):
    sent = send(other, count=3)

    async def main(spine):
        async def handle(work):
            if work.id == sent[0].id:
                raise ValueError("first")

        return await spine.agent("coder").run(handle, limit=2, concurrency=2, on_error=lambda *_: None)

    assert in_loop(main) == 2
    assert other.handoff(sent[0]).reason == "ValueError: first"


def test_what_a_handler_gives_back_or_rejects_itself_does_not_count(sync):
    send(sync, count=3)
    answers = iter([lambda work: work.nack("later", delay_s=60), lambda work: work.reject("no"), lambda work: None])
    assert sync.agent("coder").run(lambda work: next(answers)(work) and None, idle_s=0) == 1


def test_the_reason_has_neither_the_stack_nor_the_cause(sync, other):
    (sent,) = send(sync)

    def handle(work):
        password = "hunter2"
        try:
            raise KeyError(password)
        except KeyError as error:
            raise RuntimeError("the model answered 529") from error

    sync.agent("coder").run(handle, max=1, on_error=lambda *_: None)
    assert other.handoff(sent).reason == "RuntimeError: the model answered 529"


# --- One call ------------------------------------------------------------------------------------


def calls(client, made):
    """Notes what a blocking client sends."""
    inner = client._transport.send

    def sending(request, deadline):
        made.append((request.method, request.path))
        return inner(request, deadline)

    client._transport.send = sending


def test_settling_one_and_taking_the_next_is_one_call(sync, other):
    sent = send(other, count=3)
    made = []
    calls(sync, made)
    assert sync.agent("coder").run(lambda work: "done", limit=3) == 3
    assert [path for _, path in made] == ["/v1/agents/coder/receive"] * 3 + [f"/v1/handoffs/{sent[2].id}/complete"]


def test_a_loop_over_an_inbox_settles_and_takes_in_one_call(sync, other):
    sent = send(other, count=3)
    made = []
    calls(sync, made)
    assert len(list(sync.agent("coder").inbox(limit=3))) == 3
    assert [path for _, path in made] == ["/v1/agents/coder/receive"] * 3 + [f"/v1/handoffs/{sent[2].id}/ack"]


# --- The end of the process ----------------------------------------------------------------------

PROGRAM = """
import asyncio, os, select, sys
from memory_spine import AsyncMemorySpine, MemorySpine, ending
url, space, kind, concurrency, grace_s = sys.argv[1:]

def begun(work):
    os.write(1, f"{work.id}\\n".encode())  # at once: print of two threads may put its line ends behind both

def told(stop=ending._stop_all):
    stop()
    os.write(1, b"told\\n")

ending._stop_all = told

def wait_for_a_line():
    # Not in one long read: a signal that comes just before it would be seen only after it.
    while not select.select([0], [], [], 0.02)[0]:
        pass
    os.read(0, 1)

def handle(work):
    begun(work)
    wait_for_a_line()
    return "finished"

async def handle_async(work):
    begun(work)
    await asyncio.to_thread(wait_for_a_line)
    return "finished"

async def main():
    async with AsyncMemorySpine(url, space=space) as spine:
        await spine.agent("coder").run(handle_async, concurrency=int(concurrency), grace_s=float(grace_s))

if kind == "async":
    asyncio.run(main())
else:
    with MemorySpine(url, space=space) as spine:
        spine.agent("coder").run(handle, concurrency=int(concurrency), grace_s=float(grace_s))
print("not reached")
"""

KINDS = [("sync", 1), ("sync", 2), ("async", 1), ("async", 2)]


@pytest.fixture
def program(server, space):
    running = []

    def start(kind, concurrency, grace_s):
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", PROGRAM, server.url, space, kind, str(concurrency), str(grace_s)],
            env={**os.environ, "PYTHONPATH": str(SDK)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("kind, concurrency", KINDS)
def test_sigterm_finishes_what_is_in_hand_takes_nothing_more_and_ends(program, sync, kind, concurrency):
    sent = send(sync, count=3)
    process = program(kind, concurrency, 60)
    begun = {process.stdout.readline().strip() for _ in range(concurrency)}
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "told\n"
    printed, errors = process.communicate("\n" * concurrency, timeout=PATIENCE_S)
    assert (process.returncode, printed) == (0, ""), errors
    states = {one.id: state(sync, one) for one in sent}
    assert {id for id, was in states.items() if was == "completed"} == begun
    assert {sync.handoff(one).attempt for one in sent} == {1}


@pytest.mark.parametrize("kind, concurrency", KINDS)
def test_what_takes_longer_than_the_grace_is_given_back(program, sync, kind, concurrency):
    sent = send(sync, count=concurrency)
    process = program(kind, concurrency, 0.1)
    for _ in range(concurrency):
        process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    again = sync.agent("coder").receive(wait_s=30, limit=1)
    again += sync.agent("coder").receive(wait_s=30, limit=1) if concurrency == 2 else []
    assert {one.id for one in again} == {one.id for one in sent}
    assert {(one.attempt, one.redelivered) for one in again} == {(1, True)}
    printed, errors = process.communicate("\n" * concurrency, timeout=PATIENCE_S)
    assert (process.returncode, printed) == (0, "told\n"), errors
    for one in again:
        one.complete("by another instance")


@pytest.mark.parametrize("kind, concurrency", KINDS)
def test_ctrl_c_gives_back_what_is_in_hand_at_once(program, sync, kind, concurrency):
    sent = send(sync, count=concurrency)
    process = program(kind, concurrency, 60)
    for _ in range(concurrency):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    again = sync.agent("coder").receive(wait_s=30, limit=1)
    again += sync.agent("coder").receive(wait_s=30, limit=1) if concurrency == 2 else []
    assert {one.id for one in again} == {one.id for one in sent}
    process.communicate("\n" * concurrency, timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT


def test_a_program_with_a_handler_of_its_own_keeps_it(sync):
    told = []
    previous = signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    try:
        send(sync)
        sync.agent("coder").run(lambda work: os.kill(os.getpid(), signal.SIGTERM), limit=1)
        assert told == [True]
    finally:
        signal.signal(signal.SIGTERM, previous)


def test_sigterm_is_as_it_was_afterwards(sync, in_loop):
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    sync.agent("coder").run(lambda work: None, idle_s=0)

    async def main(spine):
        await spine.agent("coder").run(None, idle_s=0)

    in_loop(main)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
