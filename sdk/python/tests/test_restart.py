"""Calls outlive a restart of the server within their timeout, and nothing is done twice. The real server is killed, and
started again on the same port and data, while clients are in the middle of calls."""

import asyncio
import threading
from collections import Counter

import pytest
from receiving import until

from memory_spine import AsyncMemorySpine, MemorySpine

KILLS = 4
WORKERS = 4


@pytest.fixture
def restarting(start_server):
    """A server that is killed and comes back, in the same place."""

    class Restarting:
        def __init__(self):
            self._server = start_server()
            self.url = self._server.url

        def stop(self):
            self._server.kill()

        def start(self):
            self._server = start_server(self._server.data, listen=self.url.partition("//")[2])

        def again(self):
            self.stop()
            self.start()

    return Restarting()


def check(spine, made):
    """Everything that a call returned is there, and nothing else: each memory, envelope and handoff once."""
    stored = Counter(memory.content for memory in spine.list())
    assert stored == Counter(content for content, _ in made)
    sent = Counter(one.envelope_id for one in spine.handoffs())
    assert sent == Counter(envelope for _, envelope in made)
    assert sum(task.envelopes for task in spine.tasks()) == len(made), "no envelope was packed twice"


def test_calls_of_threads_outlive_kills_and_nothing_is_doubled(restarting, in_thread):
    enough = threading.Event()
    made = []
    with MemorySpine(restarting.url, agent="analyst") as spine:

        def work(name):
            number = 0
            while not enough.is_set():
                number += 1
                memory = spine.store(f"{name}.{number}")
                packed = spine.pack("coder", f"look at {memory.id}", include_recent=0)
                made.append((memory.content, spine.send(packed).envelope_id))

        for name in range(WORKERS):
            in_thread(work, name)
        for _ in range(KILLS):
            before = len(made)
            until(lambda: len(made) > before + WORKERS)
            restarting.again()
        enough.set()
        in_thread.join()
        assert len(made) > KILLS * WORKERS
        check(spine, made)


def test_calls_of_tasks_outlive_kills_and_nothing_is_doubled(restarting):
    made = []

    async def main():
        enough = asyncio.Event()

        async def work(spine, name):
            number = 0
            while not enough.is_set():
                number += 1
                memory = await spine.store(f"{name}.{number}")
                packed = await spine.pack("coder", f"look at {memory.id}", include_recent=0)
                made.append((memory.content, (await spine.send(packed)).envelope_id))

        async with AsyncMemorySpine(restarting.url, agent="analyst") as spine:
            tasks = [asyncio.ensure_future(work(spine, name)) for name in range(WORKERS)]
            for _ in range(KILLS):
                before = len(made)
                while len(made) <= before + WORKERS:
                    await asyncio.sleep(0)
                await asyncio.to_thread(restarting.again)
            enough.set()
            await asyncio.gather(*tasks)

    asyncio.run(main())
    with MemorySpine(restarting.url) as spine:
        check(spine, made)


def test_a_call_that_begins_while_the_server_is_away_waits_for_it(restarting, connect, in_thread, caplog):
    spine = connect(restarting.url)
    restarting.stop()
    tried = threading.Event()
    in_thread(lambda: (tried.wait(30), restarting.start()))
    log_of_calls = caplog.handler.emit
    caplog.handler.emit = lambda record: (tried.set(), log_of_calls(record))
    try:
        assert spine.store("patience").content == "patience"
    finally:
        tried.set()
        caplog.handler.emit = log_of_calls
    assert "trying again" in caplog.text and "connect_failed" in caplog.text, "and it says so"


def test_settling_outlives_a_restart_with_every_verb(restarting, connect):
    spine = connect(restarting.url)
    for verb in ("ack", "complete", "nack", "reject", "progress"):
        spine.send(spine.pack("coder", verb))
        (work,) = spine.agent("coder").receive(lease_s=60)
        restarting.again()
        settle = getattr(work, verb)
        told = settle("because") if verb in ("nack", "reject") else settle()
        expected = {"ack": "acked", "complete": "completed", "nack": "queued", "reject": "parked", "progress": "leased"}
        assert told.state == expected[verb]
        if verb in ("nack", "progress"):
            spine.park_envelope(work.envelope_id, "out of the way")


def test_decisions_about_what_is_parked_outlive_a_restart(restarting, connect):
    spine = connect(restarting.url)
    sent = spine.send(spine.pack("coder", "go"))
    spine.park_envelope(sent.envelope_id, "for a test")
    restarting.again()
    assert spine.redrive(sent, why="again").state == "queued"
    spine.park_envelope(sent.envelope_id, "for a test")
    restarting.again()
    assert spine.discard(sent, "enough").state == "discarded"


def test_what_a_person_does_with_the_queue_outlives_a_restart(restarting, connect):
    spine = connect(restarting.url)
    sent = spine.send(spine.pack("ill", "go"))
    restarting.again()
    assert spine.move(sent, "well").to == "well"
    restarting.again()
    assert spine.cancel(sent).state == "discarded"


def test_handing_on_outlives_kills_and_every_step_is_done_once(restarting, in_thread):
    """Three agents in a row, in threads, while the server is killed again and again."""
    count = 24
    with MemorySpine(restarting.url) as spine:
        done = []

        def research(work):
            work.hand_on("coder", "Write it.", result=f"facts of {work.task}")

        def code(work):
            work.hand_on("reviewer", "Review it.", result=f"patch of {work.task}")

        def review(work):
            done.append(work.task)
            return f"fine: {work.task}"

        tasks = [spine.send(spine.pack("researcher", f"Find out {n}.", intent=f"Job {n}")) for n in range(count)]
        receivers = {name: spine.agent(name) for name in ("researcher", "coder", "reviewer")}
        # What was taken with an answer that was lost comes again when its lease has run out.
        in_thread(receivers["researcher"].run, research, limit=count, concurrency=2, lease_s=2)
        in_thread(receivers["coder"].run, code, limit=count, lease_s=2)
        in_thread(receivers["reviewer"].run, review, limit=count, lease_s=2)
        for part in range(1, KILLS + 1):
            until(lambda: len(done) >= part * count // (KILLS + 1))
            restarting.again()
        in_thread.join()
        handoffs = list(spine.handoffs())
        assert Counter((one.to_agent, one.state) for one in handoffs) == {
            (name, "completed"): count for name in receivers
        }
        assert len(tasks) == count == len(list(spine.tasks()))
