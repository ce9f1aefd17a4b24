"""Handlers that have their effect once, although handoffs come more than once, also where processes are killed."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memory_spine import AsyncMemorySpine, MemorySpine, idempotent

SDK = Path(__file__).resolve().parent.parent
PRELUDE = """
import os, signal, sys
from memory_spine import MemorySpine, idempotent
url, space, db, log = sys.argv[1:5]
spine = MemorySpine(url, space=space)
def effect(handoff):
    with open(log, "a") as file:
        file.write(handoff.id + "\\n")
def die():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def send(client, count=1):
    return [client.send(client.agent_handoff("coder", "go"), max_attempts=10) for _ in range(count)]


def again(handoff):
    """Gives a handoff back, as if its ack had been lost, and takes it again."""
    handoff.nack("its ack was lost", delay_s=0)


def bring_back(client, sent):
    """Brings back at once what a process took and never settled, instead of after its lease and the backoff."""
    client.park_envelope(sent.envelope_id, "take it away")
    client.redrive(sent)


@pytest.fixture
def db(tmp_path):
    return tmp_path / "handled.db"


@pytest.fixture
def program(server, space, db, tmp_path):
    """Runs a receiver in a process of its own; `effects` has the ids of the handoffs whose effect took place."""

    class Program:
        log = tmp_path / "effects"

        def start(self, code):
            return subprocess.Popen(
                [sys.executable, "-B", "-c", PRELUDE + code, server.url, space, str(db), str(self.log)],
                env={**os.environ, "PYTHONPATH": str(SDK)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

        def run(self, code):
            process = self.start(code)
            process.communicate(timeout=60)
            return process.returncode

        @property
        def effects(self):
            return self.log.read_text().split() if self.log.exists() else []

    return Program()


# --- What is handled is handled once -------------------------------------------------------------


def test_a_handler_is_called_once_and_its_result_remembered(other, db):
    (sent,) = send(other)
    calls = []

    @idempotent(path=db)
    def handle(handoff):
        """What it is for."""
        calls.append(handoff.id)
        return {"made": len(calls)}

    assert (handle.__name__, handle.__doc__) == ("handle", "What it is for.")
    (first,) = other.agent("coder").receive()
    assert handle(first) == {"made": 1}
    again(first)
    assert other.agent("coder").run(handle, max=1) == 1
    told = other.handoff(sent)
    assert (calls, told.state, told.result) == ([sent.id], "completed", {"made": 1})


def test_nothing_is_remembered_as_well_as_something(other, db):
    send(other)
    calls = []
    handle = idempotent(path=str(db))(lambda handoff: calls.append(1))
    for _ in range(3):
        (handoff,) = other.agent("coder").receive()
        assert handle(handoff) is None
        again(handoff)
    assert calls == [1]


def test_each_handoff_is_another(other, db):
    calls = []
    handle = idempotent(path=db)(lambda handoff: calls.append(handoff.id))
    sent = send(other, 3)
    other.agent("coder").run(handle, idle_s=0)
    assert calls == [one.id for one in sent]


def test_the_same_id_on_another_server_is_another_handoff(start_server, db):
    calls = []
    handle = idempotent(path=db, name="h")(lambda handoff: calls.append(handoff.id))
    for _ in range(2):
        with MemorySpine(start_server().url) as spine:
            send(spine)
            spine.agent("coder").run(handle, max=1)
    assert calls == ["ho-1", "ho-1"]


def test_two_handlers_of_one_file_do_not_answer_for_one_another(other, db):
    send(other)
    (handoff,) = other.agent("coder").receive()
    calls = []
    for name in ("one", "two"):
        idempotent(path=db, name=name)(lambda handoff, name=name: calls.append(name))(handoff)
    assert calls == ["one", "two"]


def test_a_handler_that_raises_has_not_handled(other, db):
    send(other)
    calls = []

    @idempotent(path=db, in_doubt="reject")
    def handle(handoff):
        calls.append(handoff.in_doubt)
        if len(calls) == 1:
            raise ValueError("not now")
        return object() if len(calls) == 2 else "done"

    for error in (ValueError, TypeError):
        (handoff,) = other.agent("coder").receive()
        with pytest.raises(error):
            handle(handoff)
        again(handoff)
    (handoff,) = other.agent("coder").receive()
    assert handle(handoff) == "done"
    assert calls == [False, False, False]


def test_it_can_be_used_without_parentheses(other, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    send(other)

    @idempotent
    def handle(handoff):
        return 1

    assert other.agent("coder").run(handle, max=1) == 1
    assert (tmp_path / "handled.db").exists()


def test_what_was_handled_long_ago_can_be_forgotten(other, db):
    send(other, 2)
    handle = idempotent(path=db)(lambda handoff: None)
    other.agent("coder").run(handle, idle_s=0)
    assert handle.handled.forget_older(3600) == 0
    assert handle.handled.forget_older(-1) == 2


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_memory_is_not_durable(path):
    with pytest.raises(ValueError):
        idempotent(path=path)(lambda handoff: None)


def test_what_cannot_be_a_handler_is_refused(db):
    with pytest.raises(TypeError):
        idempotent(path=db)(lambda: None)
    with pytest.raises(TypeError):
        idempotent(path=db)(lambda a, b, c: None)
    with pytest.raises(ValueError):
        idempotent(path=db, in_doubt="guess")(lambda handoff: None)


# --- Threads, processes, crashes -----------------------------------------------------------------


def test_two_threads_do_not_handle_the_same_at_once(other, db):
    (sent,) = send(other)
    begun, go_on = threading.Event(), threading.Event()
    calls = []

    @idempotent(path=db)
    def handle(handoff):
        calls.append(handoff.lease)
        begun.set()
        assert go_on.wait(30)
        return "done"

    (first,) = other.agent("coder").receive()
    results = []
    thread = threading.Thread(target=lambda: results.append(handle(first)))
    thread.start()
    assert begun.wait(30)
    again(first)
    (second,) = other.agent("coder").receive()
    assert handle(second) is None
    told = other.handoff(sent)
    assert (told.state, told.reason, second.settled) == ("queued", "another process is still working on it", "nack")
    go_on.set()
    thread.join()
    assert (calls, results) == ([first.lease], ["done"])


def test_two_processes_do_not_handle_the_same_at_once(other, db, program):
    (sent,) = send(other)
    process = program.start(
        "@idempotent(path=db, name='h')\n"
        "def handle(handoff):\n"
        "    effect(handoff)\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    return 'done'\n"
        "(handoff,) = spine.agent('coder').receive()\n"
        "print(handle(handoff), flush=True)\n"
    )
    assert process.stdout.readline() == "begun\n"
    bring_back(other, sent)
    handle = idempotent(path=db, name="h")(lambda handoff: pytest.fail("it is handled already"))
    (handoff,) = other.agent("coder").receive()
    assert handle(handoff) is None and handoff.settled == "nack"
    process.communicate("go on\n", timeout=60)
    bring_back(other, sent)
    assert other.agent("coder").run(handle, max=1) == 1
    told = other.handoff(sent)
    assert (told.state, told.result, program.effects) == ("completed", "done", [sent.id])


def test_a_crash_between_effect_and_ack_does_not_repeat_the_effect(other, db, program):
    (sent,) = send(other)
    code = (
        "@idempotent(path=db, name='h')\n"
        "def handle(handoff):\n"
        "    effect(handoff)\n"
        "    return 'done'\n"
        "(handoff,) = spine.agent('coder').receive()\n"
        "handle(handoff)\n"
        "die()\n"
    )
    assert program.run(code) == -signal.SIGKILL
    bring_back(other, sent)
    handle = idempotent(path=db, name="h")(lambda handoff: pytest.fail("it is handled already"))
    assert other.agent("coder").run(handle, max=1) == 1
    told = other.handoff(sent)
    assert (told.state, told.result) == ("completed", "done")
    assert program.effects == [sent.id]


MID = (
    "@idempotent(path=db, name='h')\n"
    "def handle(handoff):\n"
    "    effect(handoff)\n"
    "    die()\n"
    "(handoff,) = spine.agent('coder').receive()\n"
    "handle(handoff)\n"
)


def test_a_crash_in_the_middle_is_told_to_the_next_try(other, db, program):
    (sent,) = send(other)
    assert program.run(MID) == -signal.SIGKILL
    bring_back(other, sent)
    seen = []

    @idempotent(path=db, name="h")
    def handle(handoff):
        seen.append((handoff.in_doubt, handoff.redelivered))
        return "looked, and did it"

    assert other.agent("coder").run(handle, max=1) == 1
    assert (seen, other.handoff(sent).result) == ([(True, True)], "looked, and did it")


def test_a_crash_in_the_middle_parks_where_twice_is_worse_than_never(other, db, program):
    (sent,) = send(other)
    assert program.run(MID) == -signal.SIGKILL
    bring_back(other, sent)
    handle = idempotent(path=db, name="h", in_doubt="reject")(lambda handoff: pytest.fail("not again"))
    assert other.agent("coder").run(handle, max=1) == 0
    told = other.handoff(sent)
    assert told.state == "parked" and "a process died" in told.reason
    assert program.effects == [sent.id]
    # A person has looked, and redrives it.
    other.redrive(sent, why="it did not take place")
    assert other.agent("coder").run(idempotent(path=db, name="h")(lambda handoff: handoff.in_doubt), max=1) == 1
    assert other.handoff(sent).result is False


# --- In one transaction --------------------------------------------------------------------------


def rows(db):
    with sqlite3.connect(db) as connection:
        return connection.execute("SELECT id FROM payments").fetchall()


def test_what_a_handler_writes_beside_takes_place_exactly_once(other, db):
    (sent,) = send(other)

    @idempotent(path=db)
    def handle(handoff, db):
        db.execute("CREATE TABLE IF NOT EXISTS payments (id)")
        db.execute("INSERT INTO payments VALUES (?)", (handoff.id,))
        return "paid"

    for _ in range(3):
        (handoff,) = other.agent("coder").receive()
        assert handle(handoff) == "paid"
        again(handoff)
    assert rows(db) == [(sent.id,)]


def test_what_a_failing_handler_wrote_is_taken_back(other, db):
    (sent,) = send(other)
    tries = []

    @idempotent(path=db)
    def handle(handoff, db):
        db.execute("CREATE TABLE IF NOT EXISTS payments (id)")
        db.execute("INSERT INTO payments VALUES (?)", (handoff.id,))
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("after the effect")

    (handoff,) = other.agent("coder").receive()
    with pytest.raises(ValueError):
        handle(handoff)
    with pytest.raises(sqlite3.OperationalError):
        rows(db)
    handle(handoff)
    assert rows(db) == [(sent.id,)]


def test_a_handler_may_not_end_the_transaction(other, db):
    send(other)
    (handoff,) = other.agent("coder").receive()
    handle = idempotent(path=db)(lambda handoff, db: db.execute("COMMIT") and None)
    with pytest.raises(RuntimeError):
        handle(handoff)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_leaves_both_the_effect_and_the_memory_of_it_or_neither(other, db, program, when):
    (sent,) = send(other)
    code = (
        "@idempotent(path=db, name='h')\n"
        "def handle(handoff, db):\n"
        "    db.execute('CREATE TABLE IF NOT EXISTS payments (id)')\n"
        "    db.execute('INSERT INTO payments VALUES (?)', (handoff.id,))\n"
        f"    {'die()' if when == 'before' else 'pass'}\n"
        "(handoff,) = spine.agent('coder').receive()\n"
        "handle(handoff)\n"
        "die()\n"
    )
    assert program.run(code) == -signal.SIGKILL
    bring_back(other, sent)

    @idempotent(path=db, name="h")
    def handle(handoff, db):
        db.execute("CREATE TABLE IF NOT EXISTS payments (id)")
        db.execute("INSERT INTO payments VALUES (?)", (handoff.id,))

    assert other.agent("coder").run(handle, max=1) == 1
    assert rows(db) == [(sent.id,)]


# --- Asynchronous --------------------------------------------------------------------------------


@pytest.mark.parametrize("with_db", [False, True], ids=["plain", "transaction"])
def test_coroutines_are_handlers_too(server, space, other, db, with_db):
    (sent,) = send(other)
    calls = []

    async def plain(handoff):
        await asyncio.sleep(0)
        calls.append(handoff.id)
        return "done"

    async def in_transaction(handoff, db):
        db.execute("CREATE TABLE IF NOT EXISTS payments (id)")
        await asyncio.sleep(0)
        db.execute("INSERT INTO payments VALUES (?)", (handoff.id,))
        calls.append(handoff.id)
        return "done"

    handle = idempotent(path=db)(in_transaction if with_db else plain)

    async def main():
        async with AsyncMemorySpine(server.url, space=space) as spine:
            (first,) = await spine.agent("coder").receive()
            assert await handle(first) == "done"
            await first.nack("lost", 0)
            assert await spine.agent("coder").run(handle, max=1) == 1

    asyncio.run(main())
    told = other.handoff(sent)
    assert (told.state, told.result, calls) == ("completed", "done", [sent.id])
    if with_db:
        assert rows(db) == [(sent.id,)]


def test_two_tasks_do_not_handle_the_same_at_once(server, space, other, db):
    (sent,) = send(other)

    async def main():
        begun, go_on, calls = asyncio.Event(), asyncio.Event(), []

        @idempotent(path=db)
        async def handle(handoff):
            calls.append(handoff.lease)
            begun.set()
            await go_on.wait()
            return "done"

        async with AsyncMemorySpine(server.url, space=space) as spine:
            (first,) = await spine.agent("coder").receive()
            task = asyncio.ensure_future(handle(first))
            await begun.wait()
            await first.nack("lost", 0)
            (second,) = await spine.agent("coder").receive()
            assert await handle(second) is None and second.settled == "nack"
            go_on.set()
            assert await task == "done"
            assert calls == [first.lease]

    asyncio.run(main())
    assert other.handoff(sent).state == "queued"


def test_a_failing_coroutine_takes_back_what_it_wrote(server, space, other, db):
    send(other)

    async def main():
        @idempotent(path=db)
        async def handle(handoff, db):
            db.execute("CREATE TABLE payments (id)")
            raise ValueError

        async with AsyncMemorySpine(server.url, space=space) as spine:
            (first,) = await spine.agent("coder").receive()
            with pytest.raises(ValueError):
                await handle(first)

    asyncio.run(main())
    with pytest.raises(sqlite3.OperationalError):
        rows(db)
